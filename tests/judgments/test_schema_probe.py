"""The question that shows whether a judge is held to its schema; its end is nobody's end."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from canned_model import Answer, CannedModel
from limited_endpoints import failing

from hearteval.models.base import AskedModel, Sampling, Schema
from hearteval.study.asking.running import warn_of_unheld_schemas

SCHEMA = Schema(name="heart_judgment", schema={"type": "object"})
HELD = '{"colour": "hearteval-probe"}'


class Claiming:
    """A panel on which everything is free."""

    def look(self) -> None:
        pass

    async def claim(self, keys: list[str]) -> frozenset[str]:
        return frozenset(keys)


def warnings_of(**answers: Answer) -> list[str]:
    told: list[str] = []
    judges = {
        name: AskedModel(
            model=CannedModel([answer], name=name), sampling=Sampling(schema=SCHEMA), n_at_once=1
        )
        for name, answer in answers.items()
    }
    asking = SimpleNamespace(
        models=judges, batched=frozenset(), writer=SimpleNamespace(panel=Claiming())
    )
    tell = SimpleNamespace(warn=told.append)
    asyncio.run(warn_of_unheld_schemas(cast("Any", asking), cast("Any", tell)))
    return told


@pytest.mark.parametrize("reason", ["bad-key", "refused-settings", "broken-body", "timeout"])
def test_probe_that_fails_is_a_warning_and_the_others_are_asked(reason: Any) -> None:
    (words,) = warnings_of(gone=failing(reason), well=HELD)
    assert words == f"judge gone: whether it keeps to the JSON schema is not known ({reason})"


def test_reply_nested_beyond_reading_is_not_held_to_the_schema() -> None:
    (words,) = warnings_of(deep="[" * 100_000, well=HELD)
    assert words.startswith("judge deep: its endpoint does not hold replies to the JSON schema")
