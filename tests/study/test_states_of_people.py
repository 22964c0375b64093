"""How far somebody is: one word, and which of several comes first."""

from dataclasses import replace

import pytest
from people_world import NOW

from hearteval.store.people.persons import Person
from hearteval.study.people.watch.states import Standing, state_of

PERSON = Person(
    id="0" * 32,
    study_id="1" * 32,
    name="P-22222222",
    invite_id="2" * 32,
    kinds=("judge",),
    group=None,
    vetting="none",
    locale="default",
    created_at=NOW,
)
STOPPED = replace(PERSON, stopped_at=NOW)
WITHDRAWN = replace(PERSON, withdrawn_at=NOW)


@pytest.mark.parametrize(
    ("known", "state"),
    [
        (Standing(person=PERSON), "consented"),
        (Standing(person=PERSON, asks_first=True), "screened"),
        (Standing(person=PERSON, asks_first=True, has_sent=True), "working"),
        (Standing(person=STOPPED, has_sent=True), "stopped"),
        (Standing(person=STOPPED, has_sent=True, is_done=True), "done"),
        (Standing(person=PERSON, has_sent=True, is_done=True, is_paid=True), "paid"),
        (Standing(person=PERSON, has_sent=True, is_paid=True), "paid"),
        (Standing(person=PERSON, is_done=True, is_paid=True, is_excluded=True), "excluded"),
        (Standing(person=WITHDRAWN, is_done=True, is_paid=True, is_excluded=True), "withdrawn"),
    ],
)
def test_what_the_store_knows_is_one_state(known: Standing, state: str) -> None:
    assert state_of(known) == state
