"""`he.rank` and its kin: any file or dataframe of votes ranked, as it is or adjusted."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack, get_args, overload

import narwhals.stable.v2 as nw

from hearteval.analysis.ranking.contrasts import Anchored, TiedWith, anchor_at, find_ties
from hearteval.analysis.ranking.intervals import RankPolicy
from hearteval.analysis.ranking.votes import VoteRanking, Votes, rank_votes
from hearteval.api.adjusted import Controlled, JudgeAware, open_controlled, open_judged
from hearteval.api.anchored import AnchoredVotes, anchor_read, check_judges, read_judges
from hearteval.api.groups import Rankings, make_groups
from hearteval.api.reading import VoteReading, VoteSource, explaining
from hearteval.api.shown import Shown
from hearteval.errors import HeartError, SettingsError
from hearteval.exchange.arguments import check_also, check_level, takes
from hearteval.exchange.options import AlsoShown, RankOptions
from hearteval.exchange.tables.columns import Report, report_nothing
from hearteval.exchange.tables.frames import find_frame_kind, make_frame
from hearteval.exchange.votes import PartedVotes
from hearteval.report.files.contrasts import (
    anchor_table,
    anchored_table,
    anchored_words,
    differences_table,
    ties_table,
)
from hearteval.report.files.ranking import controlled_display, judged_display, ranking_display
from hearteval.report.plots.ranking import draw_ranking
from hearteval.report.table import Display, Table
from hearteval.report.text import notice_line

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


WIDTH_INCHES, INCHES_AROUND, INCHES_A_SYSTEM = 7.0, 0.8, 0.3
"""Of a plot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(VoteRanking, Shown):
    """A ranking of votes; see `hearteval.analysis.ranking.votes` for every other field.

    Attributes:
        asked: What `to_dict` and the display hold beside the ranking.
        anchored: Contrasts with an anchor; None without one.
        controlled: Strengths with controls held equal; None where none were named.
        judge_aware: Strengths by judges who differ; None where none were named.
        by_people_and_judges: People's ranking anchored by judges'; None where none were named.
    """

    frame: nw.Implementation = field(repr=False)
    asked: tuple[str, ...] = ()
    anchored: Anchored | None = None
    controlled: Controlled | None = None
    judge_aware: JudgeAware | None = None
    by_people_and_judges: AnchoredVotes | None = None
    __repr__ = Shown.__repr__

    @property
    def groups(self) -> tuple[TiedWith, ...]:
        """With which others each system is tied: it is open which of the two is better."""
        names = [row.system for row in self.systems]
        return find_ties(names, self.differences, level=self.settings.level)

    def plot(self, axes: Any = None) -> Any:
        """Draw the systems with their intervals, the best on top; return matplotlib's axes.

        Args:
            axes: Where to draw; a figure of its own where there are none.

        Raises:
            SettingsError: matplotlib is not installed.
        """
        if axes is None:
            try:
                plotting = import_module("matplotlib.pyplot")
            except ImportError:
                raise SettingsError(
                    "a plot needs matplotlib; pip install 'hearteval[figures]'"
                ) from None
            height = INCHES_AROUND + INCHES_A_SYSTEM * len(self.systems)
            _, axes = plotting.subplots(figsize=(WIDTH_INCHES, height), layout="constrained")
        draw_ranking(self, axes)
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``heart rank --json`` prints."""
        body = VoteRanking.to_dict(self)
        for name in self.asked:
            body[name] = [asdict(row) for row in getattr(self, name)]
        if self.anchored is not None:
            body["anchor"] = asdict(self.anchored)
        if self.by_people_and_judges is not None:
            body["anchored"] = self.by_people_and_judges.beside()
        for name in ("controlled", "judge_aware"):
            beside: Shown | None = getattr(self, name)
            if beside is not None:
                body[name] = {k: v for k, v in beside.to_dict().items() if k != "schema"}
        return body

    def differences_frame(self) -> Any:
        """Return the pairwise differences as a dataframe."""
        return make_frame([asdict(row) for row in self.differences], self.frame)

    def _display(self) -> Display:
        level = self.settings.level
        more: list[Table | tuple[str, ...]] = []
        if self.anchored is not None:
            more.append(anchor_table(self.anchored, level=level))
        if "differences" in self.asked:
            more.append(differences_table(self.differences, level=level))
        if "groups" in self.asked:
            more.append(ties_table(self.groups, level=level))
        if self.controlled is not None:
            more += controlled_display(self.controlled).parts
        if self.judge_aware is not None:
            more += judged_display(self.judge_aware).parts
        if self.by_people_and_judges is not None:
            found = self.by_people_and_judges
            more.append(anchored_words(found) or anchored_table(found))
            more.append(tuple(notice_line(w) for w in found.warnings if w not in self.warnings))
        return Display((*ranking_display(self).parts, *more))


@overload
def rank(
    votes: "Source", *, by: None = None, report: Report = ..., **options: Unpack[RankOptions]
) -> Ranking: ...


@overload
def rank(
    votes: "Source", *, by: str, report: Report = ..., **options: Unpack[RankOptions]
) -> Rankings[Ranking]: ...


@takes(RankOptions)
def rank(
    votes: "Source",
    *,
    by: str | None = None,
    report: Report = report_nothing,
    **options: Unpack[RankOptions],
) -> Ranking | Rankings[Ranking]:
    """Rank systems by pairwise votes (Bradley-Terry), with intervals and a fit check.

    Args:
        votes: Path of a CSV, JSONL or Parquet file, any dataframe, or a list of dictionaries.
        by: Column to rank apart for each value of: what comes back is one ranking each.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row cannot be read.
        NotIdentifiedError: The votes do not determine the ranking.
        SettingsError: A column is missing or named twice, or the winner column can be read in two
            ways.
        TypeError: An argument is of a wrong kind.
        ValueError: An argument can never be, e.g. a level of 95.
    """
    policy = RankPolicy(
        ties=options["ties"],
        prior=options["prior"],
        interval=options["interval"],
        n_resamples=options["resamples"],
        seed=options["seed"],
        level=check_level(options["level"]),
    )
    source = VoteSource(votes, options, report, by, options["baseline"])
    cluster, rater, anchor = options["cluster"], options["rater"], options["anchor"]
    plain = source.open({"strength": options["strength"], "cluster": cluster, "rater": rater})
    shown, frame = check_also(options["also"], get_args(AlsoShown)), find_frame_kind(votes)
    controls, position, judge = options["controls"], options["position"], options["judge"]
    beside: dict[str, tuple[VoteReading, Callable[[Votes], Shown]]] = {}
    judged_by = check_judges(options["judged_by"])
    if judged_by and by is not None:
        raise SettingsError("votes of judges go with all votes of people: leave `by` out")
    if cluster is None and (controls or position or judge is not None or judged_by):
        raise SettingsError(
            "rankings that control for something, or with judges, need the column of the item voted"
            " on (prompt, dialogue): name it as the cluster (--cluster COLUMN, cluster=…)",
            ids=["cluster"],
        )
    if controls or position:
        beside["controlled"] = open_controlled(
            source,
            cluster=cluster,
            rater=rater,
            controls=controls,
            position=position,
            level=policy.level,
        )
    if judge is not None and not judged_by:
        beside["judge_aware"] = open_judged(
            source, judge=judge, cluster=cluster, level=policy.level
        )

    empty = partial(Ranking, frame=frame, asked=shown)

    by_judges = read_judges(source, judged_by, cluster=cluster, judge=judge if judged_by else None)
    if options["human"] and not judged_by:
        raise SettingsError(
            "systems that are people are named for judges' votes, and there are none",
            ids=list(options["human"]),
        )

    def make(read: Sequence[Votes]) -> Ranking:
        with explaining(read[0]):
            found = rank_votes(read[0], policy, columns=plain.columns.by_role(), make=empty)
        order = [row.system for row in found.systems]
        anchored = None if anchor is None else anchor_at(anchor, order, found.differences)
        makers = [maker for _, maker in beside.values()]
        adjusted = [maker(votes) for maker, votes in zip(makers, read[1:], strict=True)]
        more: dict[str, Any] = dict(zip(beside, adjusted, strict=True))
        if by_judges:
            more["by_people_and_judges"] = anchor_read(
                source,
                read[0],
                by_judges,
                human=options["human"],
                is_assumed_random=options["assume_random"],
                level=policy.level,
            )
        return replace(found, anchored=anchored, **more)

    readings = [plain, *(reading for reading, _ in beside.values())]
    if by is None:
        return make([reading.whole() for reading in readings])
    parted = [reading.parted() for reading in readings]
    groups = make_groups(_side_by_side(parted), make)
    return Rankings(by=by, groups=groups, n_dropped=parted[0].n_dropped, frame=frame)


def _side_by_side(parted: Sequence[PartedVotes]) -> dict[str, list[Votes] | HeartError]:
    """Return what several readings have of each value, or the first error among them."""
    found: dict[str, list[Votes] | HeartError] = {}
    for value in parted[0].groups:
        read = [each.groups[value] for each in parted]
        error = next((one for one in read if isinstance(one, HeartError)), None)
        found[value] = error or [one for one in read if isinstance(one, Votes)]
    return found
