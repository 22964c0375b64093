"""Settings that were asked for and not kept: a back end left them out, or a provider ignored them.

Pure. What was really used is read from the reply itself, as far as it shows it: an endpoint that
repeats its settings, or that writes more tokens than it was allowed.
"""

from collections.abc import Collection, Mapping
from typing import Any

from heartbench.models.base import JsonObject, Usage

ECHOED = ("temperature", "top_p")
"""Settings that some endpoints repeat beside their replies, by these names."""


def read_echo(body: Any) -> dict[str, float]:
    """Return the settings that a body repeats at its top; what is no number is no setting."""
    if not isinstance(body, Mapping):
        return {}
    return {name: body[name] for name in ECHOED if type(body.get(name)) in {int, float}}


def used_settings(sent: JsonObject, *, echo: JsonObject, usage: Usage) -> dict[str, Any]:
    """Return the settings really used: those sent, corrected by what the reply shows.

    Args:
        sent: Settings in the request's body, by `Sampling`'s names.
        echo: Settings that the endpoint repeats; they win.
        usage: Tokens of the reply. A limit that they pass was none, and is left out.
    """
    used = {**sent, **echo}
    limit = used.get("max_tokens")
    if limit is not None and usage.output_tokens is not None and usage.output_tokens > limit:
        del used["max_tokens"]
    return used


def find_dropped(
    requested: JsonObject, effective: JsonObject, *, refuses: Collection[str]
) -> dict[str, Any]:
    """Return the settings that were not kept, with what was used instead; None if unknown.

    Args:
        requested: Settings asked for.
        effective: Settings really used.
        refuses: Settings that the model is known not to take: that they were not sent is no news.
    """
    return {
        name: effective.get(name)
        for name, asked in requested.items()
        if (effective[name] != asked if name in effective else name not in refuses)
    }
