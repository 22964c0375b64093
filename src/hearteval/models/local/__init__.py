"""Models on this machine: a server in a child process, for as long as it is needed.

A ``.gguf`` file is served by llama.cpp (the wheel `xllamacpp`, the extra ``local``), a ``.yaml``
file, which is vLLM's configuration and names weights, by the program ``vllm``. The native code
never runs in this process: if it crashes, a study loses a model and says so. The child, the module
`server`, ends with the ``with`` block, on Ctrl-C, and when this process is killed outright (it
holds one end of a pipe).
"""

import asyncio
import http.client
import importlib.util
import json
import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from hearteval.errors import ModelCallError, SettingsError
from hearteval.models.base import VLLM_FILES, ChatModel, Message, Reply, Sampling

log = logging.getLogger(__name__)

GGUF_MAGIC = b"GGUF"
N_LAST_LINES = 6
LAST_LINES = " Its last lines:"
HEALTH_SECONDS = 10.0
READY_SECONDS = 600.0
DEATH_SECONDS = 1.0
ONE_REQUEST = {"Connection": "close"}
"""Headers of every request: llama.cpp's server closes connections that it said it would keep."""
MAY_BE_DEAD = frozenset({"connection", "cut-off-stream", "timeout"})
VLLM_READY_SECONDS = 3600.0
"""Weights of a hundred gigabytes take a while."""
NO_VLLM = (
    "a local model in a .yaml file needs vLLM, and a GPU: install it so that the program `vllm` is"
    " found, in this environment or another (https://docs.vllm.ai)"
)
NO_LLAMA_CPP = "a local model needs llama.cpp; pip install 'hearteval[local]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """How a local model is served. Of these, vLLM takes `reuse_prompts`; its file has the rest."""

    context: int = 8192
    """Tokens of one request, prompt and reply together."""
    n_parallel: int = 1
    """Requests served at once; more of them wait their turn. With more than one, requests share
    batches, and rounding may then change a reply that is nearly a toss-up."""
    n_threads: int | None = None
    """Threads that compute; None is llama.cpp's own choice. A tiny model, or a machine that is busy
    otherwise, wants 1."""
    reuse_prompts: bool = True
    """Keep the computed start of a prompt for the next request. Saves much where judges share a
    rubric, but what came before then rounds a reply that is nearly a toss-up; must be off where
    time to first token is measured."""

    def __post_init__(self) -> None:
        for name in ("context", "n_parallel", "n_threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} of a local model must be at least 1, not {value}")


class LocalServer:
    """A running server in a child process.

    Attributes:
        base_url: Address for an OpenAI-compatible client, e.g. ``http://127.0.0.1:40123/v1``.
        model: Name of the model: its file's name without its ending.
    """

    def __init__(
        self,
        path: Path,
        start: Callable[[], subprocess.Popen[bytes]],
        log_file: IO[bytes],
        *,
        ready_seconds: float,
    ) -> None:
        """Start the child; `wait_until_ready` before it is asked."""
        self.base_url = ""
        self.model = path.stem
        self._path = path
        self._start = start
        self._process = start()
        self._log_file = log_file
        self._ready_seconds = ready_seconds

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def kill(self) -> None:
        """End the child, and what it started."""
        if self._process.poll() is None:
            self._kill_session()

    def _kill_session(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def restart(self) -> None:
        """Start another child in the place of one that ended; its address is a new one.

        Raises:
            ModelCallError: It ended too, or was not ready in time.
        """
        self._process = self._start()
        self.wait_until_ready()

    def ensure_running(self) -> None:
        """Say so if the child is gone: call it when a request to `base_url` fails.

        Raises:
            ModelCallError: The child ended; the message holds its last lines.
        """
        # A connection breaks a moment before the process that held it can be waited for.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=DEATH_SECONDS)
            raise self._death("while it served")

    def wait_until_ready(self) -> None:
        """Wait for the line in which the child tells its address, and check that it answers.

        Raises:
            ModelCallError: It ended, or was not ready in time.
        """
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], self._ready_seconds)[0]:
            raise self._error(
                f"not ready after {self._ready_seconds:g} s. A smaller model or context loads"
                f" faster.{self._last_lines()}"
            )
        address = output.readline().decode().strip()
        if not address:
            raise self._death("while it loaded")
        self._check_health(address)
        self.base_url = f"http://{address}/v1"
        log.info("local model %s is served at %s by process %d", self.model, address, self.pid)

    def _death(self, when: str) -> ModelCallError:
        code = self._process.wait()
        self._kill_session()
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        message = f"its server ended {when} ({how}).{self._last_lines()}"
        return self._error(message, reason="local-server-died")

    def _check_health(self, address: str) -> None:
        # http.client rather than urllib: a proxy set in the environment must not come between.
        connection = http.client.HTTPConnection(address, timeout=HEALTH_SECONDS)
        try:
            connection.request("GET", "/health")
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise self._error(f"no answer at {address} ({error})") from error
        finally:
            connection.close()
        if status != http.HTTPStatus.OK:
            raise self._error(f"its server is not healthy (status {status})")

    def _error(self, message: str, *, reason: str = "local-server-slow") -> ModelCallError:
        ids = [str(self._path)]
        return ModelCallError(f"local model {self._path}: {message}", reason=reason, ids=ids)

    def _last_lines(self) -> str:
        size = self._log_file.seek(0, 2)
        self._log_file.seek(max(0, size - 4000))
        lines = self._log_file.read().decode(errors="replace").splitlines()[-N_LAST_LINES:]
        return f"{LAST_LINES}\n" + "\n".join(f"  {line}" for line in lines) if lines else ""


class LocalModel:
    """A model served here, whose server is started once more if it dies.

    When it dies again, calls fail for that, rather than because nobody answers. `connect` makes the
    model that asks the server at its address; `say` is told of the new start.
    """

    def __init__(
        self,
        connect: Callable[[LocalServer], ChatModel],
        server: LocalServer,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._model = connect(server)
        self.name = self._model.name
        self._connect = connect
        self._server = server
        self._say = say
        self._lock = asyncio.Lock()
        self._is_restarted = False

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Ask the server; see `ChatModel.complete`."""
        model = self._model
        try:
            return await model.complete(messages, sampling, repeat=repeat)
        except ModelCallError as error:
            if error.reason not in MAY_BE_DEAD or not await self._is_served_anew(model):
                raise
        return await self._model.complete(messages, sampling, repeat=repeat)

    async def _is_served_anew(self, model: ChatModel) -> bool:
        """Say whether the server that a model asked has died and another runs.

        Raises:
            ModelCallError: It died, and not for the first time.
        """
        async with self._lock:
            if model is not self._model:
                return True
            try:
                await asyncio.to_thread(self._server.ensure_running)
            except ModelCallError as death:
                if self._is_restarted:
                    raise
                self._is_restarted = True
                self._say(f"{death.headline.partition(LAST_LINES)[0]} It is started once more.")
            else:
                return False
            await asyncio.to_thread(self._server.restart)
            self._model = self._connect(self._server)
            return True


