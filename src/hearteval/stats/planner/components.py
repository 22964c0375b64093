"""Variance components of comparisons, from votes that items, raters and writers share.

The model is that of `hearteval.stats.planner.design`. Each component has a quadratic form, the
squared sums of residuals over what shares it; what it tends to is known, so that the components
solve linear equations (Henderson 1953, crossed moments; no distribution is assumed). How far they
are open is drawn: normal effects of the estimated size, on the same design.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats import MAP, one_blas_thread
from hearteval.stats.comparisons import (
    BoolArray,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
)
from hearteval.stats.planner.design import EVEN_SLOPE, Components

N_DRAWS: Final = 200
"""Of components as they may well be: a share of draws has a standard error of .035 at most."""
LEAST_REST: Final = 1e-6
MOST_ALIKE: Final = 1e4
"""Condition of the equations, each component in its own unit, beyond which they tell nothing."""
LEAST_SLOPE: Final = 0.05
_BLOCK_NUMBERS: Final = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredComponents:
    """Components as votes tell them.

    Attributes:
        components: Estimates, none below 0.
        draws: Components as they may well be.
        n_votes: Both orders and repeats of a rater on a pair are one.
        n_writers: People whose completions were judged, 0 where they are not told apart.
        unevenness: Of raters' loads, as a `Design` has it.
    """

    components: Components
    draws: tuple[Components, ...]
    n_votes: int
    n_items: int
    n_raters: int
    n_writers: int
    unevenness: float


def measure_components(
    votes: Comparisons, *, written: BoolArray | None = None, rng: np.random.Generator
) -> MeasuredComponents:
    """Measure variance components; weights are not used. Of a single rater none is known.

    Args:
        votes: Of raters that are all named; with writers where people wrote.
        written: Whether people wrote the completions of each system, (systems,).
        rng: Draws what the components may well be.

    Raises:
        NotIdentifiedError: The votes do not tell items, raters and chance apart, or in none of them
            does a system fare otherwise than in all.
    """
    cells = _merge(votes)
    systems = _signed(cells, np.zeros_like(cells.item))
    has_raters = bool(cells.rater.any())
    effects = [_of_completions(cells, written)]
    effects += [_signed(cells, cells.rater)] if has_raters else []
    n_writers = len(np.unique(cells.writer[cells.writer >= 0]))
    has_writers = written is not None and n_writers > 1
    if written is not None and has_writers:
        effects.append(_of_writers(cells, written))
    with one_blas_thread():
        equations = _equations(effects, systems)
        squares = equations.squares(cells.score - 0.5)
        if squares[-1, 0] < LEAST_REST:
            raise NotIdentifiedError("these votes all say the same, so that nothing seems to vary")
        found = np.maximum(equations.solve(squares), 0.0)
        found[-1] = max(found[-1], LEAST_REST)
        # The forms of other data of this size, turned round: where they vary by a factor, so may
        # what stands behind ours (generalized pivotal quantities, Weerahandi 1993).
        likely = squares * (equations.tend @ found) / equations.draw(found, rng)
        drawn = np.maximum(equations.solve(likely), 0.0)
    drawn[-1] = np.maximum(drawn[-1], LEAST_REST)
    fitted = 0.5 + systems @ (equations.inverse @ (systems.T @ (cells.score - 0.5)))
    slope = float(np.clip((fitted * (1 - fitted)).mean(), LEAST_SLOPE, EVEN_SLOPE))
    given = np.flatnonzero([True, has_raters, has_writers, True])
    every = np.zeros((4, 1 + N_DRAWS))
    every[given] = np.concatenate((found, drawn), axis=1)
    parts = [
        Components(item=item, rater=rater, writer=writer, rest=rest, slope=slope)
        for item, rater, writer, rest in every.T.tolist()
    ]
    return MeasuredComponents(
        components=parts[0],
        draws=tuple(parts[1:]),
        n_votes=len(cells.item),
        n_items=len(np.unique(cells.item)),
        n_raters=len(np.unique(cells.rater)),
        n_writers=n_writers if has_writers else 0,
        unevenness=_unevenness(cells.rater),
    )


def _unevenness(rater: IntArray) -> float:
    """Return R sum n (n - 1) / (N (N - 1)), n what each did; 1 if only chance sets them apart."""
    n = np.bincount(rater).astype(np.float64)
    pairs = float((n * (n - 1)).sum())
    return max(1.0, len(n) * pairs / max(1.0, float(n.sum() * (n.sum() - 1))))


class _Cells(NamedTuple):
    """What one rater said of one pair, a row each; a score is the lower system's."""

    low: IntArray
    high: IntArray
    item: IntArray
    rater: IntArray
    writer: IntArray
    score: FloatArray
    n_systems: int


def _merge(votes: Comparisons) -> _Cells:
    low, high, score = order_pairs(votes)
    writer = np.full_like(low, -1) if votes.writer is None else votes.writer
    keys = np.stack((votes.item, votes.rater, low, high, writer), axis=1)
    cells, place = np.unique(keys, axis=0, return_inverse=True)
    n = np.bincount(place.ravel(), weights=votes.count)
    won = np.bincount(place.ravel(), weights=votes.count * score)
    return _Cells(
        low=cells[:, 2],
        high=cells[:, 3],
        item=number_labels(cells[:, 0])[0],
        rater=number_labels(cells[:, 1])[0],
        writer=cells[:, 4],
        score=won / n,
        n_systems=votes.n_systems,
    )


