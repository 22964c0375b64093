"""Which models were asked and what they cost, as tables and a sentence."""

import json

from hearteval.analysis.calls import Spending
from hearteval.models.prices import money
from hearteval.report.table import Column, Table, counted, tabulate
from hearteval.report.text import listed, plural

MAX_NAMES = 3
LEAST_SHOWN = 0.00005
NOTHING = "\N{EN DASH}"


def models_table(spending: Spending) -> Table:
    """Return a row for each model: what was asked for, how, and what answered."""
    return tabulate(
        spending.models,
        [
            (Column("Model", "name"), lambda use: f"{use.role} {use.name}"),
            (
                Column("Asked for", "text"),
                lambda use: f"{use.model} ({use.route or 'route unknown'})",
            ),
            (Column("Answered as", "text"), lambda use: _names(use.served_as)),
            (Column("Settings used", "text"), lambda use: _names(_in_words(use.settings))),
            (Column("Ends", "text"), lambda use: use.ends or NOTHING),
        ],
    )


def costs_table(spending: Spending) -> Table:
    """Return what each model cost in each step."""
    return tabulate(
        spending.steps,
        [
            (Column("Model", "name"), lambda cost: f"{cost.role} {cost.name}"),
            (Column("Step", "text"), lambda cost: cost.step),
            (Column("Calls"), lambda cost: counted(cost.n_calls)),
            (Column("US dollars"), lambda cost: f"{cost.usd:.4f}"),
        ],
    )


def spending_words(spending: Spending) -> str:
    """Say what all of it cost."""
    words = f"All runs on the store have cost ${money(spending.total_usd)}"
    if spending.other_usd >= LEAST_SHOWN:
        words += (
            f", of it ${money(spending.other_usd)} for calls that left no reply here (cut off,"
            " lost, tests of schemas, times)"
        )
    if spending.in_flight is not None:
        usd = spending.in_flight.usd
        aside = f"at most ${money(usd)} more were set aside for " if usd else ""
        words += (
            f"; {aside}about {plural(spending.in_flight.n_calls, 'call')} in flight when a run was"
            f" killed: perhaps {'billed, and ' if usd else ''}asked again"
        )
    return words


def spending_lines(spending: Spending) -> list[str]:
    """Say of each model what was asked for, what answered and what it cost, a line each."""
    lines = [
        f"{use.role} {use.name}: {use.model} through {use.route or 'an unknown route'}, answered as"
        f" {_names(use.served_as)}, {use.n_calls:,} calls, ${use.usd:.4f}."
        for use in spending.models
    ]
    return [*lines, f"{spending_words(spending)}."] if lines else []


def _in_words(settings: tuple[str, ...]) -> tuple[str, ...]:
    """Write settings, which are JSON, as names and values."""
    return tuple(
        ", ".join(f"{name} {value}" for name, value in json.loads(each).items())
        for each in settings
    )


def _names(names: tuple[str, ...]) -> str:
    more = [f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return listed([*names[:MAX_NAMES], *more]) if names else NOTHING
