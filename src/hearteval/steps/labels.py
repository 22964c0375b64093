"""Labels: have texts labelled by models, or by the offline cues.

What is asked of a model is one text and one taxonomy; the labels of a reply are kept together or
not at all. A person's withdrawn words are no text any more, those that nobody has released are sent
to no model, and texts of the stress set are never labelled.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import ClassVar, Literal

from hearteval.analysis.judgments import JudgmentRow, judgment_columns
from hearteval.domain import (
    Attempt,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Study,
    System,
)
from hearteval.labels.cues import cued_labels, cues_rater
from hearteval.labels.prompt import label_again, label_messages, label_schema
from hearteval.labels.reply import LABEL_FAULTS, labels_of, read_labels
from hearteval.labels.safety import (
    SAFETY,
    Standing,
    label_by_model,
    label_completion,
    label_reasons,
    read_standings,
    safety_rater,
)
from hearteval.labels.sample import choose_comparisons
from hearteval.labels.taxonomy import Taxonomy, Unit
from hearteval.labels.texts import LabelledText, LabelTarget, find_target, text_of
from hearteval.models.asking import (
    AskedCounts,
    Question,
    Wanted,
    earlier_tries,
    find_wanted,
    to_messages,
)
from hearteval.models.base import Message, Reply, Schema
from hearteval.protocol.markers import delimiter_nonce
from hearteval.steps import WholeStep, answer_offline
from hearteval.store.base import Store


def texts_to_label(store: Store, study: Study, taxonomy: Taxonomy) -> dict[str, LabelledText]:
    """Return the texts of a study that are labelled by a taxonomy, by id."""
    return {text.id: text for of in taxonomy.of for text in _READERS[of](store, study, taxonomy)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelStep(WholeStep):
    """Have texts labelled by a taxonomy. A reply that is not exactly what was asked is none."""

    taxonomy: Taxonomy
    who: ClassVar[Literal["labeler"]] = "labeler"
    answer = "labelled text"

    def find(self, store: Store, study: Study, ids: Collection[str]) -> Wanted[LabelTarget]:
        """Tell what is wanted of these labelers."""
        texts = texts_to_label(store, study, self.taxonomy)
        wanted = [
            LabelTarget(study.id, text.of, text.id, rater_id)
            for text in texts.values()
            for rater_id in sorted(ids)
        ]
        labelled = _labelled(store, study, self.taxonomy.name)
        return find_wanted(
            wanted,
            {target for target in wanted if (target.text_id, target.rater_id) in labelled},
            earlier_tries(
                store.iter(Attempt, study), partial(_target_of, ids), faults=LABEL_FAULTS
            ),
            owner_of=attrgetter("rater_id"),
            case_of=lambda target: texts[target.text_id],
        )

    def ask(self, study: Study, target: LabelTarget, case: LabelledText) -> Question:
        """Show a labeler a text, between marker lines."""
        taxonomy, rater_id = self.taxonomy, target.rater_id
        shown = [case.text, case.situation, *(turn.text for turn in case.context)]
        nonce = delimiter_nonce(study.seed, target.id, shown)
        messages = label_messages(case, taxonomy, nonce=nonce)

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            return to_messages(label_again(messages, faults[-1]) if faults else messages), 0

        def read(reply: Reply, at: datetime) -> tuple[Label, ...]:
            said = read_labels(
                reply.text,
                taxonomy,
                case,
                finish_reason=reply.finish_reason,
                refusal=reply.refusal,
            )
            if taxonomy.name == SAFETY:
                return label_by_model(case, said, rater_id=rater_id, now=at)
            return labels_of(case, taxonomy, said, rater_id=rater_id, now=at)

        return Question(target=target.fields, messages_after=messages_after, read=read)

    def schema(self, bound: int | None) -> Schema:
        """Hold replies to the taxonomy."""
        schema = label_schema(self.taxonomy, max_evidence_characters=bound)
        return Schema(name="heart_labels", schema=schema)


def label_by_cues(
    store: Store,
    study: Study,
    taxonomy: Taxonomy,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Have the offline cues label what they have not, a batch a transaction."""
    store.add([cues_rater(taxonomy)])
    wanted = LabelStep(taxonomy=taxonomy).find(store, study, [cues_rater(taxonomy).id])

    def answer(target: LabelTarget) -> tuple[Label, ...]:
        return cued_labels(wanted.case_of(target), taxonomy, now=now())

    return answer_offline(store, wanted, answer, progress=progress)


