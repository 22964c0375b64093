"""``heart import --kind``: tables of completions, judgments, ratings and raters into a study."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from record_tables import HEAD, JUDGING, PEOPLE, REPLIES, SYSTEMS, items_of, replies, stored, write

from hearteval.config import load_study
from hearteval.domain import Attempt, Completion, Judgment, Label, Rater, Rating


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A study of two imported systems, two imported judges, and people."""
    path = tmp_path / "ours.toml"
    path.write_text(HEAD + SYSTEMS + JUDGING + PEOPLE, encoding="utf-8")
    return path


@pytest.fixture
def answered(heart: Heart, ours: Path) -> Path:
    """The same with the replies of both systems."""
    path = write(ours.parent / "replies.csv", replies(ours, "ours", "theirs"))
    assert heart("import", ours, path, *REPLIES).code == 0
    return ours


def votes(study: Path, rater: str = "kind judge", **more: Any) -> list[dict[str, Any]]:
    vote = {"first": "ours", "second": "theirs", "choice": "first", "strength": 2, "rater": rater}
    return [{"item_id": item.id, **vote, **more} for item in items_of(study)]


def judgments(heart: Heart, study: Path, rows: Sequence[dict[str, Any]], *words: str) -> Any:
    path = write(study.parent / "votes.csv", rows)
    return heart("import", study, path, "--kind", "judgments", *words, "--json")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_of_any_format_fills_an_imported_system(
    heart: Heart, ours: Path, ending: str
) -> None:
    path = write(ours.parent / f"replies.{ending}", replies(ours, "ours", "theirs"))
    done = heart("import", ours, path, *REPLIES, "--json").json
    assert (done["schema"], done["kind"]) == ("heart.import/1", "completions")
    assert done["by"] == {"system": {"ours": 4, "theirs": 4}}
    assert (done["n_rows"], done["n_added"], done["n_there"]) == (8, 8, 0)
    texts = [c for c in stored(ours, Completion) if "hears you" in c.text]
    assert len(texts) == 8
    origin = texts[0].call.requested["imported_from"]
    assert origin == {"file": path.name, "sha256": done["file"]["sha256"]}
    again = heart("import", ours, path, *REPLIES, "--json").json
    assert (again["n_added"], again["n_there"]) == (0, 8)


def test_one_system_may_be_named_for_a_whole_file(heart: Heart, ours: Path) -> None:
    rows = [{"item": item.id, "text": "I am here. What then?"} for item in items_of(ours)]
    path = write(ours.parent / "mine.csv", rows)
    done = heart("import", ours, path, "--kind", "completions", "--system", "ours", "--json").json
    assert done["by"] == {"system": {"ours": 4}}


def test_a_dry_run_shows_rows_as_they_would_be_stored_and_makes_no_store(
    heart: Heart, ours: Path
) -> None:
    path = write(ours.parent / "replies.csv", replies(ours, "ours"))
    done = heart("import", ours, path, *REPLIES, "--dry-run")
    assert "4 would be added, 0 stored before" in done.out
    assert "system    ours (model)" in done.out
    assert "ours hears you, 0. And then?" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert not Path(load_study(ours).store).exists()
    shown = heart("import", ours, path, *REPLIES, "--dry-run", "--json").json
    assert (shown["dry_run"], shown["n_added"], shown["n_new"]) == (True, 0, 4)
    assert [row["row"] for row in shown["rows"]] == [1, 2, 3]


def test_every_fault_is_listed_with_its_rows_and_nothing_is_stored(
    heart: Heart, ours: Path
) -> None:
    rows = replies(ours, "ours")
    rows[1]["repeat"] = "-1"
    rows[2]["dialogue"] = ""
    rows[3]["repeat"] = "often"
    done = heart("import", ours, write(ours.parent / "replies.csv", rows), *REPLIES, "--json")
    assert done.code == 2
    faults = done.json["error"]["faults"]
    assert len(faults) == 3
    for words in ("row 2 (line 3): repeat is '-1'", "row 3 (line 4): no item"):
        assert any(fault.startswith(words) for fault in faults), faults
    assert faults[2].startswith("row 4 (line 5): repeat is 'often'")
    assert not [c for c in stored(ours, Completion) if "hears you" in c.text]


def test_one_fault_of_many_rows_is_said_once(heart: Heart, answered: Path) -> None:
    done = judgments(heart, answered, votes(answered, "stranger"))
    assert "row 1 (line 2), row 2, row 3 and 1 more: 'stranger' is no judge" in done.err
    assert "--rater-kind human" in done.err


