"""A worker: claims what is open, asks and stores, page by page; nothing is planned or analysed.

What it holds does not grow with a study: a page of questions, and those that got no answer.
"""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from hearteval.domain import Study, record_id
from hearteval.domain.reasons import NOT_ASKED
from hearteval.engine.local import run_tasks
from hearteval.models.asking import Page, Question, Trials, Wanted, ask_pages, claim_key, n_workers
from hearteval.models.base import AskedModel
from hearteval.steps import Now, Step
from hearteval.store.sharing.grouped import GroupedWriter

MOST_AWAITED = 2_000
"""Questions of others whose end is awaited; what else is open is found by going around again."""


class Part(NamedTuple):
    """A kind of question, and how many are open of whom, by the id of the system or rater."""

    name: str
    step: Step[Any]
    n_open: Mapping[str, int]


@dataclass(slots=True, kw_only=True)
class Worked:
    """What a worker has come to, from its first question to its last.

    Attributes:
        most: Questions to ask in all; None for no end.
        n_taken: Questions that were its own.
        n_added: Answers by the name of the part and whom they are of.
        missing: Questions without an answer by these and the reason.
        unanswered: Those: this worker asks them no more.
    """

    most: int | None = None
    n_taken: int = 0
    n_added: Counter[tuple[str, str]] = field(default_factory=Counter)
    missing: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unanswered: set[Hashable] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        """Whether it has asked as many as it was to."""
        return self.most is not None and self.n_taken >= self.most

    def is_open(self, part: Part, wanted: Wanted[Any], target: Hashable) -> bool:
        """Whether a question is worth asking: not asked in vain before, nor of whom is no more."""
        gone = (part.name, wanted.owner_of(target), NOT_ASKED)
        return target not in self.unanswered and gone not in self.missing


async def work_off(  # noqa: PLR0913 - who is asked what, where it is kept, and who looks on
    writer: GroupedWriter,
    study: Study,
    parts: Sequence[Part],
    models: Mapping[str, AskedModel],
    worked: Worked,
    *,
    now: Now,
    progress: Callable[[int, int | None], None],
) -> str | None:
    """Ask for what is open of each part and unclaimed, until nothing is or enough was asked.

    What others have claimed is waited for, and asked for where they gave no answer. Each worker
    begins at another place. Returns why it ended at the limit on spending, or None.
    """
    trials: Trials = {}
    begin = record_id("worker", {"owner": writer.panel.owner})
    while True:
        left: deque[Hashable] = deque(maxlen=MOST_AWAITED)
        for part in parts:
            asked = {id_: models[id_] for id_ in part.n_open}
            stopped = await ask_pages(
                _pages(writer, study, part, asked, worked, begin=begin),
                run=partial(run_tasks, n_at_once=n_workers(asked.values())),
                keep=writer.add,
                now=now,
                note=partial(_note, part, worked, progress),
                leave=left.append,
                claims=writer.panel,
                trials=trials,
            )
            if stopped or worked.is_full:
                return stopped
        if not left:
            return None
        await writer.panel.wait_until_free([claim_key(target) for target in left])


def _pages(
    writer: GroupedWriter,
    study: Study,
    part: Part,
    asked: Mapping[str, AskedModel],
    worked: Worked,
    *,
    begin: str,
) -> Iterator[Page[Any]]:
    """Yield what is open of a part; the store is looked at anew for each page."""
    found = part.step.pages(writer.store, study, asked, begin=begin)

    def find_question(wanted: Wanted[Any], target: Hashable) -> tuple[AskedModel, Question]:
        worked.n_taken += 1
        question = part.step.ask(study, target, wanted.case_of(target))
        return asked[wanted.owner_of(target)], question

    while not worked.is_full:
        writer.panel.look()
        wanted = next(found, None)
        if wanted is None:
            return
        targets = [one for one in wanted.open_ones if worked.is_open(part, wanted, one)]
        if worked.most is not None:
            targets = targets[: worked.most - worked.n_taken]
        yield Page(targets, wanted, partial(find_question, wanted))


def _note(
    part: Part,
    worked: Worked,
    progress: Callable[[int, int | None], None],
    page: Page[Any],
    target: Hashable,
    reason: str,
) -> None:
    owner = page.wanted.owner_of(target)
    if reason:
        worked.missing[part.name, owner, reason] += 1
        worked.unanswered.add(target)
    else:
        worked.n_added[part.name, owner] += 1
    worked.n_taken -= reason == NOT_ASKED
    progress(worked.n_added.total(), worked.most)
