"""Replies borrowed from other dialogues: another item's reply, by hash or from the nearest context.

Only regular items lend (a rewritten item has no reference) and never to an item of the same
dialogue, rewritten or not, nor where the reply is word for word the item's own reference.
Whether a borrowed reply fits is not looked at: that it does not is what these systems are for.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from hearteval.domain import Item

if TYPE_CHECKING:
    from scipy import sparse

MissingReason = Literal["no-reference", "no-other-dialogue"]
_BLOCK_ROWS = 512
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


class Missing(NamedTuple):
    """Why a system has no answer to an item: it has no reference, or no other dialogue lends one.

    The reason is that of the attempt that is stored.
    """

    reason: MissingReason


def borrow_shuffled(items: Sequence[Item], *, seed: int) -> Mapping[str, str | Missing]:
    """Give each item the reply of the lender with the smallest SHA-256 of (seed, item, lender).

    An added item takes over each earlier item with probability 1/n, n the lenders: the fewest any
    even choice can change. Cost grows with items times lenders: 2,000 items take a few seconds.
    """
    lenders = _lenders(items)
    lender_ids = [lender.id.encode() for lender in lenders]
    texts: dict[str, str | Missing] = {}
    for item in items:
        prefix = hashlib.sha256(f"{seed}\x1f{item.id}\x1f".encode())
        digests = []
        for lender_id in lender_ids:
            digest = prefix.copy()
            digest.update(lender_id)
            digests.append(digest.digest())
        order = sorted(range(len(lenders)), key=digests.__getitem__)
        texts[item.id] = _first_reply(item, lenders, order)
    return texts


def borrow_nearest(items: Sequence[Item]) -> Mapping[str, str | Missing]:
    """Give each item the reply of the lender whose context is nearest to its own.

    Nearness is the cosine between tf-idf vectors of all words of the context, with weights
    (1 + ln tf)(1 + ln((1 + n) / (1 + df))) over the n items given (Salton and Buckley 1988, inverse
    frequencies smoothed). Equal cosines, to 12 places, go to the smaller id.
    """
    ordered = sorted(items, key=lambda item: item.id)
    lenders = _lenders(ordered)
    vectors = _tf_idf(ordered)
    of_lenders = [place for place, item in enumerate(ordered) if item.reference is not None]
    lender_vectors = vectors[of_lenders].T.tocsr()
    texts: dict[str, str | Missing] = {}
    for start in range(0, len(ordered), _BLOCK_ROWS):
        block = (vectors[start : start + _BLOCK_ROWS] @ lender_vectors).toarray().round(12)
        for item, cosines in zip(ordered[start:], block, strict=False):
            texts[item.id] = _first_reply(item, lenders, (-cosines).argsort(kind="stable"))
    return texts


def _lenders(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.reference is not None]


def _first_reply(item: Item, lenders: Sequence[Item], order: Iterable[int]) -> str | Missing:
    """Return the reply of the first lender, in the order given, that may lend to the item."""
    own = _plain(item.reference)
    for i in order:
        lender = lenders[i]
        is_same_dialogue = (lender.source, lender.dialogue_id) == (item.source, item.dialogue_id)
        reply = lender.reference
        if not is_same_dialogue and reply is not None and _plain(reply) != own:
            return reply
    return Missing(reason="no-other-dialogue")


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(text.casefold().split())


def _tf_idf(items: Sequence[Item]) -> "sparse.csr_array":
    """Return unit tf-idf vectors of the contexts: a row an item, columns by word."""
    # Not for whoever only asks for a baseline's name.
    import numpy as np  # noqa: PLC0415
    from scipy import sparse  # noqa: PLC0415

    counts = [
        Counter(_WORD.findall(" ".join(turn.text for turn in item.context).lower()))
        for item in items
    ]
    column = {word: i for i, word in enumerate(sorted({word for row in counts for word in row}))}
    rows = np.repeat(np.arange(len(items)), [len(row) for row in counts])
    words = [word for row in counts for word in sorted(row)]
    tf = np.array([row[word] for row in counts for word in sorted(row)], dtype=float)
    columns = np.array([column[word] for word in words], dtype=int)
    df = np.bincount(columns, minlength=len(column))
    weights = (1 + np.log(tf)) * (1 + np.log((1 + len(items)) / (1 + df[columns])))
    norms = np.sqrt(np.bincount(rows, weights=weights**2, minlength=len(items)))
    shape = (len(items), len(column))
    return sparse.csr_array((weights / norms[rows], (rows, columns)), shape=shape)