def test_thousands_of_different_faults_are_told_at_once(heart: Heart, ours: Path) -> None:
    row = replies(ours, "ours")[0]
    rows = [{**row, "repeat": f"{n} times"} for n in range(3000)]
    done = heart("import", ours, write(ours.parent / "replies.csv", rows), *REPLIES, "--json")
    assert len(done.json["error"]["faults"]) == 3000
    assert "row 20 (line 21): repeat is '19 times'" in done.err
    assert "and 2,980 more" in done.err


def test_rows_that_say_the_same_count_once_and_are_told(heart: Heart, ours: Path) -> None:
    rows = replies(ours, "ours")
    path = write(ours.parent / "twice.csv", [*rows, rows[0]])
    done = heart("import", ours, path, *REPLIES, "--json")
    assert (done.json["n_added"], done.json["left_out"]) == (4, {"the same as a row before it": 1})
    assert "1 of 5 rows are left out: the same as a row before it" in done.err


def test_a_reply_and_an_empty_one_for_the_same_contradict_each_other(
    heart: Heart, ours: Path
) -> None:
    rows = replies(ours, "ours")
    path = write(ours.parent / "odd.csv", [*rows, {**rows[0], "reply": ""}])
    done = heart("import", ours, path, *REPLIES)
    assert done.code != 0
    assert "row 1 has another text for the same" in done.err


def test_another_text_for_the_same_is_refused(heart: Heart, answered: Path) -> None:
    rows = replies(answered, "ours")
    rows[0]["reply"] = "Something else."
    done = heart("import", answered, write(answered.parent / "new.csv", rows), *REPLIES, "--json")
    assert (done.code, done.json["error"]["kind"]) == (1, "store")
    assert "row 1 (line 2): ours has another completion" in done.json["error"]["message"]


def test_what_can_be_no_completion_is_missing_with_its_reason(heart: Heart, ours: Path) -> None:
    rows = replies(ours, "ours")
    rows[0]["reply"], rows[1]["reply"] = "", "I'm sorry, but I can't help with that."
    path = write(ours.parent / "replies.csv", rows)
    done = heart("import", ours, path, *REPLIES, "--json").json
    assert done["unusable"] == {"empty": 1, "refused": 1}
    assert done["n_added"] == 2
    assert heart("import", ours, path, *REPLIES, "--json").json["n_added"] == 0
    reasons = {a.reason for a in stored(ours, Attempt) if a.system_id is not None}
    assert {"empty", "refused"} <= reasons


def test_items_that_the_study_lacks_are_left_out_and_counted(heart: Heart, ours: Path) -> None:
    rows = [*replies(ours, "ours"), {"dialogue": "other", "who": "ours", "reply": "Hm. Why?"}]
    done = heart("import", ours, write(ours.parent / "replies.csv", rows), *REPLIES, "--json")
    assert done.json["left_out"] == {"no such item in the study": 1}
    assert "1 of 5 rows are left out: no such item in the study" in done.err


def test_systems_that_the_study_lacks_are_left_out_and_counted(
    heart: Heart, answered: Path
) -> None:
    rows = votes(answered)
    strange = [{**row, "second": name} for name in ("gone", "gone-2") for row in rows]
    done = judgments(heart, answered, [*strange, *rows])
    assert (done.code, done.json["n_added"]) == (0, 4)
    assert done.json["left_out"] == {"no such system in the study": 8}
    assert done.json["no_such_system"] == {"gone": 4, "gone-2": 4}
    assert "8 of 12 rows are left out: no such system in the study (gone, gone-2)" in done.err
    done = judgments(heart, answered, strange)
    assert done.code == 2
    assert "nothing in it is of this study" in done.err
    assert "systems here are 'generic', 'ours'" in done.err


def test_people_write_under_a_pseudonym_only(heart: Heart, ours: Path) -> None:
    rows = replies(ours, "People")
    path = write(ours.parent / "written.csv", rows)
    refused = heart("import", ours, path, *REPLIES)
    assert refused.code == 2
    assert "name each writer by a pseudonym" in refused.err
    named = [{**row, "by": "w1", "group": "peer"} for row in rows]
    words = (*REPLIES, "--writer", "by", "--group", "group", "--json")
    done = heart("import", ours, write(path, named), *words).json
    assert (done["n_added"], done["people"]) == (4, ["w1"])
    texts = [c for c in stored(ours, Completion) if c.writer_id == "w1"]
    screened = {label.completion_id for label in stored(ours, Label)}
    assert {c.id for c in texts} <= screened
    alien = [{**row, "who": "ours", "by": "w1"} for row in rows]
    refused = heart("import", ours, write(path, alien), *REPLIES, "--writer", "by")
    assert "ours is no person: only people have writers" in refused.err


