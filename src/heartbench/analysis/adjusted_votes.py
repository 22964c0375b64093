"""A table of votes -> controlled or judge-aware ratings, with what they were made from.

The ratings are those of `heartbench.analysis.controlled`; here stands which votes went in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from heartbench.analysis.controlled import (
    TWICE_AS_MUCH,
    ControlledRatings,
    JudgeAwareRatings,
    control,
    rate_judge_aware,
)
from heartbench.analysis.votes import Votes
from heartbench.errors import SettingsError
from heartbench.stats.comparisons import FloatArray
from heartbench.stats.covariates import relative_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedSettings:
    """How adjusted ratings were made.

    Attributes:
        level: Nominal coverage.
        columns: Column by role.
        controls: Columns of each control for the left and for the right answer; none where judges
            are modelled.
        position: Whether being on the left is controlled for.
        n_items: Items.
        n_raters: Raters or judges; None where votes name none.
    """

    level: float
    columns: Mapping[str, str]
    controls: Mapping[str, tuple[str, str]]
    position: bool
    n_items: int
    n_raters: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledVotes(ControlledRatings):
    """Controlled ratings of a table of votes.

    Attributes:
        n_votes: Votes used.
        n_ties: Ties among them.
        n_dropped: Votes left out, by reason.
        settings: How the ratings were made.
    """

    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    settings: AdjustedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVotes(JudgeAwareRatings):
    """Judge-aware ratings of a table of votes.

    Attributes:
        n_votes: Votes used.
        n_ties: Ties among them.
        n_dropped: Votes left out, by reason.
        settings: How the ratings were made.
    """

    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    settings: AdjustedSettings


def control_votes(
    votes: Votes,
    controls: Mapping[str, tuple[str, str]],
    *,
    position: bool,
    level: float,
    columns: Mapping[str, str],
) -> ControlledVotes:
    """Rate with controls held equal, each as (left - right) / (left + right).

    Args:
        votes: Votes with items, and as covariates the columns of the controls, each once, in the
            order in which the controls first name them.
        controls: Columns of a control for the left and for the right answer, by its name.
        position: Whether to control for being on the left.
        level: Nominal coverage.
        columns: Column by role, to be shown.

    Raises:
        NotIdentifiedError: Strengths or effects are not determined; it names them.
        SettingsError: A control is below 0 somewhere.
    """
    ends = tuple(dict.fromkeys(column for pair in controls.values() for column in pair))
    of_column = dict(zip(ends, votes.covariates.T, strict=True))
    _check_counts(of_column)
    comparisons = votes.comparisons
    if votes.raters is None:
        comparisons = replace(comparisons, rater=np.full(len(comparisons), -1))
    covariates = [relative_difference(of_column[a], of_column[b]) for a, b in controls.values()]
    by_position = [np.ones(len(comparisons))] * position
    ratings = control(
        comparisons,
        np.column_stack([*covariates, *by_position]),
        names=votes.systems,
        covariate_names=(*controls, *["position"] * position),
        steps=(*[TWICE_AS_MUCH] * len(controls), *[1.0] * position),
        level=level,
    )
    return ControlledVotes(
        **_fields(ratings, votes),
        settings=_settings(votes, level, columns, controls, position=position),
    )


def rate_votes_of_judges(votes: Votes, *, level: float, columns: Mapping[str, str]) -> JudgedVotes:
    """Rate by a panel whose judges differ in discrimination and position bias.

    Args:
        votes: Votes with items and, as raters, judges.
        level: Nominal coverage.
        columns: Column by role, to be shown.

    Raises:
        NotIdentifiedError: Strengths or a judge's parameters are not determined; it names them.
    """
    ratings = rate_judge_aware(
        votes.comparisons, names=votes.systems, judges=votes.raters or (), level=level
    )
    return JudgedVotes(
        **_fields(ratings, votes), settings=_settings(votes, level, columns, {}, position=True)
    )


def _check_counts(of_column: Mapping[str, FloatArray]) -> None:
    for column, values in of_column.items():
        if (values < 0).any():
            raise SettingsError(
                f"the control column {column!r} holds {values.min():g}; controls are lengths or"
                " counts of 0 or more, compared as (left - right) / (left + right)",
                ids=[column],
            )


def _fields(ratings: ControlledRatings | JudgeAwareRatings, votes: Votes) -> dict[str, Any]:
    """Return what the result has beside its settings; warnings of the reading come first."""
    found = {each.name: getattr(ratings, each.name) for each in fields(ratings)}
    counts = {"n_votes": votes.n_votes, "n_ties": votes.n_ties, "n_dropped": votes.n_dropped}
    return {**found, **counts, "warnings": (*votes.warnings, *ratings.warnings)}


def _settings(
    votes: Votes,
    level: float,
    columns: Mapping[str, str],
    controls: Mapping[str, tuple[str, str]],
    *,
    position: bool,
) -> AdjustedSettings:
    return AdjustedSettings(
        level=level,
        columns=columns,
        controls=controls,
        position=position,
        n_items=votes.n_items or 0,
        n_raters=votes.n_raters,
    )
