"""`heart rank` with an anchor, differences, tied groups, controls and judges; he.rank likewise."""

import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.api
from heart_command import Heart

import hearteval as he
from hearteval.errors import NotIdentifiedError, SettingsError

SKILL = {"ash": 0.8, "elm": 0.2, "fir": 0.1, "oak": -1.0}


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    n = 600
    pairs = [tuple(rng.permutation(list(SKILL))[:2]) for _ in range(n)]
    votes = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    votes["words_a"], votes["words_b"] = rng.integers(20, 60, n), rng.integers(20, 60, n)
    longer = (votes.words_a - votes.words_b) / (votes.words_a + votes.words_b)
    ahead = votes.model_a.map(SKILL) - votes.model_b.map(SKILL) + 1.5 * longer
    won = rng.random(n) < 1 / (1 + np.exp(-ahead))
    votes["winner"] = np.where(won, "model_a", "model_b")
    votes["prompt"] = rng.integers(0, 60, n)
    votes["judge"] = rng.choice(["gpt", "claude"], n)
    votes["axis"] = rng.choice(["H", "E"], n)
    return votes


@pytest.fixture
def path(votes: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    votes.to_csv(path, index=False)
    return path


def test_contrasts_with_an_anchor_are_the_differences_from_it(votes: pd.DataFrame) -> None:
    found = he.rank(votes, cluster="prompt", anchor="elm")

    assert found.anchored is not None
    elo = {row.system: row.elo for row in found.systems}
    for row in found.anchored.contrasts:
        assert row.elo == pytest.approx(1500 + elo[row.system] - elo["elm"])
        assert row.difference == pytest.approx(row.elo - 1500)
    assert [row.system for row in found.anchored.contrasts] == ["ash", "fir", "oak"]


def test_contrasts_with_an_anchor_are_those_of_a_logistic_regression(votes: pd.DataFrame) -> None:
    """statsmodels, the anchor left out of the design, sandwich by prompt (no t correction)."""
    others = ["ash", "fir", "oak"]
    design = np.column_stack(
        [(votes.model_a == name).astype(float) - (votes.model_b == name) for name in others]
    )
    model = statsmodels.api.GLM(
        (votes.winner == "model_a").astype(float),
        design,
        family=statsmodels.api.families.Binomial(),
    ).fit(cov_type="cluster", cov_kwds={"groups": votes.prompt, "use_correction": False})
    n_items = votes.prompt.nunique()
    correction = math.sqrt(n_items / (n_items - 1))
    t = scipy.stats.t.ppf(0.975, n_items - 1)
    found = he.rank(votes, cluster="prompt", anchor="elm").anchored

    assert found is not None
    scale = 400 / math.log(10)
    for k, row in enumerate(found.contrasts):
        assert row.difference == pytest.approx(scale * model.params.iloc[k], abs=1e-4)
        assert row.low is not None
        half_width = row.elo - row.low
        assert half_width == pytest.approx(scale * t * model.bse.iloc[k] * correction, rel=1e-3)
    adjusted = scipy.stats.false_discovery_control([row.p for row in found.contrasts])
    assert [row.q for row in found.contrasts] == pytest.approx(adjusted.tolist())


def test_tied_systems_are_those_whose_difference_is_open(votes: pd.DataFrame) -> None:
    found = he.rank(votes, cluster="prompt")

    assert {row.system: row.tied_with for row in found.groups} == {
        "ash": (),
        "elm": ("fir",),
        "fir": ("elm",),
        "oak": (),
    }


def test_each_key_is_there_only_when_its_option_asks(heart: Heart, path: Path) -> None:
    usual = set(heart("rank", path, "--cluster", "prompt", "--json").json)
    options = {
        "anchor": ("--anchor", "elm"),
        "differences": ("--differences",),
        "groups": ("--groups",),
        "controlled": ("--control", "length", "words_a", "words_b"),
        "judge_aware": ("--judge", "judge"),
    }
    for key, words in options.items():
        found = heart("rank", path, "--cluster", "prompt", *words, "--json").json
        assert set(found) == usual | {key}


def test_everything_at_once_is_the_same_as_apart(
    heart: Heart, path: Path, votes: pd.DataFrame
) -> None:
    done = heart(
        *("rank", path, "--cluster", "prompt", "--anchor", "elm", "--differences", "--groups"),
        *("--control", "length", "words_a", "words_b", "--position", "--judge", "judge", "--json"),
    )

    controls = {"length": ("words_a", "words_b")}
    controlled = he.rank_controlled(votes, cluster="prompt", controls=controls).to_dict()
    judged = he.rank_judge_aware(votes, cluster="prompt", judge="judge").to_dict()
    found = done.json
    assert found["controlled"] == written(controlled)
    assert found["judge_aware"] == written(judged)
    assert len(found["differences"]) == 6
    keys = ["elo", "high", "low", "other", "p", "p_family", "q", "system"]
    assert sorted(found["differences"][0]) == keys
    assert found["groups"][1] == {
        "system": found["systems"][1]["system"],
        "tied_with": [found["systems"][2]["system"]],
    }
    assert found["anchor"]["system"] == "elm"
    assert sorted(found["anchor"]["contrasts"][0]) == [
        "difference",
        "elo",
        "high",
        "low",
        "p",
        "p_family",
        "q",
        "system",
    ]


def draw_near_votes(seed: int) -> pd.DataFrame:
    """Return votes of six systems that lie so close that some differences are open."""
    rng = np.random.default_rng(seed)
    names = np.array(["ash", "elm", "fir", "oak", "yew", "bay"])
    skill = rng.normal(0, 0.5, 6)
    pairs = np.array([rng.permutation(6)[:2] for _ in range(700)])
    won = rng.random(700) < 1 / (1 + np.exp(skill[pairs[:, 1]] - skill[pairs[:, 0]]))
    votes = pd.DataFrame(names[pairs], columns=["model_a", "model_b"])
    votes["winner"] = np.where(won, "model_a", "model_b")
    votes["prompt"], votes["voter"] = rng.integers(0, 50, 700), rng.integers(0, 9, 700)
    return votes


@pytest.mark.parametrize("seed", range(30))
def test_sentence_places_differences_and_ties_say_one_thing(seed: int) -> None:
    """Above for certain, in the table of differences, is behind in all the others."""
    found = he.rank(
        draw_near_votes(seed), cluster="prompt", rater="voter", also=["differences", "groups"]
    )
    said = str(found)
    lines = [line.split() for line in said.split("tied with", maxsplit=1)[0].splitlines()]
    names = [row.system for row in found.systems]
    words = {
        (line[0], line[2]): line[1]
        for line in lines
        if len(line) > 2 and line[0] in names and line[2] in names and line[1] != "beat"
    }
    above = {pair for pair, word in words.items() if word == "above"}
    assert len(words) == 15
    assert set(words.values()) <= {"above", "open"}
    for row in found.systems:
        assert row.rank_low == 1 + sum(below == row.system for _, below in above)
        assert row.rank_high == 6 - sum(at == row.system for at, _ in above)
    for group in found.groups:
        near = {pair for pair, word in words.items() if word == "open" and group.system in pair}
        assert set(group.tied_with) == {name for pair in near for name in pair} - {group.system}
    leaders = [name for name in names if not any(below == name for _, below in above)]
    first = said.split(".", maxsplit=1)[0]
    assert ("leads" in first) == (len(leaders) == 1)
    assert len(leaders) > 3 or all(name in first for name in leaders)


def written(body: dict[str, Any]) -> Any:
    """Return an object as JSON gives it back, without its schema."""
    return json.loads(json.dumps({key: value for key, value in body.items() if key != "schema"}))


def test_all_of_it_is_said_in_80_columns(heart: Heart, path: Path) -> None:
    said = heart(
        *("rank", path, "--cluster", "prompt", "--anchor", "elm", "--differences", "--groups"),
        *("--control", "length", "words_a", "words_b", "--position", "--judge", "judge"),
    ).out

    for words in ("against elm", "by Elo", "tied with", "Elo, controlled", "Elo, judge-aware"):
        assert words in said
    assert "<0.001" in said
    assert max(map(len, said.splitlines())) <= 80


def test_groups_of_votes_are_controlled_each_alone(votes: pd.DataFrame) -> None:
    controls = {"length": ("words_a", "words_b")}
    found = he.rank(votes, cluster="prompt", by="axis", controls=controls, anchor="oak")

    alone = he.rank_controlled(
        votes[votes.axis == "H"], cluster="prompt", controls=controls, position=False
    )
    assert found["H"].controlled is not None
    assert found["H"].controlled.to_dict() == alone.to_dict()
    assert found["E"].anchored is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--anchor", "elmm"], "'elmm' is none of the systems: ash"),
        (["--control", "length", "words_a", "words_x"], "no column 'words_x'"),
        (["--control", "length", "words_a", "words_a"], "for both sides"),
        (["--control", "n", "words_a", "words_b"] * 2, "Two controls have one name"),
        (["--judge", "jugde"], "did you mean 'judge'"),
        (["--judge", "prompt"], "both as judge and as cluster"),
    ],
)
def test_wrong_use_exits_with_2(heart: Heart, path: Path, options: list[str], words: str) -> None:
    done = heart("rank", path, "--cluster", "prompt", *options, "--json")

    assert done.code == 2
    assert words in done.json["error"]["message"]


