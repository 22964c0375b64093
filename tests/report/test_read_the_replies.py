"""Read the replies: what a comparison says, what fits, and that text stays text."""

import dataclasses
import re
from itertools import pairwise

import pytest
from invented_replies import invented_item, invented_reading, invented_verdict, readings_of
from invented_results import invented_results, with_board
from test_page import OUTSIDE, outline, words

from hearteval.analysis.study import StudyResults
from hearteval.domain import AXIS_NAMES, Axis, AxisMark, Choice, Turn
from hearteval.report.page import MAX_BYTES, render_page
from hearteval.report.page.folder import folder_pages
from hearteval.report.page.links import ALL, pair_key, system_page
from hearteval.report.page.replies import Reading, Shown, lines, order_words

HOSTILE = """</q></details><script>alert(1)</script><img src=x onerror="x()">
<!--matrix--><!--replies-->{{ results }}\N{RIGHT-TO-LEFT OVERRIDE}\x00\x1b[31m"""


def board_systems(results: StudyResults) -> list[str]:
    assert results.leaderboard is not None
    return [row.system for row in results.leaderboard.rows]


def page_with(*readings: Reading, large: bool = False, folder: str | None = None) -> str:
    shown = Shown(readings=readings, folder=folder)
    results = invented_results(large=large)
    examples = tuple(one.example for one in readings)
    return render_page(dataclasses.replace(results, examples=examples), shown)


def test_comparison_shows_dialogue_both_replies_and_every_verdict() -> None:
    reading = invented_reading("generic", "original")
    text = words(page_with(reading))
    for said in (*(turn.text.strip() for turn in reading.item.context), *reading.texts):
        assert said in text
    assert "Situation 0: a quarrel nobody ended." in text
    for judge in ("juniper", "larch-2"):
        assert f"{judge} chose generic (strength 4) with generic shown first" in text
    assert text.count("It names the loss before it asks.") == 4 * 2
    assert "Attunement, Resonance and Task-following: generic, 4." in text


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (("first", "second"), "chose a both ways, strength 4 and 4"),
        (("second", "first"), "chose b both ways, strength 4 and 4"),
        (("tie", "tie"), "saw no difference, both ways"),
        (
            ("first", "first"),
            "chose a (strength 4) with a shown first and chose b (strength 4) with b shown first:"
            " it changed with the order",
        ),
        (
            ("first", "tie"),
            "chose a (strength 4) with a shown first and saw no difference with b shown first:"
            " it changed with the order",
        ),
    ],
)
def test_verdicts_in_both_orders_are_told_in_words(
    choices: tuple[Choice, Choice], said: str
) -> None:
    verdicts = [
        invented_verdict("gpt", *ends, choice)
        for ends, choice in zip((("a", "b"), ("b", "a")), choices, strict=True)
    ]
    ((rater, words_of, _),) = invented_reading("a", "b", verdicts=verdicts).rater_words
    assert (rater, words_of) == ("gpt", said)


def test_verdict_in_one_order_names_that_order() -> None:
    verdicts = [invented_verdict("gpt", "b", "a", "second", strength=2)]
    ((_, words_of, _),) = invented_reading("a", "b", verdicts=verdicts).rater_words
    assert words_of == "chose a (strength 2) with b shown first"


def test_axes_with_one_mark_stand_together() -> None:
    verdict = invented_verdict("gpt", "a", "b", "first", strength=2)
    axes: dict[Axis, AxisMark] = {
        "H": AxisMark("second", 3),
        "A": AxisMark("tie", None),
        "R": AxisMark("second", 3),
    }
    judgment = dataclasses.replace(verdict.judgment, axes=axes)
    assert dataclasses.replace(verdict, judgment=judgment).marks(AXIS_NAMES) == [
        ("b, 3", ["Human Alignment", "Resonance"]),
        ("no difference", ["Attunement"]),
    ]


