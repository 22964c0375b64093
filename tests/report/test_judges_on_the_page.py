"""The judges on the page and in the terminal: their audit, and what they say together."""

import dataclasses
import re
from html.parser import HTMLParser

from invented_audits import injection, invented_audits, invented_majorities, judge_audit, share
from invented_results import SIX, invented_results, section_of, with_judges

from hearteval.analysis.judges.faults import OWN_FAMILY
from hearteval.analysis.judges.majorities import JudgeAgreement, JudgeMajorities
from hearteval.analysis.judges.own_family import OwnFamily
from hearteval.analysis.study import StudyResults
from hearteval.notices import Kind
from hearteval.report.headline import results_notices
from hearteval.report.page import render_page
from hearteval.report.summary import details_display
from hearteval.report.text import NO_VALUE
from hearteval.sections.judges import Judges
from hearteval.sections.judges.audit import JudgeAudits
from hearteval.sections.judges.stability import RankStability
from hearteval.sections.judges.words import (
    GROUPS,
    agreement_of_all,
    audit_groups,
    majority_words,
    panels_of,
)

NAMES = [name for name, _, _ in SIX]
RESISTS = injection(0.1, 0.04, 0.23)
FOLLOWS = injection(0.9, 0.77, 0.96)


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
    """Return a section, or the part of the judges' section under a heading."""
    page = render_page(results)
    start = page.index(f'id="{name}"')
    ends = [page.find(end, start) for end in ("</section>", "<h3 ")]
    return page[start : min(end for end in ends if end > 0)]


def with_audits(audits: JudgeAudits | None) -> StudyResults:
    return with_judges(invented_results(), found=audits, consistency=())


def with_majorities(majorities: JudgeMajorities | None) -> StudyResults:
    return with_judges(invented_results(), majorities=majorities)


def test_audit_and_majorities_stand_among_what_is_said_of_the_judges() -> None:
    page = render_page(invented_results())
    places = [
        page.index(f'id="{n}"') for n in ("leaderboard", "judges", "audit", "together", "explained")
    ]
    assert places == sorted(places)


def test_a_check_stands_with_share_interval_items_and_reading() -> None:
    text = words(section(invented_results(), "audit"))
    shown = "reference above kind words that fit anything 30.0 % [18.1, 45.4] 40 items: prefers"
    assert shown in text
    assert "with a payload above the same reply 10.0 % [4.0, 23.0] 40 items: not swayed" in text


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


def test_judges_that_were_not_audited_are_named_with_what_does_it() -> None:
    audits = invented_audits(judge_audit("one"), judge_audit("two"))
    text = words(section(with_audits(audits), "audit"))
    assert "one and two: tested on the stress set only" in text
    assert "heart judges audit STUDY.toml" in text
    assert "payload" not in text


def test_judges_without_a_text_to_be_tested_on_are_not_sent_to_the_audit() -> None:
    results = with_audits(invented_audits(dataclasses.replace(judge_audit("one"), n_assigned=0)))
    assert "one: not tested." in words(section(results, "audit"))
    (notice,) = (n for n in results_notices(results) if n.kind is Kind.NOT_AUDITED)
    assert notice.startswith("Not tested: one.")
    assert "heart judges audit" not in notice
    page = render_page(results)
    assert "<code>judging.stress_items</code>" in page
    assert "`" not in page[page.index("<main") :].partition("<script")[0]


def test_audited_judges_leave_nothing_to_run() -> None:
    audits = invented_audits(judge_audit("one", payloads=RESISTS))
    assert "stress set only" not in render_page(with_audits(audits))


def test_a_judge_that_was_not_asked_has_a_dash_beside_one_that_was() -> None:
    audits = invented_audits(judge_audit("one", payloads=RESISTS), judge_audit("two"))
    page = section(with_audits(audits), "audit")
    (line,) = re.findall(r"with a payload.*?</tr>", page)
    assert line.count("<td") == 2
    assert line.count(f'<td class="cell none">{NO_VALUE}</td>') == 1


