"""An event loop whose time is counted, not waited for: an hour of pauses passes at once."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Skipping(selectors.DefaultSelector):
    """Instead of waiting for the next timer, moves the clock to it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "everything waits, and no timer would end it"
        self.now += timeout
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.skipping = _Skipping()
        super().__init__(self.skipping)

    def time(self) -> float:
        return self.skipping.now


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a clock that stands still while anything can be done."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
