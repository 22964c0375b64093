"""Who wrote the replies that items hold is known of our own sources, and guessed of no other."""

import dataclasses

import pytest

from hearteval.domain import Item
from hearteval.items import load_starter_items
from hearteval.items.esconv import CONSENT_BASIS
from hearteval.study.results import recorded_by

STARTER = load_starter_items()


def of_basis(basis: str) -> Item:
    return dataclasses.replace(STARTER[0], consent_basis=basis, id="")


def test_the_starter_items_are_written_by_a_model() -> None:
    assert recorded_by(STARTER) == "model"


def test_people_wrote_esconv() -> None:
    assert recorded_by([of_basis(CONSENT_BASIS)]) == "people"


@pytest.mark.parametrize(
    "items",
    [
        [of_basis("Written by our helpline, with consent")],
        [of_basis(CONSENT_BASIS), STARTER[1]],
        [item for item in STARTER if item.reference is None],
    ],
)
def test_of_other_items_nothing_is_claimed(items: list[Item]) -> None:
    assert items
    assert recorded_by(items) is None
