"""What a study's judges are asked: protocol, axes, which marks, whose rubric (HEART 9.5)."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Self, get_args

from hearteval.domain import (
    AXES,
    AXIS_NAMES,
    OVERALL,
    Axis,
    Display,
    JsonObject,
    axis_key,
    content_hash,
    display_name,
    read_display,
)
from hearteval.protocol import ENGLISH, load_protocol

PairProtocol = Literal["forced-strength", "five-point"]
JudgeProtocol = Literal["forced-strength", "five-point", "rating"]
Marks = Literal["all", "optional", "off"]
RubricName = Literal["hearteval", "paper", "own"]
PAPER: Final = "paper"
"""What stands in place of a rubric's text where it is that of HEART's Table 2, in our words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeForm:
    """What a judge is asked; another form is another prompt, and so another rater.

    Raises:
        ValueError: There are no axes, one stands twice or is unknown, or the marks are none that
            the protocol has.
    """

    protocol: JudgeProtocol = "forced-strength"
    axes: tuple[Axis, ...] = AXES
    """Those of the rubric that is shown, kept in the rubric's order whatever order they came in."""
    marks: Marks = "all"
    """``all``: a mark for each axis; ``optional``: only where a side is clearly better on it, with
    ``forced-strength``; ``off``: overall alone."""
    rubric: str = ""
    """The text of a rubric of one's own, as TOML or JSON; `PAPER` for the paper's; empty for the
    project's."""
    names: tuple[tuple[Axis, str], ...] = ()
    """The names that a rubric of one's own gives to axes, in the rubric's order."""
    is_reversed: bool = False
    """Whether the axes stand in the opposite order."""
    is_alone: bool = False
    """Whether one axis is asked about and nothing overall: its mark is the verdict."""

    display: Display = "raw"
    """In which form replies are shown: see `hearteval.domain.display`."""
    language: str = ENGLISH
    """In which the judge is asked; names of axes, keys and values of a reply stay English."""

    def __post_init__(self) -> None:
        if not self.axes or len(set(self.axes)) < len(self.axes) or set(self.axes) - {*AXIS_NAMES}:
            raise ValueError(f"axes must be different ones of {[*AXIS_NAMES]}, not {[*self.axes]}")
        ordered = tuple(axis for axis in AXIS_NAMES if axis in self.axes)
        names = dict(self.names)
        object.__setattr__(self, "names", tuple((a, names[a]) for a in ordered if a in names))
        object.__setattr__(self, "axes", ordered[:: -1 if self.is_reversed else 1])
        if self.is_alone and (len(ordered) > 1 or self.marks != "all"):
            raise ValueError("one axis is asked about alone")
        if self.marks not in marks_of(self.protocol):
            raise ValueError(f"{self.protocol} has no marks {self.marks!r}")

    @property
    def marked(self) -> tuple[Axis, ...]:
        """The axes that get marks."""
        return () if self.marks == "off" else self.axes

    @property
    def reply_keys(self) -> list[str]:
        """The keys of a reply in their order: the axes, and after them what is overall."""
        overall = [] if self.protocol == "rating" or self.is_alone else [OVERALL]
        return [*map(self.key_of, self.marked), *overall]

    @property
    def axis_names(self) -> Mapping[Axis, str]:
        """What all axes are called, the project's names where it gives none."""
        return {**AXIS_NAMES, **dict(self.names)}

    def key_of(self, axis: Axis) -> str:
        """Return the key of an axis in a reply."""
        return axis_key(axis, dict(self.names).get(axis, ""))

    @property
    def texts(self) -> Mapping[str, Any]:
        """The rubric: by axis its anchor, criteria, examples and levels."""
        if self.rubric == PAPER:
            return load_protocol("rubric_paper", self.language)
        if self.rubric:
            return read_rubric(self.rubric)
        return load_protocol("rubric", self.language)

    @property
    def settings(self) -> dict[str, Any]:
        """What of it stands in a rater's settings: the protocol, and what is not as usual."""
        usual = {"axes": [*AXES], "marks": "all", "rubric": "", "is_alone": False, "names": {}}
        usual |= {"display": "raw", "language": ENGLISH}
        is_own = self.rubric not in ("", PAPER)
        rubric = content_hash(self.rubric)[:16] if is_own else self.rubric
        own: dict[str, Any] = {"axes": [*self.axes], "marks": self.marks, "rubric": rubric}
        own |= {"is_alone": self.is_alone, "names": dict(self.names)}
        own |= {"display": display_name(self.display), "language": self.language}
        return {"protocol": self.protocol} | {k: v for k, v in own.items() if v != usual[k]}

    @classmethod
    def of(cls, settings: JsonObject) -> Self | None:
        """Return the form in a rater's settings, its rubric apart; None where there is none."""
        protocol: Any = settings.get("protocol")
        if protocol not in get_args(JudgeProtocol):
            return None
        axes = tuple(settings.get("axes", AXES))
        return cls(
            protocol=protocol,
            axes=axes,
            marks=settings.get("marks", "all"),
            is_reversed=axes != tuple(axis for axis in AXIS_NAMES if axis in axes),
            is_alone=settings.get("is_alone", False),
            names=tuple(settings.get("names", {}).items()),
            display=read_display(settings.get("display")),
            language=settings.get("language", ENGLISH),
        )


def marks_of(protocol: JudgeProtocol) -> tuple[Marks, ...]:
    """Return the marks that a protocol can ask for, the usual one first."""
    known: Mapping[JudgeProtocol, tuple[Marks, ...]] = {
        "forced-strength": ("all", "optional", "off"),
        "five-point": ("all", "off"),
        "rating": ("all",),
    }
    return known[protocol]


def rubric_of(settings: JsonObject) -> RubricName | None:
    """Return whose rubric a rater of these settings is shown; None where it is shown none."""
    if "prompt_hash" not in settings or JudgeForm.of(settings) is None:
        return None
    named = settings.get("rubric")
    return "hearteval" if named is None else "paper" if named == PAPER else "own"


@cache
def read_rubric(text: str) -> Mapping[str, Any]:
    """Return a rubric of one's own, by axis; it was checked when it was read."""
    return json.loads(text) if text.startswith("{") else tomllib.loads(text)


USUAL = JudgeForm()
"""Two texts, a winner forced on each of the five axes and overall (HEART 9.5)."""
RATED = JudgeForm(protocol="rating")
"""One text, scored on each of the five axes (the second source)."""
