"""Whether a store still says what was put into it, down to what each judge's reply says."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from hearteval.domain import (
    Assignment,
    Completion,
    Display,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Rating,
    System,
    display_form,
    plain_text,
    read_display,
)
from hearteval.errors import InvalidReplyError
from hearteval.judgments.cue_judge.judge import Text, cue_rater, judge_pair
from hearteval.judgments.form import RATED, JudgeForm, PairProtocol
from hearteval.judgments.reply import read_rating, read_reply
from hearteval.labels.safety import SAFETY
from hearteval.labels.taxonomy import TAXONOMIES
from hearteval.labels.texts import text_of
from hearteval.store.base import Store
from hearteval.store.integrity.verify import StoreCheck, StoreFault
from hearteval.store.sql import SqlStore

OTHERWISE = "its reply says otherwise"


def verify_store(store: SqlStore, *, progress: Callable[[str, int], None]) -> StoreCheck:
    """Read a whole store again, and each judge's reply in it; return what is not as it was.

    What models said is read anew where every record can be read at all, and the verdicts of the
    offline judge are made anew where they are of this version of it.
    """
    checked = store.check(progress=progress)
    if not checked.is_readable:
        return checked
    faults = (*checked.faults, *_read_again(store))
    return StoreCheck(checked.totals, faults)


def _read_again(store: Store) -> Iterator[StoreFault]:
    raters = {rater.id: rater for rater in store.iter(Rater)}
    assignments = {one.id: one for one in store.iter(Assignment)}
    cue = _CueJudge(store)
    for judgment in store.iter(Judgment):
        assignment = assignments.get(judgment.assignment_id)
        rater = None if assignment is None else raters.get(assignment.rater_id)
        if assignment is None or rater is None:
            yield StoreFault("judgment", judgment.id, "nobody was asked for it")
        elif not judgment.raw or rater.kind == "human":
            continue
        elif rater.family == "cue":
            display = read_display(rater.settings.get("display"))
            is_ours = rater.settings == cue_rater(display).settings
            if is_ours and not cue.agrees(judgment, assignment, display):
                yield StoreFault("judgment", judgment.id, OTHERWISE)
        else:
            form = JudgeForm.of(rater.settings)
            known = [JudgeForm(protocol=one) for one in get_args(PairProtocol)]
            if not any(_says(judgment, one) for one in ([form] if form else known)):
                yield StoreFault("judgment", judgment.id, OTHERWISE)
    for rating in store.iter(Rating):
        form = JudgeForm.of(raters[rating.rater_id].settings) if rating.rater_id in raters else None
        if rating.raw and not _rates(rating, form or RATED):
            yield StoreFault("rating", rating.id, OTHERWISE)
    yield from _look_for_evidence(store, raters)


def _look_for_evidence(store: Store, raters: Mapping[str, Rater]) -> Iterator[StoreFault]:
    """Hold what labelers and people quote against the texts again; cues quote in lower case."""
    texts: dict[str, str] = {}
    for label in store.iter(Label):
        rater = raters.get(label.rater_id)
        if label.taxonomy not in TAXONOMIES or label.taxonomy == SAFETY:
            continue  # screens name what holds a text, and quote nothing
        if rater is None or rater.family == "cue":
            continue
        if label.text_id not in texts:
            texts |= {
                one.id: plain_text(text_of(one).quotable)
                for one in store.iter(_kind_of_text(label))
            }
        if label.evidence not in texts.get(label.text_id, ""):
            yield StoreFault("label", label.id, "its evidence does not stand in the text")


def _kind_of_text(label: Label) -> type[Completion] | type[Judgment] | type[Item]:
    if label.completion_id:
        return Completion
    return Judgment if label.judgment_id else Item


def _says(judgment: Judgment, form: JudgeForm) -> bool:
    finish = judgment.call.finish_reason
    try:
        read = read_reply(judgment.raw, form=form, finish_reason=finish)
    except InvalidReplyError:
        return False
    return _is_of(judgment, read._asdict())


def _rates(rating: Rating, form: JudgeForm) -> bool:
    try:
        read = read_rating(rating.raw, form=form, finish_reason=rating.call.finish_reason)
    except InvalidReplyError:
        return False
    return _is_of(rating, read._asdict())


def _is_of(record: Judgment | Rating, said: Mapping[str, Any]) -> bool:
    return all(getattr(record, name) == value for name, value in said.items())


class _CueJudge:
    """Judges again what the offline judge has judged."""

    def __init__(self, store: Store) -> None:
        self._stress = {one.id for one in store.iter(System) if one.kind == "stress"}
        self._items = {item.id: item for item in store.iter(Item)}
        self._completions = {one.id: one for one in store.iter(Completion)}
        self._pairs = {pair.id: pair for pair in store.iter(Pair)}

    def agrees(self, judgment: Judgment, assignment: Assignment, display: Display) -> bool:
        """Say whether it says the same again, or can no longer read what it judged."""
        pair, first = self._pairs.get(assignment.pair_id), assignment.first_completion_id
        ids = () if pair is None else (first, *set(pair.completion_ids) - {first})
        read = [self._completions[id_] for id_ in ids if id_ in self._completions]
        if any(text.is_withdrawn for text in read):
            return True
        shown = [
            Text(
                text.id,
                display_form(text.text, "raw" if text.system_id in self._stress else display),
            )
            for text in read
        ]
        if pair is None or pair.item_id not in self._items or len(shown) != 2:
            return False
        verdict = judge_pair(self._items[pair.item_id].context, *shown)._asdict()
        is_undecided = verdict.pop("is_undecided")
        finish = "undecided" if is_undecided else "decided"
        return _is_of(judgment, verdict) and judgment.call.finish_reason == finish
