"""A table is cells first: what its text, its HTML and its CSV must say of them."""

import csv
import io
from dataclasses import replace

from invented_ratings import invented_ratings
from invented_results import invented_results, rename_system, without_ranking

from hearteval.report.latex import latex
from hearteval.report.summary import results_display
from hearteval.report.table import Bar, Cell, Column, Display, Table

TWO = Table(
    columns=(
        Column("system", "name"),
        Column("Elo, weighted", short="Elo"),
        Column("reading", "text"),
    ),
    rows=[["ash", "1500", "even"], ["b\x1bch", "9", "no\N{NO-BREAK SPACE}more"]],
)


def with_bars(name: str, *bars: Bar, n_others: int = 1) -> Table:
    columns = (Column("system", "name"), Column("", "bar"), *map(Column, ["n" * 9] * n_others))
    return Table(columns=columns, rows=[[name, bar, *["1"] * n_others] for bar in bars])


def test_text_aligns_numbers_right_and_words_left() -> None:
    assert TWO.text().splitlines() == [
        "system   Elo  reading",
        "ash     1500  even",
        "b\ufffdch       9  no more",
    ]


def test_caption_stands_above_and_notes_below() -> None:
    table = Table(columns=(Column("n"),), rows=[["1"]], caption="one system", notes=("a", "b"))
    assert table.text() == "one system\n\nn\n1\n\na\nb"
    assert table.html() == (
        "<table><caption>one system</caption><thead><tr><th>n</th></tr></thead>"
        "<tbody><tr><td>1</td></tr></tbody></table><p>a</p><p>b</p>"
    )


def test_remark_is_a_column_in_html_and_a_note_in_text() -> None:
    columns = (Column("measure", "text"), Column("", "remark", in_text=False))
    table = Table(columns=columns, rows=[["alpha", ""], ["kappa", "needs two raters"]])
    assert table.text() == "measure\nalpha\nkappa\n\nkappa: needs two raters."
    assert "<td>kappa</td><td>needs two raters</td>" in table.html()


def test_column_for_pages_alone_is_not_in_text() -> None:
    columns = (Column("system", "name"), Column("H", in_text=False), Column("n"))
    assert Table(columns=columns, rows=[["ash", "9", "3"]]).text() == "system  n\nash     3"


def test_gaps_give_way_before_names() -> None:
    columns = (Column("system", "name"), *map(Column, ["n" * 9] * 6))
    by_gap = Table(columns=columns, rows=[["a" * 20, *["1"] * 6]]).text()
    by_name = Table(columns=columns, rows=[["a" * 21, *["1"] * 6]]).text()
    assert "a" * 20 + " " * 9 + "1" in by_gap
    assert "a" * 19 + "\N{HORIZONTAL ELLIPSIS}" in by_name
    assert max(map(len, [*by_gap.splitlines(), *by_name.splitlines()])) == 80


def test_bars_of_a_column_share_one_scale() -> None:
    bars = Bar(1, 2, 3, "low"), Bar(3, 4, 5, "high"), Bar(None, 3, None, "no interval")
    _, low, high, alone = with_bars("ash", *bars).text().splitlines()
    assert low[8:33] == "\u2500" * 6 + "\u25cf" + "\u2500" * 6 + " " * 12
    assert high[8:33] == " " * 12 + "\u2500" * 6 + "\u25cf" + "\u2500" * 6
    assert alone[8:33] == " " * 12 + "\u25cf" + " " * 12
    assert with_bars("ash", *bars).html().count("<line") == 2


def test_bars_share_a_line_at_the_centre_and_round_values_below() -> None:
    columns = (Column("system", "name"), Column("interval", "bar", centre=1500.0))
    bars = Bar(1550, 1600, 1640, ""), Bar(1390, 1400, 1420, "")
    text = Table(columns=columns, rows=[["ash", bars[0]], ["birch", bars[1]]]).text()
    assert text.splitlines() == [
        "system  interval",
        "ash                ┊   ─────●────",
        "birch   ─●──       ┊",
        "        1400     1500     1600",
    ]


def test_table_and_lines_take_the_width_there_is() -> None:
    display = Display((("a word " * 20,), with_bars("a" * 40, Bar(1, 2, 3, ""))))
    for width in (40, 60, 80):
        assert max(map(len, display.text(width).splitlines())) <= width
    assert display.text(20) == display.text(40)


