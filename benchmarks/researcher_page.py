"""Build a study with 66 people and thousands of tasks, and measure the researcher's page.

    PYTHONPATH=tests:benchmarks python benchmarks/researcher_page.py [--people 66] [--each 45]
        [--rounds 40] [--made DIR] [--store postgresql://...]

Sixty raters have judged 45 pairs each of a study of the paper's size (4,500 pairs of seven places),
and six watch or review. The page is asked for in process, so that nothing but the server's own work
counts: with all texts read for each (as before they were read by the thread that opens tasks), with
nothing new, and after each answer that somebody sends. The peers are the page of a task from the
same server, and a page that asks the store for nothing. With `--made` it is the page of a study of
`study_size.py`, beside whose judges people begin to judge; a `--store` holds its records already.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pages_load import invented
from people_site import START, Visitor, World, people_world, ticket_in

from hearteval.domain import Completion, Item, System
from hearteval.items.files import format_items
from hearteval.study.people.planning import open_tasks
from hearteval.web.server import Planner

STUDY = (
    '[study]\nname = "paper"\nseed = 5\n[items]\nsource = "items.jsonl"\n{systems}[judging]\n'
    'judges = ["cue"]\nstress_items = 0\nrepeat_pairs = 0\n'
    "[people]\n{people}"
)
PEOPLE = "writers_per_item = 0\nraters_per_pair = 7\nmost_per_session = 999\nmost_per_day = 999\n"
WORDS = "That is a lot to carry alone. What would help you most tonight, do you think? "
N_WATCHING = 6


def fill(world: World, *, n_people: int, each: int) -> Visitor:
    """Have models answer, and people come and judge; return who watches."""
    kept, desk = world.store, world.desk
    models = [one for one in kept.iter(System, desk.study) if one.kind == "model"]
    kept.add(
        [
            Completion(
                item_id=item.id, system_id=one.id, text=f"{WORDS}{one.name[-1]}.", created_at=START
            )
            for item in kept.iter(Item, desk.study)
            for one in models
        ]
    )
    print(f"{open_tasks(desk).n_new} tasks")
    raters = [world.come("judge") for _ in range(n_people - N_WATCHING)]
    for rater in raters:
        for _ in range(each):
            world.clock.wait(seconds=7)
            judge(rater)
    for _ in range(N_WATCHING - 1):
        world.come("research", "review")
    return world.come("research", "review")


def judge(rater: Visitor) -> None:
    """Judge the next pair."""
    page = rater.client.get("/task/judge?begin=1&rested=1").text
    rater.ticket = ticket_in(page)
    sent = rater.send("judge", choice="A slightly better", reason=WORDS)
    assert sent.status_code == 303, sent.text


def measure(
    ask: Callable[[], object], n_rounds: int, between: Callable[[], object] = lambda: None
) -> str:
    """Return the median and the 95th percentile in milliseconds, and the median of the processor's.

    The last is of the whole process: it holds what the thread does that opens tasks, and no other
    program's work.
    """
    found, busy = [], []
    for _ in range(n_rounds):
        between()
        begun, begun_busy = time.perf_counter(), time.process_time()
        ask()
        found.append(1000 * (time.perf_counter() - begun))
        busy.append(1000 * (time.process_time() - begun_busy))
    return "{:.1f} | {:.1f} | {:.1f}".format(*np.percentile(found, [50, 95]), np.median(busy))


def write_study(folder: Path, *, made: Path | None, is_elsewhere: bool) -> str:
    """Put a study's items, and a made one's store unless it is elsewhere; return the study file."""
    if made is not None:
        for name in ("items.jsonl", *(() if is_elsewhere else ("large.db",))):
            shutil.copy(made / name, folder)
        return (made / "large.toml").read_text(encoding="utf-8") + "[people]\n{people}"
    systems = "".join(
        f'[[system]]\nname = "model {n}"\nmodel = "openai-compatible/m{n}"\n'
        f'base_url = "http://127.0.0.1:9/v1"\nfamily = "f{n}"\n'
        for n in range(6)
    )
    (folder / "items.jsonl").write_text(format_items(invented(300)), encoding="utf-8")
    return STUDY.replace("{systems}", systems)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=66)
    parser.add_argument("--each", type=int, default=45)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--made", type=Path)
    parser.add_argument("--store", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = write_study(folder, made=asked.made, is_elsewhere=bool(asked.store))
        with people_world(folder, people=PEOPLE, study=study, store=asked.store) as world:
            if asked.made:
                watcher = world.come("research", "review")
            else:
                watcher = fill(world, n_people=asked.people, each=asked.each)
            rater = world.come("judge")
            ask = watcher.client.get
            n = asked.rounds
            anew = measure(lambda: ask("/researcher"), n)
            planner = Planner(world.desk)
            object.__setattr__(world.site, "texts", planner.texts)
            with planner.working():
                print("| | p50 ms | p95 ms | processor, p50 ms |\n| --- | --- | --- | --- |")
                print(f"| all read anew | {anew} |")
                print(f"| nothing new | {measure(lambda: ask('/researcher'), n)} |")
                busy = measure(lambda: ask("/researcher"), n, lambda: judge(rater))
                print(f"| an answer before each | {busy} |")
                print(f"| a task's page | {measure(lambda: rater.client.get('/task/judge'), n)} |")
                print(f"| a bare page | {measure(lambda: world.clients[0].get('/declined'), n)} |")


if __name__ == "__main__":
    main()