def test_a_judgment_keeps_all_that_was_said(heart: Heart, answered: Path) -> None:
    rows = votes(
        answered,
        choice="B",
        H="A",
        H_how=3,
        H_why="plainer",
        T="B",
        why="Warmer.",
        seconds=4.5,
        prompt_hash="abc",
        created_at="2026-01-02T03:04:05+00:00",
    )
    words = ("--axis-strength", "H=H_how", "--axis-reason", "H=H_why", "--rationale", "why")
    done = judgments(heart, answered, rows, *words)
    assert done.json["by"] == {"rater": {"kind judge": 4}}
    one = stored(answered, Judgment)[0]
    assert (one.choice, one.strength, one.rationale, one.seconds) == ("second", 2, "Warmer.", 4.5)
    assert one.axes == {"H": ("first", 3), "T": ("second", None)}
    assert (one.reasons, one.prompt_hash) == ({"H": "plainer"}, "abc")
    assert one.created_at.year == 2026
    (judge,) = (r for r in stored(answered, Rater) if r.name == "kind judge")
    assert (judge.family, judge.kind, judge.is_imported) == ("some", "llm", True)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"winner": "ours", "choice": None}, ["--own-name"]),
        ({"winner": "model_a", "choice": None}, ["--winner", "winner"]),
        (
            {"won": "x", "choice": None},
            ["--winner", "won", "--left-name", "x", "--right-name", "y"],
        ),
    ],
)
def test_winners_are_read_as_heart_rank_reads_them(
    heart: Heart, answered: Path, columns: dict[str, Any], words: list[str]
) -> None:
    rows = [{k: v for k, v in {**row, **columns}.items() if v} for row in votes(answered)]
    assert judgments(heart, answered, rows, *words).json["n_added"] == 4
    assert {one.choice for one in stored(answered, Judgment)} == {"first"}


def test_labels_with_several_meanings_offer_commands(heart: Heart, answered: Path) -> None:
    rows = [{**row, "choice": n % 2} for n, row in enumerate(votes(answered))]
    done = judgments(heart, answered, rows)
    assert done.code == 2
    assert "heart import" in done.err
    assert "--left-name" in done.err


def test_one_strength_may_hold_for_all(heart: Heart, answered: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "strength"} for row in votes(answered)]
    refused = judgments(heart, answered, rows)
    assert "--strength 3" in refused.err
    assert judgments(heart, answered, rows, "--strength", "1").json["n_added"] == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choice": "tie", "strength": ""}, "judging.protocol = 'forced-strength' knows none"),
        ({"strength": 6}, "strength is '6'; expected a whole number from 1 to 5"),
        ({"choice": ""}, "it does not say who won"),
        ({"second": "ours"}, "a system is compared with itself"),
        ({"H_strength": 3}, "the axis H has a strength and no winner"),
        ({"rater_family": "gpt"}, "of the family 'some' in the study file"),
        ({"repeat": "often"}, "repeat is 'often'"),
    ],
)
def test_verdicts_that_the_protocol_does_not_know_are_refused(
    heart: Heart, answered: Path, change: dict[str, Any], words: str
) -> None:
    plain: dict[str, Any] = {"H": "first", "H_strength": 2, "repeat": 0, "rater_family": "some"}
    rows = votes(answered, **plain)
    rows[1].update(change, **({"H": ""} if "H_strength" in change else {}))
    done = judgments(heart, answered, rows)
    assert done.code == 2
    assert f"row 2 (line 3): {words}" in done.err or words in done.err
    assert stored(answered, Judgment) == []


def test_an_axis_is_no_tie_where_the_protocol_knows_none(heart: Heart, answered: Path) -> None:
    done = judgments(heart, answered, votes(answered, H="tie"))
    assert done.code != 0
    assert "a tie on the axis H, and 'forced-strength' knows none" in done.err


