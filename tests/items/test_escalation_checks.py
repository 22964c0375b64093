"""Each planted error in a rewrite is caught, by its own rule and no other."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from escalating_server import source_item

from hearteval.domain import Profile, Turn
from hearteval.domain.items import RESISTANCES, Edge
from hearteval.errors import InvalidReplyError, SettingsError
from hearteval.items.escalation.by_person import format_table, is_whole, parse_table, read_table
from hearteval.items.escalation.checks import (
    Fit,
    Reading,
    check_reading,
    check_text,
    supporter_hash,
)
from hearteval.items.escalation.outcome import rewrite_id, rewritten_item
from hearteval.items.escalation.plan import Planned
from hearteval.items.escalation.prompt import (
    reading_messages,
    reading_schema,
    rewrite_messages,
    rewrite_schema,
)
from hearteval.items.escalation.reply import read_reading, read_rewrite
from hearteval.items.escalation.rules import REWRITE_RULES
from hearteval.items.files import format_items, parse_items
from hearteval.models.base import Reply
from hearteval.protocol import load_protocol

SOURCE = source_item()
PLANNED = Planned(source=SOURCE, profile="mid-ramp", resistance="yes-but")
REWRITTEN = {
    1: "My manager moved me to the warehouse. You wouldn't know what that is like.",
    3: "Told you, nothing. My name on the warehouse list by the kitchen, is that so hard to grasp?",
    5: "My colleagues look away, what else! Yes but you'd say something wise in the kitchen.",
    7: "There was one, tried, useless. We nod in the kitchen. Your warehouse of tips is a joke.",
}


def context(changed: Mapping[int, str] | None = None, **others: Turn) -> tuple[Turn, ...]:
    texts = REWRITTEN | dict(changed or {})
    return tuple(
        Turn(role=turn.role, text=texts.get(place, turn.text))
        for place, turn in enumerate(SOURCE.context)
    )


def failed(found: Sequence[Turn]) -> list[str]:
    return [one.rule for one in check_text(SOURCE, found) if not one.is_pass]


def test_a_good_rewrite_passes_every_rule_of_the_text() -> None:
    findings = check_text(SOURCE, context())
    assert [one.rule for one in findings] == list(REWRITE_RULES[:-5])
    assert all(one.is_pass for one in findings)


GREETING = SOURCE.context[0]
OPENING = Turn(role="supporter", text="The weather is bad.")
CHANGED = SOURCE.context[4].text.replace("see the list", "see the lost")


@pytest.mark.parametrize(
    ("found", "rules"),
    [
        (context({4: CHANGED}), ["supporter-unchanged"]),
        (context({0: GREETING.text.lower()}), ["supporter-unchanged"]),
        (context()[:-1], ["turn-count", "seeker-last"]),
        ((OPENING, *context()[1:]), ["greeting-first", "supporter-unchanged"]),
        (
            (*context()[:3], Turn(role="supporter", text="Go on."), *context()[4:]),
            ["alternation", "supporter-unchanged"],
        ),
        (
            context(dict.fromkeys((1, 3, 5, 7), "You are no use at all. Say something clever.")),
            ["situation-kept"],
        ),
        (context({5: REWRITTEN[5] + " Like that fool Zebedee in the kitchen."}), ["no-new-names"]),
        (context({5: REWRITTEN[5] + " my sister emma says so"}), ["no-new-names"]),
        (context({7: REWRITTEN[7] + " Ask Jennifer."}), ["no-new-names", "identifying"]),
        (context({7: REWRITTEN[7] + " call me on 0171 555 0199"}), ["identifying"]),
        (context({3: REWRITTEN[3] + " i want to die"}), ["self-harm"]),
        (context({3: REWRITTEN[3] + " you faggot"}), ["hate"]),
        (context({3: REWRITTEN[3] + " you fucker"}), ["nsfw"]),
        (context({3: REWRITTEN[3] + " I know where you live."}), ["threat"]),
        (context({3: REWRITTEN[3] + " i'm going to hurt you"}), ["threat"]),
    ],
)
def test_a_planted_error_is_caught_by_its_own_rule(
    found: tuple[Turn, ...], rules: list[str]
) -> None:
    assert failed(found) == rules


def test_evidence_of_identity_names_the_kind_and_never_the_text() -> None:
    findings = check_text(SOURCE, context({7: REWRITTEN[7] + " call me on 0171 555 0199"}))
    (found,) = (one for one in findings if one.rule == "identifying")
    assert found.evidence == "turn 8: phone"


def test_help_that_is_found_is_no_threat_and_shouting_names_nobody() -> None:
    assert failed(context({3: REWRITTEN[3] + " I'LL NEVER find you a reason."})) == []
    assert failed(context({3: REWRITTEN[3] + " so I'll find you a mirror"})) == []


def test_the_hash_of_the_supporter_sees_every_letter_and_no_seeker() -> None:
    assert supporter_hash(context()) == supporter_hash(SOURCE.context)
    assert supporter_hash(context({4: CHANGED})) != supporter_hash(SOURCE.context)


BACKWARDS = ["quiet-start", "hostile-end", "intensity-order", "profile-shape"]
SHAPELESS = ["quiet-start", "intensity-order", "profile-shape"]


def reading(intensities: Sequence[int], fits: Sequence[Fit] = ("yes", "yes", "yes")) -> Reading:
    return Reading(
        intensities=dict(zip((1, 3, 5, 7), intensities, strict=True)),
        fits=dict(zip((2, 4, 6), fits, strict=True)),
        evidence={},
        by="r",
    )


@pytest.mark.parametrize(
    ("profile", "read", "rules"),
    [
        ("mid-ramp", (2, 2, 6, 10), []),
        ("mid-ramp", (2, 3, 6, 9), []),  # ranks 1.5 1.5 3 4 and 1 2 3 4: rho .95
        # In order, but r = .995 with the straight line and .962 with the planned curve.
        ("mid-ramp", (1, 3, 5, 8), ["profile-shape"]),
        ("mid-spike", (2, 2, 6, 10), ["profile-shape"]),
        ("linear-ramp", (2, 2, 9, 10), ["profile-shape"]),
        # Ranks 1 2 3.5 3.5 and 1 2.5 2.5 4: rho .83.
        ("mid-spike", (1, 8, 9, 9), []),
        ("always-10", (8, 10, 9, 8), []),
        ("always-10", (8, 7, 10, 10), ["intensity-order"]),
        ("linear-ramp", (10, 7, 5, 2), BACKWARDS),
        ("linear-ramp", (2, 9, 4, 9), ["intensity-order", "profile-shape"]),  # rho .63
        ("mid-spike", (9, 9, 2, 9), SHAPELESS),
        ("linear-ramp", (9, 9, 9, 9), SHAPELESS),
        ("mid-ramp", (8, 8, 9, 10), ["quiet-start"]),
        ("mid-ramp", (1, 1, 5, 7), ["hostile-end"]),
    ],
)
def test_the_order_of_intensities_is_confirmed_by_who_does_not_know_it(
    profile: Profile, read: tuple[int, ...], rules: list[str]
) -> None:
    findings = check_reading(replace(PLANNED, profile=profile), reading(read))
    assert [one.rule for one in findings if not one.is_pass] == rules
    assert [one.rule for one in findings] == list(REWRITE_RULES[-5:])


def test_a_supporter_turn_that_no_longer_fits_rejects_and_an_uncertain_one_is_noted() -> None:
    misfit = check_reading(PLANNED, reading((2, 2, 6, 10), ("yes", "no", "uncertain")))
    assert [one.rule for one in misfit if not one.is_pass] == ["coherence"]
    assert misfit[-1].evidence == "turn 3 yes; turn 5 no; turn 7 uncertain"
    unsure = check_reading(PLANNED, reading((2, 2, 6, 10), ("yes", "yes", "uncertain")))
    assert all(one.is_pass for one in unsure)


def test_a_rewritten_item_keeps_its_source_and_has_no_reference() -> None:
    item = rewritten_item(PLANNED, context(), by="gpt")
    assert (item.source, item.dialogue_id, item.turn_index) == ("made", "dialogue-001", 7)
    assert (item.subset, item.profile, item.resistance) == ("adversarial", "mid-ramp", "yes-but")
    assert item.intensities == (2, 2, 6, 10)
    assert item.reference is None
    assert item.id != SOURCE.id
    assert "rewritten by the language model gpt: nobody said them" in item.consent_basis
    assert parse_items(format_items([item]), name="x") == (item,)


def test_what_was_found_at_the_edge_of_a_source_stays_and_that_nothing_was_does_not() -> None:
    cases: tuple[tuple[tuple[Edge, ...] | None, tuple[Edge, ...] | None], ...] = (
        (("risk",), ("risk",)),
        ((), None),
        (None, None),
    )
    for before, after in cases:
        planned = replace(PLANNED, source=replace(SOURCE, edge=before))
        assert rewritten_item(planned, context(), by="gpt").edge == after


def test_the_prompt_to_rewrite_gives_the_curve_and_holds_material_apart() -> None:
    (_, system), (_, user) = rewrite_messages(PLANNED, seed=1)
    assert "turn 2: 2; turn 4: 2; turn 6: 6; turn 8: 10." in user
    assert "How the seeker resists: yes, but." in user
    assert SOURCE.situation in user
    assert '"turn_2": "…"' in system
    assert "turn_3" not in system
    again = rewrite_messages(PLANNED, seed=1, fault="threat")
    assert again[1][1].startswith(user)
    assert "the seeker threatens the supporter" in again[1][1]


def test_the_reader_is_told_nothing_of_the_plan() -> None:
    told = [
        reading_messages(context(), rewrite_id(one, context()), seed=1)
        for one in (PLANNED, replace(PLANNED, profile="always-10", resistance="despair"))
    ]
    code = [text.split("The code of the markers is ")[1][:16] for _, (_, text) in told]
    assert code[0] != code[1]
    assert told[0][1][1].replace(code[0], "") == told[1][1][1].replace(code[1], "")
    said = "".join(text for _, text in told[0]).lower()
    assert not any(word in said for word in ("profile", "rewrit", "mid-ramp", "yes-but", "ramp"))


def test_every_kind_and_every_reason_has_its_words() -> None:
    prompt = load_protocol("escalation")
    assert set(prompt["resistance"]) == set(RESISTANCES)
    assert set(REWRITE_RULES) < set(prompt["repair"]["errors"])


def test_schemas_ask_for_the_seekers_turns_and_for_all_that_is_read() -> None:
    assert rewrite_schema(SOURCE.context)["required"] == ["turn_2", "turn_4", "turn_6", "turn_8"]
    asked = reading_schema(SOURCE.context)
    assert asked["required"] == [f"turn_{n}" for n in range(2, 9)]
    assert asked["properties"]["turn_2"]["properties"]["intensity"]["enum"] == [*range(11)]


def rewrite_reply(**changed: Any) -> Reply:
    turns = {f"turn_{place + 1}": text for place, text in REWRITTEN.items()} | changed
    return Reply(text=json.dumps({key: text for key, text in turns.items() if text is not ...}))


def test_a_reply_gives_the_seekers_turns_and_the_supporters_stay() -> None:
    assert read_rewrite(rewrite_reply(turn_4=f" {REWRITTEN[3]}\n"), PLANNED) == context()


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (rewrite_reply(turn_3="That sounds awful."), "wrong-keys"),
        (rewrite_reply(turn_8=...), "wrong-keys"),
        (rewrite_reply(turn_8=" "), "not-text"),
        (rewrite_reply(turn_8=["a"]), "not-text"),
        (rewrite_reply(turn_8="x" * 2_000), "not-text"),
        (Reply(text="Sure! {}"), "not-json"),
        (Reply(text="", refusal="I can't help with that."), "refused"),
        (Reply(text='{"turn_2": "a', finish_reason="length"), "truncated"),
    ],
)
def test_a_reply_that_is_no_rewrite_is_none(reply: Reply, fault: str) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        read_rewrite(reply, PLANNED)
    assert caught.value.reason == fault
    assert fault in load_protocol("escalation")["repair"]["errors"]


def reading_reply(**changed: Any) -> Reply:
    said: dict[str, Any] = {}
    for n in range(2, 9):
        if n % 2:
            said[f"turn_{n}"] = {"evidence": REWRITTEN[n - 2][:12], "fits": "yes"}
        else:
            said[f"turn_{n}"] = {"evidence": REWRITTEN[n - 1][:12], "intensity": n}
    return Reply(text=json.dumps(said | changed))


def test_a_reading_is_numbers_and_fits_with_evidence() -> None:
    found = read_reading(reading_reply(), context(), by="r")
    assert found.intensities == {1: 2, 3: 4, 5: 6, 7: 8}
    assert found.fits == {2: "yes", 4: "yes", 6: "yes"}
    assert found.evidence[7] == "There was on"


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"turn_4": {"evidence": "words nobody wrote", "intensity": 4}}, "evidence-not-in-text"),
        # The seeker's turn before it is what an answer has to fit.
        ({"turn_5": {"evidence": REWRITTEN[5][:9], "fits": "yes"}}, "evidence-not-in-text"),
        ({"turn_4": {"evidence": "", "intensity": 4}}, "no-evidence"),
        ({"turn_5": {"evidence": "", "fits": "no"}}, "no-evidence"),
        ({"turn_4": {"evidence": "", "intensity": 11}}, "wrong-intensity"),
        ({"turn_4": {"evidence": "", "intensity": "2"}}, "wrong-intensity"),
        ({"turn_4": {"evidence": "", "intensity": 2.0}}, "wrong-intensity"),
        ({"turn_5": {"evidence": "", "fits": "maybe"}}, "wrong-fit"),
        ({"turn_5": {"evidence": 3, "fits": "yes"}}, "wrong-evidence"),
        ({"turn_5": {"fits": "yes", "evidence": ""}}, "wrong-order"),
        ({"turn_9": {"evidence": "", "intensity": 2}}, "wrong-keys"),
        ({"turn_4": 4}, "not-an-object"),
    ],
)
def test_a_reply_that_is_no_reading_is_none(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidReplyError) as caught:
        read_reading(reading_reply(**changed), context(), by="r")
    assert caught.value.reason == fault
    assert fault in load_protocol("escalation_reader")["repair"]["errors"]


def test_evidence_may_be_empty_where_nothing_is_claimed() -> None:
    quiet = {"evidence": "", "intensity": 2}
    unsure = {"evidence": "", "fits": "uncertain"}
    found = read_reading(reading_reply(turn_2=quiet, turn_3=unsure), context(), by="r")
    assert (found.intensities[1], found.fits[2]) == (2, "uncertain")


def filled(text: str, intensities: Sequence[str], fits: Sequence[str]) -> str:
    left, right = iter(intensities), iter(fits)
    lines = []
    for line in text.splitlines():
        if line.endswith(",,-"):
            line = f"{line[:-3]},{next(left)},-"  # noqa: PLW2901 - one cell of it
        elif line.endswith(",-,"):
            line = f"{line[:-3]},-,{next(right)}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def test_a_person_reads_a_table_that_names_no_profile() -> None:
    own = rewrite_id(PLANNED, context())
    empty = format_table({}, {own: context()})
    assert empty.count(own) == 8
    assert not any(word in empty for word in ("mid-ramp", "yes-but", SOURCE.id))
    assert read_table(parse_table(empty, name="t"), name="t") == {}
    text = filled(empty, ("2", "3", "6", "10"), ("yes", "uncertain", "No"))
    found = read_table(parse_table(text, name="t"), name="t")[own]
    assert found.intensities == {1: 2, 3: 3, 5: 6, 7: 10}
    assert found.fits == {2: "yes", 4: "uncertain", 6: "no"}
    # What is filled in stays when more is to be read.
    more = format_table(parse_table(text, name="t"), {own: context(), "f" * 32: context()})
    assert read_table(parse_table(more, name="t"), name="t") == {own: found}


def test_a_row_that_is_taken_out_or_passed_over_is_no_answer_and_is_asked_for_again() -> None:
    own = rewrite_id(PLANNED, context())
    text = filled(
        format_table({}, {own: context()}), ("2", "3", "6", "10"), ("yes", "uncertain", "No")
    )
    whole = read_table(parse_table(text, name="t"), name="t")[own]
    assert is_whole(whole, context())
    lines = text.splitlines()
    for cut in ("\n".join(lines[:-1]), "\n".join(lines[:3] + lines[4:]), text.replace("No", "-")):
        rows = parse_table(cut, name="t")
        assert not is_whole(read_table(rows, name="t")[own], context())
        restored = parse_table(format_table(rows, {own: context()}), name="t")
        assert read_table(restored, name="t") == {}
        cells = [row[column] for row in restored[own] for column in ("intensity", "fits")]
        assert (len(cells), cells.count("")) == (16, 1)


def test_a_persons_table_with_a_wrong_cell_says_where() -> None:
    empty = format_table({}, {rewrite_id(PLANNED, context()): context()})
    text = filled(empty, ("2", "11", "6", "10"), ("yes", "maybe", "no"))
    with pytest.raises(SettingsError) as caught:
        read_table(parse_table(text, name="t.csv"), name="t.csv")
    assert "turn 4: intensity: expected a whole number from 0 to 10, not '11'" in str(caught.value)
    assert "turn 5: fits: expected one of yes, no, uncertain, not 'maybe'" in str(caught.value)
    with pytest.raises(SettingsError, match="lacks the column 'rewrite'"):
        parse_table("a,b\n1,2\n", name="t.csv")


def test_a_table_that_a_spreadsheet_saved_with_semicolons_is_read() -> None:
    empty = format_table({}, {"a" * 32: context()})
    text = filled(empty, ("2", "3", "6", "10"), ("yes", "yes", "yes"))
    rows = parse_table(text, name="t")
    cells = [list(rows["a" * 32][0])] + [[*row.values()] for row in rows["a" * 32]]
    saved = "\r\n".join(";".join(f'"{cell}"' for cell in row) for row in cells)
    assert read_table(parse_table(saved, name="t"), name="t") == read_table(rows, name="t")
