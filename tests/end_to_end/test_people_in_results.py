"""People's judgments and completions in a store: at once in `heart analyze` and the report."""

import json
import random
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import pytest
from heart_command import Heart

import hearteval as he
from hearteval.domain import (
    Assignment,
    Choice,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Study,
    System,
)
from hearteval.labels.safety import label_reasons, safety_rater
from hearteval.store.base import Store
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 11, 23, tzinfo=UTC)
WRITERS = ("w1", "w2", "w3")
PEOPLE = System(name="People", kind="human", family="human")
RATERS = [Rater(name=f"pseudonym-{k}", kind="human", family="human") for k in range(6)]


def add_people(store: Store, study: Study) -> None:
    """Have three people write to every item, and six judge every pair, as the pages store it."""
    draw = random.Random(4)
    items = list(store.iter(Item, study))
    models = [s for s in store.iter(System, study) if s.kind not in ("stress", "human")]
    written = [
        Completion(
            item_id=item.id,
            system_id=PEOPLE.id,
            writer_id=writer,
            text=f"That sounds hard, says {writer}.",
            created_at=NOW,
        )
        for item in items
        for writer in WRITERS
    ]
    grown = replace(
        study,
        version=study.version + 1,
        system_ids=tuple(sorted((*study.system_ids, PEOPLE.id))),
        rater_ids=tuple(sorted((*study.rater_ids, *(rater.id for rater in RATERS)))),
        protocols={**study.protocols, "human": "five-point"},
        created_at=NOW,
    )
    ids = {model.id for model in models}
    others = [text for text in store.iter(Completion, study) if text.system_id in ids]
    pairs = [
        Pair(item_id=one.item_id, completion_ids=(one.id, other.id))
        for one, other in combinations([*others, *written], 2)
        if one.item_id == other.item_id and one.system_id != other.system_id
    ]
    records: list[Assignment | Judgment | Label] = []
    for pair, rater in ((pair, rater) for pair in pairs for rater in RATERS):
        assignment = Assignment(
            study_id=study.id,
            pair_id=pair.id,
            rater_id=rater.id,
            first_completion_id=draw.choice(pair.completion_ids),
        )
        choice: Choice = draw.choice(("first", "second", "tie"))
        judgment = Judgment(
            assignment_id=assignment.id,
            choice=choice,
            strength=None if choice == "tie" else draw.choice((2, 4)),
            rationale="It sounds more like a person.",
            created_at=NOW,
        )
        records += [assignment, judgment, label_reasons(judgment, now=NOW)]
    store.add([PEOPLE, *RATERS, safety_rater(), *written, *pairs, grown, *records])


@pytest.fixture
def joined(heart: Heart, study: Path) -> Path:
    body = heart("run", study, "--json").json
    assert body["leaderboard"]
    with he.open_study(study) as opened:
        before = opened._study
        settings = opened._session.settings
    with closing(SqlStore.open(settings.store)) as store:
        add_people(store, before)
    return study


def test_people_appear_beside_judges_in_analysis_and_report(heart: Heart, joined: Path) -> None:
    done = heart("analyze", joined)
    assert done.code == 0
    assert "People alone and judges alone" in done.out
    results = json.loads(joined.with_suffix(".results.json").read_text(encoding="utf-8"))
    boards = {one["judged_by"]: one["leaderboard"] for one in results["people"]["rankings"]}
    assert boards["people"]["interval_used"] == "two-way"
    assert boards["people"]["n_people"] == 6
    assert results["leaderboard"]["judged_by"] == "people"
    n_items = sum(results["coverage"]["n_items"].values())
    assert results["coverage"]["people"]["writers"] == [
        {
            "system": "People",
            "n_writers": 3,
            "n_completions": 3 * n_items,
            "n_items_by_completions": [[3, n_items]],
        }
    ]
    assert heart("report", joined).code == 0
    page = joined.with_suffix(".report.html").read_text(encoding="utf-8")
    assert 'id="people"' in page
    # Only how carefully people answered names them, for who made the study.
    before, _, after = page.partition('id="quality"')
    assert "pseudonym" not in before + after.partition('id="chapter-judges"')[2]
    assert "person 1" in page
    assert "It sounds more like a person." in page
    table = joined.with_suffix(".tables") / "by-people-and-by-judges.csv"
    assert table.read_text(encoding="utf-8").startswith("judged_by,system")


def test_the_ranking_by_people_is_that_of_their_exported_votes(joined: Path) -> None:
    with he.open_study(joined) as opened:
        results, judgments = opened.analyze(), opened.judgments
    judgments = judgments[(judgments.rater_kind == "human") & ~judgments.is_stress]
    judgments = judgments.assign(strength=judgments.strength.fillna(1))
    votes = he.rank(
        judgments,
        left="first",
        right="second",
        winner="winner",
        own_name=True,
        strength="strength",
        cluster="item_id",
        rater="rater_id",
    )
    assert results.people is not None
    board = results.people.rankings[0].leaderboard
    assert board is not None
    expected = {row.system: row for row in votes.systems}
    assert {row.system for row in board.rows} == expected.keys()
    for row in board.rows:
        other = expected[row.system]
        assert row.unweighted.elo == pytest.approx(other.elo, abs=1e-6)
        assert row.unweighted.low == pytest.approx(other.low, abs=1e-6)
        assert row.weighted.elo == pytest.approx(other.elo_weighted, abs=1e-6)
        assert row.weighted.high == pytest.approx(other.high_weighted, abs=1e-6)
