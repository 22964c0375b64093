"""People's ranking anchored by judges', with names: what it says, and what it does without."""

import numpy as np
import pytest
from made_comparisons import made_comparisons

from hearteval.analysis.ranking.anchored import (
    NO_PLACE,
    ONLY_JUDGES,
    ONLY_ONE,
    ONLY_PEOPLE,
    AnchoredRanking,
    AnchoredSystem,
    rank_anchored,
)
from hearteval.analysis.ranking.warnings import JUDGMENTS
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons

THETA = np.linspace(1.2, -1.2, 11)
NAMES = [f"system {k}" for k in range(10)] + ["person"]
KINDS = dict.fromkeys(NAMES, "model") | {"person": "human"}
N_ITEMS = 60


def drawn(theta: FloatArray, n: int, seed: int) -> Comparisons:
    """Return comparisons of random systems on random items by ten raters."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, len(theta), n)
    right = (left + rng.integers(1, len(theta), n)) % len(theta)
    score = rng.random(n) < 1 / (1 + np.exp(theta[right] - theta[left]))
    return made_comparisons(
        left,
        right,
        score,
        n_systems=len(theta),
        item=rng.integers(0, N_ITEMS, n),
        rater=rng.integers(0, 10, n),
    )


def without(votes: Comparisons, system: int) -> Comparisons:
    return select_comparisons(votes, (votes.left != system) & (votes.right != system))


def anchored(
    people: Comparisons, judges: Comparisons, kinds: dict[str, str] = KINDS
) -> AnchoredRanking:
    return rank_anchored(people, {"judge": judges}, kinds, wording=JUDGMENTS, level=0.95)


def by_name(found: AnchoredRanking) -> dict[str, AnchoredSystem]:
    return {row.system: row for row in found.systems}


@pytest.fixture(scope="module")
def people() -> Comparisons:
    return drawn(THETA, 800, seed=0)


@pytest.fixture(scope="module")
def judges() -> Comparisons:
    return drawn(2 * THETA, 6_000, seed=1)


def test_few_votes_of_people_beside_a_judge_of_their_mind(
    people: Comparisons, judges: Comparisons
) -> None:
    found = anchored(people, judges)

    rows = by_name(found)
    truth = 1500 + 400 / np.log(10) * THETA
    models = NAMES[:10]
    assert found.reason is None
    assert found.interval_used == "two-way"
    assert found.slopes["judge"] == pytest.approx(0.5, abs=0.1)
    errors = {}
    for name, value in zip(NAMES, truth, strict=True):
        row = rows[name]
        assert row.low is not None
        assert row.high is not None
        assert row.low < value < row.high
        assert row.elo_without_judges is not None
        assert row.elo is not None
        errors[name] = (row.elo - value, row.elo_without_judges - value)
    helped, alone = np.sqrt(np.square([errors[name] for name in models]).mean(axis=0))
    assert helped < 0.8 * alone
    assert [row.elo for row in found.systems] == sorted(
        (row.elo for row in found.systems if row.elo is not None), reverse=True
    )


def test_only_person_says_that_judges_bring_nothing(
    people: Comparisons, judges: Comparisons
) -> None:
    row = by_name(anchored(people, judges))["person"]

    assert row.note == ONLY_ONE
    assert row.weight_of_people == pytest.approx(1)
    assert row.doubt is None


def test_notes_say_whose_votes_a_system_lacks(people: Comparisons, judges: Comparisons) -> None:
    rows = by_name(anchored(without(without(people, 1), 2), without(without(judges, 2), 3)))

    assert rows["system 1"].note == ONLY_JUDGES
    assert rows["system 1"].elo_without_judges is None
    assert rows["system 2"].note == NO_PLACE
    assert rows["system 2"].elo is None
    assert rows["system 3"].note == ONLY_PEOPLE
    assert rows["system 4"].note == ""


def test_too_few_systems_are_missing_with_the_reason(
    people: Comparisons, judges: Comparisons
) -> None:
    kinds = {name: "model" if k < 5 else f"kind {k}" for k, name in enumerate(NAMES)}

    found = anchored(people, judges, kinds)

    assert found.systems == ()
    assert found.tau_elo is None
    assert found.reason is not None
    assert found.reason.endswith("here it is 5")


def test_few_people_are_taken_as_given(people: Comparisons, judges: Comparisons) -> None:
    few = select_comparisons(people, people.rater < 4)

    assert anchored(few, judges).interval_used == "item-sandwich"
