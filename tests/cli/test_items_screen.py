"""The second screen as a newcomer types it: labelled, redacted, labelled again, accepted."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web
from heart_command import Heart
from scripted_server import Answer, say
from served_study import FREE, healthy, is_probe, serving

from hearteval.domain import Item, Label, Rater, Turn, hash_records
from hearteval.items.files import format_items, parse_items, parse_screenings
from hearteval.items.run import read_item_file
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


def person_says(folder: Path, dialogue_id: str, **changed: str) -> None:
    """Store what a person answers to every question about a candidate."""
    (item,) = (one for one in candidates() if one.dialogue_id == dialogue_id)
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


def test_candidates_become_a_frozen_item_set(heart: Heart, tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    with serving(labelling()) as server:
        path = screening_study(tmp_path, LABELERS.format(url=server.url, extra=FREE))
        labelled = heart("label", path, "--taxonomy", "item-screen", "--json").json
        first = heart("items", "accept", path, "--out", out, "--json")
        n_calls = len(server.bodies)
        redacted = heart("items", "redact", path, "--json").json
        again = heart("items", "redact", path, "--json").json
        between = heart("items", "accept", path, "--dry-run", "--json").json
        assert len(server.bodies) == n_calls
        relabelled = heart("label", path, "--taxonomy", "item-screen", "--json").json
    # Twelve questions; the two with invented evidence are missing after a second try.
    assert labelled["labels"]["missing"] == {"evidence-not-in-text": 2}
    assert first.json["standings"] == {"identifying": 1, "in": 2, "out": 1, "waiting": 2}
    assert first.json["shortfall"] == 278
    # The place is gone from the conversation and from the reply, and the log does not name it.
    (new_id,) = redacted["details"]
    assert [one["where"] for one in redacted["details"][new_id]] == ["context[0]", "reference"]
    assert again["n_items"] == 0
    log = Path(redacted["log"]).read_text(encoding="utf-8")
    assert "Lindau" not in log + (tmp_path / "candidates.jsonl").read_text(encoding="utf-8")
    assert between["standings"] == {"in": 2, "out": 1, "waiting": 3}
    assert relabelled["labels"]["n_added"] == 2
    person_says(tmp_path, "disputed")
    person_says(tmp_path, "invented", several_replies="absent")
    done = heart("items", "accept", path, "--out", out, "--json")
    refused = (done.code, done.err)
    done = heart("items", "accept", path, "--out", out, "--force", "--json").json
    assert refused[0] == 2
    assert "holds other content" in refused[1]
    items = parse_items(out.read_text(encoding="utf-8"), name="items")
    assert {one.dialogue_id for one in items} == {"plain", "place", "risk", "disputed"}
    assert done["items_hash"] == hash_records(items)
    assert {one.cue for one in items} == {"implicit"}
    assert done["labels"]["risk"] == 1
    assert sorted(done["intensities"]) == [3.5, 3.5, 3.5, 3.5]
    lost = {one["rule"]: one["n_in"] - one["n_out"] for one in done["funnel"]}
    assert {rule: n for rule, n in lost.items() if n} == {
        "second-unresolved": 1,
        "second-several-replies": 1,
    }
    evidence = parse_screenings(
        (tmp_path / "items.jsonl.screening.jsonl").read_text(encoding="utf-8"), name="evidence"
    )
    (place,) = (one for one in items if one.dialogue_id == "place")
    assert place.id == new_id
    by_rule = {one.rule: one.evidence for one in evidence if one.item_id == place.id}
    assert by_rule["second-identifying"] == "[place] in context[0], [place] in reference"
    assert by_rule["second-place-name"] == "absent by one and two"
    assert not any("Lindau" in one.evidence for one in evidence)
    # Agreement: of the questions, one and two differed on hate alone.
    pair = {
        one["question"]: one
        for one in done["agreement"]["questions"]
        if (one["one"], one["other"]) == ("one", "two")
    }
    assert (pair["hate"]["n_items"], pair["hate"]["n_other"], pair["hate"]["same"]) == (5, 1, 0.8)
    assert pair["risk"]["same"] == 1
    assert pair["risk"]["kappa"]["value"] == 1
    assert {one["other"] for one in done["agreement"]["questions"]} == {"two", "people"}
    # The set makes a study, with its funnel.
    assert read_item_file(out).items == items


def test_a_detail_that_was_put_back_is_seen_though_labelers_overlook_it(
    heart: Heart, tmp_path: Path
) -> None:
    with serving(labelling()) as server:
        path = screening_study(tmp_path, LABELERS.format(url=server.url, extra=FREE))
        heart("label", path, "--taxonomy", "item-screen")
        heart("items", "redact", path)
        file = tmp_path / "candidates.jsonl"
        items = [
            replace(one, reference="Then lindaus loss.", id="")
            if "place" in one.dialogue_id
            else one
            for one in parse_items(file.read_text(encoding="utf-8"), name="items")
        ]
        items = [
            replace(one, context=(Turn(role="seeker", text="In LINDAU I am lost."),), id="")
            if one.dialogue_id == "place"
            else one
            for one in items
        ]
        file.write_text(format_items(items), encoding="utf-8")
        heart("label", path, "--taxonomy", "item-screen")
    found = heart("items", "accept", path, "--dry-run", "--json").json
    assert found["standings"]["identifying"] == 1


def test_it_says_in_words_what_is_next(heart: Heart, tmp_path: Path) -> None:
    with serving(labelling()) as server:
        path = screening_study(tmp_path, LABELERS.format(url=server.url, extra=FREE))
        heart("label", path, "--taxonomy", "item-screen")
    said = heart("items", "accept", path, "--dry-run", "--regular", "2").out
    assert "second-unresolved" in said
    assert f"heart items review {path}" in said
    assert f"heart items redact {path}" in said
    assert "labels of the items: reply answers 2, risk 1, trauma 1" in said
    assert "one and two" in said
    done = heart("items", "redact", path).out
    assert "2 details replaced in 1 items" in done
    assert f"heart label {path} --taxonomy item-screen" in done


@pytest.mark.parametrize(
    ("verb", "given", "words"),
    [
        (("label", "--taxonomy", "item-screen"), '[labels]\nlabelers = ["cues"]', "has no words"),
        (("items", "accept"), "", "none of its 6 candidates may be an item yet"),
    ],
)
def test_what_cannot_be_done_is_said(
    heart: Heart, tmp_path: Path, verb: tuple[str, ...], given: str, words: str
) -> None:
    path = screening_study(tmp_path, given)
    done = heart(*verb, path)
    assert done.code == 2
    assert words in done.err


def test_a_second_screen_is_of_a_file(heart: Heart, tmp_path: Path) -> None:
    path = screening_study(tmp_path, "")
    whole = path.read_text(encoding="utf-8").replace("candidates.jsonl", "starter")
    path.write_text(whole, encoding="utf-8")
    done = heart("items", "redact", path)
    assert done.code == 2
    assert "one item file of candidates" in done.err
