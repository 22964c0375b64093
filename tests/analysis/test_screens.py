"""What screens hold and miss, counted by hand, and never more said than people have read."""

import pytest

from hearteval.analysis.data import ScreenedText, ScreenedUnit
from hearteval.analysis.labels.safety import SafetyResults, ScreenUse, measure_screens

KINDS = {"rule screen": "rules", "reader": "model"}


def text(
    name: str,
    *,
    unfit: bool | None = None,
    rules: tuple[str, ...] | None = (),
    model: tuple[str, ...] | None = None,
    why: tuple[str, ...] = (),
    of: ScreenedUnit = "completion",
) -> ScreenedText:
    held = {"rule screen": rules, "reader": model}
    return ScreenedText(
        id=name,
        of=of,
        item_id=f"item {name[0]}",
        is_unfit=unfit,
        reasons=why,
        held_by={screen: said for screen, said in held.items() if said is not None},
    )


ALL_READ = [
    text("a1", unfit=True, rules=("insult",), model=("cruel",), why=("hate",)),
    text("a2", unfit=True, model=("cruel",), why=("dangerous",)),
    text("b1", unfit=True, model=(), why=("dangerous",)),
    text("b2", unfit=False, rules=("insult",), model=()),
    text("c1", unfit=False, model=()),
    text("c2", unfit=False, model=(), of="reasons"),
    text("d1", unfit=False, model=("hate",), of="reasons"),
    text("d2", unfit=False, model=None, of="reasons"),
]


def measured(texts: list[ScreenedText]) -> SafetyResults:
    found = measure_screens(texts, KINDS, level=0.95)  # type: ignore[arg-type]
    assert found is not None
    return found


def use(texts: list[ScreenedText], screen: str, of: str = "all") -> ScreenUse:
    (one,) = (one for one in measured(texts).screens if one.screen == screen)
    return next(each for each in one.uses if each.of == of)


def test_what_rules_and_a_model_catch_and_miss_as_counted_by_hand() -> None:
    found = measured(ALL_READ)
    assert (found.n_texts, found.n_read_by_people, found.n_unfit) == (8, 8, 3)
    rules, model = use(ALL_READ, "rule screen"), use(ALL_READ, "reader")
    assert (rules.n_read, rules.n_held, rules.n_caught, rules.n_let_pass) == (8, 2, 1, 4)
    assert rules.sensitivity is not None
    assert rules.specificity is not None
    assert rules.sensitivity.value == pytest.approx(1 / 3)
    assert rules.specificity.value == pytest.approx(4 / 5)
    assert (rules.missed, rules.held_for) == ({"dangerous": 2}, {"insult": 2})
    assert not rules.is_at_most
    assert (rules.n_held_read, rules.sensitivity_is, rules.specificity_is) == (2, "exact", "exact")
    assert (model.n_read, model.n_held, model.n_caught, model.n_fit) == (7, 3, 2, 4)
    assert model.sensitivity is not None
    assert model.sensitivity.value == pytest.approx(2 / 3)
    assert model.missed == {"dangerous": 1}


def test_sorts_of_text_stand_apart() -> None:
    found = use(ALL_READ, "reader", "reasons")
    assert (found.n_read, found.n_held, found.n_unfit) == (2, 1, 0)
    assert found.sensitivity is None
    assert use(ALL_READ, "reader", "completion").n_read == 5


def test_screens_are_compared_with_each_other_and_with_people() -> None:
    agreement = {(one.one, one.other): one for one in measured(ALL_READ).agreement}
    assert set(agreement) == {
        ("rule screen", "reader"),
        ("rule screen", "people"),
        ("reader", "people"),
    }
    both = agreement["rule screen", "reader"]
    # Alike on a1, b1, c1 and c2 of the seven that both have read.
    assert both.n_completions == 7
    assert both.same == pytest.approx(4 / 7)
    # Both hold 1/7, expected 2/7 * 3/7 + 5/7 * 4/7 = 26/49.
    assert both.kappa is not None
    assert both.kappa.value == pytest.approx((4 / 7 - 26 / 49) / (1 - 26 / 49))


def test_where_people_read_only_what_is_held_nothing_is_said_of_what_is_missed() -> None:
    held_only = [
        text("a1", unfit=True, rules=("insult",)),
        text("b1", unfit=False, rules=("insult",)),
        *(text(f"{k}x") for k in "cdefgh"),
    ]
    found = use(held_only, "rule screen")
    assert (found.n_passed, found.n_passed_read, found.sensitivity) == (6, 0, None)
    assert found.is_at_most
    assert (found.n_held_read, found.n_caught, found.specificity) == (2, 1, None)
    one_more = [*held_only[:-1], text("hx", unfit=True, why=("hate",))]
    found = use(one_more, "rule screen")
    assert found.sensitivity is not None
    assert (found.sensitivity.value, found.is_at_most) == (0.5, True)


HALF_UNFIT = {"held": ("insult",), "passed": ()}


@pytest.mark.parametrize(
    ("n_held_read", "n_passed_read", "caught", "of_fit"),
    [
        (10, 10, "exact", "exact"),
        (10, 6, "at-most", "at-least"),
        (6, 10, "at-least", "at-most"),
        (6, 6, "of-those-read", "of-those-read"),
    ],
)
def test_a_share_of_what_people_read_is_on_the_side_of_the_truth_that_is_said(
    n_held_read: int, n_passed_read: int, caught: str, of_fit: str
) -> None:
    """All read, 5 of 10 unfit are held and 5 of 10 fit are passed: one half each."""
    texts = [
        text(
            f"{chr(97 + k)}{part}",
            unfit=(k % 2 == 0) if k < n_read else None,
            rules=HALF_UNFIT[part],
        )
        for part, n_read in (("held", n_held_read), ("passed", n_passed_read))
        for k in range(10)
    ]
    found = use(texts, "rule screen")
    assert (found.n_held_read, found.n_passed_read) == (n_held_read, n_passed_read)
    assert (found.sensitivity_is, found.specificity_is) == (caught, of_fit)
    assert found.is_at_most == (caught == "at-most")
    assert found.sensitivity is not None
    assert found.specificity is not None
    above = {"exact": 0, "at-most": 1, "at-least": -1, "of-those-read": 0}
    for share, said in ((found.sensitivity, caught), (found.specificity, of_fit)):
        assert (share.value > 0.5) - (share.value < 0.5) == above[said]


def test_nothing_read_is_no_result_and_order_is_nothing() -> None:
    assert measure_screens([], {}, level=0.95) is None
    assert measured(ALL_READ[::-1]) == measured(ALL_READ)
