"""Rankings of votes as tables for terminals and notebooks, those adjusted for something too.

The interval of every system is drawn on one scale, and the notes name the interval really used.
"""

from collections.abc import Mapping
from dataclasses import replace

from hearteval.analysis.ranking.checks.adjusted import ControlledVotes, JudgedVotes
from hearteval.analysis.ranking.head_to_head import SIGNIFICANT, find_departures
from hearteval.analysis.ranking.votes import VoteRanking
from hearteval.notices import Kind, by_severity
from hearteval.report.answers.answer import answer, first_place_words
from hearteval.report.figures import MEAN_ELO
from hearteval.report.table import CENTRE, Bar, Column, Display, Table, tabulate
from hearteval.report.text import (
    NO_BREAK_SPACE,
    bare_percent,
    count,
    counts_words,
    fine_interval,
    hundredths,
    interval,
    level_percent,
    notice_line,
    percent,
    plural,
    ranks,
    small,
    tick,
    whole,
    whole_percent,
)

MAX_NAME = 40
MAX_MATRIX = 20
"""Systems up to which text shows the head-to-head matrix."""
MAX_EXPECTED = 8
"""Up to which what is expected stands in it too."""
NO_VOTES = "\N{MIDDLE DOT}"


def ranking_display(ranking: VoteRanking) -> Display:
    """Return the answer, the table, every notice, and what systems won of each other directly."""
    names = [row.system for row in ranking.systems]
    said = answer(names, ranking.systems, ranking.warnings)
    below = [one for one in by_severity(ranking.warnings) if one.kind is not Kind.SIMULATED]
    notices = tuple(map(notice_line, below))
    return Display(((str(said),), ranking_table(ranking), notices, matrix_part(ranking)))


def ranking_table(ranking: VoteRanking) -> Table:
    """Return the systems of a ranking with their intervals drawn, and what to read beside them."""
    settings, fit = ranking.settings, ranking.fit
    heading = f"{level_percent(settings.level)} interval"
    weighted = [
        (Column("Elo, weighted", short="weighted"), lambda row: whole(row.elo_weighted)),
        (
            Column("interval", can_go=True),
            lambda row: interval(row.low_weighted, row.high_weighted),
        ),
    ]
    counts = counts_words(
        vote=fit.n_votes, tie=fit.n_ties, item=settings.n_items, rater=settings.n_raters
    )
    return tabulate(
        ranking.systems,
        [
            (Column("place", "text"), lambda row: ranks(row.rank_low, row.rank_high)),
            (Column("system", "name"), lambda row: row.system),
            ("Elo", lambda row: whole(row.elo)),
            (Column(heading, can_go=True), lambda row: interval(row.low, row.high)),
            (
                Column("", "bar", centre=MEAN_ELO),
                lambda row: Bar(row.low, row.elo, row.high, f"theta {small(row.theta)}"),
            ),
            *(weighted if ranking.systems[0].elo_weighted is not None else ()),
            (Column("win %", short="win"), lambda row: whole_percent(row.win_rate)),
            ("votes", lambda row: count(row.n_comparisons)),
        ],
        notes=[
            f"{plural(len(ranking.systems), 'system')}: {counts}. {interval_words(ranking)}",
            f"place: those that stay open. {CENTRE}{NO_BREAK_SPACE}the average, "
            f"{tick(MEAN_ELO)}. win: percent won, a tie counting half.",
            first_place_words(
                len(ranking.systems),
                ranking.systems[0].low,
                interval=settings.interval_used,
                df=settings.df,
                level=settings.level,
            ),
            _fit_words(ranking),
            dropped_words(fit.n_dropped),
        ],
    )


def interval_words(ranking: VoteRanking) -> str:
    """Say in plain words what the intervals are about; the settings name the method."""
    settings = ranking.settings
    of_whom = {"two-way": "other items and other raters"}
    others = of_whom.get(
        settings.interval_used, "other items" if settings.n_items else "other votes"
    )
    level = level_percent(settings.level)
    ties = {"half": "", "davidson": " Ties are modelled (Davidson).", "drop": " Ties are left out."}
    prior = f" Prior: {settings.prior:g} half-won votes a pair." if settings.prior else ""
    if settings.interval_used == "published":
        return f"The intervals ({level}) are the paper's, too narrow.{ties[settings.ties]}{prior}"
    if all(row.low is None for row in ranking.systems):
        return f"There are no intervals.{ties[settings.ties]}{prior}"
    return (
        f"The intervals ({level}) say how far Elo would move with {others}."
        f"{ties[settings.ties]}{prior}"
    )


def t_words(df: float) -> str:
    """Name the distribution that an interval is taken from."""
    return f"t with {plural(round(df), 'degree')} of freedom"


def dropped_words(n_dropped: Mapping[str, int]) -> str:
    """Say what was left out and why; nothing where nothing was."""
    reasons = [f"{reason} {count(n)}" for reason, n in n_dropped.items()]
    return f"Left out: {', '.join(reasons)}." if reasons else ""


