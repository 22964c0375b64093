"""Settings that were asked for and not kept."""

from typing import Any

import pytest

from hearteval.models.base import Usage
from hearteval.models.http import find_dropped, read_echo, used_settings

SENT = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 300}


def test_what_was_sent_is_what_was_used_where_a_reply_says_nothing() -> None:
    assert used_settings(SENT, echo={}, usage=Usage()) == SENT


def test_setting_that_a_reply_repeats_is_what_was_used() -> None:
    used = used_settings(SENT, echo={"temperature": 1.0}, usage=Usage())
    assert used == {**SENT, "temperature": 1.0}


def test_setting_that_was_not_sent_and_is_repeated_was_used() -> None:
    assert used_settings({}, echo={"top_p": 0.9}, usage=Usage()) == {"top_p": 0.9}


@pytest.mark.parametrize(("n_tokens", "kept"), [(300, True), (301, False)])
def test_limit_that_a_reply_passes_was_none(n_tokens: int, kept: bool) -> None:
    used = used_settings(SENT, echo={}, usage=Usage(output_tokens=n_tokens))
    assert ("max_tokens" in used) is kept


@pytest.mark.parametrize("body", [None, [], {"temperature": None}, {"temperature": True}, "0"])
def test_what_is_no_number_is_no_setting(body: Any) -> None:
    assert read_echo(body) == {}


def test_numbers_at_the_top_of_a_body_are_settings() -> None:
    assert read_echo({"temperature": 1, "top_p": 0.98, "n": 1}) == {"temperature": 1, "top_p": 0.98}


def test_setting_with_another_value_is_dropped_and_says_which() -> None:
    found = find_dropped(SENT, {**SENT, "temperature": 1.0}, refuses=())
    assert found == {"temperature": 1.0}


def test_setting_that_is_gone_is_dropped() -> None:
    assert find_dropped(SENT, {"temperature": 0.0, "top_p": 1.0}, refuses=()) == {
        "max_tokens": None
    }


def test_setting_that_the_model_is_known_to_refuse_is_no_news() -> None:
    kept = {"top_p": 1.0, "max_tokens": 300}
    assert find_dropped(SENT, kept, refuses={"temperature"}) == {}


def test_refused_setting_that_was_used_otherwise_is_news() -> None:
    used = {**SENT, "temperature": 1.0}
    assert find_dropped(SENT, used, refuses={"temperature"}) == {"temperature": 1.0}


def test_same_number_in_another_form_is_kept() -> None:
    assert find_dropped({"temperature": 0.0}, {"temperature": 0}, refuses=()) == {}
