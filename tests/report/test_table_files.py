"""Every table of a report as CSV: complete, in full, and nothing lost of what a word means."""

import csv
import dataclasses
import io
import re

from invented_ratings import invented_ratings
from invented_results import invented_results, without_ranking

from hearteval.analysis.coverage.missing import Cause
from hearteval.analysis.study import StudyResults
from hearteval.report.answers.headline import results_notices
from hearteval.report.page import render_page
from hearteval.report.tables import all_tables


def rows_of(results: StudyResults, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(all_tables(results)[name].csv())))


def test_numbers_stand_with_every_digit() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    (first, *_) = results.leaderboard.fit.pairs
    (row, *_) = rows_of(results, "fit-of-pairs")
    assert (row["left"], row["right"]) == (first.left, first.right)
    assert float(row["predicted"]) == first.predicted


def test_records_inside_a_record_are_columns_of_their_own() -> None:
    results = invented_results()
    (row, *_) = rows_of(results, "coverage-of-raters")
    assert (row["rater"], row["missing_invalid-reply"]) == ("juniper", "1")
    (one, *_) = rows_of(results, "judges-agreement")
    assert one["judges"] == "juniper; larch-2"


def test_causes_of_what_is_missing_have_a_table_in_the_providers_words() -> None:
    results = invented_results()
    words = "2547 tokens exceeds the context size (2048)"
    cause = Cause(reason="refused", words=words, n=3, outlook="fails-again")
    first, *others = results.coverage.systems
    systems = (dataclasses.replace(first, causes=(cause,)), *others)
    coverage = dataclasses.replace(results.coverage, systems=systems)
    results = dataclasses.replace(results, coverage=coverage)
    assert rows_of(results, "missing") == [
        {
            "name": first.system,
            "reason": "refused",
            "words": words,
            "n": "3",
            "outlook": "fails-again",
        }
    ]
    page = render_page(results)
    assert f"{first.system}: 3 replies are missing: refused: {words}" in page


def test_kind_says_who_wrote_in_the_words_of_the_study_file() -> None:
    kinds = {row["system"]: row["kind"] for row in rows_of(invented_results(), "axes")}
    assert (kinds["people"], kinds["original"], kinds["ember-7b"]) == ("human", "original", "model")


def test_tables_without_a_row_are_left_out() -> None:
    named = all_tables(without_ranking(invented_results(), "groups never met"))
    assert not {"axes", "fit-of-pairs", "effects"} & set(named)
    assert {"win-rates", "coverage-of-systems", "judge-audit"} <= set(named)


def test_tables_of_scores_are_those_of_ratings() -> None:
    named = all_tables(invented_ratings())
    assert {"stress-scores", "rated-again"} <= set(named)


def test_the_report_lists_every_file_that_is_there() -> None:
    results = invented_results()
    page = render_page(results)
    listed = re.findall("<li><code>(.*?).csv</code>", page)
    assert listed == [*all_tables(results)]


def test_warnings_are_those_that_a_terminal_counts() -> None:
    results = invented_results(cue_judge=True)
    rows = rows_of(results, "warnings")
    found = [(notice.kind.value, str(notice)) for notice in results_notices(results)]
    assert [(row["kind"], row["text"]) for row in rows] == found
    assert {"baseline-judge", "axis", "not-audited"} <= {row["kind"] for row in rows}
