"""Each rule finds whom it is for, and of honest people hardly anybody."""

import dataclasses

import numpy as np
import pytest
from planted_panel import KINDS, panel

from hearteval.analysis.quality.rules import (
    NO_REFERENCE,
    TOO_FEW,
    TOO_FEW_OTHERS,
    Finding,
    PanelAnswers,
    apply_rules,
    found_of,
)
from hearteval.domain.quality import DEFAULT_RULES, Counted

HONEST = ["careful"] * 12


def by_rule(answers: PanelAnswers, rule: str) -> set[str]:
    found = apply_rules(answers)
    return {one.person.split()[1] for one in found if one.rule == rule and one.is_found}


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("fast", "times"),
        ("fast", "unusual-times"),
        ("fast", "checks"),
        ("line", "straight-line"),
        ("first", "position"),
        ("copies", "repeated-reasons"),
        ("random", "agreement"),
        ("contrary", "agreement"),
        ("contrary", "infit"),
        ("random", "repeats"),
        ("random", "triads"),
    ],
)
def test_each_rule_finds_whom_it_is_for(kind: str, rule: str) -> None:
    answers = panel(np.random.default_rng(11), [kind, *HONEST], n_pairs=1000)
    assert by_rule(answers, rule) == {kind}


def test_careful_and_unsteady_people_are_hardly_ever_named() -> None:
    """Of 10 panels of 12 careful and 3 unsteady people; each rule's family errs in 1 % or less."""
    rng = np.random.default_rng(12)
    named = [
        name
        for _ in range(10)
        for name in found_of(apply_rules(panel(rng, [*HONEST, *["unsteady"] * 3])))
    ]
    assert len(named) <= 2


def test_everybody_has_every_rule_in_one_order() -> None:
    found = apply_rules(panel(np.random.default_rng(13), list(KINDS)))
    rules = [one.rule for one in found[:10]]
    assert [one.rule for one in found] == rules * len(KINDS)
    assert [one.person.split()[1] for one in found[::10]] == list(KINDS)


def test_of_few_answers_nothing_is_said() -> None:
    answers = panel(np.random.default_rng(14), ["fast", *HONEST], n_pairs=15)
    bare = dataclasses.replace(
        answers, checks={0: Counted(1, 1)}, repeats={0: Counted(0, 9)}, triads={}
    )
    of_first = [one for one in apply_rules(bare) if one.person == "0 fast"]
    assert {one.value for one in of_first} == {None}
    assert {one.reason for one in of_first} == {TOO_FEW, NO_REFERENCE}
    assert not any(one.is_found for one in of_first)


def test_one_failed_check_of_two_is_not_enough() -> None:
    answers = panel(np.random.default_rng(16), ["careful"] * 6, n_pairs=20)
    failed = {0: Counted(1, 2), 1: Counted(2, 2), 2: Counted(2, 4), 3: Counted(2, 5)}
    found = apply_rules(dataclasses.replace(answers, checks=failed))
    named = {one.person for one in found if one.rule == "checks" and one.is_found}
    assert named == {"1 careful", "2 careful"}


def test_with_few_others_nobody_is_set_beside_them() -> None:
    answers = panel(np.random.default_rng(15), ["fast", "careful", "careful"], per_pair=3)
    said = {one.rule: one.reason for one in apply_rules(answers) if one.person == "0 fast"}
    assert said["agreement"] == said["infit"] == NO_REFERENCE
    assert said["unusual-times"] == TOO_FEW_OTHERS
    assert said["times"] == ""


def test_tests_are_adjusted_over_people() -> None:
    """A side chosen in 26 of 34 has p .003: alone below .01, among sixteen people not."""
    n = 34
    alone = _sides([26], n)
    many = _sides([26] + [17] * 15, n)
    one, among = (
        next(f for f in apply_rules(answers) if f.rule == "position") for answers in (alone, many)
    )
    assert one.p == among.p == pytest.approx(0.00295, abs=1e-4)
    assert (one.is_found, among.is_found) == (True, False)


def test_a_side_chosen_often_but_below_the_share_is_not_named() -> None:
    answers = _sides([640], 1000)
    position = next(one for one in apply_rules(answers) if one.rule == "position")
    assert position.q is not None
    assert position.q < DEFAULT_RULES.p
    assert not position.is_found


def test_found_of_holds_only_what_was_found() -> None:
    few = Finding(person="a", rule="checks", n=1, value=None, reason=TOO_FEW)
    one = Finding(person="b", rule="checks", n=4, value=0.5, is_found=True)
    assert found_of([few, one]) == {"b": (one,)}


def _sides(n_first: list[int], n: int) -> PanelAnswers:
    """Return people of n choices, so many on the first side, one after the other."""
    of = [np.where(np.arange(n) * k // n != (np.arange(n) + 1) * k // n, 2, -2) for k in n_first]
    total = n * len(n_first)
    return PanelAnswers(
        names=[str(k) for k in range(len(n_first))],
        person=np.repeat(np.arange(len(n_first)), n),
        pair=np.arange(total),
        item=np.arange(total),
        systems=np.tile([0, 1], (total, 1)),
        score=np.ones(total),
        answer=np.concatenate(of),
        seconds=np.full(total, np.nan),
        words=np.zeros(total, dtype=np.int64),
        reason=np.full(total, -1),
    )
