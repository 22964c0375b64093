"""What a study says, a folder for each thing: what it computes, tables, shows and explains.

`SECTIONS` is the one list of them, in the order of the page. A new analysis is a folder here, its
tests and a page of documents. Those that have not moved here yet stand in `analysis` and `report`.
"""

from typing import Any

from hearteval.analysis.section import Section
from hearteval.sections.ablations import Ablations
from hearteval.sections.agreement import Agreement
from hearteval.sections.anchored import Anchored
from hearteval.sections.axes import Axes
from hearteval.sections.board import Continued
from hearteval.sections.difficulty import Difficulty
from hearteval.sections.explained import Explained
from hearteval.sections.factors import Factors
from hearteval.sections.judges import Judges
from hearteval.sections.labels import Labels
from hearteval.sections.people import People
from hearteval.sections.quality import Quality
from hearteval.sections.ratings import Ratings
from hearteval.sections.reasons import Reasons
from hearteval.sections.strata import Strata
from hearteval.sections.traits import Traits
from hearteval.sections.wording import Wording

SECTIONS: tuple[type[Section[Any]], ...] = (
    People,
    Agreement,
    Quality,
    Anchored,
    Judges,
    Continued,
    Ratings,
    Axes,
    Factors,
    Strata,
    Difficulty,
    Ablations,
    Labels,
    Reasons,
    Wording,
    Traits,
    Explained,
)