def _fit_words(ranking: VoteRanking) -> str:
    """Say how far direct comparisons are from what strengths expect, and by chance."""
    fit = ranking.fit
    said = (
        f"Direct comparisons are {bare_percent(fit.rms_gap)} points from what one number per"
        f" system says (root mean square), {bare_percent(fit.max_gap)} at most"
    )
    chance, test = (fit.expected_rms_gap, fit.expected_max_gap), fit.lack_of_fit
    if test is None or test.p is None or chance[0] is None or chance[1] is None:
        return f"{said}. Not tested against chance{f': {test.reason}' if test else ''}."
    more = "more than chance" if test.p <= SIGNIFICANT else "no more than chance"
    if ranking.settings.prior:
        return (
            f"{said}, the pull of the prior in it. The votes alone depart from one number per"
            f" system by {more} explains (p {test.p:.2g})."
        )
    return (
        f"{said}; chance alone would make it {bare_percent(chance[0])} and"
        f" {bare_percent(chance[1])}. That is"
        f" {more} explains (p {test.p:.2g})."
    )


def matrix_part(ranking: VoteRanking) -> Table | tuple[str, ...]:
    """Return what every system won of every other directly, best first; of many, where it is."""
    names, pairs = [row.system for row in ranking.systems], ranking.matrix
    if not pairs:
        return ()
    where = f"Head to head: {plural(len(pairs), 'pair')} of systems, in the JSON (--json)."
    if len(names) > MAX_MATRIX:
        return (where,)
    with_expected = len(names) <= MAX_EXPECTED
    cells: dict[tuple[str, str], str] = {}
    off = find_departures(pairs, ranking.fit.lack_of_fit)
    for row in pairs:
        for seen in (row, row.seen_from(row.right)):
            mark = "*" if row in off else ""
            beside = f"/{whole_percent(seen.expected)}{mark}" if with_expected else ""
            cells[seen.left, seen.right] = f"{whole_percent(seen.observed)}{beside}"
    n_least, n_most = min(row.n for row in pairs), max(row.n for row in pairs)
    n = (
        plural(n_most, "vote")
        if n_least == n_most
        else f"{count(n_least)} to {count(n_most)} votes"
    )
    notes = [f"% won by the system of the line of {n} against that of the column."]
    if with_expected:
        notes[0] = notes[0].replace("won", "won/expected", 1)
        notes += ["* More than chance from what is expected."] * any(
            "*" in c for c in cells.values()
        )
    matrix = tabulate(
        list(enumerate(names, start=1)),
        [
            ("", lambda at: str(at[0])),
            (Column("head to head", "name"), lambda at: at[1]),
            *(
                (str(k), lambda at, other=other: cells.get((at[1], other), NO_VOTES))
                for k, other in enumerate(names, start=1)
            ),
        ],
        notes=[" ".join(notes)],
    )
    return replace(matrix, too_wide=where)


def controlled_display(votes: ControlledVotes) -> Display:
    """Return strengths with covariates held equal, and under them the covariates' effects."""
    effects = tabulate(
        votes.effects,
        [
            (_named("effect of"), lambda row: row.covariate),
            ("log odds", lambda row: hundredths(row.beta)),
            ("interval", lambda row: fine_interval(row.low, row.high)),
            ("step", lambda row: f"{row.step:.2g}"),
            ("wins with one step more", lambda row: percent(row.win_rate)),
        ],
        notes=_adjusted_notes(votes),
    )
    return Display((_adjusted_table(votes, "controlled", "rater"), effects))


def judged_display(votes: JudgedVotes) -> Display:
    """Return judge-aware strengths, and under them what each judge is like."""
    judges = tabulate(
        votes.judges,
        [
            (_named("judge"), lambda row: row.judge),
            ("votes", lambda row: count(row.n_comparisons)),
            ("discrimination", lambda row: hundredths(row.discrimination)),
            (
                "interval",
                lambda row: fine_interval(row.discrimination_low, row.discrimination_high),
            ),
            ("position bias", lambda row: hundredths(row.position_bias)),
            ("interval", lambda row: fine_interval(row.position_bias_low, row.position_bias_high)),
        ],
        notes=_adjusted_notes(votes),
    )
    return Display((_adjusted_table(votes, "judge-aware", "judge"), judges))


def _named(heading: str) -> Column:
    return Column(heading, "name", max_width=MAX_NAME)


def _adjusted_table(votes: ControlledVotes | JudgedVotes, adjusted: str, rater: str) -> Table:
    settings = votes.settings
    counts = counts_words(
        vote=votes.n_votes, tie=votes.n_ties, item=settings.n_items, **{rater: settings.n_raters}
    )
    return tabulate(
        votes.systems,
        [
            (_named("system"), lambda row: row.system),
            (f"Elo, {adjusted}", lambda row: whole(row.elo_adjusted)),
            ("interval", lambda row: interval(row.low_adjusted, row.high_adjusted)),
            ("Elo", lambda row: whole(row.elo)),
            ("interval", lambda row: interval(row.low, row.high)),
        ],
        caption=f"{plural(len(votes.systems), 'system')}: {counts}",
    )


def _adjusted_notes(votes: ControlledVotes | JudgedVotes) -> list[str]:
    words = f"{votes.interval_used}, {t_words(votes.df)}, {level_percent(votes.level)}"
    return [
        f"Interval: {words}. Elo beside it is that of the same votes. Exploratory: what "
        "is held equal may also be what makes an answer good.",
        dropped_words(votes.n_dropped),
        *map(notice_line, by_severity(votes.warnings)),
    ]
