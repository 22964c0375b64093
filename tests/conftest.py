"""What the whole suite shares: the corpus beside the checkout, where it is present."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def esconv_folder() -> Path:
    """The ESConv corpus, which is no part of the project."""
    folder = SHARED_DATA / "esconv"
    if not folder.is_dir():
        pytest.skip("the ESConv corpus is not at ../shared/data/esconv beside the checkout")
    return folder
