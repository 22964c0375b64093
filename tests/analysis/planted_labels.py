"""Studies with planted labels, as arrays: many can be drawn in a second. Nothing was measured."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

import numpy as np
from judged_study import make_items

from hearteval.analysis.agreement.pair_votes import PairVotes
from hearteval.analysis.columns import JudgmentColumns, Names, PackedMarks
from hearteval.analysis.data import LabelRow, StudyData, TaxonomyLabels
from hearteval.analysis.labels.agreement import Marks
from hearteval.domain import Completion, Rater, System
from hearteval.stats.comparisons import FloatArray, IntArray

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SYSTEMS = tuple(System(name=name, kind="model", family=name) for name in ("a", "b", "c"))
JUDGES = tuple(Rater(name=name, kind="llm", family=name) for name in ("j", "k"))
PEOPLE = tuple(Rater(name=f"p{k}", kind="human", family="human") for k in range(3))
STRENGTH = np.array([0.5, 0.0, -0.5])
KEYS = ("hope", "facts", "thanks")
NAMES = {key: key.capitalize() for key in KEYS}


class Labelled(NamedTuple):
    """Replies by three systems to some items, every two of an item compared."""

    names: Names
    item: IntArray
    """Of each reply; `system` likewise."""
    system: IntArray
    words: FloatArray
    pairs: IntArray
    """Two replies of an item, by their places, (pairs, 2)."""

    def marks(self, present: FloatArray) -> Marks:
        """Return labels of all replies."""
        return Marks(
            labeler="reader",
            item=self.item,
            system=self.system,
            present=present,
            uncertain=np.zeros_like(present),
            categories=KEYS[: present.shape[1]],
            ids=tuple(text.id for text in self.names.completions),
        )

    def judged(self, worth: FloatArray, rng: np.random.Generator) -> JudgmentColumns:
        """Have both judges choose in both orders, by what each reply is worth in log odds."""
        first = np.concatenate([self.pairs[:, 0], self.pairs[:, 1]] * 2)
        second = np.concatenate([self.pairs[:, 1], self.pairs[:, 0]] * 2)
        n, pair = len(first), np.tile(np.arange(len(self.pairs)), 4)
        chance = 1 / (1 + np.exp(worth[second] - worth[first]))
        return JudgmentColumns(
            names=self.names,
            item=self.item[first],
            pair=pair,
            rater=np.repeat([0, 1], n // 2),
            is_person=np.zeros(n, dtype=bool),
            first=self.system[first],
            second=self.system[second],
            first_text=first,
            second_text=second,
            one_text=self.pairs[pair, 0],
            score=(rng.random(n) < chance).astype(np.float64),
            strength=np.full(n, 3.0),
            marks=PackedMarks({}),
        )

    def voted(self, judges: FloatArray, people: FloatArray, rng: np.random.Generator) -> PairVotes:
        """Have judges and people vote on every pair, each kind by what replies are worth to it."""
        one, other = self.pairs.T
        worths = [judges] * len(JUDGES) + [people] * len(PEOPLE)
        chances = [1 / (1 + np.exp(worth[other] - worth[one])) for worth in worths]
        votes = np.stack([(rng.random(len(one)) >= chance).astype(np.int64) for chance in chances])
        return PairVotes(
            names=self.names,
            item=self.item[one],
            texts=self.pairs,
            systems=self.system[self.pairs],
            votes=votes.T,
            marks=PackedMarks({}),
        )


def labelled(n_items: int, *, seed: int = 0) -> Labelled:
    """Make the replies; their lengths are drawn once."""
    rng, items = np.random.default_rng(seed), tuple(make_items(n_items))
    texts = tuple(
        Completion(
            item_id=item.id,
            system_id=system.id,
            text=" ".join([system.name, str(k), *["word"] * int(rng.integers(8, 40))]),
            created_at=NOW,
        )
        for k, item in enumerate(items)
        for system in SYSTEMS
    )
    n = len(SYSTEMS)
    apart = np.array(list(combinations(range(n), 2)))
    return Labelled(
        names=Names(items, SYSTEMS, (*JUDGES, *PEOPLE), texts),
        item=np.repeat(np.arange(n_items), n),
        system=np.tile(np.arange(n), n_items),
        words=np.array([len(text.text.split()) for text in texts], dtype=np.float64),
        pairs=(n * np.arange(n_items)[:, None, None] + apart).reshape(-1, 2),
    )


def drawn_labels(
    made: Labelled, rng: np.random.Generator, rates: Sequence[Mapping[str, float]] | None = None
) -> FloatArray:
    """Draw which reply holds what: each category by system at its rate, one half by default."""
    chances = np.full((len(SYSTEMS), len(KEYS)), 0.5)
    for k, of_system in enumerate(rates or ()):
        for key, rate in of_system.items():
            chances[k, KEYS.index(key)] = rate
    return (rng.random((len(made.item), len(KEYS))) < chances[made.system]).astype(np.float64)


def label_rows(made: Labelled, present: FloatArray, rater: Rater) -> list[LabelRow]:
    """Return drawn labels as a store would give them."""
    return [
        LabelRow(
            text_id=text.id,
            category=key,
            verdict="present" if is_in else "absent",
            rater_id=rater.id,
        )
        for text, row in zip(made.names.completions, present, strict=True)
        for key, is_in in zip(KEYS, row, strict=False)
    ]


def study_of(made: Labelled, present: FloatArray) -> StudyData:
    """Return a study of the first two systems with these labels by one labeler."""
    reader = Rater(name="reader", kind="llm", family="r")
    given = TaxonomyLabels(
        taxonomy="x",
        version="1",
        title="things",
        categories=NAMES,
        labelers=[reader],
        labels=label_rows(made, present, reader),
    )
    return StudyData(
        items=made.names.items,
        systems=SYSTEMS[:2],
        completions=made.names.completions,
        labels=[given],
    )
