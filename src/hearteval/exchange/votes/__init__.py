"""A table of votes -> `Votes`: distinct rows with counts, and what was left out and why.

Rows stream through in batches, so memory follows the distinct rows, not the file.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import InvalidVotesError
from hearteval.exchange.tables.columns import (
    Table,
    list_hidden,
    warn_of_hidden,
    warn_of_look_alikes,
)
from hearteval.exchange.votes.coder import (
    COVARIATES,
    ITEM,
    NO_STRENGTH,
    RATER,
    STRENGTH,
    VoteCoder,
    VoteColumns,
    VoteRows,
)
from hearteval.exchange.votes.meanings import OutcomeNames
from hearteval.exchange.votes.winner import LEFT_WON, TIED
from hearteval.notices import Kind, Notice
from hearteval.stats.comparisons import Comparisons
from hearteval.stats.tally import Tally

__all__ = ["OutcomeNames", "VoteColumns", "read_votes"]

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
    coder = VoteCoder(columns, names)
    rows = _count(table, coder, columns)
    outcomes = coder.winner.decide(table, columns.winner)
    rows.columns["outcome"] = outcomes[rows.columns.pop("winner")]
    n_decided = int(rows.count[rows.columns["outcome"] != TIED].sum())
    n_bad = _drop_without_strength(rows, coder)
    if 0 < n_bad == n_decided:
        raise _refuse_strengths(table, columns, coder)
    n_dropped = {**coder.n_dropped, "bad strength": n_bad}
    n_dropped = {reason: n for reason, n in n_dropped.items() if n}
    if not len(rows.count):
        raise _refuse_empty(table, coder.n_rows, n_dropped)
    has_ties = bool((rows.columns["outcome"] == TIED).any())
    warnings = (*table.warnings, *_strength_warnings(n_bad, n_decided, has_ties=has_ties))
    return _build(rows, coder, columns, n_dropped, warnings)


def _count(table: Table, coder: VoteCoder, columns: VoteColumns) -> VoteRows:
    wanted = tuple(dict.fromkeys((*columns.by_role().values(), *columns.covariates)))
    tally = Tally(len(coder.roles))
    for batch in table.batches(wanted):
        rows = coder.code(batch)
        tally.add(*(rows[role] for role in coder.roles))
        coder.items.fold_above(tally, coder.roles, coder.n_rows)
    coded, count = tally.rows()
    return VoteRows(dict(zip(coder.roles, coded, strict=True)), count)


def _drop_without_strength(rows: VoteRows, coder: VoteCoder) -> int:
    """Drop decided votes without a strength; return how many. A tie has none from here on."""
    if STRENGTH not in rows.columns:
        return 0
    strength = rows.columns[STRENGTH]
    strength[rows.columns["outcome"] == TIED] = coder.strengths[1.0]
    is_bad = strength == NO_STRENGTH
    n_bad = int(rows.count[is_bad].sum())
    if n_bad:
        coder.note_lost(rows.columns["left"][is_bad], rows.columns["right"][is_bad])
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


def _refuse_strengths(table: Table, columns: VoteColumns, coder: VoteCoder) -> InvalidVotesError:
    example = "its cells are empty"
    if coder.bad_strength is not None:
        row, text = coder.bad_strength
        example = f"{table.place(row)}: {text[:_SHOWN_TEXT]!r}"
    return InvalidVotesError(
        f"{table.label}, column {columns.strength!r}: no decided vote has a usable strength "
        f"({example}); strengths are finite numbers above 0"
    )


def _refuse_empty(table: Table, n_rows: int, n_dropped: dict[str, int]) -> InvalidVotesError:
    if not n_rows:
        return InvalidVotesError(f"{table.label} holds no votes, only the names of its columns")
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in n_dropped.items())
    return InvalidVotesError(f"{table.label}: none of its {n_rows:,} rows can be used ({reasons})")


def _build(
    rows: VoteRows,
    coder: VoteCoder,
    columns: VoteColumns,
    n_dropped: dict[str, int],
    warnings: tuple[str, ...],
) -> Votes:
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
    n_items = coder.items.n_used if is_folded else len(items)
    lost = sorted({names[code] for code in coder.lost_systems} - set(systems))
    read = (
        *warnings,
        *_warnings(n_items, len(items) if is_folded else None, lost),
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
            *_drop_warnings(n_dropped, coder.n_rows),
            *(Notice(Kind.READING, text) for text in read),
            *(Notice(Kind.LOOK_ALIKES, text) for text in alike),
        ),
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
