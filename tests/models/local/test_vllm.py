"""A model that vLLM serves: how its program is started, asked and ended.

There is no GPU here: a program of the same name stands in for it, which listens as `vllm serve`
does, keeps what it was told, and has a process of its own making, as vLLM has its engines.
"""

import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from study_files import entry, presets, study_text
from tiny_model import has_ended, is_serving
from waiting import until

from hearteval.errors import ModelCallError, SettingsError
from hearteval.models.local import LocalSettings, run_local_model

STAND_IN = """#!{python}
import http.server, json, os, subprocess, sys, time
from pathlib import Path
told = dict(zip(sys.argv[2::2], sys.argv[3::2]))
config = Path(told["--config"]).read_text()
if "broken" in config:
    sys.exit("no room on the GPU")
engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
began = time.monotonic()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(200 if time.monotonic() - began > 0.3 else 503, b"")
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "dies" in config:
            os._exit(3)
        message = {{"role": "assistant", "content": "You are not alone with this."}}
        choice = {{"index": 0, "finish_reason": "stop", "message": message}}
        usage = {{"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}}
        reply = {{"id": "1", "model": asked["model"], "choices": [choice], "usage": usage}}
        is_ours = asked["model"] == told["--served-model-name"]
        self.answer(200 if is_ours else 404, json.dumps(reply).encode())
server = http.server.ThreadingHTTPServer((told["--host"], int(told["--port"])), Handler)
seen = {{"arguments": sys.argv[1:], "engine": engine.pid, "has_key": "VLLM_API_KEY" in os.environ}}
Path(told["--config"] + ".seen").write_text(json.dumps(seen))
server.serve_forever()
"""


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file for vLLM, whose program is found."""
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    file = tmp_path / "ours-32b.yaml"
    file.write_text("model: /weights/ours-32b\ntensor-parallel-size: 2\n")
    return file


def seen(file: Path) -> Any:
    return json.loads(file.with_name(f"{file.name}.seen").read_text())


def test_the_program_serves_on_loopback_and_ends_with_all_that_it_started(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "of other requests")
    with run_local_model(weights) as server:
        assert server.model == "ours-32b"
        assert is_serving(server.base_url)
        told = seen(weights)
        assert not has_ended(told["engine"])
    until(lambda: not is_serving(server.base_url))
    until(lambda: has_ended(told["engine"]) or _is_zombie(told["engine"]))  # killed, not yet gone
    _, host, port = server.base_url.removesuffix("/v1").split(":")
    assert (host, told["has_key"]) == ("//127.0.0.1", False)
    assert told["arguments"] == [
        *("serve", "--config", str(weights), "--host", "127.0.0.1", "--port", port),
        *("--served-model-name", "ours-32b", "--generation-config", "vllm"),
        "--disable-uvicorn-access-log",
    ]


def _is_zombie(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):  # it went while we looked
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def test_where_speed_is_measured_no_prompt_is_kept(weights: Path) -> None:
    with run_local_model(weights, LocalSettings(reuse_prompts=False)):
        assert seen(weights)["arguments"][-1] == "--no-enable-prefix-caching"


def test_a_server_that_does_not_start_says_its_last_words(weights: Path) -> None:
    weights.write_text("broken: true\n")
    with pytest.raises(ModelCallError, match="no room on the GPU"), run_local_model(weights):
        pass


def test_without_the_program_the_error_says_what_is_needed(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SettingsError, match="needs vLLM, and a GPU"), run_local_model(weights):
        pass


def test_a_study_asks_it_and_a_server_that_dies_is_started_once_more(
    heart: Heart, weights: Path
) -> None:
    study = weights.with_name("study.toml")
    model = {"model": f"local:{weights.name}", "family": "ours", "reuse_prompts": False}
    study.write_text(
        study_text("vllm", presets("original"), entry("system", name="ours", **model), items=(2, 1))
    )
    counts = heart("complete", study, "--json").json["completions"]
    # The adversarial item has no reply of the original supporter.
    assert (counts["n_wanted"], counts["n_missing"]) == (6, 1)
    assert seen(weights)["arguments"][-1] == "--no-enable-prefix-caching"

    other = weights.with_name("other.yaml")
    other.write_text("dies: true\n")
    study.write_text(study.read_text().replace(weights.name, other.name))
    done = heart("complete", study, "--json")
    assert done.json["completions"]["n_missing"] == 4
    assert "It is started once more." in done.err
    assert seen(other)["engine"] != seen(weights)["engine"]
