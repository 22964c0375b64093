import pytest

from hearteval.analysis.words import count_formatting, count_words


@pytest.mark.parametrize(
    ("text", "n"), [("", 0), ("I hear you.", 3), ("  two\n\twords  ", 2), ("don't — really", 3)]
)
def test_words_are_what_white_space_separates(text: str, n: int) -> None:
    assert count_words(text) == n


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("I am sorry. That sounds hard - truly.", 0),
        ("# Title\n\n### Part\ntext", 2),
        ("#hashtag and # in a line", 0),
        ("- one\n  * two\n+ three\n• four\n1. five\n2) six", 6),
        ("-5 degrees\n1989. It was cold.\n-\n---", 0),
        ("**bold** and __bold__", 2),
        ("*italic* and _italic_ and ***both***", 3),
        ("**bold with *italic* in it**", 2),
        ("2 * 3 * 4 is snake_case_name ** not", 0),
        ("*sighs* I hear you", 1),
        ("use `git log` or `ls`", 2),
        ("```python\n- no entry\n**no bold**\n```\nafter", 1),
        ("~~~\n# never closed", 1),
        ("```one line```", 1),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", 2),
        ("[help](https://example.org/a_b_c) or www.example.org or https://example.org", 3),
        ("❤️ 👍🏽 🇩🇪 1️⃣ 👩‍👩‍👧", 5),
        ("- **Breathe:** 🙂 see [this](x)", 4),
    ],
)
def test_every_formatting_mark_counts_once(text: str, n: int) -> None:
    assert count_formatting(text) == n


def test_joined_texts_have_the_marks_of_both() -> None:
    one, other = "- *a* `b`", "# c\n**d**"
    assert count_formatting(f"{one}\n{other}") == count_formatting(one) + count_formatting(other)


@pytest.mark.parametrize(
    ("part", "n"), [("*a ", 0), ("[a](", 0), ("_a", 0), (" \t", 0), ("`", 1), ("~~~\n", 25_000)]
)
def test_unfinished_marks_of_a_long_text_are_none(part: str, n: int) -> None:
    assert count_formatting(part * 50_000) == n
