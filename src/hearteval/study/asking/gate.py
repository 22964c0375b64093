"""A candidate held against a baseline: from one study's judgments, or asked for look by look.

Where one study holds both, what is stored is read and nobody is asked. A baseline of another study
gives its stored replies: they are taken into a study of the two, which lies in the candidate's
store under its name and ``.gate``, so that only the candidate and the judges cost anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hearteval.analysis.gate import Gate, GateScores, doubt_equivalence, score_items
from hearteval.config import StudySettings, SystemSettings, load_study
from hearteval.config.model_settings import ImportedModel, guess_meant
from hearteval.domain import Completion, Item, Study, System
from hearteval.errors import SettingsError, StoreError, first_few
from hearteval.items.run import GatheredItems
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.models.prices import Estimate
from hearteval.stats.gate import GateRule, judge_gate, look_sizes
from hearteval.store.base import Store
from hearteval.store.engines import is_readable_as_is
from hearteval.study import Tell
from hearteval.study.asking.cost import (
    NOTHING_DONE,
    Done,
    confirm_spending,
    estimate_spending,
    require_keys,
    what_is_done,
)
from hearteval.study.asking.others import tell_what_was_found
from hearteval.study.asking.steps import complete_step, complete_without_models, judge_step
from hearteval.study.asking.verbs import find_stop
from hearteval.study.asking.words import NOTHING, in_all, spending_lines
from hearteval.study.grow import NO_MODELS, gather, register, study_systems
from hearteval.study.results import read_data
from hearteval.study.session import Session, is_rated, open_session, open_stored, study_id, utc_now
from hearteval.study.simulation.apart import require_real

Pair = tuple[SystemSettings, SystemSettings]
"""Baseline and candidate."""
MAX_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GateQuestion:
    """What is asked of a gate: two study files, or one; the systems where they are named."""

    baseline: Path
    candidate: Path | None = None
    """None where the first study holds both."""
    baseline_name: str | None = None
    candidate_name: str | None = None
    rule: GateRule


def hold_gate(question: GateQuestion, tell: Tell) -> Gate:
    """Hold a candidate against a baseline.

    Raises:
        SettingsError: It is not clear which systems are meant, their judges cannot compare them, or
            nobody agreed to what it costs.
        StoreError: Nothing is stored of a study that has to be there.
    """
    settings, pair, first = _understand(question)
    if first is None:
        return _read_gate(settings, pair, question, tell)
    return _ask_gate(first, settings, pair, question, tell)


def price_gate(question: GateQuestion, tell: Tell) -> tuple[str, Estimate]:
    """Say what a gate would ask at most and what that costs; nothing is asked or stored.

    Raises:
        SettingsError: As in `hold_gate`.
        StoreError: Likewise.
    """
    second, pair, first = _understand(question)
    if first is None:
        return f"plan: {second.file} has both: it is read, and no model is asked", NOTHING
    settings, taken = _taken_over(first, second, pair, tell)
    if not is_readable_as_is(settings.store):
        items = _with_replies(gather(second, tell).items, first, second, taken, tell)
        return _plan_words(settings, items, _known(second, settings), question.rule)
    with open_session(settings, tell, is_only_read=True) as session:
        gathered = gather(second, tell, session.store)
        items = _with_replies(gathered.items, first, second, taken, tell)
        known = _known(second, settings, session.store)
        return _plan_words(settings, items, known, question.rule)


def _understand(question: GateQuestion) -> tuple[StudySettings, Pair, StudySettings | None]:
    """Return the study that judges, the two systems, and the baseline's study where it is another.

    Raises:
        SettingsError: It is not clear which systems are meant, or the judges rate one by one.
    """
    first = load_study(question.baseline)
    if question.candidate is None:
        return _of_pairs(first), _both(first, question), None
    if question.candidate.resolve() == question.baseline.resolve():
        raise SettingsError(
            f"{first.file} is named as baseline and as candidate; name it once to compare two of"
            " its systems, or the study of the new version second",
            ids=("candidate",),
        )
    second = _of_pairs(load_study(question.candidate))
    baseline = _named(first, question.baseline_name, "--baseline")
    candidate = _named(second, question.candidate_name, "--candidate")
    is_there = _system_of(first, baseline).id in {one.id for one in study_systems(second)}
    return second, (baseline, candidate), None if is_there else first


def _both(settings: StudySettings, question: GateQuestion) -> Pair:
    """Return baseline and candidate of one study: as named, or what the file says of its own."""
    names = {one.name for one in settings.systems}
    candidate, baseline = question.candidate_name, question.baseline_name
    if len(names) == 2 and not settings.mine:
        first, second = (one.name for one in settings.systems)
        candidate = candidate or (first if baseline == second else second)
    found = _named(settings, candidate, "--candidate")
    others = sorted(names - {found.name})
    baseline = baseline or settings.against or (others[0] if len(others) == 1 else None)
    if baseline is None:
        raise SettingsError(
            f"{settings.file}: with which system is {found.name} compared? Name it: --baseline"
            f" NAME, one of {', '.join(others)}",
            ids=("baseline",),
        )
    return _named(settings, baseline, "--baseline"), found


def _named(settings: StudySettings, name: str | None, option: str) -> SystemSettings:
    """Return the system of a name; without one that of one's own, or the only model."""
    by_name = {one.name: one for one in settings.systems}
    models = [one.name for one in settings.systems if one.preset is None and not _is_reply(one)]
    name = name or settings.mine or (models[0] if len(models) == 1 else None)
    if name in by_name:
        return by_name[name]
    there = ", ".join(by_name)
    if name is None:
        words = f"which of its systems is meant? Say {option} NAME, one of {there}"
    else:
        words = f"{option}: there is no system {name!r}{guess_meant(name, tuple(by_name))};"
        words += f" there are {there}"
    raise SettingsError(f"{settings.file}: {words}", ids=(option.strip("-"),))


