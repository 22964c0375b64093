"""Local models: the server starts, says why when it cannot, and never outlives its user."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_model import ONE_THREAD, SECONDS, TINY_MODEL, has_ended, is_serving
from waiting import until

from hearteval.errors import ModelCallError, SettingsError
from hearteval.models.local import LocalServer, LocalSettings, run_local_model
from hearteval.models.local import server as local_server

# Serves until told to end; with "fork", a process of its own making holds its pipes too.
PARENT = """
import os, sys
from pathlib import Path
from hearteval.models.local import LocalSettings, run_local_model
with run_local_model(Path(sys.argv[1]), LocalSettings(n_threads=1)) as server:
    if sys.argv[2] == "fork" and os.fork() == 0:
        sys.stdin.read()
        os._exit(0)
    print(server.base_url, flush=True)
    sys.stdin.read()
"""
# Sleeps with the interpreter lock held, as the binding does while it loads a large model.
LOADING = """
import ctypes
from hearteval.models.local import server as local_server
local_server._end_with_parent_while_loading()
print("loading", flush=True)
ctypes.PyDLL(None).sleep(600)
"""


@pytest.mark.server
def test_a_model_is_served_on_loopback_under_its_files_name() -> None:
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert server.base_url.endswith("/v1")
        assert server.model == "tiny"
        assert is_serving(server.base_url)
        server.ensure_running()


@pytest.mark.parametrize(
    ("allowed", "asked", "n"), [({0, 3}, None, 2), ({0, 1, 2, 3}, None, None), ({0}, 3, 3)]
)
def test_as_many_threads_compute_as_a_job_may_use_processors(
    monkeypatch: pytest.MonkeyPatch, allowed: set[int], asked: int | None, n: int | None
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: allowed)

    assert local_server._n_threads(asked) == n


@pytest.mark.server
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_the_server_ends_with_the_block_whatever_ends_it(error: type[BaseException]) -> None:
    servers: list[LocalServer] = []

    def serve_and_fail() -> None:
        with run_local_model(TINY_MODEL, ONE_THREAD) as server:
            servers.append(server)
            raise error

    with pytest.raises(error):
        serve_and_fail()
    assert has_ended(servers[0].pid)
    assert not is_serving(servers[0].base_url)


@pytest.mark.server
@pytest.mark.parametrize(
    ("signal_number", "company"),
    [
        (signal.SIGINT, "alone"),
        (signal.SIGTERM, "alone"),
        (signal.SIGKILL, "alone"),
        (signal.SIGKILL, "fork"),
    ],
)
def test_the_server_does_not_outlive_a_killed_parent(
    signal_number: signal.Signals, company: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(TINY_MODEL), company],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        base_url = parent.stdout.readline().decode().strip()
        assert is_serving(base_url)
        parent.send_signal(signal_number)
        assert parent.wait(SECONDS) != 0
        until(lambda: not is_serving(base_url))


def test_a_killed_parent_is_noticed_while_a_large_model_loads() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOADING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"loading\n"
        child.stdin.close()
        assert child.wait(SECONDS) == -signal.SIGIO


@pytest.mark.server
def test_several_models_are_served_at_once() -> None:
    with (
        run_local_model(TINY_MODEL, ONE_THREAD) as first,
        run_local_model(TINY_MODEL, ONE_THREAD) as second,
    ):
        assert first.base_url != second.base_url
        assert is_serving(first.base_url)
        assert is_serving(second.base_url)


@pytest.mark.server
def test_neither_a_proxy_nor_a_file_in_the_working_folder_gets_in_the_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('the wrong json')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        assert is_serving(server.base_url)


@pytest.mark.server
def test_a_server_killed_while_it_serves_is_reported() -> None:
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: not is_serving(server.base_url))
        with pytest.raises(ModelCallError, match=r"ended while it served \(signal 9\)") as caught:
            server.ensure_running()
    assert caught.value.reason == "local-server-died"
    assert str(TINY_MODEL) in str(caught.value)


@pytest.mark.server
def test_a_cut_off_file_is_reported_in_llama_cpps_words(tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(TINY_MODEL.read_bytes()[:-100_000])
    with (
        pytest.raises(ModelCallError, match="corrupted or incomplete") as caught,
        run_local_model(path, ONE_THREAD),
    ):
        pass
    assert caught.value.reason == "local-server-died"
    assert caught.value.ids == (str(path),)


@pytest.mark.server
def test_a_model_that_loads_too_long_is_given_up() -> None:
    with (
        pytest.raises(ModelCallError, match="not ready after 0 s") as caught,
        run_local_model(TINY_MODEL, ONE_THREAD, ready_within_seconds=0),
    ):
        pass
    assert caught.value.reason == "local-server-slow"


def test_a_missing_file_a_folder_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_text("not a model")
    for path, complaint in [
        (tmp_path / "none.gguf", "cannot be read"),
        (tmp_path, "cannot be read"),
        (other, "not a GGUF file"),
    ]:
        with pytest.raises(SettingsError, match=complaint) as caught, run_local_model(path):
            pass
        assert caught.value.ids == (str(path),)


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with (
        pytest.raises(SettingsError, match=r"pip install 'hearteval\[local\]'"),
        run_local_model(TINY_MODEL),
    ):
        pass


def test_settings_below_one_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="context of a local model must be at least 1, not 0"):
        LocalSettings(context=0)
    with pytest.raises(ValueError, match="n_parallel"):
        LocalSettings(n_parallel=0)
    with pytest.raises(ValueError, match="n_threads"):
        LocalSettings(n_threads=-1)