def test_another_verdict_on_the_same_is_refused(heart: Heart, answered: Path) -> None:
    assert judgments(heart, answered, votes(answered)).json["n_added"] == 4
    assert judgments(heart, answered, votes(answered)).json["n_there"] == 4
    done = judgments(heart, answered, votes(answered, choice="second"))
    assert (done.code, done.json["error"]["kind"]) == (1, "store")
    assert "has said otherwise here" in done.err
    twice = [*votes(answered), *votes(answered, choice="second")]
    assert "say so with --repeat COL" in judgments(heart, answered, twice).err
    again = [*votes(answered, again=0), *votes(answered, again=1, choice="second")]
    assert judgments(heart, answered, again, "--repeat", "again").json["n_added"] == 4


def test_a_judge_decides_on_no_system_of_its_own_family(heart: Heart, answered: Path) -> None:
    done = judgments(heart, answered, [*votes(answered), *votes(answered, "gpt judge")]).json
    assert done["left_out"] == {"a judge's own family": 4}
    assert done["by"] == {"rater": {"kind judge": 4}}


@pytest.mark.parametrize("end", ["error", "incomplete", "length", "content_filter"])
def test_a_verdict_of_a_reply_that_was_not_whole_is_left_out(
    heart: Heart, answered: Path, end: str
) -> None:
    rows = votes(answered, finish_reason="stop")
    rows[0]["finish_reason"] = end
    done = judgments(heart, answered, rows).json
    assert done["n_added"] == len(rows) - 1
    assert done["left_out"] == {"a reply that its endpoint did not finish": 1}


def test_judgments_come_after_their_completions(heart: Heart, ours: Path) -> None:
    done = judgments(heart, ours, votes(ours))
    assert done.code == 2
    assert "bring in the replies first" in done.err


def test_people_are_said_to_be_people(heart: Heart, answered: Path) -> None:
    rows = [*votes(answered, "r1"), *votes(answered, "r2", choice="tie", strength="")]
    assert judgments(heart, answered, rows).code == 2
    done = judgments(heart, answered, rows, "--rater-kind", "human", "--group", "clinician").json
    assert (done["by"], done["people"]) == ({"rater": {"r1": 4, "r2": 4}}, ["r1", "r2"])
    people = [r for r in stored(answered, Rater) if r.kind == "human"]
    assert {(r.name, r.group) for r in people} == {("r1", "clinician"), ("r2", "clinician")}
    odd = judgments(heart, answered, votes(answered, "r3", strength=3), "--rater-kind", "human")
    assert "the protocol 'five-point' knows 2 and 4 only" in odd.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kind judge", "is a judge or system of the study file"),
        ("theirs", "is a judge or system of the study file"),
        ("ann@example.org", "give each a pseudonym first"),
    ],
)
def test_no_model_and_no_address_passes_for_a_person(
    heart: Heart, answered: Path, name: str, said: str
) -> None:
    done = judgments(heart, answered, votes(answered, name), "--rater-kind", "human")
    assert done.code != 0
    assert said in done.err
    assert "@" not in done.err


def test_people_need_a_study_that_asks_people(heart: Heart, ours: Path) -> None:
    ours.write_text(HEAD + SYSTEMS + JUDGING, encoding="utf-8")
    path = write(ours.parent / "replies.csv", replies(ours, "ours", "theirs"))
    assert heart("import", ours, path, *REPLIES).code == 0
    done = judgments(heart, ours, votes(ours, "r1"), "--rater-kind", "human")
    assert "add [people] with their protocol" in done.err


def test_raters_bring_their_groups_before_they_judge(heart: Heart, answered: Path) -> None:
    rows = [
        {"rater": "r1", "rater_kind": "human", "rater_group": "peer", "pool": "ours"},
        {"rater": "kind judge", "rater_kind": "llm", "rater_group": "", "pool": ""},
    ]
    path = write(answered.parent / "raters.csv", rows)
    done = heart("import", answered, path, "--kind", "raters", "--json").json
    assert (done["n_added"], done["n_there"]) == (1, 1)
    assert heart("import", answered, path, "--kind", "raters", "--json").json["n_there"] == 2
    assert judgments(heart, answered, votes(answered, "r1")).json["n_added"] == 4
    rows[0]["rater_group"] = "crowd"
    other = heart("import", answered, write(path, rows), "--kind", "raters")
    assert "'r1' is of the group 'peer', not 'crowd'" in other.err


