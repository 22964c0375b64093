"""``batch = true`` in a study file: who has it, what it changes, and what it does not."""

from pathlib import Path

import pytest

from hearteval.config import ModelSettings, load_study
from hearteval.errors import SettingsError
from hearteval.study.asking.models import asked_directly

OWN = 'name = "x"\nmodel = "openai-compatible/m"\nbase_url = "http://127.0.0.1:9/v1"\nfamily = "f"'


def system(folder: Path, entry: str) -> ModelSettings:
    """Read a study whose second system is this one."""
    return _models(folder, f"[[system]]\n{entry}\n", "cue")[0]


def judge(folder: Path, entry: str) -> ModelSettings:
    """Read a study whose judge is this one."""
    more = f'[[system]]\npreset = "generic"\n[[judge]]\nname = "j"\n{entry}\n'
    return _models(folder, more, "j")[-1]


def _models(folder: Path, more: str, judge: str) -> list[ModelSettings]:
    path = folder / "small.toml"
    path.write_text(
        '[study]\nname = "small"\nseed = 3\n[items]\nsource = "starter"\n'
        f'[[system]]\npreset = "original"\n{more}[judging]\njudges = ["{judge}"]\n',
        encoding="utf-8",
    )
    settings = load_study(path)
    models = [system.model for system in settings.systems]
    models += [judge.model for judge in settings.judging.judges]
    return [model for model in models if model is not None]


def test_without_it_a_model_is_asked_directly(tmp_path: Path) -> None:
    model = system(tmp_path, OWN)

    assert (model.batch, model.concurrency) == (None, 32)


def test_own_endpoint_is_asked_in_openais_way(tmp_path: Path) -> None:
    model = system(tmp_path, f"{OWN}\nbatch = true")

    assert (model.batch, model.concurrency) == ("openai", 10_000)


def test_concurrency_is_then_the_size_of_a_job(tmp_path: Path) -> None:
    assert system(tmp_path, f"{OWN}\nbatch = true\nconcurrency = 20000").concurrency == 20_000
    with pytest.raises(SettingsError, match="at most 4,096 calls at once"):
        system(tmp_path, f"{OWN}\nconcurrency = 20000")


@pytest.mark.parametrize(
    ("preset", "provider", "interface"),
    [("gpt-4.1-mini", "openai", "openai"), ("claude-4.5-haiku", "anthropic", "anthropic")],
)
def test_preset_takes_its_first_route_with_batch_jobs(
    tmp_path: Path, preset: str, provider: str, interface: str
) -> None:
    model = system(tmp_path, f'preset = "{preset}"\nbatch = true')

    assert (model.provider, model.batch) == (provider, interface)


@pytest.mark.parametrize(
    "entry",
    [
        'preset = "gemini-2.5-pro"',
        'preset = "gpt-4o"\nprovider = "openrouter"',
        'name = "x"\nmodel = "local:tiny.gguf"\nfamily = "f"',
    ],
)
def test_model_without_batch_jobs_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / "tiny.gguf").touch()

    with pytest.raises(SettingsError, match=r"batch: .* has no batch jobs that hearteval can use"):
        system(tmp_path, f"{entry}\nbatch = true")


def test_it_is_no_part_of_what_a_system_is(tmp_path: Path) -> None:
    route = 'preset = "claude-4.5-haiku"\nprovider = "anthropic"'

    with_it = system(tmp_path, f"{route}\nbatch = true")

    assert with_it.identity == system(tmp_path, route).identity


def test_claude_as_a_judge_is_held_to_the_schema_in_batch_jobs_only(tmp_path: Path) -> None:
    route = 'preset = "claude-4.5-sonnet"\nprovider = "anthropic"'

    with_it = judge(tmp_path, f"{route}\nbatch = true")

    assert "schema" not in with_it.refuses
    assert "schema" in judge(tmp_path, route).refuses
    assert asked_directly(with_it).refuses == judge(tmp_path, route).refuses


def test_older_claude_refuses_a_schema_there_too(tmp_path: Path) -> None:
    assert "schema" in judge(tmp_path, 'preset = "claude-4-opus"\nbatch = true').refuses


def test_anthropics_batch_jobs_need_a_limit_on_tokens(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="need max_tokens"):
        system(tmp_path, 'preset = "claude-4.5-haiku"\nbatch = true\nrefuses = ["max_tokens"]')


def test_baseline_has_no_batch_jobs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="batch: the preset 'generic' needs nothing more"):
        system(tmp_path, 'preset = "generic"\nbatch = true')
