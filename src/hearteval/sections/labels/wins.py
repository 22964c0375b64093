"""Do replies that do something win more often? Labels tied to wins, net of length and position.

Of the comparisons whose two replies are both labelled, each category enters as a difference (in
the one, in both or neither, in the other), all of them together with length, position and the
strengths of the systems: so a category that only strong systems use explains nothing by that. It is
no experiment: what goes together with a category in a reply is not held equal. Exploratory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hearteval.analysis.agreement.pair_votes import PairVotes
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.labels.agreement import Marks
from hearteval.analysis.ranking.checks.adjusted import (
    NOT_DETERMINED,
    TWICE_AS_MUCH,
    control_determined,
    find_tests,
)
from hearteval.analysis.words import count_words
from hearteval.errors import NotIdentifiedError
from hearteval.sections.people.judges.disagreements import (
    TraitOfChoice,
    compare_traits,
    find_opposed,
)
from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.comparisons import Comparisons, FloatArray, number_labels

LENGTH, POSITION = "length", "position"


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryWins:
    """What one category does to who wins, all others, length, position and systems held equal.

    Attributes:
        win_rate: Share that a reply with it wins against its equal without; one half is no effect.
        beta: The same in log odds.
        q: Benjamini-Hochberg over the categories of one kind of rater.
        n_apart: Comparisons of which one reply has it and the other not.
    """

    category: str
    name: str
    win_rate: float
    low: float | None
    high: float | None
    beta: float
    p: float | None
    q: float | None
    n_apart: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelWins:
    """What the categories of a taxonomy do to who wins, by one labeler and one kind of rater.

    Attributes:
        left_out: Categories without a figure, with the reason.
        problem: Why there is no figure at all, else None.
    """

    judged_by: Literal["people", "judges"]
    n_comparisons: int
    n_items: int
    interval_used: str | None
    categories: tuple[CategoryWins, ...]
    left_out: Mapping[str, str]
    problem: str | None


def wins_of_labels(
    marks: Marks, names: Mapping[str, str], columns: JudgmentColumns, *, level: float
) -> tuple[LabelWins, ...]:
    """Return what labels do to wins, by people and by judges; empty where nothing is compared."""
    texts = columns.names.completions
    known = {id_: k for k, id_ in enumerate(marks.ids)}
    row_of = np.array([known.get(text.id, -1) for text in texts], dtype=np.int64)
    if not len(columns) or not len(texts):
        return ()
    is_both = (row_of[columns.first_text] >= 0) & (row_of[columns.second_text] >= 0)
    words = np.array([count_words(text.text) for text in texts], dtype=np.float64)
    found = []
    for judged_by, is_person in (("people", True), ("judges", False)):
        rows = columns.select(is_both & (columns.is_person == is_person))
        if len(rows):
            kind: Literal["people", "judges"] = "people" if judged_by == "people" else "judges"
            found.append(_measure(kind, rows, marks, names, row_of, words, level))
    return tuple(found)


def opposed_by_label(marks: Marks, votes: PairVotes, *, level: float) -> tuple[TraitOfChoice, ...]:
    """Compare what judges chose with what people chose, where their majorities are opposed.

    Traits are the keys of the categories, 1 where one is present. Pairs without labels of both
    replies are left out; empty without a pair.
    """
    found = find_opposed(votes)
    if found is None or not len(found.pairs):
        return ()
    known = {id_: k for k, id_ in enumerate(marks.ids)}
    row_of = np.array([known.get(text.id, -1) for text in votes.names.completions], dtype=np.int64)
    mine, theirs = row_of[found.of_judges], row_of[found.of_people]
    is_both = (mine >= 0) & (theirs >= 0)
    if not is_both.any():
        return ()
    return compare_traits(
        marks.categories,
        marks.present[mine[is_both]],
        marks.present[theirs[is_both]],
        votes.item[found.pairs][is_both],
        level=level,
    )


def _measure(  # noqa: PLR0913, PLR0917 - what is known of texts, by their places
    judged_by: Literal["people", "judges"],
    rows: JudgmentColumns,
    marks: Marks,
    names: Mapping[str, str],
    row_of: np.ndarray[tuple[int], np.dtype[np.int64]],
    words: FloatArray,
    level: float,
) -> LabelWins:
    # Judges are a fixed panel: what they say alike of one pair in one order is one row.
    shown = rows.first_text * len(row_of) + rows.second_text
    said = np.rint(2 * rows.score).astype(np.int64)
    keys = (3 * shown + said) * (len(rows.names.raters) + 1) + rows.sampled_rater + 1
    _, place, counts = np.unique(keys, return_index=True, return_counts=True)
    first, second, item = rows.first_text[place], rows.second_text[place], rows.item[place]
    left, right = rows.first[place], rows.second[place]
    systems, n_systems = number_labels(np.concatenate((left, right)))
    comparisons = Comparisons(
        left=systems[: len(left)],
        right=systems[len(left) :],
        score=rows.score[place],
        weight=np.ones(len(left)),
        count=counts,
        item=item,
        rater=rows.sampled_rater[place],
        n_systems=n_systems,
    )
    apart = marks.present[row_of[first]] - marks.present[row_of[second]]
    values = {key: apart[:, k] for k, key in enumerate(marks.categories) if apart[:, k].any()}
    left_out = {
        key: "no two replies that were compared differ in it"
        for key in marks.categories
        if key not in values
    }
    n_apart = {key: int(counts[column != 0].sum()) for key, column in values.items()}
    lengths = relative_difference(words[first], words[second])
    controls = {LENGTH: lengths} if lengths.any() else {}
    steps = dict.fromkeys(values, 1.0) | {LENGTH: TWICE_AS_MUCH, POSITION: 1.0}
    held, problem = None, None
    try:
        held, undetermined = control_determined(
            comparisons,
            {**values, **controls, POSITION: np.ones(len(left))},
            [rows.names.systems[k].name for k in np.unique(np.concatenate((left, right)))],
            steps=steps,
            level=level,
        )
        left_out |= {name: NOT_DETERMINED for name in undetermined if name in values}
    except NotIdentifiedError as error:
        problem = str(error)
    effects = [one for one in held.effects if one.covariate in values] if held else []
    tests = {one.covariate: one for one in (find_tests(effects, level=level) if held else ())}
    return LabelWins(
        judged_by=judged_by,
        n_comparisons=int(counts.sum()),
        n_items=len(np.unique(item)),
        interval_used=held.interval_used if held else None,
        categories=tuple(
            CategoryWins(
                category=one.covariate,
                name=names[one.covariate],
                win_rate=one.win_rate,
                low=one.win_rate_low,
                high=one.win_rate_high,
                beta=one.beta,
                p=tests[one.covariate].p if one.covariate in tests else None,
                q=tests[one.covariate].q if one.covariate in tests else None,
                n_apart=n_apart[one.covariate],
            )
            for one in effects
        ),
        left_out=left_out,
        problem=problem,
    )
