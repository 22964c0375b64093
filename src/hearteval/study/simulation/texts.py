"""Texts that say what they are: simulated items, completions, and the study file."""

import json
from collections.abc import Iterable

import numpy as np

from hearteval.domain import PROFILES, Item, Role, Subset, Turn
from hearteval.domain.systems import SIMULATED
from hearteval.study.simulation.world import World

ITEM_FILE = "items.jsonl"
LICENCE = "Simulated by hearteval; free to use"
CONSENT_BASIS = "Simulated by hearteval: made from a template; no dialogue took place"
N_TURNS = {"regular": 3, "adversarial": 8}
"""Of an item; the seeker speaks last, so of an adversarial one the supporter speaks first."""
EMOTIONS = ("anxiety", "sadness", "anger", "shame", "guilt")
PROBLEMS = ("job crisis", "problems with friends", "breakup with partner", "academic pressure")
HEAD = 7
"""Words of a completion that say what it is."""
SENTENCE = (
    "and you can say more of it here if you want to so that we may look at what is in it for you"
    " now and then at what could come next for it may be good to go on with one small thing at a"
    " time and to stay with it for as long as you like"
)
FILLER = tuple(SENTENCE.split())
"""Words of no weight, of which completions are made up."""


def simulated_items(n: int, *, adversarial: int) -> tuple[Item, ...]:
    """Return items from a template; the last ones are adversarial."""
    return tuple(_item(k, is_adversarial=k >= n - adversarial) for k in range(n))


def _item(number: int, *, is_adversarial: bool) -> Item:
    subset: Subset = "adversarial" if is_adversarial else "regular"
    n_turns = N_TURNS[subset]
    roles: tuple[Role, Role] = ("seeker", "supporter")
    turns = tuple(
        Turn(
            role=roles[(n_turns - k) % 2 == 0],
            text=f"Simulated turn {k + 1} of dialogue {number + 1}. Nobody said this.",
        )
        for k in range(n_turns)
    )
    return Item(
        source=SIMULATED,
        dialogue_id=f"simulated-{number + 1}",
        turn_index=n_turns - 1,
        situation=f"Simulated dialogue {number + 1}: nobody is in this situation.",
        context=turns,
        subset=subset,
        profile=PROFILES[number % len(PROFILES)] if is_adversarial else None,
        emotion=EMOTIONS[number % len(EMOTIONS)],
        problem=PROBLEMS[number // len(EMOTIONS) % len(PROBLEMS)],
        licence=LICENCE,
        consent_basis=CONSENT_BASIS,
        cue="implicit" if number % 2 else "explicit",
    )


def simulated_text(
    item: int, number: int, n_words: int, n_marks: int, rng: np.random.Generator
) -> str:
    """Return a completion of so many words, `n_marks` of them in bold."""
    start = int(rng.integers(len(FILLER)))
    n = max(n_words - HEAD, n_marks)
    words = [FILLER[(start + k) % len(FILLER)] for k in range(n)]
    for k in range(n_marks):
        words[k * n // n_marks] = f"**{words[k * n // n_marks]}**"
    return f"Simulated reply to item {item}, number {number}: {' '.join(words)}."


def study_text(name: str, world: World) -> str:
    """Return the study file, which every command reads."""
    plan = world.plan
    n_raters = plan.people
    people = f"""
[people]                  # nobody takes part: their replies and answers were drawn
name = {json.dumps(world.names[-1] if world.has_writers else "simulated people")}
writers_per_item = {plan.writers}
raters_per_pair = {n_raters}
{'protocol = "rating"' if plan.protocol == "rating" else ""}
"""
    is_rated = plan.protocol == "rating"
    design = (
        f'design = "balanced"\ncomparisons = {plan.comparisons}'
        if plan.is_balanced
        else 'design = "full"'
    )
    design += f"\nboth_orders = {json.dumps(plan.both_orders)}"
    return f"""\
# Simulated by `heart simulate`: every text, person and judgment in it was drawn by a computer from
# planted numbers, which truth.json holds. No model and no person was asked.
[study]
name = {json.dumps(name)}
seed = {plan.seed}
simulated = true
{"fail_on_missing = 1.0" if plan.missing else ""}

[items]
source = {json.dumps(ITEM_FILE)}

{_entries("system", zip(world.names, world.families, strict=True))}
{_entries("judge", zip(world.judges, world.judge_families, strict=True))}
[judging]
judges = {json.dumps(list(world.judges))}
{'protocol = "rating"' if is_rated else design}
exclude_own_family = {json.dumps(world.excludes_own_family)}
stress_items = 0
repeat_pairs = {plan.repeat_pairs}
{people if plan.writers or n_raters else ""}"""


def _entries(kind: str, members: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        f"[[{kind}]]\nname = {json.dumps(name)}\nmodel = {json.dumps(f'imported/{name}')}\n"
        f"family = {json.dumps(family)}\n"
        for name, family in members
        if family != "human"
    )
