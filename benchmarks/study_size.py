"""Measure a study of a full design as it grows: nothing to do, analysis, report, size on disk.

    python benchmarks/study_size.py make DIR [--items 280]     # 280: 260,790 judgments
    python benchmarks/study_size.py measure DIR [--heart COMMAND ...] [--store postgresql://...]

18 systems, 3 LLM judges, every pair in both orders, the stress set and repeats: 110 items are
104,730 judgments, 280 are 260,790 (the paper's size), 1,089 are 1,003,452. No model is asked: the
store is filled with records such as the steps make, each reply in the reply cache too. Each row is
a process of its own with its CPU seconds and peak memory; `--heart` compares installations, each on
a copy of the store. With `--store` its rows are put into that empty database first, whose own CPU
and memory are not counted. A peer of fixed work in plain Python runs beside each row: the ratio to
it says what a quiet machine would. "Planned alone" plans all and finds nothing to ask; "nothing to
do" is a run that does that, analyzes and reports; "said again" one after it.
"""

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path

import psycopg

from hearteval.config import load_study
from hearteval.domain import AXES, OVERALL, Call, Completion, Item, Judgment, System, axis_key
from hearteval.items import load_starter_items
from hearteval.items.files import format_items
from hearteval.judgments.plan.run import plan_judgments
from hearteval.judgments.reply import read_reply
from hearteval.models.base import Reply, Usage
from hearteval.models.wrappers.cached import reply_to_json
from hearteval.store import schema
from hearteval.store.records import StoredReply
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import open_grown

NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_SYSTEMS, N_JUDGES, BATCH = 18, 3, 2_000
PEER = "sum(i * i for i in range(10_000_000))"
MODEL = """
[[{kind}]]
name = "{name}"
model = "openai-compatible/{name}"
base_url = "{base_url}"
family = "{name}"
price = 0
{settings}
"""
NOBODY = "http://127.0.0.1:9/v1"
STUDY = """
[study]
name = "large"
seed = 7
[items]
source = "items.jsonl"
{models}
[judging]
judges = [{judges}]
"""
REASON = "names what is heavy in the seeker's own words and stays with it, number {number}"
OPEN = "import sys; from hearteval.store.sql import SqlStore; SqlStore.open(sys.argv[1]).close()"
"""The first process may bring the store to the installation's schema."""
ROWS = (
    ("planned alone", "judge"),
    ("nothing to do", "run"),
    ("said again", "run"),
    ("analyze", "analyze"),
    ("report", "report"),
)
Row = tuple[float, float, float]
"""Wall seconds, CPU seconds, peak MiB."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["make", "measure"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--items", type=int, default=280)
    parser.add_argument("--heart", action="append", default=[])
    parser.add_argument("--store", default="")
    arguments = parser.parse_args()
    if arguments.what == "make":
        make(arguments.folder, n_items=arguments.items)
        return
    if arguments.store:
        pour(arguments.folder / "large.db", arguments.store)
        os.environ["HEART_STORE"] = arguments.store
    hearts = [str(Path(each).absolute()) for each in arguments.heart]
    print("| what | command | wall s | CPU s | to the peer | peak MiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for heart in hearts or [str(Path(sys.executable).with_name("heart"))]:
        for line in measure(arguments.folder, heart, arguments.store):
            print(line, flush=True)


def make(
    folder: Path,
    *,
    n_items: int,
    base_url: str = NOBODY,
    settings: str = "",
    is_planned: bool = True,
    is_judged: bool = True,
) -> None:
    """Write a study file and its items, and fill its store; `settings` are each model's."""
    folder.mkdir(parents=True)
    items = [
        replace(item, dialogue_id=f"{item.dialogue_id}-{number}", id="")
        for number, item in enumerate(islice(cycle(load_starter_items()), n_items))
    ]
    (folder / "items.jsonl").write_text(format_items(items), "utf-8")
    names = {
        "system": [f"system-{number:02}" for number in range(N_SYSTEMS)],
        "judge": [f"judge-{number}" for number in range(N_JUDGES)],
    }
    each = {"base_url": base_url, "settings": settings}
    models = "".join(MODEL.format(kind=kind, name=n, **each) for kind in names for n in names[kind])
    judges = ", ".join(f'"{name}"' for name in names["judge"])
    path = folder / "large.toml"
    path.write_text(STUDY.format(models=models, judges=judges), "utf-8")
    study_settings = load_study(path)
    with open_grown(study_settings, Quiet()) as (session, study):
        store = session.store
        systems = [one for one in store.iter(System, study) if one.kind == "model"]
        store.add(list(_completions(store.iter(Item, study), systems)))
        if not is_planned:
            return
        plan = plan_judgments(store, study, study_settings.judging.plan, now=lambda: NOW)
        print(f"{plan.n_assignments:,} assignments", flush=True)
        if not is_judged:
            return
        open_ones = (assignment.id for assignment in store.unjudged(study))
        while batch := list(islice(open_ones, BATCH)):
            answers = [make_answer(assignment_id) for assignment_id in batch]
            store.keep_replies([reply for reply, _ in answers])
            store.add([judgment for _, judgment in answers])


