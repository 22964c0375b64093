"""People label by a taxonomy; where two differ, a third decides, who sees both and no name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from people_site import STUDY, Visitor, World, people_world, plain

from hearteval.domain import (
    Assignment,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    System,
    plain_text,
)
from hearteval.labels.taxonomy import Category, Taxonomy, load_taxonomy
from hearteval.sections.labels import Labels
from hearteval.sections.reasons import Reasons
from hearteval.sections.reasons.measure import RationaleResults
from hearteval.store.people.tasks import Lease, PlannedTask
from hearteval.study.people.kinds import KINDS
from hearteval.study.people.labelling import kinds_of, label_kind
from hearteval.study.people.planning import choose_sample
from hearteval.study.results import analyze, stored_labels

LABELS = '\n[labels]\npeople = 4\npeople_by = ["micro-skills"]\n'
PEOPLE = "writers_per_item = 1\nraters_per_pair = 0\n"
KEYS = load_taxonomy("micro-skills").keys
LABEL, SETTLE = "label-micro-skills-3", "settle-micro-skills-3"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Four texts to label, three people each at most."""
    with people_world(tmp_path, people=PEOPLE + LABELS) as made:
        yield made


@pytest.fixture(scope="module")
def page_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """For tests in which nobody's answers meet another's."""
    with people_world(tmp_path_factory.mktemp("label"), people=PEOPLE + LABELS) as made:
        yield made


def answers(**said: str) -> dict[str, str]:
    """A form in which everything is absent but for what is said."""
    return {f"is_{key}": said.get(key, "absent") for key in KEYS}


def labels_of(world: World) -> list[Label]:
    return [one for one in world.store.iter(Label) if one.taxonomy == "micro-skills"]


def label(visitor: Visitor, **said: str) -> str:
    """Label the next text; return its id."""
    visitor.get(LABEL)
    lease = lease_of(visitor)
    assert visitor.send(LABEL, **answers(**said)).status_code == 303
    return lease


def lease_of(visitor: Visitor) -> str:
    people = visitor.world.store.people
    person = people.find_name(visitor.name)
    return str(people.find_ticket(person, visitor.ticket).target_id)


def test_a_page_asks_each_category_and_nothing_is_chosen_beforehand(page_world: World) -> None:
    rater = page_world.come(LABEL)
    page = rater.get(LABEL)
    taxonomy = load_taxonomy("micro-skills")
    for one in taxonomy.categories:
        assert one.name in plain(page)
        assert one.definition.replace("seeker", "person") in plain(page)
        assert page.count(f'name="is_{one.key}"') == 3
    assert " checked" not in page
    assert "seeker" not in plain(page)


def test_a_page_tells_no_id_and_no_name(page_world: World) -> None:
    page = page_world.come(LABEL).get(LABEL)
    store = page_world.store
    ids = {one.id for kind in (Completion, Item, System, Rater) for one in store.iter(kind)}
    names = {one.name for one in store.iter(System)} - {"generic"}
    assert len(ids) > 10
    assert not [one for one in {*ids, *names, page_world.desk.study.id} if one in page]


def test_an_answer_is_a_label_of_every_category(world: World) -> None:
    rater = world.come(LABEL)
    page = rater.get(LABEL)
    said = re.search(r"data-quotable>(.*?)</p>", page, re.DOTALL)
    assert said is not None
    words = " ".join(plain(said[1]).split()[:3])
    form = answers(tone_shift="present", generic_warmth="uncertain")
    form |= {"words_tone_shift": f"  {words}\n", "words_boundary_setting": "nobody said this"}
    target = lease_of(rater)
    assert rater.send(LABEL, **form).status_code == 303
    found = {one.category: one for one in labels_of(world)}
    assert set(found) == set(KEYS)
    assert {one.completion_id for one in found.values()} == {target}
    assert (found["tone_shift"].verdict, found["tone_shift"].evidence) == ("present", words)
    assert found["generic_warmth"].verdict == "uncertain"
    assert (found["boundary_setting"].verdict, found["boundary_setting"].evidence) == ("absent", "")
    assert {one.probability for one in found.values()} == {None}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"is_tone_shift": ""}, "answer each of them"),
        ({"is_tone_shift": "perhaps"}, "answer each of them"),
        ({"is_hope": "present"}, "page has changed"),
        ({"is_tone_shift": "present", "words_tone_shift": "never was it said"}, "not in the text"),
        ({"is_tone_shift": "uncertain", "words_tone_shift": "x" * 401}, "fewer words"),
    ],
)
def test_what_is_not_asked_or_not_in_the_text_is_refused(
    page_world: World, change: Mapping[str, str], fault: str
) -> None:
    rater = page_world.come(LABEL)
    rater.get(LABEL)
    refused = rater.send(LABEL, **{**answers(), **change})
    assert refused.status_code == 422
    assert fault in plain(refused.text)
    assert rater.name not in {one.name for one in page_world.store.iter(Rater)}