def screen_by_rules(
    store: Store, study: Study, of: Collection[Unit], *, now: Callable[[], datetime]
) -> AskedCounts:
    """Have the rules read what they have not, of these sorts of text.

    It costs nothing and sends nothing, so it reads what nobody has released too.
    """
    rater = safety_rater()
    known = {text_id for text_id, by in _labelled(store, study, SAFETY) if by == rater.id}
    new: list[Label] = []
    if "completion" in of:
        systems = {s.id: s for s in store.iter(System, study) if s.kind != "stress"}
        items = {item.id: item for item in store.iter(Item, study)}
        new += [
            label_completion(text, items[text.item_id], systems[text.system_id], now=now())
            for text in store.iter(Completion, study)
            if text.id not in known and text.system_id in systems and not text.is_withdrawn
        ]
    if "reasons" in of:
        first = _first_judgments(store, study)
        new += [
            label_reasons(one, now=now())
            for one in store.iter(Judgment, study)
            if one.id not in known and one.assignment_id in first and text_of(one).text
        ]
    if new:
        store.add([rater, *new], first_stays=True)
    n_before, n_new = len(known), len(new)
    return AskedCounts(n_wanted=n_before + n_new, n_before=n_before, n_added=n_new, missing={})


def _target_of(rater_ids: Collection[str], attempt: Attempt) -> LabelTarget | None:
    """Return what a labeler was asked about; None for what is none of these raters'."""
    return find_target(attempt) if attempt.rater_id in rater_ids else None


def _completions(store: Store, study: Study, _: Taxonomy) -> list[LabelledText]:
    contexts = {item.id: item.context for item in store.iter(Item, study)}
    texts = _readable(store, study)
    return [text_of(text, contexts[text.item_id]) for text in texts]


def _readable(store: Store, study: Study) -> list[Completion]:
    stress = _systems(store, study, "stress")
    texts = [
        text
        for text in store.iter(Completion, study)
        if text.system_id not in stress and not text.is_withdrawn
    ]
    if "people" not in study.design:
        return texts
    people, standings = _systems(store, study, "human"), _standings(store, study)
    return [
        text
        for text in texts
        if text.system_id not in people or standings.get(text.id) == "released"
    ]


def _reasons(store: Store, study: Study, taxonomy: Taxonomy) -> list[LabelledText]:
    """Return the reasons of first judgments that have any; those of the cue judge are no one's.

    What people gave has to be released; what is held of judges' is left out too, unless it is
    screened. Nobody's are sent about a text that may not be: reasons quote. Where the taxonomy
    bounds them, they are of so many comparisons.
    """
    readable = {text.id for text in _readable(store, study)}
    pairs = {
        pair.id for pair in store.iter(Pair, study) if readable.issuperset(pair.completion_ids)
    }
    first, standings = _first_judgments(store, study), _standings(store, study)
    people = {rater.id for rater in store.iter(Rater, study) if rater.kind == "human"}
    is_screened = taxonomy.name == SAFETY
    found: dict[str, tuple[LabelledText, JudgmentRow]] = {}
    for one in store.iter(Judgment, study):
        row = first.get(one.assignment_id)
        if row and row.pair_id in pairs:
            text, standing = text_of(one), standings.get(one.id, "unscreened")
            may_be_sent = standing == "released" or (
                row.rater_id not in people and (standing == "unscreened" or is_screened)
            )
            if text.text and may_be_sent:
                found[one.id] = text, row
    if taxonomy.n_comparisons is None:
        return [text for text, _ in found.values()]
    chosen = choose_comparisons(
        [row for _, row in found.values()],
        n=taxonomy.n_comparisons,
        seed=study.seed,
        people=people,
        subsets={item.id: item.subset for item in store.iter(Item, study)},
        before={
            found[text_id][1].pair_id
            for text_id, _ in _labelled(store, study, taxonomy.name)
            if text_id in found
        },
    )
    return [text for text, row in found.values() if row.pair_id in chosen]


def _first_judgments(store: Store, study: Study) -> dict[str, JudgmentRow]:
    """Return the first judgments of what is ranked, but the cue judge's, by their assignments."""
    raters = {rater.id for rater in store.iter(Rater, study) if rater.family != "cue"}
    rows = judgment_columns(store.judgment_table(study)).first_ones.by(raters)
    is_stress = rows.names(_systems(store, study, "stress"))
    return {row.assignment_id: row for row in rows.select(~is_stress)}


def _items(store: Store, study: Study, _: Taxonomy) -> list[LabelledText]:
    return [text_of(item) for item in store.iter(Item, study)]


def _systems(store: Store, study: Study, kind: str) -> set[str]:
    return {system.id for system in store.iter(System, study) if system.kind == kind}


def _labelled(store: Store, study: Study, taxonomy: str) -> set[tuple[str, str]]:
    """Return what is labelled by a taxonomy, and by whom."""
    return {
        (text_id, rater_id)
        for batch in store.label_table(study)
        for name, text_id, rater_id in zip(
            batch["taxonomy"], batch["text_id"], batch["rater_id"], strict=True
        )
        if name == taxonomy
    }


def _standings(store: Store, study: Study) -> Mapping[str, Standing]:
    asked = study.design.get("people", {})
    return read_standings(store.labels_of(study, SAFETY), store.iter(Rater), asked=asked)


_READERS: Mapping[Unit, Callable[[Store, Study, Taxonomy], list[LabelledText]]] = {
    "completion": _completions,
    "reasons": _reasons,
    "item": _items,
}