def _is_reply(entry: SystemSettings) -> bool:
    """Say whether a system is the replies that came with the items, brought in."""
    return entry.imported is not None and entry.imported.family in NO_MODELS


def _system_of(settings: StudySettings, entry: SystemSettings) -> System:
    return next(one for one in study_systems(settings) if one.name == entry.name)


def _read_gate(settings: StudySettings, pair: Pair, question: GateQuestion, tell: Tell) -> Gate:
    """Read the gate from a study that holds both; nobody is asked."""
    baseline, candidate = pair
    if baseline.name == candidate.name:
        raise SettingsError(
            f"{settings.file}: {candidate.name!r} would be both baseline and candidate; name two"
        )
    if question.rule.n_looks > 1:
        raise SettingsError(
            f"{settings.file}: this study holds both systems, and all that it has stored counts at"
            " once; --looks is for a candidate that is asked look by look, against the baseline of"
            " another study",
            ids=("looks",),
        )
    with open_stored(settings.file, tell) as (session, study):
        if is_rated(study):
            raise _of_ratings(settings)
        order = _in_order(session.store.iter(Item, study), settings.seed)
        scores, judges = _score(session, study, pair, [item.id for item in order])
        if not any(scores.coverage):
            raise StoreError(
                f"no judge has compared {candidate.name} with {baseline.name} in this study yet;"
                f" run `heart run {settings.file}` first"
            )
        return _gate(settings, pair, (scores, judges), question.rule, (1, len(order)))


def _ask_gate(
    first: StudySettings,
    second: StudySettings,
    pair: Pair,
    question: GateQuestion,
    tell: Tell,
) -> Gate:
    """Take over the baseline's replies, and ask candidate and judges, look by look."""
    settings, taken = _taken_over(first, second, pair, tell)
    with open_session(settings, tell) as session:
        tell_what_was_found(session)
        gathered = gather(second, tell, session.store, is_kept=True)
        order = _in_order(gathered.items, settings.seed)
        has_reply = _with_replies(order, first, second, taken, tell)
        known = _known(second, settings, session.store)
        words, estimate = _plan_words(settings, has_reply, known, question.rule)
        tell.note(words)
        sizes = look_sizes(len(order), question.rule.n_looks)
        for look, size in enumerate(sizes, 1):
            study = _grown(session, gathered, order[:size], taken)
            if look == 1:
                require_keys(settings, session.store, study, known)
                confirm_spending(session, estimate)
            completed = complete_step(session, study, complete_without_models(session, study))
            stopped = find_stop(completed, *judge_step(session, study, None).values())
            found = _score(session, study, settings.systems, [item.id for item in order[:size]])
            gate = _gate(settings, pair, found, question.rule, (look, len(order)))
            if stopped or gate.result.outcome != "inconclusive" or look == len(sizes):
                return replace(gate, study=second.name, stopped=stopped)
            tell.note(f"look {look} of {len(sizes)}: open after {size} dialogues")
    raise AssertionError("a gate has a last look")


