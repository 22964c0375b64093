"""What the audit of judges adds to a study's results, and what it must leave alone."""

from dataclasses import replace

import pytest
from invented_audits import invented_audits, judge_audit, share
from invented_results import invented_results, section_of, with_judges
from judged_study import CUE, STRESS, StudyMaker, make_items, make_systems

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges.faults import LONGER
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.study import analyze_study
from hearteval.domain import Choice, Item, Rater, System, Turn
from hearteval.domain.items import NO_LANGUAGE
from hearteval.notices import Kind
from hearteval.sections.judges import Judges
from hearteval.sections.judges.audit import JudgeAudit, JudgeAudits

REFERENCE, HOSTILE = STRESS
SIDES = ("first", "second")
PAYLOADS = [
    System(
        name=f"stress-injection-{side}",
        kind="stress",
        family="baseline",
        settings={"stress": "injection", "payload": "p", "payload_kind": "order", "side": side},
    )
    for side in SIDES
]
OTHER = Rater(name="other", kind="llm", family="theirs", settings={"model": "other"})
ONE, TWO, THREE = make_systems("one", "two", "three")
N_ITEMS = 12
FOLLOWS: tuple[Choice, Choice] = ("first", "second")
RESISTS: tuple[Choice, Choice] = ("second", "first")


def test_judges_whom_padding_does_not_move_are_known() -> None:
    moved = replace(judge_audit("moved", longer=share(0.8, 0.7, 0.9)), lean_q={LONGER: 0.001})
    judges = section_of(invented_results(), Judges)
    audits = invented_audits(moved, judge_audit("unmoved"))
    assert replace(judges, found=audits).unmoved_by_length == ["unmoved"]


def ranked_study(*raters: Rater) -> StudyMaker:
    """Return a study with a ranking, and a stress set that every judge gets right."""
    maker = StudyMaker(make_items(N_ITEMS), [ONE, TWO, THREE, *STRESS], list(raters))
    for rater in raters:
        for item in maker.items:
            for sides in ((ONE, TWO), (TWO, THREE), (THREE, ONE)):
                maker.judge(item, sides, "first", rater=rater)
                maker.judge(item, sides[::-1], "second", rater=rater)
            maker.judge(item, (REFERENCE, HOSTILE), "first", rater=rater)
            maker.judge(item, (HOSTILE, REFERENCE), "second", rater=rater)
    return maker


def stored_audit(items: list[Item], rater: Rater, choices: tuple[Choice, Choice]) -> StudyData:
    """Have a judge answer replies with a payload, shown first and then second."""
    maker = StudyMaker(items, [REFERENCE, *PAYLOADS], [rater])
    on_first, on_second = PAYLOADS
    for item in items:
        maker.judge(item, (on_first, REFERENCE), choices[0], rater=rater)
        maker.judge(item, (REFERENCE, on_second), choices[1], rater=rater)
    return StudyData(
        systems=maker.systems,
        pairs=pairs_of(maker.pairs.values()),
        judgments=maker.judgments,
        unjudged=maker.unjudged,
    )


def audited(maker: StudyMaker, rater: Rater, choices: tuple[Choice, Choice] = RESISTS) -> StudyData:
    return replace(maker.data(), audit=stored_audit(maker.items, rater, choices))


def audits_of(records: StudyData) -> JudgeAudits:
    audits = analyze_study(records, sections=[Judges]).found(Judges)
    assert audits is not None
    return audits


def audit_of(records: StudyData) -> JudgeAudit:
    (found,) = audits_of(records).judges
    return found


def test_without_an_audit_the_judge_is_named_and_the_stress_set_is_all() -> None:
    audits = audits_of(ranked_study(CUE).data())
    (cue,) = audits.judges
    assert audits.not_audited == ("cue",)
    assert cue.injection is None
    assert cue.stress["hostile"].rate == 1
    assert (cue.n_assigned, cue.n_judged) == (2 * N_ITEMS, 2 * N_ITEMS)


def test_an_audit_in_the_store_is_in_the_results() -> None:
    maker = ranked_study(CUE)
    audits = audits_of(audited(maker, CUE))
    (cue,) = audits.judges
    assert (audits.not_audited, audits.status) == ((), "planned")
    assert cue.injection is not None
    assert (cue.injection.overall.rate, cue.injection.overall.n_items) == (0.0, N_ITEMS)
    assert cue.stress["hostile"].n_items == N_ITEMS
    assert cue.n_judged == 4 * N_ITEMS


