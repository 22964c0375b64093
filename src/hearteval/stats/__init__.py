"""Mathematics on arrays only: no system has a name here, and errors carry indices.

Small matrices are multiplied in one BLAS thread: more cost several times what they save.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache
from typing import Protocol, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


class Map(Protocol):
    """What the builtin `map` does, wherever the work is done: results in the order of the tasks.

    A task brings all that is random in it, so that no result depends on who worked on it. Work and
    tasks can be pickled.
    """

    def __call__(self, work: Callable[[T], R], tasks: Iterable[T], /) -> Iterator[R]:
        """Yield what the work makes of each task."""
        ...


MAP: ContextVar[Map] = ContextVar("MAP", default=map)
"""Where long computations are worked on: in this process, until an engine is opened."""


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which matrix products use one thread."""
    controller = _controller(has_scipy="scipy.linalg" in sys.modules)
    limits: AbstractContextManager[object] = controller.limit(limits=1, user_api="blas")
    return limits


@cache
def _controller(*, has_scipy: bool) -> ThreadpoolController:
    # Looking up the loaded libraries takes about a millisecond; it is done once before SciPy's own
    # BLAS is loaded, and once after.
    del has_scipy
    return ThreadpoolController()
