"""A text that was withdrawn, or that nobody has released, in what is made of a study."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from people_site import PEOPLE, Visitor, World, people_world, plain

from hearteval.domain import AXES, WITHDRAWN, Completion, Judgment, Rater, Rating
from hearteval.judgments.plan.run import plan_judgments, plan_ratings
from hearteval.sections.explained import Explained
from hearteval.steps.judgments import judge_assignments
from hearteval.study.people.planning import count_standings
from hearteval.study.records.exchange import export_logs
from hearteval.study.report.reading import read_examples, released_words
from hearteval.study.results import analyze
from hearteval.study.session import stored_plan
from hearteval.study.verify import verify_store

JUDGE = Rater(name="judge", kind="llm", family="test", settings={"prompt_hash": "0"})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        yield made


def have_judged(world: World) -> None:
    store, study = world.store, world.desk.study
    plan_judgments(store, study, stored_plan(study), now=world.clock)
    judge_assignments(store, study, now=world.clock, progress=lambda _done, _of: None)


def withdraw(writer: Visitor) -> None:
    writer.client.post("/withdraw", data={"confirm": "yes"})


def written(world: World) -> list[Completion]:
    return [c for c in world.store.iter(Completion, world.desk.study) if c.writer_id]


def judged_then_withdrawn(world: World) -> None:
    writer = world.come("write")
    for _ in world.desk.study.item_ids:
        writer.write("That sounds heavy. What would help tonight?")
    have_judged(world)
    # People choose what stands first, so that no system wins or loses everything.
    for _ in range(2):
        judge = world.come("judge")
        for _ in range(4):
            judge.judge()
    withdraw(writer)
    assert {text.text for text in written(world)} == {WITHDRAWN}


def test_judgments_of_a_text_that_was_withdrawn_since_are_as_they_were_read(world: World) -> None:
    judged_then_withdrawn(world)
    assert verify_store(world.store, progress=lambda _kind, _n: None).faults == ()


def test_no_example_shows_what_was_withdrawn(world: World) -> None:
    judged_then_withdrawn(world)
    session, study = world.desk.session, world.desk.study
    examples = analyze(session, study).examples
    assert examples
    for reading in read_examples(session, study, examples):
        assert WITHDRAWN not in repr(reading)


def test_a_withdrawn_text_has_no_length(world: World) -> None:
    judged_then_withdrawn(world)
    results = analyze(world.desk.session, world.desk.study)
    explained = results.found(Explained)
    assert explained is not None
    assert "People" not in {row.system for row in explained.texts}


def test_nobody_lacks_a_judgment_of_what_was_withdrawn(world: World) -> None:
    store, study = world.store, world.desk.study
    writer = world.come("write")
    writer.write()
    plan_judgments(store, study, stored_plan(study), now=world.clock)
    withdraw(writer)
    judge_assignments(store, study, now=world.clock, progress=lambda _done, _of: None)
    results = analyze(world.desk.session, study)
    (cue,) = [row for row in results.coverage.judges if row.kind == "llm"]
    assert (cue.n_assigned, results.failures) == (cue.n_judged, ())


def rated(text: Completion, rater: Rater, world: World) -> Rating:
    return Rating(
        study_id=world.desk.study.id,
        completion_id=text.id,
        rater_id=rater.id,
        axes=dict.fromkeys(AXES, 3),
        created_at=world.clock(),
    )


def test_judges_are_to_rate_no_text_of_a_person_that_may_not_be_read(world: World) -> None:
    writer, held = world.come("write"), world.come("write")
    writer.write()
    writer.write()
    held.write("As an AI language model I am sorry to hear this.")
    grown = replace(
        world.desk.study,
        version=world.desk.study.version + 1,
        rater_ids=tuple(sorted((*world.desk.study.rater_ids, JUDGE.id))),
    )
    world.store.add([JUDGE, grown])
    before, other = [text for text in written(world) if text.writer_id == writer.name]
    world.store.add([rated(before, JUDGE, world)])
    withdraw(writer)
    targets = plan_ratings(world.store, grown, stored_plan(grown)).targets
    of_people = {text.id for text in written(world)}
    found = {target.completion_id for target in targets if target.rater_id == JUDGE.id}
    # What was rated before the withdrawal stays a number.
    assert found & of_people == {before.id}
    assert other.id not in found


HELD = "As an AI language model I am sorry to hear this."


def test_a_text_is_released_as_the_study_says_wherever_it_is_asked(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE + "reviewers_per_text = 2\n") as world:
        world.come("write").write(HELD)
        (held,) = written(world)
        session, study = world.desk.session, world.desk.study
        for n_read, is_released in ((0, False), (1, False), (2, True)):
            assert (held.id in released_words(session, study)) is is_released, n_read
            reviewer = world.come("review")
            reviewer.get("review")
            reviewer.send("review", verdict="fit")


def test_reasons_are_read_by_nobody_where_all_replies_are(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE + 'review = "all"\n') as world:
        reviewer, rater = world.come("review"), world.come("judge")
        assert not released_words(world.desk.session, world.desk.study)
        while "Nothing to do right now" not in plain(reviewer.get("review")):
            reviewer.send("review", verdict="fit")
        rater.judge(reason="Warm and to the point.")
        (judgment,) = world.store.iter(Judgment, world.desk.study)
        assert judgment.id in released_words(world.desk.session, world.desk.study)


def test_the_researcher_counts_replies_and_no_reasons(world: World) -> None:
    before = count_standings(world.desk)
    world.come("judge").judge()
    writer = world.come("write")
    writer.write()
    assert count_standings(world.desk)["released"] == before["released"] + 1
    withdraw(writer)
    assert count_standings(world.desk) == before


def test_no_log_goes_out_with_a_text_that_nobody_released(world: World, tmp_path: Path) -> None:
    world.come("write").write(HELD)
    world.come("write").write("That sounds heavy. What would help tonight?")
    session, study = world.desk.session, world.desk.study
    export_logs(session, study, tmp_path / "out", replace=False)
    texts = "".join(
        sample.output.completion
        for path in (tmp_path / "out").iterdir()
        for sample in read_eval_log(str(path)).samples or ()
    )
    assert "That sounds heavy." in texts
    assert HELD not in texts
