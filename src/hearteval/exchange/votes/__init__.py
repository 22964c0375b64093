"""A table of votes -> `Votes`: distinct rows with counts, and what was left out and why.

Rows stream through in batches, so memory follows the distinct rows, not the file.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import HeartError, InvalidVotesError
from hearteval.exchange.tables.columns import (
    Table,
    list_hidden,
    sort_values,
    warn_of_hidden,
    warn_of_look_alikes,
)
from hearteval.exchange.votes.coder import (
    BY,
    COVARIATES,
    ITEM,
    NO_GROUP,
    NO_STRENGTH,
    RATER,
    STRENGTH,
    VoteCoder,
    VoteColumns,
    VoteRows,
)
from hearteval.exchange.votes.meanings import OutcomeNames
from hearteval.exchange.votes.winner import LEFT_WON, TIED
from hearteval.notices import SIMULATED_WORDS, Kind, Notice
from hearteval.stats.comparisons import Comparisons
from hearteval.stats.tally import Tally

__all__ = ["OutcomeNames", "PartedVotes", "VoteColumns", "read_parted_votes", "read_votes"]

MANY_BAD_STRENGTHS = 0.05
"""Share of decided votes without a strength above which their loss is warned of."""
MANY_LEFT_OUT = 0.05
"""Share of rows above which it is warned of that they are left out."""
_SHOWN_NAMES, _SHOWN_TEXT = 5, 40


def read_votes(table: Table, columns: VoteColumns, names: OutcomeNames) -> Votes:
    """Read votes; rows in another order give the same result.

    A row is left out, and counted by reason, when a cell it needs is missing, both systems are one,
    or it is decided and its strength is no finite number above 0. `names` says what labels of the
    winner column mean that are no known ones.

    Raises:
        SettingsError: A column is missing, or the winners can be read in two ways.
        InvalidVotesError: A label is unknown, a row is damaged, no decided vote has a strength, or
            no vote is left.
    """
    return _finish(*_read_rows(table, columns, names))


class PartedVotes(NamedTuple):
    """Votes by the values of a column, in the order of these; an error where none can be used."""

    groups: Mapping[str, Votes | HeartError]
    n_dropped: Mapping[str, int]
    """Rows that name no value, by reason."""


def read_parted_votes(table: Table, columns: VoteColumns, names: OutcomeNames) -> PartedVotes:
    """Read votes as `read_votes` does, apart for each value of the column `columns.by`.

    The file is read once, and its winners in one vocabulary.

    Raises:
        SettingsError: As `read_votes`.
        InvalidVotesError: A label is unknown, a row is damaged, or no row names a value.
    """
    whole, rows = _read_rows(table, columns, names)
    coder = whole.coder
    rows_of = rows.part(BY)
    groups: dict[str, Votes | HeartError] = {}
    for name in sort_values(coder.groups):
        group = coder.groups[name]
        if not coder.n_rows_of[group]:
            continue
        try:
            groups[name] = _finish(whole._replace(value=name), rows_of.get(group, rows.none()))
        except InvalidVotesError as error:
            groups[name] = error
    n_dropped = {reason: n for reason, n in coder.n_dropped[NO_GROUP].items() if n}
    if not groups:
        raise _refuse_empty(table.label, coder.n_rows, n_dropped)
    return PartedVotes(groups, n_dropped)


class _Source(NamedTuple):
    """Where the votes of one ranking come from: a table, or its rows with one value."""

    table: Table
    columns: VoteColumns
    coder: VoteCoder
    warnings: tuple[str, ...]
    is_simulated: bool
    value: str | None = None

    @property
    def label(self) -> str:
        """What messages call it."""
        where = "" if self.value is None else f", {self.columns.by} {self.value!r}"
        return f"{self.table.label}{where}"

    @property
    def group(self) -> int:
        """Its code."""
        return 0 if self.value is None else self.coder.groups[self.value]

    @property
    def n_rows(self) -> int:
        """Rows read, whatever became of them."""
        return self.coder.n_rows_of[self.group]


def _read_rows(table: Table, columns: VoteColumns, names: OutcomeNames) -> tuple[_Source, VoteRows]:
    coder = VoteCoder(columns, names)
    rows = _count(table, coder, columns)
    outcomes = coder.winner.decide(table, columns.winner)
    rows.columns["outcome"] = outcomes[rows.columns.pop("winner")]
    warnings = (*table.warnings, *_strong_warnings(coder.winner.n_strong, columns))
    return _Source(table, columns, coder, warnings, table.says_simulated()), rows


def _strong_warnings(n_strong: int, columns: VoteColumns) -> list[str]:
    if not n_strong or columns.strength is not None:
        return []
    return [
        f"{n_strong:,} verdicts say >> or <<: each counts as one vote here; Arena-Hard's own table"
        " counts it as three"
    ]


def _finish(source: _Source, rows: VoteRows) -> Votes:
    n_decided = int(rows.count[rows.columns["outcome"] != TIED].sum())
    n_bad = _drop_without_strength(rows, source)
    if 0 < n_bad == n_decided:
        raise _refuse_strengths(source)
    n_dropped = {**source.coder.n_dropped[source.group], "bad strength": n_bad}
    n_dropped = {reason: n for reason, n in n_dropped.items() if n}
    if not len(rows.count):
        raise _refuse_empty(source.label, source.n_rows, n_dropped)
    has_ties = bool((rows.columns["outcome"] == TIED).any())
    strengths = _strength_warnings(n_bad, n_decided, has_ties=has_ties)
    return _build(rows, source, n_dropped, (*source.warnings, *strengths))


def _count(table: Table, coder: VoteCoder, columns: VoteColumns) -> VoteRows:
    named = (
        *columns.by_role().values(),
        *columns.covariates,
        *([columns.by] if columns.by else []),
    )
    wanted = tuple(dict.fromkeys(named))
    tally = Tally(len(coder.roles))
    for batch in table.batches(wanted):
        rows = coder.code(batch)
        tally.add(*(rows[role] for role in coder.roles))
        coder.items.fold_above(tally, coder.roles, coder.n_rows)
    coded, count = tally.rows()
    return VoteRows(dict(zip(coder.roles, coded, strict=True)), count)


def _drop_without_strength(rows: VoteRows, source: _Source) -> int:
    """Drop decided votes without a strength; return how many. A tie has none from here on."""
    if STRENGTH not in rows.columns:
        return 0
    strength = rows.columns[STRENGTH]
    strength[rows.columns["outcome"] == TIED] = source.coder.strengths[1.0]
    is_bad = strength == NO_STRENGTH
    n_bad = int(rows.count[is_bad].sum())
    if n_bad:
        source.coder.note_lost(
            source.group, *(rows.columns[side][is_bad] for side in ("left", "right"))
        )
        rows.keep(~is_bad)
    return n_bad


def _strength_warnings(n_bad: int, n_decided: int, *, has_ties: bool) -> list[str]:
    if n_bad <= MANY_BAD_STRENGTHS * n_decided:
        return []
    why = "; ties stay, so this moves the ranking" if has_ties else ""
    return [
        f"{n_bad:,} of {n_decided:,} decided votes have no usable strength and are left out of "
        f"both rankings{why}"
    ]


def _refuse_strengths(source: _Source) -> InvalidVotesError:
    example = "its cells are empty"
    if source.coder.bad_strength is not None:
        row, text = source.coder.bad_strength
        example = f"{source.table.place(row)}: {text[:_SHOWN_TEXT]!r}"
    return InvalidVotesError(
        f"{source.label}, column {source.columns.strength!r}: no decided vote has a usable"
        f" strength ({example}); strengths are finite numbers above 0"
    )


def _refuse_empty(label: str, n_rows: int, n_dropped: Mapping[str, int]) -> InvalidVotesError:
    if not n_rows:
        return InvalidVotesError(f"{label} holds no votes, only the names of its columns")
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in n_dropped.items())
    return InvalidVotesError(f"{label}: none of its {n_rows:,} rows can be used ({reasons})")


def _build(
    rows: VoteRows, source: _Source, n_dropped: dict[str, int], warnings: tuple[str, ...]
) -> Votes:
    coder, columns = source.coder, source.columns
    names = tuple(coder.systems)
    systems = rows.rename(names, "left", "right")
    hidden = list_hidden(systems)
    if hidden is not None:
        raise InvalidVotesError(
            f"systems that look the same and would be ranked apart {hidden}. They differ only in"
            " blanks or invisible characters; write them alike"
        )
    strengths = rows.rename(tuple(coder.strengths), STRENGTH, absent=(1.0,))
    items = rows.rename(coder.items.group_names, ITEM)
    raters = rows.rename(tuple(coder.raters), RATER)
    values = rows.rename(tuple(coder.covariates), COVARIATES, absent=((),))
    rows.sort()
    outcome = rows.columns["outcome"]
    none = np.zeros(len(outcome), np.int64)
    comparisons = Comparisons(
        left=rows.columns["left"],
        right=rows.columns["right"],
        score=outcome / LEFT_WON,
        weight=np.array(strengths)[rows.columns.get(STRENGTH, none)],
        count=rows.count,
        item=rows.columns.get(ITEM, none),
        rater=rows.columns.get(RATER, none),
        n_systems=len(systems),
    )
    is_folded = coder.items.is_folded
    # How many items a part of the votes has is not known once they are in groups.
    is_whole = source.value is None
    n_items = coder.items.n_used if is_folded and is_whole else len(items)
    lost = sorted({names[code] for code in coder.lost_systems[source.group]} - set(systems))
    read = (
        *warnings,
        *_warnings(coder.items.n_used, len(items) if is_folded else None, lost),
        *coder.missing_words.warnings(),
    )
    alike = (
        *warn_of_look_alikes("systems", systems),
        *warn_of_look_alikes("raters", raters),
        *([] if is_folded else warn_of_hidden("items", items)),
    )
    return Votes(
        systems=systems,
        comparisons=comparisons,
        covariates=np.array(values, dtype=np.float64)[rows.columns.get(COVARIATES, none)],
        has_strength=columns.strength is not None,
        n_items=None if columns.cluster is None else n_items,
        n_item_groups=len(items) if is_folded else None,
        raters=None if columns.rater is None else raters,
        n_votes=int(rows.count.sum()),
        n_ties=int(rows.count[outcome == TIED].sum()),
        n_dropped=n_dropped,
        warnings=(
            *([Notice(Kind.SIMULATED, SIMULATED_WORDS)] if source.is_simulated else []),
            *_drop_warnings(n_dropped, source.n_rows),
            *(Notice(Kind.READING, text) for text in read),
            *(Notice(Kind.LOOK_ALIKES, text) for text in alike),
        ),
        items=items,
    )


def _drop_warnings(n_dropped: Mapping[str, int], n_rows: int) -> list[Notice]:
    """Warn where many rows are left out; those without a strength have a warning of their own."""
    lost = {reason: n for reason, n in n_dropped.items() if n and reason != "bad strength"}
    n_lost = sum(lost.values())
    if n_lost <= MANY_LEFT_OUT * n_rows:
        return []
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in lost.items())
    tie = " (an empty winner is no tie)" if "missing winner" in lost else ""
    share = f"{n_lost:,} of {n_rows:,} rows ({100 * n_lost / n_rows:.0f} %)"
    text = f"{share} are left out: {reasons}{tie}"
    return [Notice(Kind.DROPPED, f"{text}. If they are no slip, this ranking is of the rest.")]


def _warnings(n_items: int, n_item_groups: int | None, lost: Sequence[str]) -> tuple[str, ...]:
    warnings = []
    if n_item_groups is not None:
        warnings.append(
            f"{n_items:,} items were put into {n_item_groups:,} groups by a hash of their names, "
            "to fit in memory; intervals take a group as one item"
        )
    if lost:
        shown = ", ".join(lost[:_SHOWN_NAMES]) + (", ..." if len(lost) > _SHOWN_NAMES else "")
        warnings.append(f"systems named only in rows that were left out ({len(lost)}): {shown}")
    return tuple(warnings)
