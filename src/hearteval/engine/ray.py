"""Work spread over a Ray cluster. Ray moves work only: what is true stands in the store.

Nothing is sent but functions, arrays and the places of files: keys are read from the environment of
the node that makes a call, and no environment is sent along.
"""

import logging
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError

from hearteval.engine import is_here
from hearteval.engine.local import AHEAD, WATCH_SECONDS, map_ahead
from hearteval.errors import EngineError, SettingsError

T = TypeVar("T")
R = TypeVar("R")
LOOPBACK = "127.0.0.1"
STORE_BYTES = 100 * 1024**2
"""Of shared memory for what tasks bring and give, in a cluster of this process's own."""

HELD: Final[Mapping[str, Any]] = {
    "num_cpus": 0,  # it waits for models most of its time
    "memory": 1024**2,  # actors that want nothing are not spread: Ray throws dice for each
    "scheduling_strategy": "SPREAD",
    "max_restarts": -1,
    "max_task_retries": -1,
}
"""How a worker is held: over all nodes, and begun again as often as it is lost."""


class RayMap:
    """Workers of a Ray cluster, connected to when there is more than one task; a `stats.Map`.

    Args:
        address: Of the cluster's head, ``auto`` for the one that this machine is part of; None
            begins a cluster on this machine that ends with this process.
        n_workers: How many work at once at the most; processors of a cluster of one's own.
        has_token: Whether connections are made with Ray's token.
    """

    def __init__(self, address: str | None, *, n_workers: int, has_token: bool) -> None:
        self._address = address
        self._n_workers = n_workers
        self._has_token = has_token
        if address is not None and address != "auto":
            self._require_token(address)

    def __call__(self, work: Callable[[T], R], tasks: Iterable[T], /) -> Iterator[R]:
        """Yield what the work makes of each task, in their order.

        Raises:
            EngineError: The cluster is not reached, or is lost and does not come back.
        """

        def prepare() -> Callable[[T], Callable[[], R]]:
            self.connect()
            shared = ray.put(work)

            def begin(task: T) -> Callable[[], Any]:
                return partial(ray.get, _work.remote(shared, task))

            return begin

        found = map_ahead(prepare, work, tasks, n_ahead=AHEAD * self._n_workers)
        with _told():
            yield from found

    def hold(self, work: Callable[..., None], *arguments: Any) -> Generator[None]:
        """Have every worker do the same until all have ended; yield now and then meanwhile.

        Closed before that, it ends them. A worker that is lost, alone or with its node, begins
        again on a node that is there: what was done before is for the work to know.

        Raises:
            EngineError: The cluster is not reached, or is lost.
        """
        self.connect()
        worker: Any = ray.remote(**HELD)(_Worker)
        held = [worker.remote() for _ in range(self._n_workers)]
        try:
            begun = [one.do.remote(work, *arguments) for one in held]
            left = begun
            with _told():
                while left:
                    _, left = ray.wait(left, num_returns=len(left), timeout=WATCH_SECONDS)
                    yield
                ray.get(begun)
        finally:
            for one in held:
                ray.kill(one)

    def connect(self) -> None:
        """Connect to the cluster, or begin one; once it is done, do nothing.

        Raises:
            EngineError: There is none, or it wants another token.
            SettingsError: It is not on this machine and connections to it have no token.
        """
        if ray.is_initialized():
            return
        own: dict[str, Any] = {
            "num_cpus": self._n_workers,
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
            "_node_ip_address": LOOPBACK,
        }
        on_term = signal.getsignal(signal.SIGTERM)
        with _told(RuntimeError):
            ray.init(
                address=self._address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if self._address else own),
            )
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_term)  # which Ray has replaced
        try:
            self._require_token(ray.get_runtime_context().gcs_address)
        except SettingsError:
            ray.shutdown()
            raise

    def close(self) -> None:
        """Leave the cluster; one that this process began ends."""
        ray.shutdown()

    def _require_token(self, address: str) -> None:
        if not (self._has_token or is_here(address)):
            raise SettingsError(
                f"{address} is not on this machine, and whoever reaches a Ray cluster runs code on"
                " it: begin every node with RAY_AUTH_MODE=token and the same token, and set both"
                " here too (docs/how-to/cluster.md)",
                ids=("engine.address",),
            )


class _Worker:
    """Waits for models most of its time."""

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        work(*arguments)


@ray.remote(max_retries=-1)
def _work(work: Callable[[Any], Any], task: Any) -> Any:
    return work(task)


@contextmanager
def _told(*more: type[Exception]) -> Iterator[None]:
    """Raise what Ray says of itself as an error of this project, in a line."""
    faults: tuple[type[Exception], ...] = (ConnectionError, RayError, *more)
    try:
        yield
    except faults as error:
        if isinstance(error, RayTaskError) and not isinstance(error.cause, RayError):
            raise error.cause from None  # as if the task had been done here
        said = str(error).strip().splitlines()
        raise EngineError(
            f"the Ray cluster: {said[0] if said else type(error).__name__}"
        ) from error
