"""Requests to a provider's batch interface: JSON and JSON lines, without secrets in any fault.

A request is made once; what is worth another try is decided in `batching`. Jobs are large, so these
requests may take longer than a call of a model.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from heartbench.models.base import Message, Reply, Sampling
from heartbench.models.connections import Client
from heartbench.models.failures import (
    CallFailureError,
    FaultError,
    fault_words,
    find_fault,
    read_error,
)
from heartbench.models.redaction import redact_reply
from heartbench.models.reply_parts import parse_json
from heartbench.models.wire import Endpoint, requested_settings

TOTAL_SECONDS, IDLE_SECONDS = 3_600.0, 600.0
MAX_ANSWER_BYTES = 10_000_000
MAX_RESULT_BYTES = 10_000_000
MAX_ERROR_BYTES = 65_536
TOO_SLOW = frozenset({408, 504, 524})
"""Statuses after which nobody knows whether a request was heard."""
Body = str | bytes | aiohttp.FormData


class BatchHttp:
    """A connection to one provider's batch interface.

    Args:
        endpoint: Where it is.
        client: The shared connections.
        headers: What every request carries, the key among it.
    """

    def __init__(self, endpoint: Endpoint, client: Client, headers: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._client = client
        self._headers = {**headers, **endpoint.headers}
        self._proxy = client.proxy_for(endpoint.base_url)

    async def get(self, path: str, **query: str) -> Mapping[str, Any]:
        """Return the JSON object at a path below the base URL.

        Raises:
            FaultError: There is none.
        """
        return await self._send("GET", path, None, query)

    async def post(self, path: str, body: Body) -> Mapping[str, Any]:
        """Send a form, or JSON; return the JSON object that answers.

        Raises:
            FaultError: None came.
        """
        return await self._send("POST", path, body, {})

    async def lines(self, path: str) -> AsyncIterator[str]:
        """Yield the lines at a path, empty ones apart.

        Raises:
            FaultError: They cannot be read to their end.
        """
        async with self._open("GET", path, None, {}) as response:
            rest = b""
            async for piece in response.content.iter_any():
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield line.decode(errors="replace")
                if len(rest) > MAX_RESULT_BYTES:
                    raise FaultError("too-large", f"more than {MAX_RESULT_BYTES:,} bytes a line")
            if rest.strip():
                yield rest.decode(errors="replace")

    def without_secrets(self, reply: Reply) -> Reply:
        """Hide secrets that a provider repeats beside a reply; no other result is changed."""
        return redact_reply(reply, self._secrets())

    def failure(
        self,
        fault: FaultError,
        messages: Sequence[Message],
        sampling: Sampling,
        effective: Mapping[str, Any],
    ) -> CallFailureError:
        """Return the failure of one call; see `BatchProvider.failure`."""
        words = fault_words(fault, secrets=self._secrets(), messages=messages)
        return CallFailureError(
            f"{self._endpoint.name} at {self._endpoint.address}, in a batch job: {words}",
            reason=fault.reason,
            reply=Reply(text="", requested=requested_settings(sampling), effective=dict(effective)),
        )

    async def _send(
        self, method: str, path: str, body: Body | None, query: Mapping[str, str]
    ) -> Mapping[str, Any]:
        async with self._open(method, path, body, query) as response:
            found = parse_json((await _read(response, MAX_ANSWER_BYTES)).decode(errors="replace"))
            if not isinstance(found, Mapping):
                raise FaultError("not-json", "no JSON object")
            return found

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, body: Body | None, query: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        kind = {"Content-Type": "application/json"} if isinstance(body, str | bytes) else {}
        fault: FaultError | None = None
        try:
            async with self._client.session.request(
                method,
                self._url(path, query),
                data=body.encode() if isinstance(body, str) else body,
                headers={**self._headers, **kind},
                proxy=self._proxy,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=TOTAL_SECONDS,
                    connect=self._client.timeouts.connect_seconds,
                    sock_read=IDLE_SECONDS,
                ),
            ) as response:
                if response.status not in {200, 201}:
                    text = (await _read(response, MAX_ERROR_BYTES)).decode(errors="replace")
                    raise _fault_of_status(response.status, text)
                yield response
        except TimeoutError:
            # Not "timeout": that is the word for a call that may have been charged.
            fault = FaultError("connection", "the batch interface took too long")
        except (aiohttp.ClientError, OSError) as error:
            fault = FaultError("connection", type(error).__name__)
        if fault is not None:  # out here it has no context: aiohttp's errors know headers
            raise fault

    def _url(self, path: str, query: Mapping[str, str]) -> URL:
        url = urlsplit(self._endpoint.base_url)
        bare = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path.rstrip('/')}{path}"
        own = f"?{url.query}" if url.query else ""
        return URL(bare + own, encoded=True).update_query(dict(query))

    def _secrets(self) -> tuple[str, ...]:
        of_proxy = urlsplit(self._proxy or "").password or ""
        return tuple(filter(None, (*self._endpoint.secrets, of_proxy)))


def id_of(entry: Mapping[str, Any]) -> str:
    """Return the id of a file or a job; it becomes part of addresses.

    Raises:
        FaultError: It has none.
    """
    found = entry.get("id")
    if not isinstance(found, str) or not found.replace("-", "").replace("_", "").isalnum():
        raise FaultError("not-a-completion", "no id of a file or a job in it")
    return found


def listed_jobs(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the jobs on a page of a provider's list of them.

    Raises:
        FaultError: It is no such page.
    """
    data = page.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        raise FaultError("not-a-completion", "no list of batch jobs")
    return data


def next_after(found: Sequence[Mapping[str, Any]], *, before: str | None) -> str:
    """Return the id after which the next page begins.

    Args:
        found: The jobs of this page.
        before: The id after which this page began.

    Raises:
        FaultError: It is the same: the list would never end, and what is not seen may be paid for.
    """
    last = id_of(found[-1])
    if last == before:
        raise FaultError("not-a-completion", "the list of batch jobs repeats itself")
    return last


def _fault_of_status(status: int, text: str) -> FaultError:
    try:
        error = read_error(json.loads(text))
    except ValueError:
        error = read_error(text)
    fault = find_fault(status, error, sent=())
    return FaultError("server-error", fault.said, status=status) if status in TOO_SLOW else fault


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most:
            raise FaultError("too-large", f"more than {most:,} bytes")
    return bytes(body)