def test_outcome_counts_the_verdicts() -> None:
    ends = (("a", "b"), ("b", "a"))
    split = [invented_verdict("x", *two, "first") for two in ends]
    clear = [invented_verdict("y", *ends[0], "second"), invented_verdict("y", *ends[1], "first")]
    assert invented_reading("a", "b", verdicts=[*split, *clear]).outcome == "3 for b and 1 for a"
    assert invented_reading("a", "b", verdicts=split).outcome == "1 for a and 1 for b, by the order"
    assert invented_reading("a", "b", verdicts=clear).outcome == "both verdicts for b"
    assert invented_reading("a", "b", verdicts=clear[:1]).outcome == "one verdict for b"
    people = [dataclasses.replace(one, is_person=True) for one in split]
    both = invented_reading("a", "b", verdicts=[*people, *clear])
    assert both.outcome == "people: 1 for a and 1 for b, by the order; judges: both verdicts for b"


def test_text_of_models_and_people_stays_text() -> None:
    item = dataclasses.replace(
        invented_item(0), situation=HOSTILE, context=(Turn(role="seeker", text=HOSTILE),)
    )
    verdicts = [invented_verdict("<i>judge", "a", "b", "first", reason=HOSTILE)]
    reading = invented_reading("a", "b", item=item, texts=(HOSTILE, HOSTILE), verdicts=verdicts)
    page = page_with(reading)
    parsed = outline(page)
    assert (parsed.misnested, parsed.open) == ([], [])
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert OUTSIDE.search(re.sub(r"src=x", "", page)) is None
    assert "\x00" not in page
    assert "\x1b" not in page
    assert "{{ results }}" in words(page)
    assert page.count('id="head-to-head"') == page.count('id="replies"') == 1


def test_paragraphs_are_kept_and_emoji_left_whole() -> None:
    family = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}"
    assert lines(f"One.\r\n\n\tTwo {family}\x07") == [
        "One.",
        f"Two {family}\N{REPLACEMENT CHARACTER}",
    ]


def test_a_dialogue_shows_its_last_turn_and_folds_the_others() -> None:
    item = invented_item(0, n_turns=31)
    page = page_with(invented_reading("generic", "original", item=item))
    folded = page[page.index("Situation and 30") : page.index('<div class="both">')]
    before, last = folded.split("</details>")
    assert [turn.text.strip() in words(before) for turn in item.context[:-1]] == [True] * 30
    assert item.context[-1].text.strip() in words(last)


def test_three_comparisons_stand_open_and_the_others_are_folded() -> None:
    page = page_with(*readings_of(board_systems(invented_results()), n_each=1))
    opened, folded = page.split('<details class="others">')
    assert opened.count('<details class="reading"') == 3
    assert len(re.findall(r'<details class="reading"[^>]* open ', opened)) == 3
    assert folded.count('<details class="reading"') == 12
    assert re.search(r'<details class="reading"[^>]* open ', folded) is None
    assert "12 more comparisons" in words(folded)


def test_twelve_long_dialogues_fit_beside_eighteen_systems() -> None:
    """Three judges in both orders and five people, with reasons as long as models give."""
    systems = sorted(board_systems(invented_results(large=True)))
    said = " ".join(["It names what was lost before it asks anything of the seeker."] * 6)
    long = []
    for k, ends in enumerate(pairwise(systems)):
        verdicts = [
            invented_verdict(judge, *shown, "first", reason=said)
            for judge in ("juniper", "larch-2", "yew")
            for shown in (ends, ends[::-1])
        ]
        verdicts += [invented_verdict(f"person {n}", *ends, "second") for n in range(1, 6)]
        item = invented_item(k, n_turns=31)
        long.append(invented_reading(*ends, k, item=item, texts=(said, said), verdicts=verdicts))
    page = page_with(*long, large=True)
    dialogues = {k for k in range(17) if f"{k}.30 It has been" in page}
    assert len(dialogues) >= 12
    assert len(page.encode()) <= MAX_BYTES
    assert "without reasons or without earlier turns, as the page would be too long" in words(page)


