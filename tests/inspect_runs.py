"""Logs of Inspect as a run of a task leaves them, with one model call for each sample."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    GenerateConfig,
    ModelCall,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.domain import Item

MODEL = "openai/gpt-test"
TEXT = "That sounds like a lot. What weighs most?"
USAGE = ModelUsage(
    input_tokens=10,
    output_tokens=12,
    total_tokens=52,
    input_tokens_cache_read=30,
    reasoning_tokens=5,
)
WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def prompt(item: Item, *, system: str | None = None) -> list[ChatMessage]:
    """What a study sends about an item, or the same under another system message."""
    kinds = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}
    first, *rest = support_messages(item, known_briefs()["paper"])
    messages: list[ChatMessage] = [ChatMessageSystem(content=system or first[1])]
    return messages + [kinds[role](content=content) for role, content in rest]


def answered(text: str | list[Content] = TEXT, *, stop: StopReason = "stop") -> ModelOutput:
    message = ChatMessageAssistant(content=text, source="generate")
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    return ModelOutput(model="gpt-test-2026-01-01", choices=[choice], usage=USAGE, time=0.25)


def call(
    sent: Sequence[ChatMessage],
    output: ModelOutput,
    *,
    config: GenerateConfig | None = None,
    request: dict[str, Any] | None = None,
    **event: Any,
) -> ModelEvent:
    return ModelEvent(
        model=MODEL,
        input=list(sent),
        tools=[],
        tool_choice="none",
        config=config or GenerateConfig(temperature=0.0, top_p=1.0, max_tokens=1024),
        output=output,
        call=None if request is None else ModelCall.create(request, {}),
        timestamp=WHEN,
        **event,
    )


def sample(item: Item, output: ModelOutput | None = None, **values: Any) -> EvalSample:
    """One item answered as a study asks; `values` say what is different."""
    output = answered() if output is None else output
    sent = prompt(item)
    made: dict[str, Any] = {
        "id": item.id,
        "epoch": 1,
        "input": sent,
        "target": "",
        "messages": [*sent, *([output.message] if output.choices else [])],
        "output": output,
        "events": [call(sent, output)],
    }
    return EvalSample(**{**made, **values})


def write_run(path: Path, samples: Sequence[EvalSample], *, model: str = MODEL, **log: Any) -> Path:
    """Write a log and return its path."""
    spec = EvalSpec(
        eval_id="run-1",
        created=WHEN.isoformat(),
        task="hearteval/completions",
        dataset=EvalDataset(),
        model=model,
        config=EvalConfig(),
    )
    made: dict[str, Any] = {"status": "success", "eval": spec, "samples": list(samples)}
    write_eval_log(EvalLog(**{**made, **log}), path)
    return path
