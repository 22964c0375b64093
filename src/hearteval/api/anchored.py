"""`he.rank_anchored`: people's ranking, helped by judges' as far as these know people's mind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import narwhals.stable.v2 as nw

from hearteval.analysis.ranking.anchored import AnchoredRanking, anchor_votes
from hearteval.analysis.ranking.votes import Votes
from hearteval.api.reading import VoteReading, VoteSource
from hearteval.api.shown import Shown
from hearteval.domain import flat_fields
from hearteval.errors import HeartError, NotIdentifiedError, Remedy, SettingsError
from hearteval.exchange.arguments import check_level, check_named, read_names, takes
from hearteval.exchange.options import Tables, VoteOptions
from hearteval.exchange.tables.columns import Report, report_nothing
from hearteval.exchange.tables.frames import find_frame_kind
from hearteval.notices import Kind, Notice
from hearteval.report.files.contrasts import anchored_table, anchored_words
from hearteval.report.table import Display
from hearteval.report.text import listed, notice_line

if TYPE_CHECKING:
    from hearteval.exchange.tables import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredVotes(AnchoredRanking, Shown):
    """An anchored ranking; see `hearteval.analysis.ranking.anchored` for every field.

    Attributes:
        warnings: What was noticed in reading the votes, and judges who share no item with people.
    """

    schema: ClassVar = "heart.rank_anchored/1"
    warnings: tuple[Notice, ...]
    frame: nw.Implementation = field(repr=False)
    __repr__ = Shown.__repr__

    def beside(self) -> dict[str, Any]:
        """Return what ``heart rank --json`` holds of it."""
        return {
            name: value
            for name, value in self.to_dict().items()
            if name in AnchoredRanking.__dataclass_fields__
        }

    def _display(self) -> Display:
        notices = tuple(map(notice_line, self.warnings))
        return Display((anchored_words(self) or anchored_table(self), notices))


@takes(VoteOptions)
def rank_anchored(
    people: "Source",
    *,
    judged_by: Tables,
    cluster: str | Sequence[str],
    rater: str | None = None,
    judge: str | None = None,
    human: Sequence[str] = (),
    assume_random: bool = False,
    level: float = 0.95,
    report: Report = report_nothing,
    **options: Unpack[VoteOptions],
) -> AnchoredVotes:
    """Rank systems as people would with more votes, by their votes and what judges' add to them.

    People's strengths are regressed on judges' (`hearteval.stats.bradley_terry.anchored`), so that
    each Elo lies between people's own and what judges imply. Elo are less the mean of all, which is
    1500; intervals hold on average over systems. Nothing is asked of people's votes alone: groups
    of systems that they never joined are joined by judges. See docs/reference/anchored.md.

    Args:
        people: Votes of people: a path, any dataframe, or a list of dictionaries.
        judged_by: The same of judges, in the same columns, by the name of each; each has a slope.
        cluster: Column of the item voted on (prompt, dialogue), named alike by all.
        rater: Column of the person who voted, in `people`.
        judge: Column of the judge in tables of `judged_by` that hold several.
        human: Systems that are people, whom judges may favour or dislike as a kind.
        assume_random: Whether the comparisons that people judged were drawn at random.
        level: Nominal coverage of the intervals.
        report: Told how far the reading is.

    Raises:
        InvalidVotesError: A row cannot be read.
        NotIdentifiedError: Under six systems of one kind that people compared and judges placed, or
            whatever else leaves open how far judges miss.
        SettingsError: It is not said that people's comparisons were drawn at random; or a column is
            missing or named twice.
        TypeError: An argument is of a wrong kind.
        ValueError: A level is not between 0 and 1.
    """
    check_named("cluster", cluster)
    source = VoteSource(people, options, report)
    votes = source.open({"cluster": cluster, "rater": rater}).whole()
    judges = read_judges(source, judged_by, cluster=cluster, judge=judge)
    found = anchor_read(
        source,
        votes,
        judges,
        human=human,
        is_assumed_random=assume_random,
        level=check_level(level),
    )
    if found.reason is not None:
        raise NotIdentifiedError(found.reason)
    return found


def check_judges(judged_by: Tables) -> Tables:
    """Return tables of judges' votes.

    Raises:
        TypeError: They are not given by the name of each judge.
    """
    if not isinstance(judged_by, Mapping):
        raise TypeError(
            'judged_by takes tables by the name of each judge, as {"gpt": "judges.csv"}, not'
            f" {type(judged_by).__name__}"
        )
    return judged_by


def read_judges(
    people: VoteSource, judged_by: Tables, *, cluster: str | Sequence[str] | None, judge: str | None
) -> dict[str, Votes]:
    """Read each judge's votes, where `judge` is a column those of several in one table.

    Raises:
        SettingsError: Two judges have one name.
        TypeError: As in `check_judges`.
    """
    judges: dict[str, Votes] = {}
    for name, table in check_judges(judged_by).items():
        source = people._replace(source=table, by=judge)
        reading = source.open({"strength": None, "cluster": cluster, "rater": None})
        found = {name: reading.whole()} if judge is None else _by_judge(reading)
        if shared := sorted(judges.keys() & found.keys()):
            raise SettingsError(f"two tables hold votes of {shared[0]}", ids=shared)
        judges |= found
    return judges


def _by_judge(reading: VoteReading) -> dict[str, Votes]:
    found = {}
    for name, votes in reading.parted().groups.items():
        if isinstance(votes, HeartError):
            raise votes
        found[name] = votes
    return found


def anchor_read(
    people: VoteSource,
    votes: Votes,
    judges: Mapping[str, Votes],
    *,
    human: Sequence[str],
    is_assumed_random: bool,
    level: float,
) -> AnchoredVotes:
    """Anchor people's votes; where that cannot be, the result says why.

    Raises:
        SettingsError: There is no judge; a system that is people is none of the systems; or a file
            does not say how people's comparisons were chosen, and nobody else does.
    """
    if not judges:
        raise SettingsError("there are no votes of judges to anchor people's by", ids=["judged_by"])
    known = {name for each in (votes, *judges.values()) for name in each.systems}
    if unknown := [name for name in read_names("human", human) if name not in known]:
        raise SettingsError(
            f"systems that are people are named for judges' votes; {', '.join(unknown)}: not among"
            f" the systems: {', '.join(sorted(known))}",
            ids=unknown,
        )
    if not is_assumed_random:
        raise SettingsError(
            "votes do not say how the comparisons that people judged were chosen. Judges' votes"
            " help only if it was at random: where people were given what judges were unsure of,"
            " 95 % intervals held for 27 to 64 % of systems (docs/reference/anchored.md). If they"
            " were drawn at random from those that judges judged:",
            ids=["assume_random"],
            remedies=[Remedy("say so", {"assume_random": True})],
        )
    read = (w for each in (votes, *judges.values()) for w in each.warnings)
    return AnchoredVotes(
        **flat_fields(anchor_votes(votes, judges, human=human, level=level)),
        warnings=tuple(dict.fromkeys((*_strangers(votes, judges), *read))),
        frame=find_frame_kind(people.source),
    )


def _strangers(people: Votes, judges: Mapping[str, Votes]) -> list[Notice]:
    """Name judges whose items are called otherwise than people's."""
    apart = [name for name, votes in judges.items() if set(people.items).isdisjoint(votes.items)]
    text = (
        f"No item that people voted on is among those of {listed(apart)}: if they are the same and"
        " only named otherwise, intervals are wrong. Name items alike."
    )
    return [Notice(Kind.READING, text)] if apart else []
