"""`heart judges halo`: ask a study's judges about axes alone and the other way round."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges.halo import JudgeHalo, halo_of_judges
from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Pair,
    Rater,
    Study,
    System,
)
from hearteval.errors import SettingsError
from hearteval.judgments.form import JudgeForm
from hearteval.judgments.halo import (
    REVERSED,
    ask_otherwise,
    choose_assignments,
    halo_forms,
    halo_study,
    halo_study_id,
)
from hearteval.models.asking import NOTHING_ASKED, AskedCounts
from hearteval.steps.judgments import PairStep
from hearteval.store.base import Store
from hearteval.study.asking.cost import estimate_judgments
from hearteval.study.asking.running import take_step
from hearteval.study.asking.verbs import agree_to
from hearteval.study.grow import judge_models, study_raters
from hearteval.study.pipeline import LEVEL, pair_form
from hearteval.study.results import read_judgments
from hearteval.study.session import Session


def measure_judges(
    session: Session, study: Study, *, n_pairs: int
) -> tuple[dict[str, Any], tuple[JudgeHalo, ...]]:
    """Ask every judge that is a model about so many of its pairs again; return what was found.

    Raises:
        SettingsError: No judge has marked axes yet, or the judges give no marks to ask about.
    """
    form, store = ablated_form(session), session.store
    able = judge_models(session.settings)
    judges = {r.name: r for r in study_raters(session.settings) if r.id in able}
    if not judges:
        raise SettingsError(
            f"{session.settings.file}: no judge of this study can be asked again: the cue judge"
            " marks each axis by itself, so it has no halo, and imported judges are not asked here",
            ids=("judging.judges",),
        )
    ways = {name: _asking(session, other) for name, other in halo_forms(form).items()}
    raters = {
        judge.id: [one for way in ways.values() for one in _raters(way) if one.name == name]
        for name, judge in judges.items()
    }
    before = store.latest_study(halo_study_id(study))
    earlier = list(store.iter(Assignment, before)) if before else []
    chosen = choose_assignments(
        judged_pairs(session, study, set(raters)),
        {(one.pair_id, one.first_completion_id) for one in earlier},
        n=n_pairs,
        seed=study.seed,
    )
    if not chosen:
        raise SettingsError(
            f"{session.settings.file}: no judge that is a model has judged a pair yet; run"
            " `heart run` first",
            ids=("judging.judges",),
        )
    made = halo_study(study, before, (one for own in raters.values() for one in own))
    wanted = ask_otherwise(chosen, raters, study)
    given = _ask(session, made, ways, [*(one for own in raters.values() for one in own)], wanted)
    counts = {
        "n_pairs": len(chosen),
        "judgments": {
            "n_wanted": given.n_wanted,
            "n_before": given.n_before,
            "n_added": given.n_added,
            "missing": dict(given.missing),
            "stopped": given.stopped,
        },
    }
    ids = {one.id for one in wanted}
    said = read_judgments(session, made)
    said = said.select(said.is_of(ids))
    answered = {*said.assignment}
    halo = StudyData(
        raters=[one for own in raters.values() for one in own],
        unjudged=[one for one in wanted if one.id not in answered],
        attempts=[one for one in store.iter(Attempt, made) if one.assignment_id in ids],
        judgments=said,
    )
    data = StudyData(
        raters=list(judges.values()), judgments=read_judgments(session, study), halo=halo
    )
    return counts, halo_of_judges(data, level=LEVEL)


def ablated_form(session: Session) -> JudgeForm:
    """Return what the judges of a study are asked, of which each axis can be asked alone.

    Raises:
        SettingsError: They give no mark for each of several axes.
    """
    form = pair_form(session.settings)
    if form.marks != "all" or len(form.axes) < 2:
        raise SettingsError(
            f"{session.settings.file}: judging.axis_marks: a halo is of judges that mark every axis"
            " of several; these do not",
            ids=("judging.axis_marks",),
        )
    return form


def _asking(session: Session, form: JudgeForm) -> Session:
    """Return the session of a study whose judges are asked otherwise."""
    settings = session.settings
    return replace(
        session, settings=replace(settings, judging=replace(settings.judging, form=form))
    )


def _raters(session: Session) -> tuple[Rater, ...]:
    return study_raters(session.settings)


def judged_pairs(session: Session, study: Study, rater_ids: set[str]) -> list[Assignment]:
    """Return the ranked pairs that these judges have judged, first times only."""
    store = session.store
    open_ones = {one.id for one in store.unjudged(study)}
    asked = [
        one
        for one in store.iter(Assignment, study)
        if one.rater_id in rater_ids and not one.repeat and one.id not in open_ones
    ]
    stress = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    worse = {one.id for one in store.iter(Completion, study) if one.system_id in stress}
    pairs = store.find(Pair, [one.pair_id for one in asked])
    ranked = {pair.id for pair in pairs if worse.isdisjoint(pair.completion_ids)}
    return [one for one in asked if one.pair_id in ranked]


def _ask(
    session: Session,
    study: Study,
    ways: Mapping[str, Session],
    raters: Sequence[Rater],
    wanted: Sequence[Assignment],
) -> AskedCounts:
    """Have every judge answer what is open, one way of asking after the other."""
    store = session.store
    done = {one.id for one in store.iter(Assignment, study)} if _is_stored(store, study) else set()
    if done:
        done -= {one.id for one in store.unjudged(study)}
    n_open = Counter(one.rater_id for one in wanted if one.id not in done)
    items, when = store.find(Item, study.item_ids), session.now()
    spending = {
        f"{who}, {name}": what
        for name, way in ways.items()
        for who, what in estimate_judgments(way.settings, items, n_open, when=when).items()
    }
    agree_to(session, spending)
    store.add([*raters, study, *wanted])
    given = NOTHING_ASKED
    for name, way in ways.items():
        label = "opposite order" if name == REVERSED else f"{name} alone"
        step = PairStep(form=pair_form(way.settings))
        given += take_step(way, judge_models(way.settings), (label, study, step))
    return given


def _is_stored(store: Store, study: Study) -> bool:
    return store.latest_study(study.id) is not None
