"""The step: have completions labelled by models, or by the offline cues, and store each at once.

What is asked of a model is one completion and one taxonomy; the labels of a reply are kept together
or not at all. A person's withdrawn text is not sent, and no text of the stress set.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from hearteval.analysis.missing import Cause, find_causes, last_attempts
from hearteval.domain import Attempt, Completion, Item, Label, RatingTarget, Study, System
from hearteval.engine.local import run_tasks
from hearteval.labels.cues import cued_labels, cues_rater
from hearteval.labels.prompt import label_again, label_messages
from hearteval.labels.reply import LABEL_FAULTS, read_labels
from hearteval.labels.taxonomy import Taxonomy
from hearteval.models.asking import (
    AskedCounts,
    Question,
    Wanted,
    ask_wanted,
    earlier_tries,
    find_wanted,
    n_workers,
    to_messages,
)
from hearteval.models.base import AskedModel, Message, Reply
from hearteval.protocol.markers import delimiter_nonce
from hearteval.store.base import Store
from hearteval.store.grouped import GroupedWriter

BATCH = 200


def texts_to_label(store: Store, study: Study) -> dict[str, Completion]:
    """Return the completions of a study that are labelled, by id."""
    stress = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    return {
        text.id: text
        for text in store.iter(Completion, study)
        if text.system_id not in stress and not text.is_withdrawn
    }


def find_unlabelled(
    store: Store, study: Study, taxonomy: Taxonomy, rater_ids: Collection[str]
) -> Wanted[RatingTarget]:
    """Tell what is wanted of these labelers of a taxonomy, and what of it is open.

    A target is named as that of a rating is: by study, completion, rater and repeat.
    """
    wanted = [
        RatingTarget(study.id, completion_id, rater_id, 0)
        for completion_id in texts_to_label(store, study)
        for rater_id in sorted(rater_ids)
    ]
    labelled = {
        RatingTarget(study.id, completion_id, rater_id, 0)
        for batch in store.label_table(study)
        for name, completion_id, rater_id in zip(
            batch["taxonomy"], batch["completion_id"], batch["rater_id"], strict=True
        )
        if name == taxonomy.name
    }
    tries = earlier_tries(
        store.iter(Attempt, study), partial(_find_target, rater_ids), faults=LABEL_FAULTS
    )
    return find_wanted(wanted, labelled, tries)


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
    texts = texts_to_label(store, study)
    wanted = find_unlabelled(store, study, taxonomy, [cues_rater(taxonomy).id])
    n_added = 0
    progress(wanted.n_before, wanted.n_wanted)
    for start in range(0, len(wanted.open_ones), BATCH):
        batch = wanted.open_ones[start : start + BATCH]
        store.add(
            [
                label
                for target in batch
                for label in cued_labels(texts[target.completion_id], taxonomy, now=now())
            ]
        )
        n_added += len(batch)
        progress(wanted.n_before + n_added, wanted.n_wanted)
    return AskedCounts(
        n_wanted=wanted.n_wanted, n_before=wanted.n_before, n_added=n_added, missing={}
    )


async def ask_labelers(
    writer: GroupedWriter,
    study: Study,
    taxonomy: Taxonomy,
    asked: Mapping[str, AskedModel | None],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Ask every labeler for the completions that it has not labelled, by rater id.

    A reply that is not exactly what was asked is an attempt with its reason, asked for once more,
    then missing: never a default. None stands for a labeler that has nothing left.

    Raises:
        ExceptionGroup: As `hearteval.completions.run.ask_systems`.
    """
    store = writer.store
    items = {item.id: item for item in store.iter(Item, study)}
    texts = texts_to_label(store, study)

    def find_question(target: RatingTarget) -> tuple[AskedModel | None, Question]:
        text = texts[target.completion_id]
        context = items[text.item_id].context
        shown = [text.text, *(turn.text for turn in context)]
        nonce = delimiter_nonce(study.seed, target.id, shown)
        messages = label_messages(context, text.text, taxonomy, nonce=nonce)

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            return to_messages(label_again(messages, faults[-1]) if faults else messages), 0

        def read(reply: Reply) -> tuple[Label, ...]:
            said = read_labels(
                reply.text,
                taxonomy,
                text.text,
                finish_reason=reply.finish_reason,
                refusal=reply.refusal,
            )
            return tuple(
                Label(
                    completion_id=text.id,
                    taxonomy=taxonomy.name,
                    category=category,
                    rater_id=target.rater_id,
                    created_at=now(),
                    **one._asdict(),
                )
                for category, one in said.items()
            )

        question = Question(target=target._asdict(), messages_after=messages_after, read=read)
        return asked[target.rater_id], question

    return await ask_wanted(
        lambda: (find_unlabelled(store, study, taxonomy, asked), find_question),
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
        claims=writer.panel,
    )


def missing_by_labeler(
    store: Store, study: Study, taxonomy: Taxonomy, rater_ids: Collection[str]
) -> dict[str, tuple[Cause, ...]]:
    """Return why what is still missing of each of these labelers is; others are left out."""
    wanted = find_unlabelled(store, study, taxonomy, rater_ids)
    absent: defaultdict[str, list[RatingTarget]] = defaultdict(list)
    for target in wanted.missing:
        absent[target.rater_id].append(target)
    last = last_attempts(list(store.iter(Attempt, study)), partial(_find_target, rater_ids))
    return {rater_id: find_causes(targets, last) for rater_id, targets in absent.items()}


def _find_target(rater_ids: Collection[str], attempt: Attempt) -> RatingTarget | None:
    """Return what a labeler was asked about; None for what is none of these raters'."""
    if attempt.study_id is None or attempt.completion_id is None:
        return None
    if attempt.rater_id is None or attempt.rater_id not in rater_ids:
        return None
    return RatingTarget(attempt.study_id, attempt.completion_id, attempt.rater_id, attempt.repeat)
