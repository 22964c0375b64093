"""The planned contrasts of people: their p by what is compared in words, and their q."""

from collections.abc import Mapping
from dataclasses import replace

from hearteval.sections.people.models.meetings import MIN_ITEMS
from hearteval.sections.people.models.shares import AgainstModels
from hearteval.sections.people.study import PeopleResults

LEADS: Mapping[str, str] = {
    "people": "models' score by people, regular less adversarial items",
    "judges": "models' score by judges, regular less adversarial items",
    "people-judges": "models' score by people less by judges, regular less adversarial items",
    "all-items": "models' score by people less by judges, all items",
}


def planned_tests(people: PeopleResults) -> dict[str, float | None]:
    """Return the p of each, by what is compared."""
    found = {_parity(one): one.parity.p for one in people.against_models if is_planned(one)}
    found |= {LEADS[one.name]: one.score.p for one in people.leads if one.score is not None}
    differences = people.with_judges.differences if people.with_judges else ()
    return found | {_agreement(one.one, one.other): one.p for one in differences}


def with_q(people: PeopleResults, q: Mapping[str, float]) -> PeopleResults:
    """Return results that know the q of each, by the same words."""
    both = people.with_judges
    if both is not None:
        both = replace(
            both,
            differences=tuple(
                replace(one, q=q.get(_agreement(one.one, one.other))) for one in both.differences
            ),
        )
    return replace(
        people,
        with_judges=both,
        leads=tuple(replace(one, q=q.get(LEADS[one.name])) for one in people.leads),
        against_models=tuple(
            replace(one, q=q.get(_parity(one)) if is_planned(one) else None)
            for one in people.against_models
        ),
    )


def is_planned(one: AgainstModels) -> bool:
    """Return whether the score of models against people was planned to be tested against parity."""
    return one.writers is None and one.n_items >= MIN_ITEMS


def _parity(one: AgainstModels) -> str:
    return f"models' score by {one.judged_by} less one half"


def _agreement(one: str, other: str) -> str:
    return f"agreement of majorities, {one} less {other}"
