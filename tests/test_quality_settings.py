"""What a study file may say of checks among people's comparisons, and the texts that ship."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest
from study_files import presets, study_text

from hearteval.config import PeopleSettings, load_study
from hearteval.domain import Pair
from hearteval.domain.quality import DEFAULT_RULES
from hearteval.errors import SettingsError
from hearteval.judgments.people_checks import CheckTexts, make_checks
from hearteval.labels.safety import screen_text
from hearteval.protocol import languages, load_protocol

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OWN = """
version = "1"
written_by = "us"
licence = "CC0"
[asks]
this = "Choose this one."
other = "Choose the other one."
same = "Say both are the same."
rating = "Give it {score}."
[[gold]]
name = "one"
situation = "s"
context = ["It hurts."]
good = "What hurts most?"
bad = "Buy a hat then."
[[attention]]
name = "two"
situation = "s"
context = ["It hurts."]
reply = "I see. {asks}"
beside = "Oh well."
choose = "same"
score = 2
"""


def people(folder: Path, quality: str, *, protocol: str = "five-point") -> PeopleSettings:
    path = folder / "study.toml"
    asked = f'\n[people]\nwriters_per_item = 0\nprotocol = "{protocol}"\n{quality}'
    path.write_text(study_text("s", presets("original", "generic"), end=asked), encoding="utf-8")
    found = load_study(path).people
    assert found is not None
    return found


def test_without_the_section_a_study_is_what_it_was(tmp_path: Path) -> None:
    found = people(tmp_path, "")
    assert (found.quality, found.check_texts, found.quality_hash) == (None, {}, None)
    assert "quality" not in found.identity


def test_an_empty_section_asks_for_what_is_usual(tmp_path: Path) -> None:
    found = people(tmp_path, "[people.quality]\n")
    assert found.quality is not None
    assert (found.quality.checks, found.quality.repeats, found.quality.triads) == (2, 0.05, 1)
    assert found.quality.excludes == ["checks", "times"]
    assert found.identity["quality"] == found.quality_hash


@pytest.mark.parametrize(
    "line", ['excludes = ["checks"]', "checks = 3", "p = 0.05", 'checks_from = "own.toml"']
)
def test_each_rule_and_text_is_preregistered_by_the_hash(tmp_path: Path, line: str) -> None:
    (tmp_path / "own.toml").write_text(OWN, encoding="utf-8")
    usual = people(tmp_path, "[people.quality]\n").quality_hash
    assert people(tmp_path, f"[people.quality]\n{line}\n").quality_hash != usual


def test_every_number_of_the_rules_can_be_set(tmp_path: Path) -> None:
    own = people(tmp_path, "[people.quality]\nhurried = 0.7\nagreement = 0.3\n").quality
    assert own is not None
    assert own.rules == dataclasses.replace(DEFAULT_RULES, hurried=0.7, agreement=0.3)


def test_where_its_own_texts_lie_is_no_part_of_the_hash(tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(OWN, encoding="utf-8")
    hashes = {
        people(tmp_path, f'[people.quality]\nchecks_from = "{name}"\n').quality_hash
        for name in ("one.toml", "two.toml")
    }
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("checks = 3\nchecks_within = 3", "checks are fewer than the answers that they come among"),
        ('excludes = ["mood"]', "people.quality.excludes"),
        ("repeats = 0.6", "people.quality.repeats"),
        ("check = 2", "people.quality.check: unknown setting (did you mean 'checks'?)"),
        ('checks_from = "none.toml"', "people.quality.checks_from: none.toml: cannot be read"),
        ('checks_from = "bad.toml"', "people.quality.checks_from: bad.toml: attention.0.reply"),
        ('checks_from = "twice.toml"', "two conversations are named 'one'"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "bad.toml").write_text(OWN.replace(" {asks}", ""), encoding="utf-8")
    (tmp_path / "twice.toml").write_text(OWN.replace('"two"', '"one"'), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        people(tmp_path, f"[people.quality]\n{line}\n")
    assert said in str(caught.value)


def shipped(language: str = "en") -> CheckTexts:
    return CheckTexts.model_validate(load_protocol("people_checks", language))


def test_there_are_enough_checks_for_many_sittings() -> None:
    made = make_checks(shipped(), protocol="five-point", language="en", now=NOW)
    kinds = [check.kind for check in made.checks]
    assert kinds.count("gold") >= 12
    assert kinds.count("attention") >= 8
    assert "no person has checked the keys" in shipped().written_by


@pytest.mark.parametrize("language", languages())
def test_neither_length_nor_signs_tell_which_reply_is_good(language: str) -> None:
    for gold in shipped(language).gold:
        assert abs(len(gold.good) - len(gold.bad)) <= 0.1 * len(gold.good), gold.name
        signs = [sum(text.count(sign) for sign in ".,?!;:") for text in (gold.good, gold.bad)]
        assert abs(signs[0] - signs[1]) <= 1, gold.name
        assert gold.good.endswith("?") == gold.bad.endswith("?"), gold.name


def test_a_rule_screen_holds_none_of_them() -> None:
    said = [reply for one in shipped().gold for reply in (one.good, one.bad, *one.context)]
    said += [text for one in shipped().attention for text in (one.reply, one.beside, *one.context)]
    assert [text for text in said if screen_text(text)] == []


@pytest.mark.parametrize(
    ("protocol", "better"), [("five-point", [0, None]), ("forced-strength", [0, 1])]
)
def test_a_check_knows_its_choice_whichever_reply_stands_first(
    protocol: str, better: list[int | None]
) -> None:
    texts = shipped()
    gold, attention = texts.gold[0], texts.attention[1]
    assert attention.choose == "same"
    own = texts.model_copy(update={"gold": [gold], "attention": [attention]})
    made = make_checks(own, protocol=protocol, language="en", now=NOW)
    for check, place in zip(made.checks, better, strict=True):
        assert isinstance(check.pair, Pair)
        one, other = check.completion_ids
        if place is None:
            assert (check.expected(one), check.expected(other)) == ("tie", "tie")
        else:
            best = check.completion_ids[place]
            assert check.expected(best) == "first"
            assert check.expected(other if best == one else one) == "second"


def test_who_rates_meets_attention_checks_alone() -> None:
    made = make_checks(shipped(), protocol="rating", language="en", now=NOW)
    assert {check.kind for check in made.checks} == {"attention"}
    assert all(check.pair is None for check in made.checks)
    scores = [system.settings["score"] for system in made.systems]
    assert sorted(scores) == [1, 2, 3, 4, 5]
    for check, asked in zip(made.checks, shipped().attention, strict=True):
        (text,) = [one for one in made.completions if one.id == check.completion_ids[0]]
        assert f"the number {asked.score} for every question" in text.text


@pytest.mark.parametrize("language", languages())
def test_each_language_has_the_same_keys(language: str) -> None:
    keys = [(one.choose, one.score) for one in shipped(language).attention]
    assert keys == [(one.choose, one.score) for one in shipped().attention]
    asks = shipped(language).asks
    assert len({asks.this, asks.other, asks.same, asks.rating}) == 4


def test_a_study_has_checks_in_each_language(tmp_path: Path) -> None:
    found = people(tmp_path, "[people.quality]\n").check_texts
    assert set(found) == {*languages()}
    made = [
        make_checks(one, protocol="five-point", language=name, now=NOW)
        for name, one in found.items()
    ]
    assert len({item.id for one in made for item in one.items}) == sum(
        len(one.items) for one in made
    )
