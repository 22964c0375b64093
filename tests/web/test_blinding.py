"""Nothing on a page tells who wrote a text: not its ids, its form, its order, nor how fast it came.

What is not text is collected from a page for each of some seven hundred pairs. A classifier, cross-
validated, tries to tell from it which of two systems stands first, and whether a person's text is
on the page. A fair coin has an area under the curve of .5, with a standard error of .02 here. The
work done for a page is counted in statements to the store, the same in every run; the time it took
is judged by ``make soak``, since a busy machine makes any bound on it a matter of luck.
"""

import os
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from people_site import START, Visitor, World, people_world, plain, ticket_in
from sqlalchemy import event
from study_files import presets, served, study_text

from hearteval.domain import Completion, Item, Label, Pair, Rater, System
from hearteval.judgments.plan.run import standings_of
from hearteval.study.grow import human_system
from hearteval.study.people.planning import open_tasks

Floats = NDArray[np.float64]
MOST_AREA = 0.55
N_RATERS = max(1, int(os.environ.get("HEART_TEST_STEPS", "300")) // 2_000)
IS_SOAK = N_RATERS > 1
"""``make soak``: five raters, whose pages are so many that times too must stay within the area."""
N_FOLDS = 5
WRITERS = ("P-WRITERAA", "P-WRITERBB")
SECRET = "secret-model-9"


def study_of(regular: int, adversarial: int) -> str:
    return study_text(
        "blinding",
        presets("original", "generic", "reflective"),
        served("system", SECRET, f"maker/{SECRET}", "http://127.0.0.1:9/v1", "secretive"),
        items=(regular, adversarial),
        study={"seed": 7},
        end="[people]\nwriters_per_item = 2\nraters_per_pair = 2\n"
        'edge = ["risk", "medical", "abuse", "minor"]\n',
    )


BODIES = ("That is a lot to carry on your own.", "I hear how tired you are.", "It makes sense.")
ENDS = ("What helped before?", "Who is near you?", "What would be a first small step?")


@dataclass
class Seen:
    """A page without its texts, and what it was about."""

    signs: dict[str, float]
    rest: str
    first: Completion
    second: Completion


def written(item: Item, system: System, writer: str | None, chance: random.Random) -> Completion:
    said = f"{chance.choice(BODIES)} {chance.choice(ENDS)} {chance.randrange(1000)}"
    return Completion(
        item_id=item.id, system_id=system.id, text=said, writer_id=writer, created_at=START
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    patched = pytest.MonkeyPatch()
    chance = random.Random(13)
    patched.setattr("hearteval.study.people.working.new_token", lambda: f"{chance.random()}")
    folder = tmp_path_factory.mktemp("blinding")
    with people_world(folder, study=study_of(60, 20)) as made:
        store, study = made.store, made.desk.study
        systems = {system.name: system for system in store.iter(System, study)}
        people = human_system(made.desk.settings)
        for item in store.iter(Item, study):
            model = written(item, systems["secret-model-9"], None, chance)
            store.add([model, *(written(item, people, name, chance) for name in WRITERS)])
        open_tasks(made.desk)
        yield made
    patched.undo()


@pytest.fixture(scope="module")
def pages(world: World) -> Sequence[Seen]:
    """A page for each pair and rater, in the order in which each is shown them."""
    found = []
    statements: list[str] = []
    event.listen(
        world.store._engine, "before_cursor_execute", lambda *sent: statements.append(sent[2])
    )
    for _ in range(N_RATERS):
        rater = world.come("judge")
        person = world.store.people.find_name(rater.name)
        assert person is not None
        for number in range(1_000):
            statements.clear()
            started = time.perf_counter()
            response = rater.client.get("/task/judge?begin=1&rested=1")
            seconds = time.perf_counter() - started
            n_statements = len(statements)
            ticket = ticket_in(response.text)
            if not ticket:
                break
            lease = world.store.people.find_ticket(person, ticket)
            seen = look(world, response.text, response.headers, lease)
            seen.signs |= {"number": number, "statements": n_statements, "seconds": seconds}
            found.append(seen)
            world.store.people.skip(person, lease, now=world.clock())
    assert len(found) > 600 * N_RATERS
    return found


def look(world: World, page: str, headers: Mapping[str, str], lease: object) -> Seen:
    pair_id, side, ticket = (getattr(lease, name) for name in ("target_id", "side", "ticket"))
    (pair,) = world.store.find(Pair, [pair_id])
    low, high = (
        {c.id: c for c in world.store.find(Completion, list(pair.completion_ids))}[id_]
        for id_ in pair.completion_ids
    )
    first, second = (low, high) if side == 0 else (high, low)
    rest = without(page)
    signs = {
        "markup": float(len(rest)),
        "length": float(len(page) - int(headers["content-length"])),
        "headers": float(len(headers)),
        "values": float(sum(len(v) for k, v in headers.items() if k != "content-length")),
        "tags": float(rest.count("<")),
        **{f"ticket {n}": float(int(ticket[n], 16)) for n in range(0, 32, 2)},
    }
    rest = re.sub(r"\d+ sent, [\w ]+ left", "", rest.replace(ticket, "TICKET"))
    return Seen(signs, rest, first, second)


def without(page: str) -> str:
    """Take conversation, replies and progress from a page; texts hold no tag, they are escaped."""
    page, n = re.subn(r"(</h2><p>).*?(</p></section>)", r"\1\2", page, flags=re.DOTALL)
    assert n == 2
    page = re.sub(r'(<p class="progress">).*?(</p>)', r"\1\2", page, flags=re.DOTALL)
    return re.sub(r'<li class="\w+">.*?</li>\n?', "", page, flags=re.DOTALL)


def area(scores: Floats, labels: NDArray[np.bool_]) -> float:
    """The share of pairs of a true and a false one in which the true one has the higher score."""
    true, false = scores[labels], scores[~labels]
    wins = (true[:, None] > false[None, :]).mean() + (true[:, None] == false[None, :]).mean() / 2
    return float(wins)


def fit(x: Floats, y: Floats) -> Floats:
    """Logistic regression with a small ridge, by Newton's method."""
    beta = np.zeros(x.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(x.shape[1])
        beta += np.linalg.solve(hessian, x.T @ (y - p) - beta)
    return beta


def cross_validated(x: Floats, labels: NDArray[np.bool_]) -> float:
    spread = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    z = np.column_stack([np.ones(len(z)), z, z**2])
    folds = np.random.default_rng(13).permutation(len(z)) % N_FOLDS
    scores = np.zeros(len(z))
    for fold in range(N_FOLDS):
        beta = fit(z[folds != fold], labels[folds != fold].astype(float))
        scores[folds == fold] = z[folds == fold] @ beta
    return area(scores, labels)


def first_of_two(world: World, pages: Sequence[Seen]) -> NDArray[np.bool_]:
    names = {system.id: system.name for system in world.store.iter(System)}
    return np.array([names[one.first.system_id] < names[one.second.system_id] for one in pages])


def shows_person(_: World, pages: Sequence[Seen]) -> NDArray[np.bool_]:
    return np.array([bool(one.first.writer_id or one.second.writer_id) for one in pages])


def person_first(_: World, pages: Sequence[Seen]) -> NDArray[np.bool_]:
    return np.array([one.first.writer_id is not None for one in pages])


QUESTIONS = (first_of_two, shows_person, person_first)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_no_classifier_tells_who_wrote(world: World, pages: Sequence[Seen], asked: object) -> None:
    assert callable(asked)
    labels = asked(world, pages)
    assert 100 < labels.sum() < len(labels) - 100
    names = [name for name in pages[0].signs if name != "seconds"]
    x = np.array([[one.signs[name] for name in names] for one in pages])
    assert cross_validated(x, labels) <= MOST_AREA


@pytest.mark.skipif(not IS_SOAK, reason="times are judged by `make soak`")
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_time_of_an_answer_tells_nothing(
    world: World, pages: Sequence[Seen], asked: object
) -> None:
    assert callable(asked)
    labels = asked(world, pages)
    seconds = np.array([one.signs["seconds"] for one in pages])
    assert abs(area(seconds, labels) - 0.5) <= MOST_AREA - 0.5


def test_the_classifier_finds_what_is_there(world: World, pages: Sequence[Seen]) -> None:
    labels = shows_person(world, pages)
    x = np.random.default_rng(1).normal(size=(len(pages), 5))
    x[:, 2] += labels
    assert cross_validated(x, labels) > 0.7


def test_pages_without_their_texts_are_all_the_same(pages: Sequence[Seen]) -> None:
    assert len({one.rest for one in pages}) == 1


def test_a_page_holds_no_id_name_or_family(world: World, pages: Sequence[Seen]) -> None:
    records = [
        record
        for kind in (Item, System, Completion, Pair, Rater, Label)
        for record in world.store.iter(kind)
    ]
    names = {name for s in world.store.iter(System) for name in (s.name, s.family, s.kind)}
    secrets = {record.id for record in records} | names | set(WRITERS)
    secrets |= {person.id for person in world.store.people.people(world.desk.study.id)}
    secrets |= {world.desk.study.id, world.desk.study.name} - {"blinding"}
    # These are words of the page that mean something else.
    secrets -= {"human", "original", "generic", "model", "baseline"}
    (rest,) = {one.rest for one in pages}
    assert not [secret for secret in secrets if secret in rest]
    assert not re.findall(r"\b(?:original|generic|baseline|reflective)\b", plain(rest).lower())


def test_both_orders_of_a_pair_differ_in_nothing_but_the_order(tmp_path: Path) -> None:
    with people_world(tmp_path) as world:
        raters = [world.come("judge") for _ in range(2)]
        shown: dict[frozenset[str], list[tuple[str, list[str]]]] = {}
        for rater in raters:
            while True:
                page = rater.get("judge")
                if not rater.ticket:
                    break
                texts = re.findall(r'id="reply-[ab]">[^<]*</h2><p>(.*?)</p>', page, re.DOTALL)
                for text, name in zip(texts, ("FIRST", "SECOND"), strict=True):
                    page = page.replace(text, name)
                page = page.replace(rater.ticket, "TICKET").replace(
                    re.findall(r"\d+ sent", page)[0], "SENT"
                )
                shown.setdefault(frozenset(texts), []).append((page, texts))
                rater.send("judge", choice="about the same", reason="Equal.")
        assert len(shown) >= 2
        for (one, texts), (other, others) in shown.values():
            assert one == other
            assert texts == others[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "I am secret-model-9, and I am here for you.",
        "As an AI language model I cannot feel that, yet I listen.",
        "Hello, this is ChatGPT. What happened?",
    ],
)
def test_a_text_that_names_its_model_waits_and_is_shown_to_no_rater(
    tmp_path: Path, text: str
) -> None:
    with people_world(tmp_path, study=study_of(2, 1)) as world:
        store, study = world.store, world.desk.study
        (model,) = (s for s in store.iter(System, study) if s.kind == "model")
        item = next(iter(store.iter(Item, study)))
        named = Completion(item_id=item.id, system_id=model.id, text=text, created_at=START)
        store.add([named])
        open_tasks(world.desk)
        assert standings_of(world.store, world.desk.study)[named.id] == "waiting"
        rater: Visitor = world.come("judge")
        while True:
            page = plain(rater.get("judge"))
            assert text not in page
            if not rater.ticket:
                break
            rater.client.post("/task/judge/skip", data={"ticket": rater.ticket})
