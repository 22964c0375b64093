"""`heart items adversarial`: planned, agreed to, paid once; planted errors are caught."""

import csv
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from escalating_server import SCORN, Spoil, source_item, two_models
from heart_command import Done, Heart
from scripted_server import fail
from served_study import serving
from tiny_model import TINY_MODEL

from hearteval.domain import PROFILES, Item
from hearteval.items.files import format_items, parse_items
from hearteval.models.local import LocalSettings
from hearteval.study.asking import opening

pytestmark = pytest.mark.server
N = 4
MODELS = """
[[judge]]
name = "pen"
model = "openai-compatible/pen"
base_url = "{url}"
family = "ours"
{extra}
[[judge]]
name = "eye"
model = "openai-compatible/eye"
base_url = "{url}"
family = "theirs"
{extra}
{more}
"""
STUDY = """
[study]
name = "s"
seed = 1
[[items]]
source = "items.jsonl"
[[items]]
source = "adversarial.jsonl"
[[system]]
preset = "original"
[[system]]
preset = "generic"
[judging]
judges = ["cue"]
stress_items = 0
"""
FREE = "concurrency = 1\nprice = { input = 0, output = 0 }"
PAID = "concurrency = 1\nprice = { input = 1.0, output = 2.0 }"


class Desk:
    """A folder with sources to rewrite, and the command that rewrites them."""

    def __init__(self, folder: Path, heart: Heart, sources: Sequence[Item]) -> None:
        self.folder, self.heart = folder, heart
        self.out = folder / "adversarial.jsonl"
        self.models = folder / "models.toml"
        self.source = folder / "items.jsonl"
        self.source.write_text(format_items(sources), encoding="utf-8")

    def describe(self, url: str, *, extra: str = FREE, more: str = "") -> None:
        text = MODELS.format(url=url, extra=extra, more=more)
        self.models.write_text(text, encoding="utf-8")

    def run(self, *words: object, reader: str = "eye") -> Done:
        named = ("--rewriter", "pen", "--reader", reader, "--models", self.models)
        where = ["--from", self.source, "--out", self.out]
        where += [] if "--items" in words else ["--items", str(N)]
        return self.heart("items", "adversarial", *where, *named, *words)

    def beside(self, ending: str) -> Path:
        return self.out.with_name(self.out.name + ending)

    def rejected(self) -> list[dict[str, Any]]:
        text = self.beside(".rejected.jsonl").read_text(encoding="utf-8")
        canary, *lines = map(json.loads, text.splitlines())
        assert set(canary) == {"canary"}
        return lines


@pytest.fixture
def desk(tmp_path: Path, heart: Heart) -> Desk:
    return Desk(tmp_path, heart, [source_item(k) for k in range(1, N + 1)])


def spoiled(desk: Desk, spoil: Spoil, *words: object, **others: Any) -> Done:
    with serving(two_models(spoil, **others)) as server:
        desk.describe(server.url)
        return desk.run("--json", *words)


def test_items_are_rewritten_once_and_a_study_takes_them(desk: Desk) -> None:
    with serving(two_models()) as server:
        desk.describe(server.url)
        made = desk.run("--json")
        n_calls = len(server.bodies)
        text = desk.run()
        assert len(server.bodies) == n_calls == 2 * N + 2
    assert made.code == text.code == 0
    assert made.json["schema"] == "heart.items_adversarial/1"
    assert (made.json["n_items"], made.json["shortfall"], made.json["missing"]) == (N, 0, {})
    assert made.json["items"]["profile"] == dict.fromkeys(PROFILES, 1)
    assert made.json["funnel"][-1] == {"rule": "rewritten", "n_in": N, "n_out": N}
    assert f"{N} adversarial items" in text.out
    items = parse_items(desk.out.read_text(encoding="utf-8"), name="x")
    for item in items:
        spoken = [turn.text for turn in item.context if turn.role == "seeker"]
        assert tuple(one.count(SCORN) for one in spoken) == item.intensities
        assert item.reference is None
        assert item.consent_basis.endswith("rewritten by the language model pen: nobody said them.")
    checked = desk.heart("items", "check", desk.out, "--json").json
    assert checked["n_by_subset"] == {"adversarial": N}
    assert checked["n_screenings"] == 17 * N
    assert not desk.beside(".rejected.jsonl").exists()
    study = desk.folder / "study.toml"
    study.write_text(STUDY, encoding="utf-8")
    planned = desk.heart("run", study, "--dry-run", "--json")
    assert planned.json["ceiling"]["n_items"] == 2 * N