@pytest.mark.parametrize("option", [["--position"], ["--judge", "judge"]])
def test_what_is_controlled_needs_items(heart: Heart, path: Path, option: list[str]) -> None:
    done = heart("rank", path, *option)

    assert done.code == 2
    assert "name it as the cluster (--cluster COLUMN" in " ".join(done.err.split())


def test_what_cannot_be_shown_is_a_value_error(votes: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="also must be several"):
        he.rank(votes, cluster="prompt", also="groups")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="none of the systems"):
        he.rank(votes, cluster="prompt", anchor="yew")


RANDOM: Any = {"assume_random": True}


@pytest.fixture(scope="module")
def both() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Votes of people on ten systems, few, and of a judge who sees twice the differences."""
    rng = np.random.default_rng(2)
    names = [f"s{k}" for k in range(10)]
    skill = np.linspace(0.9, -0.9, 10)

    def votes(n: int, scale: float) -> pd.DataFrame:
        left = rng.integers(0, 10, n)
        right = (left + rng.integers(1, 10, n)) % 10
        won = rng.random(n) < 1 / (1 + np.exp(-scale * (skill[left] - skill[right])))
        return pd.DataFrame(
            {
                "model_a": [names[k] for k in left],
                "model_b": [names[k] for k in right],
                "winner": np.where(won, "model_a", "model_b"),
                "prompt": rng.integers(0, 80, n),
            }
        )

    return votes(600, 1), votes(6_000, 2)


def test_votes_of_people_are_anchored_by_those_of_a_judge(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    people, judge = both

    found = he.rank(
        people, cluster="prompt", judged_by={"gpt": judge}, **RANDOM
    ).by_people_and_judges

    assert found is not None
    assert found.slopes["gpt"] == pytest.approx(0.5, abs=0.12)
    truth = dict(zip([f"s{k}" for k in range(10)], np.linspace(0.9, -0.9, 10), strict=True))
    elo = {row.system: row.elo for row in found.systems}
    expected = {name: 1500 + 400 / math.log(10) * value for name, value in truth.items()}
    assert max(abs((elo[name] or 0) - expected[name]) for name in truth) < 60


def test_command_line_reads_judges_from_files(
    both: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, heart: Heart
) -> None:
    for name, votes in zip(("people", "gpt"), both, strict=True):
        votes.to_csv(tmp_path / f"{name}.csv", index=False)
    files = ("--judged-by", tmp_path / "gpt.csv")
    options = ("--cluster", "prompt", *files, "--human", "s3", "--assume-random")

    shown = heart("rank", tmp_path / "people.csv", *options)
    body = heart("rank", tmp_path / "people.csv", *options, "--json").json

    assert "anchored by judges" in shown.out
    rows = {row["system"]: row for row in body["anchored"]["systems"]}
    assert list(body["anchored"]["slopes"]) == ["gpt"]
    assert rows["s3"]["kind"] == "human"
    assert rows["s3"]["note"].startswith("the only one of its kind")


def test_too_few_systems_are_not_anchored_and_told_why(votes: pd.DataFrame) -> None:
    found = he.rank(votes, cluster="prompt", judged_by={"gpt": votes}, **RANDOM)

    assert found.by_people_and_judges is not None
    assert found.by_people_and_judges.systems == ()
    assert (
        "not known, as to tell how far judges miss, people have to compare 6 systems"
        in " ".join(str(found).split())
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": None}, "need the column of the item"),
        ({"by": "axis"}, "leave `by` out"),
        ({"human": ["zoe"]}, "not among the systems"),
        ({"human": ["ash"], "judged_by": {}}, "and there are none"),
        ({}, "how the comparisons that people judged were chosen.*assume_random=True"),
    ],
)
def test_what_does_not_go_with_judges_is_refused(
    votes: pd.DataFrame, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError, match=f"(?s){said}"):
        he.rank(votes, **{"cluster": "prompt", "judged_by": {"gpt": votes}, **options})


def test_two_judges_of_one_name_are_refused(path: Path, heart: Heart) -> None:
    twice = heart("rank", path, "--cluster", "prompt", "--judged-by", path, "--judged-by", path)

    assert twice.code == 2
    assert "Two files of judges have one name" in twice.err


def test_command_for_comparisons_drawn_at_random_is_ready_to_paste(
    both: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, heart: Heart
) -> None:
    for name, votes in zip(("people", "gpt"), both, strict=True):
        votes.to_csv(tmp_path / f"{name}.csv", index=False)
    files = (tmp_path / "people.csv", "--cluster", "prompt", "--judged-by", tmp_path / "gpt.csv")

    refused = heart("rank", *files)
    _, *command = shlex.split(refused.err.splitlines()[-1])

    assert refused.code == 2
    assert command[-1] == "--assume-random"
    assert heart(*command).code == 0


def test_judges_of_one_table_and_of_several_are_told_apart_alike(
    both: tuple[pd.DataFrame, pd.DataFrame], tmp_path: Path, heart: Heart
) -> None:
    people, judge = both
    halves = {"a": judge[:3_000], "b": judge[3_000:]}
    one = pd.concat([half.assign(who=name) for name, half in halves.items()])
    for name, votes in {"people": people, "one": one, **halves}.items():
        votes.to_csv(tmp_path / f"{name}.csv", index=False)
    start = ("rank", tmp_path / "people.csv", "--cluster", "prompt", "--assume-random", "--json")
    several = ("--judged-by", tmp_path / "a.csv", "--judged-by", tmp_path / "b.csv")

    by_files = heart(*start, *several).json["anchored"]
    by_column = heart(*start, "--judged-by", tmp_path / "one.csv", "--judge", "who").json
    twice = heart(*start, *several[:2], "--judged-by", tmp_path / "one.csv", "--judge", "who")

    assert list(by_files["slopes"]) == ["a", "b"]
    assert by_column["anchored"] == by_files
    assert "judge_aware" not in by_column
    assert twice.code == 2
    assert "a.csv has no column 'who'" in twice.json["error"]["message"]


def test_two_tables_that_name_one_judge_are_refused(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    people, judge = both
    named = judge.assign(who="gpt")

    with pytest.raises(SettingsError, match="two tables hold votes of gpt"):
        he.rank_anchored(
            people, judged_by={"a": named, "b": named}, judge="who", cluster="prompt", **RANDOM
        )


def test_anchored_ranking_is_the_one_beside_peoples_own(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    people, judge = both
    given: Any = {"judged_by": {"gpt": judge}, "cluster": "prompt", "human": ["s3"], **RANDOM}

    found = he.rank_anchored(people, **given)

    assert found.to_dict()["schema"] == "heart.rank_anchored/1"
    assert found.beside() == he.rank(people, **given).to_dict()["anchored"]
    assert "anchored by judges" in str(found)
    assert list(found.to_frame()["system"]) == [row.system for row in found.systems]


def test_people_who_joined_no_two_groups_are_ranked_beside_judges(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    people, judge = both
    half = {f"s{k}": k % 2 for k in range(10)}
    apart = people[people["model_a"].map(half) == people["model_b"].map(half)]

    found = he.rank_anchored(apart, judged_by={"gpt": judge}, cluster="prompt", **RANDOM)

    assert {row.system for row in found.systems if row.elo is not None} == set(half)
    assert found.systems[0].system in {"s0", "s1", "s2"}


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"judged_by": {}}, SettingsError, "no votes of judges"),
        ({"judged_by": "judges.csv"}, TypeError, "by the name of each judge, as .*, not str"),
        ({"human": ["zoe"]}, SettingsError, "zoe: not among the systems"),
        ({"assume_random": False}, SettingsError, "how the comparisons"),
        ({"level": 95}, ValueError, "between 0 and 1"),
        ({"judge": "who"}, SettingsError, "has no column 'who'"),
    ],
)
def test_what_cannot_be_anchored_is_refused(
    both: tuple[pd.DataFrame, pd.DataFrame],
    given: dict[str, Any],
    error: type[Exception],
    said: str,
) -> None:
    people, judge = both
    usual = {"judged_by": {"gpt": judge}, "cluster": "prompt", **RANDOM}

    with pytest.raises(error, match=said):
        he.rank_anchored(people, **{**usual, **given})


def test_ranking_says_that_judges_tables_go_by_name(
    both: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    people, judge = both
    with pytest.raises(TypeError, match="by the name of each judge"):
        he.rank(people, cluster="prompt", judged_by=judge, **RANDOM)


def test_judge_that_names_items_otherwise_is_told(both: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    people, judge = both
    other = judge.assign(prompt="q" + judge["prompt"].astype(str))

    alike, apart = (
        he.rank(people, judged_by={"gpt": each}, cluster="prompt", **RANDOM)
        for each in (judge, other)
    )

    assert "No item that people voted on is among those of gpt" in " ".join(str(apart).split())
    assert "No item that people voted on" not in str(alike)


def test_too_few_systems_of_one_kind_are_an_error(votes: pd.DataFrame) -> None:
    with pytest.raises(NotIdentifiedError, match="6 systems of one kind"):
        he.rank_anchored(votes, judged_by={"gpt": votes}, cluster="prompt", **RANDOM)