def test_the_order_is_said_as_it_is() -> None:
    reading = invented_reading("generic", "original")
    assert order_words([reading], None).startswith("The most contested, or else")
    assert "the others" not in order_words([reading], "generic")
    ahead = dataclasses.replace(reading.example, ahead="original", lead=2.0)
    lost = dataclasses.replace(reading, example=ahead)
    assert "first those that generic lost most clearly" in order_words([lost], "generic")
    assert order_words([lost], "reflective") == order_words([reading], None)
    opposed = dataclasses.replace(
        reading, example=dataclasses.replace(reading.example, is_opposed=True)
    )
    assert "people and judges are opposed come before" in order_words([opposed], None)


def test_the_script_is_small_and_takes_no_text_for_html() -> None:
    page = page_with(invented_reading("generic", "original"))
    script = page[page.index("<script>") : page.index("</script>")]
    assert len(script.encode()) <= 12_000
    assert re.search("innerHTML|outerHTML|insertAdjacent|document.write|eval", script) is None


@pytest.mark.parametrize("large", [True, False])
def test_page_holds_what_fits_and_says_how_many(large: bool) -> None:
    systems = board_systems(invented_results(large=large))
    readings = readings_of(systems, n_turns=31)
    page = page_with(*readings, large=large)
    assert MAX_BYTES - 20_000 < len(page.encode()) <= MAX_BYTES < 300_000
    n_shown = page.count('<details class="reading"')
    said = words(page).replace("\N{NO-BREAK SPACE}", " ")
    assert 0 < n_shown < len(readings)
    assert f"{n_shown} of {len(readings)} chosen comparisons are here." in said
    assert "heart report STUDY.toml --full DIR" in said


def test_page_fits_with_links_into_a_folder_with_a_long_name() -> None:
    readings = readings_of(board_systems(invented_results(large=True)), n_turns=31)
    page = page_with(*readings, large=True, folder=f"{'replies-' * 8}/")
    assert len(page.encode()) <= MAX_BYTES


def test_first_readings_are_those_that_are_shown() -> None:
    systems = board_systems(invented_results())
    left, right = sorted(systems[:2])
    one = invented_reading(left, right, 99, item=invented_item(99))
    huge = invented_reading(left, right, 98, texts=("x" * 300_000, "y"))
    page = page_with(huge, one, *readings_of(systems, n_turns=31))
    assert "99.8 It has been" in page
    assert "x" * 1000 not in page


def test_cells_lead_to_replies_on_the_page_or_in_the_folder() -> None:
    results = invented_results(large=True)
    readings = readings_of(board_systems(results), n_turns=31)
    alone = outline(page_with(*readings, large=True))
    assert {link.removeprefix("#") for link in alone.links} <= set(alone.ids)
    beside = outline(page_with(*readings, large=True, folder="all/"))
    keys = {pair_key(*one.systems) for one in readings}
    in_cells = {link for link in beside.links if "pair-" in link}
    assert {f"all/{key}.html" for key in keys} & in_cells
    assert {link.removeprefix("#") for link in in_cells if link[0] == "#"} <= set(beside.ids)
    reached = {re.sub(r"^#|^all/|\.html$", "", link) for link in in_cells}
    assert reached == keys


def test_matrix_shows_every_two_systems_from_both_sides() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    page = render_page(results)
    table = page[page.index('<table class="matrix') :]
    rows = re.findall(r"<tr>.*?</tr>", table[: table.index("</table>")])[1:]
    shares = [[int(n) for n in re.findall(r">(\d+)<small", row)] for row in rows]
    assert [len(row) for row in shares] == [5] * 6
    pair = results.leaderboard.matrix[0]
    names = board_systems(results)
    one, other = names.index(pair.left), names.index(pair.right)
    assert shares[one][other - (other > one)] == round(100 * pair.observed)
    assert shares[other][one - (one > other)] == round(100 * (1 - pair.observed))


