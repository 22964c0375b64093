"""`heart label`: have a study's labelers say what its texts do, by one taxonomy."""

from collections.abc import Mapping
from dataclasses import asdict
from operator import itemgetter
from typing import Any

from hearteval.analysis.coverage.missing import Failure
from hearteval.config import JudgeSettings, ModelSettings, StudySettings
from hearteval.domain import Rater, Study
from hearteval.errors import SettingsError
from hearteval.labels.cues import CUES, cues_rater, has_cues
from hearteval.labels.prompt import label_prompt_hash
from hearteval.labels.safety import SAFETY, safety_rater
from hearteval.labels.taxonomy import Taxonomy, Unit
from hearteval.models.asking import NOTHING_ASKED
from hearteval.steps import causes_by_owner
from hearteval.steps.labels import LabelStep, label_by_cues, screen_by_rules, texts_to_label
from hearteval.study import quoted
from hearteval.study.asking.cost import estimate_labels
from hearteval.study.asking.running import take_step, warn_of_missing
from hearteval.study.asking.verbs import agree_to, find_failed
from hearteval.study.asking.words import Spending, in_all, spending_lines
from hearteval.study.session import Session

NAMES: Mapping[Unit, str] = {
    "completion": "replies",
    "reasons": "reasons",
    "item": "items",
}
"""What is labelled, as it is counted."""


def labeler_rater(entry: JudgeSettings, taxonomy: Taxonomy) -> Rater:
    """Return a labeler as a rater: another taxonomy, or another prompt, is another rater."""
    if entry.model is None:
        return safety_rater() if taxonomy.name == SAFETY else cues_rater(taxonomy)
    settings = {
        **entry.model.identity,
        **taxonomy.settings,
        "prompt_hash": label_prompt_hash(taxonomy),
    }
    return Rater(name=entry.name, kind="llm", family=entry.model.family, settings=settings)


def texts_named(taxonomy: Taxonomy) -> str:
    """Return what a taxonomy labels, in words."""
    return " and ".join(NAMES[of] for of in taxonomy.of)


def needed_verb(taxonomy: Taxonomy) -> str:
    """Return the verb that makes the texts which a taxonomy labels."""
    return {"completion": "complete", "reasons": "judge", "item": "run"}[taxonomy.of[0]]


def labeler_models(
    settings: StudySettings, taxonomy: Taxonomy
) -> dict[str, tuple[str, ModelSettings]]:
    """Return the labelers that are models, their names and models by rater id."""
    return {
        labeler_rater(one, taxonomy).id: (one.name, one.model)
        for one in settings.labelers
        if one.model is not None
    }


def plan_labels(session: Session, study: Study, taxonomy: Taxonomy) -> tuple[dict[str, Any], str]:
    """Return what labelling would ask and cost, as JSON says it and in words; asks nobody.

    Raises:
        SettingsError: The study file names no labeler.
    """
    _require_labelers(session.settings, taxonomy)
    spending, n_open = _plan(session, study, taxonomy)
    n_texts = len(texts_to_label(session.store, study, taxonomy))
    names = {labeler_rater(one, taxonomy).id: one.name for one in session.settings.labelers}
    body = {
        "n_texts": n_texts,
        "n_comparisons": taxonomy.n_comparisons,
        "n_open": {names[rater_id]: n for rater_id, n in n_open.items()},
        "limit_usd": session.settings.max_usd,
        "estimate": asdict(in_all(spending)),
        "by_model": [{"who": who, **asdict(one)} for who, one in spending.items()],
    }
    lines = spending_lines(session.settings, spending)
    of = f" of at most {taxonomy.n_comparisons:,} comparisons" if taxonomy.n_comparisons else ""
    words = (
        f"plan: {n_texts:,} {texts_named(taxonomy)}{of} by {len(taxonomy.keys)} {taxonomy.title}\n"
        f"{lines}"
    )
    return body, words


def label_study(
    session: Session, study: Study, taxonomy: Taxonomy
) -> tuple[dict[str, Any], tuple[Failure, ...]]:
    """Have every labeler label every text that it has not; return counts and failures.

    Raises:
        SettingsError: The study file names no labeler, a price is unknown, or nobody agreed to
            what it costs.
    """
    settings, store, tell = session.settings, session.store, session.tell
    _require_labelers(settings, taxonomy)
    models = labeler_models(settings, taxonomy)
    is_offline = any(one.model is None for one in settings.labelers)
    total = NOTHING_ASKED
    if taxonomy.name == SAFETY:
        # The rules first, whoever is named: what they hold of people's words is sent to no model.
        screened = screen_by_rules(store, study, taxonomy.of, now=session.now)
        total += screened if is_offline else NOTHING_ASKED
    spending, _ = _plan(session, study, taxonomy)
    agree_to(session, spending)
    store.add([labeler_rater(one, taxonomy) for one in settings.labelers])
    if is_offline and taxonomy.name != SAFETY:
        with tell.progress(CUES) as progress:
            total += label_by_cues(store, study, taxonomy, now=session.now, progress=progress)
    failures: tuple[Failure, ...] = ()
    if models:
        step = LabelStep(taxonomy=taxonomy)
        to_ask = {rater_id: model for rater_id, (_, model) in models.items()}
        total += take_step(session, to_ask, ("labels", study, step))
        names = dict(sorted(((id_, name) for id_, (name, _) in models.items()), key=itemgetter(1)))
        causes = causes_by_owner(step.find(store, study, names))
        warn_of_missing(session, step, names, causes)
        n_texts = len(texts_to_label(store, study, taxonomy))
        failures = find_failed(session, step, names, causes, dict.fromkeys(names, n_texts))
    counts = {**asdict(total), "n_missing": sum(total.missing.values())}
    return counts, failures


def _require_labelers(settings: StudySettings, taxonomy: Taxonomy) -> None:
    if not settings.labelers:
        words = ' labelers = ["gpt"] or other judges and models, or ["cues"], the offline baseline,'
        words += " which measures nothing"
        if taxonomy.of == ("item",):
            words = ' labelers = ["gpt", "claude"] or other judges and models, two or more, or have'
            words += f" people answer all questions: heart items review {quoted(settings.file)}"
        raise SettingsError(
            f"{settings.file}: labels.labelers: nobody is named to label; add [labels] with{words}",
            ids=("labels.labelers",),
        )
    is_offline = any(one.model is None for one in settings.labelers)
    # Of what is safe to read the rules are the offline baseline.
    if is_offline and taxonomy.name != SAFETY and not has_cues(taxonomy):
        raise SettingsError(
            f"{settings.file}: labels.labelers: {CUES!r}, the offline baseline, has no words for"
            f" {taxonomy.title}; name models, two or more, or have people answer them",
            ids=("labels.labelers",),
        )
    if settings.is_simulated and any(one.model is not None for one in settings.labelers):
        raise SettingsError(
            f"{settings.file}: labels.labelers: a simulated study asks no model; its texts say"
            ' nothing. Name the offline baseline: ["cues"]',
            ids=("labels.labelers",),
        )


def _plan(session: Session, study: Study, taxonomy: Taxonomy) -> tuple[Spending, dict[str, int]]:
    """Return what is to come, and how many texts are open, by rater id."""
    models = labeler_models(session.settings, taxonomy)
    raters = [labeler_rater(one, taxonomy).id for one in session.settings.labelers]
    wanted = LabelStep(taxonomy=taxonomy).find(session.store, study, raters)
    n_open = {**dict.fromkeys(raters, 0), **wanted.n_open}
    return estimate_labels(session, study, taxonomy, models, n_open), n_open
