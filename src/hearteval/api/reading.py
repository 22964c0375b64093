"""How `rank` and its kin open a table of votes and settle what its columns mean."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import HeartError, NotIdentifiedError, Remedy, SettingsError
from hearteval.exchange.arguments import (
    check_columns_named,
    check_roles,
    find_columns,
    find_items,
    read_labels,
    read_names,
)
from hearteval.exchange.options import VoteOptions
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import Report, Table
from hearteval.exchange.tables.views import join_columns
from hearteval.exchange.votes import (
    OutcomeNames,
    PartedVotes,
    VoteColumns,
    read_parted_votes,
    read_votes,
)
from hearteval.exchange.votes.layouts import check_no_names, open_layout
from hearteval.exchange.votes.winner import find_winners

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


class VoteSource(NamedTuple):
    """A table of votes, and what a caller says of it whatever it is ranked by."""

    source: "Source"
    options: VoteOptions
    report: Report
    by: str | None = None
    baseline: str | None = None

    @property
    def sides(self) -> dict[str, str | None]:
        """Columns of left, right and winner, None for one to be found."""
        return {side: self.options[side] for side in ("left", "right", "winner")}

    def open(self, others: Mapping[str, Any]) -> "VoteReading":
        """Settle what the columns mean, those of `others` by role too.

        Raises:
            SettingsError: A column is missing or named twice.
            TypeError: What names a column is no text.
        """
        names = _outcome_names(self.options)
        clusters = read_names("cluster", others["cluster"])
        optional = {role: name for role, name in others.items() if role != "covariates"}
        optional |= {"by": self.by, "cluster": None}
        check_columns_named({**self.sides, **optional}, optional=(*self.sides, *optional))
        table = open_table(self.source, self.report)
        taken = [*self.sides.values(), *optional.values()]
        with proposing_items(table, taken, has_items=bool(clusters)):
            seen = open_layout(table, self.sides, self.baseline)
            sides = self.sides if seen is table else {**self.sides, "winner": None}
            if seen is not table:
                check_no_names(names, table.label)
            known = _find_sides(seen, sides)
        for cluster in clusters or (None,):
            check_roles({**known, **optional, "cluster": cluster})
        roles = {**known, **others, "by": self.by, "cluster": None}
        if clusters:
            seen, roles["cluster"] = join_columns(seen, clusters)
        return VoteReading(seen, VoteColumns(**roles), names)


def _find_sides(table: Table, sides: Mapping[str, str | None]) -> Mapping[str, Any]:
    """Return the columns of left, right and winner; where only the last is lacking, see the cells.

    Raises:
        SettingsError: As `find_columns`.
    """
    try:
        return find_columns(table.column_names, sides)
    except SettingsError as error:
        if error.ids == ("winner",) and not error.remedies:
            both = find_columns(table.column_names, {**sides, "winner": table.column_names[0]})
            remedies = find_winners(table, (both["left"], both["right"]))
            error.offer(remedies)
            error.headline += "; did you mean:" if remedies else ""
        raise


class VoteReading(NamedTuple):
    """A table of votes, of which it is settled what its columns mean."""

    table: Table
    columns: VoteColumns
    names: OutcomeNames

    def whole(self) -> Votes:
        """Read all votes as one."""
        with self._proposing():
            return read_votes(self.table, self.columns, self.names)

    def parted(self) -> PartedVotes:
        """Read them apart by the values of a column."""
        with self._proposing():
            return read_parted_votes(self.table, self.columns, self.names)

    def _proposing(self) -> AbstractContextManager[None]:
        taken = [*self.columns.by_role().values(), self.columns.by, *self.columns.covariates]
        has_items = self.columns.cluster is not None
        return proposing_items(self.table, taken, has_items=has_items)


@contextmanager
def proposing_items(
    table: Table, taken: Collection[str | None], *, has_items: bool
) -> Iterator[None]:
    """Add to the ways out of an error the column of the prompt, where nobody named one."""
    try:
        yield
    except HeartError as error:
        if not has_items and error.remedies:
            error.offer([_with_items(table, taken, remedy) for remedy in error.remedies])
        raise


def _with_items(table: Table, taken: Collection[str | None], remedy: Remedy) -> Remedy:
    used = {each for each in remedy.arguments.values() if isinstance(each, str)}
    items = find_items([n for n in table.column_names if n not in {*taken, *used}])
    if items is None:
        return remedy
    return remedy._replace(arguments={**remedy.arguments, "cluster": (items,)})


@contextmanager
def explaining(votes: Votes) -> Iterator[None]:
    """Add to an error what was noticed in reading: a name cut short is a system of its own."""
    try:
        yield
    except NotIdentifiedError as error:
        if not votes.warnings:
            raise
        message = f"{error} Noticed in reading: {'; '.join(votes.warnings)}."
        components = cast("Sequence[Sequence[str]]", error.components)
        raise NotIdentifiedError(message, components=components, ids=error.ids) from error


def _outcome_names(options: VoteOptions) -> OutcomeNames:
    """Return what the labels of the winner column are said to mean."""
    return OutcomeNames(
        own_name=options["own_name"],
        left=read_labels("left_name", options["left_name"]),
        right=read_labels("right_name", options["right_name"]),
        tie=read_labels("tie_name", options["tie_name"]),
    )
