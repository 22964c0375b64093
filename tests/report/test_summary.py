"""What a study says in a terminal: the answer first, at most 80 columns, one warning, no jargon."""

import dataclasses

import pytest
from invented_audits import invented_audits, judge_audit, share
from invented_ratings import invented_ratings
from invented_results import invented_results, rename_system, with_judges, without_ranking

from hearteval.analysis.coverage.missing import Cause
from hearteval.analysis.study import JUDGED_BY_CUES, StudyResults
from hearteval.domain.reasons import Outlook
from hearteval.notices import Kind, Notice
from hearteval.report.answers.headline import results_notices, sentence
from hearteval.report.leaderboard import marked_words, why_blank
from hearteval.report.summary import brief_display, details_display, next_step
from hearteval.report.text import display_width

SIX_SYSTEMS = """\
place  system                  Elo  95 % interval         win   H   E   A   R  T
1-2    beacon-large-instruct  1760            ┊      ─●─   83  83  91  76  80  ·
1-3    people                 1662            ┊   ─●─      71  73  63  77  75  ·
2-4    ember-7b               1559            ┊─●─         58  55  67  53  53  ·
3-5    original               1449         ─●─┊            43  47  34  47  49  ·
4-6    reflective             1338     ─●─    ┊            29  24  37  26  22  ·
5-6    generic                1233  ─●─       ┊            17  23   8  18  24  ·
                                     1300   1500  1700

Votes: 2 judges.
The first place may be high in part because it is first: of 6 equal systems the
  first one's interval lies above 1500 in about 16 %.
place: those that stay open. ┊ the average, 1500. win and H E A R T: percent
  won, a tie counting half. · too little marked, or no order.
H Human Alignment, E Empathic Responsiveness, A Attunement, R Resonance,
  T Task-following.
Axes marked by the judges judge-a and judge-b.
original: the replies recorded in the items.

! 4 judgments are missing; coverage is 99.8 %.
2 more notes in the report."""
OUTLOOKS: tuple[tuple[Outlook, str], ...] = (
    ("may-pass", "finish what"),
    ("fails-again", "mend what"),
)
JARGON = ("sandwich", "conditional", "raters", "identified", "unw.", "theta", "degrees of freedom")


def with_warnings(results: StudyResults, *warnings: Notice) -> StudyResults:
    assert results.leaderboard is not None
    board = dataclasses.replace(results.leaderboard, warnings=warnings)
    return dataclasses.replace(results, leaderboard=board)


def test_six_systems_read_as_expected() -> None:
    shown = brief_display(invented_results()).text().replace("\N{EN DASH}", "-")
    assert shown == SIX_SYSTEMS


def test_scores_say_too_which_replies_were_recorded() -> None:
    assert (
        "original: the replies recorded in the items." in brief_display(invented_ratings()).text()
    )


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("judged", [invented_results, invented_ratings])
def test_eighteen_systems_with_long_names_fit(judged: object, width: int) -> None:
    results = invented_results(large=True, cue_judge=True)
    if judged is invented_ratings:
        results = invented_ratings(large=True)
    else:
        results = rename_system(results, "people", "people-" + "x" * 200)
    text = f"{brief_display(results).text(width)}\n{details_display(results).text(width)}"
    assert max(map(display_width, text.splitlines())) <= max(width, 60)
    assert max(map(display_width, brief_display(results).text(width).splitlines())) <= width
    names = [line.split()[0 if results.ratings else 1] for line in text.splitlines()[1:19]]
    assert len(set(names)) == 18


@pytest.mark.parametrize(
    "results",
    [
        invented_results(),
        invented_results(large=True, cue_judge=True),
        invented_ratings(),
        without_ranking(invented_results(), "groups never met"),
    ],
    ids=["compared", "by cues", "rated", "no ranking"],
)
def test_what_is_shown_first_has_no_terms_of_statistics(results: StudyResults) -> None:
    text = f"{sentence(results)} {brief_display(results).text()}"
    assert [word for word in JARGON if word in text] == []


def test_cue_judge_is_named_and_is_the_first_warning() -> None:
    text = " ".join(brief_display(invented_results(cue_judge=True)).text().split())
    assert f"! {JUDGED_BY_CUES} 3 more notes in the report." in text
    assert "cue judge" not in brief_display(invented_results()).text()


def test_misfit_is_said_beside_the_label_of_the_judge() -> None:
    misfit = Notice(Kind.MISFIT, "One order does not fit.")
    results = with_warnings(invented_results(cue_judge=True), misfit)
    text = " ".join(brief_display(results).text().split())
    assert f"! {JUDGED_BY_CUES} ! One order does not fit. 3 more notes" in text
    assert "depends on whom it meets" in str(sentence(results))


