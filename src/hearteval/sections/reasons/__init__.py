"""What raters say they choose by, on the page: the answer, and people beside judges."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from markupsafe import Markup

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels import RATIONALES
from hearteval.analysis.section import Basis, Figure, Records, Section
from hearteval.domain import flat_fields
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.report.figures import Scale, scale_around
from hearteval.report.page.links import item_page
from hearteval.report.plots.style import BLUE, ORANGE, draw_forest, rows_height
from hearteval.report.text import (
    FEWEST_ITEMS,
    NO_VALUE,
    count,
    fine_interval,
    hundredths,
    interval,
    listed,
    percent,
    plural,
    points,
    signed_hundredths,
    whole_percent,
)
from hearteval.sections.labels.plot import by_whom, percents
from hearteval.sections.labels.words import FOUND, KINDS, labeler_notes
from hearteval.sections.reasons.effects import ThemeEffects
from hearteval.sections.reasons.measure import (
    RationaleResults,
    RationaleSource,
    ThemeExample,
    ThemeRate,
    analyze_rationales,
)

MOST_ROWS = 8
"""Themes on the page; all of them are in the table file."""
MOST_NAMED = 3
PUBLISHED = 0.68
GOES_WITH: Mapping[str, tuple[str, str]] = {
    "strength": ("a stronger choice", "a weaker choice"),
    "as-the-others": ("choosing as most of the other kind", "choosing otherwise than these"),
}


class Quoted(NamedTuple):
    """Reasons to be read."""

    example: ThemeExample
    text: str
    page: str
    """Where its dialogue is."""


def answer(source: RationaleSource) -> Markup:
    """Say in plain words how far people and judges give the same reasons."""
    warned = Markup()
    if source.kind == "baseline":
        warned = Markup("<b>Only words were looked for, so this says little of any reason.</b> ")
    if not source.n_comparisons:
        who = "people" if source.n_people else "judges"
        most = sorted(source.themes, key=lambda one: (-_rate(one), one.category))[:MOST_NAMED]
        said = listed([f"“{one.name}” ({percent(_rate(one))})" for one in most if _rate(one) > 0])
        words = Markup("Only {} gave reasons, so nothing is compared. Most often: {}.")
        return warned + words.format(who, said or "none of the themes")
    found = source.overlap
    if found is None or found.n_items < FEWEST_ITEMS:
        return warned + Markup(
            "Too few dialogues have reasons of both where most people and most judges agree to say"
            " how far they give the same."
        )
    kappa = ""
    if found.kappa is not None:
        kappa = f"; κ {hundredths(found.kappa.value)}{_fine(found.kappa)}"
    return warned + Markup(
        "<b>Where people and judges choose the same, their reasons overlap on {}</b>{} of the"
        " themes; {} would by chance{}. Most of that is silence: both leave a theme out in {}, both"
        " speak of it in {}.{} {}"
    ).format(
        percent(found.overlap.value),
        _ends(found.overlap),
        percent(found.chance),
        kappa,
        percent(found.co_omission.value),
        percent(found.co_mention.value),
        f" Of what either speaks of, both do in {percent(found.shared.value)}."
        if found.shared
        else "",
        _different(source),
    )


def _rate(one: ThemeRate) -> float:
    at = one.people or one.judges
    return at.value if at else 0.0


def _ends(at: Estimate) -> str:
    return "" if at.low is None else f" {interval(at.low, at.high, write=whole_percent)}"


def _fine(at: Estimate) -> str:
    return "" if at.low is None else f" {fine_interval(at.low, at.high)}"


def _different(source: RationaleSource) -> str:
    parts = []
    for who, sign in (("People", 1), ("judges", -1)):
        more = sorted(
            (
                one
                for one in source.themes
                if one.difference
                and one.q is not None
                and one.q <= FOUND
                and one.difference.value * sign > 0
            ),
            key=lambda one: (-abs(one.difference.value) if one.difference else 0, one.category),
        )
        named = [
            f"“{one.name}” (by {100 * abs(one.difference.value):.0f} points)"
            for one in more[:MOST_NAMED]
            if one.difference
        ]
        if named:
            rest = len(more) - len(named)
            others = f", and {plural(rest, 'other')}" if rest else ""
            parts.append(f"{who} more often speak of {listed(named)}{others}")
    if not parts:
        return "No theme is found to be given more often by either."
    return f"{'; '.join(parts)[0].upper()}{'; '.join(parts)[1:]}."


def who_words(source: RationaleSource) -> Markup:
    """Say who labelled how much."""
    return Markup("Labelled by <b>{}</b> ({}): {} by people, {} by judges, on {} of both.").format(
        source.labeler,
        KINDS[source.kind],
        plural(source.n_people, "reason"),
        count(source.n_judges),
        plural(source.n_comparisons, "comparison"),
    )


def rows(source: RationaleSource) -> list[ThemeRate]:
    """Return the themes on the page: those given most unalike, else most often."""
    chosen = sorted(source.themes, key=_apart)[:MOST_ROWS]
    return sorted(
        chosen,
        key=lambda one: (-(one.difference.value if one.difference else _rate(one)), one.name),
    )


def _apart(one: ThemeRate) -> tuple[float, str]:
    return -abs(one.difference.value) if one.difference else -_rate(one), one.category


def scale(shown: Sequence[ThemeRate]) -> Scale:
    """Return one scale of shares from 0 for the dots of some themes."""
    ends = [end for one in shown for at in (one.people, one.judges) if at for end in _values(at)]
    return scale_around(0.0, ends)


def _values(at: Estimate) -> tuple[float | None, float, float | None]:
    return at.low, at.value, at.high


def share_text(at: Estimate | None) -> str:
    """Write a share, or that there is none."""
    return NO_VALUE if at is None else whole_percent(at.value)


def difference_text(one: ThemeRate) -> tuple[str, str]:
    """Write a difference of rates and its interval."""
    at = one.difference
    if at is None:
        return NO_VALUE, ""
    return points(at.value), "" if at.low is None else interval(at.low, at.high, write=points)


def effects_words(source: RationaleSource) -> list[str]:
    """Say what goes with a strong choice, and with choosing as the other kind; a line for each."""
    return [_effects(one) for one in source.effects if one.themes]


def _effects(one: ThemeEffects) -> str:
    found = sorted(
        (row for row in one.themes if row.q is not None and row.q <= FOUND),
        key=lambda row: (-abs(row.effect.value), row.category),
    )
    write = signed_hundredths if one.outcome == "strength" else points
    unit = "" if one.outcome == "strength" else " points"
    parts = []
    for way, sign in zip(GOES_WITH[one.outcome], (1, -1), strict=True):
        named = [
            f"“{row.name}” ({write(row.effect.value)}{unit})"
            for row in found
            if row.effect.value * sign > 0
        ]
        if named:
            parts.append(f"{listed(named[:MOST_NAMED])} with {way}")
    said = "; ".join(parts) or f"nothing shows with {GOES_WITH[one.outcome][0]}"
    return f"{one.judged_by.capitalize()}, {plural(one.n_judgments, 'judgment')}: {said}."


def compared_themes(source: RationaleSource) -> list[ThemeRate]:
    """Return the themes that people and judges could both give, what people give more first."""
    both = [
        (one.people.value - one.judges.value, one)
        for one in source.themes
        if one.people and one.judges
    ]
    return [one for _, one in sorted(both, key=lambda row: (-row[0], row[1].name))]


def draw_themes(source: RationaleSource, figure: Any) -> None:
    """Draw how often people and judges give each theme as a reason, with intervals."""
    rows = compared_themes(source)
    axes = figure.subplots()
    both = {"people": [one.people for one in rows], "judges": [one.judges for one in rows]}
    shown = {
        who: [percents(at.value, at.low, at.high) for at in given if at]
        for who, given in both.items()
    }
    draw_forest(axes, [_with_axis(row) for row in rows], shown, colours=(ORANGE, BLUE))
    axes.set_xlim(left=-1)  # so that a dot at 0 is whole
    axes.set_xlabel(by_whom(source, "speak of it, %"), fontsize=7)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2)


def _with_axis(row: ThemeRate) -> str:
    return f"{row.name} ({row.axis})" if row.axis else row.name


class Reasons(Section[RationaleResults]):
    """Which themes people and judges speak of where they say why they choose."""

    NAME: ClassVar = "reasons"
    TITLE: ClassVar = "What raters say they choose by"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = (RATIONALES,)
    PAGE: ClassVar = "reasons.html"
    PAGE_TITLE: ClassVar = "What raters say they choose by"
    PAGE_HOLDS: ClassVar = "reasons that only people or only judges give."
    TABLES: ClassVar = {
        "themes": "what people and judges give as reasons",
        "themes-overlap": "how far they give the same, beside chance",
        "themes-effects": "what goes with a theme",
        "themes-agreement": "labelers of reasons with each other",
        "labels-people": "two people with each other",
    }
    FIGURES: ClassVar = (
        Figure(
            "themes",
            "How often people and judges give each theme as a reason, percent who speak of it, with"
            " intervals; first what people give more. In brackets its axis.",
            lambda section: section.drawn,
            draw_themes,
            lambda source, _: rows_height(2 + len(compared_themes(source))),
        ),
    )
    who_words = staticmethod(who_words)
    rows = staticmethod(rows)
    scale = staticmethod(scale)
    share_text = staticmethod(share_text)
    difference_text = staticmethod(difference_text)
    effects_words = staticmethod(effects_words)
    notes = staticmethod(labeler_notes)

    def line(self) -> Markup:
        """Say in plain words how far people and judges give the same reasons."""
        return answer(self.source)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Describe what was labelled; None where no reasons were."""
        found = analyze_rationales(basis.data, basis.columns, level=basis.level, seed=basis.seed)
        return None if found is None else cls(found)

    @property
    def source(self) -> RationaleSource:
        """The labeler whose figures are shown: no baseline if it can be, who labelled most."""
        sources = self.found.sources
        return max(sources, key=lambda one: (one.kind != "baseline", one.n_people + one.n_judges))

    @property
    def drawn(self) -> RationaleSource | None:
        """The labeler whose themes are drawn, where people and judges both gave reasons."""
        is_enough = self.source.n_items >= FEWEST_ITEMS
        return self.source if is_enough and compared_themes(self.source) else None

    @property
    def has_page(self) -> bool:
        """Whether reasons were chosen to be read."""
        return bool(self.source.examples)

    def to_read(self, texts: Mapping[str, str]) -> Iterator[tuple[ThemeRate, str, list[Quoted]]]:
        """Yield the themes of which reasons may be read, known by the ids of their judgments."""
        definitions = {one.key: one.definition for one in load_taxonomy(RATIONALES).categories}
        for rate in sorted(self.source.themes, key=_apart):
            quoted = [
                Quoted(one, texts[one.judgment_id], item_page(one.item_id))
                for one in self.source.examples
                if one.category == rate.category and one.judgment_id in texts
            ]
            if quoted:
                yield rate, definitions.get(rate.category, ""), quoted

    def records(self, table: str) -> Records:
        """Return rows of all labelers."""
        found = self.found
        if table == "themes-agreement":
            return found.agreement
        if table == "labels-people":
            rows = found.people.agreement if found.people else ()
            return [{"taxonomy": found.taxonomy, **flat_fields(row)} for row in rows]
        return [row for source in found.sources for row in _records_of(source, table)]


def _records_of(source: RationaleSource, table: str) -> Iterator[dict[str, Any]]:
    who = {"labeler": source.labeler, "labeler_kind": source.kind}
    if table == "themes":
        yield from ({**who, **flat_fields(row)} for row in source.themes)
    elif table == "themes-overlap":
        n = {"n_reasons_of_people": source.n_people, "n_reasons_of_judges": source.n_judges}
        yield {**who, **n, **(flat_fields(source.overlap) if source.overlap else {})}
    for effects in source.effects if table == "themes-effects" else ():
        names = ("judged_by", "outcome", "n_judgments", "interval_used")
        of_all = {"labeler": source.labeler, **{name: getattr(effects, name) for name in names}}
        yield from ({**of_all, **flat_fields(row)} for row in effects.themes)