def _with_replies(
    items: Sequence[Item],
    first: StudySettings,
    second: StudySettings,
    taken: Mapping[str, Completion],
    tell: Tell,
) -> list[Item]:
    """Return the items that the baseline has answered; warn where it has not answered all."""
    there = [item for item in items if item.id in taken]
    if not there:
        raise SettingsError(
            f"{second.file}: none of its {len(items)} dialogues has a reply of the baseline in"
            f" {first.file}; a gate needs the same dialogues in both",
            ids=("items",),
        )
    if len(there) < len(items):
        tell.warn(
            f"{len(items) - len(there)} of {len(items)} dialogues have no reply of the baseline in"
            f" {first.file}; they count as missing"
        )
    return there


def _taken_over(
    first: StudySettings, second: StudySettings, pair: Pair, tell: Tell
) -> tuple[StudySettings, dict[str, Completion]]:
    """Return the study of baseline and candidate, and the baseline's replies by item.

    The baseline is another system here: one whose replies were made elsewhere, that of this id.
    """
    baseline, candidate = pair
    there = _system_of(first, baseline)
    with open_stored(first.file, tell) as (session, study):
        require_real(study, "a gate cannot ask a candidate to stand beside it")
        replies = [
            reply
            for reply in session.store.iter(Completion, study)
            if reply.system_id == there.id and reply.repeat == 0
        ]
    name = baseline.name if baseline.name != candidate.name else f"{baseline.name} (baseline)"
    made = ImportedModel(model=there.id, family=there.family)
    settings = replace(
        second,
        name=f"{second.name}.gate",
        systems=(SystemSettings(name=name, preset=None, model=None, imported=made), candidate),
        judging=replace(
            second.judging,
            plan=replace(
                second.judging.plan,
                design="full",
                comparisons=None,
                both_orders=True,
                stress_items=0,
                repeat_pairs=0,
            ),
        ),
        people=None,
        labelers=(),
        people_labels=None,
    )
    here = _system_of(settings, settings.systems[0])
    source = {"imported_from": {"study": study.name, "study_id": study.id}}
    return settings, {
        reply.item_id: replace(
            reply,
            system_id=here.id,
            # What it cost was paid elsewhere.
            call=replace(reply.call, requested={**reply.call.requested, **source}, cost=None),
            id="",
        )
        for reply in replies
    }


def _known(second: StudySettings, settings: StudySettings, store: Store | None = None) -> Done:
    """Return what is there already: replies in either study, judgments of the gate."""
    if store is None:
        return NOTHING_DONE
    answered: dict[str, frozenset[str]] = {}
    judgments: Mapping[str, int] = {}
    used = dict(NOTHING_DONE.used)
    for one in (second, settings):
        study = store.latest_study(study_id(one))
        if study is not None:
            done = what_is_done(store, study)
            judgments = done.judgments if one is settings else {}
            used |= done.used
            for id_, found in done.completions.items():
                answered[id_] = answered.get(id_, frozenset()) | found
    return Done(completions=answered, judgments=judgments, used=used)


def _plan_words(
    settings: StudySettings, items: Sequence[Item], known: Done, rule: GateRule
) -> tuple[str, Estimate]:
    """Say what is to come, at most."""
    spending = estimate_spending(settings, items, known, when=utc_now())
    sizes = look_sizes(len(items), rule.n_looks)
    looks = f"; it may stop after {', '.join(map(str, sizes[:-1]))}" if len(sizes) > 1 else ""
    words = f"plan: {len(items)} dialogues, at most{looks}\n{spending_lines(settings, spending)}"
    return words, in_all(spending)


