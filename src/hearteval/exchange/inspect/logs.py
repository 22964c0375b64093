"""Inspect's logs (``.eval`` or ``.json``) -> replies of a model.

What the log says is taken over and nothing more: a setting is effective where the request that was
really sent holds it, a time is a time where Inspect measured it, and a first token never is: logs
do not tell when it came. Error texts and tracebacks are left out; they may hold a key. Whether a
reply is about an item of a study, and whether it can be a completion, is decided elsewhere.
"""

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError
from hearteval.models.base import LoggedReply, Reply, ReplyLog
from hearteval.models.inspect import has_no_candidate, read_end, read_output, read_usage

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage, ModelOutput

SUFFIXES = (".eval", ".json")
SETTINGS = (
    *("temperature", "top_p", "top_k", "max_tokens", "seed", "stop_seqs", "num_choices"),
    *(
        "frequency_penalty",
        "presence_penalty",
        "verbosity",
        "effort",
        "thinking",
        "thinking_config",
    ),
    *("reasoning", "reasoning_config", "reasoning_effort", "reasoning_mode", "reasoning_tokens"),
)
"""Settings that are taken over, by Inspect's names and those of requests; nothing else is."""
TOKEN_LIMITS = ("max_completion_tokens", "max_output_tokens")
"""What some endpoints call ``max_tokens``."""
NESTS = (
    *("additional_model_request_fields", "config", "extra_body"),
    *("generation_config", "inference_config", "output_config"),
)
"""Parts of requests that hold settings."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def load_inspect() -> ModuleType:
    """Return ``inspect_ai.log``.

    Raises:
        SettingsError: The extra is not installed.
    """
    try:
        from inspect_ai import log  # noqa: PLC0415 - it takes seconds, and is an extra
    except ImportError as error:
        if error.name is None or not error.name.startswith("inspect_ai"):
            raise
        raise SettingsError(
            "Inspect's logs need the extra 'inspect': pip install 'hearteval[inspect]'"
        ) from None
    return log


def read_inspect_log(path: Path) -> ReplyLog:
    """Read the log of one run of one Inspect task.

    Raises:
        SettingsError: The file cannot be read, is no such log, or holds no samples; or the extra
            ``inspect`` is not installed.
    """
    if path.suffix not in SUFFIXES:
        raise SettingsError(
            f"{path}: expected one log of Inspect, a file that ends in {' or '.join(SUFFIXES)}"
        )
    inspect_log = load_inspect()
    from zstandard import ZstdError  # noqa: PLC0415 - comes with Inspect, which packs logs by it

    try:
        content = path.read_bytes()
        log: EvalLog = inspect_log.read_eval_log(path, resolve_attachments="full")
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read ({error.strerror or error}); check the path"
        ) from None
    except (ValueError, KeyError, EOFError, BadZipFile, zlib.error, ZstdError) as error:
        raise SettingsError(
            f"{path}: is no whole log of Inspect ({type(error).__name__}); `inspect log dump` shows"
            " what Inspect makes of it"
        ) from None
    if not log.samples:
        raise SettingsError(f"{path}: holds no samples; was it run with --no-log-samples?")
    return ReplyLog(
        name=path.name,
        sha256=hashlib.sha256(content).hexdigest(),
        log_id=log.eval.eval_id,
        task=log.eval.task,
        model=log.eval.model,
        status=log.status,
        is_simulated=bool((log.eval.metadata or {}).get(SIMULATED)),
        replies=tuple(_logged(sample) for sample in log.samples),
    )


def _logged(sample: "EvalSample") -> LoggedReply:
    call = _call_of(sample)
    messages = _conversation(sample) if call is None else call.input
    return LoggedReply(
        item_id=str(sample.id),
        repeat=sample.epoch - 1,
        messages=tuple((message.role, message.text) for message in messages),
        tools=() if call is None else tuple(tool.name for tool in call.tools),
        reply=_reply(sample.output, call),
        failure=_failure(sample, call),
    )


def _call_of(sample: "EvalSample") -> "ModelEvent | None":
    """Return the call that gave the sample's reply; a scorer may have called models after it."""
    wanted = sample.output.message.id if sample.output.choices else None
    if wanted is None:
        return None
    for event in reversed(sample.events):
        if event.event == "model" and event.output.choices and event.output.message.id == wanted:
            return event
    return None


def _conversation(sample: "EvalSample") -> "list[ChatMessage]":
    """Return what stands before the reply, where the log has no record of the call."""
    if not sample.output.choices:
        return list(sample.messages)
    return [message for message in sample.messages if message.id != sample.output.message.id]


def _reply(output: "ModelOutput", call: "ModelEvent | None") -> Reply:
    if not output.choices:
        return Reply(text="", model=output.model)
    reply, usage = read_output(output, None), output.usage
    is_cached = call is not None and call.cache == "read"
    seconds = None if is_cached else output.time
    made = None if call is None else call.call
    return replace(
        reply,
        finish_reason=read_end(output.stop_reason, None if made is None else made.response),
        refusal=reply.refusal or output.error,
        usage=read_usage(usage if usage is not None and usage.total_tokens else None),
        requested={} if call is None else _settings(call.config.model_dump(exclude_none=True)),
        effective={} if made is None else _settings(made.request),
        total_ms=None if seconds is None else 1000 * seconds,
        cached=is_cached,
    )


def _failure(sample: "EvalSample", call: "ModelEvent | None") -> str:
    if sample.invalidation is not None:
        return "invalidated"
    if sample.error is not None:
        return "error"
    if sample.limit is not None:
        return f"limit-{sample.limit.type}"
    is_own_text = (
        call is not None and call.call is not None and has_no_candidate(call.call.response)
    )
    return "" if sample.output.choices and not is_own_text else "no-output"


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = _HUMP.sub("_", key).lower()
        if name in NESTS and isinstance(value, Mapping):
            found |= _settings(value)
        elif value is not None and name in TOKEN_LIMITS:
            found["max_tokens"] = value
        elif value is not None and name in SETTINGS:
            found[name] = value
    return found
