"""The form in which raters see replies."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hearteval.domain import display_form, shows_text

MARKS = st.sampled_from(
    [*"*_`#>-+~[]()<>.:;)\\\n \t\u2014\u2013\u2026\u201c\u2019\u00ab\u200d\ufe0f\U0001f600", "1. "]
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I\u2019m \u201chere\u201d", 'I\'m "here"'),
        ("\u00ab Bonjour \u00bb, dit-il", '"Bonjour", dit-il'),
        ("one\u2014two \u2013 three -- four - five", "one - two - three - four - five"),
        ("2\u20133 days, a well\u2011known way", "2-3 days, a well-known way"),
        ("Well\u2026 maybe ... or..no", "Well... maybe... or... no"),
        ("**Bold**, *soft*, _soft_, ~~gone~~ and `code`", "Bold, soft, soft, gone and code"),
        (
            "# A plan\n\n- call a friend\n- sleep\n\nThen rest.",
            "A plan, call a friend, sleep, Then rest.",
        ),
        ("1. Breathe.\n2) Walk.", "Breathe. Walk."),
        ("[this page](https://example.org/a)", "this page"),
        (
            "I am sorry \U0001f614. \u2764\ufe0f Take care \U0001f44b\U0001f3fd",
            "I am sorry. Take care",
        ),
        ("Take care :) and <3 you", "Take care and you"),
        ("2*3*4 and snake_case_name, 5 * 3", "2*3*4 and snake_case_name, 5 * 3"),
        ("One.\r\n\r\n\r\nTwo.  Three.", "One. Two. Three."),
        ("e\u0301te\u0301", "\u00e9t\u00e9"),
        ("\u4f60\u597d\u3002\n\u6211\u5728\u3002", "\u4f60\u597d\u3002 \u6211\u5728\u3002"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
        ("\U0001f600\n\U0001f600", "\U0001f600 \U0001f600"),
    ],
)
def test_what_was_typed_in_many_ways_is_shown_in_one(text: str, shown: str) -> None:
    assert display_form(text, "plain") == shown
    assert display_form(text, "raw") == text


@given(st.lists(MARKS | st.text(max_size=3), max_size=20).map("".join))
@example("- - 1. # x")
def test_the_form_of_a_form_is_the_same_and_never_empty(text: str) -> None:
    shown = display_form(text, "plain")
    assert display_form(shown, "plain") == shown
    assert shows_text(shown) == shows_text(text)