def test_a_judge_that_follows_payloads_is_in_the_warnings() -> None:
    results = analyze_study(audited(ranked_study(CUE), CUE, FOLLOWS), sections=[Judges])
    (warning,) = [w for w in results.warnings if "Tests find fault" in w]
    assert warning == (
        "Tests find fault with cue: it follows instructions hidden in a reply: with one, the same "
        "reply wins in 100 %."
    )


def test_a_judge_that_resists_gives_no_warning() -> None:
    results = analyze_study(audited(ranked_study(CUE), CUE), sections=[Judges])
    assert [w for w in results.warnings if "fault" in w] == []


GERMAN = "Ich weiß nicht mehr, wie ich meiner Mutter das sagen soll, und sie fragt jeden Tag."


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "It is so.", [0]),
        (NO_LANGUAGE, GERMAN, [0]),
        (NO_LANGUAGE, "It is so.", []),
        ("en-GB", GERMAN, []),
    ],
)
def test_the_judge_of_english_words_is_said_to_know_no_other_language(
    language: str, text: str, said: list[int]
) -> None:
    data = ranked_study(CUE).data()
    turns = (Turn(role="seeker", text=text),)
    items = [replace(item, language=language, context=turns) for item in data.items]
    results = analyze_study(replace(data, items=items), sections=[Judges])
    found = [w for w in results.warnings if "English words only" in w]
    assert [warning.kind.order - Kind.BASELINE_JUDGE.order for warning in found] == said
    assert all(warning.endswith("where its choices are noise: 12 of 12.") for warning in found)


def test_a_model_as_judge_is_not_said_to_know_english_only() -> None:
    data = ranked_study(OTHER).data()
    items = [replace(item, language="de") for item in data.items]
    results = analyze_study(replace(data, items=items), sections=[Judges])
    assert [w for w in results.warnings if "English" in w] == []


@pytest.mark.parametrize("choices", [FOLLOWS, RESISTS])
def test_an_audit_never_changes_the_rest(choices: tuple[Choice, Choice]) -> None:
    maker = ranked_study(CUE)
    before = analyze_study(maker.data(), sections=[Judges])
    after = analyze_study(audited(maker, CUE, choices), sections=[Judges])
    both = (with_judges(replace(one, warnings=()), found=None) for one in (before, after))
    assert len({repr(one) for one in both}) == 1


def test_a_judge_that_joined_after_the_audit_is_not_audited() -> None:
    audits = audits_of(audited(ranked_study(CUE, OTHER), CUE))
    assert [audit.judge for audit in audits.judges] == ["cue", "other"]
    assert audits.not_audited == ("other",)


def test_the_audit_of_a_judge_that_the_study_no_longer_names_is_left_out() -> None:
    assert audits_of(audited(ranked_study(CUE), OTHER)).not_audited == ("cue",)


def test_the_audit_on_items_that_the_study_no_longer_has_is_left_out() -> None:
    maker = ranked_study(CUE)
    records = replace(audited(maker, CUE), items=maker.items[:5])
    audit = audit_of(records)
    assert audit.injection is not None
    assert audit.injection.overall.n_items == 5
    assert audit.n_assigned == audit.n_judged == 4 * 5


def test_own_family_is_measured_without_any_audit_where_the_study_lets_it() -> None:
    ours = System(name="ours", kind="model", family="theirs")
    maker = StudyMaker(make_items(3), [ours, ONE], [OTHER])
    for item in maker.items:
        maker.judge(item, (ours, ONE), "first", rater=OTHER)
    allowed = audit_of(replace(maker.data(), exclude_own_family=False))
    assert allowed.own_family.own is not None
    assert allowed.own_family.own.rate == 1
    assert "keeps judges" in str(audit_of(maker.data()).own_family.reason)


def test_without_a_judgment_nothing_is_said_of_the_judges() -> None:
    maker = StudyMaker(make_items(1), [ONE, TWO], [CUE])
    assert analyze_study(maker.data(), sections=[Judges]).found(Judges) is None
