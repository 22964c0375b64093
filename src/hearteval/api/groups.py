"""Many rankings or agreements of one table, apart for each value of a column.

A group is what the rows with its value alone would give, to the last digit. One that gives nothing
holds its error, and the others stand.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import narwhals.stable.v2 as nw

from hearteval.analysis.agreement.parts import PooledAgreement
from hearteval.api.shown import Shown
from hearteval.errors import HeartError, InvalidVotesError, NotIdentifiedError
from hearteval.notices import Notice
from hearteval.report.files.agreement_parts import pooled_table
from hearteval.report.files.groups import agreements_overview, rankings_overview
from hearteval.report.table import LINE, Display, Table
from hearteval.report.text import WIDTH, notice_line

if TYPE_CHECKING:
    from hearteval.analysis.agreement.ratings import Agreement
    from hearteval.analysis.ranking.votes import VoteRanking

MAX_IN_FULL = 4
"""Groups that text shows in full below the overview; of more, JSON does."""

R = TypeVar("R", bound=Shown)
D = TypeVar("D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Generic[R]):
    """What the rows with one value give.

    Attributes:
        value: The value, as text.
        result: None where the rows give none.
        error: Why there is none, else None.
    """

    value: str
    result: R | None
    error: HeartError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedResults(Shown, Generic[R]):
    """One result for each value of a column.

    Attributes:
        by: The column.
        groups: In the order of the values, of numbers as such.
        n_dropped: Rows that name no value and are in no group, by reason.
    """

    by: str
    groups: tuple[Group[R], ...]
    n_dropped: Mapping[str, int]
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    @property
    def errors(self) -> dict[str, HeartError]:
        """Why groups have no result, by value."""
        return {group.value: group.error for group in self.groups if group.error is not None}

    def __getitem__(self, value: object) -> R:
        """Return the result of one value; raise its error where there is none."""
        group = next((group for group in self.groups if group.value == str(value)), None)
        if group is None:
            raise KeyError(value)
        if group.result is None:
            raise cast("HeartError", group.error)
        return group.result

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        return {
            "schema": self.schema,
            "by": self.by,
            "groups": [_as_dict(group) for group in self.groups],
            "n_dropped": dict(self.n_dropped),
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows = [
            (group.value, row)
            for group in self.groups
            if group.result is not None
            for row in group.result._rows()
        ]
        if not rows:
            raise next(iter(self.errors.values()))
        name = self.by if self.by not in rows[0][1] else "group"
        columns = dict.fromkeys(key for _, row in rows for key in row)
        return [{name: value, **dict.fromkeys(columns), **row} for value, row in rows]

    def __str__(self) -> str:
        return self.to_text()

    def _display(self) -> Display:
        shared = self._shared_warnings()
        parts: list[Table | tuple[str, ...]] = [self._overview(), tuple(map(notice_line, shared))]
        parts.append(tuple(f"{value}: {error}" for value, error in self.errors.items()))
        found = [(group.value, group.result) for group in self.groups if group.result is not None]
        if len(found) > MAX_IN_FULL:
            parts.append((f"All of the {len(found)} results are in the JSON (--json).",))
            return Display(tuple(parts))
        for value, result in found:
            shown = cast("Any", result)
            own = replace(shown, warnings=tuple(w for w in shown.warnings if w not in shared))
            heading = f"{self.by}: {value} "
            parts.append((heading + LINE * max(WIDTH // 2 - len(heading), 3),))
            display = own._display()
            parts += display.parts if isinstance(display, Display) else [display]
        return Display(tuple(parts))

    def _first_line(self) -> tuple[str, ...]:
        result = next((group.result for group in self.groups if group.result is not None), None)
        return () if result is None else cast("Shown", result)._first_line()

    def _simulated_line(self) -> tuple[str, ...]:
        result = next((group.result for group in self.groups if group.result is not None), None)
        return () if result is None else cast("Shown", result)._simulated_line()

    def _shared_warnings(self) -> tuple[Notice, ...]:
        """Return what is warned of every group, where there are several."""
        of_groups = [cast("Any", g.result).warnings for g in self.groups if g.result is not None]
        if len(of_groups) < 2:
            return ()
        return tuple(one for one in of_groups[0] if all(one in others for others in of_groups[1:]))

    def _overview(self) -> Table:
        raise NotImplementedError


def _as_dict(group: Group[Any]) -> dict[str, Any]:
    if group.result is not None:
        return {"value": group.value, "result": group.result.to_dict()}
    error = cast("HeartError", group.error)
    told = {"kind": error.kind, "message": str(error), "ids": list(error.ids)}
    return {"value": group.value, "result": None, "error": told}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rankings(GroupedResults[R]):
    """A ranking for each value of a column; `rankings["a value"]` is one of them."""

    schema: ClassVar = "heart.rank_by/1"
    __repr__ = Shown.__repr__

    def _overview(self) -> Table:
        found = {g.value: cast("VoteRanking", g.result) for g in self.groups if g.result}
        return rankings_overview(self.by, found, self.n_dropped)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementsBy(GroupedResults[R]):
    """Measures of agreement for each value of a column.

    Attributes:
        pooled: All of them together; None where not asked for.
    """

    schema: ClassVar = "heart.agree_by/1"
    pooled: PooledAgreement | None = None
    __repr__ = Shown.__repr__

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        body = GroupedResults.to_dict(self)
        return body if self.pooled is None else body | {"pooled": asdict(self.pooled)}

    def _overview(self) -> Table:
        found = {g.value: cast("Agreement", g.result) for g in self.groups if g.result}
        return agreements_overview(self.by, found, self.n_dropped)

    def _display(self) -> Display:
        overview, *rest = GroupedResults._display(self).parts
        pooled = () if self.pooled is None else (pooled_table(self.pooled),)
        return Display((overview, *pooled, *rest))


def make_groups(data: Mapping[str, D | HeartError], make: Callable[[D], R]) -> tuple[Group[R], ...]:
    """Return what each group gives; a group that gives nothing keeps its error."""
    groups: list[Group[R]] = []
    for value, read in data.items():
        if isinstance(read, HeartError):
            groups.append(Group(value=value, result=None, error=read))
            continue
        try:
            groups.append(Group(value=value, result=make(read)))
        except (InvalidVotesError, NotIdentifiedError) as error:
            groups.append(Group(value=value, result=None, error=error))
    return tuple(groups)