def test_bars_vanish_where_there_is_no_room() -> None:
    assert "\u25cf" not in with_bars("ash", Bar(1, 2, 3, ""), n_others=8).text()


def test_html_escapes_headings_cells_notes_and_labels() -> None:
    table = Table(
        columns=(Column("<a>"), Column("", "bar")),
        rows=[["<b>", Bar(None, 1.0, None, '"<c>')]],
        caption="<d>",
        notes=("<e>",),
    )
    assert not any(raw in table.html() for raw in ("<a>", "<b>", "<c>", "<d>", "<e>"))


def test_csv_has_values_in_full_and_no_formula() -> None:
    rows = [["=1+1", 0.1 + 0.2, None], ['a, "b"\nc', -1, True]]
    text = Table(columns=tuple(map(Column, "xyz")), rows=rows).csv()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["x", "y", "z"],
        ["'=1+1", "0.30000000000000004", ""],
        ['a, "b"\nc', "-1", "True"],
    ]


def test_cell_shows_its_text_not_what_a_page_sorts_by() -> None:
    table = Table(columns=(Column("n"),), rows=[[Cell("1,200", 1200)]])
    assert table.text() == "    n\n1,200"
    assert "<td>1,200</td>" in table.html()


def test_display_is_lines_and_tables_in_order() -> None:
    display = Display((("first", "second"), TWO, ()))
    assert display.text() == f"first\nsecond\n\n{TWO.text()}"
    assert display.html() == f"<p>first</p><p>second</p>{TWO.html()}"


def test_notebook_shows_the_leaderboard_with_its_warnings() -> None:
    html = results_display(rename_system(invented_results(), "ember-7b", "<b>x")).html()
    assert "<td>&lt;b&gt;x</td>" in html
    assert "<p>! 4 judgments are missing; coverage is 99.8 %.</p>" in html


def test_notebook_shows_scores_where_judges_rate() -> None:
    html = results_display(invented_ratings()).html()
    assert html.startswith("<p>beacon-large-instruct has the highest scores.")
    assert html.count("<svg") == 6


def test_notebook_shows_win_rates_by_axis_where_there_is_no_ranking() -> None:
    html = results_display(without_ranking(invented_results(), "groups never met")).html()
    assert "<p>There is no ranking. Groups never met.</p>" in html
    assert "<td>people</td><td>62.5</td><td>25.0</td>" in html


def test_latex_escapes_what_latex_would_read() -> None:
    table = Table(
        columns=(Column("System_1", "name"), Column("Won, %"), Column("p")),
        rows=[["[a] & b$", Cell("1\N{NO-BREAK SPACE}%", 1), 0.123456], ["c", None, 12345.678]],
        caption="50 % of #1",
        notes=("x < y",),
    )
    assert r"\caption{What is won}" in latex(replace(table, caption="what is won"), "won")
    said = latex(table, "won")
    assert r"System\_1 & Won, \% & p \\" in said
    assert r"{[}a{]} \& b\$ & 1 \% & 0.1235 \\" in said
    assert r"c & -- & 12346 \\" in said
    assert r"\caption{50 \% of \#1}" in said
    assert r"\label{tab:won}" in said
    assert r"\begin{tabular}{lrr}" in said
    assert r"x \textless{} y" in said


def test_a_table_of_latex_wider_than_a_page_is_parted_and_repeats_what_a_row_is() -> None:
    columns = (Column("system", "name"), *(Column(f"a_long_heading_{k}") for k in range(9)))
    wide = Table(columns=columns, rows=[["alder", *range(9)], ["birch", *range(9, 18)]])
    said = latex(wide, "wide")
    parts = said.split(r"\begin{tabular}")[1:]
    # 16 and 2.5 characters for each number beside 8.5 for the name: 4 of them fit into 100.
    assert [part.splitlines()[0] for part in parts] == ["{lrrrr}", "{lrrrr}", "{lr}"]
    assert all("alder & " in part and "birch & " in part for part in parts)
    assert r"alder & 8 \\" in parts[-1]
    assert said.count(r"\begin{table}") == said.count(r"\label{tab:wide}") == 1


def test_long_words_of_latex_are_broken_into_lines() -> None:
    table = Table(columns=(Column("kind"), Column("text")), rows=[["a", "word " * 30]])
    assert r"\begin{tabular}{lp{0.40\linewidth}}" in latex(table, "words")
