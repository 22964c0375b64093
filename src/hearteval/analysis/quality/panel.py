"""What a study holds -> `PanelAnswers`: people's answers, as rules over them read these."""

from collections.abc import Mapping

import numpy as np

from hearteval.analysis.columns import SCORES, pair_sides
from hearteval.analysis.coverage.pace import read_in_time
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import JudgmentRow
from hearteval.analysis.quality.rules import PanelAnswers
from hearteval.domain.quality import Counted
from hearteval.stats.comparisons import FloatArray, IntArray

WITHOUT_STRENGTH = 1
"""What a side counts that bears no strength."""


def to_panel(data: StudyData) -> PanelAnswers:
    """Return what people answered, each of their pairs once, in the order of time."""
    people = {one.id: one.name for one in data.raters if one.kind == "human"}
    is_rated = data.targets is not None
    rows = {row.assignment_id: row for row in data.judgments.first_ones.by(people)}
    told = [(one, n_new) for one, n_new in read_in_time(data) if is_rated or one.id in rows]
    names = sorted({one.person for one, _ in told} & {*people.values()})
    number = {name: k for k, name in enumerate(names)}
    pair, item, systems, score, answer = _compared(
        data, [] if is_rated else [rows[one.id] for one, _ in told]
    )
    said = data.quality.reasons
    reasons: dict[str, int] = {}
    seconds = [np.nan if one.seconds is None else one.seconds for one, _ in told]
    return PanelAnswers(
        names=names,
        person=np.array([number[one.person] for one, _ in told], dtype=np.int64),
        pair=pair,
        item=item,
        systems=systems,
        score=score,
        answer=answer,
        seconds=np.array(seconds, dtype=np.float64),
        words=np.array([n_new for _, n_new in told], dtype=np.int64),
        reason=np.array(
            [
                reasons.setdefault(said[one.id], len(reasons)) if one.id in said else -1
                for one, _ in told
            ],
            dtype=np.int64,
        ),
        checks=_by_number(data.quality.checks, number),
        repeats=_by_number(data.quality.repeats, number),
        triads=_by_number(data.quality.triads, number),
        is_rated=is_rated,
    )


def _compared(
    data: StudyData, rows: list[JudgmentRow]
) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
    """Return pair, item, systems, score and answer of judgments."""
    judged = {row.pair_id for row in rows}
    sides = pair_sides(data, data.pairs.named(judged))
    system_of = {one.id: one.system_id for one in data.completions}
    pairs = {id_: k for k, id_ in enumerate(sides)}
    items = {one.id: k for k, one in enumerate(data.items)}
    systems = {one.id: k for k, one in enumerate(data.systems)}
    ends = [[systems[system_of[id_]] for _, id_ in sides[row.pair_id]] for row in rows]
    of_first = np.array([SCORES[row.choice] for row in rows], dtype=np.float64)
    is_one_first = np.array(
        [row.first_completion_id == sides[row.pair_id][0][1] for row in rows], dtype=np.bool_
    )
    strength = np.array([row.strength or WITHOUT_STRENGTH for row in rows], dtype=np.int64)
    side = np.sign(of_first - 0.5).astype(np.int64)
    return (
        np.array([pairs[row.pair_id] for row in rows], dtype=np.int64),
        np.array([items[row.item_id] for row in rows], dtype=np.int64),
        np.array(ends, dtype=np.int64).reshape(len(rows), 2),
        np.where(is_one_first, of_first, 1 - of_first),
        side * strength,
    )


def _by_number(counted: Mapping[str, Counted], number: Mapping[str, int]) -> dict[int, Counted]:
    return {number[name]: one for name, one in counted.items() if name in number}