def test_a_draft_keeps_what_was_answered(page_world: World) -> None:
    rater = page_world.come(LABEL)
    rater.get(LABEL)
    form = {"ticket": rater.ticket, "is_tone_shift": "uncertain", "words_tone_shift": "some"}
    assert rater.client.post(f"/task/{LABEL}/draft", data=form).status_code == 204
    page = rater.get(LABEL)
    assert page.count(" checked") == 1
    assert 'name="is_tone_shift" value="uncertain" checked' in page
    assert 'value="some"' in page


def test_where_two_differ_a_third_sees_both_and_decides(world: World) -> None:
    one, other, third = (world.come(LABEL, SETTLE) for _ in range(3))
    text = label(one, tone_shift="present", generic_warmth="uncertain")
    while label(other, tone_shift="absent") != text:
        pass
    for visitor in (one, other):
        assert "Nothing to do right now" in plain(visitor.get(SETTLE))
    page = plain(third.get(SETTLE))
    assert lease_of(third) == text
    assert page.count("One person") == page.count("The other") == 2
    assert not {one.name, other.name} & set(re.findall(r"P-\w+", page))
    assert third.send(SETTLE, is_tone_shift="present").status_code == 422
    extra = third.send(
        SETTLE,
        is_tone_shift="present",
        is_generic_warmth="absent",
        is_calibrated_directness="absent",
    )
    assert extra.status_code == 422
    decided = {"is_tone_shift": "present", "is_generic_warmth": "absent"}
    assert third.send(SETTLE, **decided).status_code == 303
    assert third.send(SETTLE, **decided).status_code == 303
    (rater,) = (one.id for one in world.store.iter(Rater) if one.name == third.name)
    found = {one.category: one.verdict for one in labels_of(world) if one.rater_id == rater}
    assert found == {"tone_shift": "present", "generic_warmth": "absent"}
    assert "Nothing to do right now" in plain(third.get(SETTLE))


@dataclass(frozen=True, kw_only=True)
class Worked:
    """What three people did: two labelled four texts and differ on two, the third decided."""

    world: World
    texts: Sequence[str]
    """In the order of the second; on the first two they agree."""
    third_can_label: bool
    can_review: bool
    research: str


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worked]:
    with people_world(tmp_path_factory.mktemp("worked"), people=PEOPLE + LABELS) as world:
        one, other, third = (world.come(LABEL, SETTLE) for _ in range(3))
        for _ in range(4):
            label(one, tone_shift="present")
        world.clock.wait(minutes=1)
        texts = [label(other, tone_shift="present" if k < 2 else "absent") for k in range(4)]
        world.clock.wait(minutes=1)
        third.get(LABEL)
        can_label = bool(third.ticket)
        research = plain(world.come("research").client.get("/researcher").text)
        while third.get(SETTLE) and third.ticket:
            verdict = "present" if lease_of(third) == texts[2] else "absent"
            third.send(SETTLE, is_tone_shift=verdict)
        yield Worked(
            world=world,
            texts=texts,
            third_can_label=can_label,
            can_review="Nothing to do" not in plain(world.come("review").get("review")),
            research=research,
        )


def test_two_people_label_each_text_and_a_third_only_settles(worked: Worked) -> None:
    by_text: dict[str, set[str]] = {}
    for one in labels_of(worked.world):
        by_text.setdefault(one.text_id, set()).add(one.rater_id)
    assert [len(by_text[text]) for text in worked.texts] == [2, 2, 3, 3]
    assert len(by_text) == 4
    assert not worked.third_can_label


def test_labels_decide_nothing_about_who_may_read_a_text(worked: Worked) -> None:
    assert not worked.can_review


