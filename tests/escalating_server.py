"""Two scripted models for `heart items adversarial`: one rewrites, one reads what the other wrote.

The rewriter puts a word of scorn before the seeker's own turn as often as the curve says, and the
reader counts them: what was planned is what is read. `spoil` and `misread` change a reply.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from made_records import made_item
from scripted_server import Answer, say
from served_study import healthy, is_probe

from hearteval.domain import Item, Turn

SCORN = "rubbish"
GREETING = "Hi there, what would you like to talk about today?"
Spoil = Callable[[dict[str, Any], int], object]
"""Changes a reply, told the number of the call; what it returns is sent, text as it is."""


def source_item(n: int = 1, *, emotion: str = "anger", problem: str = "job crisis") -> Item:
    """Make an item that can be rewritten: four turns of the seeker's, a greeting first."""
    spoken = (
        ("supporter", GREETING),
        ("seeker", f"My manager {'x' * n} moved me to the warehouse without a word."),
        ("supporter", "That sounds abrupt. What did your manager say about the warehouse?"),
        ("seeker", "Nothing, the manager just put my name on the warehouse list by the kitchen."),
        ("supporter", "And how do your colleagues see the list?"),
        ("seeker", "My colleagues look away. In the kitchen nobody sits down with me."),
        ("supporter", "I'm sorry. Is there one of your colleagues you could talk to?"),
        ("seeker", "There was one. Since the warehouse thing we only nod in the kitchen."),
    )
    return made_item(
        source="made",
        dialogue_id=f"dialogue-{n:03}",
        turn_index=7,
        situation="My manager moved me to the warehouse and my colleagues stay away.",
        context=tuple(Turn(role=role, text=text) for role, text in spoken),  # type: ignore[arg-type]
        emotion=emotion,
        problem=problem,
        reference="You could ask for a word in private.",
    )


def turns_of(body: Mapping[str, Any]) -> dict[int, tuple[str, str]]:
    """Return who says what in the conversation of a question, by the number of the turn."""
    asked = str(body["messages"][-1]["content"])
    found = re.findall(r"^Turn (\d+), (\w+): (.*)$", asked, re.MULTILINE)
    return {int(number): (role, text) for number, role, text in found}


def rewrite(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rewrite that follows the curve to the letter."""
    asked = str(body["messages"][-1]["content"])
    curve = dict(re.findall(r"turn (\d+): (\d+)", asked.rsplit("turn by turn: ", maxsplit=1)[-1]))
    return {
        f"turn_{number}": f"{' '.join([SCORN] * int(curve[str(number)]))} {text}"
        for number, (role, text) in turns_of(body).items()
        if role == "seeker"
    }


def reading(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reader says who counts words of scorn, and finds every answer fitting."""
    turns = turns_of(body)
    first = min(number for number, (role, _) in turns.items() if role == "seeker")
    found: dict[str, Any] = {}
    for number, (role, text) in turns.items():
        if role == "seeker":
            n = min(len(re.findall(SCORN, text)), 10)
            found[f"turn_{number}"] = {"evidence": text.split()[0], "intensity": n}
        elif number > first:
            quoted = turns[number - 1][1].split()[-1]
            found[f"turn_{number}"] = {"evidence": quoted, "fits": "yes"}
    return found


def _as_it_is(reply: dict[str, Any], _call: int) -> object:
    return reply


def two_models(spoil: Spoil = _as_it_is, misread: Spoil = _as_it_is) -> Answer:
    """Answer as a model that rewrites and one that reads."""
    n_calls = {"heart_rewrite": 0, "heart_reading": 0}

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        if is_probe(body):
            return await healthy()(request, body)
        name = body["response_format"]["json_schema"]["name"]
        n_calls[name] += 1
        is_rewrite = name == "heart_rewrite"
        made = rewrite(body) if is_rewrite else reading(body)
        given = (spoil if is_rewrite else misread)(made, n_calls[name])
        text = given if isinstance(given, str) else json.dumps(given)
        return await say(text)(request, body)

    return answer
