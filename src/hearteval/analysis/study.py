"""`StudyData` -> `StudyResults`: everything that a study says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from hearteval.analysis.briefs import BriefUse, find_briefs
from hearteval.analysis.calls import (
    NOTHING_SPENT,
    Spending,
    sum_spending,
    warn_of_models,
)
from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.analysis.coverage.missing import FAIL_ON_MISSING, Failure, merge_causes
from hearteval.analysis.coverage.pace import PeoplePace, measure_pace, warn_of_pace
from hearteval.analysis.coverage.study import (
    BASELINE_FAMILY,
    Coverage,
    SystemCoverage,
    cover_ratings,
    cover_study,
    find_failures,
    naming_words,
)
from hearteval.analysis.data import Provenance, StudyData, withdrawn_pairs
from hearteval.analysis.examples import Example, choose_examples
from hearteval.analysis.judgments import Judgments
from hearteval.analysis.labels.safety import SafetyResults, measure_screens
from hearteval.analysis.planned import PlannedContrast, adjust_planned
from hearteval.analysis.ranking.anchored import AnchoredRanking, anchor_judgments
from hearteval.analysis.ranking.axes.tables import WinRate, win_rates
from hearteval.analysis.ranking.cells import headline_cells
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.ranking.leaderboard import Leaderboard, rank_systems
from hearteval.analysis.ranking.shares import Shares, measure_shares
from hearteval.analysis.ranking.voters import Headline, choose_headline
from hearteval.analysis.scores.beside_pairs import compare_with_pairs
from hearteval.analysis.scores.study import RatingResults, score_study
from hearteval.analysis.section import (
    Basis,
    Found,
    Section,
    Sections,
    section_dicts,
    section_results,
)
from hearteval.domain import EQUAL_WEIGHTS, Axis, Rater, axis_names
from hearteval.domain.reasons import BY_DESIGN
from hearteval.domain.study import DEFAULT_RULE, AmbiguityRule, Voters
from hearteval.errors import NotIdentifiedError
from hearteval.notices import SIMULATED_WORDS, Kind, Notice, by_severity
from hearteval.protocol import CUE_NOTICE

"""Share of pairs turned with the order above which a judge is warned of; by chance it is .5."""
FUNNEL_STEP = ("rule", "n_in", "n_out")
RATED = "the judges of this study rate each reply by itself, so nothing is compared"
JUDGED_BY_CUES = f"{CUE_NOTICE} Use these numbers to test the pipeline, not to compare systems."


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyResults:
    """Everything ``heart analyze`` computes.

    Attributes:
        funnel: How the items were selected, as in `StudyData`; empty for items that came selected.
        headline: Whose votes the ranking is by, and all that stands beside its Elo; None where
            nobody has voted.
        leaderboard: The ranking; None where it could not be computed. Where the headline is
            anchored, the one beside it.
        leaderboard_problem: Why there is no ranking, else None.
        win_rates: Of every system, ranked or not, by name.
        shares: How often systems are preferred, with intervals, by those whose votes the ranking
            is by; None where nobody has voted.
        safety: What screens hold of what people read, and miss; None where none has read anything.
        ratings: Scores by system; None unless the study's protocol is ``rating``. What a
            section holds more of them stands here too.
        failures: Systems and judges without a result, or of which more is missing than the study
            allows; empty where it succeeded.
        examples: Comparisons that a person should read, of every two systems.
        spending: Which models were asked, how, under what name they answered, at what cost.
        briefs: What models and people who wrote were asked for.
        planned: The tests of its planned contrasts, one family; words assert by their q.
        pace: How long people took; None where nothing that a person judged is timed.
        axis_names: What the axes are called: by the judges' own rubric where it names them.
        judge_notice: What a judge is that must not be taken for more, on every output; else None.
        mine: The system that the study is asked about, and the one it is to be compared with, where
            the study file names them.
        anchored: People's ranking, anchored by judges'; None where people or judges did not vote.
        sections: What each section that was asked for found.
    """

    provenance: Provenance
    coverage: Coverage
    funnel: tuple[Mapping[str, Any], ...]
    leaderboard: Leaderboard | None
    leaderboard_problem: str | None
    win_rates: tuple[WinRate, ...]
    shares: Shares | None = None
    ratings: RatingResults | None
    judge_notice: str | None
    warnings: tuple[Notice, ...]
    failures: tuple[Failure, ...] = ()
    examples: tuple[Example, ...] = ()
    spending: Spending = NOTHING_SPENT
    briefs: tuple[BriefUse, ...] = ()
    safety: SafetyResults | None = None
    planned: tuple[PlannedContrast, ...] = ()
    headline: Headline | None = None
    pace: PeoplePace | None = None
    anchored: AnchoredRanking | None = None
    sections: Sections = field(default_factory=dict)
    mine: str | None = None
    against: str | None = None
    axis_names: Mapping[Axis, str] = field(default_factory=axis_names)

    def found(self, section: type[Section[Found]]) -> Found | None:
        """Return what a section found; None where that was nothing, or where it was not asked."""
        one = self.sections.get(section)
        return None if one is None else one.found

    @property
    def leading(self) -> AnchoredRanking | None:
        """The anchored ranking, where it is the one at the top."""
        is_at_top = self.headline is not None and self.headline.by == "anchored"
        return self.anchored if is_at_top and self.leaderboard_problem is None else None

    @property
    def found_sections(self) -> list[Section[Any]]:
        """The sections that found anything, in the order of the page."""
        return [one for one in self.sections.values() if one is not None]


def analyze_study(  # noqa: PLR0913 - what a study file may choose of its results, and how
    data: StudyData,
    *,
    level: float = 0.95,
    fail_on_missing: float = FAIL_ON_MISSING,
    weights: Mapping[Axis, float] = EQUAL_WEIGHTS,
    ambiguity: AmbiguityRule = DEFAULT_RULE,
    headline: Voters | None = None,
    assume_random: bool = False,
    mine: str | None = None,
    against: str | None = None,
    sections: Iterable[type[Section[Any]]] = (),
) -> StudyResults:
    """Compute everything the report shows.

    Repeats are for the audit of the judges and never enter a ranking. A ranking that the judgments
    do not determine is reported as such, with its reason; it does not stop the rest. Where judges
    rate, scores stand in place of a ranking. `fail_on_missing` is the share of one system's or
    judge's replies that may be missing before the study has failed; `weights` are those of the axes
    in the overall score of ratings; `ambiguity` says which pairs are ambiguous, `headline` whose
    votes the ranking is by, and what breaks it down or explains it; `assume_random`, that pairs
    which people judged were drawn at random where the study did not draw them; `sections` are what
    else is said, in the order of the page.

    What people judged who are left out (`PeopleQuality.excluded`) enters nothing but what a section
    says of everybody.
    """
    everybody = data.with_ratings_of_people().of_members()
    stored = data.with_ratings_of_people().without_excluded()
    data = stored.of_members()
    n_foreign = len(stored.judgments) - len(data.judgments)
    ranked = data.ranked
    rows = data.judgments.among({system.id for system in ranked}).first_ones
    columns = to_columns(rows, data)
    is_cue_judged = any(rater.family == BASELINE_FAMILY for rater in data.raters)
    voters, counted = choose_headline(rows, ranked, set(people_among(data.raters)), headline)
    anchored = anchor_judgments(rows, data, level=level, assume_random=assume_random)
    leaderboard, problem = _rank(counted, rows, data, voters, anchored, level=level)
    coverage = cover_study(data, rows)
    assert data.provenance is not None, "results without a provenance"
    spending = sum_spending(
        ranked,
        data.raters,
        data.calls,
        total_usd=data.spent_usd,
        made=data.provenance.created_at,
        in_flight=data.in_flight,
    )
    seed = data.provenance.seed
    by_pairs = leaderboard
    unused: list[Notice] = []
    ratings, stress, rated = (
        (None, (), None)
        if data.targets is None
        else score_study(stored, level=level, weights=weights)
    )
    if ratings is not None:
        if rated is not None:
            beside = compare_with_pairs(rated, columns, leaderboard, level=level, seed=seed)
            ratings = replace(ratings, pairs=beside)
        leaderboard, problem = None, RATED
        coverage = replace(coverage, judges=cover_ratings(stored), n_pairs=0)
        unused = _unused(stored)
    is_compared = ratings is None
    gone, pace = withdrawn_pairs(data.pairs, data.completions), measure_pace(data)
    votes = _of_voters(columns, voters)
    names = _names_of_axes(data.raters)
    found: dict[type[Section[Any]], Section[Any] | None] = {}
    basis = Basis(
        data=data,
        coverage=coverage,
        rows=rows,
        columns=columns,
        voted=counted,
        counted=votes,
        voters=voters,
        anchored=anchored,
        board=leaderboard,
        by_pairs=by_pairs,
        cells=headline_cells(votes, {row.system for row in leaderboard.rows})
        if leaderboard
        else None,
        ratings=ratings,
        rated=rated,
        stress=stress,
        ambiguity=ambiguity,
        level=level,
        seed=seed,
        earlier=found,
        everybody=everybody,
        assume_random=assume_random,
    )
    for section in sections:
        one = section.find(basis)
        found[section] = one and replace(one, axis_names=names)
    named, planned = adjust_planned(found, level=level)
    judges = () if coverage.is_all_identical else coverage.judges
    failures = find_failures(coverage.systems, judges, fail_on_missing=fail_on_missing)
    warnings = (
        *_warnings(coverage, 0 if ratings is not None else n_foreign),
        *(notice for one in named.values() if one is not None for notice in one.notices()),
        *warn_of_pace(pace),
        *warn_of_models(spending),
        *([Notice(Kind.SIMULATED, SIMULATED_WORDS)] if data.provenance.simulated else []),
        *unused,
        *map(_failure_notice, failures),
    )
    results = StudyResults(
        provenance=data.provenance,
        coverage=coverage,
        funnel=tuple({key: step[key] for key in FUNNEL_STEP} for step in data.funnel),
        leaderboard=leaderboard,
        leaderboard_problem=problem,
        win_rates=win_rates(rows, ranked),
        shares=measure_shares(votes, level=level) if is_compared else None,
        ratings=ratings,
        judge_notice=JUDGED_BY_CUES if is_cue_judged else None,
        examples=choose_examples(
            rows.select(~rows.pair.is_in(gone)),
            ranked,
            seed=seed,
            people=frozenset(people_among(data.raters)),
        )
        if is_compared
        else (),
        warnings=by_severity(warnings),
        failures=failures,
        spending=spending,
        briefs=find_briefs(ranked),
        safety=measure_screens(data.screened, data.screens, level=level),
        planned=planned if is_compared else (),
        pace=pace,
        axis_names=names,
        mine=mine,
        against=against,
        headline=voters if len(rows) and is_compared else None,
        anchored=anchored if is_compared else None,
        sections=named,
    )
    # A section may have more to say of a part of the core: that stands in its place.
    own = {each.name for each in fields(StudyResults)}
    fuller = {name: at for name, at in section_results(named).items() if name in own}
    return replace(results, **fuller)


def results_dict(results: StudyResults) -> dict[str, Any]:
    """Return the results as what JSON can write, what each section found under its name."""
    values = asdict(replace(results, sections={}))
    del values["sections"]
    return values | section_dicts(results.sections)


def _names_of_axes(raters: Sequence[Rater]) -> Mapping[Axis, str]:
    """Return the names that judges were told, the project's where they were told no others."""
    own = (name for rater in raters for name in rater.settings.get("names", {}).items())
    return axis_names(dict(own))