def _signed(cells: _Cells, label: IntArray) -> Any:
    """Return the sparse matrix of effects of each label on each system: plus low, minus high."""
    rows, n = np.arange(len(label)), cells.n_systems
    values = np.repeat([1.0, -1.0], len(label))
    columns = np.concatenate((label * n + cells.low, label * n + cells.high))
    shape = (len(label), (int(label.max()) + 1) * n)
    return scipy.sparse.csr_array((values, (np.concatenate((rows, rows)), columns)), shape)


def _of_completions(cells: _Cells, written: BoolArray | None) -> Any:
    """Return the effects of completions: several people's of one item are not one."""
    rows, n = np.arange(len(cells.item)), cells.n_systems
    by_people = np.zeros(n, dtype=bool) if written is None else written
    keys = [
        np.stack((cells.item, side, np.where(by_people[side], cells.writer, -1)), axis=1)
        for side in (cells.low, cells.high)
    ]
    found, column = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    values = np.repeat([1.0, -1.0], len(rows))
    columns = (np.concatenate((rows, rows)), column.ravel())
    return scipy.sparse.csr_array((values, columns), (len(rows), len(found)))


def _of_writers(cells: _Cells, written: BoolArray) -> Any:
    rows = np.flatnonzero((cells.writer >= 0) & (written[cells.low] != written[cells.high]))
    values = np.where(written[cells.low[rows]], 1.0, -1.0)
    shape = (len(cells.item), int(cells.writer.max()) + 1)
    return scipy.sparse.csr_array((values, (rows, cells.writer[rows])), shape)


class _Equations(NamedTuple):
    """Forms |Z' M y|² of each component, M taking the fitted strengths out of y; the last is y."""

    effects: Sequence[Any]
    """Z of each component but the rest, (votes, any), sparse."""
    systems: Any
    """X, (votes, systems)."""
    inverse: FloatArray
    """Of X'X."""
    tend: FloatArray
    """What the forms tend to, a row each, by component."""

    def squares(self, scores: FloatArray) -> FloatArray:
        """Return the forms of scores (votes, any), (components, any)."""
        y = scores.reshape(len(scores), -1)
        left = y - self.systems @ (self.inverse @ (self.systems.T @ y))
        return np.stack(
            [*(((z.T @ left) ** 2).sum(axis=0) for z in self.effects), (left**2).sum(0)]
        )

    def solve(self, squares: FloatArray) -> FloatArray:
        """Return the components for which the forms tend to these."""
        return np.asarray(np.linalg.solve(self.tend, squares))

    def draw(self, components: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the forms of `N_DRAWS` data sets with normal effects."""
        sd = np.sqrt(components[:, 0])
        most = max(1, _BLOCK_NUMBERS // self.systems.shape[0])
        sizes = [min(most, N_DRAWS - start) for start in range(0, N_DRAWS, most)]
        rngs = rng.spawn(len(sizes)) if len(sizes) > 1 else [rng]
        tasks = zip(sizes, rngs, strict=True)
        return np.concatenate([*MAP.get()(partial(self._draw, sd), tasks)], axis=1)

    def _draw(self, sd: FloatArray, task: tuple[int, np.random.Generator]) -> FloatArray:
        """Return the forms of so many of them."""
        size, rng = task
        y = sd[-1] * rng.standard_normal((self.systems.shape[0], size))
        for z, of_effect in zip(self.effects, sd, strict=False):
            y += z @ (of_effect * rng.standard_normal((z.shape[1], size)))
        with one_blas_thread():
            return self.squares(y)


def _equations(effects: Sequence[Any], systems: Any) -> _Equations:
    """Return the equations: form k tends to the sum over j of |Z_k' M Z_j|² times component j."""
    n = systems.shape[0]
    met = (systems.T @ systems).toarray()
    inverse = np.linalg.pinv(met, hermitian=True)
    every = [*effects, scipy.sparse.eye_array(n, format="csr")]
    fitted = [(z.T @ systems).toarray() for z in every]
    tend = np.empty((len(every), len(every)))
    for k, z in enumerate(every):
        for j, other in enumerate(every[: k + 1]):
            shared = z.T @ other
            crossed = fitted[k].T @ (shared @ fitted[j])
            of_both = inverse @ (fitted[j].T @ fitted[j]) @ inverse @ (fitted[k].T @ fitted[k])
            size = (shared.data**2).sum() - 2 * (inverse * crossed).sum() + np.trace(of_both)
            tend[k, j] = tend[j, k] = size
    unit = np.sqrt(np.diag(tend))
    if not unit.all() or np.linalg.cond(tend / np.outer(unit, unit)) > MOST_ALIKE:
        raise NotIdentifiedError(
            "these votes do not tell apart what items, people and chance add: it takes items on"
            " which two people or more judged, and people who judged several items"
        )
    return _Equations(effects, systems, inverse, tend)
