"""The second screen as a newcomer types it: labelled, redacted, labelled again, accepted."""

import json
import re
import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, say
from served_study import FREE, healthy, is_probe, serving

from hearteval.cli.main import run_command_line
from hearteval.domain import Item, Label, Rater, Screening, Study, Turn, hash_records
from hearteval.items.files import format_items, format_screenings, parse_items, parse_screenings
from hearteval.items.screening import screening_version
from hearteval.items.second_screen import ITEM_SCREEN, NEEDED
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.store.sql import SqlStore

pytestmark = pytest.mark.server
QUESTIONS = load_taxonomy(ITEM_SCREEN)
STUDY = """
[study]
name = "screening"
seed = 5
[items]
source = "candidates.jsonl"
{labels}
"""
LABELERS = """
[[labeler]]
name = "one"
model = "openai-compatible/one"
base_url = "{url}"
family = "ones"
{extra}
[[labeler]]
name = "two"
model = "openai-compatible/two"
base_url = "{url}"
family = "twos"
{extra}
[labels]
labelers = ["one", "two"]
"""
COMPARED = """
[[system]]
preset = "generic"
[[system]]
preset = "original"
[judging]
judges = ["cue"]
stress_items = 0
repeat_pairs = 0
"""
LAST_TURNS = {
    "plain": "I sat in the car for an hour before I could go in.",
    "solved": "All sorted, thank you, I will call her now.",
    "place": "They moved me to Lindau and nobody there talks to me.",
    "disputed": "He said that people like me do not belong in the office.",
    "risk": "Since the crash I wish I had not woken up some mornings.",
    "invented": "My sister laughed when I told her.",
}


def candidates() -> list[Item]:
    return [
        Item(
            source="made",
            dialogue_id=name,
            turn_index=0,
            situation="Something that will not go away.",
            context=(Turn(role="seeker", text=text),),
            subset="regular",
            emotion="sadness",
            problem="job crisis" if name in ("plain", "solved") else "ongoing depression",
            language="en",
            licence="CC0-1.0",
            consent_basis="made up",
            reference="And you, in Lindau?" if name == "place" else "What was that like?",
        )
        for name, text in LAST_TURNS.items()
    ]


def reading(body: Mapping[str, object]) -> str:
    """Say of an item what its last turn calls for; of one, evidence that nobody wrote."""
    asked = str(body["messages"][1]["content"])  # type: ignore[index]
    text = asked.split("Seeker: ")[1].split("\n", maxsplit=1)[0]
    held = {*NEEDED, "reply_answers"}
    quotes = dict.fromkeys(held, text[:12])
    if "sorted" in text:
        held -= {"unresolved"}
    if "Lindau" in text:
        held |= {"place_name"}
        quotes["place_name"] = "Lindau"
    if "belong" in text and body["model"] == "two":
        held |= {"hate"}
        quotes["hate"] = "people like me"
    if "crash" in text:
        held |= {"risk", "trauma"}
        quotes |= {"risk": "wish I had not woken up", "trauma": "the crash"}
    if "laughed" in text:
        quotes["distress"] = "words that nobody wrote"
    reply: dict[str, dict[str, object]] = {
        key: {"evidence": quotes[key], "verdict": "present", "probability": 95}
        if key in held
        else {"evidence": "", "verdict": "absent", "probability": 5}
        for key in QUESTIONS.keys
    }
    reply["intensity"] = {"evidence": "", "score": "4" if body["model"] == "two" else "3"}
    return json.dumps(reply)


def labelling() -> Answer:
    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        if is_probe(body) or "heart_labels" not in json.dumps(body.get("response_format", "")):
            return await healthy()(request, body)
        return await say(reading(body))(request, body)

    return answer


def screening_study(folder: Path, labels: str) -> Path:
    (folder / "candidates.jsonl").write_text(format_items(candidates()), encoding="utf-8")
    path = folder / "screening.toml"
    path.write_text(STUDY.format(labels=labels), encoding="utf-8")
    return path


def candidate(folder: Path, dialogue_id: str) -> Item:
    text = (folder / "candidates.jsonl").read_text(encoding="utf-8")
    (item,) = (one for one in parse_items(text, name="c") if one.dialogue_id == dialogue_id)
    return item


