"""How a test waits for what other processes do."""

import time
from collections.abc import Callable

WAIT_SECONDS = 600
"""Nothing that works takes as long, however busy the machine is."""


def until(is_so: Callable[[], bool], *, look_seconds: float = 0.02) -> None:
    """Wait for what is to come, but not for ever."""
    end = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not come"
        time.sleep(look_seconds)
