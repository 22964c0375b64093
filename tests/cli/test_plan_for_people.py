"""People who write make more pairs, which judges are paid for: the plan says how much more."""

import re
from pathlib import Path

import pytest
from heart_command import Heart
from served_study import healthy, serving, write_study

PRICED = "price = { input = 3, output = 15 }"
PEOPLE = """
[people]
writers_per_item = 3
raters_per_pair = 0
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path, "http://127.0.0.1:9", extra=PRICED)


def judges_share(said: str) -> tuple[int, float]:
    """Return the calls of the judge that a plan names, and what they are expected to cost."""
    found = re.search(r"judge theirs: ([\d,]+) calls, expected \$([\d.]+)", said)
    assert found is not None, said
    return int(found[1].replace(",", "")), float(found[2])


def test_a_plan_says_what_people_who_write_add_to_the_judges_bill(
    study: Path, heart: Heart
) -> None:
    n_before, usd_before = judges_share(heart("run", study, "--dry-run").out)
    study.write_text(study.read_text("utf-8") + PEOPLE, "utf-8")

    said = " ".join(heart("run", study, "--dry-run").out.split())

    n_after, usd_after = judges_share(said)
    found = re.search(
        r"what people write \(\[people\]\) adds .*: at most (\d+) of their (\d+) judgments,"
        r" expected \$([\d.]+)",
        said,
    )
    assert found is not None, said
    assert int(found[1]) == n_after - n_before > 0
    assert int(found[2]) == n_after - 1  # one call shows whether the schema is enforced
    assert float(found[3]) == pytest.approx(usd_after - usd_before, abs=0.011)


@pytest.mark.parametrize("verb", ["run", "judge"])
def test_nobody_agrees_to_the_bill_without_that_being_said(
    tmp_path: Path, heart: Heart, verb: str
) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, extra=PRICED)
        heart("complete", path, "--yes")
        path.write_text(path.read_text("utf-8") + PEOPLE, "utf-8")
        asked = heart(verb, path)

    assert asked.code == 2
    assert "what people write ([people]) adds" in asked.err
    assert "add --yes to go ahead" in asked.err


def test_a_plan_without_writers_says_nothing_of_them(study: Path, heart: Heart) -> None:
    judged = PEOPLE.replace("= 3", "= 0").replace("per_pair = 0", "per_pair = 2")
    study.write_text(study.read_text("utf-8") + judged, "utf-8")

    assert "what people write" not in heart("run", study, "--dry-run").out


def test_judging_alone_says_it_too(tmp_path: Path, heart: Heart) -> None:
    with serving(healthy()) as server:
        path = write_study(tmp_path, server.url, extra=PRICED)
        path.write_text(path.read_text("utf-8") + PEOPLE, "utf-8")
        heart("complete", path, "--yes")
        heart("judge", path)

    (log,) = (tmp_path / "served.logs").glob("*judge*")
    assert "what people write ([people]) adds" in log.read_text("utf-8")
