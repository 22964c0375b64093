"""Rankings of votes as tables for terminals and notebooks, those adjusted for something too.

The interval of every system is drawn on one scale, and the notes name the interval really used.
"""

from collections.abc import Mapping

from hearteval.analysis.ranking.adjusted import ControlledVotes, JudgedVotes
from hearteval.analysis.ranking.votes import VoteRanking
from hearteval.report.table import Bar, Column, Display, Table, tabulate
from hearteval.report.text import (
    bare_percent,
    count,
    counts_words,
    fine_interval,
    hundredths,
    interval,
    level_percent,
    percent,
    plural,
    ranks,
    small,
    whole,
)

CONDITIONAL = ("item-sandwich", "item-bootstrap")
MAX_NAME = 40


def ranking_table(ranking: VoteRanking) -> Table:
    """Return the systems of a ranking with their intervals drawn, and what to read beside them."""
    settings, fit = ranking.settings, ranking.fit
    weighted = [
        (Column("Elo, weighted", short="weighted"), lambda row: whole(row.elo_weighted)),
        ("interval", lambda row: interval(row.low_weighted, row.high_weighted)),
    ]
    counts = counts_words(
        vote=fit.n_votes, tie=fit.n_ties, item=settings.n_items, rater=settings.n_raters
    )
    return tabulate(
        ranking.systems,
        [
            ("rank", lambda row: ranks(row.rank_low, row.rank_high)),
            (Column("system", "name"), lambda row: row.system),
            ("Elo", lambda row: whole(row.elo)),
            ("interval", lambda row: interval(row.low, row.high)),
            (
                Column("", "bar"),
                lambda row: Bar(row.low, row.elo, row.high, f"theta {small(row.theta)}"),
            ),
            *(weighted if ranking.systems[0].elo_weighted is not None else ()),
            ("win %", lambda row: bare_percent(row.win_rate)),
            ("votes", lambda row: count(row.n_comparisons)),
        ],
        caption=f"{plural(len(ranking.systems), 'system')}: {counts}",
        notes=[
            interval_words(ranking),
            _fit_words(ranking),
            dropped_words(fit.n_dropped),
            *(f"Warning: {warning}" for warning in ranking.warnings),
        ],
    )


def interval_words(ranking: VoteRanking) -> str:
    """Name the interval really used, its level and what it is conditional on."""
    settings = ranking.settings
    words = [settings.interval_used, level_percent(settings.level)]
    if settings.df is not None:
        words.insert(1, t_words(settings.df))
    if settings.interval_used == "item-bootstrap":
        words.insert(1, f"{count(settings.resamples)} resamples, seed {settings.seed}")
    if settings.interval_used in CONDITIONAL:
        words.append("conditional on these raters")
    ties = {"half": "ties half a win each", "davidson": "ties by Davidson", "drop": "ties dropped"}
    prior = f", prior {settings.prior:g} a pair" if settings.prior else ""
    return f"Interval: {', '.join(words)}. Every vote counts once, {ties[settings.ties]}{prior}."


def t_words(df: float) -> str:
    """Name the distribution that an interval is taken from."""
    return f"t with {plural(round(df), 'degree')} of freedom"


def dropped_words(n_dropped: Mapping[str, int]) -> str:
    """Say what was left out and why; nothing where nothing was."""
    reasons = [f"{reason} {count(n)}" for reason, n in n_dropped.items()]
    return f"Left out: {', '.join(reasons)}." if reasons else ""


def _fit_words(ranking: VoteRanking) -> str:
    fit = ranking.fit
    return (
        f"Fit check, predicted against observed wins: {percent(fit.rms_gap)} root mean square over"
        f" pairs of systems, largest {percent(fit.max_gap)}; over systems"
        f" {percent(fit.system_rms_gap)}, largest {percent(fit.system_max_gap)}."
    )


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
        f"Interval: {words}. Elo beside it is the raw rating of the same votes. Exploratory: what "
        "is held equal may also be what makes an answer good.",
        dropped_words(votes.n_dropped),
        *(f"Warning: {warning}" for warning in votes.warnings),
    ]