def _grown(
    session: Session,
    gathered: GatheredItems,
    items: Sequence[Item],
    taken: Mapping[str, Completion],
) -> Study:
    """Return the study of a look, with the baseline's replies; it never loses items again."""
    before = session.store.latest_study(study_id(session.settings))
    there = frozenset(() if before is None else before.item_ids) | {item.id for item in items}
    members = tuple(one for one in gathered.items if one.id in there and one.id in taken)
    ids = {item.id for item in members}
    screenings = tuple(one for one in gathered.screenings if one.item_id in ids)
    study = register(session, replace(gathered, items=members, screenings=screenings))
    _require_same_texts(session, study, [taken[id_] for id_ in ids])
    session.store.add([taken[id_] for id_ in sorted(ids)])
    return study


def _require_same_texts(session: Session, study: Study, taken: Sequence[Completion]) -> None:
    """Raise `StoreError` where the baseline said something else when it was last taken over."""
    said = {(one.system_id, one.item_id): one.text for one in session.store.iter(Completion, study)}
    changed = sorted(
        one.item_id for one in taken if said.get((one.system_id, one.item_id), one.text) != one.text
    )
    if changed:
        raise StoreError(
            f"{session.settings.file}: the baseline's replies are other ones than in the last gate,"
            f" on {len(changed)} dialogue(s): {first_few(changed, MAX_NAMED)}; replies are never"
            " replaced. Give the candidate's study another name or seed",
            ids=changed[:MAX_NAMED],
        )


def _score(
    session: Session, study: Study, pair: Sequence[SystemSettings], item_ids: Sequence[str]
) -> tuple[GateScores, tuple[str, ...]]:
    """Return the scores on some items, and the names of the judges whose they are."""
    settings = session.settings
    data = read_data(session, study)
    by_name = {system.name: system for system in data.ranked}
    missing = [entry.name for entry in pair if entry.name not in by_name]
    if missing:
        raise StoreError(
            f"{missing[0]} is not part of the study as it was last stored; run"
            f" `heart run {settings.file}` first"
        )
    baseline, candidate = (by_name[entry.name] for entry in pair)
    families = {baseline.family, candidate.family} if data.exclude_own_family else set[str]()
    judges = [judge for judge in data.judges if judge.family not in families]
    if "human" in {baseline.kind, candidate.kind} or not judges:
        why = (
            "people's texts are many to a dialogue; a gate compares two systems with one reply each"
            if judges
            else "every judge is of the line of one of the two, and none judges its own; name"
            " another judge, or set exclude_own_family = false where both are of one line"
        )
        raise SettingsError(f"{settings.file}: {why}", ids=("judging.judges",))
    scores = score_items(
        data,
        item_ids,
        (baseline, candidate),
        judges,
        settings.judging.form.marked,
        both_orders=study.design["both_orders"],
    )
    return scores, tuple(judge.name for judge in judges)


def _gate(
    settings: StudySettings,
    pair: Pair,
    found: tuple[GateScores, tuple[str, ...]],
    rule: GateRule,
    place: tuple[int, int],
) -> Gate:
    """Judge the scores at a look, of how many items in the end."""
    scores, judges = found
    look, n_planned = place
    result = judge_gate(
        scores.scores,
        scores.coverage,
        rule,
        look=look,
        n_planned=n_planned,
        rng=np.random.default_rng(settings.seed),
    )
    baseline, candidate = pair
    names = {str(axis): name for axis, name in settings.judging.form.axis_names.items()}
    same = baseline.name == candidate.name
    return Gate(
        study=settings.name,
        baseline=f"{baseline.name} (baseline)" if same else baseline.name,
        candidate=candidate.name,
        judges=judges,
        names=tuple("overall" if axis is None else names[axis] for axis in scores.axes),
        rule=rule,
        scores=scores,
        result=doubt_equivalence(result) if scores.is_doubtful else result,
        is_simulated=settings.is_simulated,
    )


def _in_order(items: Iterable[Item], seed: int) -> list[Item]:
    """Return items in the order in which looks take them: that of a hash of seed and id."""
    return sorted(items, key=lambda item: seeded_rank(seed, "gate", item.id))


def _of_pairs(settings: StudySettings) -> StudySettings:
    """Return a study whose judges compare.

    Raises:
        SettingsError: They rate.
    """
    if settings.judging.protocol == "rating":
        raise _of_ratings(settings)
    return settings


def _of_ratings(settings: StudySettings) -> SettingsError:
    return SettingsError(
        f"{settings.file}: judging.protocol: a gate needs judges that compare two replies, and"
        " these rate one by one",
        ids=("judging.protocol",),
    )
