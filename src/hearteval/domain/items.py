"""What is to be answered: turns, items, and why an item is in or out (HEART 9.2)."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args
from unicodedata import category

from hearteval.domain.ids import fill_id, require

Role = Literal["seeker", "supporter"]
Subset = Literal["regular", "adversarial"]
Profile = Literal["always-10", "linear-ramp", "mid-spike", "mid-ramp"]
Cue = Literal["implicit", "explicit"]
Resistance = Literal[
    "attack-on-competence",
    "stonewalling",
    "yes-but",
    "distrust-of-help",
    "testing-limits",
    "despair",
]
Edge = Literal["risk", "medical", "abuse", "minor"]
Verdict = Literal["pass", "fail"]

ROLES: tuple[Role, ...] = get_args(Role)
SUBSETS: tuple[Subset, ...] = get_args(Subset)
PROFILES: tuple[Profile, ...] = get_args(Profile)
CUES: tuple[Cue, ...] = get_args(Cue)
RESISTANCES: tuple[Resistance, ...] = get_args(Resistance)
EDGES: tuple[Edge, ...] = get_args(Edge)
NO_LANGUAGE = "und"
"""BCP 47 for a language that nobody has determined."""
MOST_INTENSE = 10
LEFT_OUT = "[left out of the release]"
"""Stands, in a release, for a text that may not be passed on."""
_SHOWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(selector) for selector in range(0xFE00, 0xFE10)
}
"""Fillers, blank letters and variation selectors: letters and marks as Unicode has it."""
_BLANK_KINDS = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
"""Of characters: control, format (zero width, direction), halves of pairs, and white space."""


def shows_text(text: str) -> bool:
    """Return whether a text shows anything: more than blanks and characters of no width."""
    if text[:1].isascii() and text[:1].isalnum():  # as nearly every text begins
        return True
    return any(category(c) not in _BLANK_KINDS and c not in _SHOWS_NOTHING for c in text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one side says before the other speaks again; never empty."""

    role: Role
    text: str

    def __post_init__(self) -> None:
        require(self.role in ROLES, "turn", f"role must be one of {ROLES}, not {self.role!r}")
        require(shows_text(self.text), "turn", "text is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A dialogue history that ends with a seeker turn; the next supporter turn is to be written."""

    source: str
    """Corpus the dialogue comes from, e.g. ``"esconv"`` or ``"starter"``."""
    dialogue_id: str
    """The dialogue within its source."""
    turn_index: int
    """Position of the last context turn within the dialogue, from 0."""
    situation: str
    """The seeker's, in a sentence or two; may be empty."""
    context: tuple[Turn, ...]
    """The turns so far; the last one is the seeker's."""
    subset: Subset
    profile: Profile | None = None
    """Escalation profile, exactly when adversarial (HEART 9.2)."""
    emotion: str
    """The corpus's label."""
    problem: str
    """The corpus's label."""
    culture: str | None = None
    """None where it is not known, as of the population."""
    population: str | None = None
    language: str = "en"
    """BCP 47 tag."""
    licence: str
    """SPDX name or words under which the text may be used."""
    consent_basis: str
    """Why this text may be used at all."""
    reference: str | None = None
    """The corpus's own next supporter turn; never on a rewritten item."""
    cue: Cue | None = None
    """Whether the seeker says what they feel and want, or it must be read from what they tell."""
    resistance: Resistance | None = None
    """How the seeker of an adversarial item resists help; None where it is not known."""
    intensities: tuple[int, ...] | None = None
    """How strongly they do, from 0 to 10, one number a seeker turn; None where it is not known."""
    edge: tuple[Edge, ...] | None = None
    """What in it not everybody should be asked to read, in the order of `EDGES`; empty where
    somebody has looked and found nothing, None where nobody has looked."""
    id: str = ""

    ADDED_LATER: ClassVar = ("cue", "resistance", "intensities", "edge")
    """Fields that stand in canonical JSON only where they are known: hashes from before stay."""

    def __post_init__(self) -> None:
        where = f"item {self.source}/{self.dialogue_id}/{self.turn_index}"
        require(self.subset in SUBSETS, where, f"subset must be one of {SUBSETS}")
        require(len(self.context) > 0, where, "context has no turns")
        require(self.context[-1].role == "seeker", where, "context must end with a seeker turn")
        is_adversarial = self.subset == "adversarial"
        require(
            (self.profile is not None) == is_adversarial,
            where,
            "profile must be set exactly when the item is adversarial",
        )
        require(
            self.profile is None or self.profile in PROFILES,
            where,
            f"profile must be one of {PROFILES}, not {self.profile!r}",
        )
        require(
            not (is_adversarial and self.reference is not None),
            where,
            "a rewritten (adversarial) item has no reference: it answers another turn",
        )
        require(
            self.reference is None or shows_text(self.reference), where, "reference is empty text"
        )
        self._require_known_labels(where)
        fill_id(self, "item", "source", "dialogue_id", "turn_index", "context", "subset", "profile")

    @property
    def is_left_out(self) -> bool:
        """Whether a release was made without its texts: its id is that of what they were."""
        return all(turn.text == LEFT_OUT for turn in self.context)

    def without_texts(self) -> "Item":
        """Return it as a release has it that may not pass its texts on."""
        context = tuple(replace(turn, text=LEFT_OUT) for turn in self.context)
        reference = None if self.reference is None else LEFT_OUT
        return replace(self, context=context, reference=reference, situation="")

    def is_within(self, edges: Collection[str]) -> bool:
        """Say whether it holds no edge but these, as far as anybody has looked."""
        return set(self.edge or ()) <= set(edges)

    def _require_known_labels(self, where: str) -> None:
        require(
            self.edge is None or self.edge == tuple(one for one in EDGES if one in self.edge),
            where,
            f"edge must be some of {EDGES}, each once and in this order, not {self.edge}",
        )
        known = {"cue": (self.cue, CUES), "resistance": (self.resistance, RESISTANCES)}
        for name, (value, words) in known.items():
            allowed = value is None or value in words
            require(allowed, where, f"{name} must be one of {words}, not {value!r}")
        is_rated = self.resistance is not None or self.intensities is not None
        require(
            self.subset == "adversarial" or not is_rated,
            where,
            "resistance and intensities belong to adversarial items",
        )
        if self.intensities is not None:
            n_turns = sum(turn.role == "seeker" for turn in self.context)
            require(
                len(self.intensities) == n_turns
                and all(0 <= one <= MOST_INTENSE for one in self.intensities),
                where,
                f"intensities must be {n_turns} numbers from 0 to {MOST_INTENSE}, one a seeker"
                f" turn, not {self.intensities}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """One rule's verdict on one item, with what it saw: why the item is in or out."""

    item_id: str
    rule: str
    verdict: Verdict
    evidence: str
    """The words or numbers the verdict rests on; may be empty."""
    version: str
    """Of the rule set."""
    id: str = ""

    def __post_init__(self) -> None:
        where = f"screening {self.rule} of item {self.item_id}"
        require(self.verdict in get_args(Verdict), where, f"verdict is {self.verdict!r}")
        fill_id(self, "screening", "item_id", "rule", "version")
