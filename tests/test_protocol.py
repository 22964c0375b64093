"""Texts as data: a change of wording is a new version."""

import hashlib
from importlib.resources import files

import pytest
from markupsafe import Markup, escape

from hearteval import protocol
from hearteval.protocol import Untranslated, language_of, languages, load_protocol, text_names

PINNED = {
    "audit_references": ("4", "3c7bed2f950f9294"),
    "baselines": ("1", "c5af0fa5a653c32e"),
    "calibration": ("2", "099c53ded4d6bcd4"),
    "cues": ("2", "f75c8d8e671f7e50"),
    "emotion_words": ("1", "c304f079b050d1d4"),
    "escalation_reader": ("1", "b0af074187ff93f9"),
    "escalation": ("1", "1fa102dbf6562c1d"),
    "help": ("1", "61dcffe6bc691eb8"),
    "injections": ("1", "3dde2d67e637f4b8"),
    "item_screen": ("1", "30bab726326d07f9"),
    "judge_prompt": ("2", "fc74ad86b631fda9"),
    "label_cues": ("2", "561c7458abadc2ff"),
    "label_prompt": ("3", "f26fab67d4e3c0dc"),
    "micro_skills": ("3", "8744878e3addd341"),
    "people_background": ("1", "5b723ef92cc1797f"),
    "people_checks": ("3", "f34d233bb2611eef"),
    "people_consent": ("6", "885bf7a4ecc05d4d"),
    "people_enrolment": ("1", "d687b1149efa073a"),
    "people_judging": ("1", "c2565b3da8dc8fc0"),
    "people_labelling": ("1", "0ce02345f00ff5bf"),
    "people_review": ("1", "269e95ad590d9ccb"),
    "people_writing": ("2", "e5a97f5f28d55ec0"),
    "rating_prompt": ("2", "99d522e90d4ee9d4"),
    "published": ("1", "010aff8691ccfa1e"),
    "rationales": ("2", "e7f02907b179e60b"),
    "replies": ("2", "f3ea1a62ed36da6b"),
    "rubric": ("3", "02152b0c460b1a87"),
    "rubric_paper": ("1", "5f7b47dc06e1d722"),
    "safety": ("3", "67239ba844b2235a"),
    "safety_labels": ("2", "68cea833029c0c9b"),
    "screening": ("1", "eea97a0c43c15be9"),
    "screening_paper": ("paper-1", "89c1b36affc628c5"),
    "stress": ("2", "baa6fbe726964735"),
    "strategies": ("4", "5af3800e3a5f82ba"),
    "support_prompt": ("2", "77fb2b74b26985d4"),
    "warm_phrases": ("1", "65f637ccd3e84850"),
}
"""By file, its version and the first digits of its SHA-256; a changed text is a new version.

A text that is added to a file changes the digits alone: what was said before is said as before.
"""


@pytest.mark.parametrize("name", PINNED)
def test_a_changed_text_has_a_new_version(name: str) -> None:
    text = (files(protocol) / f"{name}.toml").read_bytes()
    assert (load_protocol(name)["version"], hashlib.sha256(text).hexdigest()[:16]) == PINNED[name]


def test_every_text_is_pinned() -> None:
    assert set(text_names()) == set(PINNED)


def test_an_unknown_text_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        load_protocol("absent")


def test_what_a_language_lacks_is_english_and_marked_on_a_page() -> None:
    english, other = load_protocol("people_review"), load_protocol("people_review", "xx")
    assert other["version"] == f"{english['version']}-xx-0"
    assert {**other, "version": ""} == {**english, "version": ""}
    marked = Markup(escape(other["question"]))
    assert marked == f'<span lang="en" class="untranslated">{english["question"]}</span>'


def test_words_with_values_put_in_stay_marked_and_values_are_escaped() -> None:
    found = Untranslated("{n} sent").format(n="<b>")
    assert escape(found) == '<span lang="en" class="untranslated">&lt;b&gt; sent</span>'
    assert str(found) == "<b> sent"


def test_languages_begin_with_english() -> None:
    assert languages()[0] == "en"
    assert language_of("de-AT") == "de"
