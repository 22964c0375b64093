"""hearteval: the open implementation of HEART (arXiv 2601.19922).

People and language models answer the same distressed seeker, blinded raters compare the answers in
pairs, and the comparisons become ratings with honest intervals. Importing this package reads no
file and no environment; the command line is ``heart``.
"""

import typing as _typing

from hearteval.version import __version__

if _typing.TYPE_CHECKING:
    from hearteval.api import (
        agree,
        check,
        compare_rankings,
        gate,
        open_study,
        plan,
        rank,
        rank_anchored,
        rank_controlled,
        rank_judge_aware,
    )

__all__ = [
    "__version__",
    "agree",
    "check",
    "compare_rankings",
    "gate",
    "open_study",
    "plan",
    "rank",
    "rank_anchored",
    "rank_controlled",
    "rank_judge_aware",
]


def __getattr__(name: str) -> _typing.Any:
    if name in __all__:
        from hearteval import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
