"""How records check themselves and get their ids; shared by the record modules only."""

from collections.abc import Callable
from typing import Any

from heartbench.errors import InvalidRecordError


def require(holds: bool, where: str, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Raise `InvalidRecordError` naming the record unless the rule holds."""
    if not holds:
        raise InvalidRecordError(f"{where}: {message}", ids=(where,))


def fill_id(record: Any, compute: Callable[[], str]) -> None:
    """Give a record its content id unless it came with one (from a store or a release)."""
    if not record.id:
        object.__setattr__(record, "id", compute())
