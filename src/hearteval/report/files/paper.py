"""The paper's numbers against each other, and a study beside them, in words and as tables."""

from collections.abc import Sequence

from hearteval.analysis.ranking.checks.paper import BesidePaper, Claim, PaperCheck
from hearteval.report.files.published import self_check_display
from hearteval.report.table import Column, Display, tabulate
from hearteval.report.text import bare_percent, interval, plural, whole

NAME_WIDTH = 30
OTHERS = (
    "These are other dialogues, other raters and another day: where the two differ, neither is"
    " wrong for that. Elo has its mean at 1500 over each table's own systems."
)


def paper_display(found: PaperCheck) -> Display:
    """Say which of the paper's numbers follow from the others that it prints."""
    bad = [one for one in found.claims if not one.agrees]
    n = len(found.claims)
    head = (
        f"{plural(n, 'printed number')} can be computed again from others that the paper prints:"
        f" {n - len(bad)} agree, {len(bad)} do not. Votes were not published, so the rest cannot be"
        " checked by anybody."
    )
    table = tabulate(
        found.claims,
        [
            (Column("printed number", "name", max_width=44), lambda one: one.what),
            (Column("where", "text"), lambda one: one.where),
            ("paper", lambda one: _number(one, one.printed)),
            ("computed", lambda one: _number(one, one.found)),
            (Column("agrees", "text"), lambda one: "yes" if one.agrees else "no"),
        ],
    )
    words = [f"{one.what}: computed {one.words}." for one in bad]
    left = [f"Not to be computed again: {'; '.join(found.not_computed)}."]
    board = self_check_display(found.leaderboard)
    return Display(
        (
            (head,),
            table,
            (*words, *left),
            ("Figure 4, Elo against win rates:",),
            *board.parts,
            (f"Source: {found.source}, retyped.",),
        )
    )


def beside_display(rows: Sequence[BesidePaper], study: str) -> Display:
    """Show a study's systems beside the paper's rows of the same names."""
    if not rows:
        return Display(((f"No system of {study} bears a name of the paper's table.",),))
    table = tabulate(
        rows,
        [
            (Column("system", "name", max_width=NAME_WIDTH), lambda one: one.system),
            ("paper", lambda one: whole(one.paper_elo)),
            ("here", lambda one: whole(one.elo)),
            (Column("95 %", "text"), lambda one: interval(one.low, one.high)),
            ("paper %", lambda one: bare_percent(one.paper_win_rate)),
            ("here %", lambda one: bare_percent(one.win_rate)),
        ],
        notes=[OTHERS],
    )
    return Display(((f"{plural(len(rows), 'system')} of {study} beside the paper's:",), table))


def _number(claim: Claim, value: float) -> str:
    return f"{value:,.{claim.places}f}"
