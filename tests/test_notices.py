"""Notices are text with a kind: they survive copies, and come the most serious first."""

import copy
import json
import pickle
import re
from pathlib import Path

import pytest

from hearteval.analysis.ranking.warnings import FEW_ITEMS
from hearteval.notices import ADVICE, Kind, Notice, by_severity


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))]
)
def test_copy_keeps_text_and_kind(made: object) -> None:
    notice = made(Notice(Kind.MISFIT, "No order fits."))  # type: ignore[operator]
    assert (notice, notice.kind) == ("No order fits.", Kind.MISFIT)


def test_json_holds_the_text() -> None:
    assert json.dumps([Notice(Kind.AXIS, "few")]) == '["few"]'


def test_most_serious_comes_first_and_each_once() -> None:
    unused, first, second = (
        Notice(Kind.UNUSED, "u"),
        Notice(Kind.FEW_ITEMS, "1"),
        Notice(Kind.FEW_ITEMS, "2"),
    )
    fault = Notice(Kind.JUDGE_FAULT, "f")
    assert by_severity([unused, first, second, fault, first]) == (fault, first, second, unused)
    assert fault.kind.is_serious
    assert not unused.kind.is_serious


def test_the_documents_and_the_template_name_the_number_that_warnings_go_by() -> None:
    root, word = Path(__file__).parents[1], {10: "ten"}[FEW_ITEMS]
    template = (root / "src/hearteval/cli/presets/dialogues.txt").read_text(encoding="utf-8")
    tutorial = (root / "docs/tutorial.md").read_text(encoding="utf-8")
    page = (root / "docs/reference/warnings.md").read_text(encoding="utf-8")
    assert f"{word} are a beginning" in template
    assert f"{word.capitalize()} dialogues are a beginning" in tutorial
    assert f"With fewer than {word} items ({word} are a beginning)" in page
    for text in (template, tutorial, page):
        assert len(re.findall(r"(?i)\w+ (?:dialogues )?are a beginning", text)) == 1


def test_every_kind_has_its_section_in_the_docs_in_the_same_order() -> None:
    page = (Path(__file__).parents[1] / "docs/reference/warnings.md").read_text(encoding="utf-8")
    assert re.findall(r'<a id="(.*)"></a>\n## ', page) == [kind.value for kind in Kind]


def test_the_advice_that_the_page_gives_is_that_of_the_docs() -> None:
    page = (Path(__file__).parents[1] / "docs/reference/warnings.md").read_text(encoding="utf-8")
    told = dict(re.findall(r'<a id="([\w-]+)"></a>.*?\*\*What to do:\*\* (.*?)\n', page, re.DOTALL))
    assert told.keys() == set(ADVICE) == set(Kind)
    assert [kind for kind, advice in ADVICE.items() if not told[kind].startswith(advice)] == []
