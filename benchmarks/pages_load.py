"""Serve a study to two hundred raters at once, and measure how long they wait for a page.

    PYTHONPATH=tests python benchmarks/pages_load.py [--seconds 300] [--raters 200] [--think 5]
        [--store sqlite|postgres] [--scale small|paper] [--peer]

Each rater asks for a pair, thinks (exponential, on average 5 s), sends the answer, and follows to
the next pair. The server is ``heart serve`` in a process of its own; the raters are threads of
this one, on the same machine, which counts against the server. The peer is a bare FastAPI page of
the same template, with no store, under the same raters in the same run.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from people_site import START, people_world
from postgres_server import running_server
from served_pages import MANY, PEOPLE, STUDY, Person, Prepared, prepare, serving

from hearteval.domain import Completion, Item, System, Turn
from hearteval.study.people.planning import open_tasks

WORDS = "That is a lot to carry alone. What would help you most tonight, do you think? "
REASON = "The first one hears what was said, and asks; the other gives advice at once."
PAPER = {"items": 300, "systems": 6, "comparisons": 6_000, "raters": 7}
PEER = """
import sys
import uvicorn
from fastapi import FastAPI
from starlette.responses import RedirectResponse
from hearteval.domain import AXIS_NAMES
from hearteval.web.pages import page

app = FastAPI()
settings = {{"protocol": "five-point", "axes": (), "axis_names": AXIS_NAMES}}


@app.get("/task/judge")
def show():
    return page(
        "tasks/judge", locale="en-GB", kind="judge", ticket="0" * 32,
        turns=[("seeker", {words!r})] * 5, texts=({words!r} * 2, {words!r}), form={{}}, faults={{}},
        n_done=3, n_left=50, most_left=100, settings=settings,
    )


@app.post("/task/judge")
def take():
    return RedirectResponse("/task/judge", 303)


uvicorn.run(app, port={port}, access_log=False, log_level="error",
            timeout_keep_alive=75)
"""


@dataclass
class Measured:
    """What two hundred raters saw."""

    shown: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def invented(n: int) -> list[Item]:
    return [
        Item(
            source="bench",
            dialogue_id=f"d{number}",
            turn_index=4,
            situation="",
            context=tuple(
                Turn(role="supporter" if turn % 2 else "seeker", text=f"{WORDS} ({number}, {turn})")
                for turn in range(5)
            ),
            subset="regular",
            emotion="sadness",
            problem="job crisis",
            licence="Apache-2.0",
            consent_basis="invented",
        )
        for number in range(n)
    ]


def prepare_paper(folder: Path, store: str) -> Prepared:
    """A study as large as the paper's: every pair of six models, seven raters each."""
    from hearteval.items.files import format_items

    folder.mkdir(exist_ok=True)
    (folder / "items.jsonl").write_text(format_items(invented(PAPER["items"])), encoding="utf-8")
    systems = "".join(
        f'[[system]]\nname = "model {n}"\nmodel = "openai-compatible/m{n}"\n'
        f'base_url = "http://127.0.0.1:9/v1"\nfamily = "f{n}"\n'
        for n in range(PAPER["systems"])
    )
    study = (
        '[study]\nname = "paper"\nseed = 5\n[items]\nsource = "items.jsonl"\n'
        f'{systems}[judging]\njudges = ["cue"]\nstress_items = 0\nrepeat_pairs = 0\n'
        f'design = "balanced"\ncomparisons = {PAPER["comparisons"] // PAPER["systems"] // 5 * 30}\n'
        "[people]\n{people}"
    )
    people = f"writers_per_item = 0\nraters_per_pair = {PAPER['raters']}\n" + "".join(
        PEOPLE.splitlines(keepends=True)[2:]
    )
    with people_world(folder, store=store, people=people, study=study) as world:
        kept, opened = world.store, world.desk
        models = [one for one in kept.iter(System, opened.study) if one.kind == "model"]
        kept.add(
            [
                Completion(
                    item_id=item.id,
                    system_id=one.id,
                    text=f"{WORDS}{WORDS if one.name > 'model 2' else ''} {one.name[-1]}.",
                    created_at=START,
                )
                for item in kept.iter(Item, opened.study)
                for one in models
            ]
        )
        print("tasks:", open_tasks(opened).n_new)
        links = {"judge": world.invite("judge", most_people=10_000, days=3_000)}
        settings = opened.session.settings
        return Prepared(settings.file, store or str(settings.store), links)