def _completions(items: Iterable[Item], systems: Iterable[System]) -> Iterator[Completion]:
    named = list(systems)
    for item in items:
        for number, system in enumerate(named):
            text = f"{item.context[-1].text[: 40 + 5 * number]}: that is a lot. What now? {number}"
            yield Completion(
                item_id=item.id,
                system_id=system.id,
                text=text,
                call=Call(finish_reason="stop", usage={"input_tokens": 500, "output_tokens": 40}),
                created_at=NOW,
            )


def make_answer(assignment_id: str) -> tuple[StoredReply, Judgment]:
    """Return a reply as the cache keeps it, and its judgment; both follow from the assignment."""
    draw = hashlib.sha256(assignment_id.encode()).digest()
    keys = [*map(axis_key, AXES), OVERALL]
    marks = {
        key: {
            "reason": REASON.format(number=f"{draw.hex()} {key}"),
            "winner": "AB"[draw[number] % 2],
            "strength": 1 + draw[number + 8] % 5,
        }
        for number, key in enumerate(keys)
    }
    text = json.dumps(marks)
    reply = Reply(
        text=text,
        finish_reason="stop",
        model="judge",
        usage=Usage(input_tokens=1_800, output_tokens=420),
        cost=0.0,
        requested={"temperature": 0.0, "top_p": 1.0, "max_tokens": 4096},
        effective={"temperature": 0.0, "top_p": 1.0, "max_tokens": 4096},
        total_ms=900.0,
        raw=json.dumps({"id": "chat", "choices": [{"message": {"content": text}}]}),
    )
    call = Call(
        requested=reply.requested,
        effective=reply.effective,
        finish_reason="stop",
        usage={"input_tokens": 1_800, "output_tokens": 420},
        cost=0.0,
    )
    key = hashlib.sha256(f"reply {assignment_id}".encode()).hexdigest()[:32]
    kept = StoredReply(id=key, reply=reply_to_json(reply), cost=0.0, created_at=NOW)
    judgment = Judgment(
        assignment_id=assignment_id,
        **read_reply(text)._asdict(),
        raw=text,
        seconds=0.9,
        call=call,
        created_at=NOW,
    )
    return kept, judgment


def pour(path: Path, address: str) -> None:
    """Put the rows of a made store into an empty PostgreSQL database, as they are."""
    SqlStore.open(address).close()
    with closing(sqlite3.connect(path)) as source, psycopg.connect(address) as target:
        for table in schema.metadata.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            rows = source.execute(f"SELECT {names} FROM {table.name}")
            with target.cursor().copy(f"COPY {table.name} ({names}) FROM STDIN".encode()) as into:
                for row in rows:
                    into.write_row(row)


def measure(folder: Path, heart: str, address: str = "") -> Iterator[str]:
    """Yield the rows of one installation, on a copy of the study that is removed at the end."""
    copy = folder.with_name(f"{folder.name}.copy")
    shutil.copytree(folder, copy)
    study = str(copy / "large.toml")
    try:
        python = str(Path(heart).with_name("python"))
        store = address or str(copy / "large.db")
        yield f"| opened | {_line(heart, python, '-c', OPEN, store)}"
        for what, verb in ROWS:
            yield f"| {what} | {_line(heart, heart, verb, study)}"
        size = _bytes_of(store) / 2**20
        yield f"| store on disk | {Path(heart).parts[-4]} | | | | {size:,.0f} |"
    finally:
        shutil.rmtree(copy)


def _bytes_of(store: str) -> int:
    if "://" not in store:
        return Path(store).stat().st_size
    with psycopg.connect(store) as connection:
        (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or ()
    return int(size)


def _line(heart: str, *words: str) -> str:
    peer = run_process([sys.executable, "-c", PEER])[1]
    wall, cpu, peak = run_process(list(words))
    peer = (peer + run_process([sys.executable, "-c", PEER])[1]) / 2
    return f"{Path(heart).parts[-4]} | {wall:.1f} | {cpu:.1f} | {cpu / peer:.1f} | {peak:,.0f} |"


def run_process(words: list[str]) -> Row:
    started = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} ended with {process.returncode}: {said.decode()[-2000:]}")
    cpu = used.ru_utime + used.ru_stime
    return time.perf_counter() - started, cpu, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()
