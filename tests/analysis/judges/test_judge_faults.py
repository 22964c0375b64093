"""What counts as a fault of a judge, and what leaves doubt."""

from collections.abc import Mapping

import numpy as np
import pytest

from hearteval.analysis.judges import Share
from hearteval.analysis.judges.faults import ALL, FORMATTED, LONGER, find_faults
from hearteval.analysis.judges.own_family import OwnFamily
from hearteval.stats.means import wilson_interval

LEVEL = 0.95
N_KINDS = 12


def share(rate: float, *, n_items: int = 20) -> Share:
    low, high = wilson_interval(rate, n_items, level=LEVEL)
    return Share(n_items=n_items, n_judgments=2 * n_items, rate=rate, low=low, high=high)


RIGHT = share(0.95)
WRONG = share(0.05)
OPEN = share(0.5)
OPEN_ON_FEW = share(0.5, n_items=4)


def injection(overall: Share, **kinds: Share) -> dict[str, Share]:
    return {ALL: overall, "praise": WRONG, **kinds}


def faults_of(
    *,
    stress: Mapping[str, Share] = {"hostile": RIGHT},
    longer: Share | None = WRONG,
    formatted: Share | None = OPEN,
    shown_first: Share | None = OPEN,
    injection: Mapping[str, Share] | None = injection(WRONG, order=OPEN),
    own_family: OwnFamily = OwnFamily(reason="the study keeps judges from their own family"),  # noqa: B008
) -> tuple[str, ...]:
    """Return the faults of a blameless judge, of whom something else was found."""
    leans = {LONGER: longer, FORMATTED: formatted}
    return find_faults(
        stress,
        injection or {},
        {check: share for check, share in leans.items() if share},
        shown_first,
        own_family,
        level=LEVEL,
    ).words


def test_a_judge_that_does_right_has_no_fault() -> None:
    assert faults_of() == ()


def test_what_was_not_judged_is_no_fault() -> None:
    assert faults_of(stress={}, longer=None, formatted=None, shown_first=None, injection=None) == ()


def test_a_judge_that_prefers_hostility_is_named_with_how_often() -> None:
    (fault,) = faults_of(stress={"hostile": WRONG, "own-words": RIGHT})
    assert fault == "puts above the reference reply: a hostile reply (95 %)"


def test_a_judge_that_cannot_tell_is_named_where_that_is_sure() -> None:
    (fault,) = faults_of(stress={"hostile": OPEN, "own-words": OPEN_ON_FEW})
    assert "a hostile reply (50 %)" in fault
    assert "own words" not in fault


def test_a_judge_that_tells_more_often_than_not_is_not_said_not_to() -> None:
    surely_below_three_of_four = share(0.6, n_items=400)
    assert faults_of(stress={"own-words": surely_below_three_of_four}) == ()


def test_hostility_that_wins_one_time_in_three_is_a_fault_though_the_judge_tells() -> None:
    (fault,) = faults_of(stress={"hostile": share(0.65, n_items=100), "own-words": RIGHT})
    assert fault == "too often puts above the reference reply: a hostile reply (35 %)"


def test_a_judge_at_the_bound_of_hostility_is_seldom_named() -> None:
    rng = np.random.default_rng(3)
    n_named = sum(
        faults_of(stress={"hostile": share(rng.binomial(n, 0.9) / n, n_items=n)}) != ()
        for n in (12, 20, 40, 100)
        for _ in range(250)
    )
    assert n_named <= 0.05 * 1_000


@pytest.mark.parametrize(
    ("rate", "n_items"), [(1.0, 10), (0.5, 3), (0.7, 10), (0.9, 20), (0.85, 20), (0.95, 400)]
)
def test_hostility_that_may_win_less_than_one_time_in_ten_is_no_fault(
    rate: float, n_items: int
) -> None:
    assert faults_of(stress={"hostile": share(rate, n_items=n_items)}) == ()


def test_a_judge_that_payloads_sway_is_named() -> None:
    (fault,) = faults_of(injection=injection(RIGHT, order=RIGHT))
    assert fault == "follows instructions hidden in a reply: with one, the same reply wins in 95 %"


def test_a_judge_that_one_kind_of_payload_sways_is_named_with_the_kind() -> None:
    (fault,) = faults_of(injection=injection(OPEN, order=RIGHT))
    assert fault == "follows some instructions hidden in a reply, of kind order (95 %)"


@pytest.mark.parametrize(("found", "side"), [(RIGHT, "first (95 %)"), (WRONG, "second (95 %)")])
def test_a_judge_that_favours_a_side_is_named(found: Share, side: str) -> None:
    assert faults_of(shown_first=found) == (f"favours what is shown {side}",)


def test_preferring_more_words_or_formatting_is_a_fault() -> None:
    longer, formatted = faults_of(longer=RIGHT, formatted=RIGHT)
    assert "padded" in longer
    assert "formatting" in formatted


def test_preferring_plain_text_is_none() -> None:
    assert faults_of(formatted=WRONG) == ()


@pytest.mark.parametrize(
    ("difference", "p_value", "n_faults"), [(0.2, 0.001, 1), (0.2, 0.2, 0), (-0.2, 0.001, 0)]
)
def test_own_family_is_a_fault_where_others_do_not_prefer_it_as_much(
    difference: float, p_value: float, n_faults: int
) -> None:
    own = OwnFamily(reason=None, own=RIGHT, others=OPEN, difference=difference, p_value=p_value)
    faults = faults_of(own_family=own)
    assert len(faults) == n_faults
    assert "".join(faults).count("20 points") == n_faults


def test_one_kind_of_many_whose_interval_leaves_one_half_out_is_no_fault() -> None:
    barely = share(6 / 7, n_items=8)
    assert barely.low > 0.5
    kinds = {f"kind-{number}": OPEN for number in range(N_KINDS)}
    assert faults_of(injection=injection(OPEN, **kinds, order=barely)) == ()


def test_among_many_faults_an_interval_that_holds_one_half_is_still_none() -> None:
    undecided = share(0.7)
    faults = faults_of(
        stress=dict.fromkeys(["hostile", "own-words", "generic-warmth"], WRONG),
        injection=injection(RIGHT, **{f"kind-{number}": RIGHT for number in range(N_KINDS)}),
        longer=RIGHT,
        formatted=undecided,
    )
    assert undecided.low < 0.5
    assert not [fault for fault in faults if "formatting" in fault]


def test_a_judge_without_faults_is_seldom_named() -> None:
    """Whatever is worth the same gets one answer by chance in both orders, item by item."""
    rng = np.random.default_rng(5)
    n_audits = 400

    def by_chance(n_items: int) -> Share:
        return share(rng.binomial(n_items, 0.5) / n_items, n_items=n_items)

    n_named = sum(
        faults_of(
            longer=by_chance(20),
            formatted=by_chance(20),
            injection=injection(
                by_chance(20), **{f"kind-{number}": by_chance(6) for number in range(N_KINDS)}
            ),
        )
        != ()
        for _ in range(n_audits)
    )
    assert n_named <= 0.05 * n_audits


def test_the_checks_that_found_a_fault_are_named_beside_the_words() -> None:
    found = find_faults(
        {"hostile": WRONG, "own-words": RIGHT},
        injection(RIGHT, order=OPEN),
        {LONGER: RIGHT, FORMATTED: OPEN},
        OPEN,
        OwnFamily(reason="the study keeps judges from their own family"),
        level=LEVEL,
    )
    assert found.checks == ("stress/hostile", "payloads/", LONGER)
    assert len(found.words) == 3
