"""Controlled and judge-aware ratings as text for terminals and as tables for notebooks."""

from collections.abc import Sequence
from html import escape

from heartbench.analysis.adjusted_votes import ControlledVotes, JudgedVotes
from heartbench.analysis.controlled import AdjustedSystem
from heartbench.report.numbers import (
    NO_VALUE,
    count,
    hundredths,
    interval,
    level_percent,
    percent,
    plural,
    whole,
)
from heartbench.report.rank_table import dropped_words, t_words
from heartbench.report.text import aligned, html_text, shortened_names, wrapped

MAX_NAME = 40

Rows = Sequence[Sequence[str]]


def controlled_lines(ratings: ControlledVotes) -> str:
    """Write ratings and effects as aligned text of at most 100 columns."""
    return _lines(ratings, [_system_rows(ratings.systems, "controlled"), _effect_rows(ratings)])


def controlled_html(ratings: ControlledVotes) -> str:
    """Write ratings and effects as HTML tables, for a notebook."""
    return _html(ratings, [_system_rows(ratings.systems, "controlled"), _effect_rows(ratings)])


def judged_lines(ratings: JudgedVotes) -> str:
    """Write ratings and judges as aligned text of at most 100 columns."""
    return _lines(ratings, [_system_rows(ratings.systems, "judge-aware"), _judge_rows(ratings)])


def judged_html(ratings: JudgedVotes) -> str:
    """Write ratings and judges as HTML tables, for a notebook."""
    return _html(ratings, [_system_rows(ratings.systems, "judge-aware"), _judge_rows(ratings)])


def _lines(ratings: ControlledVotes | JudgedVotes, tables: Sequence[Rows]) -> str:
    texts = []
    for rows in tables:
        names = shortened_names([row[0] for row in rows], MAX_NAME)
        texts.append(
            aligned([[n, *row[1:]] for n, row in zip(names, rows, strict=True)], left=(0,))
        )
    return "\n\n".join(
        [wrapped(_counts_words(ratings)), *texts, "\n".join(map(wrapped, _notes(ratings)))]
    )


def _html(ratings: ControlledVotes | JudgedVotes, tables: Sequence[Rows]) -> str:
    captions = [f"<caption>{escape(_counts_words(ratings))}</caption>", ""]
    parts = [_html_table(rows, text) for rows, text in zip(tables, captions, strict=True)]
    return "".join([*parts, *(f"<p>{html_text(note)}</p>" for note in _notes(ratings))])


def _html_table(rows: Rows, caption: str) -> str:
    heads = "".join(f"<th>{html_text(head)}</th>" for head in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[1:]
    )
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _counts_words(ratings: ControlledVotes | JudgedVotes) -> str:
    settings = ratings.settings
    words = [
        plural(ratings.n_votes, "vote"),
        plural(ratings.n_ties, "tie"),
        plural(settings.n_items, "item"),
    ]
    if settings.n_raters is not None:
        noun = "judge" if isinstance(ratings, JudgedVotes) else "rater"
        words.append(plural(settings.n_raters, noun))
    return f"{plural(len(ratings.systems), 'system')}: {', '.join(words)}"


def _notes(ratings: ControlledVotes | JudgedVotes) -> list[str]:
    words = f"{ratings.interval_used}, {t_words(ratings.df)}, {level_percent(ratings.level)}"
    notes = [
        f"Interval: {words}. Elo beside it is the raw rating of the same votes. Exploratory: what "
        "is held equal may also be what makes an answer good.",
        dropped_words(ratings.n_dropped),
    ]
    return [note for note in [*notes, *(f"Warning: {w}" for w in ratings.warnings)] if note]


def _system_rows(systems: Sequence[AdjustedSystem], adjusted: str) -> list[list[str]]:
    rows = [
        [
            row.system,
            whole(row.elo_adjusted),
            interval(row.low_adjusted, row.high_adjusted),
            whole(row.elo),
            interval(row.low, row.high),
        ]
        for row in systems
    ]
    return [["system", f"Elo, {adjusted}", "interval", "Elo", "interval"], *rows]


def _effect_rows(ratings: ControlledVotes) -> list[list[str]]:
    rows = [
        [
            effect.covariate,
            hundredths(effect.beta),
            _ends(effect.low, effect.high),
            f"{effect.step:.2g}",
            percent(effect.win_rate),
        ]
        for effect in ratings.effects
    ]
    return [["effect of", "log odds", "interval", "step", "wins with one step more"], *rows]


def _judge_rows(ratings: JudgedVotes) -> list[list[str]]:
    rows = [
        [
            judge.judge,
            count(judge.n_comparisons),
            hundredths(judge.discrimination),
            _ends(judge.discrimination_low, judge.discrimination_high),
            hundredths(judge.position_bias),
            _ends(judge.position_bias_low, judge.position_bias_high),
        ]
        for judge in ratings.judges
    ]
    heads = ["judge", "votes", "discrimination", "interval", "position bias", "interval"]
    return [heads, *rows]


def _ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return NO_VALUE
    return f"[{hundredths(low)}, {hundredths(high)}]"
