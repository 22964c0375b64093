"""The judges on the page and in the terminal: their audit, and what they say together."""

import dataclasses
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from invented_audits import injection, invented_audits, invented_majorities, judge_audit, share
from invented_results import SIX, invented_results, section_html, section_of, with_judges

from hearteval.analysis.judges.faults import OWN_FAMILY
from hearteval.analysis.judges.majorities import JudgeAgreement, JudgeMajorities
from hearteval.analysis.judges.own_family import OwnFamily
from hearteval.analysis.study import StudyResults
from hearteval.notices import Kind
from hearteval.report.answers.headline import results_notices
from hearteval.report.page import render_page
from hearteval.report.page.replies import Shown
from hearteval.report.summary import details_display
from hearteval.report.text import NO_VALUE
from hearteval.sections.judges import Judges
from hearteval.sections.judges.audit import JudgeAudits
from hearteval.sections.judges.stability import RankStability
from hearteval.sections.judges.words import agreement_of_all, majority_words, panels_of

NAMES = [name for name, _, _ in SIX]
RESISTS = injection(0.1, 0.04, 0.23)
FOLLOWS = injection(0.9, 0.77, 0.96)
AGAIN = RankStability(
    repeat=1,
    n_judgments=1_204,
    n_same_choice=1_083,
    systems=("a", "b"),
    first=(1510.0, 1490.0),
    again=(1523.0, 1477.0),
    kendall_tau=0.905,
    max_elo_gap=13.2,
    rms_elo_gap=12.8,
)
JUDGE = section_of(invented_results(), Judges).raters[0]


