"""What `heart judges drift` asks: a few old pairs once more, exactly as before. Pure planning.

Whoever joins a released board has new verdicts put on one scale with old ones. A judge behind the
same name may have changed meanwhile. What it says here stands in a study of its own, which no
ranking reads; each board that is continued asks anew, by the version of the study it was made of.
"""

from collections.abc import Sequence
from dataclasses import replace

from hearteval.domain import Assignment, Study, record_id
from hearteval.judgments.stress_set.audit import next_version


def drift_name(study: str) -> str:
    """Return the name of the study that holds a study's drift checks; no study file can bear it."""
    return f"{study} (drift of its judges)"


def drift_study_id(study: Study) -> str:
    """Return the id of the study that holds a study's drift checks."""
    return record_id("study", {"name": drift_name(study.name), "seed": study.seed})


def drift_study(study: Study, before: Study | None) -> Study:
    """Return the study that holds a study's drift checks: as it was before, or its next version."""
    name, design = drift_name(study.name), {"drift_of": study.id}
    return next_version(replace(study, id="", version=1, name=name, design=design), before)


def ask_anew(chosen: Sequence[Assignment], study: Study) -> tuple[Assignment, ...]:
    """Assign what was chosen once more, for the board that a study continues."""
    of = drift_study_id(study)
    return tuple(replace(one, id="", study_id=of, repeat=study.pool_version) for one in chosen)
