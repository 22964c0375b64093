"""``heart judges audit``: the cue judge, a judge that costs money, a tiny local one."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from heart_command import Heart
from paying_server import paying_server
from scripted_server import say
from served_study import healthy, is_probe, serving
from served_study import write_study as write_served_study
from study_files import presets, served, study_text

from hearteval.judgments.stress_set import STRESS_KINDS
from hearteval.protocol import load_protocol

N_PAYLOADS = len(load_protocol("injections")["payload"])
N_KINDS = len(STRESS_KINDS) - 1
PER_ITEM = 2 * N_KINDS + 2 + 1


def write_study(path: Path, url: str) -> Path:
    study = path / "paid.toml"
    price = {"input": 1.0, "output": 4.0}
    text = study_text(
        "paid",
        presets("generic", "original"),
        served("judge", "theirs", "their-judge", url, "theirs", price=price),
        items=(3, 1),
        judging={"judges": ["theirs"], "stress_items": 2},
    )
    study.write_text(text, encoding="utf-8")
    return study


def n_probed(found: dict[str, Any]) -> int:
    """Judgments of the probes, of which a reply without short forms or articles has fewer."""
    (judge,) = found["judges"]
    assert set(judge["probes"]) == {"asking", "formal", "non-native"}
    return sum(share["n_judgments"] for share in judge["probes"].values())


def test_the_cue_judge_is_audited_without_a_key_and_its_table_fits_a_terminal(
    heart: Heart, study: Path
) -> None:
    found = heart("judges", "audit", study, "--items", "3", "--json").json
    n_wanted = 3 * PER_ITEM + n_probed(found) + 2 * N_PAYLOADS
    assert found["schema"] == "heart.judges_audit/1"
    assert found["n_items"] == 3
    assert found["judgments"] == {
        "n_wanted": n_wanted,
        "n_before": 0,
        "n_added": n_wanted,
        "missing": {},
        "stopped": None,
    }
    assert "measures nothing" in found["judge_notice"]
    (judge,) = found["judges"]
    assert set(judge["stress"]) == set(STRESS_KINDS) - {"reference", "padded"}
    assert judge["injection"]["n_payloads"] == N_PAYLOADS
    assert judge["same_again"]["rate"] == judge["same_in_both_orders"]["rate"] == 1
    assert "exclude" not in judge["own_family"]["reason"]
    done = heart("judges", "audit", study, "--items", "3")
    assert done.code == 0
    assert max(len(line) for line in done.out.splitlines()) <= 80
    assert "cue (offline baseline)" in done.out
    assert "measures nothing about empathy" in " ".join(done.out.split())


def test_fewer_items_than_asked_for_are_called_out(heart: Heart, study: Path) -> None:
    done = heart("judges", "audit", study, "--json")
    # Four have recorded replies, and the adversarial one has the project's own.
    assert "5 items instead of 20" in done.err
    assert done.json["n_items"] == 5


def test_items_without_references_leave_nothing_to_audit(heart: Heart, tmp_path: Path) -> None:
    items = tmp_path / "mine.txt"
    items.write_text("Seeker: I am lost.\n\nSeeker: Nobody calls.\n", encoding="utf-8")
    path = heart("init", tmp_path / "mine", "--items", items, "--json").json["path"]
    done = heart("judges", "audit", path)
    assert done.code == 2
    assert "no item has a reference reply" in done.err


def test_an_audit_changes_no_result_and_the_report_says_that_it_was_made(
    heart: Heart, study: Path
) -> None:
    # Without blanks: a path longer than the terminal is folded.
    line = f"Testedonthestresssetonly:cue.Run`heartjudgesaudit{study}`."
    page = study.with_suffix(".report.html")
    before = heart("run", study, "--json").json
    assert line in "".join(heart("run", study, "--verbose").out.split())
    page_before = page.read_text("utf-8")
    audited = heart("judges", "audit", study, "--items", "3", "--json").json
    after = heart("run", study, "--json").json
    page_after = page.read_text("utf-8")
    # One of the three is adversarial, of which a study's own stress set knows nothing.
    assert audited["judgments"]["n_before"] == 2 * 2 * N_KINDS
    assert after["leaderboard"] == before["leaderboard"]
    gone = set(before["warnings"]) - set(after["warnings"])
    assert [warning[:27] for warning in gone] == ["Tested on the stress set on"]
    assert set(after["warnings"]) < set(before["warnings"])
    assert after["version"] == before["version"] == 1
    grown = after["judgments"]["n_wanted"] - before["judgments"]["n_wanted"]
    assert grown == 2 * N_KINDS  # the stress set has the adversarial item now
    assert after["judgments"]["n_added"] == 0
    assert line not in "".join(heart("run", study, "--verbose").out.split())
    assert "tested on the stress set only" in page_before
    assert "tested on the stress set only" not in page_after
    assert "with a payload above the same reply" in page_after


def results_of(study: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(study.with_suffix(".results.json").read_text("utf-8"))
    return document


@pytest.mark.usefixtures("ran")
def test_results_hold_what_the_audit_found(heart: Heart, study: Path) -> None:
    audited = heart("judges", "audit", study, "--items", "5", "--json").json["judges"]
    heart("analyze", study)
    found = results_of(study)["judge_audits"]
    assert found["judges"] == audited
    assert (found["not_audited"], found["status"]) == ([], "planned")


@pytest.mark.usefixtures("ran")
def test_results_hold_the_judges_behind_each_pair(heart: Heart, study: Path) -> None:
    results = results_of(study)
    majorities = results["majorities"]
    n_pairs = results["coverage"]["n_pairs"]
    assert majorities["counts"]["n_pairs_by_raters"] == [[1, n_pairs]]
    assert [judge["n_pairs"] for judge in majorities["judges"]] == [n_pairs]


MANY_AT_ONCE = "concurrency = 32\nprice = { input = 0, output = 0 }"
SHOWN = re.compile(r"\[reply ([AB]) \w+\]\n(.*?)\n\[end of reply", re.DOTALL)


async def take_the_longer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
    """Judge by length alone, so that every reply with a payload beats the same without."""
    texts = dict(SHOWN.findall(body["messages"][-1]["content"]))
    if is_probe(body) or not texts:
        return await healthy()(request, body)
    winner = max(texts, key=lambda letter: len(texts[letter]))
    mark = {"reason": "longer", "winner": winner, "strength": 3}
    keys = body["response_format"]["json_schema"]["schema"]["required"]
    return await say(json.dumps(dict.fromkeys(keys, mark)))(request, body)


def test_a_judge_that_payloads_sway_is_warned_of_beside_the_ranking(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(take_the_longer) as server:
        study = write_served_study(tmp_path, server.url, regular=5, extra=MANY_AT_ONCE)
        heart("judges", "audit", study, "--items", "5", "--json")
        warnings = heart("run", study, "--json").json["warnings"]
    (fault,) = [warning for warning in warnings if warning.startswith("Tests find fault")]
    assert "theirs: it follows instructions hidden in a reply" in fault


def test_money_is_asked_for_before_anything_is_stored_or_sent(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as server:
        study = write_study(tmp_path, server.url)
        refused = heart("judges", "audit", study, "--items", "2", "--json")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert server.prompts == []


def test_a_judge_that_always_takes_the_first_is_found_out_and_paid_once(
    heart: Heart, tmp_path: Path
) -> None:
    with paying_server() as server:
        study = write_study(tmp_path, server.url)
        words = ("judges", "audit", study, "--items", "2", "--yes", "--json")
        first = heart(*words).json
        n_calls = len(server.prompts)
        assert heart(*words).json["judges"] == first["judges"]
        assert len(server.prompts) == n_calls
        ranked = heart("run", study, "--yes", "--json").json
        n_ranked = len(server.prompts) - n_calls
    n_wanted = 2 * PER_ITEM + n_probed(first) + 2 * N_PAYLOADS
    assert first["judgments"]["n_added"] == n_wanted
    assert n_calls == n_wanted + 1  # one question shows whether the endpoint holds the schema
    (judge,) = first["judges"]
    assert judge["shown_first"]["rate"] == 1
    assert judge["same_in_both_orders"]["rate"] == 0
    assert judge["same_again"]["rate"] == 1
    assert {kind: share["rate"] for kind, share in judge["stress"].items()} == dict.fromkeys(
        judge["stress"], 0.5
    )
    assert judge["injection"]["sides"]["first"]["rate"] == 1
    assert judge["injection"]["sides"]["second"]["rate"] == 0
    assert judge["injection"]["won_both_sides"] == []
    # The study's own stress set, two items, was judged by the audit already.
    assert ranked["judgments"]["n_before"] == 2 * 2 * N_KINDS
    assert ranked["judgments"]["n_added"] == n_ranked == 2 * 3
