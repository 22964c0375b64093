"""`he.agree`: how far raters agree, in any file or dataframe of ratings."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack, get_args, overload

import narwhals.stable.v2 as nw

from hearteval.analysis.agreement.measures import AgreementSettings
from hearteval.analysis.agreement.parts import (
    CategoryAgreement,
    PairAgreement,
    RaterAgreement,
    agree_by_category,
    agree_by_pair,
    agree_by_rater,
    pool_agreement,
)
from hearteval.analysis.agreement.ratings import Agreement, measure_agreement
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.api.groups import AgreementsBy, make_groups
from hearteval.api.shown import Shown
from hearteval.domain import flat_fields
from hearteval.errors import SettingsError, first_few
from hearteval.exchange.arguments import check_also, check_level, read_names, takes
from hearteval.exchange.options import AgreeOptions, AlsoMeasured
from hearteval.exchange.ratings import (
    ReadRatings,
    find_long,
    find_wide,
    read_parted_ratings,
    read_ratings,
)
from hearteval.exchange.tables import open_table
from hearteval.exchange.tables.columns import Report, report_nothing, warn_of_look_alikes
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.exchange.tables.views import WideTable
from hearteval.notices import Kind, Notice, by_severity
from hearteval.report.agreement import MEASURES, agreement_display
from hearteval.report.files.agreement_parts import categories_table, pairs_table, raters_table
from hearteval.report.table import Display
from hearteval.stats.agreement.table import CodedRatings, Level

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements(Agreement, Shown):
    """Measures of agreement; see `hearteval.analysis.agreement.ratings` for every other field.

    Attributes:
        raters: The columns of a wide table that were taken for raters; None for a long table.
        by_pair: Every two raters; None where not asked for.
        by_rater: Each rater beside the others; likewise.
        by_category: Each category against the others; likewise.
    """

    schema: ClassVar = "heart.agree/1"
    frame: nw.Implementation = field(repr=False)
    raters: tuple[str, ...] | None = None
    by_pair: tuple[PairAgreement, ...] | None = None
    by_rater: tuple[RaterAgreement, ...] | None = None
    by_category: tuple[CategoryAgreement, ...] | None = None
    __repr__ = Shown.__repr__

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart agree --json`` prints."""
        body = Shown.to_dict(self)
        return {k: v for k, v in body.items() if k not in (*PARTS, "raters") or v is not None}

    def _first_line(self) -> tuple[str, ...]:
        named = () if self.raters is None else (f"Raters: {first_few(self.raters, MAX_NAMED)}.",)
        return (*self._simulated_line(), *named)

    def _rows(self) -> list[dict[str, Any]]:
        return [{"measure": name, **asdict(getattr(self, name))} for name in MEASURES]

    def _display(self) -> Display:
        parts = list(agreement_display(self).parts)
        if self.by_pair:
            parts.append(pairs_table(self.by_pair, self.settings))
        if self.by_rater:
            parts.append(raters_table(self.by_rater, self.settings))
        if self.by_category:
            parts.append(categories_table(self.by_category, self.settings))
        return Display(tuple(parts))


PARTS: Mapping[str, Callable[[CodedRatings, AgreementSettings], tuple[Any, ...]]] = {
    "by_pair": agree_by_pair,
    "by_rater": agree_by_rater,
    "by_category": agree_by_category,
}
"""What is measured too where it is asked for, by the name of its field."""
MAX_NAMED = 30
"""Columns of raters that the first line names."""


@overload
def agree(
    ratings: "Source", *, by: None = None, report: Report = ..., **options: Unpack[AgreeOptions]
) -> Agreements: ...


@overload
def agree(
    ratings: "Source", *, by: str, report: Report = ..., **options: Unpack[AgreeOptions]
) -> AgreementsBy[Agreements]: ...


@takes(AgreeOptions)
def agree(
    ratings: "Source",
    *,
    by: str | None = None,
    report: Report = report_nothing,
    **options: Unpack[AgreeOptions],
) -> Agreements | AgreementsBy[Agreements]:
    """Measure how far raters agree: kappa, alpha, AC1 and AC2, ICC, with intervals over units.

    Several columns of `unit` name it together. In a wide table a row is a unit, and the raters are
    the columns, or items of a questionnaire, that `rater` names; where it names none, all but
    `unit` and `by`, if they look alike.

    Args:
        ratings: Path of a CSV, JSONL or Parquet file, any dataframe, or a list of dictionaries; a
            row is one rating.
        by: Column to measure apart for each value of: what comes back is one result each.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row cannot be read, or a rater rates one unit twice.
        SettingsError: A column is missing or named twice, one of a wide table may be no rater's, or
            limits do not go with each other or with the level of measurement.
        TypeError: As in `rank`.
        ValueError: As in `rank`.
    """
    level = options["level"]
    if level not in get_args(Level):
        raise ValueError(f"a level of measurement is one of {get_args(Level)}, not {level!r}")
    checked = RankPolicy(n_resamples=options["resamples"], seed=options["seed"])
    settings = AgreementSettings(
        level=level,
        min=options["minimum"],
        max=options["maximum"],
        resamples=checked.n_resamples,
        seed=checked.seed,
        interval=options["interval"],
        confidence=check_level(options["confidence"]),
        reverse=read_names("reverse", options["reverse"]),
    )
    table = open_table(ratings, report)
    roles = {name: options[name] for name in ("unit", "rater", "value")} | {"by": by}
    table, columns = find_wide(table, roles) if options["wide"] else find_long(table, roles)
    frame = find_frame_kind(ratings)
    named = table.raters if isinstance(table, WideTable) else None

    asked = check_also(options["also"], get_args(AlsoMeasured))
    if "pooled" in asked and by is None:
        raise SettingsError("what is pooled are the results of several groups: name them with by")

    def make(read: ReadRatings) -> Agreements:
        found = _measure(read, settings)
        more: dict[str, Any] = {
            name: measure(read.ratings, settings)
            for name, measure in PARTS.items()
            if name in asked
        }
        return Agreements(**flat_fields(found), frame=frame, raters=named, **more)

    if by is None:
        return make(read_ratings(table, columns))
    parted = read_parted_ratings(table, columns)
    groups = make_groups(parted.groups, make)
    pooled = None
    if "pooled" in asked:
        usable = [read for read in parted.groups.values() if isinstance(read, ReadRatings)]
        pooled = pool_agreement([read.ratings for read in usable], settings)
    return AgreementsBy(
        by=by, groups=groups, n_dropped=parted.n_dropped, frame=frame, pooled=pooled
    )


def _measure(read: ReadRatings, settings: AgreementSettings) -> Agreement:
    """Measure agreement, and add what was noticed in reading."""
    found = measure_agreement(read.ratings, settings)
    # At the other levels values that look alike are one number, or none.
    is_nominal = settings.level == "nominal"
    alike = warn_of_look_alikes("values", read.ratings.values) if is_nominal else []
    return replace(
        found,
        excluded={**read.n_dropped, **found.excluded},
        warnings=by_severity(
            (
                *(
                    text if isinstance(text, Notice) else Notice(Kind.READING, text)
                    for text in read.warnings
                ),
                *(Notice(Kind.LOOK_ALIKES, text) for text in alike),
                *found.warnings,
            )
        ),
    )
