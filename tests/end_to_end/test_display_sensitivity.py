"""How much the form of the replies matters: one study judged in both, held side by side."""

import json
import re
from hashlib import sha256
from pathlib import Path

from heart_command import Heart
from paying_server import PayingServer, paying_server
from study_files import entry, presets, served, study_text

from hearteval.config import load_study
from hearteval.study import Quiet
from hearteval.study.grow import gather

REPLY = re.compile(r"\[reply ([AB]) (\w+)\]\n(.*?)\n\[end of", re.DOTALL)


def likes_words(shown: str) -> str:
    """A judge for whom marks are nothing: the letters decide, as good as by chance."""
    a, b = (
        sha256(re.sub(r"\W", "", text).encode()).digest() for _, _, text in REPLY.findall(shown)
    )
    return "A" if a > b else "B"


def likes_formatting(shown: str) -> str:
    """A judge whom bold words and curly quotes win where one reply has more of them."""
    a, b = (
        len(re.findall(r"[*\N{RIGHT SINGLE QUOTATION MARK}]", t))
        for _, _, t in REPLY.findall(shown)
    )
    return likes_words(shown) if a == b else "A" if a > b else "B"


def judged(heart: Heart, folder: Path, provider: PayingServer, name: str, display: str) -> Path:
    path = folder / f"{name}.toml"
    price = {"input": 1.0, "output": 4.0}
    text = study_text(
        name,
        entry("system", name="typed", model="imported/typed", family="one"),
        entry("system", name="set", model="imported/set", family="two"),
        presets("generic"),
        served("judge", "theirs", "their-judge", provider.url, "theirs", price=price),
        items=(48, 0),
        judging={"display": display, "judges": ["theirs"]},
    )
    path.write_text(text, encoding="utf-8")
    rows = []
    for n, item in enumerate(gather(load_study(path), Quiet()).items):
        typed, made = (f"That is a lot, and I'd be worn out too ({n} {who})." for who in "ts")
        if n % 3:  # a third is typed plainly by both, or no ranking would be determined
            made = f"**{made}**".replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
        for system, text in (("typed", typed), ("set", made)):
            rows.append({"item": item.id, "system": system, "text": text})
    table = folder / "replies.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert heart("import", path, table, "--kind", "completions").code == 0
    done = heart("run", path, "--yes")
    assert done.code == 0, done.err
    return path


def test_a_ranking_in_the_other_form_is_told_apart(heart: Heart, tmp_path: Path) -> None:
    """The same store, items and replies: what differs is the form alone, and it is named."""
    with paying_server() as provider:
        provider.winner_of = likes_formatting
        plain = judged(heart, tmp_path, provider, "shown-plain", "plain")
        n_plain = len(provider.prompts)
        assert not any("**" in prompt for prompt in provider.prompts)
        raw = judged(heart, tmp_path, provider, "shown-raw", "raw")
        assert (
            len(provider.prompts) == 2 * n_plain
        )  # no verdict of the one form counts as the other
    found = heart("compare", plain, raw, "--json").json
    assert "Replies were shown plain-1 in shown-plain, raw in shown-raw." in found["why"]
    changes = {row["system"]: row for row in found["systems"]}
    assert changes["set"]["shared_second"] > 0.7
    assert changes["set"]["shared_change"]["low"] > 0.2
    assert changes["typed"]["shared_change"]["high"] < 0
    assert changes["set"]["shared_q"] < 0.01
    said = " ".join(heart("compare", plain, raw).out.split())
    assert "of the same texts that both judged, the share won changed, in points: set (+" in said


def test_a_judge_that_does_not_care_changes_nothing(heart: Heart, tmp_path: Path) -> None:
    with paying_server() as provider:
        provider.winner_of = likes_words
        files = [judged(heart, tmp_path, provider, f"in-{form}", form) for form in ("plain", "raw")]
    found = heart("compare", *files, "--json").json
    assert {row["shared_change"]["value"] for row in found["systems"]} == {0}
    said = " ".join(heart("compare", *files).out.split())
    assert "of the same texts that both judged, every share won is the same." in said