def person_says(folder: Path, dialogue_id: str, **changed: str) -> None:
    """Store what a person answers to every question about a candidate."""
    item = candidate(folder, dialogue_id)
    person = Rater(name="p1", kind="human", family="human", settings={})
    said = {key: "present" if key in NEEDED else "absent" for key in QUESTIONS.keys} | changed
    store = SqlStore.open(str(folder / "screening.db"))
    store.add(
        [
            person,
            *(
                Label(
                    item_id=item.id,
                    taxonomy=ITEM_SCREEN,
                    category=key,
                    verdict=verdict,  # type: ignore[arg-type]
                    rater_id=person.id,
                    created_at=datetime(2026, 11, 23, tzinfo=UTC),
                )
                for key, verdict in said.items()
                if key != "intensity"
            ),
        ]
    )
    store.close()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose candidates two labelers have labelled."""
    folder = tmp_path_factory.mktemp("labelled")
    with serving(labelling()) as server:
        path = screening_study(folder, LABELERS.format(url=server.url, extra=FREE))
        # One text is missing for its evidence.
        with pytest.raises(SystemExit, match="1"):
            run_command_line(["label", str(path), "--taxonomy", "item-screen"])
    return folder


@pytest.fixture
def screening(labelled: Path, tmp_path: Path) -> Path:
    """The study file of a copy of it."""
    return shutil.copytree(labelled, tmp_path / "own") / "screening.toml"


def change_place(path: Path, text: str) -> None:
    """Write another turn into the candidate that named a place."""
    file = path.with_name("candidates.jsonl")
    items = [
        replace(one, context=(Turn(role="seeker", text=text),), id="")
        if one.dialogue_id == "place"
        else one
        for one in parse_items(file.read_text(encoding="utf-8"), name="items")
    ]
    file.write_text(format_items(items), encoding="utf-8")


def test_candidates_become_a_frozen_item_set(heart: Heart, screening: Path) -> None:
    folder, out = screening.parent, screening.parent / "items.jsonl"
    first = heart("items", "accept", screening, "--out", out, "--json")
    redacted = heart("items", "redact", screening, "--json").json
    assert heart("items", "redact", screening, "--json").json["n_items"] == 0
    between = heart("items", "accept", screening, "--dry-run", "--json").json
    assert first.json["standings"] == {"identifying": 1, "in": 2, "out": 1, "waiting": 2}
    assert first.json["shortfall"] == 278
    # The place is gone from the conversation and from the reply, and the log does not name it.
    (new_id,) = redacted["details"]
    assert [one["where"] for one in redacted["details"][new_id]] == ["context[0]", "reference"]
    log = Path(redacted["log"]).read_text(encoding="utf-8")
    assert "Lindau" not in log + (folder / "candidates.jsonl").read_text(encoding="utf-8")
    assert between["standings"] == {"in": 2, "out": 1, "waiting": 3}
    with serving(labelling()) as server:
        whole = screening.read_text(encoding="utf-8")
        screening.write_text(re.sub(r"http://[\d.:]+/v1", server.url, whole), encoding="utf-8")
        again = heart("label", screening, "--taxonomy", "item-screen", "--json").json
        # What is missing for its evidence was asked for twice, and is not again.
        assert again["labels"]["missing"] == {"evidence-not-in-text": 2}
        assert again["labels"]["n_added"] == 2
    person_says(folder, "disputed")
    person_says(folder, "invented", several_replies="absent")
    refused = heart("items", "accept", screening, "--out", out, "--json")
    done = heart("items", "accept", screening, "--out", out, "--force", "--json").json
    assert refused.code == 2
    assert "holds other content" in refused.err
    items = parse_items(out.read_text(encoding="utf-8"), name="items")
    assert {one.dialogue_id for one in items} == {"plain", "place", "risk", "disputed"}
    assert done["items_hash"] == hash_records(items)
    assert {one.cue for one in items} == {"implicit"}
    assert done["labels"]["risk"] == 1
    assert done["intensities"] == [3.5, 3.5, 3.5, 3.5]
    lost = {one["rule"]: one["n_in"] - one["n_out"] for one in done["funnel"]}
    assert {rule: n for rule, n in lost.items() if n} == {
        "second-unresolved": 1,
        "second-several-replies": 1,
    }
    beside = out.with_name("items.jsonl.screening.jsonl").read_text(encoding="utf-8")
    evidence = parse_screenings(beside, name="evidence")
    (place,) = (one for one in items if one.dialogue_id == "place")
    assert place.id == new_id
    by_rule = {one.rule: one.evidence for one in evidence if one.item_id == place.id}
    assert by_rule["second-identifying"] == "[place] in context[0], [place] in reference"
    assert by_rule["second-place-name"] == "absent by one and two"
    assert not any("Lindau" in one.evidence for one in evidence)
    pair = {
        one["question"]: one
        for one in done["agreement"]["questions"]
        if (one["one"], one["other"]) == ("one", "two")
    }
    assert (pair["hate"]["n_items"], pair["hate"]["n_other"], pair["hate"]["same"]) == (5, 1, 0.8)
    assert (pair["risk"]["same"], pair["risk"]["kappa"]["value"]) == (1, 1)
    assert {one["other"] for one in done["agreement"]["questions"]} == {"two", "people"}
    # Put back by hand, and overlooked by whoever reads it next: seen by what was quoted before.
    change_place(screening, "In the LINDAUER old town I am lost.")
    heart("items", "accept", screening, "--dry-run")  # the store knows the new candidate
    person_says(folder, "place")
    found = heart("items", "accept", screening, "--dry-run", "--json").json
    assert found["standings"] == {"identifying": 1, "in": 3, "out": 2}


def test_it_says_in_words_what_is_next(heart: Heart, screening: Path) -> None:
    said = heart("items", "accept", screening, "--dry-run", "--regular", "2").out
    assert "second-unresolved" in said
    assert f"heart items review {screening}" in said
    assert f"heart items redact {screening}" in said
    assert "labels of the items: reply answers 2, risk 1, trauma 1" in said
    assert "one and two" in said
    done = heart("items", "redact", screening).out
    assert "2 details replaced in 1 items" in done
    assert f"heart label {screening} --taxonomy item-screen" in done


def test_cautious_topics_of_the_study_file_leave_out_what_is_delicate(
    heart: Heart, screening: Path
) -> None:
    usual = heart("items", "accept", screening, "--dry-run", "--json").json
    text = screening.read_text(encoding="utf-8")
    source = 'source = "candidates.jsonl"'
    screening.write_text(text.replace(source, f'{source}\ntopics = "cautious"'), encoding="utf-8")
    found = heart("items", "accept", screening, "--dry-run", "--json").json
    assert (usual["topics"], found["topics"]) == ("paper", "cautious")
    assert found["standings"]["out"] > usual["standings"]["out"]
    assert usual["labels"]["risk"] == 1
    assert "risk" not in found["labels"]


def test_what_the_rules_reject_once_it_is_rewritten_is_left_out(
    heart: Heart, screening: Path
) -> None:
    passed = Screening(
        item_id=candidate(screening.parent, "place").id,
        rule="history-length",
        verdict="pass",
        evidence="5 turns",
        version=screening_version("paper"),
    )
    beside = screening.with_name("candidates.jsonl.screening.jsonl")
    beside.write_text(format_screenings([passed]), encoding="utf-8")
    done = heart("items", "redact", screening, "--json").json
    (new_id,) = done["details"]
    assert done["refused"] == {new_id: "history-length"}
    (left,) = parse_screenings(beside.read_text(encoding="utf-8"), name="evidence")
    assert (left.item_id, left.verdict, left.evidence) == (new_id, "fail", "1 turns")
    funnel = heart("items", "accept", screening, "--dry-run", "--json").json["funnel"]
    assert funnel[0] == {"rule": "history-length", "n_in": 6, "n_out": 5}


def test_people_alone_can_decide(heart: Heart, tmp_path: Path) -> None:
    path = screening_study(tmp_path, "")
    (tmp_path / "candidates.jsonl").write_text(format_items(candidates()[:1]), encoding="utf-8")
    heart("items", "accept", path, "--dry-run")  # the store knows the candidate
    person_says(tmp_path, "plain")
    assert heart("items", "accept", path, "--dry-run", "--json").json["standings"] == {"in": 1}
    said = heart("items", "redact", screening_study(tmp_path, "")).out
    assert "5 wait for labelers, or for a person" in said
    assert "or have people answer" in heart("label", path, "--taxonomy", "item-screen").err
    # What holds for every study holds for one that only screens items.
    (checked,) = (
        one for one in heart("doctor", path, "--json").json["checks"] if one["name"] == "study file"
    )
    assert checked["state"] == "ok"
    with closing(SqlStore.open(str(tmp_path / "screening.db"))) as store:
        study = next(iter(store.iter(Study)))
        store.people.take_in(study.id, {"p1": None}, now=datetime(2026, 11, 23, tzinfo=UTC))
    assert heart("people", "withdraw", path, "p1", "--yes", "--json").json["person"] == "p1"
    assert heart("store", "verify", path).code == 0


def test_an_export_of_labels_holds_no_detail(heart: Heart, screening: Path) -> None:
    whole = screening.read_text(encoding="utf-8") + COMPARED
    screening.write_text(whole, encoding="utf-8")
    heart("export", screening, "--to", "csv", "--out", screening.parent / "out")
    text = (screening.parent / "out" / "labels.csv").read_text(encoding="utf-8")
    assert "the crash" in text
    assert "Lindau" not in text


@pytest.mark.parametrize(
    ("verb", "given", "words"),
    [
        (("label", "--taxonomy", "item-screen"), '[labels]\nlabelers = ["cues"]', "has no words"),
        (("items", "accept"), "", "none of its 6 candidates may be an item yet"),
        (("items", "redact"), COMPARED, "one item file of candidates"),
    ],
)
def test_what_cannot_be_done_is_said(
    heart: Heart, tmp_path: Path, verb: tuple[str, ...], given: str, words: str
) -> None:
    path = screening_study(tmp_path, given)
    if given == COMPARED:
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace("candidates.jsonl", "starter"), encoding="utf-8")
    done = heart(*verb, path)
    assert done.code == 2
    assert words in done.err