def cpu_seconds(process: int) -> float:
    """Return what a process and its threads have used."""
    values = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def load(address: str, process: int, token: str | None, asked: argparse.Namespace) -> Measured:
    """Let raters work for a while."""
    people = [Person(address) for _ in range(asked.raters)]
    for person in people:
        if token is not None:
            person.join(token)
    found, ended = Measured(), time.monotonic() + asked.seconds
    lock = threading.Lock()

    def rate(number: int) -> None:
        chance, person = random.Random(number), people[number]
        time.sleep(chance.uniform(0, asked.think))
        while time.monotonic() < ended:
            begun = time.perf_counter()
            page = person.take("judge")
            shown = time.perf_counter() - begun
            with lock:
                found.shown.append(shown)
                found.codes[page.code] += 1
            thought = chance.expovariate(1 / asked.think)
            if time.monotonic() + thought > ended:
                break  # all who think at the end would send at once, which is no load of raters
            time.sleep(thought)
            if not person.ticket:
                continue
            begun = time.perf_counter()
            answer = person.send("judge", REASON)
            with lock:
                found.sent.append(time.perf_counter() - begun)
                found.codes[answer.code] += 1
        person.hang_up()

    threads = [threading.Thread(target=rate, args=(number,)) for number in range(asked.raters)]
    begun, cpu = time.monotonic(), cpu_seconds(process)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.seconds = time.monotonic() - begun
    found.cpu_seconds = cpu_seconds(process) - cpu
    return found


def tell(name: str, found: Measured) -> float:
    both = np.array(found.shown + found.sent) * 1000
    p = np.percentile(both, [50, 95, 99])
    posts = np.percentile(np.array(found.sent) * 1000, 95)
    worst = both.max()
    rate = sum(found.codes.values()) / found.seconds
    used = found.cpu_seconds / found.seconds
    per = 1000 * found.cpu_seconds / sum(found.codes.values())
    print(
        f"| {name} | {p[0]:.0f} | {p[1]:.0f} | {p[2]:.0f} | {posts:.0f} | {worst:.0f} | {rate:.1f}"
        f" | {used:.2f} | {per:.1f} | {dict(found.codes)} |",
        flush=True,
    )
    return float(p[1])


@contextmanager
def peer(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the same page from no store."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = folder / "peer.py"
    script.write_text(PEER.format(words=WORDS, port=port), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(script)])
    person = Person(f"http://127.0.0.1:{port}")
    while True:
        try:
            person.take("judge")
            break
        except OSError:
            time.sleep(0.2)
    person.hang_up()
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--think", type=float, default=5)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--scale", choices=["small", "paper"], default="small")
    parser.add_argument("--peer", action="store_true")
    asked = parser.parse_args()
    threading.stack_size(256 * 1024)
    print(
        "| | p50 ms | p95 | p99 | p95 of answers | most | requests/s | CPU | CPU ms each | codes |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = ""
        if asked.store == "postgres":
            (folder / "server").mkdir()
            folder.chmod(0o711)
            url = stack.enter_context(running_server(folder / "server")).url
        if asked.scale == "paper":
            prepared = prepare_paper(folder / "study", url)
        else:
            people = PEOPLE.replace(f"writers_per_item = {MANY}", "writers_per_item = 0")
            people = people.replace(
                f"raters_per_pair = {MANY}", f"raters_per_pair = {asked.raters}"
            )
            prepared = prepare(folder / "study", store=url, people=people, study=STUDY)
        with serving(prepared) as served:
            name = f"{asked.store}, {asked.scale}"
            ours = tell(name, load(served.address, served.id, prepared.links["judge"], asked))
        if asked.peer:
            with peer(folder) as (address, process):
                bare = tell("bare page", load(address, process, None, asked))
            print(f"p95 to that of the bare page: {ours / bare:.1f}")


if __name__ == "__main__":
    main()
