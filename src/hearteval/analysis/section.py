"""`Section`: one thing that a study says, in the results, on the page, in tables.

What it is about stands in its folder of `hearteval.sections` alone: whoever writes results, pages
or tables goes through those that a study has, and knows none by name.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from hearteval.analysis.agreement.pair_votes import PairVotes, merge_votes
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.coverage.study import Coverage
from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import StressResult
from hearteval.analysis.judgments import Judgments
from hearteval.analysis.ranking.anchored import AnchoredRanking
from hearteval.analysis.ranking.cells import Cells
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.voters import Headline
from hearteval.analysis.scores.columns import RatingColumns
from hearteval.analysis.scores.study import RatingResults
from hearteval.domain import Axis, axis_names
from hearteval.domain.study import AmbiguityRule
from hearteval.notices import Notice

Records = Iterable[object]
"""Rows of a table; the fields of each are its columns, as in `report/tables.py`."""


class Chapter(StrEnum):
    """A chapter of the page, in its order, by its heading."""

    PEOPLE = "People and judges"
    JUDGES = "Can the judges be trusted?"
    WINNING = "What goes with winning"
    METHODS = "Methods and all tables"

    @property
    def anchor(self) -> str:
        """Where it is on the page."""
        return f"chapter-{self.name.lower()}"


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


class Chip(NamedTuple):
    """A line of news under the answer, and the section it leads to."""

    title: str
    words: str
    section: str
    is_bad: bool = False


Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What sections are found in.

    Attributes:
        data: The study's, with the judgments of its members alone.
        coverage: What there is of it, and what is missing.
        rows: The first judgment of each rater on each of their pairs; `columns` the same.
        voted: Those of them that the ranking is by; `counted` the same, `cells` their sums.
        voters: Whose votes these are.
        anchored: People's ranking anchored by judges'; None where people or judges did not vote.
        ratings: What judges who rate say, of `rated`; None where they compare. `stress` is how
            often their scores put the reference above texts made to be worse.
        board: The ranking; None where there is none. `by_pairs` is one by pairs also where judges
            rate, so that it enters nothing.
        ambiguity: Which pairs are ambiguous.
        level: Nominal coverage.
        earlier: The sections before this one, found.
        everybody: The study's data with whoever is left out, as nothing else here.
        assume_random: Whether pairs are taken as drawn at random where the study drew none.
    """

    data: StudyData
    coverage: Coverage
    rows: Judgments
    columns: JudgmentColumns
    voted: Judgments
    counted: JudgmentColumns
    voters: Headline
    anchored: AnchoredRanking | None
    board: Leaderboard | None
    by_pairs: Leaderboard | None
    cells: Cells | None
    ratings: RatingResults | None
    rated: RatingColumns | None
    stress: tuple[StressResult, ...]
    ambiguity: AmbiguityRule
    level: float
    seed: int
    earlier: "Sections"
    everybody: StudyData
    assume_random: bool

    @cached_property
    def pair_votes(self) -> PairVotes:
        """What `columns` say of each pair."""
        return merge_votes(self.columns)

    @property
    def again(self) -> Judgments:
        """Every judgment of ranked systems, repeats too."""
        return self.data.judgments.among({system.id for system in self.data.ranked})

    def found(self, section: "type[Section[Found]]") -> Found | None:
        """Return what a section before this one found; None where that was nothing."""
        one = self.earlier.get(section)
        return None if one is None else one.found


