"""One skill or several: what the factors of the axes say, in words, a picture and a table."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.factors import FactorResults, FitTest
from hearteval.analysis.judges.halo import AxisHalo
from hearteval.report.axes import AXIS_NAMES
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    fine_interval,
    hundredths,
    listed,
    plural,
    points,
    small,
)

WIDTH, HEIGHT = 440, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 16, 14, 40
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
HALO_COMMAND = "heart judges halo STUDY.toml"

Place = tuple[float, float]


class Scree(NamedTuple):
    """Eigenvalues and what chance gives, as places on a picture."""

    across: Scale
    up: Scale
    found: tuple[Place, ...]
    chance: tuple[Place, ...]
    description: str


def answer(found: FactorResults) -> Markup:
    """Say in a sentence or two whether it is one skill or several."""
    if found.problem is not None:
        return Markup("<b>Not analysed:</b> {}.").format(found.problem)
    said = "ratings" if found.source == "ratings" else "marks"
    n_axes = NUMBERS.get(len(found.axes), str(len(found.axes)))
    if not found.n_factors:
        return Markup(
            "<b>Nothing in common shows.</b> The {} on the {} axes go together no more than those"
            " on unrelated axes would by chance."
        ).format(said, n_axes)
    if found.n_factors == 1:
        share = bare_percent(found.factors[0].share)
        return Markup(
            "<b>One skill, as far as these {} tell.</b> A reply that is better than others on one"
            " axis is better on the rest: one common factor explains {} % of how replies differ on"
            " the {} axes."
        ).format(said, share, n_axes)
    groups = [f"{listed(axes)} ({name})" for name, axes in _groups(found) if axes]
    correlation = hundredths(found.factors[0].phi[found.factors[1].name])
    return Markup(
        "<b>More than one skill.</b> These go together, apart from the others: {}. F1 and F2"
        " correlate {}."
    ).format("; ".join(groups), correlation)


def _groups(found: FactorResults) -> list[tuple[str, list[str]]]:
    """Return the axes of each factor, an axis where it loads most."""
    most = {
        axis.axis: max((abs(at), name) for name, at in axis.loadings.items())[1]
        for axis in found.axes
    }
    return [
        (factor.name, [AXIS_NAMES[axis] for axis, name in most.items() if name == factor.name])
        for factor in found.factors
    ]


def one_reply_words(found: FactorResults) -> Markup | None:
    """Say that one reply on all axes makes one factor, where no ablation says how much."""
    if found.halo or not found.one_reply or found.problem is not None:
        return None
    who = listed(found.one_reply)
    said = "scores" if found.source == "ratings" else "marks"
    words = Markup(
        "<b>One reply, one impression?</b> What stands here are {} that {} gave on all axes at"
        " once. One overall impression can colour them all, and makes one factor even of several"
        " skills."
    ).format(said, who)
    if found.source == "ratings" or found.one_reply == ("people",):
        return words
    return words + Markup(" <code>{}</code> asks about each axis alone and says how much.").format(
        HALO_COMMAND
    )


def halo_words(found: FactorResults) -> str | None:
    """Say which judges let their verdict colour the axes; None where none was asked."""
    told = [(one.judge, one.overall) for one in found.halo if one.overall is not None]
    if not told:
        return None
    coloured = [name for name, at in told if at.low > 0]
    if not coloured:
        return (
            "No judge was seen to let its verdict colour the axes: marks follow it as often where"
            " each axis is asked alone."
        )
    return (
        f"{listed(coloured)} let the verdict colour the axes: marks follow it more often where all"
        " are asked in one reply. That much of what the axes share may be the judge's, not the"
        " replies'."
    )


def halo_rows(found: FactorResults) -> list[tuple[str, AxisHalo, str]]:
    """Return each judge, its halo over all axes, and that in points with its interval."""
    return [
        (
            one.judge,
            one.overall,
            f"{points(one.overall.halo)} [{points(one.overall.low)}, {points(one.overall.high)}]",
        )
        for one in found.halo
        if one.overall is not None
    ]


def reliability_words(found: FactorResults) -> str:
    """Return alpha and omega with what they mean."""
    assert found.alpha is not None
    omega = "" if found.omega is None else f", McDonald's ω {hundredths(found.omega)}"
    return (
        f"Cronbach's {ALPHA} {_estimate(found.alpha)}{omega}: how far the sum of the axes measures"
        " one thing, 1 being wholly."
    )


def numbers_behind(found: FactorResults) -> str:
    """Return the tests behind the answer, for those who ask for them."""
    parts = [f"Kaiser's sampling adequacy {hundredths(found.adequacy or 0)} (.5: nothing shared)."]
    if found.sphericity:
        parts.append(f"Bartlett's test that no two axes correlate: {_test(found.sphericity)}.")
    if found.fit:
        many = plural(found.n_factors, "factor")
        is_one = "is" if found.n_factors == 1 else "are"
        parts.append(f"Test that {many} {is_one} enough: {_test(found.fit)}.")
    if found.reason:
        parts.append(f"{found.reason[0].upper()}{found.reason[1:]}.")
    parts.append("The tests take completions of one item as independent, which they are not quite.")
    return " ".join(parts)


def method_words(found: FactorResults) -> str:
    """Say of what the loadings are, and how they were made."""
    how = {"ml": "maximum likelihood", "minres": "minimum residuals"}.get(found.method or "", "")
    turned = "; oblimin: factors may correlate" if found.rotation else ""
    left_out = (
        f"; {plural(found.n_incomplete, 'completion')} without every axis left out"
        if found.n_incomplete
        else ""
    )
    return (
        f"{plural(found.n_completions, 'completion')} on {plural(found.n_items, 'item')}, by"
        f" {listed(found.raters)}{left_out}. {how[:1].upper()}{how[1:]}{turned}."
    )


def wins_words(estimate: Estimate | None) -> str:
    """Return a correlation with its interval."""
    return NO_VALUE if estimate is None else _estimate(estimate)


def loading_scale(found: FactorResults) -> Scale:
    """Return a scale of loadings in percent of its column, from 0 or from -1 to 1."""
    is_below = any(value < 0 for axis in found.axes for value in axis.loadings.values())
    return Scale(low=-1.0 if is_below else 0.0, high=1.0, start=3, end=97, ticks=(0.0,))


def scree(found: FactorResults) -> Scree:
    """Return the eigenvalues as a picture: those found, and what unrelated axes would give."""
    rows = found.eigenvalues
    highest = math.ceil(max(max(row.found, row.chance) for row in rows))
    ticks = round_ticks(0.0, highest, n_most=5)
    across = Scale(
        low=1,
        high=len(rows),
        start=_LEFT + 14,
        end=WIDTH - _RIGHT - 14,
        ticks=tuple(float(row.number) for row in rows),
    )
    up = Scale(low=0, high=highest, start=HEIGHT - _BOTTOM, end=_TOP, ticks=ticks)
    return Scree(
        across=across,
        up=up,
        found=tuple((across.place(row.number), up.place(row.found)) for row in rows),
        chance=tuple((across.place(row.number), up.place(row.chance)) for row in rows),
        description="; ".join(
            f"{row.number}: {hundredths(row.found)}, by chance {hundredths(row.chance)}"
            for row in rows
        ),
    )


def line(places: Sequence[Place]) -> str:
    """Return places as the points of an SVG line."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _estimate(estimate: Estimate) -> str:
    return f"{hundredths(estimate.value)} {fine_interval(estimate.low, estimate.high)}"


def _test(test: FitTest) -> str:
    p = "p < .001" if test.p_value < 0.001 else f"p = {small(test.p_value).lstrip('0')}"
    return f"χ²({test.df}) = {test.chi2:.1f}, {p}"
