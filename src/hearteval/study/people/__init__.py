"""People in a study: they come by links, write, judge, rate and review, and may leave.

Everything is a function of a `Desk`: an open session and the version of the study that its file
describes. Pages show it (`hearteval.web`); the command line can do the same without them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hearteval.config import PeopleSettings
from hearteval.domain import Study
from hearteval.errors import SettingsError
from hearteval.study.session import Session

Trial = Literal["pilot", "preview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReading:
    """The items that people read for a second screen, where they are asked nothing else.

    Attributes:
        questions: By item id, the questions that are asked of it.
        n_people: For each item; where two differ, a third decides.
    """

    questions: Mapping[str, Sequence[str]]
    n_people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A study that people take part in, with its open session."""

    session: Session
    study: Study
    kept: dict[str, Any] = field(default_factory=dict, repr=False)
    """Items and pairs that were read, by id: their ids say all that a page shows of them."""
    reading: ItemReading | None = None
    """Of a second screen; else None."""
    trial: Trial | None = None
    """Whether nothing counts that is sent: see `hearteval.study.people.trial`."""

    @property
    def settings(self) -> PeopleSettings:
        """What the study asks of people.

        Raises:
            SettingsError: The study file has no ``[people]``.
        """
        found = self.session.settings.people
        if found is None:
            raise SettingsError(
                f"{self.session.settings.file}: has no [people], so nobody is asked anything; add"
                " one (docs/how-to/people.md)",
                ids=("people",),
            )
        return found