def test_the_researcher_reads_how_far_they_agree(worked: Worked) -> None:
    # In 2 of 4 times 6 answers they differ.
    said = "Two people labelled 4 texts by micro-skills: 92 % of their answers"
    assert said in worked.research


def test_what_people_settle_is_held_against_a_labeler(worked: Worked) -> None:
    # The labeler finds it in the first of the four, and in the last, where people settled not.
    world, settings = worked.world, load_taxonomy("micro-skills").settings
    reader = Rater(name="reader", kind="llm", family="theirs", settings=settings)
    said = [
        Label(
            completion_id=text,
            taxonomy="micro-skills",
            category=key,
            verdict="present" if key == "tone_shift" and k in (0, 3) else "absent",
            rater_id=reader.id,
            created_at=world.clock(),
        )
        for k, text in enumerate(worked.texts)
        for key in KEYS
    ]
    world.store.add([reader, *said])
    (found,) = analyze(world.desk.session, world.desk.study).found(Labels) or ()
    people = found.people
    assert people is not None
    assert (people.per_text, people.n_people, people.n_labelled) == (2, 3, 4)
    assert (people.n_settled, people.n_open) == (2, 0)
    (row,) = [row for row in found.agreement if row.category == "tone_shift"]
    assert (row.one, row.other, row.n_completions) == ("people", "reader", 4)
    assert row.precision is not None
    assert row.recall is not None
    assert row.f1 is not None
    assert (row.precision.value, row.recall.value) == (1 / 2, 1 / 3)
    assert row.f1.value == pytest.approx(2 / 5)


def test_labels_by_people_of_an_older_version_are_kept_apart(world: World) -> None:
    session, study, taxonomy = world.desk.session, world.desk.study, load_taxonomy("strategies")
    text = next(session.store.iter(Completion, study))
    ann = Rater(name="ann", kind="human", family="human")
    new = Label(
        completion_id=text.id,
        **taxonomy.stamp,
        category="clarification",
        verdict="absent",
        rater_id=ann.id,
        created_at=world.clock(),
    )
    old = replace(new, taxonomy_version=None, verdict="present", id="")
    session.store.add([ann, old, new])
    assert {old, new} <= set(session.store.iter(Label))
    (found,) = [one for one in stored_labels(session, study) if one.taxonomy == "strategies"]
    assert [(row.verdict, row.rater_id) for row in found.people] == [("absent", ann.id)]
    assert label_kind("strategies") == f"label-strategies-{taxonomy.version}"


def test_which_answer_stands_left_is_chance_also_beside_labels_of_a_part(
    page_world: World,
) -> None:
    store, desk = page_world.store, page_world.desk
    ann, ben, cas = (
        Rater(name=name, kind="human", family="human") for name in ("P-ANN", "P-BEN", "P-CAS")
    )
    (kind,) = (one for one in kinds_of(load_taxonomy("micro-skills")) if one.name == SETTLE)
    text = next(iter(store.iter(Completion, desk.study)))
    present = Label(
        completion_id=text.id,
        **load_taxonomy("micro-skills").stamp,
        category="tone_shift",
        verdict="present",
        rater_id=ann.id,
        created_at=page_world.clock(),
    )
    later = page_world.clock() + timedelta(minutes=1)
    absent = replace(present, verdict="absent", rater_id=ben.id, created_at=later, id="")
    sooner = page_world.clock() - timedelta(minutes=1)
    part = replace(
        present, category="generic_warmth", rater_id=cas.id, created_at=sooner, id=""
    )  # as a table brings it in
    store.add([ann, ben, cas, present, absent, part])
    shown = []
    for side in (0, 1):
        lease = Lease(
            "t",
            page_world.desk.study.id,
            "p",
            SETTLE,
            text.id,
            "0" * 32,
            side,
            "held",
            page_world.clock(),
            None,
        )
        found = kind.show(desk, lease)
        assert found is not None
        shown.append([said.answer for said in found.asked.answers["tone_shift"]])
    assert shown == [["present", "absent"], ["absent", "present"]]


