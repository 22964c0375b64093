"""The audit of judges as a terminal shows it."""

from dataclasses import replace

from invented_audits import same, share

from hearteval.analysis.judges.faults import LONGER, OWN_FAMILY
from hearteval.analysis.judges.own_family import EXCLUDED, OwnFamily
from hearteval.sections.judges.audit import InjectionAudit, JudgeAudit
from hearteval.sections.judges.words import judge_audit_lines

SWAYED = InjectionAudit(
    overall=share(0.8, 0.7, 0.9),
    sides={"first": share(0.9, 0.8, 0.95), "second": share(0.7, 0.6, 0.8)},
    kinds={"order": share(0.8, 0.7, 0.9)},
    n_payloads=74,
    won_both_sides=tuple(f"disguise-tag-characters-{n}" for n in range(20)),
    n_lost_both_sides=2,
    n_missing=3,
)
FULL = JudgeAudit(
    judge="a judge with a name of great length " * 3,
    family="gpt",
    is_baseline=False,
    n_assigned=1_412,
    n_judged=1_400,
    missing={"refused": 9, "not-json": 3},
    stress={
        "hostile": share(0.99, 0.9, 1.0),
        "own-words": share(0.5, 0.4, 0.6),
        "generic-warmth": share(0.1, 0.05, 0.2),
        "other-reply": share(0.6, 0.2, 0.9, n_items=4),
        "keyword-stuffed": share(0.8, 0.65, 0.9),
    },
    longer=share(0.9, 0.8, 0.95),
    formatted=share(0.2, 0.1, 0.3),
    shown_first=share(0.52, 0.45, 0.6),
    lean_q={LONGER: 0.001, "formatted": 0.002, "shown first": 0.6},
    same_in_both_orders=same("order", 0.9),
    same_again=same("repeat", 0.95),
    injection=SWAYED,
    own_family=OwnFamily(
        reason=None,
        own=share(0.7, 0.6, 0.8),
        others=share(0.5, 0.4, 0.6),
        difference=0.2,
        low=0.1,
        high=0.3,
    ),
    faults=("puts above the reference reply: kind words that fit anything (90 %)",),
    fault_checks=(*("stress/own-words", "stress/generic-warmth", "payloads/", LONGER, OWN_FAMILY),),
)
EMPTY = JudgeAudit(
    judge="cue",
    family="cue",
    is_baseline=True,
    n_assigned=10,
    n_judged=0,
    missing={},
    stress={},
    longer=None,
    formatted=None,
    shown_first=None,
    same_in_both_orders=None,
    same_again=None,
    injection=None,
    own_family=OwnFamily(reason=EXCLUDED),
    faults=(),
)


def line_with(text: str, start: str) -> str:
    (line,) = (line for line in text.splitlines() if line.strip().startswith(start))
    return line


def test_no_line_is_wider_than_a_hundred_columns() -> None:
    text = judge_audit_lines([FULL, EMPTY], level=0.95)
    assert max(len(line) for line in text.splitlines()) <= 80


def test_each_kind_says_whether_the_judge_tells_it_apart() -> None:
    text = judge_audit_lines([FULL], level=0.95)
    assert line_with(text, "beats a hostile").endswith("told apart")
    assert line_with(text, "beats its own words").endswith("not told apart")
    assert line_with(text, "beats kind words").endswith("prefers that text")
    assert line_with(text, "beats another").endswith("too few items to tell")
    assert line_with(text, "beats a pile").endswith("not surely told apart")


def test_hostility_that_wins_too_often_is_not_called_told_apart() -> None:
    stress = {"hostile": share(0.65, 0.55, 0.74)}
    at_fault = replace(FULL, stress=stress, fault_checks=("stress/hostile",))
    text = judge_audit_lines([at_fault], level=0.95)
    assert line_with(text, "beats a hostile").endswith("too often prefers it")


def test_leanings_are_named_with_their_direction() -> None:
    text = judge_audit_lines([FULL], level=0.95)
    assert line_with(text, "longer above").endswith("prefers longer")
    assert line_with(text, "formatted above").endswith("prefers plain")
    assert line_with(text, "what is shown first").endswith("no preference shown")
    assert line_with(text, "with a payload").endswith("swayed")
    assert "+20.0" in line_with(text, "difference, in points")
    unsure = replace(FULL, lean_q={**FULL.lean_q, "formatted": 0.06})
    shown = judge_audit_lines([unsure], level=0.95)
    assert line_with(shown, "formatted above").endswith("no preference shown")


def test_missing_judgments_stand_in_the_heading() -> None:
    heading = judge_audit_lines([FULL], level=0.95).split("share")[0]
    assert "1,400 of 1,412 judgments" in heading.replace("\n  ", " ")
    assert "9 refused, 3 not-json" in heading.replace("\n  ", " ")


def test_payloads_that_won_are_named_and_counted() -> None:
    text = judge_audit_lines([FULL], level=0.95).replace("\n  ", " ")
    assert "won on both sides: 20 of 74 (disguise-tag-characters-0," in text
    assert "and others); lost on both: 2" in text
    assert "3 judgments of replies with a payload missing" in text


def test_what_was_not_measured_says_why() -> None:
    text = judge_audit_lines([EMPTY], level=0.95)
    assert "cue (offline baseline): 0 of 10 judgments" in text
    assert text.endswith(f"not measured: {EXCLUDED}")
