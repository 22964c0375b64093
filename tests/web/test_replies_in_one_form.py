"""How a text was typed does not tell who wrote it: pages and judges show one form."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from people_site import START, STUDY, Visitor, World, people_world

from hearteval.config import load_study
from hearteval.domain import Assignment, Completion, Judgment, Pair, Rater
from hearteval.errors import SettingsError
from hearteval.judgments.plan.pairs import enumerate_pairs
from hearteval.steps.judgments import PairStep, judge_assignments
from hearteval.study import Quiet
from hearteval.study.grow import gather, register
from hearteval.study.people.planning import open_tasks
from hearteval.study.results import analyze
from hearteval.study.verify import verify_store

RAW = STUDY.replace("[people]", 'display = "raw"\n[people]')
BY_A_MODEL = (
    "I\u2019m **so** sorry \u2014 that sounds heavy\u2026 \U0001f499\n\n- Breathe.\n- Rest.\n\n"
    "What would help {item}\u00a0tonight?"
)
BY_A_PERSON = "I'm so  sorry - that sounds heavy.. :( maybe rest. What would help {item} tonight?"
TELLS = {
    "quotes": "[\u2018\u2019\u201c\u201d]",
    "dashes": "[\u2013\u2014]|--",
    "dots": "\u2026|(?<!\\.)\\.\\.(?!\\.)",
    "Markdown": r"[*_`#]|(?m:^[-+] )",
    "emoji": "[\U0001f300-\U0001faff]|:\\(",
    "lines": "\n",
    "spaces": "  |\u00a0|\t",
}


def tells(text: str) -> dict[str, int]:
    return {name: len(re.findall(pattern, text)) for name, pattern in TELLS.items()}


def shown(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r"</h2><p>(.*?)</p></section>", page, re.DOTALL)]


@pytest.mark.parametrize(("study", "n_telling"), [(STUDY, 0), (RAW, len(TELLS))])
def test_typography_carries_no_information(tmp_path: Path, study: str, n_telling: int) -> None:
    with people_world(tmp_path, study=study) as world:
        writers = [world.come("write") for _ in range(2)]
        for k, writer in enumerate(writers):
            for text in (BY_A_MODEL, BY_A_PERSON, BY_A_MODEL)[k:]:
                assert writer.write(text.format(item=f"you {k}")).status_code == 303
        open_tasks(world.desk)
        rater, found = world.come("judge"), list[str]()
        page = rater.get("judge")
        while rater.ticket:
            found += shown(page)
            world.store.people.skip(*_lease(world, rater), now=world.clock())
            page = rater.get("judge")
        assert any("sounds heavy" in text for text in found)
        assert sum(map(bool, _sums(found).values())) >= n_telling
        assert n_telling or not any(_sums(found).values())


def _lease(world: World, rater: Visitor) -> tuple[object, object]:
    (person,) = (
        one for one in world.store.people.people(world.desk.study.id) if one.name == rater.name
    )
    return person, world.store.people.find_ticket(person, rater.ticket)


def _sums(texts: list[str]) -> dict[str, int]:
    return {name: sum(tells(text)[name] for text in texts) for name in TELLS}


def test_judges_see_what_people_see(tmp_path: Path) -> None:
    with people_world(tmp_path, people="writers_per_item = 1\nraters_per_pair = 1\n") as world:
        assert world.come("write").write(BY_A_MODEL.format(item="you")).status_code == 303
        open_tasks(world.desk)
        store, study = world.store, world.desk.study
        (written,) = (c for c in store.iter(Completion, study) if c.writer_id)
        assert "**so**" in written.text
        pairs = store.find(Pair, sorted(store.people.targets(study.id, "judge")))
        (pair, *_) = (p for p in pairs if written.id in p.completion_ids)
        (judge,) = (r for r in store.iter(Rater, study) if r.kind == "llm")
        asked = Assignment(
            study_id=study.id, pair_id=pair.id, rater_id=judge.id, first_completion_id=written.id
        )
        store.add([asked])
        form = world.desk.session.settings.judging.form
        wanted = PairStep(form=form).find(store, study, [judge.id])
        assert wanted.case_of(asked.id).texts[0].text == (
            "I'm so sorry - that sounds heavy... Breathe. Rest. What would help you tonight?"
        )
        judge_assignments(store, study, now=world.clock, progress=lambda *_: None)
        assert len(list(store.iter(Judgment, study))) == 1
        assert not verify_store(store, progress=lambda *_: None).faults
        made = analyze(world.desk.session, study).provenance.design
        assert "one plain form, which changed 1 of 1 by people, " in made


def test_texts_that_are_shown_alike_are_no_pair() -> None:
    one, other = (
        Completion(item_id="i", system_id=system, text=text, created_at=START)
        for system, text in (("a", "It\u2019s *hard*."), ("b", "It's hard."))
    )
    assert enumerate_pairs([one, other], display="plain") == ((), 1)
    assert len(enumerate_pairs([one, other])[0]) == 1


def test_a_study_that_was_judged_in_one_form_keeps_it(tmp_path: Path) -> None:
    with people_world(tmp_path, study=RAW) as world:
        path = world.desk.session.settings.file
        text = path.read_text("utf-8")
        world.come("judge").judge()
        for other in ("", 'display = "plain"\n'):
            path.write_text(text.replace('display = "raw"\n', other), "utf-8")
            session = replace(world.desk.session, settings=load_study(path))
            with pytest.raises(SettingsError, match=r'set judging.display = "raw"'):
                register(session, gather(session.settings, Quiet(), session.store))
        path.write_text(text, "utf-8")
        session = replace(world.desk.session, settings=load_study(path))
        assert register(session, gather(session.settings, Quiet(), session.store)).display == "raw"
