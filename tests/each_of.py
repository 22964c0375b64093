"""One test for many things of a kind: it looks at each of them and names all that fail.

A case of its own costs every worker more than looking does.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def each_of(
    things: Iterable[T], name: Callable[[T], str]
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Give a test each of the things in turn."""
    kept = tuple(things)

    def decorate(test: Callable[[T], None]) -> Callable[[], None]:
        def look() -> None:
            faults = []
            for thing in kept:
                try:
                    test(thing)
                except AssertionError as fault:
                    faults.append(f"{name(thing)}: {fault}")
            assert not faults, "\n".join(faults)

        return look

    return decorate
