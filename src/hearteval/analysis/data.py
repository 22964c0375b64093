"""All that an analysis may know of a study: `StudyData`, its judgments as columns.

`hearteval.study` fills it from the store. It holds facts only: ties, weights and exclusions are
choices of each analysis. Texts of judgments and what they cost are left out.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from hearteval.analysis.calls import CallSum
from hearteval.analysis.judgments import NO_JUDGMENTS, Judgments
from hearteval.analysis.packed.pairs import NO_PAIRS, Pairs
from hearteval.domain import (
    Assignment,
    Attempt,
    Axis,
    Completion,
    Display,
    InFlight,
    Item,
    LabelVerdict,
    LatencyProbe,
    Rater,
    Rating,
    RatingTarget,
    System,
)
from hearteval.domain.quality import (
    DEFAULT_RULES,
    Counted,
    Exclusion,
    QualityRules,
    Rule,
    excluded_now,
)


def withdrawn_pairs(pairs: Pairs, completions: Iterable[Completion]) -> frozenset[str]:
    """Return the pairs of which a person has withdrawn a text: what was said of them still counts.

    Nobody can read them any more, nor measure what was read.
    """
    gone = {completion.id for completion in completions if completion.is_withdrawn}
    return frozenset(pairs.select(pairs.names(gone)).ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a result was made."""

    study: str
    study_id: str
    version: int
    seed: int
    items_hash: str
    settings_hash: str
    item_source: str
    """Where the items come from, in words."""
    licences: tuple[str, ...]
    consent_bases: tuple[str, ...]
    """Who wrote the items and why they may be used; references and what is borrowed from them
    included."""
    design: str
    """Design and settings, in words."""
    protocols: Mapping[str, str]
    """Protocol by kind of rater."""
    protocol_version: str
    software: Mapping[str, str]
    """Name and version of the software and of what it computes with."""
    created_at: str
    """ISO 8601, UTC."""
    recorded_by: str | None = None
    """Who wrote the replies that the items hold: ``people``, ``model``, or None where it is not
    known."""
    rubrics: tuple[str, ...] = ()
    """Whose rubric judges were shown: ``hearteval``, ``paper`` or ``own``; none where no judge is
    shown one."""
    n_pilot: int = 0
    """People who came in a pilot; nothing of theirs is in the study."""
    simulated: bool = False
    """Whether all of it was drawn by `heart simulate`."""
    data_hash: str = ""
    """Of all records of the store, as `heart store verify` makes it anew."""


