"""What an audit says of judgments made by hand."""

from dataclasses import replace

import pytest
from judged_study import CUE, StudyMaker, make_items

from hearteval.analysis.data import StudyData
from hearteval.analysis.packed.pairs import NO_PAIRS
from hearteval.domain import Attempt, Choice, Item, System
from hearteval.sections.judges.audit import JudgeAudit, audit_judges, collect_audits
from hearteval.stats.means import wilson_interval

REFERENCE, HOSTILE, PADDED = (
    System(name=f"stress-{kind}", kind="stress", family="baseline", settings={"stress": kind})
    for kind in ("reference", "hostile", "padded")
)
FIRST, SECOND = (
    System(
        name=f"stress-injection-{side}",
        kind="stress",
        family="baseline",
        settings={"stress": "injection", "payload": "p", "payload_kind": "order", "side": side},
    )
    for side in ("first", "second")
)
SYSTEMS = [REFERENCE, HOSTILE, PADDED, FIRST, SECOND]


def audit(maker: StudyMaker, attempts: tuple[Attempt, ...] = ()) -> JudgeAudit:
    (found,) = audit_judges(
        StudyData(
            systems=SYSTEMS,
            raters=[CUE],
            judgments=maker.judgments,
            unjudged=maker.unjudged,
            attempts=attempts,
        ),
        level=0.95,
    )
    return found


def maker_of(n: int) -> tuple[StudyMaker, list[Item]]:
    items = make_items(n)
    return StudyMaker(items, SYSTEMS, [CUE]), items


def test_an_item_judged_in_both_orders_is_one_value() -> None:
    maker, items = maker_of(3)
    answers: list[tuple[Choice, Choice]] = [
        ("first", "second"),
        ("first", "first"),
        ("tie", "second"),
    ]
    for item, (there, back) in zip(items, answers, strict=True):
        maker.judge(item, (REFERENCE, HOSTILE), there)
        maker.judge(item, (HOSTILE, REFERENCE), back)
    found = audit(maker)
    share = found.stress["hostile"]
    # By item: 1, 1/2, 3/4.
    assert share.rate == pytest.approx(2.25 / 3)
    assert (share.low, share.high) == wilson_interval(share.rate, 3, level=0.95)
    assert (share.n_items, share.n_judgments) == (3, 6)
    assert found.shown_first is not None
    # First wins: (1 + 0)/2, (1 + 1)/2, (1/2 + 0)/2.
    assert found.shown_first.rate == pytest.approx((0.5 + 1 + 0.25) / 3)
    assert found.same_in_both_orders is not None
    assert found.same_in_both_orders.rate == pytest.approx(1 / 3)


def test_a_pair_judged_in_one_order_says_nothing_of_position() -> None:
    maker, (item,) = maker_of(1)
    maker.judge(item, (REFERENCE, HOSTILE), "first")
    found = audit(maker)
    assert found.shown_first is None
    assert found.same_in_both_orders is None
    assert found.same_again is None


def test_padding_that_wins_is_a_preference_for_length() -> None:
    maker, (item,) = maker_of(1)
    maker.judge(item, (PADDED, REFERENCE), "first")
    found = audit(maker)
    assert found.longer is not None
    assert found.longer.rate == 1
    assert "padded" not in found.stress


@pytest.mark.parametrize(
    ("shown_first", "shown_second", "rate", "won", "n_lost"),
    [
        ("first", "second", 1.0, ("p",), 0),
        ("second", "first", 0.0, (), 1),
        ("first", "first", 0.5, (), 0),
        ("tie", "tie", 0.5, (), 0),
    ],
)
def test_a_payload_wins_only_if_it_wins_on_both_sides(
    shown_first: Choice, shown_second: Choice, rate: float, won: tuple[str, ...], n_lost: int
) -> None:
    maker, (item,) = maker_of(1)
    maker.judge(item, (FIRST, REFERENCE), shown_first)
    maker.judge(item, (REFERENCE, SECOND), shown_second)
    injection = audit(maker).injection
    assert injection is not None
    assert injection.overall.rate == rate
    assert (injection.won_both_sides, injection.n_lost_both_sides) == (won, n_lost)
    assert list(injection.sides) == ["first", "second"]
    assert injection.kinds["order"] == injection.overall
    assert injection.n_missing == 0


def test_a_judgment_that_is_missing_is_counted_by_its_last_reason() -> None:
    maker, (item,) = maker_of(1)
    maker.judge(item, (FIRST, REFERENCE), "first")
    open_one = maker.assign(item, REFERENCE, SECOND)
    never = maker.assign(item, REFERENCE, HOSTILE)
    attempts = [
        Attempt(
            assignment_id=open_one.id,
            attempt=n,
            reason=reason,
            created_at=next(iter(maker.completions.values())).created_at,
        )
        for n, reason in ((1, "refused"), (0, "not-json"))
    ]
    found = audit(maker, tuple(attempts))
    assert never.id != open_one.id
    assert found.missing == {"refused": 1, "not-asked": 1}
    assert (found.n_assigned, found.n_judged) == (3, 1)
    assert found.injection is not None
    assert (found.injection.n_missing, found.injection.n_payloads) == (1, 0)


def test_judgments_that_are_no_part_of_the_audit_are_left_out() -> None:
    maker, (item,) = maker_of(1)
    maker.judge(item, (REFERENCE, HOSTILE), "first")
    data = maker.data()
    assert collect_audits(data, level=0.95) is not None
    assert collect_audits(replace(data, pairs=NO_PAIRS), level=0.95) is None


def test_nothing_judged_gives_no_number() -> None:
    maker, _ = maker_of(1)
    found = audit(maker)
    shares = (found.longer, found.formatted, found.shown_first)
    assert (*shares, found.injection) == (None,) * 4
    assert found.is_baseline
