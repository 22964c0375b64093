"""One skill or several: what the factors of the axes say, in words, a picture and a table."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from markupsafe import Markup

from hearteval.analysis.coverage.study import BASELINE_FAMILY
from hearteval.analysis.estimates import Estimate
from hearteval.analysis.judges.halo import halo_of_judges
from hearteval.analysis.section import Basis, Figure, Records, Section
from hearteval.domain import Axis, flat_fields
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.plots.style import BLUE, COLOURS, GREY
from hearteval.report.text import (
    NO_VALUE,
    bare_percent,
    fine_interval,
    hundredths,
    listed,
    plural,
    small,
)
from hearteval.sections.factors.measure import (
    FactorResults,
    FitTest,
    analyze_factors,
    score_completions,
    score_rated,
)

WIDTH, HEIGHT = 440, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 16, 14, 40
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
QUOTE = "\N{RIGHT SINGLE QUOTATION MARK}"
HALO_COMMAND = "heart judges halo STUDY.toml"


def answer(found: FactorResults, names: Mapping[Axis, str]) -> Markup:
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
    groups = [f"{listed(axes)} ({name})" for name, axes in _groups(found, names) if axes]
    correlation = hundredths(found.factors[0].phi[found.factors[1].name])
    return Markup(
        "<b>More than one skill.</b> These go together, apart from the others: {}. F1 and F2"
        " correlate {}."
    ).format("; ".join(groups), correlation)


def _groups(found: FactorResults, names: Mapping[Axis, str]) -> list[tuple[str, list[str]]]:
    """Return the axes of each factor, an axis where it loads most."""
    most = {
        axis.axis: max((abs(at), name) for name, at in axis.loadings.items())[1]
        for axis in found.axes
    }
    return [
        (factor.name, [names[axis] for axis, name in most.items() if name == factor.name])
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
    parts.append("The tests take replies of one item as independent, which they are not quite.")
    return " ".join(parts)


def method_words(found: FactorResults) -> str:
    """Say of what the loadings are, and how they were made."""
    how = {"ml": "maximum likelihood", "minres": "minimum residuals"}.get(found.method or "", "")
    turned = "; oblimin: factors may correlate" if found.rotation else ""
    left_out = (
        f"; {plural(found.n_incomplete, 'reply')} without every axis left out"
        if found.n_incomplete
        else ""
    )
    return (
        f"{plural(found.n_completions, 'reply')} on {plural(found.n_items, 'item')}, by"
        f" {listed(found.raters)}{left_out}. {how[:1].upper()}{how[1:]}{turned}."
    )


def wins_words(estimate: Estimate | None) -> str:
    """Return a correlation with its interval."""
    return NO_VALUE if estimate is None else _estimate(estimate)


def loading_scale(found: FactorResults) -> Scale:
    """Return a scale of loadings in percent of its column, from 0 or from -1 to 1."""
    is_below = any(value < 0 for axis in found.axes for value in axis.loadings.values())
    return Scale(low=-1.0 if is_below else 0.0, high=1.0, start=3, end=97, ticks=(0.0,))


def scree(found: FactorResults) -> tuple[Scale, Scale]:
    """Return the scales of the picture of eigenvalues: across by factor, and up."""
    rows = found.eigenvalues
    highest = math.ceil(max(max(row.found, row.chance) for row in rows))
    across = Scale(
        low=1,
        high=len(rows),
        start=_LEFT + 14,
        end=WIDTH - _RIGHT - 14,
        ticks=tuple(float(row.number) for row in rows),
    )
    ticks = round_ticks(0.0, highest, n_most=5)
    return across, Scale(low=0, high=highest, start=HEIGHT - _BOTTOM, end=_TOP, ticks=ticks)


def _estimate(estimate: Estimate) -> str:
    return f"{hundredths(estimate.value)} {fine_interval(estimate.low, estimate.high)}"


def _test(test: FitTest) -> str:
    p = "p < .001" if test.p_value < 0.001 else f"p = {small(test.p_value).lstrip('0')}"
    return f"χ²({test.df}) = {test.chi2:.1f}, {p}"


def draw_factors(found: FactorResults, figure: Any) -> None:
    """Draw the eigenvalues beside those of unrelated axes, and the loadings of each axis."""
    values, loadings = figure.subplots(1, 2)
    numbers = [one.number for one in found.eigenvalues]
    values.plot(numbers, [one.found for one in found.eigenvalues], "o-", color=BLUE, label="found")
    values.plot(
        numbers, [one.chance for one in found.eigenvalues], "s--", color=GREY, label="by chance"
    )
    values.set_xticks(numbers)
    values.set_xlabel("factor")
    values.set_ylabel("eigenvalue")
    width = 0.8 / max(len(found.factors), 1)
    for k, factor in enumerate(found.factors):
        shift = (k - (len(found.factors) - 1) / 2) * width
        loadings.bar(
            [place + shift for place in range(len(found.axes))],
            [row.loadings[factor.name] for row in found.axes],
            width=width,
            color=COLOURS[k % len(COLOURS)],
            label=factor.name,
        )
    loadings.axhline(0, color=GREY, linewidth=0.8)
    loadings.set_xticks(range(len(found.axes)), [row.axis for row in found.axes])
    loadings.set_ylabel("loading")
    if len(found.factors) > 1:
        figure.legend(*loadings.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    figure.legend(*values.get_legend_handles_labels(), loc="outside upper left", ncols=2)


class Factors(Section[FactorResults]):
    """Whether the axes are one skill or several."""

    NAME: ClassVar = "factors"
    TITLE: ClassVar = "One skill or several?"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("factors",)
    TABLES: ClassVar = {
        "factor-analysis": "are the axes one skill or several",
        "factor-loadings": "what each axis has in common with the others",
        "factors": "factors, and how they go with wins",
        "eigenvalues": "eigenvalues of the axes, and of unrelated ones",
        "halo": "marks that follow the verdict, by judge and way of asking",
    }
    TERMS: ClassVar = {
        "Factor, loading": "Something that several axes have in common, and how closely an axis"
        " follows it. An eigenvalue says how much of all axes it carries."
        f" Cronbach{QUOTE}s {ALPHA} and McDonald{QUOTE}s ω say how far the sum of the axes measures"
        " one thing."
    }
    FIGURES: ClassVar = (
        Figure(
            "factors",
            "Left: eigenvalues of the axes beside those of unrelated axes. Right: loadings.",
            lambda section: section.found if section.found.factors else None,
            draw_factors,
            lambda _, width: 1 + 0.25 * width,
        ),
    )
    one_reply_words = staticmethod(one_reply_words)
    halo_words = staticmethod(halo_words)
    reliability_words = staticmethod(reliability_words)
    numbers_behind = staticmethod(numbers_behind)
    method_words = staticmethod(method_words)
    wins_words = staticmethod(wins_words)
    loading_scale = staticmethod(loading_scale)
    scree = staticmethod(scree)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Analyze the marks, or the scores where judges rate; None where nobody gave any."""
        data, level, seed = basis.data, basis.level, basis.seed
        if data.targets is not None:
            scores = score_rated(basis.rated) if basis.rated else None
            return cls(analyze_factors(scores, level=level, seed=seed)) if scores else None
        scores = score_completions(basis.columns)
        if scores is None:
            return None
        baseline = {rater.name for rater in data.judges if rater.family == BASELINE_FAMILY}
        halo = halo_of_judges(data, level=level)
        return cls(
            analyze_factors(scores, level=level, seed=seed, axis_by_axis=baseline, halo=halo)
        )

    def line(self) -> Markup:
        """Say in a sentence or two whether it is one skill or several."""
        return answer(self.found, self.axis_names)

    @property
    def terms(self) -> Mapping[str, str]:
        """Its words, unless there is no analysis."""
        return {} if self.found.problem else self.TERMS

    def records(self, table: str) -> Records:
        """Return a row for the analysis, each axis, factor, eigenvalue, or judge and axis."""
        found = self.found
        of_all = {"factor-loadings": found.axes, "factors": found.factors}
        if table == "factor-analysis":
            inside = {"axes", "factors", "eigenvalues", "halo"}
            return [{name: at for name, at in flat_fields(found).items() if name not in inside}]
        if table == "halo":
            return [
                {"judge": one.judge, "n_asked": one.n_asked, **flat_fields(at)}
                for one in found.halo
                for at in (one.overall, *one.axes)
                if at is not None
            ]
        return {**of_all, "eigenvalues": found.eigenvalues}[table]
