"""The rules that records keep."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from made_records import NOW, SEEKER, SUPPORTER
from made_records import made_item as item
from made_records import made_judgment as judgment
from made_records import made_label as label
from made_records import made_study as study

from hearteval.domain import (
    Assignment,
    Attempt,
    AxisMark,
    Completion,
    Item,
    LatencyProbe,
    Pair,
    Rater,
    Screening,
    System,
    Turn,
)
from hearteval.errors import InvalidRecordError

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - what the records refuse


def adversarial(**changes: Any) -> Item:
    return item(subset="adversarial", profile="mid-ramp", **changes)


BROKEN: dict[str, Callable[[], object]] = {
    "role must be one of": lambda: Turn(role="doctor", text="x"),  # type: ignore[arg-type]
    "text is empty": lambda: Turn(role="seeker", text="  "),
    "context must end with a seeker turn": lambda: item(context=(SEEKER, SUPPORTER)),
    "context has no turns": lambda: item(context=()),
    "subset must be one of": lambda: item(subset="hard"),
    "profile must be set exactly": lambda: item(profile="mid-spike"),
    "profile must be one of": lambda: item(subset="adversarial", profile="sudden"),
    "has no reference": lambda: item(subset="adversarial", profile="mid-spike", reference="Hi."),
    "reference is empty": lambda: item(reference=" "),
    "cue must be one of": lambda: item(cue="loud"),
    "resistance must be one of": lambda: adversarial(resistance="rude"),
    "belong to adversarial items": lambda: item(resistance="yes-but"),
    "intensities must be 1 numbers": lambda: adversarial(intensities=(3, 4)),
    "numbers from 0 to 10": lambda: adversarial(intensities=(11,)),
    "verdict is": lambda: Screening(
        item_id="i",
        rule="r",
        verdict="maybe",  # type: ignore[arg-type]
        evidence="",
        version="1",
    ),
    "system: name is empty": lambda: System(name=" ", kind="baseline", family="baseline"),
    "belongs to the offline judge": lambda: System(name="x", kind="model", family="cue"),
    "family is empty": lambda: System(name="x", kind="model", family=""),
    "a failed call is an Attempt": lambda: Completion(
        item_id="i", system_id="s", text="", created_at=NOW
    ),
    "repeat is -1": lambda: Completion(
        item_id="i", system_id="s", text="x", repeat=-1, created_at=NOW
    ),
    "created_at has no time zone": lambda: Completion(
        item_id="i", system_id="s", text="x", created_at=NAIVE
    ),
    "must name an item and a system, or an assignment": lambda: Attempt(
        item_id="i", reason="timeout", created_at=NOW
    ),
    "reason is empty": lambda: Attempt(assignment_id="a", reason="", created_at=NOW),
    "concurrency is 0": lambda: LatencyProbe(
        study_id="s", system_id="y", item_id="i", concurrency=0, created_at=NOW
    ),
    "first_token_ms is -1": lambda: LatencyProbe(
        study_id="s", system_id="y", item_id="i", first_token_ms=-1, created_at=NOW
    ),
    "cannot be compared with itself": lambda: Pair(item_id="i", completion_ids=("a", "a")),
    "rater: name is empty": lambda: Rater(name="", kind="llm", family="gpt"),
    "family is 'human' exactly for people": lambda: Rater(name="x", kind="llm", family="human"),
    "group is": lambda: Rater(
        name="x",
        kind="human",
        family="human",
        group="experts",  # type: ignore[arg-type]
    ),
    "check is": lambda: Assignment(
        study_id="s",
        pair_id="p",
        rater_id="r",
        first_completion_id="c",
        check="left",  # type: ignore[arg-type]
    ),
    "choice is 'A'": lambda: judgment(choice="A"),
    "a tie has no strength": lambda: judgment(choice="tie", strength=3),
    "strength must be 1 to 5, not 6": lambda: judgment(strength=6),
    "strength must be 1 to 5, not None": lambda: judgment(strength=None),
    "axis 'Q' is not one of": lambda: judgment(axes={"Q": AxisMark("first", 1)}),
    "axis H: strength must be": lambda: judgment(axes={"H": AxisMark("first", 0)}),
    "a reason names no known axis": lambda: judgment(reasons={"Q": "x"}),
    "of c and j: must name a completion, a judgment or an item": lambda: label(
        completion_id="c", judgment_id="j"
    ),
    "of no text: must name a completion, a judgment or an item": lambda: label(completion_id=None),
    "taxonomy is empty": lambda: label(taxonomy=" "),
    "category is empty": lambda: label(category=""),
    "verdict is 'pass'": lambda: label(verdict="pass"),
    "probability must be 0 to 1, not 1.5": lambda: label(probability=1.5),
    "label safety/safety of c: created_at has no": lambda: label(created_at=NAIVE),
    "items are listed twice": lambda: study(item_ids=("a", "a")),
    "study: name is empty": lambda: study(name=""),
    "version is 0": lambda: study(version=0),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_record_that_breaks_a_rule_is_refused_by_name(message: str) -> None:
    with pytest.raises(InvalidRecordError) as caught:
        BROKEN[message]()
    assert message in str(caught.value)


def test_a_pair_has_no_order() -> None:
    assert Pair(item_id="i", completion_ids=("b", "a")) == Pair(
        item_id="i", completion_ids=("a", "b")
    )


def test_tie_has_no_strength_and_axis_strength_is_optional() -> None:
    marks = {"H": AxisMark("first", None), "E": AxisMark("tie", None)}
    assert judgment(choice="tie", strength=None, axes=marks).strength is None


def test_a_label_is_named_by_its_text_its_category_and_its_rater() -> None:
    one = label()
    assert label(verdict="absent", probability=0.0, evidence="words").id == one.id
    others = [
        label(completion_id=None, judgment_id="c"),
        label(completion_id="d"),
        label(taxonomy="strategies"),
        label(category="threat"),
        label(rater_id="q"),
    ]
    assert len({one.id, *(other.id for other in others)}) == 6
