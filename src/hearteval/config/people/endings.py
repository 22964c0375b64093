"""The ``[people.endings]`` of a study file: what people take along when their part is over."""

import re
from typing import Literal

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from hearteval.config.model_settings import Section

Ending = Literal["done", "partial", "limit", "stopped", "screened_out", "no_consent", "full"]
"""How somebody's part ended: see `hearteval.study.people.paying.ending`."""
WAY = re.compile(r"https://[^\s@]+|[\w-]{1,64}", re.ASCII)


class Endings(Section):
    """The section as it is written: for each ending a completion code, a link back, or nothing.

    Attributes:
        partial: For who has sent something, and not all that was asked for.
        limit: For who may not go on now, by a limit of a sitting or a day.
        stopped: For who has sent nothing.
        full: For who comes by a link that all have come by, or to a study that is closed.
    """

    done: str | None = None
    partial: str | None = None
    limit: str | None = None
    stopped: str | None = None
    screened_out: str | None = None
    no_consent: str | None = None
    full: str | None = None

    @field_validator("*")
    @classmethod
    def _a_code_or_a_link(cls, given: str | None) -> str | None:
        if given is not None and not WAY.fullmatch(given):
            raise PydanticCustomError(
                "ending", "expected a code of letters, digits, - and _, or an https:// address"
            )
        return given
