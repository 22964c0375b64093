"""`heart judges drift`: ask the judges of a released board about a few of its pairs again."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from hearteval.domain import Assignment, Completion, Item, Pair, Study
from hearteval.errors import SettingsError
from hearteval.judgments.drift import ask_anew, drift_study, drift_study_id
from hearteval.judgments.halo import choose_assignments
from hearteval.models.asking import AskedCounts
from hearteval.sections.board.measure import Board, measure_board
from hearteval.steps.judgments import PairStep
from hearteval.study.asking.cost import estimate_judgments
from hearteval.study.asking.running import take_step
from hearteval.study.asking.verbs import agree_to
from hearteval.study.grow import judge_models
from hearteval.study.judges.halo import judged_pairs
from hearteval.study.pipeline import LEVEL, pair_form
from hearteval.study.results import read_data
from hearteval.study.session import Session


def check_drift(session: Session, study: Study, *, n_pairs: int) -> tuple[dict[str, Any], Board]:
    """Ask every judge that is a model about so many of the board's pairs again, as it was asked.

    Raises:
        SettingsError: The study continues no board, or no model has judged it.
    """
    file, store = session.settings.file, session.store
    if not study.pool:
        raise SettingsError(
            f"{file}: continues no released board, so there is nothing to drift from; `heart judge"
            " --again` says how far a judge repeats itself",
            ids=("pool",),
        )
    judges = judge_models(session.settings)
    texts = {one.id for one in store.iter(Completion, study) if one.system_id in study.pool}
    judged = judged_pairs(session, study, set(judges))
    pairs = store.find(Pair, [one.pair_id for one in judged])
    old = {pair.id for pair in pairs if texts.issuperset(pair.completion_ids)}
    readable = {c.id for c in store.iter(Completion, study) if not c.is_withdrawn}
    old &= {pair.id for pair in pairs if readable.issuperset(pair.completion_ids)}
    before = store.latest_study(drift_study_id(study))
    earlier = store.iter(Assignment, before) if before else ()
    chosen = choose_assignments(
        [one for one in judged if one.pair_id in old],
        {(a.pair_id, a.first_completion_id) for a in earlier if a.repeat == study.pool_version},
        n=n_pairs,
        seed=study.seed,
    )
    if not chosen:
        raise SettingsError(
            f"{file}: no judge that is a model has judged this board, so none can have drifted",
            ids=("judging.judges",),
        )
    wanted = ask_anew(chosen, study)
    given = _ask(session, drift_study(study, before), wanted)
    counts = {"n_pairs": len(chosen), "judgments": asdict(given)}
    board = measure_board(read_data(session, study), level=LEVEL)
    assert board is not None
    return counts, board


def _ask(session: Session, made: Study, wanted: tuple[Assignment, ...]) -> AskedCounts:
    store, ids = session.store, {one.id for one in wanted}
    is_stored = store.latest_study(made.id) is not None
    known = {one.id for one in store.iter(Assignment, made)} if is_stored else set()
    done = (known & ids) - ({one.id for one in store.unjudged(made)} if is_stored else set())
    n_open = Counter(one.rater_id for one in wanted if one.id not in done)
    items = store.find(Item, made.item_ids)
    spending = estimate_judgments(session.settings, items, n_open, when=session.now())
    agree_to(session, spending)
    store.add([made, *wanted])
    step = PairStep(form=pair_form(session.settings), only=ids)
    return take_step(session, judge_models(session.settings), ("again", made, step))
