"""The Inspect task ``hearteval/completions``: have any model that Inspect knows answer items.

Inspect finds this module by its entry point; nothing else imports it, so that hearteval works
without the extra ``inspect``. The task asks and keeps replies. It judges nothing: ``heart import``
brings its log into a study, where judges compare it with other systems.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate

from hearteval.completions.checks import check_completion
from hearteval.completions.prompting import Brief, support_messages
from hearteval.config.items import DEFAULT_ESCONV_REGULAR
from hearteval.config.model_settings import SYSTEM_MAX_TOKENS
from hearteval.config.models import read_brief
from hearteval.domain import Item
from hearteval.errors import InvalidReplyError
from hearteval.exchange.inspect.samples import inspect_messages
from hearteval.items.run import GatheredItems, gather_items
from hearteval.items.screening import Topics
from hearteval.models.inspect import read_end


@task
def completions(
    items: str = "starter",
    regular: int | None = None,
    adversarial: int | None = None,
    seed: int = 0,
    prompt: str = "paper",
    topics: Topics | None = None,
) -> Task:
    """Ask for the supporter's next turn of each item, exactly as a study asks (HEART 9.4).

    Args:
        items: ``starter``, an item file, or the folder that holds ESConv; as `items` in the study.
        regular: How many regular items; None takes all there are, of ESConv 280.
        adversarial: How many adversarial items; None takes all there are; ESConv has none.
        seed: Decides which items; with the seed of a study, the items are the study's.
        prompt: ``paper``, ``matched`` or a file, as `prompt` of a system in a study.
        topics: What is left out of ESConv, ``paper`` or ``cautious``; as in the study.
    """
    gathered = _gather(items, regular, adversarial, seed, topics)
    brief = read_brief("prompt", Path(), prompt)
    samples = [_sample(item, brief) for item in gathered.items]
    return Task(
        dataset=MemoryDataset(samples, name=gathered.source),
        solver=generate(),
        scorer=usable_reply(),
        config=GenerateConfig(temperature=0.0, top_p=1.0, max_tokens=SYSTEM_MAX_TOKENS),
        metadata={
            "note": "Completions only: nothing here says how good they are. `heart import` brings"
            " this log into a study, whose judges compare them.",
            "prompt_hash": brief.prompt_hash,
        },
    )


@scorer(metrics=[mean()])
def usable_reply() -> Scorer:
    """Say whether a reply can be a completion at all: 1 or 0. It measures no empathy.

    A reply that is empty, refused, cut off, over-long or shows its reasoning cannot; a study counts
    it as missing, with this reason.
    """

    async def score(state: TaskState, target: Target) -> Score:
        message = state.output.message if state.output.choices else None
        text = "" if message is None else message.text
        try:
            end = None if message is None else read_end(state.output.stop_reason, None)
            check_completion(text, finish_reason=end)
        except InvalidReplyError as error:
            return Score(value=0, answer=text, explanation=f"{error.reason}: {error}")
        return Score(value=1, answer=text, explanation="can be a completion; not judged here")

    return score


def _gather(
    items: str, regular: int | None, adversarial: int | None, seed: int, topics: Topics | None
) -> GatheredItems:
    path = None if items == "starter" else Path(items)
    source: Literal["starter", "esconv", "file"] = "starter" if path is None else "file"
    if path is not None and path.is_dir():
        source, regular = "esconv", DEFAULT_ESCONV_REGULAR if regular is None else regular
    return gather_items(
        source,
        path,
        regular=regular,
        adversarial=adversarial,
        seed=seed,
        rng=np.random.default_rng(seed),
        topics=topics,
    )


def _sample(item: Item, brief: Brief) -> Sample:
    """Return an item as Inspect's sample, without the corpus's own reply, which is no target."""
    metadata: dict[str, Any] = {
        "subset": item.subset,
        "profile": item.profile,
        "emotion": item.emotion,
        "problem": item.problem,
        "source": item.source,
        "licence": item.licence,
        "consent_basis": item.consent_basis,
        "prompt_hash": brief.prompt_hash,
    }
    messages = inspect_messages(item, support_messages(item, brief))
    return Sample(id=item.id, input=messages, metadata=metadata)
