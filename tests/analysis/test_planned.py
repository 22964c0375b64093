"""The planned contrasts of a study are one family, and what is said follows its q."""

import functools
from dataclasses import replace

import pytest
from invented_results import section_of
from planted_studies import NOTHING, analyzed, planted
from scipy.stats import false_discovery_control

from hearteval.analysis.judges.faults import OWN_FAMILY
from hearteval.analysis.judges.own_family import OwnFamily
from hearteval.analysis.planned import adjust_planned
from hearteval.analysis.study import StudyResults
from hearteval.sections.explained import Explained
from hearteval.sections.judges import Judges
from hearteval.sections.people import People
from hearteval.sections.people.models.words import lead_words, overall_words


@functools.cache
def nothing() -> StudyResults:
    world, _ = planted(NOTHING)
    return analyzed(world, 1)


def test_every_planned_contrast_is_in_the_family_once() -> None:
    names = [one.name for one in nothing().planned]
    assert names == [
        "models' score by people less one half",
        "models' score by judges less one half",
        "models' score by people, regular less adversarial items",
        "models' score by judges, regular less adversarial items",
        "models' score by people less by judges, regular less adversarial items",
        "models' score by people less by judges, all items",
        "agreement of majorities, regular less adversarial",
        "own family of judge-a",
        "own family of judge-b",
        "own family of judge-c",
        "effect of length",
        "effect of formatting",
        "effect of position",
    ]


def test_q_is_over_all_of_them_and_stands_beside_each_p() -> None:
    results = nothing()
    p = [one.p for one in results.planned]
    q = dict(
        zip((one.name for one in results.planned), false_discovery_control(p).tolist(), strict=True)
    )
    assert [one.q for one in results.planned] == pytest.approx(list(q.values()))
    people, bias, audits = results.found(People), results.found(Explained), results.found(Judges)
    assert people is not None
    assert people.with_judges is not None
    assert bias is not None
    assert audits is not None
    beside = [one.q for one in people.against_models if one.writers is None]
    beside += [one.q for one in people.leads]
    beside += [one.q for one in people.with_judges.differences if one.one == "regular"]
    beside += [one.own_family.q for one in audits.judges]
    beside += [one.q for one in bias.tests]
    assert beside == pytest.approx(list(q.values()))


def test_clear_and_ambiguous_pairs_differ_by_their_making_and_are_no_test() -> None:
    people = nothing().found(People)
    assert people is not None
    assert people.with_judges is not None
    clear = next(one for one in people.with_judges.differences if one.one == "clear")
    assert (clear.p, clear.q) == (None, None)
    assert clear.difference.low is not None


def test_words_follow_q_where_the_interval_says_otherwise() -> None:
    people = nothing().found(People)
    assert people is not None
    lead = people.leads[-1]
    assert lead.score is not None
    sure = replace(lead, score=replace(lead.score, value=0.1, low=0.02, high=0.18, p=0.02))
    (at, *_) = people.against_models
    for q, is_open in ((0.06, True), (0.04, False)):
        found = replace(
            people, leads=(replace(sure, q=q),), against_models=(replace(at, q=q, n_items=20),)
        )
        assert ("leave open whether they differ" in lead_words(found)[0]) == is_open
        assert ("leave open whose they prefer" in overall_words(found)) == is_open
        assert f"q = .0{q * 100:.0f}0" in lead_words(found)[0]


def test_a_preference_for_its_family_is_a_fault_only_where_the_study_s_q_says_so() -> None:
    judges = section_of(nothing(), Judges)
    assert judges.found is not None
    (first, *others) = judges.found.judges
    own = OwnFamily(reason=None, own=None, difference=0.1, low=0.01, high=0.19, p_value=0.03)
    said = "prefers its own family, 10 points more than judges of other families do"
    named = replace(first, own_family=own, faults=("favours", said), fault_checks=(OWN_FAMILY,))
    for p, faults in ((0.03, ("favours",)), (0.0001, ("favours", said))):
        judged = replace(named, own_family=replace(own, p_value=p))
        made = replace(judges, found=replace(judges.found, judges=(judged, *others)))
        adjusted = adjust_planned({Judges: made}, level=0.95)[0][Judges]
        assert adjusted is not None
        (found, *_) = adjusted.found.judges
        assert found.faults == faults
        assert (OWN_FAMILY in found.fault_checks) == (len(faults) == 2)