def test_a_fault_of_a_judge_is_said_before_what_its_votes_say() -> None:
    fault, loses = Notice(Kind.JUDGE_FAULT, "At fault."), Notice(Kind.LEADER_LOSES, "By chance.")
    for is_by_cues, said in ((False, "! At fault."), (True, f"! {JUDGED_BY_CUES} ! At fault.")):
        results = with_warnings(invented_results(cue_judge=is_by_cues), loses, fault)
        assert said in " ".join(brief_display(results).text().split())


def test_only_the_most_serious_warning_is_shown_and_the_others_counted() -> None:
    said = Notice(Kind.UNUSED, "c"), Notice(Kind.NO_RESULT, "nothing came"), Notice(Kind.AXIS, "d")
    results = with_warnings(invented_results(), *said)
    text = brief_display(results).text()
    assert text.endswith("! nothing came\n5 more notes in the report.")
    assert results_notices(results)[0] == "nothing came"
    assert all(str(notice) in details_display(results).text() for notice in said)


def test_missing_ranking_is_explained_before_the_win_rates() -> None:
    results = without_ranking(invented_results(), "groups never met")
    assert str(sentence(results)) == "There is no ranking. Groups never met."
    assert brief_display(results).text().startswith("system")


def test_terminal_codes_in_a_name_are_not_obeyed() -> None:
    results = rename_system(invented_results(), "ember-7b", "\x1b[31mred\nname")
    text = brief_display(results).text()
    assert "\x1b" not in text
    assert "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}name" in text


def test_axis_with_few_marks_or_items_has_no_number() -> None:
    board = invented_results().leaderboard
    assert board is not None
    row = board.rows[0]
    n_asked = row.axes["H"].n_asked
    for changes in ({"n_items": 9}, {"n_comparisons": n_asked // 2 - 1}):
        thin = dataclasses.replace(row, axes={"H": dataclasses.replace(row.axes["H"], **changes)})
        assert why_blank(board, thin, "H")
    assert why_blank(board, dataclasses.replace(row, axes={}), "H")
    assert not why_blank(board, row, "H")


def test_judgments_that_asked_for_no_axis_blank_nothing() -> None:
    board = invented_results().leaderboard
    assert board is not None
    row = board.rows[0]
    people_too = dataclasses.replace(row, n_comparisons=6 * row.n_comparisons)
    assert not why_blank(board, people_too, "H")


def test_words_say_who_marked_the_axes() -> None:
    board = invented_results().leaderboard
    assert board is not None
    assert marked_words(board) == "Axes marked by the judges judge-a and judge-b."
    both = dataclasses.replace(board, judged_by="both", interval_used="two-way")
    assert marked_words(both).startswith(
        "H, E, A and R marked by the judges judge-a and judge-b; people were not asked; intervals:"
        " item-sandwich, conditional on these raters."
    )
    of_all = dataclasses.replace(board.axes_asked["H"], n_people=1, judges=("cue",))
    asked = dict.fromkeys(board.axes_asked, of_all)
    said = marked_words(dataclasses.replace(board, judged_by="both", axes_asked=asked))
    assert said == "Axes marked by 1\N{NO-BREAK SPACE}person and the judge cue."


def test_next_step_is_the_first_thing_that_is_lacking() -> None:
    results = invented_results()
    fair = judge_audit("a", stress={"hostile": share(0.97, 0.87, 1.0)})
    half_tested = with_judges(results, found=invented_audits(fair))
    assert next_step(half_tested, "a.toml") == "test the judges: heart judges audit a.toml"
    at_fault = with_judges(results, found=invented_audits(judge_audit("b")))
    other = "name other judges than b in a.toml, and run it again"
    assert next_step(at_fault, "a.toml") == other
    assert "name a model" in next_step(invented_results(cue_judge=True), "a.toml")
    assert "more items" in next_step(without_ranking(results, "no"), "a.toml")
    read = with_judges(results, found=None)
    assert next_step(read, "a.toml").endswith("heart report a.toml --open")
    for outlook, words in OUTLOOKS:
        cause = Cause(reason="x", words=None, n=1, outlook=outlook)
        systems = (dataclasses.replace(results.coverage.systems[0], causes=(cause,)),)
        lacking = dataclasses.replace(results.coverage, systems=systems)
        assert next_step(dataclasses.replace(read, coverage=lacking), "a.toml").startswith(words)
