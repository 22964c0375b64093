"""What else could explain the ranking: length, formatting and position, and how judges differ."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self

from hearteval.analysis.ranking.checks.adjusted import AdjustedSystem, Effect, JudgeTraits
from hearteval.analysis.ranking.comparisons import people_among
from hearteval.analysis.section import Basis, Records, Section
from hearteval.domain import flat_fields
from hearteval.report.figures import MANY, MEAN_ELO, Scale, effect_scale, scale_around
from hearteval.report.text import (
    NO_BREAK_SPACE,
    bare_percent,
    interval,
    listed,
    percent,
    q_words,
    whole_percent,
)
from hearteval.sections.explained.measure import (
    Confounders,
    JudgePanel,
    compare_judges,
    measure_confounders,
)
from hearteval.sections.judges import Judges

EFFECT_WORDS: Mapping[str, str] = {
    "length": "having {more} words",
    "formatting": "having {more} formatting",
    "position": "being shown first",
}
"""What is equal but for it: `step_words` says how much more."""
NO_EFFECT = "no sign of an effect"
OPEN_EFFECT = "chance may give as much, all planned contrasts counted"
NOT_DETERMINED = "not determined: it may be large either way"
TWICE = 1.995
"""What would be rounded to 100 % more."""
LARGE = 0.25
"""An interval of the win rate that reaches so far from one half on both sides says nothing."""
MORE_OFTEN = "goes with winning"
LESS_OFTEN = "goes with losing"
SAME_EITHER_WAY = "the same either way, on every item"
NO_PRECISION = "the same on every item: that is no precision"
NO_INTERVAL = "too few items to tell"
MAX_Q = 0.05
"""Of a trait of a judge, over all judges; exploratory."""
ELO_DECIMALS = 6
"""Strengths equal to this many decimals share a rank, as on the leaderboard."""


class PairedRow(NamedTuple):
    """A system's raw strength and the one adjusted for something."""

    strength: AdjustedSystem
    """Both, with intervals."""
    change: float
    rank: int
    """By the raw strength among the systems shown."""
    rank_adjusted: int


def pair_elos(systems: Sequence[AdjustedSystem]) -> tuple[Scale, tuple[PairedRow, ...]]:
    """Return one scale for raw and adjusted strengths, and rows by the raw ones, then by name."""
    rank = _ranks({row.system: row.elo for row in systems})
    rank_adjusted = _ranks({row.system: row.elo_adjusted for row in systems})
    rows = [
        PairedRow(row, row.elo_adjusted - row.elo, rank[row.system], rank_adjusted[row.system])
        for row in sorted(systems, key=lambda row: (rank[row.system], row.system))
    ]
    shown = [
        (row.elo, row.elo_adjusted, row.low, row.high, row.low_adjusted, row.high_adjusted)
        for row in systems
    ]
    return scale_around(MEAN_ELO, [end for row in shown for end in row]), tuple(rows)


def effect_rows(audit: Confounders) -> list[tuple[str, Effect | None, str]]:
    """Return every covariate: what sets one of two equals apart, its effect, a reading.

    The reading is what its q and its interval say, or why it was left out.
    """
    effects = {effect.covariate: effect for effect in audit.effects}
    sure = {test.covariate for test in audit.tests if test.q <= 1 - audit.level}
    return [
        (
            step_words(name, effects[name].step if name in effects else None),
            effects.get(name),
            _read(effects[name], is_sure=name in sure) if name in effects else audit.left_out[name],
        )
        for name in EFFECT_WORDS
        if name in effects or name in audit.left_out
    ]


def step_words(covariate: str, step: float | None) -> str:
    """Say what one of two equals has by which it differs by a step; None is a step of any size."""
    times = math.inf if step is None or step >= 1 else (1 + step) / (1 - step)
    more = f"{whole_percent(times - 1)}{NO_BREAK_SPACE}% more" if times < TWICE else "twice as much"
    words = EFFECT_WORDS[covariate].format(more="more" if step is None else more)
    return words.replace("much words", "many words")