def without_words(results: StudyResults) -> StudyResults:
    """Return results in which nothing is said in a provider's words: they may quote a dialogue."""
    coverage, failures = results.coverage, results.failures
    bare = tuple(replace(one, causes=merge_causes(one.causes)) for one in failures)
    said = dict(zip(map(_failure_notice, failures), map(_failure_notice, bare), strict=True))
    systems = tuple(replace(row, causes=merge_causes(row.causes)) for row in coverage.systems)
    judges = tuple(replace(row, causes=merge_causes(row.causes)) for row in coverage.judges)
    return replace(
        results,
        coverage=replace(coverage, systems=systems, judges=judges),
        failures=bare,
        warnings=tuple(said.get(notice, notice) for notice in results.warnings),
    )


def _failure_notice(failure: Failure) -> Notice:
    why = failure.why("not asked")
    if failure.is_total:
        text = f"The {failure.kind} {failure.name} has no result ({why})."
        return Notice(Kind.NO_RESULT, text)
    text = (
        f"The {failure.kind} {failure.name} lacks {failure.n_missing} of {failure.n_wanted}, more"
        f" than the study allows ({why})."
    )
    return Notice(Kind.MISSING, text)


def _unused(data: StudyData) -> list[Notice]:
    """Say what is stored and enters no score of a study whose judges rate."""
    said = []
    n_foreign = len({rating.target for rating in data.ratings} - {*(data.targets or ())})
    if n_foreign:
        text = (
            f"{n_foreign} stored ratings are by judges or of replies that the study file no"
            " longer names; they are kept and not used."
        )
        said.append(Notice(Kind.UNUSED, text))
    if len(data.judgments):
        text = (
            f"{len(data.judgments)} stored judgments of pairs are kept and enter no score: the"
            " study's protocol is rating."
        )
        said.append(Notice(Kind.UNUSED, text))
    return said


