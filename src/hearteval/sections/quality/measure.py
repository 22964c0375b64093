"""`StudyData` with everybody in it -> `CarefulAnswers`: what rules see, and who is left out.

Where anybody is left out, all is computed a second time with them, so that the ranking and models
against people stand beside those without them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hearteval.analysis.data import PeopleQuality, StudyData
from hearteval.analysis.quality.panel import to_panel
from hearteval.analysis.quality.rules import Finding, apply_rules
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.domain.quality import QualityRules
from hearteval.sections.people.models.shares import AgainstModels

BY_HAND: Final = "by hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuality:
    """What rules say of one person."""

    person: str
    """Their pseudonym."""
    n_answers: int
    """Judgments, or ratings where replies are rated; checks and repeats apart."""
    is_excluded: bool
    found: tuple[str, ...]
    """Rules that found something."""
    findings: tuple[Finding, ...]
    """Of every rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Somebody who is left out of every number but those that say so."""

    person: str
    rules: tuple[str, ...]
    """By which; `BY_HAND` where a person decided it."""
    why: str
    """In words; of what was decided by hand they stay in the store."""
    at: str
    """ISO 8601, UTC."""
    n_answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedBeside:
    """One system without whoever is left out, and with everybody."""

    system: str
    rank: int | None
    elo: float | None
    low: float | None
    high: float | None
    rank_with: int | None
    """With everybody, and so on."""
    elo_with: float | None
    low_with: float | None
    high_with: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstBeside:
    """How often a model's completion is preferred to a person's, without and with everybody."""

    judged_by: str
    model: float | None
    tie: float | None
    person: float | None
    model_with: float | None
    tie_with: float | None
    person_with: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarefulAnswers:
    """How carefully people answered, and who is left out."""

    people: tuple[PersonQuality, ...]
    """By pseudonym, whoever is left out too."""
    rules: QualityRules
    excludes: tuple[str, ...]
    """Rules by which the study leaves people out; none where its file says nothing of it."""
    preregistered: str | None
    """The hash by which rules and checks were fixed; None where the file has none."""
    excluded: tuple[LeftOut, ...]
    ranking: tuple[RankedBeside, ...]
    """By rank without whoever is left out; empty where that is nobody, and without a ranking."""
    is_other_order: bool | None
    """Whether any system has another rank with everybody; None without two rankings."""
    against_models: tuple[AgainstBeside, ...]
    """Empty where nobody is left out, and unless models met people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """What is set side by side."""

    board: Leaderboard | None
    against: tuple[AgainstModels, ...]


def measure_quality(
    everybody: StudyData,
    without: Computed,
    compute_with: Callable[[], Computed],
    *,
    level: float,
) -> CarefulAnswers | None:
    """Apply the study's rules to everybody, and set both computations side by side.

    Args:
        everybody: The study's data with whoever is left out.
        without: What was computed without them.
        compute_with: Computes the same with everybody; called where anybody is left out.
        level: Nominal coverage.

    Returns:
        None where no person has answered anything.
    """
    panel = to_panel(everybody)
    if not panel.names:
        return None
    quality = everybody.quality
    findings = apply_rules(panel, quality.rules, level=level)
    excluded = quality.excluded
    n_answers = {name: int((panel.person == k).sum()) for k, name in enumerate(panel.names)}
    of: dict[str, list[Finding]] = {name: [] for name in panel.names}
    for one in findings:
        of[one.person].append(one)
    left_out = _left_out(quality, n_answers)
    with_all = compute_with() if any(one.n_answers for one in left_out) else None
    ranking = () if with_all is None else _ranking(without.board, with_all.board)
    both = with_all is not None and without.board is not None and with_all.board is not None
    return CarefulAnswers(
        people=tuple(
            PersonQuality(
                person=name,
                n_answers=n_answers[name],
                is_excluded=name in excluded,
                found=tuple(one.rule for one in own if one.is_found),
                findings=tuple(own),
            )
            for name, own in of.items()
        ),
        rules=quality.rules,
        excludes=quality.excludes,
        preregistered=quality.preregistered,
        excluded=left_out,
        ranking=ranking,
        is_other_order=any(one.rank != one.rank_with for one in ranking) if both else None,
        against_models=() if with_all is None else _against(without.against, with_all.against),
    )


def _left_out(quality: PeopleQuality, n_answers: Mapping[str, int]) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(
            person=name,
            rules=one.rules or (BY_HAND,),
            # What was written by hand may say anything about a person.
            why=one.why if one.rules else "",
            at=one.at.isoformat(timespec="seconds"),
            n_answers=n_answers.get(name, 0),
        )
        for name, one in quality.excluded.items()
    )


def _ranking(without: Leaderboard | None, with_all: Leaderboard | None) -> tuple[RankedBeside, ...]:
    one, other = (
        {} if board is None else {row.system: row.weighted for row in board.rows}
        for board in (without, with_all)
    )
    return tuple(
        RankedBeside(system=name, **_at(one.get(name)), **_at(other.get(name), suffix="_with"))
        for name in dict.fromkeys((*one, *other))
    )


def _at(strength: EloEstimate | None, *, suffix: str = "") -> dict[str, Any]:
    return {
        f"{name}{suffix}": None if strength is None else getattr(strength, name)
        for name in ("rank", "elo", "low", "high")
    }


def _against(
    without: tuple[AgainstModels, ...], with_all: tuple[AgainstModels, ...]
) -> tuple[AgainstBeside, ...]:
    one, other = (
        {row.judged_by: row for row in found if row.writers is None}
        for found in (without, with_all)
    )

    return tuple(
        AgainstBeside(judged_by=by, **_rates(one.get(by)), **_rates(other.get(by), suffix="_with"))
        for by in dict.fromkeys((*one, *other))
    )


def _rates(found: AgainstModels | None, *, suffix: str = "") -> dict[str, Any]:
    return {
        f"{name}{suffix}": None if found is None else getattr(found, name).rate
        for name in ("model", "tie", "person")
    }
