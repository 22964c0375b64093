"""Checks, repeats and triads on the pages: they come, look like any other, and count nowhere."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from people_site import STUDY, Visitor, World, people_world, plain

from hearteval.analysis.quality.answers import PersonAnswers
from hearteval.domain import (
    AXES,
    Assignment,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Rating,
    Study,
)
from hearteval.judgments.people_checks import checks_study_id
from hearteval.protocol import load_protocol
from hearteval.study.people.checks import read_answers
from hearteval.study.people.planning import open_tasks
from hearteval.study.release.passing import members_of
from hearteval.study.results import analyze

MORE = STUDY.replace("regular = 2", "regular = 11").replace("adversarial = 1", "adversarial = 0")
MORE = MORE.replace(
    "[judging]", '[[system]]\npreset = "reflective"\n[[system]]\npreset = "advice"\n[judging]'
)
PEOPLE = """writers_per_item = 0
raters_per_pair = 2
rest_after = 1000
most_per_session = 200
most_per_day = 1000
[people.quality]
checks = 4
checks_within = 20
repeats = 0.1
"""


@dataclass
class Worked:
    """What two people have done: tests of it change nothing."""

    world: World
    careful: Visitor
    careless: Visitor
    kinds: list[str]
    """Tasks of the careful one, in turn."""
    shapes: dict[str, set[str]]
    """Pages of each kind of task, without their words."""
    n_pairs: int
    """Ordinary comparisons that both answered."""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    with people_world(tmp_path_factory.mktemp("worked"), people=PEOPLE, study=MORE) as world:
        careful_one, careless = world.come("judge"), world.come("judge")
        kinds, shapes = list[str](), dict[str, set[str]]()
        for _ in range(40):
            page = careful_one.get("judge")
            kinds.append(careful(world, careful_one))
            shapes.setdefault(kinds[-1], set()).add(shape_of(page))
        rest = [careful(world, careless, is_careful=False) for _ in range(21)]
        n_pairs = [*kinds, *rest].count("pair")
        yield Worked(world, careful_one, careless, kinds, shapes, n_pairs)


def shape_of(page: str) -> str:
    """A page without its words, which do not say that it checks anything."""
    said = page.split("<main")[1].split('class="replies"', maxsplit=1)[0]
    said = re.sub(r'class="checklist"|"checklist"', "", said).lower()
    assert [word for word in ("check", "repeat", "gold", "attention") if word in said] == []
    shape = re.sub(r">[^<]+<", "><", re.sub(r'value="[0-9a-f]{32}"', "", page))
    return re.sub(r"<li class=\"\w+\">.*?</li>\s*", "", shape, flags=re.DOTALL)


def careful(world: World, visitor: Visitor, *, is_careful: bool = True) -> str:
    """Answer the task in hand, a check as its key has it or otherwise; return which task it was."""
    visitor.get("judge")
    assert visitor.ticket
    people = world.store.people
    lease = people.find_ticket(people.find_name(visitor.name), visitor.ticket)
    (*found,) = world.store.find(Assignment, [lease.target_id])
    choice = "A slightly better"
    if found and found[0].check:
        right = {"first": "A slightly better", "second": "B slightly better"}
        choice = right.get(found[0].check, "about the same")
        if not is_careful:
            choice = "B slightly better" if found[0].check == "first" else "A slightly better"
    world.clock.wait(seconds=30)
    sent = visitor.send("judge", choice=choice, reason="It listens.")
    assert sent.status_code == 303, sent.text
    return "check" if found and found[0].check else "repeat" if found else "pair"


def answers(world: World, visitor: Visitor) -> PersonAnswers:
    return read_answers(world.store, world.desk.study)[rater_id(world, visitor.name)]


def rater_id(world: World, name: str) -> str:
    found = [one.id for one in world.store.iter(Rater) if one.name == name]
    return str(found[0])


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path, people=PEOPLE, study=MORE) as made:
        yield made


def test_checks_and_repeats_come_among_comparisons_and_are_read_apart(worked: Worked) -> None:
    kinds = worked.kinds
    assert kinds[0] == "pair"
    assert Counter(kinds)["check"] == 4
    assert Counter(kinds)["repeat"] >= 2

    found, other = (answers(worked.world, one) for one in (worked.careful, worked.careless))

    assert (found.n_passed, found.n_failed) == (4, 0)
    assert Counter(check.kind for check in found.checks) == {"gold": 2, "attention": 2}
    assert all(check.seconds == 30 for check in found.checks)
    assert (other.n_passed, other.n_failed) == (0, 4)
    for one in found.repeats:
        assert one.second is not None
        assert one.first.first_completion_id != one.second.first_completion_id
        assert one.is_same is False  # whoever always says A prefers the other text then
        assert (one.first.seconds, one.second.seconds) == (30, 30)
    assert len(found.repeats) == Counter(kinds)["repeat"]
    assert found.triads  # which come of ordinary comparisons


def test_no_table_of_votes_holds_a_check_or_a_repeat(worked: Worked) -> None:
    study, store, n_pairs = worked.world.desk.study, worked.world.store, worked.n_pairs
    assert n_pairs < 61
    assert len(list(store.iter(Judgment, study))) == n_pairs
    assert {one.repeat for one in store.iter(Assignment, study)} == {0}
    assert {one.check for one in store.iter(Assignment, study)} == {None}
    assert sum(len(batch["pair_id"]) for batch in store.judgment_table(study)) == n_pairs
    assert len(store.people.seconds(study.id)) == n_pairs
    own = {pair.id for pair in store.iter(Pair, study)}
    checks = store.latest_study(checks_study_id(study))
    keyed = {one.pair_id for one in store.iter(Assignment, checks) if one.check}
    assert keyed
    assert own.isdisjoint(keyed)
    assert len(list(store.iter(Judgment, checks))) == 61 - n_pairs
    assert not store.check(progress=lambda _kind, _n: None).faults
    (counted,) = [one for one in store.people.progress(study.id).counts if one.kind == "judge"]
    assert counted.n_done == n_pairs


def test_every_pair_has_its_people_with_checks_as_without(world: World) -> None:
    visitors = [world.come("judge") for _ in range(3)]
    for visitor in visitors:
        while "Nothing to do" not in plain(visitor.get("judge")):
            careful(world, visitor)
    given = list(world.store.iter(Assignment, world.desk.study))
    assert set(Counter(one.pair_id for one in given).values()) == {2}
    counts = world.store.people.progress(world.desk.study.id).counts
    (counted,) = [one for one in counts if one.kind == "judge"]
    assert (counted.n_done, counted.n_held) == (counted.n_places, 0)


def test_what_is_planned_anew_leaves_a_check_in_hand(world: World) -> None:
    visitor = until_check(world)
    ticket = visitor.ticket
    open_tasks(world.desk)
    assert visitor.get("judge")
    assert visitor.ticket == ticket
    assert careful(world, visitor) == "check"


def until_check(world: World) -> Visitor:
    """Return somebody whose next task is a check."""
    visitor = world.come("judge")
    for _ in range(20):
        visitor.get("judge")
        person = world.store.people.find_name(visitor.name)
        lease = world.store.people.find_ticket(person, visitor.ticket)
        if lease.study_id != world.desk.study.id:
            return visitor
        careful(world, visitor)
    raise AssertionError("no check came")


def test_a_check_looks_like_any_other_comparison(worked: Worked) -> None:
    assert worked.shapes.keys() == {"pair", "check", "repeat"}
    assert len({shape for shapes in worked.shapes.values() for shape in shapes}) == 1


def test_wrong_input_and_a_draft_bring_the_same_check_back(world: World) -> None:
    visitor = until_check(world)
    ticket = visitor.ticket
    refused = visitor.send("judge", choice="", reason="Because.")
    assert refused.status_code == 422
    assert "Please choose one of the five." in plain(refused.text)
    kept = visitor.client.post("/task/judge/draft", data={"ticket": ticket, "reason": "Half a"})
    assert kept.status_code == 204
    assert "Half a" in visitor.get("judge")
    assert visitor.ticket == ticket


def test_a_check_that_lapsed_comes_back(world: World) -> None:
    visitor = until_check(world)
    before = visitor.get("judge")
    world.clock.wait(minutes=31)
    seen = []
    for _ in range(21):
        seen.append(plain(visitor.get("judge")))
        careful(world, visitor)
    assert [page for page in seen if texts(page) == texts(plain(before))]
    assert len(answers(world, visitor).checks) == 4 + 0


def texts(page: str) -> str:
    return page.partition("Reply A")[2].partition("Before you choose")[0]


def test_a_skipped_check_makes_way_for_another_and_never_counts(world: World) -> None:
    visitor = until_check(world)
    first = texts(plain(visitor.get("judge")))
    visitor.client.post("/task/judge/skip", data={"ticket": visitor.ticket})
    second = texts(plain(visitor.get("judge")))
    assert second != first
    assert careful(world, visitor) == "check"
    found = answers(world, visitor).checks
    assert [check.passed for check in found] == [True, None]


def test_the_same_answer_twice_is_one_and_another_changes_nothing(world: World) -> None:
    visitor = until_check(world)
    sent = {"choice": "about the same", "reason": "Both."}
    assert visitor.send("judge", **sent).status_code == 303
    assert visitor.send("judge", **sent).status_code == 303
    assert visitor.send("judge", choice="A slightly better", reason="A.").status_code == 409
    assert len(answers(world, visitor).checks) == 1


def test_who_withdraws_takes_the_reasons_of_checks_with_them(world: World) -> None:
    visitor = world.come("judge")
    for _ in range(25):
        careful(world, visitor)
    visitor.client.post("/withdraw", data={"confirm": "yes"})
    checks = world.store.latest_study(checks_study_id(world.desk.study))
    said = list(world.store.iter(Judgment, checks))
    assert len(said) > 4
    assert {one.rationale for one in said} == {""}
    assert not world.store.check(progress=lambda _kind, _n: None).faults


def test_a_repeat_of_a_withdrawn_text_is_not_shown(tmp_path: Path) -> None:
    people = PEOPLE.replace("writers_per_item = 0", "writers_per_item = 1").replace("0.1", "0.5")
    with people_world(tmp_path, people=people, study=MORE) as world:
        writer = world.come("write")
        for _ in range(8):
            writer.write()
        open_tasks(world.desk)
        visitor = world.come("judge")
        for _ in range(12):
            careful(world, visitor)
        writer.client.post("/withdraw", data={"confirm": "yes"})
        for _ in range(30):
            assert "WITHDRAWN" not in visitor.get("judge")
            careful(world, visitor)
        for one in world.store.iter(Completion, world.desk.study):
            assert one.writer_id is None or one.is_withdrawn
        assert not world.store.check(progress=lambda _kind, _n: None).faults


def test_results_and_releases_rest_on_ordinary_comparisons_alone(worked: Worked) -> None:
    study, store = worked.world.desk.study, worked.world.store
    ordinary = {one.id for one in store.iter(Judgment, study)}

    found = analyze(worked.world.desk.session, study)
    assert found.leaderboard is not None
    assert found.leaderboard.n_judgments == len(ordinary)
    released = members_of(store, study)
    assert released[Judgment].keys() == ordinary
    assert {one.source for one in released[Item].values()} == {"starter"}
    assert {one.design.get("checks_of") for one in released[Study].values()} == {None}


def test_consent_says_that_some_comparisons_check(world: World) -> None:
    page = world.client().get(f"/join/{world.invite('judge')}/consent")
    assert load_protocol("people_consent")["consent"]["checks"] in plain(page.text)


def test_who_only_writes_is_told_nothing_of_checks(world: World) -> None:
    page = world.client().get(f"/join/{world.invite('write')}/consent")
    assert load_protocol("people_consent")["consent"]["checks"] not in plain(page.text)


def test_without_quality_there_is_no_check(tmp_path: Path) -> None:
    with people_world(
        tmp_path, people=PEOPLE.partition("[people.quality]")[0], study=MORE
    ) as plainer:
        visitor = plainer.come("judge")
        assert {careful(plainer, visitor) for _ in range(25)} == {"pair"}
        assert plainer.store.latest_study(checks_study_id(plainer.desk.study)) is None
        page = plainer.client().get(f"/join/{plainer.invite('judge')}/consent")
        assert load_protocol("people_consent")["consent"]["checks"] not in plain(page.text)


RATED = PEOPLE.replace(
    "[people.quality]", 'protocol = "rating"\npractice = false\n[people.quality]'
)


def test_who_rates_meets_replies_that_say_what_to_give(tmp_path: Path) -> None:
    study = MORE.replace("[judging]", '[judging]\nprotocol = "rating"').replace(
        'judges = ["cue"]', "judges = []"
    )
    with people_world(tmp_path, people=RATED, study=study.replace("repeat_pairs = 0", "")) as rated:
        visitor, n_asked = rated.come("rate"), 0
        for number in range(25):
            page = plain(visitor.get("rate"))
            asked = re.search(r"give it the number (\d) for every question", page)
            n_asked += asked is not None
            score = asked[1] if asked and number % 2 else "1"
            sent = visitor.send("rate", **{f"axis_{axis}": score for axis in AXES})
            assert sent.status_code == 303, sent.text
        found = read_answers(rated.store, rated.desk.study)[rater_id(rated, visitor.name)]
        assert n_asked == 4
        assert [check.kind for check in found.checks] == ["attention"] * 4
        assert found.n_passed + found.n_failed == 4
        assert found.n_passed
        ordinary = list(rated.store.iter(Rating, rated.desk.study))
        assert len(ordinary) == 25 - 4
        assert not rated.store.check(progress=lambda _kind, _n: None).faults


def test_a_forced_winner_is_a_check_too(tmp_path: Path) -> None:
    people = PEOPLE.replace("[people.quality]", 'protocol = "forced-strength"\n[people.quality]')
    with people_world(tmp_path, people=people, study=MORE) as forced:
        visitor = forced.come("judge")
        for _ in range(22):
            page = plain(visitor.get("judge"))
            is_other = "Please choose the other reply" in page
            is_first = "Please choose" in page.partition("Reply B")[0].partition("Reply A")[2]
            choice = "B" if is_other == is_first else "A"
            sent = visitor.send("judge", choice=choice, strength="3", reason="It listens.")
            assert sent.status_code == 303, sent.text
        found = read_answers(forced.store, forced.desk.study)[rater_id(forced, visitor.name)]
        attention = [check for check in found.checks if check.kind == "attention"]
        assert [check.passed for check in attention] == [True, True]
        assert {check.expected for check in found.checks} <= {"first", "second"}


@pytest.mark.postgres
def test_a_session_with_checks_on_postgresql_too(tmp_path: Path, postgres_url: str) -> None:
    with people_world(tmp_path, people=PEOPLE, study=MORE, store=postgres_url) as made:
        visitor = made.come("judge")
        kinds = Counter(careful(made, visitor) for _ in range(25))
        assert kinds["check"] == 4
        assert kinds["repeat"] >= 1
        assert answers(made, visitor).n_passed == 4
        assert not made.store.check(progress=lambda _kind, _n: None).faults


def test_who_has_the_pages_in_german_meets_german_checks(tmp_path: Path) -> None:
    people = PEOPLE.replace("[people.quality]", 'languages = ["de"]\n[people.quality]')
    with people_world(tmp_path, people=people, study=MORE) as german:
        visitor = Visitor(german, german.client(), german.invite("judge")).join(lang="de")
        pages = [visitor.get("judge")]
        while careful(german, visitor) != "check":
            pages.append(visitor.get("judge"))
        said = plain(pages[-1])
        texts_of = load_protocol("people_checks", "de")
        turns = [one["context"][-1] for key in ("gold", "attention") for one in texts_of[key]]
        assert any(turn in said for turn in turns)
