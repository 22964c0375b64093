"""How varied texts are, whatever their number and length: what random draws from them would hold.

Both figures are means over all draws of a fixed size, so that a source with more texts, or longer
ones, is not thereby more or less varied. With each comes what each unit (an item) does to it, for
intervals over units; there the draws are taken with replacement.
"""

import numpy as np

from hearteval.stats.comparisons import FloatArray, IntArray


def different_in_draw(
    kind: IntArray, unit: IntArray, n: int, *, n_units: int
) -> tuple[float, FloatArray] | None:
    """Return how many different kinds `n` tokens hold, drawn at random from all; None of fewer.

    Over `n`, with n = 42, it is HD-D of McCarthy and Jarvis (Language Testing 2007, 24, 459-488;
    Behavior Research Methods 2010, 42, 381-392).

    Args:
        kind: Of each token, 0 or more.
        unit: Of each token, 0 or more, under `n_units`.
        n: Tokens drawn.
        n_units: How many units there are; the influence has one row each.
    """
    n_tokens = len(kind)
    if n_tokens < n:
        return None
    counts = np.bincount(kind).astype(np.float64)
    value = float((1 - _chance_of_none(counts, np.full(len(counts), float(n_tokens)), n)).sum())
    shares = counts / n_tokens
    slopes = n * (1 - shares) ** (n - 1)
    each = slopes[kind] - float(shares @ slopes)
    return value, np.bincount(unit, weights=each, minlength=n_units) / n_tokens


def recurring_in_draw(
    feature: IntArray, text: IntArray, unit_of_text: IntArray, n: int, *, n_units: int
) -> tuple[float, FloatArray] | None:
    """Return the share of a text's features that one of `n` texts of other units holds too.

    The mean over units of the mean over their texts with a feature. None where fewer than `n` texts
    stand against some unit, or no text has a feature. Counting sequences of words that recur in a
    system's other texts follows Salkar et al. (AACL 2022); that they count in a draw of fixed size
    is ours.

    Args:
        feature: Of each row: something that a text holds, 0 or more. A row twice counts once.
        text: Of each row, 0 or more: a place in `unit_of_text`.
        unit_of_text: Of each text, 0 or more, under `n_units`.
        n: Texts drawn.
        n_units: How many units there are; the influence has one row each.
    """
    n_texts = len(unit_of_text)
    in_unit = np.bincount(unit_of_text, minlength=n_units).astype(np.float64)
    if not len(feature) or n_texts - in_unit.max() < n:
        return None
    n_features = int(feature.max()) + 1
    text, feature = np.divmod(np.unique(text * n_features + feature), n_features)
    unit = unit_of_text[text]
    cells, cell, held_here = np.unique(
        unit * n_features + feature, return_inverse=True, return_counts=True
    )
    others = n_texts - in_unit[unit]
    k = np.bincount(feature)[feature] - held_here[cell].astype(np.float64)
    found = 1 - _chance_of_none(k, others, n)

    # A row's weight in the mean: among its text's rows, its unit's texts, all units.
    rows_of_text = np.bincount(text, minlength=n_texts)
    texts_of_unit = np.bincount(unit_of_text[rows_of_text > 0], minlength=n_units)
    n_present = int((texts_of_unit > 0).sum())
    weight = 1.0 / (rows_of_text[text] * texts_of_unit[unit] * n_present)
    value = float(weight @ found)
    own = np.bincount(unit, weights=weight * found, minlength=n_units)
    influence = own - value * (texts_of_unit > 0) / n_present

    # What a unit does by standing among the others' texts: its texts less their share, for rows of
    # other units only.
    share = k / others
    slope = weight * n * (1 - share) ** (n - 1) / others
    held_of_cell = held_here.astype(np.float64)
    by_feature = np.bincount(feature, weights=slope)[cells % n_features]
    influence += np.bincount(
        cells // n_features, weights=held_of_cell * by_feature, minlength=n_units
    )
    influence -= in_unit * float(slope @ share)
    mine = slope * (held_of_cell[cell] - share * in_unit[unit])
    return value, influence - np.bincount(unit, weights=mine, minlength=n_units)


def _chance_of_none(k: FloatArray, of: FloatArray, n: int) -> FloatArray:
    """Return the chance that `n` drawn without replacement from `of` hold none of `k`."""
    chance = np.ones(len(k))
    for drawn in range(n):
        chance *= np.maximum(of - k - drawn, 0.0) / (of - drawn)
    return chance
