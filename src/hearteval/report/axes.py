"""What the axes are called in what is shown: the project's names, or those of a study's own rubric.

A report is written in one go, of one study: its names hold until it is written.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from hearteval import domain
from hearteval.domain import Axis

_SHOWN: ContextVar[Mapping[Axis, str]] = ContextVar("_SHOWN", default=domain.AXIS_NAMES)


class _ShownNames(Mapping[Axis, str]):
    """The names of the axes that are shown now, in the order of the rubric."""

    def __getitem__(self, axis: Axis) -> str:
        return _SHOWN.get()[axis]

    def __iter__(self) -> Iterator[Axis]:
        return iter(domain.AXIS_NAMES)

    def __len__(self) -> int:
        return len(domain.AXIS_NAMES)


AXIS_NAMES: Mapping[Axis, str] = _ShownNames()


def axis_name(letter: str) -> str:
    """Return what an axis is called, by its letter."""
    return next(name for axis, name in AXIS_NAMES.items() if axis == letter)


@contextmanager
def naming_axes(names: Mapping[Axis, str]) -> Iterator[None]:
    """Call the axes so in all that is written until the block ends."""
    token = _SHOWN.set(names)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def own_axis_names() -> Mapping[Axis, str]:
    """Return the names that are shown and are those of a rubric of one's own."""
    shown = _SHOWN.get()
    return {axis: shown[axis] for axis, name in domain.AXIS_NAMES.items() if shown[axis] != name}