def backwards(reply: dict[str, Any], _call: int) -> object:
    """Deliver a profile in the wrong order: what belongs at the end stands at the beginning."""
    return rescorned(reply, [text.count(SCORN) for text in reply.values()][::-1])


def last_turn(words: str) -> Spoil:
    def spoil(reply: dict[str, Any], _call: int) -> object:
        (*_, key) = reply
        return reply | {key: words.format(reply[key])}

    return spoil


def mild_end(reply: dict[str, Any], _call: int) -> object:
    """Keep the shape and end at 7."""
    counts = [text.count(SCORN) * 7 // 10 for text in reply.values()]
    return rescorned(reply, counts)


def rescorned(reply: dict[str, Any], counts: Sequence[int]) -> dict[str, Any]:
    """Say the same with so many words of scorn, turn by turn."""
    texts = zip(reply.items(), counts, strict=True)
    return {
        k: f"{' '.join([SCORN] * n)} {said.replace(SCORN, '').strip()}" for (k, said), n in texts
    }


PLANTED: dict[str, Spoil] = {
    "wrong-keys": lambda reply, _: {**reply, "turn_3": "That sounds awfu1."},
    "situation-kept": lambda reply, _: dict.fromkeys(reply, "You are no use, are you."),
    "no-new-names": last_turn("{} Ask Jennifer."),
    "identifying": last_turn("{} my mail is me@example.org"),
    "self-harm": last_turn("{} i want to die"),
    "nsfw": last_turn("{} you fucker"),
    "hate": last_turn("{} you retard"),
    "threat": last_turn("{} I'm going to hurt you"),
    "not-json": lambda *_: "I will not write that.",
    "hostile-end": mild_end,
}


def test_each_planted_error_is_kept_with_its_reason_and_tried_again(desk: Desk) -> None:
    def spoil(reply: dict[str, Any], call: int) -> object:
        return [*PLANTED.values()][call - 1](reply, call) if call <= len(PLANTED) else reply

    done = spoiled(desk, spoil, "--tries", 10)
    assert done.code == 0
    assert done.json["n_items"] == N
    assert done.json["rejected"] == dict.fromkeys(sorted(PLANTED), 1)
    by_rule = {one["reasons"][0]["rule"]: one for one in desk.rejected()}
    assert by_rule["not-json"]["raw"] == "I will not write that."
    assert by_rule["threat"]["context"][-1]["text"].endswith("I'm going to hurt you")
    evidence = desk.beside(".screening.jsonl").read_text(encoding="utf-8")
    verdicts = [*map(json.loads, evidence.splitlines())]
    failed = {one["rule"] for one in verdicts if one["verdict"] == "fail"}
    assert failed == set(PLANTED) - {"wrong-keys", "not-json"}
    kept = desk.out.read_text(encoding="utf-8") + evidence
    assert not any(words in kept for words in ("Jennifer", "me@example.org"))


def test_a_profile_in_the_wrong_order_is_rejected_until_it_is_given_up(desk: Desk) -> None:
    done = spoiled(desk, backwards, "--tries", 2)
    # Always-10 has no order to be wrong; of the others the first rule that fails is named.
    assert done.json["rejected"] == {"quiet-start": 2 * (N - 1)}
    assert done.json["missing"] == {"given-up": N - 1}
    assert (done.json["n_items"], done.json["shortfall"]) == (1, N - 1)
    assert all(
        {r["rule"] for r in one["reasons"]} >= {"quiet-start", "hostile-end", "intensity-order"}
        for one in desk.rejected()
    )
    assert "3 of 4 items were not rewritten: given-up" in done.err


def test_one_rising_profile_does_not_pass_for_another(desk: Desk) -> None:
    def as_a_straight_line(reply: dict[str, Any], _call: int) -> object:
        return rescorned(reply, (2, 5, 7, 10))

    done = spoiled(desk, as_a_straight_line, "--tries", 1)
    assert done.json["rejected"] == {"intensity-order": 1, "profile-shape": 2}
    assert done.json["items"]["profile"] == dict.fromkeys(PROFILES, 0) | {"linear-ramp": 1}


def test_a_reader_that_invents_evidence_leaves_the_item_out(desk: Desk) -> None:
    def misread(reply: dict[str, Any], _call: int) -> object:
        key = next(iter(reply))
        return reply | {key: {"evidence": "words that nobody wrote", "intensity": 10}}

    done = spoiled(desk, lambda reply, _: reply, misread=misread)
    assert done.code == 1
    assert done.json["missing"] == {"unread (evidence-not-in-text)": N}
    assert done.json["path"] is None


def test_a_reader_finds_a_supporter_turn_that_no_longer_fits(desk: Desk) -> None:
    def misread(reply: dict[str, Any], call: int) -> object:
        return reply | ({"turn_5": reply["turn_5"] | {"fits": "no"}} if call == 1 else {})

    done = spoiled(desk, never_the_same, misread=misread)
    assert done.json["rejected"] == {"coherence": 1}
    assert done.json["n_items"] == N


def test_a_plan_asks_nobody_and_money_needs_a_yes(desk: Desk) -> None:
    with serving(two_models()) as server:
        desk.describe(server.url, extra=PAID)
        plan = desk.run("--dry-run", "--json").json
        text = desk.run("--dry-run").out
        refused = desk.run()
        assert not server.bodies
        made = desk.run("--yes", "--json").json
        done = desk.run("--dry-run", "--json").json
    assert plan["dry_run"] is True
    assert plan["ceiling"]["estimate"]["n_calls"] == 2 * N + 2
    assert "rewriter pen: 5 calls, expected $" in text
    assert refused.code == 2
    assert "add --yes to go ahead" in refused.err
    assert made["n_items"] == N
    assert done["ceiling"]["estimate"]["n_calls"] == 0
    assert done["n_items"] == N


def test_it_stops_at_the_limit_and_goes_on_where_it_was(desk: Desk) -> None:
    dear = "concurrency = 1\nmax_tokens = 1000\nprice = { input = 0, output = 1000 }"
    with serving(two_models()) as server:
        # Each reply is billed 12 tokens; another call could cost a whole dollar.
        desk.describe(server.url, extra=dear, more="[budget]\nmax_usd = 1.06")
        stopped = desk.run("--yes", "--json")
        n_before = len(server.bodies)
        desk.describe(server.url, extra=dear)
        rest = desk.run("--yes", "--json")
        n_after = len(server.bodies) - n_before
    assert stopped.code == 1
    assert "max_usd" in stopped.json["stopped"]
    assert rest.code == 0
    assert rest.json["n_items"] == N
    assert n_before + n_after == 2 * N + 2


def test_calls_that_fail_leave_items_open(desk: Desk) -> None:
    extra = f"{FREE}\ntries = 1\nstop_after = 2"
    with serving(fail(400)) as server:
        desk.describe(server.url, extra=extra)
        failed = desk.run("--json")
    assert failed.code == 1
    assert failed.json["n_items"] == 0
    assert sum(failed.json["missing"].values()) == N
    with serving(two_models()) as server:
        desk.describe(server.url, extra=extra)
        assert desk.run("--json").json["n_items"] == N


def never_the_same(reply: dict[str, Any], call: int) -> object:
    return {key: f"{text} {'so' * call}" for key, text in reply.items()}


def test_a_person_confirms_what_no_model_reads(desk: Desk) -> None:
    table = desk.beside(".to-read.csv")
    with serving(two_models(never_the_same)) as server:
        desk.describe(server.url)
        first = desk.run(reader="person")
        assert first.code == 0
        assert f"0 adversarial items, {N} rewrites to be read" in first.out
        fill_in(table, last="no")
        then = desk.run("--json", reader="person").json
        assert (then["n_items"], then["n_to_read"]) == (N - 1, 1)
        assert then["rejected"] == {"coherence": 1}
        fill_in(table)
        n_calls = len(server.bodies)
        done = desk.run("--json", reader="person")
        assert len(server.bodies) == n_calls == N + 2  # one was rewritten again
    assert done.json["n_items"] == N
    evidence = desk.beside(".screening.jsonl").read_text(encoding="utf-8")
    assert "by a person" in evidence


def fill_in(table: Path, *, last: str = "yes") -> None:
    """Fill in what is open as a person does who counts words of scorn."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    for row in rows:
        row["intensity"] = row["intensity"] or str(min(row["text"].count(SCORN), 10))
        row["fits"] = row["fits"] or (last if row is rows[-2] else "yes")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)


def test_dialogues_of_ones_own_are_rewritten_too(desk: Desk) -> None:
    spoken = source_item().context
    lines = [f"{turn.role.capitalize()}: {turn.text}" for turn in spoken]
    desk.source = desk.folder / "own.txt"
    desk.source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = spoiled(desk, lambda reply, _: reply)
    assert done.code == 0, done.err + done.out
    assert (done.json["n_items"], done.json["shortfall"]) == (1, N - 1)
    assert "3 items fewer than the 4 wanted can be rewritten" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--reader", "pen"), "is of the family 'ours', as --rewriter pen is"),
        (("--reader", "nobody"), "--reader: there is no judge 'nobody'; one of: pen, eye, gpt"),
        (("--rewriter", "cue"), "'cue' is the offline baseline and writes nothing"),
        (("--rewriter", "person"), "--rewriter: there is no judge 'person'"),
        (("--items", "0"), "--items"),
        (("--tries", "99"), "--tries"),
    ],
)
def test_wrong_input_says_what_is_wrong(desk: Desk, words: tuple[str, str], said: str) -> None:
    desk.describe("http://127.0.0.1:9/v1")
    given = {"--rewriter": "pen", "--reader": "eye", "--items": "4", "--tries": "3"}
    given[words[0]] = words[1]
    pairs = [word for pair in given.items() for word in pair]
    done = desk.heart(
        "items", "adversarial", "--from", desk.source, "--models", desk.models, *pairs
    )
    assert done.code == 2
    assert said in done.err


def test_files_that_are_none_of_its_own_stay(desk: Desk) -> None:
    desk.out.write_text("my notes\n", encoding="utf-8")
    with serving(two_models()) as server:
        desk.describe(server.url)
        refused = desk.run()
        assert not server.bodies
        assert refused.code == 2
        assert "holds other content than this command made" in refused.err
        assert desk.out.read_text(encoding="utf-8") == "my notes\n"
        assert desk.run("--force", "--json").json["n_items"] == N
        # Another seed deals the profiles out in another order.
        assert desk.run("--seed", "3").code == 2
        desk.out = desk.source
        assert "is the file that --from reads" in desk.run("--force").err


def test_a_file_without_a_fit_source_says_what_it_lacks(desk: Desk) -> None:
    short = [source_item(k) for k in (1, 2)]
    desk.source.write_text(
        format_items([i.__class__(**fields_of(i, n=6)) for i in short]), encoding="utf-8"
    )
    desk.describe("http://127.0.0.1:9/v1")
    done = desk.run()
    assert done.code == 2
    assert "none of its items can be rewritten (left out: turn-count 2)" in done.err


def fields_of(item: Item, *, n: int) -> dict[str, Any]:
    names = ("source", "dialogue_id", "turn_index", "situation", "subset", "emotion", "problem")
    own = {name: getattr(item, name) for name in (*names, "licence", "consent_basis")}
    return own | {"context": item.context[:n]}


def test_a_models_file_with_an_unknown_section_says_so(desk: Desk) -> None:
    desk.describe("http://127.0.0.1:9/v1", more="[bugdet]\nmax_usd = 3")
    done = desk.run()
    assert done.code == 2
    assert "bugdet: unknown setting (did you mean 'budget'?)" in done.err


def test_a_tiny_local_model_rewrites_to_the_letter_of_the_schema_and_is_rejected(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "LocalSettings", partial(LocalSettings, n_threads=1))
    with serving(two_models()) as server:
        desk.describe(server.url)
        text = desk.models.read_text(encoding="utf-8")
        tiny = f'model = "local:{TINY_MODEL}"\nmax_tokens = 700'
        local = text.replace(f'model = "openai-compatible/pen"\nbase_url = "{server.url}"', tiny, 1)
        desk.models.write_text(local, encoding="utf-8")
        done = desk.run("--json", "--tries", 1, "--items", 1)
    assert done.code == 1
    assert done.json["missing"] == {"given-up": 1}
    (rejected,) = desk.rejected()
    # A model that small says nothing of the situation; what it says has every turn asked for.
    assert rejected["reasons"][0]["rule"] == "situation-kept"
    assert [turn["role"] for turn in rejected["context"]] == ["supporter", "seeker"] * 4
