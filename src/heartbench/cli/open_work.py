"""What a study has and what is left to be asked, planned before anybody is asked for money."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from heartbench.cli.console import utc_now
from heartbench.cli.session import Session, judge_models, system_models
from heartbench.completions.run_models import given_up_completions, systems_to_ask
from heartbench.config import StudySettings, read_key
from heartbench.domain import Assignment, Completion, Study
from heartbench.errors import SettingsError
from heartbench.judgments.run import plan_judgments, whole_repeat
from heartbench.judgments.run_models import given_up_judgments
from heartbench.judgments.run_ratings import (
    open_ratings,
    plan_ratings,
    settled_ratings,
    store_stress_set,
)
from heartbench.store.base import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a study has already, or has given up.

    Attributes:
        completions: Items answered, by system id.
        judgments: Judgments or ratings given, by rater id.
        open_judgments: Judgments or ratings that are planned and missing, by rater id; None while
            completions are still to come, on which the plan depends.
    """

    completions: Mapping[str, frozenset[str]]
    judgments: Mapping[str, int]
    open_judgments: Mapping[str, int] | None = None


NOTHING_DONE = Done(completions={}, judgments={})


def what_is_done(store: Store, study: Study) -> Done:
    """Count what a study has already, or never will have: what stays missing is not asked again."""
    completions: dict[str, set[str]] = {}
    for completion in store.iter(Completion, study):
        completions.setdefault(completion.system_id, set()).add(completion.item_id)
    for system_id, item_id in given_up_completions(store, study):
        completions.setdefault(system_id, set()).add(item_id)
    open_ones = {assignment.id for assignment in store.unjudged(study)}
    open_ones -= given_up_judgments(store, study)
    settled = [a for a in store.iter(Assignment, study) if a.id not in open_ones]
    judgments = Counter(a.rater_id for a in settled if a.repeat == 0)
    # A whole repeat (`heart judge --again`) is more than the plan: it saves nothing of it.
    for rater_id, n in Counter(a.rater_id for a in settled if a.repeat > 0).items():
        judgments[rater_id] += min(n, study.design["repeat_pairs"])
    judgments.update(target.rater_id for target in settled_ratings(store, study))
    return Done(
        completions={system: frozenset(items) for system, items in completions.items()},
        judgments=judgments,
    )


def plan_what_is_done(session: Session, study: Study, *, judges_only: bool = False) -> Done:
    """Count as `what_is_done`; where no completion is left to pay for, plan the judgments first.

    Then the estimate is of what is really open, not of the most that may come: identical texts and
    completions that stay missing make fewer pairs. The systems that ask no model have answered.

    Args:
        session: The study file with its store.
        study: Its current version.
        judges_only: Whether the judges judge what there is, without asking systems first.
    """
    store = session.store
    done = what_is_done(store, study)
    if not judges_only and systems_to_ask(store, study, system_models(session.settings)):
        return done
    policy = session.settings.judging.plan
    if session.settings.judging.protocol == "rating":
        store_stress_set(store, study, policy, now=utc_now)
        targets = plan_ratings(store, study, policy).targets
        judges = judge_models(session.settings)
        return replace(done, open_judgments=open_ratings(store, study, targets, judges))
    plan_judgments(store, study, policy, now=utc_now)
    given_up = given_up_judgments(store, study)
    open_ones = Counter(a.rater_id for a in store.unjudged(study) if a.id not in given_up)
    return replace(done, open_judgments=open_ones)


def require_keys(settings: StudySettings, store: Store, study: Study, done: Done) -> None:
    """See that every model that may be asked has its key, before anything is paid for.

    Raises:
        SettingsError: A key is not set; it names the variable.
    """
    systems, judges = system_models(settings), judge_models(settings)
    asked = [systems[system_id] for system_id in systems_to_ask(store, study, systems)]
    left = done.open_judgments
    asked += [model for rater_id, model in judges.items() if left is None or left.get(rater_id)]
    for model in sorted(asked, key=lambda model: model.model):
        read_key(model.key_name, who=model.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A whole repeat that is not stored yet.

    Attributes:
        assignments: What the judges would be asked.
        done: What the study has, these among the open ones.
    """

    assignments: tuple[Assignment, ...]
    done: Done


def plan_again(session: Session, study: Study, done: Done) -> Repeat:
    """Plan to ask the judges about every ranked pair once more.

    Raises:
        SettingsError: The study's protocol is of ratings.
    """
    if session.settings.judging.protocol == "rating":
        raise SettingsError(
            f"{session.settings.file}: --again is for judgments of pairs; this study's protocol is"
            " 'rating', whose repeats are set by judging.repeat_pairs"
        )
    store = session.store
    assignments = whole_repeat(store, study, given_up=given_up_judgments(store, study))
    planned = {assignment.id for assignment in store.iter(Assignment, study)}
    new = Counter(a.rater_id for a in assignments if a.id not in planned)
    open_ones = Counter(done.open_judgments) + new
    return Repeat(assignments=assignments, done=replace(done, open_judgments=open_ones))
