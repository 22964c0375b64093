"""What a whole study shows: its report as one HTML file.

The file opens from disk and everything is inside it: styles, figures and a little script that sorts
and filters; without the script the page says the same. Text from the study is escaped by the
templates, which ask the modules of this package for what they show.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.section import Section
from hearteval.analysis.study import StudyResults
from hearteval.report import figures, text
from hearteval.report.answers.headline import first_line
from hearteval.report.page import links, matrix, replies
from hearteval.report.page.filters import filters_of
from hearteval.report.page.view import View

NUMBERS = (
    *("bare_percent", "count", "decimal", "hundredths", "level_percent", "listed", "percent"),
    *("pixels", "plural", "points", "reasons", "signed", "signed_hundredths", "whole"),
    "whole_percent",
)
"""Functions of `text` that the templates call by their names."""


MAX_BYTES = 298_000
"""Of the one file; replies are shown as far as they fit."""
MATRIX_SLOT: Final = "<!--matrix-->"
REPLIES_SLOT: Final = "<!--replies-->"
_SLACK_BYTES = 300
"""By which a section about few comparisons may be longer than one about all."""
NOTHING_SHOWN = replies.Shown()


def render_page(results: StudyResults, shown: replies.Shown = NOTHING_SHOWN) -> str:
    """Render the report as one HTML document without any reference outside itself.

    Of the replies it holds as many as fit; where there is a folder with all, it links there.
    """
    has_replies = bool(shown.readings) or (shown.is_public and bool(results.examples))
    page = (
        environment()
        .get_template("page.html.j2")
        .render(view=View(results, shown, has_replies), shown=shown, first_line=first_line(results))
    )
    slots: dict[str, Callable[..., str]] = {MATRIX_SLOT: _matrix_html}
    slots |= {
        slot: partial(_linked_html, one)
        for one in results.found_sections
        if (slot := f"<!--{one.NAME}-->") in page
    }
    room = MAX_BYTES - len(page.encode())
    readings: Sequence[replies.Reading] = ()
    section = ""
    # Where few fit, links to the first ones alone leave more room.
    for n in (replies.MOST_READ, replies.N_DIALOGUES + 4) if has_replies else ():
        if len(readings) < replies.N_DIALOGUES:
            offered = replace(shown, readings=shown.readings[:n])
            drawn = (
                max(len(write(results, shown, there).encode()) for there in ((), offered.readings))
                for write in slots.values()
            )
            readings, section = _replies_html(results, offered, room - sum(drawn))
    for slot, write in slots.items():
        page = page.replace(slot, write(results, shown, readings), 1)
    return page.replace(REPLIES_SLOT, section, 1)


def matrix_html(
    board: Leaderboard, addresses: Mapping[tuple[str, str], str], *, heading: str = ""
) -> str:
    """Render the matrix of every two systems, with links to what is to be read of them."""
    macros = environment().get_template("matrix.html.j2").module
    rows, off = matrix.matrix_rows(board, addresses), matrix.departures(board)
    return str(
        macros.page_matrix(rows, off, addresses, len(rows) > figures.MANY, heading)  # type: ignore[attr-defined]
    )


def _linked_html(
    section: Section[Any],
    _results: StudyResults,
    shown: replies.Shown,
    there: Iterable[replies.Reading],
) -> str:
    """Render what of a section leads to replies, of which some are on this page."""
    made = environment().from_string(section.template("linked.html.j2"))
    return made.render(section=section, shown=shown, there=there)


def _matrix_html(
    results: StudyResults, shown: replies.Shown, there: Iterable[replies.Reading]
) -> str:
    board = results.leaderboard
    return matrix_html(board, links.pair_links(shown, there)) if board and board.matrix else ""


def _replies_html(
    results: StudyResults, shown: replies.Shown, room: int
) -> tuple[list[replies.Reading], str]:
    """Return the readings that fit, and their section."""
    bare = [replies.Part(one, Markup(), replies.FORMS[-1]) for one in shown.readings]
    about = len(_section_html(results, shown, bare).encode())
    write = partial(comparison_html, results, shown)
    parts = replies.that_fit(shown.readings, room - about - _SLACK_BYTES, write)
    return [one.reading for one in parts], _section_html(results, shown, parts)


def _section_html(
    results: StudyResults, shown: replies.Shown, parts: Sequence[replies.Part]
) -> str:
    readings = [one.reading for one in parts]
    found = filters_of(readings, results.axis_names)
    order = replies.order_words(readings, results.mine)
    section = _reply_macros().replies_section
    return str(section(parts, replies.N_OPEN, found, order, len(results.examples), shown))


def comparison_html(
    results: StudyResults,
    shown: replies.Shown,
    reading: replies.Reading,
    *,
    form: str = replies.FORMS[0],
    is_open: bool = False,
    is_first: bool = True,
) -> Markup:
    """Render a comparison in one of `replies.FORMS`; the first one of two systems has their id."""
    key, more = links.pair_key(*reading.systems), []
    if shown.folder:
        more.append((f"{shown.folder}{key}.html", "More of these two"))
    if shown.folder is not None:
        page = f"{shown.folder}{links.item_page(reading.item.id)}"
        more.append((page, "Every reply to this dialogue"))
    return Markup(  # noqa: S704 - rendered by a macro that escapes
        _reply_macros().comparison(
            reading, results.axis_names, form, is_open, key if is_first else "", more
        )
    )


def readings_html(
    results: StudyResults, shown: replies.Shown, readings: Sequence[replies.Reading]
) -> str:
    """Render all of some readings, and what to choose among them by."""
    parts = []
    for k, one in enumerate(readings):
        html = comparison_html(results, shown, one, is_open=k < replies.N_OPEN, is_first=False)
        parts.append(replies.Part(one, html))
    found = filters_of(readings, results.axis_names)
    return str(_reply_macros().reading_list(parts, replies.N_OPEN, found))


def _reply_macros() -> Any:
    return environment().get_template("replies.html.j2").module


def _code(words: str) -> Markup:
    """Show as code what stands between backticks, and keep numbers on one line; all escaped."""
    html = re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(words)))
    html = re.sub(r"(?<=\d) %", f"{text.NO_BREAK_SPACE}%", html)
    html = re.sub("[0-9]+\N{EN DASH}[0-9]+", r'<span class="whole">\g<0></span>', html)
    return Markup(html)  # noqa: S704 - escaped


def _squeezed(css: str) -> Markup:
    """Leave out of styles the white space that says nothing."""
    return Markup(re.sub(r"\s*([{};])\s*|(?<=[:,])\s+", r"\1", css))  # noqa: S704 - our own


def _shown_section(section: Section[Any], shown: replies.Shown) -> Markup:
    """Render one thing that a study says by its own template."""
    made = section_template(type(section), "section.html.j2")
    return Markup(made.render(section=section, shown=shown).rstrip("\n"))  # noqa: S704 - rendered by us


@cache
def section_template(section: type[Section[Any]], name: str) -> Template:
    """Return a template of a section's folder, made once: that takes longer than to render it."""
    return environment().from_string(section.template(name))


@cache
def environment() -> Environment:
    """Return the templates, with all that they ask for what they show."""
    made = Environment(
        loader=PackageLoader("hearteval.report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["text"] = text  # how numbers are written: also as what a macro writes with
    made.filters.update(
        {name: getattr(text, name) for name in NUMBERS},
        code=_code,
        squeezed=_squeezed,
        lines=replies.lines,
        opening=replies.opening,
        earlier_words=replies.earlier_words,
        z_step=figures.z_step,
        heat_colours=figures.heat_colours,
        shown_section=_shown_section,
        interval=lambda ends: text.interval(ends.low, ends.high),
        rank_range=lambda strength: text.ranks(strength.rank_low, strength.rank_high),
    )
    return made
