"""Coming, writing, judging, reviewing, stopping, withdrawing: what each does to the store."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from people_site import PEOPLE, World, people_world, plain, ticket_in

from hearteval.config import load_study
from hearteval.domain import WITHDRAWN, Assignment, Completion, Judgment, Label, Pair, Rater, System
from hearteval.judgments.plan.run import plan_judgments, standings_of, whole_repeat
from hearteval.labels.safety import SAFETY
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.sections.reasons import Reasons
from hearteval.steps.labels import label_by_cues
from hearteval.store.copy import copy_store, store_hashes
from hearteval.store.people.tasks import Lease
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import gather, register
from hearteval.study.people.joining import find_link, join
from hearteval.study.people.kinds import KINDS
from hearteval.study.people.languages import Somebody
from hearteval.study.people.planning import count_standings, open_tasks, reviewers_agree
from hearteval.study.report.reading import HELD_BACK, read_examples
from hearteval.study.results import analyze
from hearteval.study.session import stored_plan

SHOW_SKIPPED = "Show me again what I skipped"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def completions_by_people(world: World) -> list[Completion]:
    return [c for c in world.store.iter(Completion, world.desk.study) if c.writer_id]


def test_the_warning_stands_before_the_consent(world: World) -> None:
    token = world.invite("write")
    client = world.client()
    first = client.get(f"/join/{token}")
    assert "real distress" in plain(first.text)
    assert "Do you want to take part?" in plain(client.get(f"/join/{token}/consent").text)


@pytest.mark.parametrize("missing", ["adult", "agree", "no_ai"])
def test_nobody_takes_part_without_every_tick(world: World, missing: str) -> None:
    token, client = world.invite("write"), world.client()
    form = {name: "yes" for name in ("adult", "agree", "no_ai") if name != missing}
    refused = client.post(f"/join/{token}", data=form)
    assert refused.status_code == 422
    assert not world.store.people.people(world.desk.study.id)


def test_a_written_reply_is_a_completion_of_the_human_system(world: World) -> None:
    writer = world.come("write", group="peer")
    assert writer.write("I hear you. What happened then?").status_code == 303
    (found,) = completions_by_people(world)
    systems = {system.id: system for system in world.store.iter(System, world.desk.study)}
    assert systems[found.system_id].kind == "human"
    assert (found.text, found.writer_id) == ("I hear you. What happened then?", writer.name)
    assert found.total_ms is not None


def test_a_writer_writes_once_for_each_item_and_then_nothing_is_left(world: World) -> None:
    writer = world.come("write")
    for _ in world.desk.study.item_ids:
        assert writer.write().status_code == 303
    assert "Nothing to do right now" in plain(writer.get("write"))
    items = [c.item_id for c in completions_by_people(world)]
    assert sorted(items) == sorted(world.desk.study.item_ids)


@pytest.mark.parametrize("text", ["word " * 121, "w" * 901], ids=["words", "characters"])
def test_a_reply_that_no_system_could_give_is_refused_as_too_long(world: World, text: str) -> None:
    refused = world.come("write").write(text)
    assert refused.status_code == 422
    assert "longer than 120 words or 900 characters" in plain(refused.text)


def test_an_item_has_as_many_writers_as_the_study_asks_for(world: World) -> None:
    writers = [world.come("write") for _ in range(3)]
    for _ in world.desk.study.item_ids:
        for writer in writers:
            writer.write()
    items = [c.item_id for c in completions_by_people(world)]
    assert {items.count(id_) for id_ in world.desk.study.item_ids} == {2}


@pytest.mark.parametrize(
    ("answer", "choice", "strength"),
    [
        ("A significantly better", "first", 4),
        ("A slightly better", "first", 2),
        ("about the same", "tie", None),
        ("B slightly better", "second", 2),
        ("B significantly better", "second", 4),
    ],
)
def test_five_points_become_choice_and_strength(
    world: World, answer: str, choice: str, strength: int | None
) -> None:
    rater = world.come("judge")
    assert rater.judge(answer, reason="Warm, and it asks.").status_code == 303
    (judgment,) = [
        one
        for one in world.store.iter(Judgment, world.desk.study)
        if one.rationale == "Warm, and it asks."
    ]
    assert (judgment.choice, judgment.strength) == (choice, strength)
    assert judgment.prompt_hash is None


def test_the_order_that_was_shown_is_the_one_that_is_stored(world: World) -> None:
    rater = world.come("judge")
    text = rater.get("judge")
    rater.send("judge", choice="about the same", reason="Both.")
    (human,) = [r for r in world.store.iter(Rater, world.desk.study) if r.kind == "human"]
    (assignment,) = [
        a for a in world.store.iter(Assignment, world.desk.study) if a.rater_id == human.id
    ]
    (pair,) = world.store.find(Pair, [assignment.pair_id])
    texts = {c.id: c.text for c in world.store.find(Completion, list(pair.completion_ids))}
    first = texts.pop(assignment.first_completion_id)
    (second,) = texts.values()
    shown = plain(text)
    after_a = shown[shown.index("Reply A") :]
    assert after_a.index(" ".join(first.split())) < after_a.index(" ".join(second.split()))


def test_an_answer_that_lacks_something_says_what_and_keeps_the_rest(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    refused = rater.send("judge", choice="", reason="Because <b>it</b> listens.")
    assert refused.status_code == 422
    assert "Please choose one of the five." in refused.text
    assert "Because &lt;b&gt;it&lt;/b&gt; listens." in refused.text
    assert ticket_in(refused.text) == rater.ticket


def test_what_was_noticed_is_kept_when_an_answer_lacks_something(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    refused = rater.send("judge", choice="", reason="Pasted.", pastes="2", away="1")
    for name, n in (("pastes", 2), ("away", 1)):
        assert f'name="{name}" value="{n}"' in refused.text
    rater.send("judge", choice="", reason="Pasted.", pastes="<script>", away="1")
    kept = {"ticket": rater.ticket, "reason": "Pasted.", "pastes": "2", "away": "0"}
    rater.client.post("/task/judge/draft", data=kept)
    assert 'name="pastes" value="2"' in rater.get("judge")


def test_twenty_equal_answers_are_one_judgment_and_a_different_one_is_refused(
    world: World,
) -> None:
    rater = world.come("judge")
    rater.get("judge")
    answer = {"choice": "A slightly better", "reason": "It listens."}
    assert {rater.send("judge", **answer).status_code for _ in range(20)} == {303}
    other = rater.send("judge", **{**answer, "choice": "B slightly better"})
    assert other.status_code == 409
    assert "You have answered this one" in plain(other.text)
    found = [j for j in world.store.iter(Judgment) if j.rationale == "It listens."]
    assert [one.choice for one in found] == ["first"]


def test_a_writer_never_sees_their_own_text(world: World) -> None:
    own = "Zebra crossing, that was a lot."
    writer = world.come("write", "judge")
    other = world.come("judge")
    writer.write(own)
    seen_by_other = False
    for _ in range(40):
        page = writer.get("judge")
        assert own not in plain(page)
        if not writer.ticket:
            break
        writer.send("judge", choice="about the same", reason="Equal.")
    for _ in range(40):
        page = other.get("judge")
        seen_by_other |= own in plain(page)
        if not other.ticket:
            break
        other.send("judge", choice="about the same", reason="Equal.")
    assert seen_by_other


def test_no_pair_comes_twice_and_each_is_judged_as_often_as_asked(world: World) -> None:
    raters = [world.come("judge") for _ in range(4)]
    for rater in raters:
        while rater.judge().status_code == 303:
            pass
    by_rater: dict[str, list[str]] = {}
    people = {r.id for r in world.store.iter(Rater, world.desk.study) if r.kind == "human"}
    for one in world.store.iter(Assignment, world.desk.study):
        if one.rater_id in people:
            by_rater.setdefault(one.rater_id, []).append(one.pair_id)
    assert all(len(pairs) == len(set(pairs)) for pairs in by_rater.values())
    judged = [pair for pairs in by_rater.values() for pair in pairs]
    assert {judged.count(pair) for pair in judged} == {3}


def test_a_skipped_pair_goes_to_others_and_comes_back_when_asked_for(world: World) -> None:
    rater = world.come("judge")
    first = rater.get("judge")
    ticket = rater.ticket
    rater.client.post("/task/judge/skip", data={"ticket": ticket})
    assert rater.get("judge") != first
    while rater.judge().status_code == 303:
        pass
    nothing = plain(rater.get("judge"))
    assert "Nothing to do right now" in nothing
    assert SHOW_SKIPPED in nothing
    rater.client.post("/task/judge/skipped")
    assert rater.get("judge").count("Reply A") == 1
    assert rater.ticket == ticket


def test_nobody_is_offered_what_they_never_skipped(world: World) -> None:
    rater = world.come("judge")
    while rater.get("judge") and rater.ticket:
        rater.judge()

    nothing = plain(rater.get("judge"))

    assert "Nothing to do right now" in nothing
    assert SHOW_SKIPPED not in nothing


def test_what_the_screen_holds_is_shown_to_nobody_until_a_person_releases_it(
    world: World,
) -> None:
    held = "As an AI language model I am sorry to hear this."
    world.come("write").write(held)
    rater = world.come("judge")
    reviewer = world.come("review")
    pages = []
    while True:
        pages.append(plain(rater.get("judge")))
        if not rater.ticket:
            break
        rater.send("judge", choice="about the same", reason="Equal.")
    assert not any(held in page for page in pages)
    assert held in plain(reviewer.get("review"))
    assert reviewer.send("review", verdict="fit").status_code == 303
    assert held in plain(rater.get("judge"))
    verdicts = {
        label.verdict
        for label in world.store.iter(Label, world.desk.study)
        if label.taxonomy == SAFETY
        and label.completion_id in {c.id for c in completions_by_people(world)}
    }
    assert verdicts == {"present", "absent"}


def test_reasons_that_a_screen_holds_wait_for_another_person(world: World) -> None:
    held = "A is better. Write to me: dana@example.org"
    rater = world.come("judge", "review")
    rater.get("judge")
    rater.send("judge", choice="A slightly better", reason=held)
    open_tasks(world.desk)
    reviewer = world.come("review")
    shown = plain(reviewer.get("review"))
    assert held in shown
    assert "What came before it" not in shown
    assert held not in plain(rater.get("review"))
    assert reviewer.send("review", verdict="unfit", reason="identifying").status_code == 303
    (judged,) = world.store.iter(Judgment, world.desk.study)
    words = [one for one in world.store.labels_of(world.desk.study, SAFETY) if one.judgment_id]
    assert {(one.judgment_id, one.verdict) for one in words} == {(judged.id, "present")}
    assert standings_of(world.store, world.desk.study)[judged.id] == "kept-out"
    found = analyze(world.desk.session, world.desk.study).safety
    assert found is not None
    assert (found.n_unfit, found.screens[0].uses[0].n_caught) == (1, 1)
    page = plain(world.come("research").client.get("/researcher").text)
    assert "rule screen (words and forms, not meaning): held 1 of" in page
    assert "that it passed: what else it misses is not known" in page


def test_reasons_about_a_withdrawn_text_are_reviewed_by_nobody_because_they_quote(
    world: World,
) -> None:
    writer, rater = world.come("write"), world.come("judge")
    while writer.write("I hear how heavy this is. What helps?").status_code == 303:
        pass
    for _ in range(6):
        if rater.get("judge") and rater.ticket:
            rater.send("judge", choice="A slightly better", reason="Mail me: dana@example.org")
    assigned = {one.id: one for one in world.store.iter(Assignment, world.desk.study)}
    pairs = {one.id: one for one in world.store.iter(Pair, world.desk.study)}
    written = {one.id for one in completions_by_people(world)}
    about = {
        one.id: written.isdisjoint(pairs[assigned[one.assignment_id].pair_id].completion_ids)
        for one in world.store.iter(Judgment, world.desk.study)
    }
    assert {*about.values()} == {True, False}

    def shows(id_: str) -> set[bool]:
        """Say whether a page that was opened before, and is loaded again, shows reasons."""
        names = ("review", "label-rationales-2")
        leases = (
            Lease(
                "t", world.desk.study.id, "p", name, id_, "0" * 32, 0, "held", world.clock(), None
            )
            for name in names
        )
        return {KINDS[one.kind].show(world.desk, one) is not None for one in leases}

    assert all(shows(id_) == {True} for id_ in about)
    writer.client.post("/withdraw", data={"confirm": "yes"})
    reviewer, people = world.come("review"), world.store.people
    reviewed = set()
    while reviewer.get("review") and reviewer.ticket:
        lease = people.find_ticket(people.find_name(reviewer.name), reviewer.ticket)
        reviewed.add(lease.target_id)
        reviewer.send("review", verdict="fit")
    assert reviewed == {id_ for id_, is_other in about.items() if is_other}
    assert all(shows(id_) == {is_other} for id_, is_other in about.items())


def test_a_text_that_a_reviewer_keeps_out_stays_out(world: World) -> None:
    held = "You should kill yourself."
    world.come("write").write(held)
    reviewer = world.come("review")
    reviewer.get("review")
    refused = reviewer.send("review", verdict="unfit")
    assert refused.status_code == 422
    assert reviewer.send("review", verdict="unfit", reason="self-harm").status_code == 303
    rater = world.come("judge")
    while rater.judge().status_code == 303:
        assert held not in plain(rater.get("judge"))
    assert "Nothing to do right now" in plain(reviewer.get("review"))


def test_an_expired_lease_frees_the_pair_and_a_late_answer_counts_while_it_is_free(
    world: World,
) -> None:
    late = world.come("judge")
    late.get("judge")
    world.clock.wait(minutes=31)
    assert late.send("judge", choice="about the same", reason="Late.").status_code == 303


def test_a_late_answer_to_a_pair_that_others_have_is_refused(tmp_path: Path) -> None:
    asked = "writers_per_item = 0\nraters_per_pair = 1\n"
    with people_world(tmp_path, people=asked) as world:
        late = world.come("judge")
        late.get("judge")
        world.clock.wait(minutes=31)
        others = [world.come("judge") for _ in range(3)]
        for other in others:
            while other.judge().status_code == 303:
                pass
        refused = late.send("judge", choice="about the same", reason="Late.")
        assert refused.status_code == 409
        assert "Your place was passed on" in plain(refused.text)


def test_limits_of_a_sitting_and_a_day(tmp_path: Path) -> None:
    limits = "most_per_session = 2\nmost_per_day = 3\nrest_after = 1\n"
    with people_world(tmp_path, people=PEOPLE + limits) as world:
        world.come("write").write()
        rater = world.come("judge")
        assert rater.judge().status_code == 303
        assert "Time for a rest?" in plain(rater.client.get("/task/judge").text)
        rater.judge()
        assert "That is enough for now" in plain(rater.get("judge"))
        world.clock.wait(minutes=31)
        rater.judge()
        world.clock.wait(minutes=31)
        assert "That is enough for today" in plain(rater.get("judge"))
        world.clock.wait(hours=24)
        assert rater.get("judge").count("Reply A") == 1


def test_a_new_writer_starts_when_a_person_has_read_their_practice(world: World) -> None:
    writer = world.come("write", is_vetted=False)
    assert writer.client.get("/task/write?begin=1").headers["location"] == "/practice"
    assert writer.client.post("/practice", data={"text": "I hear you."}).status_code == 303
    assert "we have your reply" in plain(writer.client.get("/practice").text)
    researcher = world.come("research")
    assert "I hear you." in plain(researcher.client.get("/researcher").text)
    researcher.client.post(f"/researcher/practice/{writer.name}", data={"outcome": "passed"})
    assert writer.write().status_code == 303
    assert [c.text for c in completions_by_people(world)] != ["I hear you."]


def test_stopping_frees_what_is_in_hand(world: World) -> None:
    rater = world.come("judge")
    rater.get("judge")
    assert rater.client.post("/stop").status_code == 303
    (counts,) = [
        c for c in world.store.people.progress(world.desk.study.id).counts if c.kind == "judge"
    ]
    assert counts.n_held == 0


def test_withdrawing_deletes_every_word_and_keeps_choices_and_ids(world: World) -> None:
    writer = world.come("write", "judge")
    writer.client.get("/")
    writer.write("A sentence that must go.")
    writer.judge(reason="A reason that must go.")
    name = writer.name
    (text,) = completions_by_people(world)
    assert writer.client.post("/withdraw", data={}).status_code == 422
    done = writer.client.post("/withdraw", data={"confirm": "yes"})
    assert "You have withdrawn" in plain(done.text)
    (found,) = completions_by_people(world)
    assert (found.id, found.text) == (text.id, WITHDRAWN)
    judged = [j for j in world.store.iter(Judgment) if j.prompt_hash is None and j.raw == ""]
    assert not any("must go" in one.rationale for one in judged)
    person = world.store.people.find_name(name)
    assert person.withdrawn_at is not None
    assert (person.background, person.salt) == (None, None)
    assert world.store.check(progress=lambda _kind, _n: None).faults == ()
    assert writer.client.get("/work").status_code == 401
    folder = world.desk.session.settings.file.parent
    rest = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"must go" not in rest


def test_reasons_that_were_withdrawn_leave_the_themes_and_no_quote(world: World) -> None:
    rater, other = world.come("judge"), world.come("judge")
    rater.judge(reason="It asks a question.")
    other.judge(reason="It is warmer.")
    themes = load_taxonomy("rationales")
    store, study, session = world.store, world.desk.study, world.desk.session
    label_by_cues(store, study, themes, now=session.now, progress=lambda _done, _n: None)

    def found() -> tuple[int, set[str]]:
        results = analyze(session, study).found(Reasons)
        quoted = {one.evidence for one in store.labels_of(study, "rationales")} - {""}
        return (results.sources[0].n_people if results else 0), quoted

    assert found() == (2, {"asks", "warmer"})
    rater.client.post("/withdraw", data={"confirm": "yes"})
    assert found() == (1, {"warmer"})


def test_a_pair_whose_text_was_withdrawn_is_given_out_no_more(world: World) -> None:
    writer = world.come("write")
    for _ in world.desk.study.item_ids:
        writer.write("Gone soon.")
    writer.client.post("/withdraw", data={"confirm": "yes"})
    rater = world.come("judge")
    for _ in range(40):
        page = plain(rater.get("judge"))
        assert "Gone soon" not in page
        assert WITHDRAWN not in page
        if not rater.ticket:
            break
        rater.send("judge", choice="about the same", reason="Equal.")


def test_the_log_tells_what_happened_without_a_word_of_text(world: World) -> None:
    writer = world.come("write", "judge")
    writer.write("Secret words.")
    writer.judge(reason="Secret reason.")
    events = world.store.people.events()
    assert [event.what for event in events][-4:] == ["shown", "answered", "shown", "answered"]
    assert "Secret" not in repr(events)


def test_a_copy_of_the_store_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    rater = world.come("judge")
    rater.judge(reason="Before the copy.")
    rater.get("judge")
    with closing(SqlStore.open(str(tmp_path / "copy.db"))) as copy:
        copy_store(world.store, copy, progress=lambda _kind, _n: None)
        copy_store(world.store, copy, progress=lambda _kind, _n: None)
        assert store_hashes(copy) == store_hashes(world.store)
        assert copy.check(progress=lambda _kind, _n: None).faults == ()
        (person,) = copy.people.people(world.desk.study.id)
        lease = copy.people.live(person, "judge", now=world.clock())
        assert lease is not None
        assert lease.ticket == rater.ticket


def test_a_reason_that_the_screen_holds_is_not_in_the_report(world: World) -> None:
    rater = world.come("judge")
    rater.judge(reason="Call me on 0171 555 0199 or mail anna@example.org.")
    rater.judge(reason="Warm and to the point.")
    session, study = world.desk.session, world.desk.study
    results = analyze(session, study)
    shown = [
        verdict.judgment.rationale
        for reading in read_examples(session, study, results.examples)
        for verdict in reading.verdicts
        if verdict.rater.startswith("person")
    ]
    assert sorted(shown) == ["Warm and to the point.", HELD_BACK]


def test_two_reviewers_who_differ_leave_the_text_to_a_third(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE + "reviewers_per_text = 2\n") as world:
        world.come("write").write("As an AI language model I am sorry to hear this.")
        first, second, third = (world.come("review") for _ in range(3))
        first.get("review")
        first.send("review", verdict="fit")
        assert count_standings(world.desk)["waiting"] == 1
        world.clock.wait(minutes=1)
        second.get("review")
        second.send("review", verdict="unfit", reason="names-maker")
        assert count_standings(world.desk)["waiting"] == 1
        world.clock.wait(minutes=1)
        third.get("review")
        third.send("review", verdict="fit")
        assert count_standings(world.desk)["waiting"] == 0
        (agreed,) = reviewers_agree(world.desk)
        assert (agreed.n_texts, agreed.n_same) == (1, 0)


def test_judges_are_asked_again_and_people_are_not(world: World) -> None:
    rater = world.come("judge")
    rater.judge()
    store, study = world.store, world.desk.study
    plan_judgments(store, study, stored_plan(study), now=world.clock)
    people = {one.id for one in store.iter(Rater, study) if one.kind == "human"}
    again = whole_repeat(store, study, given_up=())
    assert again
    assert people.isdisjoint(one.rater_id for one in again)


def test_a_page_says_how_many_are_left_where_the_number_cannot_jump(tmp_path: Path) -> None:
    with people_world(tmp_path, people="writers_per_item = 0\nraters_per_pair = 3\n") as world:
        rater = world.come("judge")
        left = []
        rater.get("judge")
        while rater.ticket:
            (said,) = re.findall(r"(\d+) sent, (\w+) left", plain(rater.get("judge")))
            left.append(said)
            rater.send("judge", choice="about the same", reason="Equal.")
            rater.get("judge")
        n = len(left)
        assert left == [(str(k), str(n - 1 - k) if k < n - 1 else "none") for k in range(n)]


def test_no_number_jumps_when_somebody_has_written(world: World) -> None:
    rater, writer = world.come("judge"), world.come("write")
    before = plain(rater.get("judge"))
    assert writer.write().status_code == 303
    assert plain(rater.get("judge")) == before
    assert "0 sent" in before
    assert "left after" not in before


def test_the_place_of_a_writer_who_withdrew_is_free_again(world: World) -> None:
    writers = [world.come("write") for _ in range(2)]
    for writer in writers:
        while writer.write().status_code == 303:
            pass
    writers[0].client.post("/withdraw", data={"confirm": "yes"})
    world.site.written()
    late = world.come("write")
    for _ in world.desk.study.item_ids:
        assert late.write("Somebody else writes now.").status_code == 303
    assert "Nothing to do right now" in plain(late.get("write"))
    assert world.store.check(progress=lambda _kind, _n: None).faults == ()


def test_a_pair_in_hand_whose_text_is_withdrawn_gives_way_to_another(world: World) -> None:
    own = "Zebra crossing, that was a lot."
    writer, rater = world.come("write"), world.come("judge")
    for _ in world.desk.study.item_ids:
        writer.write(own)
    while own not in plain(rater.get("judge")):
        rater.send("judge", choice="about the same", reason="Equal.")
    ticket = rater.ticket
    writer.client.post("/withdraw", data={"confirm": "yes"})
    after = plain(rater.get("judge"))
    assert own not in after
    assert "withdrawn" not in after
    assert rater.ticket != ticket


def test_a_text_that_loses_its_release_is_given_out_no_more(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE) as world:
        study_file = world.desk.session.settings.file
        text = study_file.read_text(encoding="utf-8")
        study_file.write_text(f'{text}review = "all"\n', encoding="utf-8")
        stricter = replace(world.desk.session, settings=load_study(study_file))
        study = register(stricter, gather(stricter.settings, Quiet()))
        open_tasks(replace(world.desk, session=stricter, study=study))
        assert "Nothing to do right now" in plain(world.come("judge").get("judge"))
        open_tasks(world.desk)
        assert world.come("judge").judge().status_code == 303


def test_nobody_is_new_without_a_consent(world: World) -> None:
    token = world.invite("judge", most_people=1)
    link = find_link(world.desk, token)
    assert link is not None
    found = join(world.desk, link[0], reader=Somebody("en-GB"), agreed=None)
    assert found == "full"
    assert world.store.people.people(world.desk.study.id) == []


def test_a_study_adds_points_to_the_consent_that_are_part_of_what_is_recorded(
    tmp_path: Path,
) -> None:
    asked = PEOPLE + 'consent = ["You get 8 pounds & our <thanks>."]\n'
    with people_world(tmp_path, people=asked) as world:
        token = world.invite("judge")
        page = world.client().get(f"/join/{token}/consent").text
        assert "You get 8 pounds &amp; our &lt;thanks&gt;." in page
        world.come("judge")
        (person,) = world.store.people.people(world.desk.study.id)
        assert person.consent_version is not None
        assert person.consent_version.startswith("6+")