def test_ratings_fill_a_study_that_rates(heart: Heart, ours: Path) -> None:
    rating = JUDGING + 'protocol = "rating"\n'
    ours.write_text(HEAD + SYSTEMS + rating, encoding="utf-8")
    path = write(ours.parent / "replies.csv", replies(ours, "ours", "theirs"))
    assert heart("import", ours, path, *REPLIES).code == 0
    scores = [
        {"item_id": item.id, "system": name, "rater": "kind judge", "warm": 1 + n, "E": 5}
        | {"A": 3, "R": 2, "T": 4, "said": "plain"}
        for n, item in enumerate(items_of(ours))
        for name in ("ours", "theirs")
    ]
    path = write(ours.parent / "scores.csv", scores)
    words = ("--kind", "ratings", "--axis", "H=warm", "--axis-reason", "H=said")
    done = heart("import", ours, path, *words, "--json").json
    assert (done["n_added"], done["by"]) == (8, {"rater": {"kind judge": 8}})
    one = stored(ours, Rating)[0]
    assert (one.axes["E"], one.comments) == (5, {"H": "plain"})
    assert heart("import", ours, path, *words, "--json").json["n_there"] == 8
    heart("analyze", ours)
    results = json.loads(ours.with_suffix(".results.json").read_text(encoding="utf-8"))
    assert {row["system"] for row in results["ratings"]["systems"]} >= {"ours", "theirs"}
    assert judgments(heart, ours, votes(ours)).code == 2
    del scores[0]["E"]
    done = heart("import", ours, write(path, scores), *words)
    assert "no score on E; a rating here is of H, E, A, R, T" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what the rows of votes.csv are: --kind completions, judgments"),
        (["--kind", "judgments", "--text", "x"], "--text says nothing of judgments"),
        (["--kind", "judgments", "--axis", "Q=x"], "expected AXIS=COL, the axis one of H, E"),
        (["--kind", "judgments", "--axis", "H=x", "--axis", "H=y"], "the axis H is named twice"),
        (["--kind", "raters", "--axis", "H=x"], "--axis says nothing of raters"),
        (["--kind", "completions"], "name its columns: --system COL, --text COL"),
        (["--kind", "judgments", "--item", "item_di"], "did you mean 'item_id'?"),
    ],
)
def test_wrong_words_say_what_to_type(
    heart: Heart, ours: Path, words: list[str], said: str
) -> None:
    path = write(ours.parent / "votes.csv", votes(ours))
    done = heart("import", ours, path, *words)
    assert done.code == 2
    assert said in done.err


def test_options_of_tables_are_none_of_logs(heart: Heart, ours: Path) -> None:
    done = heart("import", ours, "run.eval", "--system", "ours", "--dry-run")
    assert done.code == 2
    assert "--dry-run is for tables, with --kind" in done.err
    assert "Missing option '--system'" in heart("import", ours, "run.eval").err


def test_the_offline_judge_stays_a_baseline_when_it_is_imported(heart: Heart, ours: Path) -> None:
    text = HEAD + SYSTEMS.replace('name = "kind judge"\nmodel = "imported/some-judge"', "")
    text = text.replace(
        '[[judge]]\n\nfamily = "some"', '[[judge]]\nname = "k"\nmodel = "imported/cue"'
    )
    text += '[judging]\njudges = ["k", "gpt judge"]\n'
    ours.write_text(text, encoding="utf-8")
    path = write(ours.parent / "replies.csv", replies(ours, "ours", "theirs"))
    assert heart("import", ours, path, *REPLIES).code == 0
    # An exported table names it as it is named where it judged.
    assert judgments(heart, ours, votes(ours, "cue")).json["by"] == {"rater": {"k": 4}}
    assert "The cue judge is an offline baseline" in heart("analyze", ours).out
    assert len(stored(ours, Judgment)) == 4
    heart("run", ours)
    assert len(stored(ours, Judgment)) == 4, "it judges nothing here"


def test_a_run_and_the_doctor_say_which_judges_are_not_imported(heart: Heart, ours: Path) -> None:
    how = f"heart import {ours} FILE --kind judgments"
    done = heart("run", ours, "--json")
    assert f"no judgments of kind judge are imported yet: {how}" in done.err
    assert done.code == 1
    judge = next(one for one in done.json["failures"] if one["name"] == "kind judge")
    assert [cause["reason"] for cause in judge["causes"]] == ["not-imported"]
    assert "judge gpt judge has no result (not-imported" in done.err
    assert how in heart("doctor", ours).out


def test_a_table_says_nothing_of_calls(heart: Heart, answered: Path) -> None:
    judgments(heart, answered, votes(answered))
    heart("analyze", answered)
    results = json.loads(answered.with_suffix(".results.json").read_text(encoding="utf-8"))
    asked = {model["name"] for model in results["spending"]["models"]}
    assert asked <= {"gpt judge"}
    assert "answered as , with" not in heart("doctor", answered).out
