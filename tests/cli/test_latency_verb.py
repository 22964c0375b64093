"""``heart latency``: models timed apart from completions, money counted, baselines passed over."""

from pathlib import Path

import pytest
from heart_command import Heart
from paying_server import paying_server
from tiny_model import TINY_MODEL

from hearteval.store.sql import SqlStore

STUDY = """
[study]
name = "timed"
seed = 1
[items]
source = "starter"
regular = 3
adversarial = 1
[[system]]
preset = "generic"
[[system]]
name = "ours"
{model}
family = "ours"
max_tokens = 30
[judging]
judges = ["cue"]
stress_items = 0
"""


def write_study(path: Path, model: str) -> Path:
    study = path / "timed.toml"
    study.write_text(STUDY.format(model=model), encoding="utf-8")
    return study


def paid(url: str) -> str:
    return (
        f'model = "openai-compatible/our-model"\nbase_url = "{url}"\n'
        "price = { input = 0.5, output = 2.0 }"
    )


def test_every_call_is_made_once_and_paid_for_though_it_was_answered_before(
    heart: Heart, tmp_path: Path
) -> None:
    with paying_server() as server:
        study = write_study(tmp_path, paid(server.url))
        assert heart("complete", study, "--yes").code == 0
        n_completions = len(server.prompts)
        words = ("latency", study, "--items", "2", "--repeats", "3", "--yes", "--json")
        first = heart(*words).json
        n_calls = len(server.prompts) - n_completions
        second = heart(*words).json
    assert first["schema"] == "heart.latency/1"
    assert first["probes"] == {
        "n_wanted": 6,
        "n_before": 0,
        "n_added": 6,
        "n_warm_up": 1,
        "failed": {},
    }
    assert n_calls == 7
    assert (second["probes"]["n_before"], second["probes"]["n_added"]) == (6, 0)
    assert second["systems"] == first["systems"]
    assert len(server.prompts) == n_completions + n_calls
    (row,) = first["systems"]
    # This endpoint does not stream: there is a whole time and no first text.
    assert (row["n_without_first_text"], row["first_text"], row["total"]["n"]) == (6, None, 6)
    assert first["not_measured"] == [{"system": "generic", "reason": "writes without a model"}]
    store = SqlStore.open(str(tmp_path / "timed.db"))
    n_in, n_out = server.used["our-model"]
    assert store.spent_usd() == pytest.approx((n_in * 0.5 + n_out * 2.0) / 1e6)
    store.close()


def test_money_is_asked_for_before_a_call_is_made(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as server:
        refused = heart("latency", write_study(tmp_path, paid(server.url)), "--json")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert server.prompts == []


def test_where_no_model_writes_there_is_nothing_to_measure(heart: Heart, study: Path) -> None:
    done = heart("latency", study)
    assert done.code == 0
    assert done.out == "Nothing to measure, no model is asked: generic, original, reflective.\n"
    assert heart("latency", study, "--json").json["systems"] == []


@pytest.mark.server
@pytest.mark.usefixtures("one_thread")
def test_a_local_model_is_timed_to_its_first_text(heart: Heart, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    study = write_study(tmp_path, f'model = "local:{TINY_MODEL}"')
    done = heart("latency", study, "--items", "1", "--repeats", "2", "--json")
    (row,) = done.json["systems"]
    assert row["first_text"]["n"] == 2
    assert 0 < row["first_text"]["median"] <= row["total"]["median"]
    assert heart("latency", study, "--items", "1", "--repeats", "2").out.startswith("system")
