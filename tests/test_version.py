"""One version, wherever it is written."""

from importlib.metadata import version
from pathlib import Path

from hearteval import __version__

ROOT = Path(__file__).resolve().parents[1]


def test_citation_and_package_have_the_same_version() -> None:
    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert version("hearteval") == __version__
