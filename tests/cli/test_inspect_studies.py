"""Models through Inspect in a study file: read, run, priced, and refused where they cannot be."""

import importlib.util
from pathlib import Path
from typing import Any

import inspect_answers as answers
import pytest
from heart_command import Heart
from scripted_server import say
from served_study import serving
from study_files import presets, study_text

from hearteval.config import load_study
from hearteval.errors import SettingsError

KEY = "canary-5f2d9a7c41"
OURS = """
name = "ours"
model = "inspect/openai/gpt-4o"
base_url = "{url}"
family = "gpt"
{extra}
"""


def write(folder: Path, entry: str) -> Path:
    path = folder / "through.toml"
    systems = f"{presets('generic', 'advice')}[[system]]\n{entry}\n"
    text = study_text("through", systems, items=(2, 0), study={"seed": 4})
    path.write_text(text, encoding="utf-8")
    return path


def system_of(folder: Path, entry: str) -> Any:
    return load_study(write(folder, entry)).systems[2].model


def test_own_model_needs_a_family_and_no_more(tmp_path: Path) -> None:
    entry = 'model = "inspect/bedrock/us.amazon.nova-pro-v1:0"\nfamily = "nova"'
    model = system_of(tmp_path, entry)
    assert (model.provider, model.model) == ("inspect/bedrock", "us.amazon.nova-pro-v1:0")
    assert (model.backend, model.key_name) == ("inspect", "AWS_BEARER_TOKEN_BEDROCK")
    assert model.base_url == "https://bedrock-runtime.us-east-1.amazonaws.com"


def test_own_model_has_its_own_key_address_and_refusals(tmp_path: Path) -> None:
    extra = 'key_name = "OUR_KEY"\nrefuses = ["seed"]\nmax_tokens = 50\nconcurrency = 3'
    model = system_of(tmp_path, OURS.format(url="http://127.0.0.1:9/v1", extra=extra))
    assert (model.key_name, model.base_url) == ("OUR_KEY", "http://127.0.0.1:9/v1")
    assert (model.refuses, model.max_tokens, model.concurrency) == (frozenset({"seed"}), 50, 3)


def test_route_of_a_preset_through_inspect_is_chosen_by_its_provider(tmp_path: Path) -> None:
    model = system_of(tmp_path, 'preset = "gpt-5"\nprovider = "inspect/openai"')
    assert (model.backend, model.model) == ("inspect", "gpt-5-2025-08-07")
    assert dict(model.extra_body) == {"reasoning_effort": "minimal"}


@pytest.mark.parametrize("model", ["inspect/mistral/large", "inspect/openai", "inspect/openai/"])
def test_other_provider_is_refused_with_those_there_are(tmp_path: Path, model: str) -> None:
    with pytest.raises(SettingsError, match="openai, anthropic, google, bedrock"):
        system_of(tmp_path, f'model = "{model}"\nfamily = "x"')


def test_family_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="family: name the developer's line"):
        system_of(tmp_path, 'model = "inspect/openai/our-tuned-one"')


def test_batch_jobs_do_not_go_through_inspect(tmp_path: Path) -> None:
    entry = 'preset = "gpt-5"\nprovider = "inspect/openai"\nbatch = true'
    with pytest.raises(SettingsError, match="has no batch jobs"):
        system_of(tmp_path, entry)


def test_study_runs_through_inspect(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(answers.responses("That is hard. What hurts most?")) as server:
        study = write(tmp_path, OURS.format(url=server.url, extra="max_tokens = 20"))
        done = heart("complete", study, "--yes", "--json")
    assert done.code == 0, done.err
    assert done.json["completions"]["n_added"] == 6
    assert [body["max_output_tokens"] for body in server.bodies] == [20, 20]
    assert KEY not in done.out + done.err


def test_price_is_that_of_who_serves_the_model(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    study = write(tmp_path, OURS.format(url="http://127.0.0.1:9/v1", extra=""))
    done = heart("run", study, "--dry-run", "--json")
    assert done.code == 0, done.err
    assert done.json["ceiling"]["estimate"]["usd_low"] > 0


def test_missing_extra_is_named(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "inspect_ai" else find(name)
    )
    with serving(say("never asked")) as server:
        done = heart("complete", write(tmp_path, OURS.format(url=server.url, extra="")), "--yes")
    assert done.code == 2
    assert "pip install 'hearteval[inspect]'" in done.err
    assert server.bodies == []


def test_missing_key_is_named(heart: Heart, tmp_path: Path) -> None:
    study = write(tmp_path, OURS.format(url="http://127.0.0.1:9/v1", extra=""))
    done = heart("complete", study, "--yes")
    assert done.code == 2
    assert "OPENAI_API_KEY" in done.err
