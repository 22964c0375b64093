"""Which rules only some writers had: each brief's rules, and what they do not share."""

from hearteval.analysis.briefs import find_briefs, uneven_rules
from hearteval.completions.prompting import Brief, known_briefs
from hearteval.domain import System
from hearteval.protocol import load_protocol


def model(name: str, brief: Brief | None) -> System:
    settings = {} if brief is None else brief.settings
    return System(name=name, kind="model", family="f", settings={"model": "m", **settings})


PAPER, MATCHED = known_briefs().values()
PEOPLE = System(name="People", kind="human", family="human", settings={"brief": "0" * 64})
RECORDED = System(name="original", kind="original", family="original")


def test_systems_of_one_brief_stand_together_and_recorded_replies_nowhere() -> None:
    one, other = find_briefs([model("a", PAPER), RECORDED, model("b", PAPER), PEOPLE])
    assert (one.brief, one.systems, one.text) == ("paper", ("a", "b"), None)
    assert (other.brief, other.systems) == ("people", ("People",))


def test_what_only_some_had_is_listed_with_who_had_it() -> None:
    uneven = dict(uneven_rules(find_briefs([model("a", PAPER), model("b", MATCHED), PEOPLE])))
    words = load_protocol("support_prompt")["rules"]
    assert uneven[words["words"]] == ("b", "People")
    assert uneven[words["no_ai"]] == ("People",)
    assert not {words["sentences"], words["feelings"]} & set(uneven)


def test_one_brief_for_all_leaves_nothing_uneven() -> None:
    assert uneven_rules(find_briefs([model("a", PAPER), model("b", PAPER), RECORDED])) == ()


def test_an_own_brief_shows_its_words_and_one_from_elsewhere_says_that_nobody_knows() -> None:
    own = Brief(name="own", text="Be brief.")
    found = find_briefs([model("a", own), model("b", None), model("c", PAPER)])
    assert [(use.brief, use.text) for use in found] == [
        ("own", "Be brief."),
        ("unknown", None),
        ("paper", None),
    ]
    assert uneven_rules(found) == ()


def test_every_rule_of_a_brief_has_its_words() -> None:
    protocol = load_protocol("support_prompt")
    assert {rule for rules in protocol["rules_of"].values() for rule in rules} == set(
        protocol["rules"]
    )
    # What people read is the task of the matched brief and the rule against AI.
    assert protocol["rules_of"]["people"] == [*protocol["rules_of"]["matched"], "no_ai"]
