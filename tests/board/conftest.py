"""What the tests of boards share."""

from collections.abc import Iterator

import pytest
from heart_command import undrawn


@pytest.fixture(autouse=True)
def blank_figures() -> Iterator[None]:
    """Draw no figure for a release but those that a folder shared by tests holds."""
    with undrawn():
        yield
