"""What models are asked for a study, a kind in each file: found, asked, read and kept.

A step asks nobody who it is for and what it may cost, plans nothing and analyses nothing: that is
for `study`, which alone runs it. All that asking needs is a step, a store and open models.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from hearteval.analysis.coverage.missing import Cause, find_causes
from hearteval.domain import Attempt, Study
from hearteval.engine.local import run_tasks
from hearteval.models.asking import (
    AskedCounts,
    FindQuestion,
    Question,
    Wanted,
    ask_wanted,
    first_of_each,
    n_workers,
)
from hearteval.models.base import AskedModel, Schema
from hearteval.store.base import Store
from hearteval.store.records import Record
from hearteval.store.sharing.grouped import GroupedWriter

T = TypeVar("T", bound=Hashable)
Now = Callable[[], datetime]
Progress = Callable[[int, int], None]
BATCH = 200


class Step(Protocol[T]):
    """A kind of question: what is wanted of whom, how it is asked, and how a reply is read.

    What a reply cannot be read as is an attempt with its reason: it never becomes a default.
    """

    @property
    def who(self) -> Literal["system", "judge", "labeler"]:
        """What those are called who are asked."""

    @property
    def answer(self) -> str:
        """What one answer is called, as what is missing is counted."""

    def find(self, store: Store, study: Study, ids: Collection[str]) -> Wanted[T]:
        """Tell what is wanted of these systems or raters, and what of it is open."""
        ...

    def pages(
        self, store: Store, study: Study, ids: Collection[str], *, begin: str
    ) -> Iterator[Wanted[T]]:
        """Yield what is open of these page by page, each read when it is asked for.

        Where there are many pages they begin at the id `begin` and go once around: workers that
        begin elsewhere meet late.
        """
        ...

    def ask(self, study: Study, target: T, case: Any) -> Question:
        """Return the question about a target, made of its case (`Wanted.case_of`)."""
        ...

    def schema(self, bound: int | None) -> Schema | None:
        """Return what replies are held to, their texts in so many characters; None for nothing."""


class WholeStep:
    """A `Step` of so few targets that one page holds them."""

    __slots__ = ()

    def pages(
        self: Step[T], store: Store, study: Study, ids: Collection[str], *, begin: str
    ) -> Iterator[Wanted[T]]:
        """Find all of them."""
        yield self.find(store, study, ids)


async def ask_step(  # noqa: PLR0913 - who asks whom what, how many, and two that look on
    writer: GroupedWriter,
    study: Study,
    step: Step[T],
    asked: Mapping[str, AskedModel | None],
    *,
    now: Now,
    progress: Progress,
    most: int | None = None,
) -> AskedCounts:
    """Ask every model for what is open of it, and store each answer as it comes.

    A reply that cannot be used becomes an attempt with its reason, and is asked for once more; a
    call that fails becomes one too, and is made again in the next run. A model whose calls fail one
    after the other is asked no more.

    Args:
        writer: Where replies are written, at the store they are about.
        study: The study's current version.
        step: The kind of question.
        asked: Models by the id of the system or rater; None for those of whom nothing is open.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.
        most: Questions for each, no more; None for all.

    Raises:
        ExceptionGroup: Of `StoreError`; what came before is stored.
    """

    def find() -> tuple[Wanted[T], FindQuestion[T]]:
        wanted = first_of_each(step.find(writer.store, study, asked), most)

        def find_question(target: T) -> tuple[AskedModel | None, Question]:
            question = step.ask(study, target, wanted.case_of(target))
            return asked[wanted.owner_of(target)], question

        return wanted, find_question

    return await ask_wanted(
        find,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
        claims=writer.panel,
    )


def answer_offline(
    store: Store, wanted: Wanted[T], answer: Callable[[T], Sequence[Record]], *, progress: Progress
) -> AskedCounts:
    """Have what asks no model answer what is open, a batch a transaction."""
    missing = Counter[str]()
    n_there = wanted.n_before
    progress(n_there, wanted.n_wanted)
    for start in range(0, len(wanted.open_ones), BATCH):
        batch = wanted.open_ones[start : start + BATCH]
        records = [record for target in batch for record in answer(target)]
        store.add(records)
        missing.update(one.reason for one in records if isinstance(one, Attempt))
        n_there += len(batch)
        progress(n_there, wanted.n_wanted)
    return AskedCounts(
        n_wanted=wanted.n_wanted,
        n_before=wanted.n_before,
        n_added=n_there - wanted.n_before - missing.total(),
        missing=dict(missing),
    )


def causes_by_owner(wanted: Wanted[T]) -> dict[str, tuple[Cause, ...]]:
    """Return why what is missing of each system or rater is; those without are left out."""
    absent: defaultdict[str, list[T]] = defaultdict(list)
    for target in wanted.missing:
        absent[wanted.owner_of(target)].append(target)
    return {owner: find_causes(targets, wanted.tries) for owner, targets in absent.items()}
