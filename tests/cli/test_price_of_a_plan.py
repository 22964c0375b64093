"""What a plan says of the price: thoughts, ten questions to go by, caches, people, nothing left."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from heart_command import Done, Heart, run_heart
from paying_server import PayingServer, paying_server
from study_files import presets, served, study_text

from hearteval.config import load_study
from hearteval.items import load_starter_items
from hearteval.study.asking.people import plan_people, work_lines

OURS, THEIRS = {"input": 0.5, "output": 2.0}, {"input": 1.0, "output": 4.0, "cached": 0.1}
THINKER = "deepseek-r1"
NOWHERE = "http://127.0.0.1:9/v1"


def write(
    folder: Path,
    url: str,
    *,
    model: str = "our-model",
    judge: str = "their-judge",
    end: str = "",
    **more: object,
) -> Path:
    """Write a study of 20 items whose judge has these further keys."""
    path = folder / "priced.toml"
    text = study_text(
        "priced",
        presets("generic"),
        served("system", "ours", model, url, "ours", price=OURS),
        served("judge", "theirs", judge, url, "theirs", price=THEIRS, **more),
        items=(20, 0),
        judging={"judges": ["theirs"]},
        end=end,
    )
    path.write_text(text, "utf-8")
    return path


def one_line(said: str) -> str:
    """Return what was said without its lines."""
    return " ".join(said.split())


def test_thoughts_are_priced_by_the_studys_own_figure(heart: Heart, tmp_path: Path) -> None:
    plain = heart("run", write(tmp_path, NOWHERE), "--dry-run", "--json").json["ceiling"]
    path = write(tmp_path, NOWHERE, thinking_tokens=500)
    thinking = heart("run", path, "--dry-run", "--json").json["ceiling"]

    (_, before), (_, after) = plain["by_model"], thinking["by_model"]
    assert after["usd_low"] - before["usd_low"] == pytest.approx(41 * 500 * 4 / 1e6)
    assert after["output_tokens"] - before["output_tokens"] == 41 * 500
    assert after["usd_high"] == before["usd_high"]


def test_only_models_that_think_are_said_not_to_be_counted_whole(
    heart: Heart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = write(tmp_path, NOWHERE, model="gpt-5-mini")
    path.write_text(path.read_text("utf-8").replace('family = "ours"', 'family = "gpt"'), "utf-8")

    monkeypatch.chdir(tmp_path)
    said = heart("run", path.name, "--dry-run").out

    assert "system ours: 20 calls, expected" in said
    assert "thinking tokens not counted" in one_line(said.split("judge theirs")[0])
    (theirs,) = [line for line in said.splitlines() if line.startswith("  judge theirs")]
    assert "thinking" not in theirs
    assert f"heart run {path.name} --probe-cost" in said
    assert all(len(line) <= 80 for line in said.splitlines())


class Probed:
    """A study whose judge thinks, first asked ten questions, then run to its end."""

    def __init__(self, folder: Path, provider: PayingServer) -> None:
        provider.thought = lambda model, n: 900 + 7 * (n % 5) if model == THINKER else 0
        provider.n_kept = 1_000
        self.path = write(folder, provider.url, judge=THINKER)
        self.refused = run_heart("run", self.path, "--probe-cost", "--json")
        self.n_refused = len(provider.prompts)
        self.before = run_heart("run", self.path, "--dry-run", "--json").json
        self.probe: Done = run_heart("run", self.path, "--probe-cost", "--yes", "--json")
        self.n_probed = dict(provider.calls)
        self.plan = run_heart("run", self.path, "--dry-run")
        self.run = run_heart("run", self.path, "--yes", "--json")
        self.calls, self.prompts = dict(provider.calls), list(provider.prompts)
        self.left = run_heart("run", self.path, "--dry-run")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    with paying_server() as provider:
        yield Probed(tmp_path_factory.mktemp("probed"), provider)


@pytest.mark.server
def test_first_questions_are_agreed_to_and_ten_for_each_model(probed: Probed) -> None:
    assert (probed.refused.code, probed.n_refused) == (2, 0)
    assert "(21 calls, " in probed.refused.json["error"]["message"]
    assert probed.probe.code == 0
    assert probed.n_probed == {"our-model": 10, THINKER: 10 + 1}
    asked = probed.probe.json["probe"]
    assert [asked[step]["n_added"] for step in ("completions", "judgments")] == [10, 10]


@pytest.mark.server
def test_what_the_probe_asked_is_not_asked_again(probed: Probed) -> None:
    assert probed.run.code == 0
    assert probed.calls == {"our-model": 20, THINKER: 40 + 1}
    assert len(set(probed.prompts)) == 61
    assert probed.run.json["judgments"]["n_added"] == 30


@pytest.mark.server
def test_plan_goes_by_what_the_probe_has_used(probed: Probed) -> None:
    spent = probed.run.json["spent_usd"] - probed.probe.json["spent_usd"]
    (assumed,) = (m for m in probed.before["ceiling"]["by_model"] if m["who"] == "judge theirs")
    (theirs,) = (m for m in probed.probe.json["ceiling"]["by_model"] if m["who"] == "judge theirs")
    whole = probed.probe.json["ceiling"]["estimate"]
    assert theirs["n_measured"] == theirs["n_calls"] == 31
    assert (assumed["n_unthought"], theirs["n_unthought"]) == (41, 0)
    assert whole["usd_from"] <= spent <= whole["usd_to"]
    assert whole["usd_low"] == pytest.approx(spent, rel=0.05)
    assert theirs["output_tokens"] / 31 > 2 * assumed["output_tokens"] / 41
    assert theirs["cached_tokens"] == 30 * 1_000  # the schema question is short
    assert "by what calls of the same model have cost here, range 95 %" in one_line(probed.plan.out)


@pytest.mark.server
def test_plan_of_a_finished_study_says_that_nothing_is_left_to_ask(probed: Probed) -> None:
    assert one_line(probed.left.out) == (
        "plan: 20 items, 2 systems: nothing is left to ask of any model, and nothing to pay"
    )


@pytest.mark.server
def test_models_with_batch_jobs_are_left_out_of_the_probe(tmp_path: Path) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url, batch=True)
        done = run_heart("run", path, "--probe-cost", "--yes", "--json")
        assert dict(provider.calls) == {"our-model": 10}

    assert done.json["probe"]["judgments"]["n_added"] == 0


def test_plan_counts_what_people_do_in_the_papers_design(tmp_path: Path) -> None:
    people = "[people]\nwriters_per_item = 3\nraters_per_pair = 5\npay_per_hour = 12.0\n"
    systems = [served("system", f"m{n}", f"m{n}", NOWHERE, "ours") for n in range(16)]
    path = tmp_path / "paper.toml"
    path.write_text(study_text("paper", *systems, end=people), "utf-8")
    settings, plain = load_study(path), [i for i in load_starter_items() if i.is_within(())]
    items = [replace(plain[n % 100], dialogue_id=f"d{n}", id="") for n in range(300)]

    work = plan_people(settings, items)

    assert work is not None
    # 16 models make 120 pairs, and 48 with three writers; five people judge each, on 300 items.
    assert (work.n_replies, work.n_judged) == (900, 300 * (120 + 16 * 3) * 5)
    assert work.n_judged == 252_000
    assert (work.person_days, work.days) == (8 + 2_100, 420)
    words = sum(len(turn.text.split()) for item in items for turn in item.context)
    writing = 3 * words / 238 + 900 * 40 / 19
    judging = 840 * (words + 300 * 80) / 238 + 252_000 * 15 / 19
    assert work.hours == pytest.approx((writing + judging) / 60)
    assert work.pay == pytest.approx(12 * work.hours)
    first, pay = work_lines(settings, work)
    assert first.startswith("people, in all: 900\N{NO-BREAK SPACE}replies to write and 252,000")
    assert pay == f"pay: {work.pay:,.0f} at 12 an hour"


def test_plan_without_a_rate_says_nothing_of_pay(heart: Heart, tmp_path: Path) -> None:
    path = write(tmp_path, NOWHERE, end="[people]\nwriters_per_item = 0\noverlap = 0.5\n")

    said, body = heart("run", path, "--dry-run").out, heart("run", path, "--dry-run", "--json").json

    assert "pay" not in said
    assert body["ceiling"]["people"]["pay"] is None
    assert body["ceiling"]["people"]["n_replies"] == 0
    assert "comparisons, about" in said


def test_sample_of_pairs_is_all_that_people_compare(tmp_path: Path) -> None:
    end = "[people]\nwriters_per_item = 0\nraters_per_pair = 3\n"
    every, some = (
        load_study(write(tmp_path, NOWHERE, end=end + more)) for more in ("", "sample = 2\n")
    )
    items = load_starter_items()[:6]

    found = [plan_people(settings, items) for settings in (every, some)]

    assert found[0] is not None
    assert found[1] is not None
    assert found[0].n_judged > found[1].n_judged == 2 * 3


def test_plan_counts_checks_repeats_and_people_of_a_load(tmp_path: Path) -> None:
    end = "[people]\nwriters_per_item = 0\nraters_per_pair = 8\n"
    load, checks = "load = 12\n", "[people.quality]\nchecks = 2\nrepeats = 0.1\n"
    question = '[[people.screening]]\nquestion = "age"\npass = ["18-24"]\n'
    plain, all_in = (
        load_study(write(tmp_path, NOWHERE, end=end + more))
        for more in ("", load + question + checks)
    )
    items = [item for item in load_starter_items() if item.is_within(())][:10]

    without, with_checks = (plan_people(settings, items) for settings in (plain, all_in))

    assert without is not None
    assert with_checks is not None
    # One pair an item. Of 12 tasks 2 are checks, and of 11 others one is a repeat.
    assert with_checks.n_judged == without.n_judged == 80
    n_tasks = 80 * 12 / (10 / 1.1)
    assert (without.n_besides, with_checks.n_besides) == (0, round(n_tasks) - 80)
    assert (without.n_people, with_checks.n_people) == (None, 9)
    assert with_checks.hours == pytest.approx(without.hours * n_tasks / 80)
    said, turned_away = (one_line(line) for line in work_lines(all_in, with_checks))
    assert "80 comparisons and about 26 checks and repeats, about" in said
    assert said.endswith("; 9 people at 12 tasks each")
    assert turned_away == "people whom the first questions turn away are not counted"
