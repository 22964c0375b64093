"""A PostgreSQL server of the suite's own: a free loopback port, a temporary folder, stopped by id.

Debian's server if there is one (as its own user where the suite runs as root, which the server
refuses), else the ``pgserver`` wheel; with neither, the tests skip and say so.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

START_SECONDS = 300
USER = "heart"
LOOPBACK = "127.0.0.1"
SETTINGS = "-c fsync=off -c full_page_writes=off -c max_connections=50 -c shared_buffers=64MB"


def server_folder() -> Path | None:
    """Return the folder of the server's programs, Debian's newest first."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if debian:
        return debian[-1].parent
    found = shutil.which("postgres")
    if found:
        return Path(found).parent
    wheel = importlib.util.find_spec("pgserver")
    if wheel is None or wheel.origin is None:
        return None
    return Path(wheel.origin).parent / "pginstall" / "bin"


def let_through(folder: Path) -> None:
    """Let the server's own user reach its folder; another run of the suite may forbid it again."""
    for parent in folder.parents:
        if parent.owner() == "root" and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


class PostgresServer:
    """One server; it can be stopped and started again in the middle of a test."""

    def __init__(self, programs: Path, folder: Path, host: str = LOOPBACK) -> None:
        self._programs, self._folder, self._host = programs, folder, host
        self._data = folder / "data"
        self.port = _free_port()
        self._run("initdb", "-D", self._data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8")
        if host != LOOPBACK:
            with (self._data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")

    @property
    def folder(self) -> Path:
        """Where its socket is."""
        return self._folder

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@{self._host}:{self.port}/postgres"

    def start(self) -> None:
        options = f"{SETTINGS} -c listen_addresses={self._host} -p {self.port} -k {self._folder}"
        log = self._folder / "log"
        self._run(
            "pg_ctl", "-D", self._data, "-l", log, "-o", options, "-w", "-t", START_SECONDS, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def create_database(self, name: str) -> str:
        """Create an empty database and return its address."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url.removesuffix("postgres") + name

    def _run(self, program: str, *words: object) -> None:
        command = [str(self._programs / program), *(str(word) for word in words)]
        if os.geteuid() == 0:
            let_through(self._folder)
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


def _free_port() -> int:
    """Return a port that nobody is given while the server is away, as any connection may be.

    Those below 32768 are not given out, and each process of the suite has eight of its own.
    """
    first = 16_384 + 8 * (os.getpid() % 2_048)
    for port in range(first, first + 8):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"none of the ports from {first} is free")


@contextmanager
def running_server(folder: Path, *, host: str = LOOPBACK) -> Iterator[PostgresServer]:
    """Start a server in an empty folder and stop it at the end; skip where there is none."""
    programs = server_folder()
    if programs is None:
        pytest.skip("no PostgreSQL here: install Debian's postgresql or the wheel pgserver")
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    server = PostgresServer(programs, folder, host)
    server.start()
    try:
        yield server
    finally:
        server.stop()
