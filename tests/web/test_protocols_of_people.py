"""The other protocols: a forced winner with strength and axis marks, and rating one reply."""

from pathlib import Path

import pytest
from people_site import PEOPLE, STUDY, people_world, plain

from hearteval.domain import AXES, AxisMark, Completion, Judgment, Pair, Rating
from hearteval.judgments.plan.run import plan_judgments
from hearteval.protocol import load_protocol
from hearteval.study.results import analyze, read_data
from hearteval.study.session import stored_plan

FORCED = PEOPLE + 'protocol = "forced-strength"\naxis_marks = true\n'
RATED = STUDY.replace('judges = ["cue"]', 'judges = []\nprotocol = "rating"')


def test_a_forced_choice_has_a_strength_and_marks_where_one_side_is_ahead(tmp_path: Path) -> None:
    with people_world(tmp_path, people=FORCED) as world:
        rater = world.come("judge")
        page = plain(rater.get("judge"))
        assert "about the same" not in page
        lines = load_protocol("people_judging")["axis_marks"]["lines"]
        assert all(lines[axis] in page for axis in AXES)
        marks = {"axis_H": "A", "axis_E": "B", "axis_A": "", "axis_R": "nonsense"}
        done = rater.send("judge", choice="B", strength="5", reason="Clear.", **marks)
        assert done.status_code == 303
        (judgment,) = [j for j in world.store.iter(Judgment) if j.rationale == "Clear."]
        assert (judgment.choice, judgment.strength) == ("second", 5)
        assert judgment.axes == {"H": AxisMark("first", None), "E": AxisMark("second", None)}


@pytest.mark.parametrize(
    "form",
    [{"choice": "A"}, {"strength": "3"}, {"choice": "A", "strength": "6"}, {"choice": "tie"}],
)
def test_a_forced_choice_lacks_nothing(tmp_path: Path, form: dict[str, str]) -> None:
    with people_world(tmp_path, people=FORCED) as world:
        rater = world.come("judge")
        rater.get("judge")
        assert rater.send("judge", reason="Why.", **form).status_code == 422


def test_no_page_of_a_pairwise_protocol_shows_the_rubric(tmp_path: Path) -> None:
    rubric = load_protocol("rubric")
    with people_world(tmp_path, people=FORCED) as world:
        rater = world.come("judge")
        pages = plain(rater.client.get("/task/judge").text) + plain(rater.get("judge"))
        for axis in AXES:
            assert rubric[axis]["anchor"] not in pages
            assert rubric[axis]["high"] not in pages


def test_a_rating_scores_every_axis_of_one_reply(tmp_path: Path) -> None:
    people = PEOPLE + 'protocol = "rating"\n'
    with people_world(tmp_path, people=people, study=RATED) as world:
        rater = world.come("rate")
        page = plain(rater.get("rate"))
        assert "Reply B" not in page
        scores = {f"axis_{axis}": str(n) for n, axis in enumerate(AXES, start=1)}
        lacking = rater.send("rate", **{**scores, "axis_T": "9"})
        assert lacking.status_code == 422
        done = rater.send("rate", **scores, comment_H="Like a person.")
        assert done.status_code == 303
        (rating,) = world.store.iter(Rating, world.desk.study)
        assert rating.axes == {axis: n for n, axis in enumerate(AXES, start=1)}
        assert rating.comments == {"H": "Like a person."}


MARKS = {f"axis_{axis}": "B" for axis in AXES}
SCORES = {f"axis_{axis}": "4" for axis in AXES}


