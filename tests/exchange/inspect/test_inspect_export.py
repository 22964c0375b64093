"""A study as Inspect's logs: what Inspect reads back, and who is said to have written what."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from made_records import made_row
from small_world import NOW, make_world

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.domain import Assignment, Attempt, Choice, Completion, Judgment, Rater, Study, System
from hearteval.errors import SettingsError, StoreError
from hearteval.exchange.inspect import ExportedLog, export_study
from hearteval.exchange.inspect.samples import Tally, tally_judgments

PAPER = known_briefs()["paper"]
WORLD = make_world()
BASELINE, MODEL = WORLD.systems
CHOICES: tuple[Choice, Choice] = ("first", "second")
PEOPLE = System(name="people", kind="human", family="human")


def exported(**values: Any) -> StudyData:
    made: dict[str, Any] = {
        "systems": WORLD.systems,
        "items": [WORLD.item],
        "completions": WORLD.completions,
        "raters": [WORLD.rater],
        "pairs": [WORLD.pair],
        "assignments": WORLD.assignments,
        "judgments": [WORLD.judgment],
        **values,
    }
    asked = {assignment.id: assignment for assignment in made.pop("assignments")}
    rows = [row_of(said, asked[said.assignment_id]) for said in made.pop("judgments")]
    return StudyData(**made, judgments=judgments_of(rows))


def row_of(said: Judgment, asked: Assignment) -> JudgmentRow:
    """Write a judgment as a row: its completions stand in the assignment and the pair."""
    return made_row(
        assignment_id=asked.id,
        pair_id=asked.pair_id,
        item_id=WORLD.item.id,
        first_completion_id=asked.first_completion_id,
        rater_id=asked.rater_id,
        repeat=asked.repeat,
        choice=said.choice,
        strength=said.strength,
        axes=said.axes,
    )


def export(
    data: StudyData, folder: Path, *, study: Study = WORLD.study, replace: bool = False
) -> tuple[ExportedLog, ...]:
    return export_study(
        study,
        data,
        folder,
        prompts={PAPER.prompt_hash: {WORLD.item.id: support_messages(WORLD.item, PAPER)}},
        replace=replace,
    )


def written(
    folder: Path, data: StudyData, system: System, *, study: Study = WORLD.study
) -> EvalLog:
    """Export, and have Inspect read the log of one system."""
    logs = {log.system: log.path for log in export(data, folder, study=study)}
    return read_eval_log(logs[system.name])


def only_sample(log: EvalLog) -> Any:
    (sample,) = log.samples or []
    return sample


def test_each_system_has_a_log_that_inspect_lists(tmp_path: Path) -> None:
    export(exported(), tmp_path)
    models = {
        read_eval_log(info, header_only=True).eval.model for info in list_eval_logs(str(tmp_path))
    }
    assert models == {"hearteval/one", "two"}


def test_a_sample_is_a_completion_of_its_item(tmp_path: Path) -> None:
    sample = only_sample(written(tmp_path, exported(), MODEL))
    assert (sample.id, sample.epoch, sample.target) == (WORLD.item.id, 1, "")
    assert sample.output.completion == sample.messages[-1].text == "What now?"
    labels = ("subset", "emotion", "problem", "licence", "consent_basis")
    assert [sample.metadata[label] for label in labels] == [
        "regular",
        "sadness",
        "job crisis",
        "Apache-2.0",
        "invented",
    ]
    assert (sample.metadata["cost_usd"], sample.metadata["first_token_ms"]) == (0.25, 12.5)


def test_the_log_says_which_study_and_version_it_is_of(tmp_path: Path) -> None:
    log = written(tmp_path, exported(), MODEL, study=replace(WORLD.study, version=3))
    assert (log.status, log.eval.task, log.eval.task_version) == (
        "success",
        "hearteval study small",
        3,
    )
    assert log.eval.metadata is not None
    assert log.eval.metadata["study_id"] == WORLD.study.id


def test_what_was_sent_stands_before_a_model_s_reply(tmp_path: Path) -> None:
    ours = replace(WORLD.completions[1], prompt_hash=PAPER.prompt_hash)
    data = exported(completions=(WORLD.completions[0], ours))
    sample = only_sample(written(tmp_path, data, MODEL))
    sent = [(message.role, message.text) for message in sample.messages[:-1]]
    assert tuple(sent) == support_messages(WORLD.item, PAPER)
    assert sample.metadata["shown_before_it"] == "what was sent"


def test_no_prompt_is_shown_that_was_not_sent(tmp_path: Path) -> None:
    for system in WORLD.systems:
        sample = only_sample(written(tmp_path, exported(), system))
        assert [message.role for message in sample.messages] == ["assistant", "user", "assistant"]
        assert sample.metadata["shown_before_it"] == "the dialogue alone"


def test_a_baseline_says_that_it_is_one(tmp_path: Path) -> None:
    log = written(tmp_path, exported(), BASELINE)
    assert log.eval.metadata is not None
    assert log.eval.metadata["is_baseline"] is True
    assert log.eval.metadata["written_by"].startswith("a baseline")
    assert log.eval.tags == ["baseline"]


def test_a_corpus_s_own_reply_is_not_said_to_be_a_person_s(tmp_path: Path) -> None:
    system = System(name="original", kind="original", family="original")
    own = Completion(item_id=WORLD.item.id, system_id=system.id, text="Closed?", created_at=NOW)
    log = written(tmp_path, exported(systems=[system], completions=[own]), system)
    assert log.eval.model == "hearteval/original"
    said = json.dumps([log.eval.metadata, only_sample(log).metadata])
    assert "human" not in said
    assert "people" not in said


def test_people_s_completions_of_an_item_stand_apart_under_their_pseudonyms(tmp_path: Path) -> None:
    texts = {"W2": "Closed for good?", "W1": "Oh no."}
    completions = [
        Completion(
            item_id=WORLD.item.id, system_id=PEOPLE.id, text=text, writer_id=name, created_at=NOW
        )
        for name, text in texts.items()
    ]
    log = written(tmp_path, exported(systems=[PEOPLE], completions=completions), PEOPLE)
    assert log.samples is not None
    assert [(s.epoch, s.metadata["writer"], s.output.completion) for s in log.samples] == [
        (1, "W1", "Oh no."),
        (2, "W2", "Closed for good?"),
    ]
    assert log.eval.model == "hearteval/human"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"provider": "openrouter", "model": "openai/gpt-5"}, "openrouter/openai/gpt-5"),
        ({"provider": "imported", "model": "openai/gpt-5"}, "openai/gpt-5"),
        ({"provider": "inspect/anthropic", "model": "claude-x"}, "anthropic/claude-x"),
    ],
)
def test_a_model_has_the_name_that_inspect_would_give_it(
    tmp_path: Path, settings: dict[str, str], name: str
) -> None:
    system = System(name="x", kind="model", family="gpt", settings=settings)
    assert written(tmp_path, exported(systems=[system]), system).eval.model == name


def test_scores_are_what_each_rater_said_marked_with_who_it_was(tmp_path: Path) -> None:
    log = written(tmp_path, exported(), BASELINE)
    name = "judge cue (offline baseline)"
    (score,) = only_sample(log).scores.items()
    assert (score[0], score[1].value, score[1].answer) == (name, 1.0, "I hear you.")
    assert score[1].metadata["wins"] == 1
    assert "nothing about empathy" in score[1].metadata["judged_by"]
    assert log.results is not None
    (metrics,) = log.results.scores
    assert (metrics.name, metrics.metrics["win_rate"].value) == (name, 1.0)


def test_several_judges_stand_together_before_each_of_them(tmp_path: Path) -> None:
    judges = [Rater(name=name, kind="llm", family=name) for name in ("gpt", "claude")]
    asked = [replace(WORLD.assignments[0], rater_id=judge.id, id="") for judge in judges]
    said = [
        replace(WORLD.judgment, assignment_id=assignment.id, choice=choice, id="")
        for assignment, choice in zip(asked, CHOICES, strict=True)
    ]
    data = exported(
        raters=[WORLD.rater, *judges],
        assignments=[*WORLD.assignments, *asked],
        judgments=[WORLD.judgment, *said],
    )
    log = written(tmp_path, data, BASELINE)
    assert log.results is not None
    assert [(s.name, s.metrics["win_rate"].value) for s in log.results.scores] == [
        ("all judges", 0.5),
        ("judge claude", 0.0),
        ("judge cue (offline baseline)", 1.0),
        ("judge gpt", 1.0),
    ]


def test_people_who_judge_appear_as_people(tmp_path: Path) -> None:
    person = Rater(name="P07", kind="human", family="human")
    asked = Assignment(
        study_id=WORLD.study.id,
        pair_id=WORLD.pair.id,
        rater_id=person.id,
        first_completion_id=WORLD.completions[0].id,
    )
    said = Judgment(assignment_id=asked.id, choice="tie", strength=None, created_at=NOW)
    data = exported(raters=[person], assignments=[asked], judgments=[said])
    scores = only_sample(written(tmp_path, data, MODEL)).scores
    assert scores["person P07"].value == 0.5
    assert scores["person P07"].metadata["judged_by"] == "a person, by pseudonym"


def test_a_missing_completion_is_a_sample_with_its_reason_as_error(tmp_path: Path) -> None:
    failed = [
        Attempt(
            item_id=WORLD.item.id,
            system_id=MODEL.id,
            attempt=n,
            reason=reason,
            raw="sk-canary",
            created_at=NOW,
        )
        for n, reason in enumerate(["timeout", "refused"])
    ]
    data = exported(completions=WORLD.completions[:1], attempts=failed)
    sample = only_sample(written(tmp_path, data, MODEL))
    assert sample.error.message == "no completion: refused"
    assert "sk-canary" not in sample.model_dump_json()


def test_what_was_never_asked_is_counted_and_has_no_sample(tmp_path: Path) -> None:
    logs = export(exported(completions=WORLD.completions[:1]), tmp_path)
    counts = {log.system: (log.n_completions, log.n_failed, log.n_left_out) for log in logs}
    assert counts == {"one": (1, 0, 0), "two": (0, 0, 1)}


def test_the_same_study_again_changes_no_file(tmp_path: Path) -> None:
    export(exported(), tmp_path)
    export(exported(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_another_content_is_not_replaced_unless_asked_for(tmp_path: Path) -> None:
    first, second = export(exported(), tmp_path)
    grown = exported(judgments=[])
    before = first.path.read_bytes(), second.path.read_bytes()
    with pytest.raises(SettingsError, match="--force"):
        export(grown, tmp_path)
    assert (first.path.read_bytes(), second.path.read_bytes()) == before
    export(grown, tmp_path, replace=True)
    log = read_eval_log(first.path)
    assert log.results is not None
    assert log.results.scores == []


def test_a_file_that_is_no_log_is_not_replaced_either(tmp_path: Path) -> None:
    first, _ = export(exported(), tmp_path)
    first.path.write_text("mine", encoding="utf-8")
    with pytest.raises(SettingsError, match="holds other content"):
        export(exported(), tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be written"):
        export(exported(), tmp_path / "file" / "logs")


def test_names_of_systems_are_no_paths(tmp_path: Path) -> None:
    system = System(name="../../ü /x", kind="model", family="ours", settings={})
    (log,) = export(exported(systems=[system]), tmp_path / "logs")
    assert log.path.parent == tmp_path / "logs"
    assert log.path.name.startswith("small.---------x.")


@pytest.mark.parametrize(
    "odd", [{"repeat": 1}, {"rater_id": "ee" * 16}], ids=["a repeat", "a rater who is not exported"]
)
def test_what_enters_no_ranking_is_not_counted(odd: dict[str, Any]) -> None:
    asked = replace(WORLD.assignments[0], **odd, id="")
    said = replace(WORLD.judgment, assignment_id=asked.id, id="")
    assert tally_judgments(exported(assignments=[asked], judgments=[said])) == {}


def test_a_win_of_one_is_a_loss_of_the_other_in_whichever_order() -> None:
    said = [
        replace(WORLD.judgment, assignment_id=WORLD.assignments[0].id, choice="first", id=""),
        replace(WORLD.judgment, assignment_id=WORLD.assignments[1].id, choice="first", id=""),
    ]
    tallies = tally_judgments(exported(judgments=said))
    each = Tally(wins=1, losses=1)
    assert {one: dict(by) for one, by in tallies.items()} == {
        completion.id: {WORLD.rater.id: each} for completion in WORLD.completions
    }
