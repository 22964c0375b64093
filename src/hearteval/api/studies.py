"""`he.open_study`: the records of a stored study as dataframes, and what it found."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw

from hearteval.analysis.section import section_dicts, section_results
from hearteval.analysis.study import StudyResults
from hearteval.api.shown import Shown
from hearteval.domain import AXES, Attempt, Axis, Completion, Item, Judgment, Rating, flat_fields
from hearteval.errors import StoreError
from hearteval.exchange.tables.frames import find_frame_kind, make_frame
from hearteval.report.table import Display

if TYPE_CHECKING:
    from hearteval.domain import Study
    from hearteval.study.results import Frame
    from hearteval.study.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(StudyResults, Shown):
    """What a study found; see `hearteval.analysis.study` for every field.

    Its dataframe has the rows of the ranking at the top, or of the scores; without either, win
    rates.
    """

    schema: ClassVar = "heart.analyze/1"
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def __getattr__(self, name: str) -> Any:
        """Return what a section found, by its name."""
        found = {} if name.startswith("_") else section_results(self.sections)
        if name in found:
            return found[name]
        raise AttributeError(name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can write."""
        body = Shown.to_dict(self)
        del body["sections"]
        return body | section_dicts(self.sections)

    def _rows(self) -> list[dict[str, Any]]:
        from hearteval.report.leaderboard import anchored_rows, leaderboard_rows
        from hearteval.report.scores import rating_rows

        rates = [asdict(rate) for rate in self.win_rates]
        rows = anchored_rows(self) or leaderboard_rows(self) or rating_rows(self.ratings) or rates
        return [_by_axis(row) for row in rows]

    def _display(self) -> Display:
        from hearteval.report.summary import results_display

        return results_display(self)


class OpenStudy:
    """A stored study, opened to be read; only `report` writes. Close it, or open it in a with."""

    def __init__(self, opened: AbstractContextManager["tuple[Session, Study]"]) -> None:
        self._stack = ExitStack()
        self._session, self._study = self._stack.enter_context(opened)
        self._is_closed = False

    def __enter__(self) -> "OpenStudy":
        """Read a study for a while."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the store; what was read stays."""
        self._is_closed = True
        self._stack.close()

    @property
    def items(self) -> Any:
        """The items; the dialogue is JSON."""
        return self._frame(Item)

    @property
    def completions(self) -> Any:
        """The completions; those of the stress set have the kind ``stress``."""
        return self._frame(Completion)

    @property
    def judgments(self) -> Any:
        """The judgments: two systems in the order shown, and the winner, as `rank` reads them."""
        return self._frame(Judgment)

    @property
    def ratings(self) -> Any:
        """The ratings, under the rating protocol."""
        return self._frame(Rating)

    @property
    def attempts(self) -> Any:
        """The calls that gave nothing usable, and why."""
        return self._frame(Attempt)

    def analyze(self) -> Results:
        """Compute the results."""
        from hearteval.study.results import analyze

        found = analyze(self._reading(), self._study)
        return Results(**flat_fields(found), frame=find_frame_kind(None))

    def report(self) -> dict[str, Any]:
        """Write the report and its tables beside the study file; return their paths by kind."""
        from hearteval.study.report.write import write_report

        return write_report(self._session, self._study, self.analyze())

    def __repr__(self) -> str:
        return f"<study {self._study.name}, version {self._study.version}>"

    def _reading(self) -> "Session":
        if self._is_closed:
            raise StoreError(f"{self!r} is closed; open it again with `open_study`")
        return self._session

    def _frame(self, kind: "type[Frame]") -> Any:
        from hearteval.study.results import read_columns

        columns = read_columns(self._reading(), self._study, kind)
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return make_frame(rows, find_frame_kind(None), list(columns))


def open_study(path: "Path | str") -> OpenStudy:
    """Open the newest version of a study that `heart run` has stored, given its study file.

    Raises:
        SettingsError: The file cannot be used.
        StoreError: Nothing was stored under its name and seed, or by an older hearteval.
    """
    from hearteval.study import Quiet
    from hearteval.study.session import open_stored

    # A notebook may change its folder while the study is open.
    return OpenStudy(open_stored(Path(path).absolute(), Quiet()))


def _by_axis(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with a column for each axis in place of the mapping of all."""
    columns = dict(row)
    marks: Mapping[Axis, float] | None = columns.pop("axes", None)
    return columns if marks is None else columns | {axis: marks.get(axis) for axis in AXES}