def _rank(
    rows: Judgments,
    every: Judgments,
    data: StudyData,
    voters: Headline,
    anchored: AnchoredRanking | None,
    *,
    level: float,
) -> tuple[Leaderboard | None, str | None]:
    """Return the ranking, or why there is none; where the study file chose, with its setting."""
    if not len(every):
        return None, "there is no judgment yet; see what is missing"
    chosen = f'by [analysis] headline = "{voters.asked}" there is no ranking: '
    try:
        if voters.by == "anchored":
            _require_anchored(anchored)
        if not len(rows):
            raise NotIdentifiedError(f"there is no judgment by {voters.by}")
        found = rank_systems(
            rows,
            data.ranked,
            data.raters,
            writers=data.writers,
            level=level,
            asks_people=data.asks_people_axes,
            others=every.select(~every.rater.is_in(rows.rater.present)),
        )
    except NotIdentifiedError as error:
        return None, f"{chosen if voters.asked else ''}{error}"
    return found, None


def _require_anchored(anchored: AnchoredRanking | None) -> None:
    if anchored is None:
        raise NotIdentifiedError(
            "it takes votes of people and of judges, and one of them is lacking"
        )
    if anchored.reason is not None:
        raise NotIdentifiedError(anchored.reason)


def _of_voters(columns: JudgmentColumns, voters: Headline) -> JudgmentColumns:
    """Return the judgments that all beside the headline is by."""
    if voters.beside == "both" or not voters.n_left_out:
        return columns
    return columns.select(columns.is_person == (voters.beside == "people"))


def _missing_notices(row: SystemCoverage) -> list[Notice]:
    """Say that a system has no reply to some items; what cannot be there is no serious warning."""
    if not row.n_completions:
        return []
    n_by_design = sum(row.missing.get(reason, 0) for reason in BY_DESIGN)
    counts = {
        Kind.MISSING: (row.n_items - row.n_completions - n_by_design, ""),
        Kind.BY_DESIGN: (n_by_design, " by design"),
    }
    return [
        Notice(
            kind,
            f"{row.system} has no reply to {n} of {row.n_items} items{why}; its figures stand on"
            " the others.",
        )
        for kind, (n, why) in counts.items()
        if n
    ]


def _warnings(coverage: Coverage, n_foreign: int) -> tuple[Notice, ...]:
    warnings = [words for row in coverage.systems for words in _missing_notices(row)]
    warnings += [
        Notice(Kind.NAMES_ITSELF, words)
        for row in coverage.systems
        if (words := naming_words(row)) is not None
    ]
    if n_foreign:
        text = (
            f"{n_foreign} stored judgments are about items, systems or judges that the study file "
            "no longer names; they are kept and not used."
        )
        warnings.append(Notice(Kind.UNUSED, text))
    return by_severity(warnings)