class LabelRow(NamedTuple):
    """What a rater said of one category in one text; rows are in no order."""

    text_id: str
    """Of the completion, judgment or item."""
    category: str
    verdict: LabelVerdict
    rater_id: str
    score: int | None = None
    """Of a scale; as in `hearteval.domain.Label`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyLabels:
    """What texts were labelled by one taxonomy, and by whom."""

    taxonomy: str
    version: str
    label_version: str | None = None
    """As the labels bear it; None where they bear none."""
    title: str
    categories: Mapping[str, str]
    """Name by key, in their order."""
    labelers: Sequence[Rater]
    labels: Sequence[LabelRow]
    """By these labelers."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """Axis by key, of categories that belong to one."""
    people: Sequence[LabelRow] = ()
    """What people said, in the order of time."""
    per_text: int = 1
    """People who are asked about each text."""


class ReasonRow(NamedTuple):
    """The reasons of a judgment, without their words."""

    assignment_id: str
    n_words: int
    """0 of what was withdrawn."""


ScreenedUnit = Literal["completion", "reasons"]


class ScreenedText(NamedTuple):
    """A text that somebody has read for others' sake, without its words."""

    id: str
    of: ScreenedUnit
    item_id: str
    is_unfit: bool | None
    """What people agree on; None where none has read it, or they differ."""
    reasons: tuple[str, ...]
    """Why it must not be shown, as people say."""
    held_by: Mapping[str, tuple[str, ...]]
    """By each screen that has read it, for what; empty where the screen passed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuedBoard:
    """A released board that a study continues."""

    release: str
    """Its id."""
    pool: frozenset[str]
    """Ids of its systems."""
    measured: Mapping[str, tuple[int, str, str]]
    """By system: its verdicts, and the days of the first and the last. Those of the board among
    themselves, those of others all."""
    again: Judgments
    """What judges were asked again of it, for this study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleQuality:
    """What rules over people's answers need beside their judgments, and who is left out."""

    rules: QualityRules = DEFAULT_RULES
    excludes: tuple[Rule, ...] = ()
    """Rules by which a study leaves people out; none where its file says nothing of it."""
    preregistered: str | None = None
    """The hash of rules and checks in the study's version; None where its file has none."""
    exclusions: tuple[Exclusion, ...] = ()
    """Every time that somebody was left out or let back in, in order."""
    checks: Mapping[str, Counted] = field(default_factory=dict)
    """By pseudonym: failed, of those answered."""
    repeats: Mapping[str, Counted] = field(default_factory=dict)
    """Answered alike again, of those answered again."""
    triads: Mapping[str, Counted] = field(default_factory=dict)
    """Circles, of those without a tie."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """A hash of the words of each reason by its assignment's id: no words."""

    @property
    def excluded(self) -> Mapping[str, Exclusion]:
        """Whoever is left out now, by pseudonym."""
        return excluded_now(self.exclusions)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyData:
    """What one version of a study holds, or what a study's audit of its judges holds."""

    items: Sequence[Item] = ()
    systems: Sequence[System] = ()
    """Those of the stress set among them."""
    raters: Sequence[Rater] = ()
    completions: Sequence[Completion] = ()
    attempts: Sequence[Attempt] = ()
    pairs: Pairs = NO_PAIRS
    """Planned."""
    judgments: Judgments = NO_JUDGMENTS
    unjudged: Sequence[Assignment] = ()
    """What else was asked: open when the judgments were read; no attention check."""
    exclude_own_family: bool = True
    """Whether judges are kept from their own family's completions."""
    targets: Sequence[RatingTarget] | None = None
    """Every rating that is wanted; None unless the study's protocol is ``rating``."""
    ratings: Sequence[Rating] = ()
    """Every rating that is stored, wanted or not."""
    writer_groups: Mapping[str, str] = field(default_factory=dict)
    """Group (crowd, peer, clinician) of each writer by pseudonym, where it is known."""
    background: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What people told about themselves, by pseudonym and question; never a part of results but
    as groups."""
    smallest_group: int = 5
    """Fewest people of whom a number is shown."""
    people_per_pair: int | None = None
    """Judgments by people that the study wants of each pair; None where it says nothing."""
    people_edges: Sequence[str] | None = None
    """Edges of items that people are shown; None where nobody is asked anything."""
    latency: Sequence[LatencyProbe] = ()
    """What `heart latency` has timed."""
    covariates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Columns of a joined table, by name: value by system."""
    asks_people_axes: bool = False
    """Whether the pages on which people judge ask for axis marks (``people.axis_marks``)."""
    pairs_of_people: Collection[str] = frozenset()
    """Pairs that people are given to judge, drawn at random from those planned; empty where none is
    known, and all may be theirs."""
    seconds: Mapping[str, float | None] = field(default_factory=dict)
    """How long people took for their judgments, by assignment id, in the order in which they came;
    None where nobody measured it."""
    display: Display = "raw"
    """In which form raters saw the replies."""
    n_identical: int = 0
    """Pairs not planned because both texts are the same."""
    funnel: Sequence[Mapping[str, Any]] = ()
    """How the items were selected: ``rule``, ``n_in`` and ``n_out`` of each step."""
    calls: Sequence[CallSum] = ()
    """Calls of models, summed by step, system or judge, and settings."""
    spent_usd: float = 0.0
    """What all runs on the store have cost."""
    in_flight: InFlight | None = None
    """What killed processes had under way on it."""
    provenance: Provenance | None = None
    """None only where no results are made of this."""
    audit: "StudyData | None" = None
    """What ``heart judges audit`` has stored beyond the study's own stress set; None where there
    was none."""
    halo: "StudyData | None" = None
    """What ``heart judges halo`` has stored: its raters, assignments, attempts and judgments; None
    where it was not run."""

    board: ContinuedBoard | None = None
    """The released board that the study continues; None where it began with nothing."""
    calibration: "StudyData | None" = None
    """What ``heart judges calibrate`` has stored: its raters, completions and ratings; None where
    it was not run."""
    keys: Mapping[str, Mapping[Axis, int]] = field(default_factory=dict)
    """Keyed scores by completion id; of a calibration only."""
    labels: Sequence[TaxonomyLabels] = ()
    """What labelers said of completions, reasons and items, by taxonomy."""
    reasons: Mapping[str, ReasonRow] = field(default_factory=dict)
    """Reasons that are labelled by their themes, by judgment id."""
    screened: Sequence[ScreenedText] = ()
    """What screens or people have read for others' sake."""
    screens: Mapping[str, Literal["rules", "model"]] = field(default_factory=dict)
    """Kind of each screen, by its name."""
    quality: PeopleQuality = field(default_factory=PeopleQuality)

    @property
    def not_shown(self) -> list[Item]:
        """The items that people are not shown, for what is at their edge."""
        edges = self.people_edges
        return [] if edges is None else [one for one in self.items if not one.is_within(edges)]

    @property
    def ranked(self) -> list[System]:
        """The systems that compete."""
        return [system for system in self.systems if system.kind != "stress"]

    @property
    def stress(self) -> list[System]:
        """The systems that bear the texts of the stress set."""
        return [system for system in self.systems if system.kind == "stress"]

    @property
    def judges(self) -> list[Rater]:
        """The LLM judges, by name."""
        judges = [rater for rater in self.raters if rater.kind == "llm"]
        return sorted(judges, key=lambda rater: rater.name)

    @property
    def rater_names(self) -> dict[str, str]:
        """Name by rater id."""
        return {rater.id: rater.name for rater in self.raters}

    @property
    def writers(self) -> dict[str, str]:
        """Who wrote the completion by a person in a pair, by the pair's id.

        Of two people's it is the last by name: an interval takes a judgment as one writer's.
        """
        by = {one.id: one.writer_id for one in self.completions if one.writer_id is not None}
        if not by:
            return {}
        theirs = self.pairs.select(self.pairs.names(by))
        return {
            pair.id: max(by[id_] for id_ in pair.completion_ids if id_ in by) for pair in theirs
        }

    def without_excluded(self) -> "StudyData":
        """Return the data without what people judged or rated who are left out.

        What they wrote stays: it is judged by others.
        """
        names = self.quality.excluded
        out = {one.id for one in self.raters if one.kind == "human" and one.name in names}
        if not out:
            return self
        targets = self.targets
        judgments = self.judgments.select(~self.judgments.rater.is_in(out))
        there = frozenset(judgments.assignment)
        return replace(
            self,
            raters=[one for one in self.raters if one.id not in out],
            judgments=judgments,
            unjudged=[one for one in self.unjudged if one.rater_id not in out],
            ratings=[one for one in self.ratings if one.rater_id not in out],
            targets=None if targets is None else [t for t in targets if t.rater_id not in out],
            seconds={id_: value for id_, value in self.seconds.items() if id_ in there},
        )

    def with_everybody(self) -> "StudyData":
        """Return the data in which nobody is left out."""
        return replace(self, quality=replace(self.quality, exclusions=()))

    def of_members(self) -> "StudyData":
        """Return the data with the judgments whose item, systems and rater the study names."""
        return replace(self, judgments=self._of_members(self.judgments, self.systems))

    def with_ratings_of_people(self) -> "StudyData":
        """Return the data in which all is wanted that people rated of its completions.

        No plan names beforehand who rates what, nor what imported judges rated. Nothing changes
        where nothing is rated.
        """
        if self.targets is None:
            return self
        people = {rater.id for rater in self.raters if rater.kind == "human" or rater.is_imported}
        texts = {completion.id for completion in self.completions}
        given = [
            rating.target
            for rating in self.ratings
            if rating.rater_id in people and rating.completion_id in texts
        ]
        return replace(self, targets=list(dict.fromkeys([*self.targets, *given])))

    def with_audit(self) -> "StudyData":
        """Return what judges were audited by: the study's own stress set, and what is in `audit`.

        Judgments of the study's own systems stay; what else was asked is of stress texts on the
        study's items.
        """
        bearers = {system.id for system in self.stress}
        texts = {text.id for text in self.completions if text.system_id in bearers}
        pairs = self.pairs.select(self.pairs.are_of(texts))
        audit = self.audit or StudyData()
        items = {item.id for item in self.items}
        wanted = {pair.id for pair in (*pairs, *audit.pairs) if pair.item_id in items}
        systems = {system.id: system for system in (*self.systems, *audit.systems)}
        bearers = {id_ for id_, system in systems.items() if system.kind == "stress"}
        judgments = self.judgments + self._of_members(audit.judgments, audit.systems)
        of_stress = judgments.is_among(bearers)
        return replace(
            self,
            systems=[*systems.values()],
            judgments=judgments.select(~of_stress | judgments.pair.is_in(wanted)),
            unjudged=[a for a in (*self.unjudged, *audit.unjudged) if a.pair_id in wanted],
            attempts=[*self.attempts, *audit.attempts],
        )

    def _of_members(self, judgments: Judgments, systems: Sequence[System]) -> Judgments:
        items = {item.id for item in self.items}
        raters = {rater.id for rater in self.raters}
        among = judgments.is_among({system.id for system in systems})
        return judgments.select(judgments.item.is_in(items) & judgments.rater.is_in(raters) & among)