@pytest.mark.parametrize(
    ("kind", "setting", "typed"),
    [
        ("judge", "", {"choice": "B slightly better", "reason": "It listens."}),
        ("judge", FORCED[len(PEOPLE) :], {"choice": "B", "strength": "4", **MARKS}),
        ("rate", 'protocol = "rating"\n', {**SCORES, "comment_H": "Like a person."}),
    ],
)
def test_a_draft_brings_back_every_field_that_was_filled_in(
    tmp_path: Path, kind: str, setting: str, typed: dict[str, str]
) -> None:
    study = RATED if kind == "rate" else STUDY
    with people_world(tmp_path, people=PEOPLE + setting, study=study) as world:
        rater = world.come(kind)
        rater.get(kind)
        kept = {"ticket": rater.ticket, **typed}
        assert rater.client.post(f"/task/{kind}/draft", data=kept).status_code == 204
        page = rater.get(kind)
        for name, value in typed.items():
            is_chosen = f'name="{name}" value="{value}" checked' in page
            assert is_chosen or f">{value}</textarea>" in page, name


def test_ratings_of_people_alone_are_results(tmp_path: Path) -> None:
    people = PEOPLE + 'protocol = "rating"\n'
    with people_world(tmp_path, people=people, study=RATED) as world:
        for k in range(3):
            rater = world.come("rate")
            rater.get("rate")
            while rater.ticket:
                scores = {f"axis_{axis}": str(1 + (n + k) % 5) for n, axis in enumerate(AXES)}
                rater.send("rate", **scores)
                rater.get("rate")
        results = analyze(world.desk.session, world.desk.study)
        assert results.ratings is not None
        assert {row.system for row in results.ratings.systems} >= {"original", "generic"}


def test_a_balanced_plan_leaves_room_for_what_people_have_yet_to_write(tmp_path: Path) -> None:
    balanced = STUDY.replace(
        'judges = ["cue"]', 'judges = ["cue"]\ndesign = "balanced"\ncomparisons = 3'
    )
    with people_world(tmp_path, study=balanced) as world:
        store, study = world.store, world.desk.study
        plan_judgments(store, study, stored_plan(study), now=world.clock)
        # Three systems, one of them people: three pairs of systems, one comparison of each.
        assert len(store.people.targets(study.id, "judge")) == 1
        for _ in range(2):
            writer = world.come("write")
            for _ in study.item_ids:
                writer.write()
        plan_judgments(store, study, stored_plan(study), now=world.clock)
        pairs = list(store.iter(Pair, study))
        assert {pair.id for pair in pairs} == store.people.targets(study.id, "judge")
        systems = {text.id: text.system_id for text in store.iter(Completion, study)}
        assert len({frozenset(map(systems.get, pair.completion_ids)) for pair in pairs}) == 3
        assert len(pairs) == 3


def test_pairs_that_people_are_to_judge_are_those_they_are_given(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE + "overlap = 0.4\n") as world:
        store, study = world.store, world.desk.study
        plan_judgments(store, study, stored_plan(study), now=world.clock)
        world.come("judge").judge()
        people = analyze(world.desk.session, study).coverage.people
        assert people is not None
        assert people.n_pairs_planned == len(store.people.targets(study.id, "judge")) == 1


DRAWN = "writers_per_item = 0\nraters_per_pair = 3\nsample = 1\n"


def test_so_many_pairs_are_drawn_for_people_before_they_judge_and_stay(tmp_path: Path) -> None:
    with people_world(tmp_path, people=DRAWN) as world:
        store, study = world.store, world.desk.study
        plan_judgments(store, study, stored_plan(study), now=world.clock)
        drawn = store.people.targets(study.id, "judge")
        world.come("judge").judge()

        data = read_data(world.desk.session, study)

        assert study.design["people"]["sample"] == 1
        assert len(drawn) == 1 < len(list(store.iter(Pair, study)))
        assert store.people.targets(study.id, "judge") == data.pairs_of_people == drawn
        people = {one.id for one in data.raters if one.kind == "human"}
        assert {row.pair_id for row in data.judgments if row.rater_id in people} <= drawn


def test_where_people_rate_no_judgments_of_pairs_are_wanted(tmp_path: Path) -> None:
    asked = PEOPLE + 'protocol = "rating"\n'
    with people_world(tmp_path, people=asked, study=RATED) as world:
        people = analyze(world.desk.session, world.desk.study).coverage.people
        assert people is not None
        assert people.wanted_per_pair is None
