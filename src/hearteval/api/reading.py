"""How `rank` and its kin open a table of votes and settle what its columns mean."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import NotIdentifiedError
from hearteval.exchange.arguments import (
    Label,
    check_columns_named,
    check_roles,
    find_columns,
    read_labels,
    read_names,
)
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

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source

Names = Label | Sequence[Label]


class VoteSource(NamedTuple):
    """A table of votes, and what a caller says of it whatever it is ranked by."""

    source: "Source"
    sides: Mapping[str, str | None]
    """Columns of left, right and winner, None for one to be found."""
    names: OutcomeNames
    report: Report
    by: str | None = None

    def open(self, others: Mapping[str, Any]) -> "VoteReading":
        """Settle what the columns mean, those of `others` by role too.

        Raises:
            SettingsError: A column is missing or named twice.
            TypeError: What names a column is no text.
        """
        clusters = read_names("cluster", others["cluster"])
        optional = {role: name for role, name in others.items() if role != "covariates"}
        optional |= {"by": self.by, "cluster": None}
        check_columns_named({**self.sides, **optional}, optional=(*self.sides, *optional))
        table = open_table(self.source, self.report)
        known: Mapping[str, Any] = find_columns(table.column_names, self.sides)
        for cluster in clusters or (None,):
            check_roles({**known, **optional, "cluster": cluster})
        roles = {**known, **others, "by": self.by, "cluster": None}
        if clusters:
            table, roles["cluster"] = join_columns(table, clusters)
        return VoteReading(table, VoteColumns(**roles), self.names)


class VoteReading(NamedTuple):
    """A table of votes, of which it is settled what its columns mean."""

    table: Table
    columns: VoteColumns
    names: OutcomeNames

    def whole(self) -> Votes:
        """Read all votes as one."""
        return read_votes(self.table, self.columns, self.names)

    def parted(self) -> PartedVotes:
        """Read them apart by the values of a column."""
        return read_parted_votes(self.table, self.columns, self.names)


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


def outcome_names(left: Names, right: Names, tie: Names, *, own_name: bool) -> OutcomeNames:
    """Return what the labels of the winner column are said to mean."""
    return OutcomeNames(
        own_name=own_name,
        left=read_labels("left_name", left),
        right=read_labels("right_name", right),
        tie=read_labels("tie_name", tie),
    )
