"""What a study says, a folder for each thing: what it computes, tables, shows and explains.

`SECTIONS` is the one list of them, in the order of the page. A new analysis is a folder here, its
tests and a page of documents. Those that have not moved here yet stand in `analysis` and `report`.
"""

from dataclasses import replace

from hearteval.analysis.data import StudyData
from hearteval.analysis.section import Section
from hearteval.analysis.study import StudyResults
from hearteval.sections.traits import Traits
from hearteval.sections.wording import Wording

SECTIONS: tuple[type[Section], ...] = (Wording, Traits)


def add_sections(data: StudyData, results: StudyResults, *, level: float = 0.95) -> StudyResults:
    """Return the results with what every section found."""
    found = {section: section.find(data, results.leaderboard, level=level) for section in SECTIONS}
    return replace(results, sections=found)