def test_writers_do_not_label_their_own_and_withdrawn_texts_are_not_shown(tmp_path: Path) -> None:
    with people_world(tmp_path, people=PEOPLE + LABELS.replace("4", "40")) as world:
        writer = world.come("write", LABEL)
        while writer.write("I hear how heavy this is. What helps?").status_code == 303:
            pass
        written = {c.id for c in world.store.iter(Completion) if c.writer_id == writer.name}
        assert len(written) == 3
        seen = set()
        while writer.get(LABEL) and writer.ticket:
            seen.add(lease_of(writer))
            writer.send(LABEL, **answers())
        assert len(seen) == 5
        assert not seen & written
        other = world.come(LABEL)
        writer.client.post("/withdraw", data={"confirm": "yes"})
        shown = set()
        while other.get(LABEL) and other.ticket:
            shown.add(lease_of(other))
            other.send(LABEL, **answers())
        assert shown == seen


def test_an_item_is_labelled_by_its_conversation_and_a_scale_has_a_score(
    page_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, study = page_world.store, page_world.desk.study
    made = Taxonomy(
        name="made",  # type: ignore[arg-type]
        of=("item",),
        version="1",
        unversioned="1",
        title="made up",
        categories=(
            Category(key="risk", name="Risk", definition="Somebody is in danger."),
            Category(key="strength", name="How strong", definition="D.", levels=("low", "high")),
        ),
    )
    item = next(iter(store.iter(Item, study)))
    for kind in kinds_of(made):
        monkeypatch.setitem(KINDS, kind.name, kind)
    task = {"study_id": study.id, "kind": "label-made", "target_id": item.id}
    store.people.plan([PlannedTask(**task, rank=1, n_places=2)])
    rater = page_world.come("label-made")
    page = plain(rater.get("label-made"))
    assert item.context[0].text in page
    assert "2: high" in page
    words = item.context[-1].text.split(".")[0]
    risk = {"is_risk": "present", "words_risk": words}
    assert rater.send("label-made", **risk, is_strength="3").status_code == 422
    assert rater.send("label-made", **risk, is_strength="absent").status_code == 422
    assert rater.send("label-made", **risk, is_strength="2").status_code == 303
    found = store.labels_by_people("made", [item.id])
    assert {(one.item_id, one.category, one.verdict, one.score, one.evidence) for one in found} == {
        (item.id, "risk", "present", None, plain_text(words)),
        (item.id, "strength", "present", 2, ""),
    }


THEMES = load_taxonomy("rationales")
OF_REASONS, SETTLE_REASONS = "label-rationales-2", "settle-rationales-2"
WITH_REASONS = """writers_per_item = 0
raters_per_pair = 2
[labels]
people = 9
people_by = ["rationales"]
[[judge]]
name = "judge-of-pairs"
model = "imported/some-judge"
family = "some"
"""


def of_themes(verdict: str) -> dict[str, str]:
    """A form in which one theme has a verdict and all others are absent."""
    return {**{f"is_{key}": "absent" for key in THEMES.keys}, "is_asks_detail": verdict}


def give_reasons_as_judge(world: World) -> None:
    """Have a judge give reasons for every pair; a rule holds the first."""
    store, study = world.store, world.desk.study
    (judge,) = (one for one in store.iter(Rater, study) if one.kind == "llm")
    for n, pair in enumerate(store.iter(Pair, study)):
        asked = Assignment(
            study_id=study.id,
            pair_id=pair.id,
            rater_id=judge.id,
            first_completion_id=pair.completion_ids[0],
        )
        words = f"A asks for one detail.{'' if n else ' Call 0171 555 0134.'} Number {n}."
        given = Judgment(
            assignment_id=asked.id,
            choice="first",
            strength=2,
            rationale=words,
            created_at=world.clock(),
        )
        store.add([asked, given])


def read_by_labeler(world: World, present: set[str], texts: set[str]) -> RationaleResults:
    """Have a model label reasons, by whether they ask for detail; return the results."""
    reader = Rater(name="reader", kind="llm", family="theirs", settings=THEMES.settings)
    said = [
        Label(
            judgment_id=text,
            taxonomy=THEMES.name,
            category=key,
            verdict="present" if key == "asks_detail" and text in present else "absent",
            rater_id=reader.id,
            created_at=world.clock(),
        )
        for text in texts
        for key in THEMES.keys
    ]
    world.store.add([reader, *said])
    return found_in(world)


def found_in(world: World) -> RationaleResults:
    found = analyze(world.desk.session, world.desk.study).found(Reasons)
    assert found is not None
    return found


def test_people_label_released_reasons_of_others_and_labelers_are_held_against_them(
    tmp_path: Path,
) -> None:
    study_file = STUDY.replace('["cue"]', '["judge-of-pairs"]')
    with people_world(tmp_path, people=WITH_REASONS, study=study_file) as world:
        store, study = world.store, world.desk.study
        one, other, third, fourth = (
            world.come("judge", OF_REASONS, SETTLE_REASONS) for _ in range(4)
        )
        for visitor in (one, other):
            for n in range(2):
                held = "" if n or visitor is other else " Write to dana@example.org."
                visitor.judge(reason=f"Warm, says {visitor is one}.{held} Number {n}.")
        give_reasons_as_judge(world)
        world.site.written()
        given = {judged.id: judged.rationale for judged in store.iter(Judgment, study)}
        texts = {id_ for id_, words in given.items() if not re.search("dana|0171", words)}
        assert (len(given), len(texts)) == (6, 4)
        assert store.people.targets(study.id, OF_REASONS) == texts
        mine, others = (
            {id_ for id_ in texts if given[id_].startswith(f"Warm, says {is_one}")}
            for is_one in (True, False)
        )
        by_judge = texts - mine - others
        kinds = (Completion, Item, System, Rater)
        secret = {found.id for kind in kinds for found in store.iter(kind)} | given.keys()
        secret |= {found.name for kind in (System, Rater) for found in store.iter(kind)} - {
            "generic"
        }
        seen: dict[str, set[str]] = {}
        for visitor in (one, other, third):
            world.clock.wait(minutes=1)
            seen[visitor.name] = set()
            while (page := visitor.get(OF_REASONS)) and visitor.ticket:
                seen[visitor.name].add(lease_of(visitor))
                assert given[lease_of(visitor)] in plain(page)
                assert not [word for word in {*secret, "seeker"} if word in page]
                verdict = "present" if visitor is one else "absent"
                assert visitor.send(OF_REASONS, **of_themes(verdict)).status_code == 303
        assert list(seen.values()) == [others | by_judge, mine | by_judge, mine | others]
        world.clock.wait(minutes=1)
        settled = set()
        while fourth.get(SETTLE_REASONS) and fourth.ticket:
            settled.add(lease_of(fourth))
            verdict = "present" if lease_of(fourth) in by_judge else "absent"
            fourth.send(SETTLE_REASONS, is_asks_detail=verdict)
        assert settled == others | by_judge
        # Settled in the judge's alone; the labeler finds it there, and once where it is not.
        found = read_by_labeler(world, mine | by_judge, texts)
        assert [source.labeler for source in found.sources] == ["people", "reader"]
        assert found.people is not None
        assert (found.people.n_people, found.people.n_labelled) == (4, 4)
        assert (found.people.n_settled, found.people.n_open) == (3, 0)
        (row,) = [row for row in found.agreement if row.category == "asks_detail"]
        assert (row.one, row.other, row.n_completions) == ("people", "reader", 4)
        measured = [one.value for one in (row.precision, row.recall, row.f1) if one is not None]
        assert measured == pytest.approx([1 / 2, 1, 2 / 3])
        # What somebody withdraws is neither shown nor counted any more.
        other.client.post("/withdraw", data={"confirm": "yes"})
        left = found_in(world).people
        assert left is not None
        assert left.n_labelled == 2
        assert store.people.targets(study.id, OF_REASONS, only_begun=True) == texts


def test_a_sample_gives_each_stratum_its_share_and_keeps_what_was_begun() -> None:
    strata = {
        f"{name}{k}": (name,) for name, n in (("a", 60), ("b", 30), ("c", 2)) for k in range(n)
    }
    chosen = choose_sample(strata, n=31, seed=1, begun=())
    shares = {name: sum(one.startswith(name) for one in chosen) for name in "abc"}
    assert shares == {"a": 20, "b": 10, "c": 1}
    assert choose_sample(dict(reversed(strata.items())), n=31, seed=1, begun=()) == chosen
    assert choose_sample(strata, n=31, seed=2, begun=()) != chosen
    begun = sorted(strata.keys() - chosen)[:5]
    later = choose_sample(strata, n=31, seed=1, begun=begun)
    assert set(begun) < later
    assert len(later) == 31
