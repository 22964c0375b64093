"""Which comparisons have their reasons labelled, where a study bounds how many: by seed and strata.

A bound is on cost. Those come first whose reasons were labelled before, so that a study that grows
pays for nothing twice, then those that people and judges both gave reasons for: what they have in
common is asked of these alone.
"""

from collections import defaultdict
from collections.abc import Collection, Container, Mapping, Sequence

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import content_hash


def choose_comparisons(
    rows: Sequence[JudgmentRow],
    *,
    n: int,
    seed: int,
    people: Container[str],
    subsets: Mapping[str, str],
    before: Collection[str] = (),
) -> frozenset[str]:
    """Choose `n` pairs among those of some judgments, evenly over two systems and subset of items.

    Args:
        rows: Judgments with reasons that may be labelled.
        n: How many; all where there are fewer.
        seed: The study's.
        people: Ids of the raters who are people.
        subsets: Subset by item id.
        before: Pairs of which some reason is labelled, by id.
    """
    kinds: defaultdict[str, set[bool]] = defaultdict(set)
    strata: dict[str, tuple[str, ...]] = {}
    for row in rows:
        kinds[row.pair_id].add(row.rater_id in people)
        ends = sorted((row.first_system_id, row.second_system_id))
        strata[row.pair_id] = (*ends, subsets[row.item_id])
    drawn = sorted(strata, key=lambda pair: content_hash([seed, "reasons", pair]))
    turn: defaultdict[tuple[bool, bool, tuple[str, ...]], int] = defaultdict(int)
    keyed = []
    for place, pair in enumerate(drawn):
        order = pair not in before, len(kinds[pair]) < 2
        turn[*order, strata[pair]] += 1
        keyed.append((*order, turn[*order, strata[pair]], place, pair))
    return frozenset(pair for *_, pair in sorted(keyed)[:n])
