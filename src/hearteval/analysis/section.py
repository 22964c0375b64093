"""`Section`: one thing that a study says, in the results, on the page, in tables.

What it is about stands in its folder of `hearteval.sections` alone: whoever writes results, pages
or tables goes through those that a study has, and knows none by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.data import StudyData
from hearteval.analysis.ranking.cells import Cells
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.scores.columns import RatingColumns

Records = Iterable[object]
"""Rows of a table; the fields of each are its columns, as in `report/tables.py`."""


class Figure(NamedTuple):
    """One figure of a paper: what it is, what it is drawn of, how high it is."""

    name: str
    caption: str
    find: Callable[[Any], Any]
    """What is drawn of the results, or of a section; None where there is nothing."""
    draw: Callable[[Any, Any], None]
    """From that and a figure of matplotlib."""
    height: Callable[[Any, float], float]
    """In inches, of that and the width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What sections are found in.

    Attributes:
        data: The study's, with the judgments of its members alone.
        columns: The first judgment of each rater on each pair of ranked systems.
        counted: Those of them that the ranking is by; `cells` their sums.
        rated: The scores; None where nobody rates.
        board: The ranking; None where there is none.
        level: Nominal coverage.
    """

    data: StudyData
    columns: JudgmentColumns
    counted: JudgmentColumns
    board: Leaderboard | None
    cells: Cells | None
    rated: RatingColumns | None
    level: float
    seed: int


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Section(ABC, Generic[Found]):
    """One thing that a study says, found in its data.

    Its template, ``section.html.j2`` in its folder, sees it as ``section``.

    Attributes:
        NAME: Its anchor on the page.
        TITLE: What the page's navigation calls it.
        KEYS: Under which the results hold what it found, `found` under the first.
        TABLES: Names of its table files, and what each holds.
        TERMS: Words for the page's glossary, and what they mean.
        FIGURES: What is drawn of it for a paper.
        NOTHING: What the results hold where it found nothing.
        PAGE: File name of its page among those of ``heart report --full``, which its
            ``page.html.j2`` shows; empty without one.
        PAGE_TITLE: Its heading there; `PAGE_HOLDS` what is to be read.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    KEYS: ClassVar[tuple[str, ...]]
    TABLES: ClassVar[Mapping[str, str]] = {}
    TERMS: ClassVar[Mapping[str, str]] = {}
    FIGURES: ClassVar[Sequence[Figure]] = ()
    NOTHING: ClassVar[Any] = None
    PAGE: ClassVar[str] = ""
    PAGE_TITLE: ClassVar[str] = ""
    PAGE_HOLDS: ClassVar[str] = ""
    found: Found

    @classmethod
    @abstractmethod
    def find(cls, basis: Basis) -> Self | None:
        """Compute it; None where there is nothing to say."""

    @property
    def results(self) -> Mapping[str, Any]:
        """What it found, by its `KEYS`: records, or None."""
        return {self.KEYS[0]: self.found}

    @abstractmethod
    def records(self, table: str) -> Records:
        """Return the rows of one of `TABLES`."""

    @property
    def terms(self) -> Mapping[str, str]:
        """What the page's glossary says of its words."""
        return self.TERMS

    @property
    def is_shown(self) -> bool:
        """Whether the page says anything of it."""
        return True

    @property
    def has_page(self) -> bool:
        """Whether there is anything for its page."""
        return bool(self.PAGE)

    def page_at(self, folder: str | None) -> str:
        """Return where its page is, in a folder; empty without one."""
        return "" if folder is None or not self.has_page else f"{folder}{self.PAGE}"

    @classmethod
    @cache
    def template(cls, name: str) -> str:
        """Return a template of its folder."""
        return files(cls.__module__).joinpath(name).read_text("utf-8")


Sections = Mapping[type[Section[Any]], Section[Any] | None]
"""In the order of the page; None where one found nothing."""


def section_results(sections: Sections) -> dict[str, Any]:
    """Return what sections found by its keys; None for those of one that found nothing."""
    return {
        key: section.NOTHING if found is None else found.results[key]
        for section, found in sections.items()
        for key in section.KEYS
    }


def section_dicts(sections: Sections) -> dict[str, Any]:
    """Return the same as what JSON can write."""
    return {key: _plain(found) for key, found in section_results(sections).items()}


def _plain(found: Any) -> Any:
    if isinstance(found, tuple):
        return [asdict(one) for one in found]
    return None if found is None else asdict(found)