def test_pair_off_the_order_is_framed_and_named() -> None:
    results = invented_results()
    board = results.leaderboard
    assert board is not None
    off = dataclasses.replace(board.matrix[3], observed=0.9, expected=0.4, q=0.001)
    matrix = (*board.matrix[:3], off, *board.matrix[4:])
    assert board.fit.lack_of_fit is not None
    test = dataclasses.replace(board.fit.lack_of_fit, p=0.01)
    fit = dataclasses.replace(board.fit, lack_of_fit=test)
    board = dataclasses.replace(board, matrix=matrix, fit=fit)
    page = render_page(with_board(results, board))
    assert len(re.findall(r'<td class="[^"]* off"', page)) == 2
    assert len(re.findall(r'<td class="[^"]* off"', render_page(results))) == 0
    text = words(page).replace("\N{NO-BREAK SPACE}", " ")
    assert f"{off.left} won 90.0 % against {off.right} , where the order expects 40.0 %" in text


def test_public_page_holds_no_text_of_the_study() -> None:
    results = dataclasses.replace(
        invented_results(), examples=(invented_reading("generic", "original").example,)
    )
    page = render_page(results, Shown(is_public=True))
    assert "it holds no dialogue, no reply and no reason of a judge" in words(page)
    assert "earlier turn" not in page
    assert '<details class="reading"' not in page


def test_whose_texts_they_are_stands_above_them() -> None:
    reading = invented_reading("generic", "original")
    shown = Shown(readings=(reading,), notice="Holds texts of <b>ESConv: not for publication.")
    page = render_page(invented_results(), shown)
    assert "Holds texts of <b>ESConv: not for publication." in words(page)
    assert "These dialogues are about distress" in words(page)


def folder(results: StudyResults, readings: list[Reading]) -> dict[str, str]:
    items = {one.item.id: one.item for one in readings}
    shown = Shown(readings=readings, folder="all/", notice="Not for publication.")
    pages = list(folder_pages(results, shown, list(items.values()), {}, {}))
    assert len({name for name, _ in pages}) == len(pages)
    return dict(pages)


def test_every_link_of_the_folder_leads_to_one_of_its_pages() -> None:
    results = invented_results(large=True)
    readings = readings_of(board_systems(results))
    pages = folder(results, readings)
    assert len(pages) == 2 + 18 + 153 + 6
    for page in pages.values():
        parsed = outline(page)
        assert (parsed.misnested, parsed.open) == ([], [])
        assert {link for link in parsed.links if not link.startswith("#")} <= set(pages)
        assert OUTSIDE.search(page) is None
        assert "Not for publication." in page
    reached = set(outline(pages["index.html"]).links)
    assert set(pages) <= reached


def test_folder_holds_every_chosen_comparison() -> None:
    results = invented_results()
    readings = readings_of(board_systems(results))
    pages = folder(results, readings)
    n_shown = {name: page.count('<details class="reading"') for name, page in pages.items()}
    assert n_shown.pop(ALL) == sum(n_shown.values()) == len(readings) == 15 * 6


def test_the_page_of_a_system_has_its_place_its_shape_and_each_other_system() -> None:
    results = invented_results()
    readings = readings_of(board_systems(results))
    pages = folder(results, readings)
    board = results.leaderboard
    assert board is not None
    for row in board.rows:
        page = pages[system_page(row.system)]
        said = words(page).replace("\N{NO-BREAK SPACE}", " ")
        assert f"Elo {row.weighted.elo:.1f}" in said
        others = {other.system for other in board.rows} - {row.system}
        met = [pair for pair in board.matrix if row.system in (pair.left, pair.right)]
        assert len(met) == len(others)
        for pair in met:
            seen = pair.seen_from(row.system)
            link = f"{pair_key(row.system, seen.right)}.html"
            assert link in outline(page).links
            assert f"{100 * seen.observed:.1f} %" in said
