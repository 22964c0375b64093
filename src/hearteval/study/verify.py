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
from hearteval.study.session import uncollected

OTHERWISE = "its reply says otherwise"
PAIR_FORMS = [JudgeForm(protocol=one) for one in get_args(PairProtocol)]
"""By which a judge may have been asked whose settings do not say."""


def verify_store(store: SqlStore, *, progress: Callable[[str, int], None]) -> StoreCheck:
    """Read a whole store again, and each judge's reply in it; return what is not as it was.

    What models said is read anew where every record can be read at all, and the verdicts of the
    offline judge are made anew where they are of this version of it.
    """
    again = _ReadAgain()
    with uncollected():
        checked = store.check(progress=progress, see=again.see)
    if not checked.is_readable:
        return checked
    quoted = _look_for_evidence(store, again.raters)
    faults = (*checked.faults, *again.faults.values(), *quoted)
    return StoreCheck(checked.totals, faults)


class _ReadAgain:
    """Reads again, as records pass, what judges replied; holds what judgments are about."""

    def __init__(self) -> None:
        self.faults: dict[str, StoreFault] = {}
        """By record."""
        self.raters: dict[str, Rater] = {}
        self._asked: dict[str, tuple[JudgeForm | None, Display | None]] = {}
        """The form by which each judge was asked, or how an offline one of this version is shown
        texts; as far as its settings say."""
        self._known: dict[type[Any], dict[str, Any]] = {
            kind: {} for kind in (Item, System, Completion, Pair, Assignment)
        }

    def see(self, record: Any) -> None:
        """Keep what others are about, and read a judge's reply."""
        kind = type(record)
        if kind in self._known:
            self._known[kind][record.id] = record
        elif kind is Rater:
            self.raters[record.id] = record
            self._asked[record.id] = _how_asked(record)
        elif kind is Judgment:
            words = self._fault_of(record)
            if words:
                self.faults[record.id] = StoreFault("judgment", record.id, words)
        elif kind is Rating and record.raw:
            form, _ = self._asked.get(record.rater_id, (None, None))
            if not _rates(record, form or RATED):
                self.faults[record.id] = StoreFault("rating", record.id, OTHERWISE)

    def _fault_of(self, judgment: Judgment) -> str:
        assignment = self._known[Assignment].get(judgment.assignment_id)
        rater = None if assignment is None else self.raters.get(assignment.rater_id)
        if assignment is None or rater is None:
            return "nobody was asked for it"
        if not judgment.raw or rater.kind == "human":
            return ""
        form, cue = self._asked[rater.id]
        if rater.family == "cue":
            is_as_said = cue is None or self._agrees(judgment, assignment, cue)
        else:
            is_as_said = any(_says(judgment, one) for one in ([form] if form else PAIR_FORMS))
        return "" if is_as_said else OTHERWISE

    def _agrees(self, judgment: Judgment, assignment: Assignment, display: Display) -> bool:
        """Say whether the offline judge says so again, or can no longer read what it judged."""
        items, systems, completions, pairs, _ = self._known.values()
        pair, first = pairs.get(assignment.pair_id), assignment.first_completion_id
        ids = () if pair is None else (first, *set(pair.completion_ids) - {first})
        read = [completions[id_] for id_ in ids if id_ in completions]
        if any(text.is_withdrawn for text in read):
            return True
        if pair is None or pair.item_id not in items or len(read) != 2:
            return False
        shown = []
        for text in read:
            system = systems.get(text.system_id)
            is_as_made = system is not None and system.kind == "stress"
            shown.append(Text(text.id, display_form(text.text, "raw" if is_as_made else display)))
        verdict = judge_pair(items[pair.item_id].context, *shown)._asdict()
        is_undecided = verdict.pop("is_undecided")
        finish = "undecided" if is_undecided else "decided"
        return _is_of(judgment, verdict) and judgment.call.finish_reason == finish


def _how_asked(rater: Rater) -> tuple[JudgeForm | None, Display | None]:
    if rater.kind == "human":
        return None, None
    try:
        if rater.family != "cue":
            return JudgeForm.of(rater.settings), None
        display = read_display(rater.settings.get("display"))
        return None, display if rater.settings == cue_rater(display).settings else None
    except (ValueError, TypeError, AttributeError):  # damaged; its content says so
        return None, None


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
