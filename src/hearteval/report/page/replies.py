"""Read the replies: comparisons with their dialogue, both replies, and what each judge said.

Everything here was written by models and people: the templates escape it, and it may name nothing
outside its own box. The one file of a report holds what fits; the folder of
``heart report --full`` a page for every two systems and for every item.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.examples import Example
from hearteval.domain import Axis, AxisMark, Choice, Item, Judgment, Turn
from hearteval.report.text import listed, plural, shortened

OPENING = 90
N_OPEN = 3
"""So many comparisons stand open; the others are folded."""
N_DIALOGUES = 12
"""So many comparisons get into one file at least: none takes more than its share of the room."""
N_TURNS_IN_BRIEF = 3
FORMS = ("whole", "without reasons", "in brief")
"""How a comparison is written, the longest first: in brief with the last turns only, too."""
LEAST_BYTES = 1_500
"""No comparison takes less."""
MOST_READ = 150
"""More never fit into one file."""
KINDS: Mapping[str, str] = {"subset": "Part", "emotion": "Emotion", "problem": "Problem"}
"""What items are told apart by, with what it is called."""
_CONTROLS = {"Cc", "Cs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one rater said of a comparison, shown in one order.

    Attributes:
        first: The system shown first.
        second: The other one.
        is_person: Whether the rater is a person, not a judge.
    """

    rater: str
    first: str
    second: str
    judgment: Judgment
    is_person: bool = False

    @property
    def winner(self) -> str | None:
        """The system that is preferred, None for a tie."""
        return self.of(self.judgment.choice)

    def of(self, choice: Choice) -> str | None:
        """Return the system of a choice, None for a tie."""
        return {"first": self.first, "second": self.second, "tie": None}[choice]

    def marks(self, names: Mapping[Axis, str]) -> list[tuple[str, list[str]]]:
        """Return what was marked, each with the names of its axes."""
        found: dict[str, list[str]] = {}
        for axis, name in names.items():
            if axis in self.judgment.axes:
                found.setdefault(_mark_words(self, self.judgment.axes[axis]), []).append(name)
        return list(found.items())

    def axis_reasons(self, names: Mapping[Axis, str]) -> list[tuple[str, str]]:
        """Return the reason given for each axis, with its name."""
        reasons = self.judgment.reasons
        said = [(name, " ".join(lines(reasons.get(axis, "")))) for axis, name in names.items()]
        return [(name, reason) for name, reason in said if reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A chosen comparison with its texts.

    Attributes:
        texts: The completions of the two systems, in the order of `example`.
        verdicts: By rater, then by the system shown first.
    """

    example: Example
    item: Item
    texts: tuple[str, str]
    verdicts: tuple[Verdict, ...]

    @property
    def systems(self) -> tuple[str, str]:
        """The two systems, by name."""
        return self.example.left, self.example.right

    @property
    def sides(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Each system with its completion."""
        return (self.example.left, self.texts[0]), (self.example.right, self.texts[1])

    @property
    def chosen_words(self) -> str:
        """Why it is here, in a word or two."""
        return (
            "people against judges"
            if self.example.is_opposed
            else CHOSEN_WORDS[self.example.chosen_as]
        )

    @property
    def outcome(self) -> str:
        """What the raters preferred, people and judges apart."""
        by_kind = {
            kind: [one for one in self.verdicts if one.is_person == (kind == "people")]
            for kind in ("people", "judges")
        }
        if all(by_kind.values()):
            return "; ".join(f"{kind}: {_outcome(self, said)}" for kind, said in by_kind.items())
        return _outcome(self, self.verdicts)

    @property
    def rater_words(self) -> list[tuple[str, str, list[Verdict]]]:
        """What each rater preferred, in both orders; with verdicts that have marks or reasons."""
        by_rater: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in self.verdicts:
            by_rater[verdict.rater].append(verdict)
        return [
            (rater, _verdict_words(said), [one for one in said if _says_more(one.judgment)])
            for rater, said in by_rater.items()
        ]

    @property
    def clearness(self) -> str:
        """Whether verdicts contradict each other, or all prefer the same reply; else empty."""
        winners = {verdict.winner for verdict in self.verdicts}
        if winners >= {*self.systems}:
            return "contested"
        return "clear" if len(winners) == 1 and None not in winners else ""

    def leads(self, axes: Sequence[Axis]) -> str:
        """Return which side most prefer, overall and on each axis: ``l``, ``r`` or ``-``."""
        said = [[verdict.winner for verdict in self.verdicts]]
        for axis in axes:
            marked = [one for one in self.verdicts if axis in one.judgment.axes]
            said.append([one.of(one.judgment.axes[axis].choice) for one in marked])
        left, right = self.systems
        ahead = [winners.count(left) - winners.count(right) for winners in said]
        return "".join("l" if n > 0 else "r" if n else "-" for n in ahead)

    @property
    def kinds(self) -> Mapping[str, str]:
        """What its item is told apart by, by the keys of `KINDS`."""
        return {key: getattr(self.item, key) for key in KINDS}

    def turns_before(self, form: str) -> Sequence[Turn]:
        """Return the turns before the last one, as many as a form of `FORMS` has."""
        return self.item.context[-N_TURNS_IN_BRIEF if form == FORMS[-1] else 0 : -1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a report shows of the texts of its study.

    Attributes:
        readings: Chosen comparisons, as they are worth reading; the page holds what fits.
        notice: Whose dialogues these are, and whether they may be published.
        study_file: As a shell takes it.
        folder: Where a page for every two systems lies, as the page links to it, with a slash;
            None where there is none.
        is_public: Whether texts are kept out on purpose.
        is_simulated: Whether nobody said any of it.
    """

    readings: Sequence[Reading] = ()
    notice: str = ""
    study_file: str = "STUDY.toml"
    folder: str | None = None
    is_public: bool = False
    is_simulated: bool = False


def lines(text: str) -> list[str]:
    """Return the paragraphs of a text, without what is no character of a page."""
    return [clean for line in text.splitlines() if (clean := _clean(line))]


def _clean(text: str) -> str:
    if text.isprintable():
        return text.strip()
    kept = (" " if c == "\t" else c for c in text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _CONTROLS else c for c in kept
    ).strip()


def opening(item: Item) -> str:
    """Return the start of what the seeker said last."""
    return shortened(" ".join(lines(item.context[-1].text)), OPENING)


def earlier_words(item: Item, n_shown: int) -> str:
    """Say what stands before the last turn, of which so many turns are shown."""
    n = len(item.context) - 1
    turns = plural(n, "earlier turn") if n_shown == n else f"{n_shown} of {n} earlier turns"
    named = ["situation"] * bool(item.situation.strip()) + [turns] * bool(n)
    return listed(named).capitalize()


CHOSEN_WORDS: Mapping[str, str] = {
    "contested": "contested",
    "decisive": "clear",
    "random": "drawn at random",
}


def _outcome(reading: Reading, verdicts: Sequence[Verdict]) -> str:
    winners = [verdict.winner for verdict in verdicts]
    counts = {name: winners.count(name) for name in (*reading.systems, None)}
    named = [
        f"{n} for {name}" if name else plural(n, "tie")
        for name, n in sorted(counts.items(), key=lambda one: (-one[1], one[0] or ""))
        if n
    ]
    if len(named) > 1:
        is_order = len({v.rater for v in verdicts}) == 1 < len(winners)
        return f"{listed(named)}, by the order" if is_order else listed(named)
    (winner,) = set(winners)
    n = len(winners)
    each = {1: "one verdict", 2: "both verdicts"}.get(n, f"all {n} verdicts")
    return f"{each} for {winner}" if winner else f"{each}: no difference"


def _says_more(judgment: Judgment) -> bool:
    return bool(judgment.axes or judgment.reasons or judgment.rationale.strip())


def _verdict_words(said: Sequence[Verdict]) -> str:
    winners, shown_first = {one.winner for one in said}, {one.first for one in said}
    if len(winners) == 1 and len(shown_first) > 1:
        (winner,) = winners
        if winner is None:
            return "saw no difference, both ways"
        strengths = listed([str(one.judgment.strength) for one in said])
        return f"chose {winner} both ways, strength {strengths}"
    each = listed([f"{_one_verdict(one)} with {one.first} shown first" for one in said])
    return f"{each}: it changed with the order" if len(winners) > 1 else each


def _one_verdict(verdict: Verdict) -> str:
    if verdict.winner is None:
        return "saw no difference"
    return f"chose {verdict.winner} (strength {verdict.judgment.strength})"


def _mark_words(verdict: Verdict, mark: AxisMark) -> str:
    winner = verdict.of(mark.choice)
    if winner is None:
        return "no difference"
    return winner if mark.strength is None else f"{winner}, {mark.strength}"


def by_systems(readings: Iterable[Reading]) -> Mapping[tuple[str, str], list[Reading]]:
    """Return readings by their two systems, in the order in which these come up."""
    found: dict[tuple[str, str], list[Reading]] = {}
    for reading in readings:
        found.setdefault(reading.systems, []).append(reading)
    return found


class Part(NamedTuple):
    """A comparison as it is written on a page."""

    reading: Reading
    html: Markup
    form: str = FORMS[0]

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.html.encode())


def that_fit(readings: Sequence[Reading], room: int, write: Callable[..., Markup]) -> list[Part]:
    """Return the readings that fit into so many bytes, each as it is written, the first ones first.

    One takes the longest form within its share of the room. One that does not fit is left out, and
    shorter ones after it may still be in.

    Args:
        readings: As they are worth reading.
        room: Bytes.
        write: Takes a reading and how: `form`, one of `FORMS`; `is_open`; and `is_first` of its
            two systems.
    """
    share = room // max(1, min(len(readings), N_DIALOGUES))
    found: list[Part] = []
    for reading in readings:
        if room < LEAST_BYTES:
            break
        is_first = all(one.reading.systems != reading.systems for one in found)
        how = {"is_open": len(found) < N_OPEN, "is_first": is_first}
        forms = (Part(reading, write(reading, form=form, **how), form) for form in FORMS)
        part = next(one for one in forms if one.size <= share or one.form == FORMS[-1])
        if part.size <= room:
            room -= part.size
            found.append(part)
    return found


def order_words(readings: Iterable[Reading], mine: str | None) -> str:
    """Say in which order comparisons stand."""
    chosen = [one.example for one in readings]
    if any(one.ahead and mine in (one.left, one.right) for one in chosen):
        return (
            f"Each dialogue comes once before any comes again: first those that {mine} lost most"
            " clearly, then those that it won, then the others."
        )
    before = "; those on which people and judges are opposed come before the others"
    opposed = before if any(one.is_opposed for one in chosen) else ""
    return (
        f"The most contested, or else the most narrowly decided, come first{opposed}."
        " Each dialogue comes once before any comes again."
    )
