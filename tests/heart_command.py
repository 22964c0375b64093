"""What a command left behind, and the type of the fixture that runs one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Heart = Callable[..., Done]
"""Runs ``heart`` with the given words, in process."""
