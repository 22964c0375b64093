"""The texts in other languages: nothing is missing or left over, and each says who wrote it."""

from importlib.resources import files

import pytest

from hearteval import protocol
from hearteval.protocol import ENGLISH, is_checked, languages, load_protocol, read_translation
from hearteval.protocol.translations import OF_MODELS, OF_PEOPLE, find_gaps, unknown_entries
from hearteval.web.pages import name_of, words_in

OTHERS = [one for one in languages() if one != ENGLISH]


def test_german_is_one_of_them() -> None:
    assert "de" in OTHERS


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_entry_with_the_same_values_to_be_put_in(language: str) -> None:
    assert find_gaps(language) == {}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_no_entry_that_nobody_reads(language: str) -> None:
    assert unknown_entries(language) == []
    found = {path.name for path in (files(protocol) / language).iterdir()}
    assert found == {f"{name}.toml" for name in (*OF_PEOPLE, *OF_MODELS)}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_says_in_each_file_and_on_each_page_that_nobody_has_checked_it(
    language: str,
) -> None:
    said = [read_translation(name, language)["translation"] for name in (*OF_PEOPLE, *OF_MODELS)]
    assert all(one["by"] == "a language model" and not one["checked_by"] for one in said)
    assert not is_checked(language)
    for path in (files(protocol) / language).iterdir():
        assert "nobody has checked it" in path.read_text(encoding="utf-8").splitlines()[0]


def test_gaps_are_found_where_a_text_or_a_value_is_missing() -> None:
    gaps = find_gaps("xx")
    assert set(gaps) == {*OF_PEOPLE, *OF_MODELS}
    assert "rest.text" in gaps["people_consent"]


def test_a_language_calls_itself_by_its_own_name() -> None:
    assert [name_of(one) for one in ("en", "de")] == ["English", "Deutsch"]


def test_a_text_names_its_version_and_that_of_the_english() -> None:
    english = load_protocol("people_review")["version"]
    own = read_translation("people_review", "de")["version"]
    assert words_in("de")["review"]["version"] == f"{english}-de-{own}"
