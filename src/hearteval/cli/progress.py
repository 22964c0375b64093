"""How far a long step is: a bar on a terminal, elsewhere a plain line every few seconds.

A bar goes when its step is done; what the step has counted is said in its place. A short step says
nothing to a pipe.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

Advance = Callable[[int, int | None], None]
Cost = Callable[[], float] | None
FIRST_SECONDS, EVERY_SECONDS = 3.0, 10.0
"""After which a pipe is told first, and again."""
LOOK_SECONDS = 0.5
RECENT_SECONDS = 30.0
"""Over which the rate and the time left are counted."""
LABEL = 12


@contextmanager
def shown_progress(label: str, *, cost: Cost = None) -> Iterator[Advance]:
    """Show how far something is, with rate, cost so far and time left."""
    with (_bar if sys.stderr.isatty() else _lines)(label, cost) as advance:
        yield advance


@contextmanager
def _bar(label: str, cost: Cost) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn(f"{{task.description:<{LABEL - 1}}}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        lines = Lines(label, cost=cost)
        task = progress.add_task(label, total=None, said="")

        def advance(done: int, total: int | None) -> None:
            lines.advance(done, total)
            progress.update(task, completed=done, total=total, said=lines.words())

        yield advance


@contextmanager
def _lines(label: str, cost: Cost) -> Iterator[Advance]:
    """Say a line now and then, also while nothing moves on."""
    lines, is_over = Lines(label, cost=cost), threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_SECONDS):
            lines.look()

    watcher = threading.Thread(target=watch, daemon=True, name=f"progress of {label}")
    watcher.start()
    try:
        yield lines.advance
    finally:
        is_over.set()
        watcher.join()


class Lines:
    """Plain lines that say how far a step is.

    Args:
        label: What is going on.
        cost: Gives the US dollars spent so far; None where nothing costs anything.
        clock: Gives seconds.
        write: Prints a line.
    """

    def __init__(
        self,
        label: str,
        *,
        cost: Cost = None,
        clock: Callable[[], float] = time.monotonic,
        write: Callable[[str], None] | None = None,
    ) -> None:
        self._label, self._cost, self._clock = label, cost, clock
        self._write = write or (lambda line: click.echo(line, err=True))
        self._began = clock()
        self._next = self._began + FIRST_SECONDS
        self._recent: deque[tuple[float, int]] = deque()
        self._done = 0
        self._total: int | None = None

    def advance(self, done: int, total: int | None) -> None:
        """Take note of how many of how many are done."""
        now = self._clock() if self._recent else self._began
        self._done, self._total = done, total
        if not self._recent or now >= self._recent[-1][0] + LOOK_SECONDS:
            self._recent.append((now, done))

    def look(self) -> None:
        """Say a line if it is time to."""
        now = self._clock()
        if now >= self._next:
            self._next = now + EVERY_SECONDS
            said = self.words()
            took = duration(now - self._began)
            self._write(f"{self._label}: {said + ', ' if said else ''}{took} so far")

    def words(self) -> str:
        """Say how many, how fast, until when and for how much."""
        if not self._recent:
            return ""
        total = "" if self._total is None else f" of {self._total:,}"
        said = [f"{self._done:,}{total}"]
        now = self._clock()
        while len(self._recent) > 1 and self._recent[1][0] <= now - RECENT_SECONDS:
            self._recent.popleft()
        since, before = self._recent[0]
        seconds, n_new = now - since, self._done - before
        if n_new > 0 and seconds >= 1:
            rate = n_new / seconds
            said.append(f"{rate:,.1f}/s")
            if self._total is not None and self._total > self._done:
                said.append(f"about {duration((self._total - self._done) / rate)} left")
        if self._cost is not None:
            said.append(f"${self._cost():.2f}")
        return ", ".join(said)


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