def find_program(path: Path) -> str | None:
    """Return the program that serves a file; None where llama.cpp does, within Python.

    Raises:
        SettingsError: It is not installed.
    """
    if path.suffix in VLLM_FILES:
        program = shutil.which("vllm")
        if program is None:
            raise SettingsError(NO_VLLM, ids=[str(path)])
        return program
    if importlib.util.find_spec("xllamacpp") is None:
        raise SettingsError(NO_LLAMA_CPP, ids=[str(path)])
    return None


@contextmanager
def run_local_model(
    path: Path,
    settings: LocalSettings | None = None,
    *,
    ready_within_seconds: float | None = None,
) -> Iterator[LocalServer]:
    """Serve a GGUF file, or what vLLM's file names, on a free loopback port until the block ends.

    Raises:
        SettingsError: No such file, none of these, or what serves it is not installed.
        ModelCallError: The server did not start, or not in time.
    """
    _check_file(path)
    vllm = find_program(path)
    if ready_within_seconds is None:
        ready_within_seconds = READY_SECONDS if vllm is None else VLLM_READY_SECONDS
    served = asdict(settings or LocalSettings())
    order = json.dumps({"path": str(path.absolute()), "name": path.stem, "vllm": vllm, **served})
    with tempfile.TemporaryFile() as log_file, ExitStack() as children:
        server = LocalServer(
            path,
            lambda: children.enter_context(_start(order, log_file)),
            log_file,
            ready_seconds=ready_within_seconds,
        )
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.kill()


def _check_file(path: Path) -> None:
    problem = "not a GGUF file (it does not begin with GGUF), nor a .yaml file for vLLM"
    try:
        with path.open("rb") as file:
            if path.suffix in VLLM_FILES or file.read(len(GGUF_MAGIC)) == GGUF_MAGIC:
                return
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    raise SettingsError(f"local model {path}: {problem}", ids=[str(path)])


def _start(order: str, log_file: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P: a file in the user's working folder must not stand in for a module of the same name.
    # A session of its own: Ctrl-C reaches this process first, which lets calls in flight end.
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-P", "-m", "hearteval.models.local.server", order],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log_file,
        start_new_session=True,
    )