def read_judge(judge: JudgeTraits) -> str:
    """Say what a judge's traits mean, as far as their q over all judges does."""
    discrimination = _read_discrimination(judge)
    bias = _read_bias(judge)
    if judge.discrimination_low is None and judge.position_bias_low is None:
        return NO_INTERVAL
    return ", ".join(filter(None, (discrimination, bias))) or "nothing unusual"


def _read_discrimination(judge: JudgeTraits) -> str:
    low, high = judge.discrimination_low, judge.discrimination_high
    if low is None or high is None:
        return ""
    if low <= 0 <= high:
        return "may not tell the systems apart"
    if not _is_told(judge.discrimination_q):
        return ""
    if high < 0:
        return "prefers what the others find weaker"
    return "sharper than average" if low > 1 else "less sharp than average"


def _read_bias(judge: JudgeTraits) -> str:
    if not _is_told(judge.position_bias_q):
        return ""
    return f"favours what is shown {'first' if judge.position_bias > 0 else 'second'}"


def _is_told(q: float | None) -> bool:
    return q is not None and q <= MAX_Q


def share_of_log_odds(log_odds: float) -> float:
    """Convert log odds to the share of wins that they mean."""
    return (1 + math.tanh(log_odds / 2)) / 2


def _read(effect: Effect, *, is_sure: bool) -> str:
    if effect.low is None or effect.high is None or effect.low == effect.high:
        return NO_PRECISION if effect.beta else SAME_EITHER_WAY
    if is_sure:
        return MORE_OFTEN if effect.beta > 0 else LESS_OFTEN
    if effect.low > 0 or effect.high < 0:
        return OPEN_EFFECT
    low, high = (share_of_log_odds(effect.step * end) for end in (effect.low, effect.high))
    is_open = low < 0.5 - LARGE and high > 0.5 + LARGE
    return NOT_DETERMINED if is_open else NO_EFFECT


def _ranks(elos: Mapping[str, float]) -> Mapping[str, int]:
    rounded = {name: round(elo, ELO_DECIMALS) for name, elo in elos.items()}
    return {
        name: 1 + sum(other > elo for other in rounded.values()) for name, elo in rounded.items()
    }


