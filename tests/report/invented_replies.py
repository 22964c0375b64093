"""Comparisons to be read: invented dialogues, replies and verdicts, as long as one wants them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations

from hearteval.analysis.examples import Example
from hearteval.domain import AXES, AxisMark, Choice, Item, Judgment, Turn, record_id
from hearteval.report.page.replies import Reading, Verdict

NOW = datetime(2026, 1, 5, tzinfo=UTC)
SENTENCE = "It has been weeks and I still set the table for two before I remember. "


def invented_item(number: int, *, n_turns: int = 9, text: str = SENTENCE) -> Item:
    roles = ("seeker", "supporter")
    turns = [Turn(role=roles[k % 2], text=f"{number}.{k} {text}") for k in range(n_turns)]  # type: ignore[arg-type]
    return Item(
        source="invented",
        dialogue_id=f"d{number}",
        turn_index=n_turns - 1,
        situation=f"Situation {number}: a quarrel nobody ended.",
        context=tuple(turns),
        subset="regular",
        emotion="sadness",
        problem="loss",
        licence="CC BY-NC 4.0",
        consent_basis="invented for tests",
    )


def invented_verdict(
    rater: str,
    first: str,
    second: str,
    choice: Choice,
    *,
    strength: int | None = 4,
    reason: str = "It names the loss before it asks.",
) -> Verdict:
    strength = None if choice == "tie" else strength
    return Verdict(
        rater=rater,
        first=first,
        second=second,
        judgment=Judgment(
            assignment_id=record_id("assignment", {"test": f"{rater}/{first}/{second}"}),
            choice=choice,
            strength=strength,
            axes={axis: AxisMark(choice, strength) for axis in AXES},
            reasons={"A": reason},
            rationale=f"Overall: {reason}",
            created_at=NOW,
        ),
    )


def invented_reading(
    left: str,
    right: str,
    number: int = 0,
    *,
    item: Item | None = None,
    texts: tuple[str, str] = ("That sounds lonely. Who used to sit there?", "Try cooking for one."),
    verdicts: Sequence[Verdict] | None = None,
) -> Reading:
    if verdicts is None:
        verdicts = [
            invented_verdict(rater, *ends, "first")
            for rater in ("juniper", "larch-2")
            for ends in ((left, right), (right, left))
        ]
    found = item or invented_item(number)
    return Reading(
        example=Example(
            pair_id=record_id("pair", {"test": f"{left}/{right}/{number}"}),
            item_id=found.id,
            left=left,
            right=right,
            chosen_as="contested",
            contest=2.0,
            lead=0.0,
            assignment_ids=(),
        ),
        item=found,
        texts=texts,
        verdicts=tuple(verdicts),
    )


def readings_of(systems: Sequence[str], *, n_each: int = 6, n_turns: int = 9) -> list[Reading]:
    """Invent comparisons of every two systems, by name: of each two one, then the next ones."""
    items = [invented_item(number, n_turns=n_turns) for number in range(n_each)]
    return [
        invented_reading(left, right, number, item=items[number])
        for number in range(n_each)
        for left, right in combinations(sorted(systems), 2)
    ]
