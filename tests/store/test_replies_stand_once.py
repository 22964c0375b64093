"""What a model said stands once in a store: in the record that was made of it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from asked_study import ITEMS, NOW, asked_study, judge, model_system, plan, said, verdict
from canned_model import CannedModel

from hearteval.domain import Assignment, Completion, Item, Judgment, Pair, Rater, System
from hearteval.store.copy import copy_store
from hearteval.store.records import Record, StoredReply
from hearteval.store.sql import SqlStore

REASONS = ("warmer, she says “so heavy”", "kühler, and colder")


def texts_of(place: Path) -> list[str]:
    """Every text of every row of a file."""
    with closing(sqlite3.connect(place)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        rows = [
            row
            for table in tables
            if not table.startswith(("sqlite_", "ix_", "uq_"))
            for row in connection.execute(f"SELECT * FROM {table}")
        ]
    return [value for row in rows for value in row if isinstance(value, str)]


def n_times(place: Path, words: str) -> int:
    """How often words stand in a file, as they are or as JSON writes them."""
    forms = {words, json.dumps(words)[1:-1]}
    return sum(text.count(form) for text in texts_of(place) for form in forms)


def fill(place: Path) -> tuple[dict[str, Judgment], dict[str, StoredReply]]:
    """Have two models answer and a judge judge in a store; return judgments and replies by id."""
    asked = asked_study(
        [model_system("one"), model_system("two")], [judge("judge")], items=ITEMS[:1]
    )
    for name in ("one", "two"):
        asked.complete({name: CannedModel([said(f"I hear you, says {name}.")], name=name)})
    plan(asked)
    answers = ["no JSON at all", *(verdict(reason=reason) for reason in REASONS)]
    asked.judge({"judge": CannedModel(answers, name="judge")})
    with closing(SqlStore.open(str(place))) as store:
        copy_store(asked.store, store, progress=lambda _kind, _n: None)
    judged = {one.id: one for one in asked.store.iter(Judgment)}
    found = {id_: asked.store.find_reply(id_) for id_ in asked.store.reply_ids()}
    return judged, {id_: reply for id_, reply in found.items() if reply is not None}


def test_a_reply_stands_once_and_all_that_was_said_is_read_out_of_it(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    judged, replies = fill(place)
    assert len(judged) == 2
    for reason in REASONS:  # the reply holds it once for each of 5 axes and overall
        assert n_times(place, reason) == 6
    for words in ("says one.", "says two.", "no JSON at all"):
        assert n_times(place, words) == 1
    with closing(SqlStore.open(str(place))) as store:
        assert {one.id: one for one in store.iter(Judgment)} == judged
        assert {id_: store.find_reply(id_) for id_ in store.reply_ids()} == replies
        texts = {one.reply["text"] for one in replies.values()}
        assert texts >= {one.raw for one in judged.values()} | {"no JSON at all"}
        for one in store.iter(Judgment):
            assert set(one.reasons.values()) == {one.rationale}
            assert one.rationale in REASONS


def test_a_reply_whose_record_never_came_is_found_whole(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    reply = {"text": "paid for, then killed", "model": "m"}
    with closing(SqlStore.open(str(place))) as store:
        store.keep_replies([StoredReply(id="a" * 32, reply=reply, cost=0.5, created_at=NOW)])
        store.keep_replies([StoredReply(id="a" * 32, reply={}, cost=9.0, created_at=NOW)])
        kept = store.find_reply("a" * 32)
    assert kept == StoredReply(id="a" * 32, reply=reply, cost=0.5, created_at=NOW)
    assert n_times(place, "paid for") == 1


def test_reasons_that_are_not_those_of_the_reply_are_kept_as_they_are(tmp_path: Path) -> None:
    """Imported by hand, or corrected: what a record says is never replaced by its reply."""
    judged, _ = fill(tmp_path / "other.db")
    one, *_ = judged.values()
    place = str(tmp_path / "study.db")
    changed = Judgment(
        assignment_id=one.assignment_id,
        choice=one.choice,
        strength=one.strength,
        reasons={"H": "in my own words"},
        rationale="",
        raw=one.raw,
        created_at=NOW,
    )
    kinds = (Item, System, Rater, Completion, Pair, Assignment)
    with closing(SqlStore.open(str(tmp_path / "other.db"))) as source:
        records: list[Record] = [record for kind in kinds for record in source.iter(kind)]
    with closing(SqlStore.open(place)) as store:
        store.add([*records, changed])
        assert list(store.iter(Judgment)) == [changed]
