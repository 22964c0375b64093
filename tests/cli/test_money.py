"""Money: shown and agreed to before a call is made, never passed, and what the bill then says."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from heart_command import Done, Heart, run_heart
from paying_server import PayingServer, paying_server
from study_files import presets, served, study_text

from hearteval.store.records import SetAside
from hearteval.store.sharing.panel import name_process
from hearteval.store.sql import SqlStore

COST = {"input": 1.0, "output": 4.0}
PRICE = "price = { input = 0.5, output = 2.0 }"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> PayingServer:
    monkeypatch.setenv("OUR_KEY", "canary-0123456789")
    return PayingServer(url="http://127.0.0.1:9/v1")


def write(folder: Path, url: str, *, price: str = PRICE, limit: str = "") -> Path:
    path = folder / "paid.toml"
    text = study_text(
        "paid",
        presets("generic"),
        f"{served('system', 'ours', 'our-model', url, 'ours', key_name='OUR_KEY')}{price}\n",
        served(
            "judge", "theirs", "their-judge", url, "theirs", price={"input": 1.0, "output": 4.0}
        ),
        items=(10, 2),
        judging={"judges": ["theirs"]},
        end=f"[budget]\n{limit}\n",
    )
    path.write_text(text)
    return path


@dataclass(frozen=True)
class Paid:
    """A study that was run to its end, and what its provider knows."""

    provider: PayingServer
    dry: Done
    """Before it."""
    done: Done
    folder: Path
    n_calls: int
    used: Mapping[str, tuple[int, int]]

    def copied(self, folder: Path) -> Path:
        for name in ("paid.toml", "paid.db"):
            shutil.copy(self.folder / name, folder)
        return folder / "paid.toml"


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paid]:
    folder = tmp_path_factory.mktemp("paid")
    with paying_server() as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUR_KEY", "canary-0123456789")
        path = write(folder, provider.url, limit="max_usd = 5.0")
        dry = run_heart("run", path, "--dry-run", "--json")
        done = run_heart("run", path, "--yes", "--json")
        yield Paid(provider, dry, done, folder, len(provider.prompts), dict(provider.used))


def test_without_a_terminal_a_run_that_costs_money_needs_yes(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    done = heart("run", write(tmp_path, server.url), "--json")

    assert done.code == 2
    assert "add --yes to go ahead" in done.json["error"]["message"]
    assert "expected $" in done.json["error"]["message"]


def test_asking_systems_alone_needs_yes_too(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    assert heart("complete", write(tmp_path, server.url), "--json").code == 2


@pytest.mark.server
def test_asking_judges_alone_needs_yes_too(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        assert heart("complete", path, "--yes", "--json").code == 0

        assert heart("judge", path, "--json").code == 2


def test_judges_without_a_pair_ask_for_no_money(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    done = heart("judge", write(tmp_path, server.url), "--json")

    assert (done.code, done.json["plan"]["n_pairs"]) == (0, 0)


def test_dry_run_shows_what_it_would_cost_and_stores_nothing(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    done = heart("run", write(tmp_path, server.url), "--dry-run", "--json")

    ceiling = done.json["ceiling"]
    assert ceiling["max_completions"] == 24
    assert ceiling["max_judgments"] == 24
    assert ceiling["estimate"]["n_calls"] == 12 + 24 + 1
    assert 0 < ceiling["estimate"]["usd_low"] < ceiling["max_usd"]
    assert not list(tmp_path.glob("*.db"))


def test_at_most_counts_every_try_that_the_client_may_make(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    free = write(
        tmp_path, server.url, price="price = { input = 0, output = 2.0 }\nmax_tokens = 500"
    )
    ours, _ = heart("run", free, "--dry-run", "--json").json["ceiling"]["by_model"]

    # 12 completions, each asked for twice with six tries, each of 500 tokens at $2 a million.
    assert ours["usd_high"] == pytest.approx(12 * 2 * 6 * 500 * 2.0 / 1e6)


def test_unknown_price_is_asked_for_and_never_zero(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    done = heart("run", write(tmp_path, server.url, price=""), "--yes", "--json")

    assert done.code == 2
    assert "system ours: no list has a price for our-model" in done.json["error"]["message"]
    checks = heart("doctor", tmp_path / "paid.toml", "--json").json["checks"]
    (prices,) = (check for check in checks if check["name"] == "prices")
    assert prices["state"] == "missing"
    assert "or 0 for what costs nothing" in prices["remedy"]


@pytest.mark.parametrize("price", ["price = 0", "price = 0.0"])
def test_price_of_nothing_is_written_as_the_message_offers_it(
    heart: Heart, server: PayingServer, tmp_path: Path, price: str
) -> None:
    done = heart("run", write(tmp_path, server.url, price=price), "--dry-run")

    assert done.code == 0
    assert "system ours: 12 calls, which cost nothing\n" in done.out


@pytest.mark.parametrize("price", ["price = 1.5", "price = true", "price = -1", 'price = "free"'])
def test_price_that_is_none_is_refused_with_what_one_looks_like(
    heart: Heart, server: PayingServer, tmp_path: Path, price: str
) -> None:
    done = heart("run", write(tmp_path, server.url, price=price), "--dry-run", "--json")

    assert done.code == 2
    assert "dollars per million tokens" in done.json["error"]["message"]


def test_plan_has_one_line_for_each_model_and_one_in_all(
    heart: Heart, server: PayingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = write(tmp_path, server.url)
    done = heart("run", path, "--dry-run")
    ceiling = heart("run", path, "--dry-run", "--json").json["ceiling"]

    of_money = done.out.partition("\nWith ")[0]  # what the study could tell comes last
    *_, last = lines = [line for line in of_money.splitlines() if not line.startswith("    ")]
    assert [line.partition(" calls")[0] for line in lines if " calls, " in line] == [
        "  system ours: 12",
        "  judge theirs: 25",
        "  in all: 37",
    ]
    assert last.startswith("  at most $")
    # A command to copy stays whole, however long the file's path is.
    assert all(len(line) <= 80 for line in done.out.splitlines() if str(path) not in line)
    assert [one["who"] for one in ceiling["by_model"]] == ["system ours", "judge theirs"]
    most = sum(one["usd_high"] for one in ceiling["by_model"])
    assert most == pytest.approx(ceiling["max_usd"])


def test_plan_is_shown_once_to_a_person_who_is_asked(
    heart: Heart, server: PayingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_words, **_settings: sys.exit(7))

    done = heart("run", write(tmp_path, server.url))

    assert done.code == 7
    assert (done.err.count("37 calls"), done.err.count("at most $")) == (1, 1)


def test_missing_key_of_a_judge_is_named_before_a_completion_is_paid_for(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    path = write(tmp_path, server.url)
    text = path.read_text().replace('name = "theirs"', 'name = "theirs"\nkey_name = "THEIR_KEY"')
    path.write_text(text)

    done = heart("run", path, "--yes", "--json")

    assert done.code == 2
    assert "set the environment variable THEIR_KEY" in done.json["error"]["message"]


def test_plan_says_that_the_limit_is_less_than_it_needs(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    for limit in ("0.02", "0.001"):
        done = heart("run", write(tmp_path, server.url, limit=f"max_usd = {limit}"), "--dry-run")
        said = " ".join(done.out.split())
        assert f"stops at budget.max_usd, ${limit} in all, which is less than it needs" in said


@pytest.mark.server
def test_run_ends_with_what_was_spent(
    heart: Heart, server: PayingServer, paid: Paid, tmp_path: Path
) -> None:
    path = paid.copied(tmp_path)
    first, again = paid.done.json, heart("run", path)
    results = json.loads((tmp_path / "paid.results.json").read_text())
    checks = {c["name"]: c["detail"] for c in heart("doctor", path, "--json").json["checks"]}
    steps = {(s["name"], s["step"]): s for s in results["spending"]["steps"]}
    assert {key: one["n_calls"] for key, one in steps.items()} == {
        ("ours", "completions"): 12,
        ("theirs", "judgments"): 24,
    }
    n_in, n_out = paid.used["our-model"]
    bill = (n_in * 0.5 + n_out * 2.0) / 1e6
    assert steps["ours", "completions"]["usd"] == pytest.approx(bill)
    total = results["spending"]["other_usd"] + sum(one["usd"] for one in steps.values())
    assert total == pytest.approx(first["spent_usd"])
    page = (tmp_path / "paid.report.html").read_text()
    assert "Which models were asked, and what they cost" in page
    assert f"12 calls, ${bill:.4f}, answered as our-model" in checks["calls of system ours"]
    assert first["spent_usd"] > 0
    spent = f"{first['spent_usd']:.4f}".rstrip("0")
    assert len(spent) > len("0.01")
    assert f"${spent} of $5.00 (budget.max_usd)" in " ".join(again.out.split())


@pytest.mark.server
def test_another_limit_is_no_other_study(
    heart: Heart, server: PayingServer, paid: Paid, tmp_path: Path
) -> None:
    path = paid.copied(tmp_path)
    path.write_text(path.read_text().replace("max_usd = 5.0", "max_usd = 9.0"))
    assert heart("run", path, "--json").json["version"] == paid.done.json["version"] == 1


def test_missing_key_is_named_before_anything_is_asked(
    heart: Heart, server: PayingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OUR_KEY")

    done = heart("run", write(tmp_path, server.url), "--yes", "--json")

    assert done.code == 2
    assert "set the environment variable OUR_KEY" in done.json["error"]["message"]


@pytest.mark.server
def test_estimate_is_within_15_percent_of_what_the_run_uses(paid: Paid) -> None:
    estimate = paid.dry.json["ceiling"]["estimate"]
    assert paid.done.code == 0
    assert paid.n_calls == estimate["n_calls"]
    n_in, n_out = (sum(used) for used in zip(*paid.used.values(), strict=True))
    assert estimate["input_tokens"] == pytest.approx(n_in, rel=0.15)
    assert estimate["output_tokens"] == pytest.approx(n_out, rel=0.15)
    prices = {"our-model": (0.5, 2.0), "their-judge": (1.0, 4.0)}
    bill = sum(
        (usd_in * paid.used[model][0] + usd_out * paid.used[model][1]) / 1e6
        for model, (usd_in, usd_out) in prices.items()
    )
    assert estimate["usd_low"] == pytest.approx(bill, rel=0.15)


@pytest.mark.server
def test_second_run_asks_nothing_and_pays_nothing(
    heart: Heart, server: PayingServer, paid: Paid, tmp_path: Path
) -> None:
    path, n_calls = paid.copied(tmp_path), len(paid.provider.prompts)
    again = heart("run", path, "--json")
    dry = heart("run", path, "--dry-run", "--json").json["ceiling"]
    assert (again.code, len(paid.provider.prompts)) == (0, n_calls)
    assert again.json["ceiling"]["estimate"]["n_calls"] == 0
    assert (dry["estimate"]["n_calls"], dry["max_usd"]) == (0, 0.0)


@pytest.mark.server
def test_finished_study_with_identical_texts_asks_for_no_money(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    with paying_server() as provider:
        how = {"key_name": "OUR_KEY", "price": {"input": 0.5, "output": 2.0}}
        twin = served("system", "says the same", "our-model", provider.url, "ours", **how)
        path = write(tmp_path, provider.url, price=f"{PRICE}\n{twin}")
        assert heart("run", path, "--yes", "--json").code == 0

        again = heart("run", path, "--json")

    assert again.code == 0
    assert again.json["ceiling"]["estimate"]["n_calls"] == 0


@pytest.mark.server
def test_asking_again_is_estimated_agreed_to_and_then_whole(
    heart: Heart, server: PayingServer, paid: Paid, tmp_path: Path
) -> None:
    path, n_calls = paid.copied(tmp_path), len(paid.provider.prompts)
    refused = heart("judge", path, "--again", "--json")
    after_refusal = heart("run", path, "--json").json["ceiling"]["estimate"]["n_calls"]
    done = heart("judge", path, "--again", "--yes", "--json")

    assert (refused.code, after_refusal) == (2, 0)
    assert "25 calls" in refused.json["error"]["message"]
    assert done.json["judgments"]["n_added"] == 24
    assert len(paid.provider.prompts) == n_calls + 24


@pytest.mark.server
def test_limit_stops_a_run_and_a_higher_one_goes_on(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    with paying_server() as provider:
        stopped = heart(
            "run", write(tmp_path, provider.url, limit="max_usd = 0.06"), "--yes", "--json"
        )
        n_first = len(provider.prompts)
        path = write(tmp_path, provider.url, limit="max_usd = 5.0")
        dry = heart("run", path, "--dry-run", "--json").json["ceiling"]["estimate"]
        went_on = heart(
            "run", write(tmp_path, provider.url, limit="max_usd = 5.0"), "--yes", "--json"
        )

    assert stopped.code == 1
    assert "the limit of 0.06 dollars would be passed" in stopped.json["stopped"]
    assert f"heart: {stopped.json['stopped']}" in stopped.err
    assert Path(stopped.json["report"]).is_file()
    assert (
        stopped.json["judgments"]["missing"]["not-asked"]
        == 24 - stopped.json["judgments"]["n_added"]
    )
    assert 0 < n_first < 37
    assert dry["n_calls"] == 37 - n_first + 1, "the probe of the schema is counted again"
    assert went_on.json["stopped"] is None
    assert went_on.code == 0
    assert len(provider.prompts) == 37
    assert len(set(provider.prompts)) == 37


@pytest.mark.server
def test_key_goes_to_its_endpoint_and_nowhere_else(paid: Paid) -> None:
    assert "Bearer canary-0123456789" in paid.provider.keys
    assert "canary" not in paid.done.out + paid.done.err
    for path in paid.folder.rglob("*"):
        assert not path.is_file() or b"canary" not in path.read_bytes()
    assert json.loads((paid.folder / "paid.results.json").read_text())["leaderboard"]


@pytest.mark.server
def test_judge_whose_endpoint_ignores_the_schema_is_warned_of(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    with paying_server() as provider:
        provider.ignores_schemas = True
        done = heart("run", write(tmp_path, provider.url), "--yes", "--json")

    assert "judge their-judge: its endpoint does not hold replies to the JSON schema" in done.err
    assert "none of its first 8 questions got a reply that can be used" in done.err
    assert "8 judgments are missing: not-json" in done.err
    assert (done.code, done.json["failures"][0]["name"]) == (1, "theirs")
    assert done.json["judgments"]["n_added"] == 0
    assert done.json["leaderboard"] == []


@pytest.mark.server
def test_doctor_probes_every_model_once(
    heart: Heart, server: PayingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url)
        done = heart("doctor", path, "--probe", "--json")
        n_calls = len(provider.prompts)
        provider.ignores_schemas = True
        unheld = heart("doctor", path, "--probe", "--json")
        provider.ignores_schemas, provider.served_as = False, "our-model-mini"
        other = heart("doctor", path, "--probe", "--json")
    monkeypatch.delenv("OUR_KEY")
    without_key = heart("doctor", path, "--probe", "--json")

    assert (done.code, n_calls) == (0, 2)
    assert {"probe system ours", "probe judge theirs"} <= {c["name"] for c in done.json["checks"]}
    (judge,) = (c for c in unheld.json["checks"] if c["name"] == "probe judge theirs")
    assert (unheld.code, judge["state"]) == (0, "optional")
    assert "does not enforce" in judge["detail"]
    (served,) = (c for c in other.json["checks"] if c["name"] == "probe system ours")
    assert served["state"] == "optional"
    (same,) = (c for c in other.json["checks"] if c["name"] == "one model, two names")
    assert (other.code, same["state"]) == (1, "missing")  # the judge is answered by it too
    assert served["detail"] == "our-model was asked for, and our-model-mini answers"
    assert without_key.code == 1
    assert "OUR_KEY" in without_key.out


def test_probe_needs_a_study(heart: Heart) -> None:
    assert heart("doctor", "--probe", "--json").code == 2


@pytest.mark.parametrize("usd", ["nan", "inf", "-1"])
def test_what_calls_in_flight_cost_is_a_number(heart: Heart, tmp_path: Path, usd: str) -> None:
    assert heart("store", "settle", write(tmp_path, "http://127.0.0.1:9/v1"), "--", usd).code == 2


def leave_in_flight(path: Path, usd: float) -> None:
    """Leave behind what a killed run does: money set aside, and questions that it had claimed."""
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = f"{name_process(ended.pid)} killed"
    ended.communicate()
    with closing(SqlStore.open(str(path.with_suffix(".db")))) as store:
        until = datetime.now(UTC) + timedelta(hours=1)
        store.enter_panel(owner, until=until, is_gone=never)
        store.claim(["1" * 32, "2" * 32], owner=owner, until=until, seen=0, is_gone=never)
        aside = SetAside(owner, until, None, usd, usd, usd, 0.0, n_calls=86)
        store.keep_group((), (), aside, is_gone=never)


def never(_owner: str, _until: datetime) -> bool:
    return False


@pytest.mark.server
def test_what_a_killed_run_has_left_is_said_in_a_line_and_wherever_money_is(
    heart: Heart, server: PayingServer, paid: Paid, tmp_path: Path
) -> None:
    path = paid.copied(tmp_path)
    leave_in_flight(path, 1.25)
    first, again = heart("run", path), heart("run", path)
    dry = heart("run", path, "--dry-run", "--json").json
    checks = {c["name"]: c for c in heart("doctor", path, "--json").json["checks"]}

    (line,) = [one for one in first.err.splitlines() if one.startswith("warning: found here")]
    assert "2 questions that a killed run had claimed are free again" in line
    money_left = "at most $1.25 for about 86 calls in flight when a run was killed"
    assert money_left in line
    assert f"`heart store settle {path} DOLLARS`" in line
    assert "questions" not in again.err
    assert money_left in again.err
    assert dry["in_flight"] == {"usd": 1.25, "n_calls": 86, "n_processes": 1}
    assert "and at most $1.25 in flight when a run was killed" in " ".join(first.out.split())
    assert (checks["in flight"]["state"], "$1.25" in checks["in flight"]["detail"]) == (
        "optional",
        True,
    )


@pytest.mark.server
def test_money_in_flight_counts_against_the_limit_until_it_is_settled(
    heart: Heart, server: PayingServer, tmp_path: Path
) -> None:
    with paying_server() as provider:
        path = write(tmp_path, provider.url, limit="max_usd = 5.0")
        assert heart("complete", path, "--yes", "--json").code == 0
        spent = heart("run", path, "--dry-run", "--json").json["spent_usd"]
        leave_in_flight(path, 4.98)
        stopped = heart("judge", path, "--yes", "--json")
        too_much = heart("store", "settle", path, "4.99", "--json")
        settled = heart("store", "settle", path, "0.5", "--json").json
        twice = heart("store", "settle", path, "0.5", "--json").json
        went_on = heart("judge", path, "--yes", "--json")

    assert stopped.code == 1
    assert "4.9800 were in flight when a run was killed" in stopped.json["judgments"]["stopped"]
    assert (too_much.code, "at most $4.98 were in flight" in too_much.out) == (2, True)
    assert settled["replaced"]["usd"] == 4.98
    assert settled["spent_usd"] >= spent + 0.5
    assert twice == {**settled, "replaced": None}
    assert went_on.code == 0
