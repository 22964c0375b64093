"""Fill a store with a panel of thirty made-up raters over a week, and write the pages of it.

    PYTHONPATH=tests:benchmarks python benchmarks/panel_page.py DIR

For looking at the researcher's pages as a researcher sees them: people who write and people who
judge, some fast, some who paste, some who left, texts that wait, a link that is full. The pages
hold their style, so that they open as files. Nothing is measured: `researcher_page.py` does that.
"""

import argparse
import re
import tempfile
from pathlib import Path

import numpy as np
from pages_load import invented
from people_site import START, Visitor, World, people_world, ticket_in
from researcher_page import STUDY

from hearteval.domain import Completion, Item, System
from hearteval.items.files import format_items
from hearteval.study.people.planning import open_tasks
from hearteval.web.pages import static_file

PEOPLE = "writers_per_item = 1\nraters_per_pair = 7\nmost_per_session = 999\nmost_per_day = 999\n"
WORDS = "That is a lot to carry alone. What would help you most tonight, do you think? "
HELD = "As an AI language model I am sorry to hear this."
N_RATERS, N_DAYS, N_ITEMS, N_MODELS = 30, 7, 24, 4
CARELESS = (3, 11, 24)


def fill(world: World) -> Visitor:
    """Have models answer, and people come, write and judge; return who watches."""
    kept, desk, rng = world.store, world.desk, np.random.default_rng(7)
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
    open_tasks(desk)
    object.__setattr__(world.site, "written", lambda: None)
    link = world.invite("write", group="peer", label="Writers", most_people=4)
    for n in range(4):
        writer = Visitor(world, world.client(), link).join()
        for k in range(6):
            writer.get("write")
            world.clock.wait(minutes=float(rng.uniform(2, 6)))
            is_held = (n, k) in ((0, 1), (2, 3), (3, 0))
            writer.send("write", text=HELD if is_held else f"{WORDS}{n} {k}")
    new = world.come("write", is_vetted=False, label="New writers", most_people=5)
    new.client.post("/practice", data={"text": WORDS})
    open_tasks(desk)
    token = world.invite("judge", label="Prolific, first wave", most_people=N_RATERS, days=9)
    ticks = {"adult": "yes", "agree": "yes"}
    raters = []
    for n in range(N_RATERS):
        world.clock.wait(minutes=20)
        rater = Visitor(world, world.client(), token)
        raters.append(rater.join(pid=f"{n:02}aa34567890123456789012"[:24], **ticks))
    for day in range(N_DAYS):
        began = world.clock()
        for n, rater in enumerate(raters):
            for _ in range(int(rng.poisson(5 if day > 4 else 6))):
                judge(world, rater, rng, is_careless=n in CARELESS, pace=20 + 3.0 * (n % 9))
        open_tasks(desk)
        world.clock.now = max(world.clock(), began)
        world.clock.wait(hours=max(0.0, 24 - (world.clock() - began).total_seconds() / 3600))
    raters[5].client.post("/stop")
    raters[8].client.post("/withdraw", data={"confirm": "yes"})
    world.invite("judge", "write", label="Colleagues", most_people=10, days=1)
    return world.come("research", "review")


def judge(
    world: World, rater: Visitor, rng: np.random.Generator, *, is_careless: bool, pace: float
) -> None:
    """Judge a pair as the later model's letter says, mostly; or anyhow."""
    page = rater.client.get("/task/judge?begin=1&rested=1").text
    rater.ticket = ticket_in(page)
    if not rater.ticket:
        return
    world.clock.wait(seconds=float((6 if is_careless else pace) * rng.lognormal(0, 0.4)))
    ends = re.findall(r"do you think\? (\S+)", page)
    leans = float(rng.normal()) + (0 if is_careless else 2 * (ends[0] > ends[-1]) - 1)
    choice = "A slightly better" if leans > 0 else "B slightly better"
    signs = {"pastes": "1"} if is_careless and rng.random() < 0.3 else {}
    sent = rater.send("judge", choice=choice, reason="It asks what would help.", **signs)
    assert sent.status_code == 303, sent.text


def as_file(page: str) -> str:
    """Return a page that holds its style and asks for nothing."""
    style = static_file("style.css").decode()
    page = re.sub(r"<script[^>]*></script>", "", page)
    return re.sub(r"<link rel=\"stylesheet\"[^>]*>", f"<style>{style}</style>", page)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    where = parser.parse_args().folder
    where.mkdir(exist_ok=True)
    systems = "".join(
        f'[[system]]\nname = "model {n}"\nmodel = "openai-compatible/m{n}"\n'
        f'base_url = "http://127.0.0.1:9/v1"\nfamily = "f{n}"\n'
        for n in range(N_MODELS)
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "items.jsonl").write_text(format_items(invented(N_ITEMS)), encoding="utf-8")
        study = STUDY.replace("{systems}", systems)
        with people_world(folder, people=PEOPLE, study=study) as world:
            watcher = fill(world)
            fastest = watcher.client.get("/researcher?sort=pace").text
            first = re.search(r"/researcher/people/P-\w+", fastest)
            assert first is not None
            for file, address in {**PAGES, "person.html": first[0]}.items():
                page = watcher.client.get(address)
                (where / file).write_text(as_file(page.text), encoding="utf-8")
                print(file, page.status_code)


PAGES = {
    "researcher.html": "/researcher",
    "fastest.html": "/researcher?sort=pace",
    "texts.html": "/researcher/texts",
}


if __name__ == "__main__":
    main()
