"""What a model answered elsewhere, as a log of that tells it: read by `exchange`, used by steps."""

from dataclasses import dataclass

from heartbench.models.base import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedReply:
    """One reply of a log.

    Attributes:
        item_id: What the log calls that which was answered.
        repeat: 0 for the first; higher for deliberate repetitions.
        messages: What was sent, as (role, content), oldest first; empty where the log does not say.
        tools: Names of the tools that the model was given.
        reply: What came, as far as it came; its cost is not this project's and stays unknown.
        failure: Why there is no whole reply, in a short fixed word; empty where there is one.
    """

    item_id: str
    repeat: int
    messages: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    reply: Reply
    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyLog:
    """Replies of one model, and where they come from.

    Attributes:
        name: Name of the file, without its folder.
        sha256: Hash of the file's bytes.
        log_id: The log's own id.
        task: What was run.
        model: The model that was asked, as the log calls it.
        status: How the log ends: ``success``, ``error``, ``cancelled`` or ``started``.
        replies: In the order of the log.
    """

    name: str
    sha256: str
    log_id: str
    task: str
    model: str
    status: str
    replies: tuple[LoggedReply, ...]
