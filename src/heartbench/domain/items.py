"""What is to be answered: turns, items, and why an item is in or out (HEART 9.2)."""

from dataclasses import dataclass
from typing import Literal, get_args

from heartbench.domain.ids import record_id
from heartbench.domain.rules import fill_id, require

Role = Literal["seeker", "supporter"]
Subset = Literal["regular", "adversarial"]
Profile = Literal["always-10", "linear-ramp", "mid-spike", "mid-ramp"]
Verdict = Literal["pass", "fail"]

ROLES: tuple[Role, ...] = get_args(Role)
SUBSETS: tuple[Subset, ...] = get_args(Subset)
PROFILES: tuple[Profile, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one side says before the other speaks again.

    Attributes:
        role: Who speaks.
        text: The words, never empty.
    """

    role: Role
    text: str

    def __post_init__(self) -> None:
        require(self.role in ROLES, "turn", f"role must be one of {ROLES}, not {self.role!r}")
        require(bool(self.text.strip()), "turn", "text is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A dialogue history that ends with a seeker turn; the next supporter turn is to be written.

    Attributes:
        source: Corpus the dialogue comes from, e.g. ``"esconv"`` or ``"starter"``.
        dialogue_id: The dialogue within its source.
        turn_index: Position of the last context turn within the dialogue, from 0.
        situation: The seeker's situation in a sentence or two; may be empty.
        context: The turns so far; the last one is the seeker's.
        subset: ``regular`` or ``adversarial``.
        profile: Escalation profile, exactly when adversarial (HEART 9.2).
        emotion: The corpus's emotion label.
        problem: The corpus's problem label.
        culture: Where known, else None.
        population: Where known, else None.
        language: BCP 47 tag.
        licence: SPDX name or words under which the text may be used.
        consent_basis: Why this text may be used at all.
        reference: The corpus's own next supporter turn; never on a rewritten item.
        id: Content id; left empty, it is computed.
    """

    source: str
    dialogue_id: str
    turn_index: int
    situation: str
    context: tuple[Turn, ...]
    subset: Subset
    profile: Profile | None = None
    emotion: str
    problem: str
    culture: str | None = None
    population: str | None = None
    language: str = "en"
    licence: str
    consent_basis: str
    reference: str | None = None
    id: str = ""

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
            self.reference is None or bool(self.reference.strip()), where, "reference is empty text"
        )
        fill_id(
            self,
            lambda: record_id(
                "item",
                {
                    "source": self.source,
                    "dialogue_id": self.dialogue_id,
                    "turn_index": self.turn_index,
                    "context": self.context,
                    "subset": self.subset,
                    "profile": self.profile,
                },
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """One rule's verdict on one item, with what it saw: why the item is in or out.

    Attributes:
        item_id: The item screened.
        rule: Name of the rule.
        verdict: ``pass`` or ``fail``.
        evidence: The words or numbers the verdict rests on; may be empty.
        version: Version of the rule set.
        id: Content id; left empty, it is computed.
    """

    item_id: str
    rule: str
    verdict: Verdict
    evidence: str
    version: str
    id: str = ""

    def __post_init__(self) -> None:
        where = f"screening {self.rule} of item {self.item_id}"
        require(self.verdict in get_args(Verdict), where, f"verdict is {self.verdict!r}")
        fill_id(
            self,
            lambda: record_id(
                "screening",
                {"item_id": self.item_id, "rule": self.rule, "version": self.version},
            ),
        )
