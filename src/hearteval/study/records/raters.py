"""Rows of a table -> people who judged or wrote elsewhere, with their groups."""

from hearteval.domain import Rater
from hearteval.exchange.records.reading import Faults, RecordTable
from hearteval.study.records.known import GONE, Found, Known, Raters


def read_raters(table: RecordTable, known: Known) -> Found:
    """Return what a table of raters adds to a study; judges stand in its file and are checked.

    Raises:
        SettingsError: Rows cannot be taken; it lists them.
    """
    found, faults = Found(), Faults(table)
    raters, pools = Raters(known, table, found, faults), table.column("pool")
    seen: dict[str, Rater] = {}
    for row in range(table.n_rows):
        rater = raters.find(row)
        if rater is None:
            continue
        found.by["rater"][rater.name] += 1
        if rater.kind == "llm" or rater.name in known.raters or rater.name in seen:
            found.n_there += 1
            continue
        if known.is_gone(rater.name):
            found.left_out[GONE] += 1
            continue
        made = Rater(
            name=rater.name, kind="human", family="human", pool=pools[row], group=rater.group
        )
        seen[rater.name] = made
        found.records.append(made)
        found.n_new += 1
        found.show(
            row, {"rater": f"{made.name} (a person)", "group": made.group, "pool": made.pool}
        )
    faults.raise_if_any()
    return found
