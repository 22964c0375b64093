"""Taking secrets and dialogue out of what an endpoint says, before anyone reads it.

Endpoints repeat what they were sent: the key (whole, cut or starred), the address, the messages.
Error messages end in terminals, logs and databases, so none of it may pass. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from heartbench.models.base import Reply
from heartbench.models.wire import SHORTEST_SECRET

HIDDEN = "[hidden]"
SPOKEN_LENGTH = 20
"""Characters in a row shared with a message that make an excerpt a quotation of it."""
LONGEST_EXCERPT = 300
LONGEST_SAID = 10_000
# Repetitions are bounded: an endpoint's answer may be one word of megabytes.
_CREDENTIAL = re.compile(
    r"""(?i:\bbearer\s+)[^\s"',;<>]{1,500}"""
    r"""|\b(?:sk|pk|rk|gsk|xai|fw|hf|csk|tgp|r8)[-_][\w*.-]{6,500}|\bAIza[\w*-]{8,100}"""
    r"""|(?<=://)[^\s/@]{1,200}(?=@)|[\w.-]{0,50}\*{3,100}[\w.-]{0,50}"""
)


def hide_secrets(text: str, secrets: Sequence[str]) -> str:
    """Replace secrets in a text, whole or cut off, and whatever looks like a credential.

    Args:
        text: What an endpoint said.
        secrets: The secrets it was sent.
    """
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        beginning = re.escape(secret[: max(8, len(secret) // 2)])
        text = re.sub(rf"""{re.escape(secret)}|{beginning}[^\s"',;<>]*""", HIDDEN, text)
    return _CREDENTIAL.sub(HIDDEN, text)


def redact_reply(reply: Reply, secrets: Sequence[str]) -> Reply:
    """Hide secrets that an endpoint repeats beside its reply; no other body is changed."""
    found = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET and secret in reply.raw]
    return replace(reply, raw=hide_secrets(reply.raw, found)) if found else reply


def hide_speech(text: str, spoken: Sequence[str]) -> str:
    """Replace every run of `SPOKEN_LENGTH` characters or more that one of the messages holds."""
    kept: list[str] = []
    start = 0
    while start < len(text):
        end = start + SPOKEN_LENGTH
        if end > len(text) or not any(text[start:end] in message for message in spoken):
            kept.append(text[start])
            start += 1
            continue
        while end < len(text) and any(text[start : end + 1] in message for message in spoken):
            end += 1
        kept.append("[…]")
        start = end
    return "".join(kept)


def excerpt(text: str, *, secrets: Sequence[str], spoken: Sequence[str]) -> str:
    """Return one short line of what an endpoint said, without secrets and dialogue."""
    line = " ".join(hide_secrets(text[:LONGEST_SAID], secrets).split())
    flat = [" ".join(message.split()) for message in spoken]
    line = hide_speech(line[: 2 * LONGEST_EXCERPT], flat)
    return line if len(line) <= LONGEST_EXCERPT else f"{line[:LONGEST_EXCERPT]}…"
