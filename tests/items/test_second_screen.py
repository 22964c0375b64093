"""What labelers and people say of a candidate settles whether it is an item."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from made_records import made_item, made_label

from hearteval.domain import Item, Label, Screening, Turn
from hearteval.items.accepted import Accepted, accept_items
from hearteval.items.placeholders import find_left, replace_details, settle_beside
from hearteval.items.screen_agreement import agree_on_items
from hearteval.items.screening import Topics, list_screenings, screen_couplets, screen_item
from hearteval.items.second_screen import (
    DELICATE,
    DETAILS,
    ITEM_SCREEN,
    NEEDED,
    REFUSED,
    TOLD,
    Decision,
    Sources,
    decide,
    deciding,
    list_decision,
    needs_person,
    telling,
)
from hearteval.labels.taxonomy import load_taxonomy

NOW = datetime(2026, 11, 23, tzinfo=UTC)
QUESTIONS = load_taxonomy(ITEM_SCREEN)
SOURCES = Sources(labelers={"m1": "gpt", "m2": "reader"}, people={"p1", "p2", "p3"})
GOOD = {key: "present" if key in NEEDED else "absent" for key in QUESTIONS.keys}
GOOD = {**GOOD, "intensity": "3"}


def item(number: int = 0, *, turns: tuple[str, ...] = ("I cannot go back there.",)) -> Item:
    roles = ("seeker", "supporter")
    context = [Turn(role=roles[n % 2], text=text) for n, text in enumerate(turns)]  # type: ignore[arg-type]
    return made_item(
        source="made",
        dialogue_id=f"d{number}",
        turn_index=len(turns) - 1,
        situation="Something at work.",
        context=tuple(context),
        emotion="fear",
        language="en",
        reference="What happened there?",
    )


def labels(
    of: Item, rater: str, said: Mapping[str, str] = GOOD, quotes: Mapping[str, str] | None = None
) -> list[Label]:
    return [
        made_label(
            item_id=of.id,
            taxonomy=ITEM_SCREEN,
            category=key,
            verdict="present" if word.isdigit() else word,
            score=int(word) if word.isdigit() else None,
            evidence=(quotes or {}).get(key, ""),
            rater_id=rater,
        )
        for key, word in said.items()
    ]


def both(of: Item, **said: str) -> list[Label]:
    return [*labels(of, "m1", {**GOOD, **said}), *labels(of, "m2", {**GOOD, **said})]


def decided(of: Item, found: list[Label], topics: Topics = "paper") -> Decision:
    return decide(of, found, SOURCES, topics=topics, taxonomy=QUESTIONS)


def test_every_question_has_one_place() -> None:
    assert {*NEEDED, *REFUSED, *DELICATE, *DETAILS, *TOLD} == {*QUESTIONS.keys}
    assert {*DETAILS} == QUESTIONS.identifying
    for topics in ("paper", "cautious"):
        assert {*deciding(topics), *telling(topics)} == {*QUESTIONS.keys}


def test_what_two_labelers_find_good_is_in() -> None:
    one = item()
    found = decided(one, both(one))
    assert (found.standing, found.reasons, needs_person(found)) == ("in", (), ())


@pytest.mark.parametrize("key", [*NEEDED, *REFUSED])
def test_under_the_topics_of_the_paper_these_leave_a_turn_out(key: str) -> None:
    one = item()
    other = {"present": "absent", "absent": "present"}[GOOD[key]]
    found = decided(one, both(one, **{key: other}))
    assert (found.standing, found.reasons) == ("out", (key,))


@pytest.mark.parametrize("key", DELICATE)
def test_delicate_topics_are_labels_for_the_paper_and_reasons_when_cautious(key: str) -> None:
    one = item()
    said = both(one, **{key: "present"})
    assert decided(one, said).standing == "in"
    assert decided(one, said, "cautious").reasons == (key,)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ({"hate": "present"}, {}, "differ"),
        ({"hate": "uncertain"}, {"hate": "uncertain"}, "uncertain"),
        ({"hate": "uncertain"}, {}, "uncertain"),
    ],
)
def test_what_is_uncertain_or_disputed_waits_for_a_person(
    first: dict[str, str], second: dict[str, str], why: str
) -> None:
    one = item()
    said = [*labels(one, "m1", GOOD | first), *labels(one, "m2", GOOD | second)]
    found = decided(one, said)
    assert (found.standing, found.reasons) == ("waiting", ("hate",))
    assert found.answers["hate"].why == why


def test_what_is_missing_waits_for_a_person() -> None:
    one = item()
    found = decided(one, labels(one, "m1"))
    assert found.standing == "waiting"
    assert {found.answers[key].why for key in found.reasons} == {"missing"}
    assert decided(one, []).standing == "waiting"


def test_one_labeler_alone_never_decides_and_strangers_say_nothing() -> None:
    one = item()
    alone = Sources(labelers={"m1": "gpt"}, people=())
    said = [*labels(one, "m1"), *labels(one, "stranger", {**GOOD, "hate": "present"})]
    found = decide(one, said, alone, topics="paper", taxonomy=QUESTIONS)
    assert found.standing == "waiting"
    assert {found.answers[key].why for key in found.reasons} == {"one labeler"}
    assert "stranger" not in found.answers["hate"].said


@pytest.mark.parametrize(
    ("people", "standing"),
    [
        (["absent"], "in"),
        (["present"], "out"),
        (["present", "absent"], "waiting"),
        (["uncertain"], "waiting"),
        (["uncertain", "absent"], "waiting"),
        (["present", "absent", "absent"], "in"),
        (["present", "uncertain", "present"], "out"),
    ],
)
def test_people_beat_labelers_by_more_than_half_of_them(people: list[str], standing: str) -> None:
    one = item()
    said = both(one, hate="present" if standing == "in" else "absent")
    for number, word in enumerate(people, start=1):
        said += labels(one, f"p{number}", {**GOOD, "hate": word})
    assert decided(one, said).standing == standing


def test_a_turn_that_is_out_anyway_takes_nobodys_time() -> None:
    one = item()
    said = [*labels(one, "m1", {**GOOD, "nsfw": "present", "hate": "present"})]
    said += labels(one, "m2", {**GOOD, "nsfw": "present"})
    found = decided(one, said)
    assert (found.standing, found.reasons, needs_person(found)) == ("out", ("nsfw",), ())


def test_a_label_that_is_disputed_goes_to_a_person_and_holds_nothing_up() -> None:
    one = item()
    said = [*labels(one, "m1", {**GOOD, "trauma": "present"}), *labels(one, "m2")]
    found = decided(one, said)
    assert (found.standing, found.disputed, needs_person(found)) == ("in", ("trauma",), ("trauma",))


@pytest.mark.parametrize(
    ("scores", "score"), [(("3", "4"), 3.5), (("5", "5"), 5.0), (("2", "4"), None)]
)
def test_intensities_a_level_apart_are_the_same(scores: tuple[str, str], score: float) -> None:
    one = item()
    said = [*labels(one, "m1", {**GOOD, "intensity": scores[0]})]
    said += labels(one, "m2", {**GOOD, "intensity": scores[1]})
    found = decided(one, said)
    assert found.answers["intensity"].score == score
    assert found.standing == "in"
    people = [
        *labels(one, "p1", {"intensity": "2"}),
        *labels(one, "p2", {"intensity": "4"}),
        *labels(one, "p3", {"intensity": "5"}),
    ]
    assert decided(one, [*said, *people]).answers["intensity"].score == 4


def test_nobody_is_asked_whether_a_reply_answers_that_is_not_there() -> None:
    one = replace(item(), reference=None)
    assert "reply_answers" not in decided(one, both(one)).answers


# Details that tell who somebody is.

TOLD_TURNS = (
    "Dana Smith says I'm lazy. dana works with me in Lindau.",
    "What did Dana say?",
    "that I am lazy, in front of Jorunn! Call me: +44 20 7946 0018. danas words still hurt",
)
NAMED = {**GOOD, "person_name": "present"}
QUOTES = {"person_name": "Dana Smith", "place_name": "Lindau", "contact": "+44 20 7946 0018"}


def telling_item(quotes: Mapping[str, str] = QUOTES, **more: str) -> Decision:
    one = replace(item(turns=TOLD_TURNS), reference="Dana sounds harsh.", id="")
    found = dict.fromkeys(quotes, "present")
    said = labels(one, "m1", {**GOOD, **found}, quotes)
    said += labels(one, "m2", {**GOOD, **found}, {**quotes, "person_name": "Dana", **more})
    return decided(one, said)


def test_details_give_way_to_placeholders_everywhere_and_the_id_is_made_after() -> None:
    before = telling_item()
    assert before.standing == "identifying"
    after = replace_details(before, QUESTIONS)
    assert [turn.text for turn in after.item.context] == [
        "[name] says I'm lazy. [name] works with me in [place].",
        "What did [name] say?",
        "that I am lazy, in front of Jorunn! Call me: [phone]. [name]s words still hurt",
    ]
    assert after.item.reference == "[name] sounds harsh."
    assert after.item.id != before.item.id
    assert replace(after.item, id="").id == after.item.id
    assert after.by_hand == ()
    logged = {(one.where, one.placeholder, one.n) for one in after.details}
    assert ("context[0]", "[place]", 1) in logged
    assert ("context[2]", "[phone]", 1) in logged
    assert "dana" not in repr(after.details).casefold()


def test_two_people_stay_two_people() -> None:
    after = replace_details(telling_item(person_name="Jorunn"), QUESTIONS)
    assert "in front of [name 2]" in after.item.context[2].text
    assert after.item.context[0].text.startswith("[name] says")


def test_what_cannot_be_replaced_without_reading_is_left_to_a_person() -> None:
    for quote in ("me", " ".join(["Marisol and"] * 5), ""):
        after = replace_details(telling_item({"other_identity": quote}), QUESTIONS)
        assert "other_identity" in after.by_hand
        assert "[detail]" not in repr(after.item)


def test_each_word_of_a_name_gives_way_and_other_spellings_are_left_to_a_person() -> None:
    one = item(turns=("Zo\u00eb O\u2019Hara laughed. Zo\u00eb does. O'Hara\u2019s mother cried.",))
    quotes = {"person_name": "Zo\u00eb O'Hara"}
    said = [found for who in ("m1", "m2") for found in labels(one, who, NAMED, quotes)]
    after = replace_details(decided(one, said), QUESTIONS)
    assert after.item.context[0].text == "[name] laughed. [name] does. [name]\u2019s mother cried."
    assert after.by_hand == ()
    for spelling in ("Zoe O'Hara", "Zo\u200b\u00eb OHara", "\uff3a\uff4f\uff45\u0308 O'Hara"):
        other = item(turns=(f"Zo\u00eb O'Hara laughed, {spelling} did",))
        said = [found for who in ("m1", "m2") for found in labels(other, who, NAMED, quotes)]
        assert replace_details(decided(other, said), QUESTIONS).by_hand == ("person_name",)


def test_what_was_replaced_is_looked_for_though_others_label_since() -> None:
    one = item(turns=TOLD_TURNS)
    said = [found for who in ("m1", "m2") for found in labels(one, who, NAMED, QUOTES)]
    others = Sources(labelers={"9" * 32: "another"}, people=())
    now = decide(one, said, others, topics="paper", taxonomy=QUESTIONS)
    assert now.standing == "waiting"
    assert find_left(now, said, one) == ("person_name",)
    assert find_left(now, labels(one, "m3") + said, one) == ()
    assert find_left(now, said, replace_details(decided(one, said), QUESTIONS).item) == ()


def test_the_rules_find_what_both_labelers_overlook() -> None:
    one = item(turns=("I'm Vincenza, write to sol_77@example.org",))
    found = decided(one, both(one))
    assert found.standing == "identifying"
    assert set(found.reasons) == {"rule e-mail", "rule link", "rule name"}
    after = replace_details(found, QUESTIONS)
    assert after.item.context[0].text == "I'm [name], write to [e-mail]"
    assert decided(after.item, both(after.item)).standing == "in"


def test_an_everyday_word_that_a_rule_takes_for_a_name_is_left_to_a_person() -> None:
    one = item(turns=("They call me more and more, and I need more sleep.",))
    found = decided(one, both(one))
    after = replace_details(found, QUESTIONS)
    assert (found.standing, found.reasons) == ("identifying", ("rule name-given",))
    assert (after.item, after.by_hand) == (one, ("rule name-given",))


def test_people_who_find_no_name_overrule_the_rules() -> None:
    one = item(turns=("I'm Vincenza",))
    assert decided(one, [*both(one), *labels(one, "p1")]).standing == "in"


def test_what_stands_beside_the_conversation_alone_leaves_the_id_and_the_labels() -> None:
    one = replace(
        item(), situation="Trouble in Lindau with Jorunn.", reference="Lindau? Oh.", id=""
    )
    quotes = {"place_name": "Lindau"}
    said = labels(one, "m1", {**GOOD, "place_name": "present"}, quotes)
    said += labels(one, "m2", {**GOOD, "place_name": "present"}, quotes)
    before = decided(one, said)
    after, words = settle_beside(before, QUESTIONS)
    assert before.standing == "identifying"
    assert (after.standing, after.item.id) == ("in", one.id)
    assert (after.item.situation, after.item.reference) == ("", "[place]? Oh.")
    assert words == "[place] in situation, [place] in reference"
    assert settle_beside(telling_item(), QUESTIONS) == (telling_item(), "")
    item_of_rules = replace(before.item, reference="Lindau? Call 555-123-4567.")
    still = replace(before, item=item_of_rules)
    assert settle_beside(still, QUESTIONS) == (still, "")


def test_a_rewritten_item_is_labelled_again_before_it_is_in() -> None:
    before = telling_item()
    after = replace_details(before, QUESTIONS).item
    assert decided(after, both(before.item)[:0]).standing == "waiting"


# The item set.


def accepted(decisions: list[Decision], n: int = 10, **more: tuple[Screening, ...]) -> Accepted:
    return accept_items(
        decisions,
        more.get("before", ()),
        n=n,
        rng=np.random.default_rng(1),
        topics="paper",
        version=QUESTIONS.version,
        replaced={},
    )


def test_an_open_question_leaves_the_edge_unknown_unless_something_was_found() -> None:
    items = [item(number) for number in range(2)]
    unsure = {**GOOD, "minor": "present"}
    found = accepted(
        [
            decided(items[0], [*labels(items[0], "m1"), *labels(items[0], "m2", unsure)]),
            decided(
                items[1],
                [
                    *labels(items[1], "m1", {**GOOD, "abuse": "present"}),
                    *labels(items[1], "m2", {**unsure, "abuse": "present"}),
                ],
            ),
        ]
    )
    assert [one.edge for one in found.items] == [None, ("abuse",)]


def test_an_item_set_holds_what_is_in_with_its_evidence_and_counts_what_was_lost() -> None:
    items = [item(number) for number in range(6)]
    said = {
        0: both(items[0], explicit_cue="present", risk="present"),
        1: both(items[1]),
        2: both(items[2], distress="absent"),
        3: [*labels(items[3], "m1"), *labels(items[3], "m2", {**GOOD, "hate": "present"})],
        4: both(items[4], person_name="present"),
        5: both(items[5], expertise="present", hate="present"),
    }
    found = accepted([decided(items[number], each) for number, each in said.items()])
    assert [one.dialogue_id for one in found.items] == ["d0", "d1"]
    assert [one.cue for one in found.items] == ["explicit", "implicit"]
    assert [one.edge for one in found.items] == [("risk",), ()]
    assert (found.n_requested, found.shortfall) == (10, 8)
    assert found.standings == {"in": 2, "out": 2, "waiting": 1, "identifying": 1}
    lost = {step.rule: step.n_in - step.n_out for step in found.funnel if step.n_in > step.n_out}
    assert lost == {
        "second-distress": 1,
        "second-expertise": 1,
        "second-undecided": 1,
        "second-identifying": 1,
    }
    assert found.funnel[-1].n_out == 2
    assert found.labels["risk"] == 1
    assert (found.labels["abuse"], found.unsettled["abuse"]) == (0, 0)
    by_rule = {one.rule: one for one in found.screenings if one.item_id == items[0].id}
    assert by_rule["second-risk"].verdict == "pass"
    assert by_rule["second-risk"].evidence == "present by gpt and reader"
    assert by_rule["second-distress"].version == f"item-screen-{QUESTIONS.version}"
    (stratum,) = found.strata
    assert (stratum.n_candidates, stratum.n_in, stratum.n_chosen) == (6, 2, 2)


def test_what_was_not_drawn_for_the_second_screen_is_no_quota_of_the_items() -> None:
    one, other = item(1), item(2)
    before = (
        *(
            Screening(item_id=id_, rule="resolved", verdict="pass", evidence="", version="paper-1")
            for id_ in (one.id, other.id)
        ),
        Screening(item_id="x", rule="quota", verdict="fail", evidence="1 of 3", version="paper-1"),
        Screening(item_id="y", rule="resolved", verdict="fail", evidence="", version="paper-1"),
    )
    found = accepted([decided(one, both(one)), decided(other, both(other))], 1, before=before)
    steps = {step.rule: (step.n_in, step.n_out) for step in found.funnel}
    assert steps["resolved"] == (4, 3)
    assert steps["candidates"] == (3, 2)
    assert steps["quota"] == (2, 1)
    assert list(steps).index("candidates") < list(steps).index("second-distress")
    (chosen,) = found.items
    (left,) = {one.id, other.id} - {chosen.id}
    of_left = [(each.rule, each.verdict) for each in found.screenings if each.item_id == left]
    assert of_left == [("quota", "fail")]
    assert ("resolved", "pass") in {
        (each.rule, each.verdict) for each in found.screenings if each.item_id == chosen.id
    }


def test_the_evidence_never_holds_a_detail_or_a_persons_pseudonym() -> None:
    one = item(turns=("Marisol laughed at me.",))
    quotes = {"person_name": "Marisol", "distress": "laughed at me"}
    said = [*labels(one, "m1", {**GOOD, "person_name": "present"}, quotes), *labels(one, "m2")]
    said += labels(one, "p1", quotes={"distress": "laughed at me"})
    (evidence,) = {
        one.evidence
        for one in accepted([decided(one, said)]).screenings
        if one.rule == "second-person-name"
    }
    assert evidence == "absent by a person"
    texts = [screening.evidence for screening in accepted([decided(one, said)]).screenings]
    assert not any("Marisol" in text or "p1" in text for text in texts)
    assert 'present by a person; "laughed at me"' in texts


def test_quotes_that_hold_a_name_are_no_evidence() -> None:
    one = item(turns=("Marisol laughed at me. I'm Vincenza and I left the room.",))
    quotes = {
        "person_name": "Marisol",
        "distress": "MARISOL laughed",
        "unresolved": "left the room",
        "several_replies": "I'm Vincenza",
        "hate": "laughed at me",
    }
    said = [
        label
        for rater in ("m1", "m2")
        for label in labels(
            one, rater, {**GOOD, "person_name": "present", "hate": "present"}, quotes
        )
    ]
    (left_out,) = list_decision(decided(one, said), version="1")
    assert left_out.evidence == 'present by gpt and reader; "laughed at me"'
    people = labels(one, "p1", {**GOOD, "person_name": "absent", "hate": "absent"}, quotes)
    kept = list_decision(decided(one, [*said, *people]), version="1")
    by_rule = {screening.rule: screening.evidence for screening in kept}
    assert by_rule["second-unresolved"] == 'present by a person; "left the room"'
    assert by_rule["second-several-replies"] == "present by a person"


def test_an_item_is_screened_again_as_its_couplet_was() -> None:
    from hearteval.items.esconv import Dialogue, couplet_item  # noqa: PLC0415

    dialogue = Dialogue(
        corpus="esconv",
        dialogue_id="train-0001",
        emotion="fear",
        problem="job crisis",
        situation="",
        turns=(
            *(Turn(role="seeker", text="hi"), Turn(role="supporter", text="hello")),
            Turn(role="seeker", text="I feel so scared of losing my job that I cannot sleep."),
            *(Turn(role="supporter", text="why"), Turn(role="seeker", text="you know")),
            Turn(role="supporter", text="I do."),
        ),
    )
    for screened in screen_couplets(dialogue):
        made = couplet_item(screened.couplet)
        assert screen_item(made, topics="paper") == list_screenings(made.id, screened)


def test_agreement_with_people_is_of_what_they_do_not_leave_open() -> None:
    """Of four items people say present, present, absent, and one says this and one that."""
    items = [item(k) for k in range(4)]
    words = ("present", "present", "absent", "uncertain")
    found = [
        label
        for one, word, by_model in zip(items, words, ("present", "absent") * 2, strict=True)
        for rater, said in (("p1", word), ("p2", "present" if word == "uncertain" else word))
        for label in (
            *labels(one, rater, {"risk": said}),
            *(labels(one, "m1", {"risk": by_model}) if rater == "p1" else ()),
        )
    ]
    agreed = agree_on_items(items, found, SOURCES, QUESTIONS)
    (row,) = (one for one in agreed.questions if one.category == "risk")
    assert (row.one, row.other, row.n_completions, row.n_one, row.n_other) == (
        "gpt",
        "people",
        3,
        2,
        2,
    )
    assert row.same == pytest.approx(1 / 3)
    assert row.f1 is not None
    assert row.f1.value == pytest.approx(2 / 4)
    # Each says so of 2/3: 1/3 observed, 5/9 expected.
    assert row.kappa is not None
    assert row.kappa.value == pytest.approx((1 / 3 - 5 / 9) / (1 - 5 / 9))
