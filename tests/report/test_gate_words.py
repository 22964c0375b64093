"""What a gate says in words where there is little or nothing to say."""

import numpy as np

from hearteval.analysis.gate import Gate, GateScores
from hearteval.report.files.gate import gate_display, gate_object
from hearteval.stats.gate import GateRule, judge_gate


def held(scores: np.ndarray, *, both_orders: bool = True) -> Gate:
    """A gate of overall and one axis, on all that was planned."""
    rule, coverage = GateRule(), tuple(1 - np.isnan(scores).mean(axis=0))
    n, rng = len(scores), np.random.default_rng(1)
    return Gate(
        study="study",
        baseline="old",
        candidate="new",
        judges=("judge",),
        names=("overall", "Empathic Responsiveness"),
        rule=rule,
        scores=GateScores(
            axes=(None, "E"),
            scores=scores,
            coverage=coverage,
            n_identical=0,
            n_both_orders=10 if both_orders else 0,
            n_by_position=0,
            both_orders=both_orders,
        ),
        result=judge_gate(scores, coverage, rule, look=1, n_planned=n, rng=rng),
    )


def words_of(gate: Gate) -> str:
    return " ".join(gate_display(gate).text(100).split())


def test_a_single_dialogue_is_not_said_to_lack_judgments() -> None:
    words = words_of(held(np.array([[0.5, 0.5]])))

    assert "Of a single dialogue nothing can be said. 1 dialogue, judged by judge." in words


def test_a_difference_beyond_the_scale_is_not_promised() -> None:
    words = words_of(held(np.array([[0.5, 0.5], [-0.5, 0.0], [0.0, 0.25]])))

    assert "Overall it sees no difference, however large, in four of five" in words


def test_an_axis_without_a_mark_has_no_difference() -> None:
    scores = np.array([[0.5, np.nan], [0.25, np.nan], [0.0, np.nan]])

    axis = gate_object(held(scores))["tests"][1]
    words = words_of(held(scores)).replace("\N{NO-BREAK SPACE}", " ")

    assert "Some of what is open has under 90 % of its judgments, so it stays open" in words
    assert (axis["difference"], axis["n_items"], axis["verdict"]) == (None, 0, "inconclusive")


def test_equivalence_in_one_order_alone_is_doubted() -> None:
    scores = np.tile([[0.01], [-0.01]], (50, 2))

    doubts = [gate_object(held(scores, both_orders=both))["warnings"] for both in (False, True)]

    assert [len(said) for said in doubts] == [1, 0]
    assert doubts[0][0].startswith("Doubtful: each pair was judged in one order only")
