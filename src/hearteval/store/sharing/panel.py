"""Claims: which process asks which open question, so that two on one store pay once.

A claim is a lease by the database's clock. It ends when its process releases it, when it is no
longer renewed, or, on one machine, as soon as its process is gone: a run waits for no killed
predecessor. So does a share of what an endpoint allows. A released claim
stays as a mark until no other process is there, because others may not have seen yet what became of
the question: they read the store again before they claim it.
"""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Protocol, TypeVar

from hearteval.domain import record_id
from hearteval.store.base import Store
from hearteval.store.records import Found

LEASE = timedelta(seconds=15)
"""After which a machine that is away loses its claims."""
SEEN_ALIVE = timedelta(seconds=105)
"""For which a process of this very machine, seen alive, is waited for beyond that."""
RENEWALS = 4
"""Of a lease before it ends."""
POLL_SECONDS = 0.5
Now = Callable[[], datetime]
T = TypeVar("T")


class Line(Protocol):
    """Calls of one model to an endpoint, by structure: a `Line` of the models' gate."""

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or is under way."""
        ...

    def allow(self, share: float) -> None:
        """Make so much of the calls a minute that are allowed, from now on; 0 is none."""


class Panel:
    """The claims of one process, from the first to `leave`.

    Attributes:
        owner: Who this is: the machine, the process, when it began, and a random word.
        machine: What numbers its process: processes of one machine see each other's end.
        n_looks: How often the store was looked at anew.
        when_shared: Called with each claim while another process is there.
    """

    def __init__(
        self, store: Store, *, now: Now | None = None, thread: Executor | None = None
    ) -> None:
        """Take the thread in which claims are made and renewed; None for one of the event loop."""
        self.owner = f"{name_process(os.getpid())} {secrets.token_hex(8)}"
        self.machine = _machine()
        self.n_looks = 0
        self.when_shared: Callable[[], None] = lambda: None
        self._store = store
        self._now = now or self._by_the_database
        self._clock: tuple[datetime, float] | None = None
        self._lines: dict[str, Line] = {}
        self._hurry, self._has_shares, self._is_held = asyncio.Event(), False, False
        self._thread = thread
        self._seen = 0
        self._done: list[str] = []

    def look(self) -> None:
        """Take note that the store is about to be read: what was released until now is seen."""
        self._clock = None
        self._seen = self._store.enter_panel(self.owner, until=self.until(), is_gone=self.is_gone)
        self.n_looks += 1

    def look_around(self) -> Found:
        """Return what others have left on the store, or do on it now."""
        return self._store.look_around(self.owner, is_gone=self.is_gone)

    async def claim(self, keys: Sequence[str]) -> frozenset[str]:
        """Claim what is free of these questions; return what is this process's own now.

        Another process may hold the lock of all writers: what is under way goes on meanwhile.
        """
        done, self._done = self._done, []
        claiming = partial(
            self._store.claim,
            keys,
            owner=self.owner,
            until=self.until(),
            seen=self._seen,
            is_gone=self.is_gone,
            done=done,
        )
        claimed = await self._in_thread(claiming)
        if claimed.is_shared:
            self.when_shared()
        return claimed.keys

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def finish(self, key: str) -> None:
        """Say that a question has been dealt with; it is released with the next ones."""
        self._done.append(key)

    def release(self) -> None:
        """Release what is finished."""
        done, self._done = self._done, []
        if done:
            self._store.release(done, owner=self.owner)

    def renew(self) -> None:
        """Renew every claim."""
        self._clock = None
        self._store.enter_panel(self.owner, until=self.until(), is_gone=self.is_gone)

    def leave(self) -> None:
        """Release everything."""
        self._store.leave_panel(self.owner, is_gone=self.is_gone)

    async def wait_until_free(self, keys: Collection[str]) -> None:
        """Wait until none of these questions is claimed by another process."""
        find = partial(self._store.claimed, owner=self.owner, is_gone=self.is_gone)
        asked = sorted(keys)
        while (held := find(asked)) is not None:
            while find([held]) is not None:  # to ask about all takes many times as long
                await asyncio.sleep(POLL_SECONDS)

    async def keep_renewing(self) -> None:
        """Renew the claims and the shares in time, until cancelled."""
        while True:
            wait = LEASE.total_seconds() / RENEWALS
            with suppress(TimeoutError):
                is_soon = self._is_held and wait > POLL_SECONDS
                await asyncio.wait_for(self._hurry.wait(), POLL_SECONDS if is_soon else wait)
            if not self._hurry.is_set():
                await self._in_thread(self.renew)
            self._hurry.clear()
            await self._divide()

    def share(self, lines: Mapping[str, Line]) -> None:
        """Keep, from now on, to one's share of these lines; each is allowed none before."""
        self._lines |= lines
        for line in lines.values():
            line.allow(0.0)

    def hurry(self) -> None:
        """Ask for shares now: a call waits for one."""
        self._hurry.set()

    async def _divide(self) -> None:
        wanted = [id_ for id_, line in self._lines.items() if not line.is_idle]
        if wanted or self._has_shares:
            divide = self._store.divide
            asking = partial(
                divide, wanted, owner=self.owner, until=self.until(), is_gone=self.is_gone
            )
            granted = await self._in_thread(asking)
            self._has_shares, self._is_held = bool(wanted), 0.0 in granted.values()
            for id_, line in self._lines.items():
                line.allow(granted.get(id_, 0.0))

    def until(self) -> datetime:
        """Return when a lease ends that is renewed now."""
        return self._now() + LEASE

    def is_gone(self, owner: str, until: datetime) -> bool:
        """Say whether an owner, whose lease ends then, has no more say."""
        is_here = owner.startswith(f"{_machine()} ")
        return until + SEEN_ALIVE * is_here <= self._now() or is_dead(owner)

    def _by_the_database(self) -> datetime:
        """Return the time by the database's clock, which is read with each renewal."""
        # Late by how long the answer took: no lease of others ends too early.
        told, at = self._clock = self._clock or (self._store.now(), time.monotonic())
        return told + timedelta(seconds=time.monotonic() - at)


def is_dead(owner: str) -> bool:
    """Say whether an owner is a process of this machine that has ended; others are not known."""
    machine, _, rest = owner.partition(" ")
    pid = rest.partition(" ")[0]
    if machine != _machine() or not pid.isdigit():
        return False
    return not owner.startswith(f"{name_process(int(pid))} ")


def name_owner(owner: str) -> str:
    """Name an owner as a person knows it."""
    machine, pid, *_ = owner.split(" ")
    return f"process {pid}" if machine == _machine() else "a process of another machine"


def name_process(pid: int) -> str:
    """Name a process so that no other bears the name: machine, number, when it began."""
    began = "there"
    try:
        if os.name == "posix":
            os.kill(pid, 0)
    except ProcessLookupError:
        began = "gone"
    except PermissionError:
        pass  # it is there, and another user's
    with suppress(OSError):
        # After the name, which may hold anything; the 22nd field is the start since boot.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        began = "gone" if fields[0] == "Z" else fields[19]
    return f"{_machine()} {pid} {began}"


@cache
def _machine() -> str:
    """Name what numbers processes: a boot of a machine, or of a container on it."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return record_id("machine", {"parts": parts})