@dataclass(frozen=True, slots=True)
class Explained(Section[Confounders]):
    """What else could explain the ranking, by its own votes, and how all judges differ."""

    NAME: ClassVar = "explained"
    TITLE: ClassVar = "What else could explain the ranking"
    KEYS: ClassVar = ("bias_audit", "judge_panel")
    TABLES: ClassVar = {
        "effects": "effects of length, formatting, position",
        "effects-tests": "tests of these effects",
        "held-equal": "strengths with these held equal",
        "words-and-formatting": "words and marks by system",
        "judge-traits": "what judges are like",
        "judge-aware": "strengths that allow for it",
        "by-judge-alone": "the ranking by each judge",
    }
    effect_rows = staticmethod(effect_rows)
    pair_elos = staticmethod(pair_elos)
    PATHS: ClassVar = {
        "effects": "found.effects",
        "effects-tests": "found.tests",
        "held-equal": "found.systems",
        "words-and-formatting": "found.texts",
        "judge-traits": "panel.judge_aware.judges",
        "judge-aware": "panel.judge_aware.systems",
        "by-judge-alone": "alone",
    }
    MANY: ClassVar = MANY
    share_of_log_odds = staticmethod(share_of_log_odds)
    read_judge = staticmethod(read_judge)

    panel: JudgePanel | None
    """None with fewer than two judges."""
    n_ranked: int
    """Systems of the study's ranking; 0 where judges rate, and pairs enter nothing."""
    unmoved: Sequence[str] = ()
    """Judges whose own test shows no preference for a reply that is only longer."""

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Measure it; None where pairs determine no ranking."""
        board, data, level = basis.by_pairs, basis.data, basis.level
        if board is None:
            return None
        names = {row.system for row in board.rows}
        systems = [system for system in data.systems if system.name in names]
        people = people_among(data.raters)
        judges = basis.earlier.get(Judges)
        return cls(
            measure_confounders(basis.voted, systems, data, people=people, level=level),
            compare_judges(basis.rows, systems, data.raters, writers=data.writers, level=level),
            0 if basis.board is None else len(board.rows),
            judges.unmoved_by_length if isinstance(judges, Judges) else (),
        )

    @property
    def results(self) -> Mapping[str, Any]:
        """Both, by name."""
        return {"bias_audit": self.found, "judge_panel": self.panel}

    def line(self) -> str:
        """Say which of length, formatting and position go with winning, and by how much."""
        rows = [(words, at, said) for words, at, said in effect_rows(self.found) if at]
        named = [
            (at.covariate, f"{words} goes with winning {percent(at.win_rate)} {_ends(at)}")
            for words, at, said in rows
            if said in {MORE_OFTEN, LESS_OFTEN}
        ]
        if named:
            said = listed([words for _, words in named])
            doubts = self._doubts({covariate for covariate, _ in named})
            return (
                f"Between two equal replies, {said}; it may be deserved, and may be taste.{doubts}"
            )
        what = listed([at.covariate for _, at, _ in rows])
        return f"No effect of {what} is shown." if what else "Nothing could be estimated."

    def _doubts(self, covariates: Set[str]) -> str:
        """Say what speaks against effects that the votes show."""
        said = ""
        if "length" in covariates and self.unmoved:
            said += (
                " The judges' own test does not bear out that length is what counts: no preference"
                " for the same reply padded with empty sentences is shown by"
                f" {listed(self.unmoved)}."
            )
        if covariates - {"position"} and self.n_ranked == 2:
            said += " With two systems, it can hardly be told from what else sets them apart."
        return said

    @property
    def is_shown(self) -> bool:
        """Whether there is a ranking to explain."""
        return self.n_ranked > 0

    def tests(self) -> Mapping[str, float | None]:
        """Return the p of each effect."""
        return {_contrast(test.covariate): test.p for test in self.found.tests}

    def with_q(self, q: Mapping[str, float], *, level: float) -> Self:
        """Return it with the q of each effect over all that was planned."""
        tests = (replace(test, q=q[_contrast(test.covariate)]) for test in self.found.tests)
        return replace(self, found=replace(self.found, tests=tuple(tests)))

    @property
    def alone(self) -> Records:
        """The ranking by each judge alone."""
        return [
            {"judge": judge.judge, "system": system, **flat_fields(at)}
            for judge in (self.panel.alone if self.panel else ())
            for system, at in judge.ratings.items()
        ]

    def of_system(self, name: str) -> Iterable[tuple[str, str]]:
        """Return how long its replies are."""
        return [
            ("Words in a reply", f"{text.words:.0f} on average")
            for text in self.found.texts
            if text.system == name
        ]

    def scale(self) -> Scale:
        """Return the scale of the effects."""
        ends = ((one.win_rate, one.win_rate_low, one.win_rate_high) for one in self.found.effects)
        return effect_scale([*chain.from_iterable(ends)])

    def beside_judges(self) -> tuple[Scale, dict[str, PairedRow | None]]:
        """Return systems with their judge-aware strength if they have one, and the scale of these.

        Systems that only a judge alone ranks come last.
        """
        aware = self.panel.judge_aware if self.panel else None
        scale, rows = pair_elos(aware.systems if aware else ())
        alone = [name for one in (self.panel.alone if self.panel else ()) for name in one.ratings]
        paired = {row.strength.system: row for row in rows}
        return scale, {name: paired.get(name) for name in (*paired, *alone)}

    def tests_words(self) -> str:
        """Write the q of each effect."""
        said = [f"{test.covariate} {q_words(test.q)}" for test in self.found.tests]
        over = "q over the study's planned contrasts (Benjamini-Hochberg)"
        return f"{over}: {', '.join(said)}." if said else ""


def _ends(effect: Effect) -> str:
    return interval(effect.win_rate_low, effect.win_rate_high, write=bare_percent)


def _contrast(covariate: str) -> str:
    return f"effect of {covariate}"
