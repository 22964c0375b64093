"""Why a reply is missing: the words that are counted, what running again would do, what to do.

Whatever stands in none of these sets is a fault of a reply (`REPLY_FAULTS`, `COMPLETION_FAULTS`):
asked for twice and then given up.
"""

from collections.abc import Mapping
from typing import Literal

Outlook = Literal["may-pass", "fails-again", "given-up", "by-design"]
"""What running again would do: it may help; it fails in the same way; it does not ask again, as the
model answered twice and neither reply could be used; nothing was to come."""
NOT_ASKED = "not-asked"
"""Of what was never tried, or whose model was asked no more."""
NOT_IMPORTED = "not-imported"
"""Of what was made elsewhere and never brought in."""
BY_DESIGN = frozenset({"no-reference", "no-other-dialogue"})
MAY_PASS = frozenset(
    {"rate-limited", "overloaded", "server-error", "timeout", "connection", "cut-off-stream"}
    | {"batch-expired", "batch-cancelled", "local-server-died", NOT_ASKED}
    | {"broken-body", "not-a-completion", "html"}
)
FAILS_AGAIN = frozenset(
    {"context-too-long", "content-filter", "bad-request", "bad-key", "no-credit", "unknown-model"}
    | {"refused-settings", "too-large", NOT_IMPORTED}
)
WRONG_ADDRESS = frozenset({"connection", "unknown-model", "html", "not-a-completion"})
"""What a wrong address, or a wrong name at it, looks like where nothing else ever came."""
ADVICE: Mapping[str, str] = {
    "rate-limited": "lower the concurrency, set rpm, or raise the account's limit",
    "overloaded": "try again later, or take another provider",
    "server-error": "try again later, or take another provider",
    "timeout": "raise timeout_s; behind a proxy that ends silence, set stream = true",
    "connection": "check that the server runs and that base_url is right",
    "bad-key": "check that key_name names the key's variable, and that the key may use this model",
    "no-credit": "top up the account, or raise its limit",
    "unknown-model": "check the model id, and base_url: an API ends in /v1 or the like",
    "refused-settings": "name it in what the model refuses",
    "context-too-long": "take a model, or start its server, with a longer context",
    "broken-body": "try again later, or take another provider",
    "html": "check base_url: an API ends in /v1 or the like",
    "not-a-completion": "check base_url: an OpenAI-compatible API, or that of the provider named",
    NOT_IMPORTED: "bring it in with `heart import`",
    "batch-expired": "run again: the call was not made, and is made anew",
    "batch-cancelled": "run again: the call was not made, and is made anew",
}


def outlook_of(reason: str) -> Outlook:
    """Return what running again would do for what is missing for this reason."""
    if reason in BY_DESIGN:
        return "by-design"
    if reason in MAY_PASS:
        return "may-pass"
    return "fails-again" if reason in FAILS_AGAIN else "given-up"