@dataclass(frozen=True, slots=True)
class Section(ABC, Generic[Found]):
    """One thing that a study says, found in its data.

    Its template, ``section.html.j2`` in its folder, sees it as ``section``. What leads to replies
    stands in its ``linked.html.j2``, in place of a comment that is its name: that is rendered when
    it is known which of them the page holds (``there``).

    Attributes:
        NAME: Its anchor on the page.
        TITLE: What the page calls it.
        CHAPTER: Where on the page it stands.
        IS_OPEN: Whether it stands open there; else it folds behind its `line`.
        IS_EXPLORATORY: Whether nothing of it was planned before the data were seen.
        KEYS: Under which the results hold what it found, `found` under the first.
        TABLES: Names of its table files, and what each holds.
        PATHS: Where the rows of each are, as attributes of the section, unless `records` says.
        TERMS: Words for the page's glossary, and what they mean.
        FIGURES: What is drawn of it for a paper.
        NOTHING: What the results hold where it found nothing.
        PAGE: File name of its page among those of ``heart report --full``, which its
            ``page.html.j2`` shows; empty without one.
        PAGE_TITLE: Its heading there; `PAGE_HOLDS` what is to be read.
        axis_names: What the study calls the axes.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str]
    CHAPTER: ClassVar[Chapter] = Chapter.WINNING
    IS_OPEN: ClassVar[bool] = False
    IS_EXPLORATORY: ClassVar[bool] = False
    KEYS: ClassVar[tuple[str, ...]]
    TABLES: ClassVar[Mapping[str, str]] = {}
    PATHS: ClassVar[Mapping[str, str]] = {}
    TERMS: ClassVar[Mapping[str, str]] = {}
    FIGURES: ClassVar[Sequence[Figure]] = ()
    NOTHING: ClassVar[Any] = None
    PAGE: ClassVar[str] = ""
    PAGE_TITLE: ClassVar[str] = ""
    PAGE_HOLDS: ClassVar[str] = ""
    found: Found
    axis_names: Mapping[Axis, str] = field(default_factory=axis_names, kw_only=True)

    @classmethod
    @abstractmethod
    def find(cls, basis: Basis) -> Self | None:
        """Compute it; None where there is nothing to say."""

    @property
    def results(self) -> Mapping[str, Any]:
        """What it found, by its `KEYS`: records, or None."""
        return {self.KEYS[0]: self.found}

    def records(self, table: str) -> Records:
        """Return the rows of one of `TABLES`."""
        return rows_at(self, self.PATHS[table])

    def tests(self) -> Mapping[str, float | None]:
        """Return the p of its planned contrasts, by what is compared in words."""
        return {}

    def with_q(self, q: Mapping[str, float], *, level: float) -> Self:
        """Return it with the q of its planned contrasts, by the same words."""
        assert not self.tests(), f"{self.NAME} does not take the q of what it tests"
        return self

    def notices(self) -> Sequence[Notice]:
        """Return what it has found that limits the study's numbers."""
        return ()

    def shown_notices(self) -> Iterable[Notice]:
        """Return what limits them besides, wherever the study is shown, but not in its results."""
        return ()

    def next_step(self, study_file: str) -> str:
        """Say what is to be done next about it; empty where that is nothing."""
        return ""

    def stands_on(self) -> str:
        """Say in a terminal, above the numbers, what these stand on."""
        return ""

    def cards(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Return the same for the page's section on coverage: titles, each with words."""
        return ()

    def chip(self) -> Chip | None:
        """Return its news for the first screen."""
        return None

    def brief(self) -> Sequence[str]:
        """Return what a terminal says of it below the answer, a paragraph each."""
        return ()

    def shown_tables(self) -> Sequence[Any]:
        """Return the tables (`report.table.Table`) of its small print for a terminal."""
        return ()

    def lines(self) -> Sequence[str]:
        """Return its small print for a terminal."""
        return ()

    def of_system(self, name: str) -> Iterable[tuple[str, str]]:
        """Return what the page of one system says of it: what it is, and a figure in words."""
        return ()

    @property
    def terms(self) -> Mapping[str, str]:
        """What the page's glossary says of its words."""
        return self.TERMS

    @property
    def is_exploratory(self) -> bool:
        """Whether the page calls it so."""
        return self.IS_EXPLORATORY

    @property
    def title(self) -> str:
        """What the page calls it."""
        return self.TITLE

    def line(self) -> str:
        """Say what it found: all of it that the page shows until it is unfolded."""
        return ""

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


def rows_at(found: object, path: str) -> Records:
    """Return the records at a path of attributes; none where something on it is None."""
    at: Any = found
    for name in path.split("."):
        at = None if at is None else getattr(at, name)
    return at or ()


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
