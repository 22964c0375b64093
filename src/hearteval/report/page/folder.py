"""The folder of ``heart report --full``: all that was chosen to be read, on pages of their own.

A page for all comparisons, one for every system, for every two systems and for every item, and one
that leads to them. Each stands alone beside the others: no network, the script inside it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from hearteval.analysis.section import Section
from hearteval.analysis.study import StudyResults
from hearteval.domain import Completion, Item
from hearteval.report.answers.headline import first_line
from hearteval.report.page import (
    environment,
    matrix_html,
    readings_html,
    replies,
    section_template,
)
from hearteval.report.page.links import (
    ALL,
    INDEX,
    item_page,
    pair_key,
    pair_links,
    system_links,
    system_page,
)
from hearteval.report.page.system import SystemPage, system_pages


def folder_pages(
    results: StudyResults,
    shown: replies.Shown,
    items: Sequence[Item],
    completions: Mapping[str, Sequence[tuple[str, Completion]]],
    words: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield every page of the folder: its file name and its text.

    Args:
        results: The results of the study.
        shown: All chosen comparisons.
        items: All items of the study.
        completions: By item, each with the name of its system.
        words: What labels of chosen replies quote, and what raters gave as reasons, those that may
            be read, by the ids of labels and of judgments.
    """
    here = replace(shown, folder="")
    groups = replies.by_systems(sorted(shown.readings, key=lambda one: one.systems))
    about: dict[str, list[replies.Reading]] = defaultdict(list)
    for reading in shown.readings:
        about[reading.item.id].append(reading)
    yield INDEX, _index(results, here, groups, items, about)
    yield (
        ALL,
        _page(results, here, "All comparisons", (readings_html(results, here, shown.readings),)),
    )
    texts = {"items": items, "completions": completions, "words": words}
    for section in _with_pages(results):
        template = section_template(type(section), "page.html.j2")
        main = (template.render(section=section, **texts),)
        yield section.PAGE, _page(results, here, section.PAGE_TITLE, main)
    for one in system_pages(results, here):
        yield system_page(one.system), _system_page(results, here, one)
    for ends, group in groups.items():
        html = readings_html(results, here, group)
        yield f"{pair_key(*ends)}.html", _page(results, here, " and ".join(ends), (html,))
    for item in items:
        said = sorted(completions.get(item.id, ()), key=lambda one: (one[0], one[1].id))
        yield item_page(item.id), _item_page(results, here, item, said, about[item.id])


def _page(results: StudyResults, shown: replies.Shown, title: str, main: Iterable[str]) -> str:
    return (
        environment()
        .get_template("folder.html.j2")
        .render(
            results=results,
            first_line=first_line(results),
            shown=shown,
            title=title,
            main=Markup("".join(main)),  # noqa: S704 - rendered by macros that escape
        )
    )


def _with_pages(results: StudyResults) -> list[Section[Any]]:
    return [one for one in results.sections.values() if one is not None and one.has_page]


def _macros() -> Any:
    return environment().get_template("folder_pages.html.j2").module


def _index(
    results: StudyResults,
    shown: replies.Shown,
    groups: Mapping[tuple[str, str], Sequence[replies.Reading]],
    items: Sequence[Item],
    about: Mapping[str, Sequence[replies.Reading]],
) -> str:
    board, links = results.leaderboard, pair_links(shown, ())
    table = matrix_html(board, links, heading="h2") if board and board.matrix else ""
    pairs = [(*ends, f"{pair_key(*ends)}.html", group) for ends, group in groups.items()]
    listed = [(item, item_page(item.id), about.get(item.id, ())) for item in items]
    systems = system_links(shown, (row.system for row in results.win_rates))
    lists = _macros().lists(systems, pairs, listed, _with_pages(results))
    main = (table, str(lists))
    return _page(results, shown, "Read the replies", main)


def _system_page(results: StudyResults, shown: replies.Shown, one: SystemPage) -> str:
    return _page(results, shown, one.system, (str(_macros().system(one, results.axis_names)),))


def _item_page(
    results: StudyResults,
    shown: replies.Shown,
    item: Item,
    completions: Sequence[tuple[str, Completion]],
    about: Sequence[replies.Reading],
) -> str:
    compared = [
        (reading, f"{pair_key(*reading.systems)}.html")
        for reading in sorted(about, key=lambda one: one.systems)
    ]
    main = (str(_macros().item(item, completions, compared)),)
    return _page(results, shown, replies.opening(item), main)
