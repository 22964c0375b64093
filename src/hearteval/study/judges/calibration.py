"""`heart judges calibrate`: have the judges of a study of ratings score keyed examples first."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from hearteval.analysis.coverage.missing import Failure
from hearteval.domain import Study
from hearteval.errors import SettingsError
from hearteval.judgments.calibration import (
    calibration_study,
    calibration_study_id,
    calibration_targets,
    keyed_examples,
)
from hearteval.models.asking import NOTHING_ASKED
from hearteval.sections.ratings.calibration import RaterCalibration, measure_calibration
from hearteval.steps import causes_by_owner
from hearteval.steps.judgments import RatingStep, settled_ratings
from hearteval.study.asking.cost import estimate_judgments
from hearteval.study.asking.running import take_step, warn_of_missing
from hearteval.study.asking.verbs import agree_to, find_failed
from hearteval.study.grow import judge_models, study_raters
from hearteval.study.results import stored_calibration
from hearteval.study.session import Session


def calibrate_judges(
    session: Session, study: Study
) -> tuple[dict[str, Any], tuple[RaterCalibration, ...], tuple[Failure, ...]]:
    """Ask what is missing; return counts, how far each judge is from the keys, and who failed.

    Raises:
        SettingsError: The judges compare, or none of them can be asked.
    """
    settings, store = session.settings, session.store
    if settings.judging.protocol != "rating":
        raise SettingsError(
            f"{settings.file}: judging.protocol: keyed examples are for judges that score each"
            ' reply by itself (protocol = "rating"); judges that compare are tested by'
            " `heart judges audit`",
            ids=("judging.protocol",),
        )
    judges = judge_models(settings)
    raters = [rater for rater in study_raters(settings) if rater.id in judges]
    if not raters:
        raise SettingsError(
            f"{settings.file}: no judge of this study can be asked here",
            ids=("judging.judges",),
        )
    examples = keyed_examples(session.now())
    before = store.latest_study(calibration_study_id(study))
    made = calibration_study(study, before, examples, [rater.id for rater in raters])
    targets = calibration_targets(made, examples, raters)
    settled = settled_ratings(store, made) if before else frozenset()
    n_open = Counter(target.rater_id for target in targets if target not in settled)
    agree_to(session, estimate_judgments(settings, examples.items, n_open, when=session.now()))
    store.add([*raters, *examples.systems, *examples.items, *examples.completions, made])
    step = RatingStep(targets=targets, form=settings.judging.form)
    given = take_step(session, judges, ("keyed", made, step)) if n_open else NOTHING_ASKED
    names = {rater.id: rater.name for rater in raters}
    causes = causes_by_owner(step.find(store, made, names))
    warn_of_missing(session, step, names, causes)
    n_wanted = dict.fromkeys(names, len(examples.completions))
    failures = find_failed(session, step, names, causes, n_wanted)
    found = measure_calibration(stored_calibration(session, study))
    counts = {
        "n_examples": len(examples.completions),
        "ratings": {**asdict(given), "n_wanted": len(targets)},
    }
    return counts, found, failures
