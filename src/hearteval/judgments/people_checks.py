"""Comparisons with a key that come among those of people, and what they are stored as. Pure.

They belong to a study of their own beside the one that people take part in, and so do repeats of a
person's comparisons: no ranking, no agreement and no table of votes ever reads it. What was given
to a person is an `Assignment` from when it is given, with the expected choice as its `check`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hearteval.domain import (
    Assignment,
    Choice,
    Completion,
    Item,
    Pair,
    Rater,
    Study,
    System,
    Turn,
    hash_records,
    record_id,
)
from hearteval.domain.quality import CheckKind
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.judgments.stress_set.audit import next_version
from hearteval.protocol import ENGLISH

SOURCE = "hearteval checks of people"
ROLE, SCORE = "check", "score"
"""Keys of a system's settings: whose text it is in a check, and the score that it asks for."""
Words = Annotated[str, Field(min_length=1)]


class _Texts(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Dialogue(_Texts):
    """What a check stands in."""

    name: Words
    situation: Words
    context: Annotated[list[Words], Field(min_length=1)]
    """Turns, alternating; the last is the person's who needs support."""


class GoldPair(Dialogue):
    """A conversation with a clearly good and a clearly bad reply, which differ in substance."""

    good: Words
    bad: Words


class AttentionCheck(Dialogue):
    """A conversation with a reply that says what to answer: where its text has ``{asks}``."""

    reply: Annotated[str, Field(pattern=r"\{asks\}")]
    beside: Words
    """The other reply."""
    choose: Literal["this", "other", "same"]
    """Which reply it asks to choose; ``same`` is ``other`` where a winner is forced."""
    score: Annotated[int, Field(ge=1, le=5)]
    """What it asks to give it on every axis, where people rate."""


class Asks(_Texts):
    """What an attention check says for ``{asks}``."""

    this: Words
    other: Words
    same: Words
    rating: Annotated[str, Field(pattern=r"\{score\}")]


class CheckTexts(_Texts):
    """The texts of a study's checks: ``protocol/people_checks.toml``, or a file of its own."""

    version: Words
    language: Words = ENGLISH
    written_by: Words
    licence: Words
    asks: Asks
    gold: list[GoldPair]
    attention: Annotated[list[AttentionCheck], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_name_each(self) -> "CheckTexts":
        named = Counter(one.name for one in (*self.gold, *self.attention))
        if twice := [name for name, n in named.items() if n > 1]:
            raise ValueError(f"two conversations are named {twice[0]!r}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A comparison with a key, or a reply whose scores are known."""

    kind: CheckKind
    completion_ids: tuple[str, ...]
    """The good one or the one that says what to answer first; one alone where people rate."""
    pair: Pair | None
    """None where people rate."""
    better: str | None
    """Id of the completion that is to be chosen; None for a tie, and where people rate."""

    def expected(self, first_completion_id: str) -> Choice:
        """Return the choice that passes, where this completion stands first."""
        if self.better is None:
            return "tie"
        return "first" if self.better == first_completion_id else "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSet:
    """The checks of a study with their records."""

    items: tuple[Item, ...]
    systems: tuple[System, ...]
    completions: tuple[Completion, ...]
    checks: tuple[Check, ...]

    @property
    def records(self) -> list[Item | System | Completion | Pair]:
        """All of them, to store."""
        pairs = [check.pair for check in self.checks if check.pair is not None]
        return [*self.items, *self.systems, *self.completions, *pairs]


def make_checks(texts: CheckTexts, *, protocol: str, language: str, now: datetime) -> CheckSet:
    """Return the checks of a protocol of people; where they rate there are no gold pairs."""
    made = _Making(texts, language, now)
    if protocol == "rating":
        for check in texts.attention:
            asks = texts.asks.rating.replace("{score}", str(check.score))
            said = {ROLE: "attention", SCORE: check.score}
            made.add("attention", check, [(check.reply.replace("{asks}", asks), said)])
        return made.found()
    for gold in texts.gold:
        replies = [(gold.good, {ROLE: "gold"}), (gold.bad, {ROLE: "gold-bad"})]
        made.add("gold", gold, replies, better=0)
    for check in texts.attention:
        is_forced = check.choose == "same" and protocol == "forced-strength"
        choose = "other" if is_forced else check.choose
        asks = getattr(texts.asks, choose)
        made.add(
            "attention",
            check,
            [
                (check.reply.replace("{asks}", asks), {ROLE: "attention"}),
                (check.beside, {ROLE: "attention-beside"}),
            ],
            better={"this": 0, "other": 1, "same": None}[choose],
        )
    return made.found()


class _Making:
    """Collects the records of checks."""

    def __init__(self, texts: CheckTexts, language: str, now: datetime) -> None:
        self._texts, self._language, self._now = texts, language, now
        self._items: list[Item] = []
        self._systems: dict[str, System] = {}
        self._completions: list[Completion] = []
        self._checks: list[Check] = []

    def add(
        self,
        kind: CheckKind,
        dialogue: Dialogue,
        replies: Sequence[tuple[str, Mapping[str, Any]]],
        *,
        better: int | None = None,
    ) -> None:
        """Add a check with one or two replies, each with the settings of its system."""
        item = self._item(dialogue)
        self._items.append(item)
        ids = []
        for text, settings in replies:
            name = "check-" + "-".join(str(value) for value in settings.values())
            system = System(name=name, kind="stress", family="baseline", settings=dict(settings))
            self._systems[system.id] = system
            reply = Completion(
                item_id=item.id, system_id=system.id, text=text, created_at=self._now
            )
            self._completions.append(reply)
            ids.append(reply.id)
        pair = None
        if len(ids) > 1:
            low, high = sorted(ids)
            pair = Pair(item_id=item.id, completion_ids=(low, high))
        chosen = None if better is None else ids[better]
        made = Check(kind=kind, completion_ids=tuple(ids), pair=pair, better=chosen)
        self._checks.append(made)

    def _item(self, dialogue: Dialogue) -> Item:
        turns = dialogue.context
        n = len(turns)
        return Item(
            source=SOURCE,
            dialogue_id=dialogue.name,
            turn_index=n - 1,
            situation=dialogue.situation,
            context=tuple(
                Turn(role="seeker" if (n - k) % 2 else "supporter", text=text)
                for k, text in enumerate(turns)
            ),
            subset="regular",
            emotion="",
            problem="",
            language=self._language,
            licence=self._texts.licence,
            consent_basis=f"Written for checks by {self._texts.written_by}; no real person",
        )

    def found(self) -> CheckSet:
        """Return what was added."""
        return CheckSet(
            items=tuple(self._items),
            systems=tuple(self._systems.values()),
            completions=tuple(self._completions),
            checks=tuple(self._checks),
        )


def checks_name(study: str) -> str:
    """Return the name of the study that holds a study's checks; no study file can bear it."""
    return f"{study} (checks of its people)"


def checks_study_id(study: Study) -> str:
    """Return the id of the study that holds a study's checks of people and their repeats."""
    return record_id("study", {"name": checks_name(study.name), "seed": study.seed})


def checks_study(study: Study, before: Study | None, made: Sequence[CheckSet]) -> Study:
    """Return the study that holds a study's checks: as it was before, or its next version."""
    items = [item for one in made for item in one.items]
    found = replace(
        study,
        id="",
        version=1,
        name=checks_name(study.name),
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted({system.id for one in made for system in one.systems})),
        rater_ids=(),
        design={"checks_of": study.id},
    )
    return next_version(found, before)


def assign_check(study: Study, check: Check, rater: Rater) -> Assignment:
    """Return a check as it is given to a person: the side of each reply is drawn by the seed."""
    assert check.pair is not None
    ids = sorted(check.completion_ids, key=lambda id_: seeded_rank(study.seed, rater.id, id_))
    return Assignment(
        study_id=checks_study_id(study),
        pair_id=check.pair.id,
        rater_id=rater.id,
        first_completion_id=ids[0],
        check=check.expected(ids[0]),
    )


def assign_again(study: Study, before: Assignment, *, first_completion_id: str) -> Assignment:
    """Return a person's comparison as it is given once more, with the other reply first."""
    return Assignment(
        study_id=checks_study_id(study),
        pair_id=before.pair_id,
        rater_id=before.rater_id,
        first_completion_id=first_completion_id,
        repeat=1,
    )
