"""What in the names of a table may be a slip: words for a missing cell, names that look alike.

Neither is corrected: somebody may mean them. They are said, whatever the source, so that a file and
a dataframe with the same cells give the same result.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

import numpy as np

from heartbench.exchange.columns import CodedColumn

MISSING_WORDS = frozenset({"NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"})
"""What other programs write for a missing cell."""
_SHOWN = 5


class MissingWords:
    """Counts the cells that hold a word for a missing cell, by column."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, name: str, column: CodedColumn, *, meant: Collection[str] = ()) -> None:
        """Count the cells of a column; words that somebody said are `meant` are fine."""
        for word in MISSING_WORDS.intersection(column.values).difference(meant):
            codes = [code for code, text in enumerate(column.values) if text == word]
            self._counts[name][word] += int(np.isin(column.codes, codes).sum())

    def warnings(self) -> list[str]:
        """Return a warning for each column with such cells."""
        warnings = []
        for name, counts in sorted(self._counts.items()):
            words = ", ".join(f"{word!r} ({n:,})" for word, n in sorted(counts.items()) if n)
            if words:
                warnings.append(
                    f"column {name!r} has cells that read {words}, taken as they stand; leave a "
                    "cell empty if it means missing"
                )
        return warnings


def warn_of_look_alikes(kind: str, names: Iterable[str]) -> list[str]:
    """Return a warning that names those that differ only in case, white space or encoding.

    Args:
        kind: What they are, e.g. "systems".
        names: The names, each once.
    """
    groups = defaultdict(list)
    for name in names:
        key = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        groups[key].append(name)
    alike = sorted(sorted(group) for group in groups.values() if len(group) > 1)
    if not alike:
        return []
    shown = "; ".join(map(_show, alike[:_SHOWN])) + ("; ..." if len(alike) > _SHOWN else "")
    return [
        f"{kind} that differ only in case, white space or encoding ({len(alike):,}): {shown}; "
        "write them alike if they are one"
    ]


def _show(group: list[str]) -> str:
    # Two encodings of one letter look the same unless they are spelled out.
    is_clear = len({unicodedata.normalize("NFKC", name) for name in group}) == len(group)
    return " and ".join(map(repr if is_clear else ascii, group))
