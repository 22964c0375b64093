"""The real corpus, where it lies beside the checkout; only counts are tested, no text is held."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hearteval.items.esconv import Dialogue, corpus_files, enumerate_couplets, parse_dialogues
from hearteval.items.screening import screening_rules
from hearteval.items.selection import BuildResult, build_items, screen_dialogues

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "esconv"
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="ESConv is not beside the checkout (../shared/data/esconv)"
)

Corpus = tuple[Dialogue, ...]


def read(name: str) -> Corpus:
    return parse_dialogues((FOLDER / name).read_text(encoding="utf-8"), name=name)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    names = corpus_files(path.name for path in FOLDER.iterdir())
    return tuple(dialogue for name in names for dialogue in read(name))


@pytest.fixture(scope="module")
def result(corpus: Corpus) -> BuildResult:
    return build_items(corpus, n=280, rng=np.random.default_rng(7))


def test_splits_have_their_published_sizes(corpus: Corpus) -> None:
    splits = Counter(dialogue.dialogue_id.partition("-")[0] for dialogue in corpus)
    assert splits == {"train": 910, "valid": 195, "test": 195}


def test_couplets_are_all_found(corpus: Corpus) -> None:
    assert sum(len(enumerate_couplets(dialogue)) for dialogue in corpus) == 14_642


def test_merged_turns_a_dialogue(corpus: Corpus) -> None:
    n_turns = sum(len(dialogue.turns) for dialogue in corpus)
    assert n_turns / len(corpus) == pytest.approx(23.4, abs=0.05)


def test_turns_alternate_strictly(corpus: Corpus) -> None:
    assert all(
        one.role != other.role
        for dialogue in corpus
        for one, other in zip(dialogue.turns, dialogue.turns[1:], strict=False)
    )


def test_labels_are_unified(corpus: Corpus) -> None:
    problems = {dialogue.problem for dialogue in corpus}
    assert "Issues with Parents" not in problems
    assert len(problems) == 12
    assert len({dialogue.emotion for dialogue in corpus}) == 11


def test_second_shape_is_read_whole() -> None:
    dialogues = read("failed.json")
    assert len(dialogues) == 196
    assert {turn.role for dialogue in dialogues for turn in dialogue.turns} == {
        "seeker",
        "supporter",
    }


def test_enough_items_qualify(result: BuildResult) -> None:
    assert (len(result.items), result.shortfall) == (280, 0)


def test_funnel_starts_with_every_couplet(result: BuildResult) -> None:
    assert result.funnel[0].n_in == 14_642
    assert result.funnel[-1].n_out == 280


def test_every_rule_rejects_something(result: BuildResult) -> None:
    rejecting = {step.rule for step in result.funnel if step.n_out < step.n_in}
    assert rejecting >= set(screening_rules("paper"))


def test_candidates_before_the_second_screen(corpus: Corpus, result: BuildResult) -> None:
    last = screening_rules("paper")[-1]
    assert [600 <= step.n_out <= 1600 for step in result.funnel if step.rule == last] == [True]
    assert len(screen_dialogues(corpus, topics="cautious").items) == 465


def test_more_qualify_than_are_taken(result: BuildResult) -> None:
    (quota,) = [step for step in result.funnel if step.rule == "quota"]
    assert quota.n_in > 400


def test_at_most_two_items_a_dialogue(result: BuildResult) -> None:
    assert max(Counter(item.dialogue_id for item in result.items).values()) <= 2


def test_rare_problems_are_kept(result: BuildResult) -> None:
    assert len({item.problem for item in result.items}) >= 9


def test_order_of_the_corpus_changes_nothing(corpus: Corpus) -> None:
    part = corpus[::4]
    once, again = (build_items(of, n=70, rng=np.random.default_rng(7)) for of in (part, part[::-1]))
    assert [item.id for item in again.items] == [item.id for item in once.items]
