"""Models on this machine: llama.cpp's server in a child process, for as long as it is needed.

The native code never runs in this process: if it crashes, a study loses a model and says so. The
child ends with the ``with`` block, on Ctrl-C, and when this process is killed outright (it holds
one end of a pipe). The child is `local_server`; the wheel `xllamacpp` is the extra ``local``.
"""

import http.client
import importlib.util
import json
import logging
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from heartbench.errors import ModelCallError, SettingsError
from heartbench.models.base import ChatModel, Message, Reply, Sampling

log = logging.getLogger(__name__)

GGUF_MAGIC = b"GGUF"
N_LAST_LINES = 6
HEALTH_SECONDS = 10.0
DEATH_SECONDS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """How a local model is served.

    Attributes:
        context: Tokens of one request, prompt and reply together.
        n_parallel: Requests served at once; more of them wait their turn. With more than one,
            requests share batches, and rounding may then change a reply that is nearly a toss-up.
        n_threads: Threads that compute; None is llama.cpp's own choice. A tiny model, or a machine
            that is busy otherwise, wants 1.
        reuse_prompts: Keep the computed start of a prompt for the next request. Saves much where
            judges share a rubric; must be off where time to first token is measured.
    """

    context: int = 8192
    n_parallel: int = 1
    n_threads: int | None = None
    reuse_prompts: bool = True

    def __post_init__(self) -> None:
        for name in ("context", "n_parallel", "n_threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} of a local model must be at least 1, not {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """A running server.

    Attributes:
        base_url: Address for an OpenAI-compatible client, e.g. ``http://127.0.0.1:40123/v1``.
        model: Name of the model: its file's name without ``.gguf``.
        settings: How it is served.
        pid: Process id of the child.
    """

    base_url: str
    model: str
    settings: LocalSettings
    pid: int
    _child: "_Child" = field(repr=False)

    def ensure_running(self) -> None:
        """Say so if the child is gone: call it when a request to `base_url` fails.

        Raises:
            ModelCallError: The child ended; the message holds its last lines.
        """
        # A connection breaks a moment before the process that held it can be waited for.
        with suppress(subprocess.TimeoutExpired):
            self._child.process.wait(timeout=DEATH_SECONDS)
            raise self._child.death("while it served")


class LocalModel:
    """A model served here: says that its server died rather than that nobody answers.

    Put it inside `Retrying`: what has died is not asked again.
    """

    def __init__(self, model: ChatModel, server: LocalServer) -> None:
        self._model = model
        self._server = server

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask the server; see `ChatModel.complete`."""
        try:
            return await self._model.complete(messages, sampling, repeat=repeat)
        except ModelCallError:
            self._server.ensure_running()
            raise


@contextmanager
def run_local_model(
    path: Path, settings: LocalSettings | None = None, *, ready_within_seconds: float = 600.0
) -> Iterator[LocalServer]:
    """Serve a GGUF file on a free loopback port until the block ends.

    Args:
        path: The model.
        settings: How to serve it.
        ready_within_seconds: How long loading may take.

    Raises:
        SettingsError: No such file, not a GGUF, or the extra ``local`` is not installed.
        ModelCallError: The server did not start, or not in time.
    """
    _check_file(path)
    _check_extra()
    settings = settings or LocalSettings()
    order = json.dumps({"path": str(path.absolute()), "name": path.stem, **asdict(settings)})
    with tempfile.TemporaryFile() as log_file, _start(order, log_file) as process:
        child = _Child(path, process, log_file)
        try:
            address = child.wait_until_ready(ready_within_seconds)
            log.info("local model %s is served at %s by process %d", path.stem, address, child.pid)
            yield LocalServer(
                base_url=f"http://{address}/v1",
                model=path.stem,
                settings=settings,
                pid=process.pid,
                _child=child,
            )
        finally:
            process.kill()


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise SettingsError(
            f"local model {path}: cannot be read ({error.strerror})", ids=[str(path)]
        ) from error
    if magic != GGUF_MAGIC:
        raise SettingsError(
            f"local model {path}: not a GGUF file (it does not begin with GGUF)", ids=[str(path)]
        )


def _check_extra() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise SettingsError("a local model needs llama.cpp: pip install 'heartbench[local]'")


def _start(order: str, log_file: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P: a file in the user's working folder must not stand in for a module of the same name.
    # A session of its own: Ctrl-C reaches this process first, which lets calls in flight end.
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "heartbench.models.local_server", order],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log_file,
        start_new_session=True,
    )


class _Child:
    """The child process: waiting for it, and telling how it ended."""

    def __init__(self, path: Path, process: subprocess.Popen[bytes], log_file: IO[bytes]) -> None:
        self.path = path
        self.process = process
        self._log_file = log_file

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_until_ready(self, seconds: float) -> str:
        """Wait for the line in which the child tells its address, and check that it answers."""
        said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        output = self.process.stdout
        assert output is not None
        threading.Thread(target=lambda: said.put(output.readline()), daemon=True).start()
        try:
            address = said.get(timeout=seconds).decode().strip()
        except queue.Empty:
            message = (
                f"local model {self.path}: not ready after {seconds:g} s. A smaller model or "
                f"context loads faster.{self._last_lines()}"
            )
            raise self._error(message, reason="local-server-slow") from None
        if not address:
            raise self.death("while it loaded")
        self._check_health(address)
        return address

    def death(self, when: str) -> ModelCallError:
        """Describe the end of a child that is ending or has ended."""
        code = self.process.wait()
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        message = f"local model {self.path}: its server ended {when} ({how}).{self._last_lines()}"
        return self._error(message, reason="local-server-died")

    def _check_health(self, address: str) -> None:
        # http.client rather than urllib: a proxy set in the environment must not come between.
        connection = http.client.HTTPConnection(address, timeout=HEALTH_SECONDS)
        try:
            connection.request("GET", "/health")
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            message = f"local model {self.path}: no answer at {address} ({error})"
            raise self._error(message, reason="local-server-slow") from error
        finally:
            connection.close()
        if status != http.HTTPStatus.OK:
            message = f"local model {self.path}: its server is not healthy (status {status})"
            raise self._error(message, reason="local-server-slow")

    def _error(self, message: str, *, reason: str) -> ModelCallError:
        return ModelCallError(message, reason=reason, ids=[str(self.path)])

    def _last_lines(self) -> str:
        size = self._log_file.seek(0, 2)
        self._log_file.seek(max(0, size - 4000))
        lines = self._log_file.read().decode(errors="replace").splitlines()[-N_LAST_LINES:]
        return " Its last lines:\n" + "\n".join(f"  {line}" for line in lines) if lines else ""
