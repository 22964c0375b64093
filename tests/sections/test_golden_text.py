"""Every word of a section on the page of invented results, in `tests/golden`."""

from pathlib import Path

import pytest
from invented_results import invented_results, section_html
from test_page import words

from hearteval.report.page import render_page

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["explained", "judges"])
def test_a_section_says_what_it_said(name: str) -> None:
    said = words(section_html(render_page(invented_results()), name))
    assert said.split() == (GOLDEN / f"{name}.txt").read_text("utf-8").split()
