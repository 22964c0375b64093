"""What of a study a table's rows are held against, and what came of them.

Nothing is guessed: an item is known by its id, or by its dialogue where that has one item; a system
or a judge by its name; a person by a pseudonym that somebody has said is one.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, cast, get_args

from hearteval.domain import Attempt, Axis, Completion, Item, Rater, System
from hearteval.domain.judging import Group
from hearteval.domain.systems import IMPORTED
from hearteval.exchange.records.reading import Faults, RecordTable, named_first, read_time
from hearteval.models.presets import CUE_JUDGE
from hearteval.store.people.persons import Person
from hearteval.store.records import Record

NO_ITEM = "no such item in the study"
NO_SYSTEM = "no such system in the study"
NO_TEXT = "no such reply in the study"
STRESS = "texts of the stress set, which each study makes itself"
GONE = "the person has withdrawn"
REPEATED = "the same as a row before it"
SHOWN_ROWS = 3


class Place(NamedTuple):
    """Which completion of a study it is."""

    item_id: str
    system_id: str
    writer: str | None
    repeat: int


@dataclass(frozen=True, kw_only=True)
class Known:
    """A study as rows from elsewhere meet it.

    Attributes:
        imported: Ids of the systems whose completions are imported.
        judges: Those whose verdicts are imported, by name.
        asked: The judges that are asked here, by name.
        asks_people: How people compare, or None where the study file asks none.
        protocol: How judges do.
        rated: The axes that a rating has scores on at least.
        people: Those of the study, by pseudonym.
        raters: People of the study as raters, where they have judged, by name.
    """

    study_id: str
    items: Sequence[Item]
    systems: Mapping[str, System]
    imported: frozenset[str]
    judges: Mapping[str, Rater]
    asked: Mapping[str, Rater]
    asks_people: str | None
    protocol: str
    rated: Sequence[Axis]
    excludes_own_family: bool
    people: Mapping[str, Person]
    raters: Mapping[str, Rater]
    texts: Sequence[Completion]
    attempts: Sequence[Attempt]

    @cached_property
    def _by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items}

    @cached_property
    def _by_dialogue(self) -> dict[str, list[Item]]:
        found: dict[str, list[Item]] = defaultdict(list)
        for item in self.items:
            found[item.dialogue_id].append(item)
        return found

    @cached_property
    def text_at(self) -> dict[Place, Completion]:
        """Every stored completion."""
        return {
            Place(one.item_id, one.system_id, one.writer_id, one.repeat): one for one in self.texts
        }

    @cached_property
    def text_by_id(self) -> dict[str, Completion]:
        """The same by id."""
        return {one.id: one for one in self.texts}

    @cached_property
    def _of_system(self) -> dict[tuple[str, str], list[Completion]]:
        found: dict[tuple[str, str], list[Completion]] = defaultdict(list)
        for one in self.texts:
            found[one.item_id, one.system_id].append(one)
        return found

    @cached_property
    def _systems_by_id(self) -> dict[str, System]:
        return {one.id: one for one in self.systems.values()}

    def system_of(self, text: Completion) -> System:
        """Return who wrote a completion."""
        return self._systems_by_id[text.system_id]

    def item_words(self, item_id: str) -> str:
        """Name an item as a person knows it, and as the study does."""
        return f"{self._by_id[item_id].dialogue_id} ({item_id})"

    def find_item(self, cell: str | None) -> Item | None:
        """Return the item of an id or of a dialogue; None where the study has none.

        Raises:
            ValueError: The cell is missing, or several items are of the dialogue.
        """
        if cell is None:
            raise ValueError("no item is named")
        if cell in self._by_id:
            return self._by_id[cell]
        found = self._by_dialogue.get(cell, [])
        if len(found) > 1:
            raise ValueError(f"the dialogue {cell!r:.60} has {len(found)} items; name them by id")
        return found[0] if found else None

    def find_system(self, name: str | None) -> System | None:
        """Return a system by its name; None where the study has none.

        Raises:
            ValueError: None is named.
        """
        if name is None:
            raise ValueError("no system is named")
        return self.systems.get(name)

    def system_words(self) -> str:
        """Name the systems that rows may be about."""
        return named_first([one.name for one in self.systems.values() if one.kind != "stress"])

    def find_text(
        self, item: Item, system: System, writer: str | None, repeat: int | None
    ) -> Completion | None:
        """Return a completion; None where the study has none.

        Raises:
            ValueError: Several could be meant.
        """
        found = [
            one
            for one in self._of_system.get((item.id, system.id), ())
            if (writer is None or one.writer_id == writer) and one.repeat == (repeat or 0)
        ]
        if len(found) > 1:
            raise ValueError(f"{system.name} has {len(found)} replies here; name the writer")
        return found[0] if found else None

    def find_judge(self, name: str) -> Rater | None:
        """Return the judge of a name; of the cue judge's own, the one that is imported if any is.

        A ``[[judge]]`` cannot be named as the offline one, whose verdicts a table may hold.
        """
        cues = [one for one in self.judges.values() if one.family == CUE_JUDGE]
        if name == CUE_JUDGE and len(cues) == 1:
            return cues[0]
        return self.judges.get(name) or self.asked.get(name)

    def require_pseudonym(self, name: str) -> None:
        """Raise `ValueError` for the name of a model of the study, or an address."""
        if name in self.judges or name in self.asked or name in self.systems:
            raise ValueError(
                f"{name!r:.60} is a judge or system of the study file, so no person of this name is"
                " taken in; name the column that holds people"
            )
        if "@" in name:
            raise ValueError(
                "a person is named by what looks like an address; give each a pseudonym first,"
                " which is all that a study keeps"
            )

    def is_gone(self, name: str | None) -> bool:
        """Say whether a person has withdrawn."""
        person = self.people.get(name or "")
        return person is not None and person.withdrawn_at is not None


@dataclass(kw_only=True)
class Found:
    """What the rows of a table come to.

    Attributes:
        records: What the study does not have yet.
        people: Groups of people whom it does not know yet, by pseudonym.
        n_new: Rows that add something.
        n_there: Rows that say what is stored already.
        left_out: Rows that are left out, by reason.
        strangers: Names of systems that the study has not, with the rows left out for each.
        unusable: Replies that can be no completions, by reason.
        by: Rows taken, by what (``system``, ``rater``) and name.
        shown: The first rows as they would be stored.
    """

    records: list[Record] = field(default_factory=list)
    people: dict[str, Group | None] = field(default_factory=dict)
    n_new: int = 0
    n_there: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    strangers: Counter[str] = field(default_factory=Counter)
    unusable: Counter[str] = field(default_factory=Counter)
    by: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    shown: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    def leave_out_stranger(self, name: str) -> None:
        """Count a row of a system that the study has not."""
        self.left_out[NO_SYSTEM] += 1
        self.strangers[name] += 1

    def show(self, row: int, what: dict[str, Any]) -> None:
        """Keep one of the first rows to be looked at; what is missing is left out."""
        if len(self.shown) < SHOWN_ROWS:
            said = {name: value for name, value in what.items() if value not in (None, "", {})}
            self.shown.append((row + 1, said))


class Raters:
    """Finds who a row says has judged: a judge that judged elsewhere, or a person."""

    def __init__(self, known: Known, table: RecordTable, found: Found, faults: Faults) -> None:
        self._known, self._found, self._faults = known, found, faults
        cells = (table.column(f"rater{part}") for part in ("", "_kind", "_family", "_group"))
        self._rows = list(zip(*cells, strict=True))
        self._seen: dict[tuple[str | None, ...], Rater | str] = {}

    def find(self, row: int) -> Rater | None:
        """Return the rater of a row; None after noting why there is none."""
        said = self._rows[row]
        if said not in self._seen:
            try:
                self._seen[said] = self._read(*said)
            except ValueError as error:
                self._seen[said] = str(error)
        found = self._seen[said]
        if isinstance(found, str):
            self._faults.add(row, found)
            return None
        return found

    def _read(
        self, name: str | None, kind: str | None, family: str | None, group: str | None
    ) -> Rater:
        if name is None:
            raise ValueError("no rater is named")
        judge = self._known.find_judge(name)
        is_person = name in self._known.people or kind == "human"
        if kind not in (None, "human", "llm"):
            raise ValueError(f"rater_kind is {kind!r:.40}; expected human or llm")
        if judge is not None and kind != "human":
            if family not in (None, judge.family):
                raise ValueError(
                    f"the judge {name!r} is of the family {judge.family!r} in the study file, and"
                    f" of {family!r:.40} here"
                )
            return judge
        if kind == "llm" or not is_person:
            raise ValueError(
                f"{name!r:.60} is no judge of the study file: add [[judge]] with this name and"
                f' model = "{IMPORTED}/MODEL", and name it in judging.judges'
                + ("" if kind == "llm" else "; for a person, say --rater-kind human")
            )
        return self._person(name, group)

    def _person(self, name: str, group: str | None) -> Rater:
        if name not in self._known.people:
            self._known.require_pseudonym(name)
        if self._known.asks_people is None:
            raise ValueError(
                f"{name!r:.60} is a person, and the study file says nothing of people: add [people]"
                " with their protocol"
            )
        found = read_group(group)
        stored = self._known.raters.get(name)
        known = self._known.people.get(name)
        before = stored.group if stored else known.group if known else found
        if group is not None and before != found:
            raise ValueError(f"{name!r:.60} is of the group {before!r}, not {found!r}")
        if known is None:
            self._found.people.setdefault(name, found)
            before = self._found.people[name]
            if group is not None and before != found:
                raise ValueError(f"{name!r:.60} is of two groups, {before!r} and {found!r}")
        group_known: Any = before
        return stored or Rater(name=name, kind="human", family="human", group=group_known)


def read_group(cell: str | None) -> Group | None:
    """Return a group of people.

    Raises:
        ValueError: There is no such group.
    """
    if cell is not None and cell not in get_args(Group):
        raise ValueError(f"the group is {cell!r:.40}; expected {', '.join(get_args(Group))}")
    return cast("Group | None", cell)


def whole(what: str, cell: str | None, *, low: int, high: int) -> int | None:
    """Return a whole number; None where its cell is missing.

    Raises:
        ValueError: It is none, or out of range.
    """
    if cell is None:
        return None
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if not low <= number <= high or number % 1:
        raise ValueError(f"{what} is {cell!r:.40}; expected a whole number from {low} to {high}")
    return int(number)


def seconds_of(what: str, cell: str | None) -> float | None:
    """Return a length of time; None where its cell is missing.

    Raises:
        ValueError: It is no number from 0.
    """
    if cell is None:
        return None
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(f"{what} is {cell!r:.40}; expected a number from 0")
    return number


def time_of(cell: str | None, now: datetime) -> datetime:
    """Return when a record was made, as its file says it, else now.

    Raises:
        ValueError: It is no time.
    """
    try:
        return read_time(cell) or now
    except ValueError as error:
        raise ValueError(f"created_at is {cell!r:.40}: {error}") from None
