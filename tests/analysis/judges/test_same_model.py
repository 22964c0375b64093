"""One model under two names: by what replies say of their model, else by what was asked for."""

from typing import Any

import pytest

from hearteval.analysis.calls import CallSum
from hearteval.analysis.judges.same_model import warn_of_same_models
from hearteval.domain import Rater, System
from hearteval.notices import Kind, Notice, by_severity

OWN = "openai-compatible"


def system(name: str, model: str, family: str, provider: str = OWN) -> System:
    settings = {"model": model, "provider": provider}
    return System(name=name, kind="model", family=family, settings=settings)


def judge(name: str, model: str, family: str, provider: str = OWN) -> Rater:
    settings = {"model": model, "provider": provider}
    return Rater(name=name, kind="llm", family=family, settings=settings)


def answered(who: System | Rater, *served: str) -> list[CallSum]:
    names: list[dict[str, Any]] = [{"model": name, "temperature": 0} for name in served]
    step = "completions" if isinstance(who, System) else "judgments"
    return [
        CallSum(step, who.id, requested={}, effective=used, n_calls=3, usd=0.0)
        for used in names or [{"temperature": 0}]
    ]


def found(*called: tuple[System | Rater, str | None]) -> list[Notice]:
    calls = [
        one for who, name in called for one in answered(who, *([name] if name is not None else []))
    ]
    return warn_of_same_models(
        [who for who, _ in called if isinstance(who, System)],
        [who for who, _ in called if isinstance(who, Rater)],
        calls,
    )


OURS = system("my model", "my-model", "mine")
THEIRS = judge("my judge", "my-judge", "other")


def test_a_judge_and_a_system_that_one_model_answers_are_named_before_all_else() -> None:
    (notice,) = found((OURS, "/home/ann/models/tiny.gguf"), (THEIRS, "tiny"))
    assert notice.kind is Kind.SAME_MODEL
    assert notice.kind.is_serious
    assert "tiny answers as the judge my judge and as the system my model." in notice
    assert "ann" not in notice
    others = [Notice(kind, kind.value) for kind in (Kind.NO_RESULT, Kind.MISFIT, Kind.MISSING)]
    assert by_severity([*others, notice])[0] is notice


@pytest.mark.parametrize(
    "called",
    [
        [(OURS, "tiny"), (THEIRS, "large")],
        [(OURS, "tiny"), (judge("relative", "my-judge", "mine"), "tiny")],
        [(OURS, "default"), (THEIRS, "default")],
        [(OURS, "tiny"), (THEIRS, None)],
        [(system("s", "m", "x"), None), (judge("j", "m", "y", "local"), None)],
        [(system("a", "m", "x"), "m"), (system("b", "m", "x"), "m")],
        [(OURS, "tiny"), (Rater(name="cue", kind="llm", family="cue"), None)],
    ],
    ids=[
        "two models",
        "kept apart by family",
        "a name that says nothing",
        "one says nothing",
        "one name at two providers",
        "one model with two prompts",
        "no model",
    ],
)
def test_what_is_no_model_under_two_names(called: list[tuple[System | Rater, str | None]]) -> None:
    assert found(*called) == []


def test_without_a_word_of_the_replies_what_was_asked_for_counts() -> None:
    (notice,) = found((system("s", "m", "x"), None), (judge("j", "m", "y"), "default"))
    assert notice.kind is Kind.SAME_MODEL
    assert "m answers as the judge j and as the system s." in notice


def test_a_judge_that_gave_no_verdict_judges_nobody() -> None:
    failed = [one._replace(step="failed tries") for one in answered(THEIRS, "tiny")]
    assert warn_of_same_models([OURS], [THEIRS], [*answered(OURS, "tiny"), *failed]) == []


def test_two_systems_of_the_judge_are_one_warning() -> None:
    short, long = system("short", "m", "x"), system("long", "m", "x")
    (notice,) = found((short, "m"), (long, "m"), (judge("j", "n", "y"), "M"))
    assert "as the systems short and long." in notice


def test_one_model_as_two_judges_is_a_lesser_warning() -> None:
    (notice,) = found((judge("a", "m", "x"), "tiny"), (judge("b", "n", "y"), "tiny"))
    assert notice.kind is Kind.SAME_JUDGE
    assert not notice.kind.is_serious
    assert "tiny answers as a and b. Its verdicts count as those of 2 judges." in notice


def test_two_systems_asked_for_apart_that_one_model_answers_are_told() -> None:
    (notice,) = found((OURS, "tiny"), (system("b", "other", "x"), "tiny"))
    assert notice.kind is Kind.OTHER_MODEL
    assert "my model and b were asked for as different models, and tiny answers" in notice