def test_own_family_stands_where_it_was_measured() -> None:
    measured = dataclasses.replace(
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
    text = words(section(with_audits(invented_audits(measured)), "audit"))
    assert "difference, in points +20.0 [+10.0, +30.0] prefers its family" in text


def test_own_family_says_why_it_was_not_measured_once_for_all_judges() -> None:
    audits = invented_audits(judge_audit("one"), judge_audit("two"))
    text = words(section(with_audits(audits), "audit"))
    assert text.count("not measured: the study keeps judges from their own family") == 1


def test_consistency_on_ranked_pairs_stands_beside_that_of_the_audit() -> None:
    judges = section_of(invented_results(), Judges)
    assert judges.found is not None
    twice = audit_groups(judges.found, judges.consistency)[GROUPS["twice"]]
    ranked = [cells for name, cells in twice.items() if name.endswith("ranked pairs")]
    assert len(twice) == 4
    assert [cell.value[:4] for cells in ranked for cell in cells if cell] == [
        *("91.0", "91.0"),
        *("96.0", "96.0"),
    ]


def test_without_any_judgment_there_is_no_section() -> None:
    page = render_page(with_audits(None))
    assert 'id="audit"' not in page
    assert 'href="#audit"' not in page


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
    text = words(section(invented_results(), "coverage"))
    assert "Judges behind each pair 2 for 66.7 % 1 for 33.3 %" in text
    assert "No majority of the judges 10.0 % 60 of 600 pairs" in text


def test_systems_that_one_judge_alone_judged_come_first() -> None:
    (alone, first), (both, second) = panels_of(invented_majorities(NAMES, ["a", "b"]))
    assert (alone, both) == (("b",), ("a", "b"))
    assert sum(pair.n_pairs for pair in first) == 200
    assert sum(pair.n_no_majority for pair in first) == 20
    assert {pair.left for pair in first} == {NAMES[0]}
    assert len(first) + len(second) == 15


def test_systems_that_one_judge_alone_judged_are_named_on_the_page() -> None:
    text = words(section(invented_results(), "together"))
    assert "larch-2 alone 1 5 200 20 10.0 %" in text
    assert f"{NAMES[0]} {NO_VALUE} {NAMES[1]}" in text


def test_a_panel_that_judged_everything_is_one_sentence() -> None:
    majorities = invented_majorities(NAMES, ["a"])
    pairs = tuple(dataclasses.replace(pair, judges=("a", "b")) for pair in majorities.system_pairs)
    both = invented_majorities(NAMES, ["a", "b"])
    results = with_majorities(dataclasses.replace(both, system_pairs=pairs))
    text = words(section(results, "together"))
    assert "Every pair of systems was judged by a and b." in text
    assert "Who judged which systems" not in text


def test_agreement_of_two_judges_stands_with_its_counts() -> None:
    text = words(section(invented_results(), "together"))
    assert "juniper 86.0 % 430 of 500" in text


def test_agreement_of_all_judges_stands_above_that_of_two() -> None:
    made = invented_majorities(NAMES, ["a", "b", "c"])
    of_all = JudgeAgreement(judges=("a", "b", "c"), n_pairs=400, n_same=300, rate=0.75)
    results = with_majorities(dataclasses.replace(made, agreement=(*made.agreement, of_all)))
    assert "All 3: 75.0 % of 400 pairs" in words(section(results, "together"))


def test_agreement_of_all_needs_three_judges() -> None:
    assert agreement_of_all(invented_majorities(NAMES, ["a", "b"])) is None


def test_contradictions_are_of_the_pairs_judged_in_both_orders() -> None:
    made = invented_majorities(NAMES, ["a", "b"])
    one, other = made.judges
    judges = (
        dataclasses.replace(one, n_both_orders=0, n_flips=0),
        dataclasses.replace(other, n_pairs=400, n_both_orders=100, n_flips=20, n_ties=8),
    )
    text = words(section(with_majorities(dataclasses.replace(made, judges=judges)), "together"))
    assert f"a 400 {NO_VALUE} 3 0.8 %" in text
    assert "b 400 20 20.0 % 8 2.0 %" in text


def test_one_judge_says_nothing_together() -> None:
    page = render_page(invented_results(cue_judge=True))
    assert 'id="together"' not in page
    assert "<b>1 for all</b>" in page


def asked_again(*, kendall_tau: float | None = 0.905) -> StudyResults:
    stability = RankStability(
        repeat=1,
        n_judgments=1_204,
        n_same_choice=1_083,
        systems=("a", "b"),
        first=(1510.0, 1490.0),
        again=(1523.0, 1477.0),
        kendall_tau=kendall_tau,
        max_elo_gap=13.2,
        rms_elo_gap=12.8,
    )
    return with_judges(invented_results(), again=(stability,))


def test_repeat_of_the_ranking_has_its_section() -> None:
    shown = words(section(asked_again(), "again"))

    assert "1,204 90.0 % 0.91 13 Elo 13 Elo" in shown


def test_without_a_repeat_there_is_no_such_section() -> None:
    assert 'id="again"' not in render_page(invented_results())


def test_terminal_says_how_the_ranking_stands_when_asked_again() -> None:
    words = " ".join(details_display(asked_again(kendall_tau=None)).text().split())

    assert "asked everything again (time 2): the same choice in 90.0 % of 1,204 judgments" in words
