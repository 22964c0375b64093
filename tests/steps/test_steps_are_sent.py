"""A step is handed to whoever asks: sent to another process it finds and asks the same."""

import pickle

import pytest
from asked_study import GOOD_TEXT, AskedStudy, asked_study, judge, model_system, plan

from hearteval.labels.taxonomy import load_taxonomy
from hearteval.steps import Step
from hearteval.steps.completions import CompletionStep
from hearteval.steps.judgments import PairStep
from hearteval.steps.labels import LabelStep

STEPS = [CompletionStep(), PairStep(), LabelStep(taxonomy=load_taxonomy("strategies"))]
ONE, TWO, JUDGE = model_system("one"), model_system("two"), judge("theirs")


@pytest.fixture(scope="module")
def world() -> AskedStudy:
    made = asked_study([ONE, TWO], [JUDGE], texts={"one": [GOOD_TEXT], "two": [GOOD_TEXT + "!"]})
    plan(made)
    return made


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_was_sent_asks_the_same(step: Step[object], world: AskedStudy) -> None:
    ids, asked = [ONE.id if step.who == "system" else JUDGE.id], []
    for one in (step, pickle.loads(pickle.dumps(step))):
        wanted = one.find(world.store, world.study, ids)
        questions = [one.ask(world.study, t, wanted.case_of(t)) for t in wanted.open_ones]
        asked.append([(q.target, q.messages_after(())) for q in questions])
        assert wanted.n_open == {ids[0]: len(questions)}
    assert asked[0] == asked[1]
    assert asked[0]
