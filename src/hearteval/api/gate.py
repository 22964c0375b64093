"""`he.gate`: is a candidate worse than a baseline, better or equivalent, by a table of scores."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from hearteval.analysis.gate import HALF, Gate, GateScores
from hearteval.api.shown import Shown
from hearteval.exchange.arguments import read_integer, read_number
from hearteval.exchange.scores import OVERALL, read_scores
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import Report, report_nothing
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.report.files.gate import gate_display, gate_object
from hearteval.report.table import Display
from hearteval.stats.gate import GateRule, GateTest, judge_gate, look_sizes

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated(Gate, Shown):
    """What a gate comes to; see `hearteval.analysis.gate` for its fields.

    `result` holds what `hearteval.stats.gate` says: verdicts, intervals, power, units wanted. The
    dataframe has a row for each test.
    """

    schema: ClassVar = "heart.gate/1"
    frame: nw.Implementation = field(repr=False)

    @property
    def outcome(self) -> str:
        """Passed, failed or inconclusive."""
        return self.result.outcome

    @property
    def tests(self) -> dict[str, GateTest]:
        """Each test by its name: overall, and the axes."""
        return dict(zip(self.names, self.result.tests, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart gate --json`` prints; `study` is null."""
        return {"schema": self.schema, **gate_object(self)}

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name} {one.verdict}" for name, one in self.tests.items())
        return f"<Gated: {self.outcome}; {verdicts}; print it for the table>"

    def _rows(self) -> Sequence[dict[str, Any]]:
        return [{"name": name, **asdict(one)} for name, one in self.tests.items()]

    def _display(self) -> Display:
        return gate_display(self)


def gate(
    scores: "Source",
    *,
    unit: str,
    score: str,
    axis: str | None = None,
    margin: float = 0.05,
    looks: int = 1,
    look: int | None = None,
    planned: int | None = None,
    seed: int = 0,
    report: Report = report_nothing,
) -> Gated:
    """Say whether a candidate is worse than a baseline, better, equivalent, or whether it is open.

    All rows of a unit and axis are one score: their mean. Units are taken as independent. Whether
    judges went by place cannot be seen here: let each judge both orders, and give both. See
    docs/how-to/gate.md for what the verdicts mean and docs/reference/command-line.md for how they
    come about.

    Args:
        scores: Path of a CSV, JSONL or Parquet file, any dataframe, or a list of dictionaries; a
            row is one comparison of the candidate with the baseline.
        unit: Column of the dialogue, or whatever else was compared on.
        score: Column of what the candidate won: 1 or true, 0 or false, .5 for a tie, or a share.
        axis: Column of what the row is about; "overall" or nothing in it is overall. Without it
            all rows are overall. The power told is that of overall, or of the first axis.
        margin: Largest difference of win rates that is as good as none.
        looks: How many equally spaced looks were planned, 1 to 10.
        look: Which of them this is; the last where it is not said.
        planned: Units that the last look has; those of the table where it is not said.
        seed: Of the random flips that power and false alarms are counted on.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row names no unit, or a score is no number from 0 to 1.
        SettingsError: A column is missing or named twice.
        TypeError: As in `rank`.
        ValueError: A number is out of range, or the table has other than the look's share of units.
    """
    rule = GateRule(margin=read_number("margin", margin), n_looks=read_integer("looks", looks))
    table = open_table(scores, report)
    read = read_scores(table, unit=unit, score=score, axis=axis)
    n = len(read.shares)
    at = rule.n_looks if look is None else read_integer("look", look)
    n_planned = n if planned is None else read_integer("planned", planned)
    if not 1 <= at <= rule.n_looks or n != look_sizes(n_planned, rule.n_looks)[at - 1]:
        raise ValueError(
            f"{n} units are not what look {at} of {rule.n_looks} has, where {n_planned} are planned"
        )
    coverage = tuple((~np.isnan(read.shares)).mean(axis=0).tolist())
    values = read.shares - HALF
    rng = np.random.default_rng(read_integer("seed", seed))
    return Gated(
        study=None,
        baseline="the baseline",
        candidate="the candidate",
        judges=(),
        names=tuple(OVERALL if name is None else name for name in read.axes),
        rule=rule,
        scores=GateScores(
            axes=read.axes,
            scores=values,
            coverage=coverage,
            n_identical=0,
            n_both_orders=0,
            n_by_position=0,
        ),
        result=judge_gate(values, coverage, rule, look=at, n_planned=n_planned, rng=rng),
        is_simulated=table.says_simulated(),
        frame=find_frame_kind(scores),
    )
