"""Every word that a section says, as files in `tests/golden`: what a change changes shows there."""

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def golden_words(name: str) -> list[str]:
    """Return the words of a golden file."""
    return (GOLDEN / f"{name}.txt").read_text("utf-8").split()
