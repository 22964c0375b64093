"""What notebooks use: `rank` and `agree` on any file or dataframe, the same as the command line.

Results are frozen records with the fields of the JSON; they show as a table. `votes`, `anchored`
and `adjusted` rank, `gate` holds a candidate against a baseline, `ratings` measures agreement,
`published` checks printed tables, `studies` opens what `heart run` has stored.
"""

from hearteval.api.adjusted import rank_controlled, rank_judge_aware
from hearteval.api.anchored import rank_anchored
from hearteval.api.gate import gate
from hearteval.api.plans import plan
from hearteval.api.published import check, compare_rankings
from hearteval.api.ratings import agree
from hearteval.api.studies import open_study
from hearteval.api.votes import rank

__all__ = [
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
