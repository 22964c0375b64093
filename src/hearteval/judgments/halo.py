"""What `heart judges halo` asks: the same pairs once more, otherwise. Pure planning.

A judge that marks five axes in one reply may let its verdict colour them all. So pairs that it has
judged are shown to it again: with the axes in the opposite order, and with each axis alone. These
are other prompts, so other raters, in a study of their own whose judgments no ranking reads.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from hearteval.domain import Assignment, Rater, Study, record_id
from hearteval.judgments.form import JudgeForm
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.judgments.stress_set.audit import next_version

REVERSED = "reversed"
"""The form that asks about all axes in the opposite order; those of one axis bear its letter."""


def halo_name(study: str) -> str:
    """Return the name of the study that holds a study's ablation; no study file can bear it."""
    return f"{study} (halo of its judges)"


def halo_study_id(study: Study) -> str:
    """Return the id of the study that holds a study's ablation."""
    return record_id("study", {"name": halo_name(study.name), "seed": study.seed})


def halo_forms(form: JudgeForm) -> Mapping[str, JudgeForm]:
    """Return the other ways of asking: all axes the other way round, and each alone."""
    alone: dict[str, JudgeForm] = {
        axis: replace(form, axes=(axis,), is_alone=True) for axis in form.axes
    }
    return {REVERSED: replace(form, is_reversed=True), **alone}


def choose_assignments(
    judged: Iterable[Assignment], before: Collection[tuple[str, str]], *, n: int, seed: int
) -> list[Assignment]:
    """Choose `n` judged pairs of each judge, one order of each, those of `before` first.

    `before` holds pairs and first completions that were asked about earlier: they stay.
    """
    chosen: dict[str, dict[str, Assignment]] = {}
    ranked = sorted(
        judged,
        key=lambda a: (
            (a.pair_id, a.first_completion_id) not in before,
            seeded_rank(seed, "halo", a.pair_id, a.first_completion_id),
        ),
    )
    for assignment in ranked:
        mine = chosen.setdefault(assignment.rater_id, {})
        if len(mine) < n:
            mine.setdefault(assignment.pair_id, assignment)
    return [one for mine in chosen.values() for one in mine.values()]


def ask_otherwise(
    chosen: Sequence[Assignment], raters: Mapping[str, Sequence[Rater]], study: Study
) -> tuple[Assignment, ...]:
    """Assign what was chosen to each judge's other raters, given by the judge's id."""
    return tuple(
        Assignment(
            study_id=halo_study_id(study),
            pair_id=one.pair_id,
            rater_id=rater.id,
            first_completion_id=one.first_completion_id,
        )
        for one in chosen
        for rater in raters.get(one.rater_id, ())
    )


def halo_study(study: Study, before: Study | None, raters: Iterable[Rater]) -> Study:
    """Return the study that holds a study's ablation: as it was before, or its next version."""
    made = replace(
        study,
        id="",
        version=1,
        name=halo_name(study.name),
        rater_ids=tuple(sorted(rater.id for rater in raters)),
        design={"halo_of": study.id},
    )
    return next_version(made, before)
