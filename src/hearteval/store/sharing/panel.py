"""Claims: which process asks which open question, so that two on one store pay once.

A claim is a lease. It ends when its process releases it, when it is no longer renewed, or, on one
machine, as soon as its process is gone: a run waits for no killed predecessor. A released claim
stays as a mark until no other process is there, because others may not have seen yet what became of
the question: they read the store again before they claim it.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from hearteval.domain import record_id
from hearteval.store.base import Store
from hearteval.store.records import Found

LEASE = timedelta(seconds=120)
RENEWALS = 4
"""Of a lease before it ends."""
POLL_SECONDS = 0.5
Now = Callable[[], datetime]
T = TypeVar("T")


def utc_now() -> datetime:
    """Return the time by which leases end."""
    return datetime.now(UTC)


class Panel:
    """The claims of one process, from the first to `leave`.

    Attributes:
        owner: Who this is: the machine, the process, when it began, and a random word.
        n_looks: How often the store was looked at anew.
        when_shared: Called with each claim while another process is there.
    """

    def __init__(self, store: Store, *, now: Now = utc_now, thread: Executor | None = None) -> None:
        """Take the thread in which claims are made and renewed; None for one of the event loop."""
        self.owner = f"{name_process(os.getpid())} {secrets.token_hex(8)}"
        self.n_looks = 0
        self.when_shared: Callable[[], None] = lambda: None
        self._store = store
        self._now = now
        self._thread = thread
        self._seen = 0
        self._done: list[str] = []

    def look(self) -> None:
        """Take note that the store is about to be read: what was released until now is seen."""
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
        self._store.enter_panel(self.owner, until=self.until(), is_gone=self.is_gone)

    def leave(self) -> None:
        """Release everything."""
        self._store.leave_panel(self.owner, is_gone=self.is_gone)

    async def wait_until_free(self, keys: Collection[str]) -> None:
        """Wait until none of these questions is claimed by another process."""
        while self._store.claimed(sorted(keys), owner=self.owner, is_gone=self.is_gone):
            await asyncio.sleep(POLL_SECONDS)

    async def keep_renewing(self) -> None:
        """Renew the claims in time, until cancelled."""
        while True:
            await asyncio.sleep(LEASE.total_seconds() / RENEWALS)
            await self._in_thread(self.renew)

    def until(self) -> datetime:
        """Return when a lease ends that is renewed now."""
        return self._now() + LEASE

    def is_gone(self, owner: str, until: datetime) -> bool:
        """Say whether an owner, whose lease ends then, has no more say."""
        return until <= self._now() or is_dead(owner)


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
