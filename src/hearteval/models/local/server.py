"""The child process of a local model: a server, until the parent closes its input.

It is llama.cpp's, in this process, or vLLM's, a child of this one. Run as
``python -m hearteval.models.local.server ORDER`` with the settings as one JSON object. It prints
one line, its address, when the model is loaded. Nothing else imports this module.
"""

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from typing import Any

WATCH_SECONDS = 1.0
# llama.cpp's levels: 1 errors, 2 warnings, 3 what it does, 4 debugging, which shows prompts.
VERBOSITY = 1
N_SPARE_HTTP_THREADS = 8


def main() -> None:
    """Serve until the parent is gone."""
    order = json.loads(sys.argv[1])
    parent = os.getppid()
    report = _claim_stdout()
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    if order["vllm"] is not None:
        _serve_with_vllm(order, report)
    _end_with_parent_while_loading()
    server = _start_server(order)
    _tell(report, server.listening_address.removeprefix("http://"))
    threading.Event().wait()


def _tell(report: int, address: str) -> None:
    with os.fdopen(report, "w") as out:
        print(address, file=out)


def _claim_stdout() -> int:
    """Keep standard output for our one line: what native code prints there joins its log."""
    report = os.dup(1)
    os.dup2(2, 1)
    return report


def _end_with_parent_while_loading() -> None:
    """Ask the kernel for a signal, deadly by default, when the parent's end of the pipe closes.

    The binding holds the interpreter lock while it loads a model, which may take minutes, so no
    thread of Python's can watch then. Where the signal is not deadly (macOS), the thread notices
    once the model is loaded.
    """
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _end_with_parent(parent: int) -> None:
    """End this process when the pipe closes, or the parent is gone and others hold the pipe."""
    while not select.select([0], [], [], WATCH_SECONDS)[0] and os.getppid() == parent:
        pass
    # The server and what it started are of this process's session.
    os.killpg(0, signal.SIGKILL)


def _n_threads(asked: int | None) -> int | None:
    """Return how many threads compute; None for llama.cpp's choice, one for each processor's core.

    It counts those of the whole machine, and threads wait for each other in loops: where a job or a
    container may use some of them, more threads than that would take many times as long.
    """
    if asked is not None or not hasattr(os, "sched_getaffinity"):
        return asked
    n_allowed = len(os.sched_getaffinity(0))
    return n_allowed if n_allowed < (os.cpu_count() or 1) else None


def _start_server(order: dict[str, Any]) -> Any:
    import xllamacpp  # noqa: PLC0415 - 100 MB of native code, and only this process may load it

    params = xllamacpp.CommonParams()
    params.model.path = order["path"]
    params.model_alias = {order["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = order["n_parallel"]
    params.kv_unified = False
    params.n_ctx = order["context"] * order["n_parallel"]
    n_threads = _n_threads(order["n_threads"])
    if n_threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_threads
    params.n_threads_http = order["n_parallel"] + N_SPARE_HTTP_THREADS
    params.cache_prompt = order["reuse_prompts"]
    params.verbosity = VERBOSITY
    # Pages in a browser on this machine must neither call the model nor read the dialogues.
    params.cors_origins = "http://127.0.0.1"
    params.endpoint_slots = False
    params.ui = False
    # What a request leaves out must not be sampled by rules that nobody wrote into the study.
    params.sampling.top_k = 0
    params.sampling.top_p = 1.0
    params.sampling.min_p = 0.0
    params.sampling.temp = 1.0
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:  # llama.cpp has written the reason to its log
        sys.exit(str(error))


def _serve_with_vllm(order: dict[str, Any], report: int) -> None:
    """Start vLLM's server, tell its address once it is well, and end when it does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    # What stands here goes before the file. What a request leaves out must not be sampled by rules
    # that came with the weights.
    command = [order["vllm"], "serve", "--config", order["path"], "--host", "127.0.0.1"]
    command += ["--port", address.partition(":")[2], "--served-model-name", order["name"]]
    command += ["--generation-config", "vllm", "--disable-uvicorn-access-log"]
    if not order["reuse_prompts"]:
        command.append("--no-enable-prefix-caching")
    # A key for its own requests would stand in the way of ours; only this machine reaches it.
    os.environ.pop("VLLM_API_KEY", None)  # noqa: TID251 - of this process alone
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - as installed
    while not _is_well(address):
        if server.poll() is not None:
            sys.exit(server.returncode or 1)
        time.sleep(WATCH_SECONDS / 4)
    _tell(report, address)
    sys.exit(server.wait() or 1)


def _is_well(address: str) -> bool:
    # A proxy set in the environment must not come between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with suppress(OSError), opener.open(f"http://{address}/health", timeout=5) as answer:
        return bool(answer.status == 200)
    return False


if __name__ == "__main__":
    main()