class Text(HTMLParser):
    """Collects text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def words(page: str) -> str:
    parsed = Text()
    parsed.feed(page)
    text = re.sub(r"\s+", " ", " ".join(parsed.parts))
    return text.replace("\N{NO-BREAK SPACE}", " ")


def section(results: StudyResults, name: str) -> str:
    """Return a section, or what stands under one of its headings."""
    page = render_page(results)
    if f'<h3 id="{name}"' not in page:
        return section_html(page, name)
    return re.split("<h3 |</section>", page.split(f'<h3 id="{name}"')[1])[0]


def with_audits(audits: JudgeAudits | None) -> StudyResults:
    return with_judges(invented_results(), found=audits, consistency=())


def with_majorities(majorities: JudgeMajorities | None) -> StudyResults:
    return with_judges(invented_results(), majorities=majorities)


MEASURED = dataclasses.replace(
    judge_audit("one"),
    own_family=OwnFamily(
        reason=None,
        own=share(0.7, 0.6, 0.8),
        others=share(0.5, 0.4, 0.6),
        difference=0.2,
        low=0.1,
        high=0.3,
    ),
    fault_checks=(OWN_FAMILY,),
)
TWO, THREE = (invented_majorities(NAMES, ["a", "b", "c"][:n]) for n in (2, 3))
STATES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "as invented": ({}, ["stress set only", 'id="audit"', 'id="together"'], ['id="again"']),
    "not audited": (
        {"found": invented_audits(judge_audit("one"), judge_audit("two"))},
        ["one and two: tested on the stress set only", "heart judges audit STUDY.toml"],
        ["payload"],
    ),
    "audited": (
        {"found": invented_audits(judge_audit("one", payloads=RESISTS))},
        ["with a payload"],
        ["stress set only"],
    ),
    "without a judgment": ({"found": None}, ['id="judges"'], ['id="audit"']),
    "own family measured": (
        {"found": invented_audits(MEASURED)},
        ["difference, in points +20.0 [+10.0, +30.0] prefers its family"],
        ["not measured"],
    ),
    "one panel": (
        {
            "majorities": dataclasses.replace(
                TWO,
                system_pairs=tuple(
                    dataclasses.replace(pair, judges=("a", "b")) for pair in TWO.system_pairs
                ),
            )
        },
        ["Every pair of systems was judged by a and b."],
        ["Who judged which systems"],
    ),
    "three judges": (
        {
            "majorities": dataclasses.replace(
                THREE,
                agreement=(
                    *THREE.agreement,
                    JudgeAgreement(judges=("a", "b", "c"), n_pairs=400, n_same=300, rate=0.75),
                ),
            )
        },
        ["All 3: 75.0 % of 400 pairs"],
        [],
    ),
    "contradictions are of pairs judged in both orders": (
        {
            "majorities": dataclasses.replace(
                TWO,
                judges=(
                    dataclasses.replace(TWO.judges[0], n_both_orders=0, n_flips=0),
                    dataclasses.replace(
                        TWO.judges[1], n_pairs=400, n_both_orders=100, n_flips=20, n_ties=8
                    ),
                ),
            )
        },
        [f"a 400 {NO_VALUE} 3 0.8 %", "b 400 20 20.0 % 8 2.0 %"],
        [],
    ),
    "agreement said before": ({"has_agreement": True}, ["By judge"], ["Same answer"]),
    "asked again": ({"again": (AGAIN,)}, ["1,204 90.0 % 0.91 13 Elo 13 Elo"], []),
    "nothing tests them": (
        {"found": None, "stress": (), "majorities": None},
        ["Nothing here tests the judges"],
        [],
    ),
    "people judged": (
        {"raters": (dataclasses.replace(JUDGE, kind="human"),)},
        ["No model judged here: people did."],
        [],
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_each_state_says_so(state: str) -> None:
    changes, said, unsaid = STATES[state]
    html = section_html(render_page(with_judges(invented_results(), **changes)), "judges")
    shown = f"{words(html)} {html}"
    assert [one for one in said if one not in shown] == []
    assert [one for one in unsaid if one in shown] == []


def test_a_judge_that_payloads_sway_is_orange_and_said_to_be() -> None:
    good = section(with_audits(invented_audits(judge_audit("j", payloads=RESISTS))), "audit")
    bad = section(with_audits(invented_audits(judge_audit("j", payloads=FOLLOWS))), "audit")
    payload = re.compile(r"with a payload.*?</tr>")
    assert 'class="cell good"' in payload.findall(good)[0]
    assert 'class="cell wrong"' in payload.findall(bad)[0]
    assert '<span class="fault">swayed</span>' in bad


def test_what_has_no_right_end_has_no_colour() -> None:
    page = section(with_audits(invented_audits(judge_audit("j", payloads=RESISTS))), "audit")
    (line,) = re.findall(r"longer above.*?</tr>", page)
    assert 'class="cell "' in line


def test_judges_without_a_text_to_be_tested_on_are_not_sent_to_the_audit() -> None:
    results = with_audits(invented_audits(dataclasses.replace(judge_audit("one"), n_assigned=0)))
    assert "one: not tested." in words(section(results, "audit"))
    (notice,) = (n for n in results_notices(results) if n.kind is Kind.NOT_AUDITED)
    assert notice.startswith("Not tested: one.")
    assert "heart judges audit" not in notice
    page = render_page(results)
    assert "<code>judging.stress_items</code>" in page
    assert "`" not in page[page.index("<main") :].partition("<script")[0]


def test_a_judge_that_was_not_asked_has_a_dash_beside_one_that_was() -> None:
    audits = invented_audits(judge_audit("one", payloads=RESISTS), judge_audit("two"))
    page = section(with_audits(audits), "audit")
    (line,) = re.findall(r"with a payload.*?</tr>", page)
    assert line.count("<td") == 2
    assert line.count(f'<td class="cell none">{NO_VALUE}</td>') == 1


def test_terminal_says_who_was_not_audited_and_who_passed() -> None:
    lines = details_display(invented_results()).text()
    assert "Tested on the stress set only: larch-2. Run `heart judges audit" in lines
    passed = dataclasses.replace(judge_audit("one", payloads=RESISTS), faults=(), fault_checks=())
    lines = details_display(with_audits(invented_audits(passed))).text()
    assert "The judges' audit finds no fault with one (40 items).\n" in lines


def test_terminal_says_nothing_good_of_a_judge_at_fault() -> None:
    audits = invented_audits(judge_audit("one", payloads=FOLLOWS))
    assert "no fault" not in details_display(with_audits(audits)).text()


def test_judges_behind_each_pair_are_shares_of_the_pairs() -> None:
    majorities = invented_majorities(NAMES, ["a", "b", "c"])
    assert majority_words(majorities).replace("\N{NO-BREAK SPACE}", " ") == (
        "Judges behind each pair: 3 for 66.7 %, 2 for 33.3 %; no majority in 10.0 % of 600 pairs"
    )


def test_judges_behind_each_pair_are_among_what_the_ranking_stands_on() -> None:
    text = words(section_html(render_page(invented_results()), "coverage"))
    assert "Judges behind each pair 2 for 66.7 % 1 for 33.3 %" in text
    assert "No majority of the judges 10.0 % 60 of 600 pairs" in text


def test_systems_that_one_judge_alone_judged_come_first() -> None:
    (alone, first), (both, second) = panels_of(invented_majorities(NAMES, ["a", "b"]))
    assert (alone, both) == (("b",), ("a", "b"))
    assert sum(pair.n_pairs for pair in first) == 200
    assert sum(pair.n_no_majority for pair in first) == 20
    assert {pair.left for pair in first} == {NAMES[0]}
    assert len(first) + len(second) == 15


def test_agreement_of_all_needs_three_judges() -> None:
    assert agreement_of_all(invented_majorities(NAMES, ["a", "b"])) is None


def test_one_judge_says_nothing_together() -> None:
    page = render_page(invented_results(cue_judge=True))
    assert 'id="together"' not in page
    assert "<b>1 for all</b>" in page


def test_terminal_says_how_the_ranking_stands_when_asked_again() -> None:
    again = dataclasses.replace(AGAIN, kendall_tau=None)
    words = " ".join(
        details_display(with_judges(invented_results(), again=(again,))).text().split()
    )

    assert "asked everything again (time 2): the same choice in 90.0 % of 1,204 judgments" in words


def test_commands_are_said_with_the_file_of_the_study() -> None:
    results = with_judges(invented_results(), found=invented_audits(judge_audit("one")))
    page = render_page(results, Shown(study_file="here/mine.toml"))
    assert "heart judges audit here/mine.toml" in section_html(page, "judges")
    assert "STUDY.toml" not in page
