"""Judging that waits until everybody has written: no pair comes late and tells who wrote."""

from pathlib import Path

from people_site import PEOPLE, people_world

from hearteval.config import load_study

AFTER = PEOPLE + 'judging_opens = "after-writing"\n'


def test_nobody_judges_before_the_last_has_written_and_then_the_pairs_stay(tmp_path: Path) -> None:
    with people_world(tmp_path, people=AFTER) as world:
        judge, writers = world.come("judge"), [world.come("write") for _ in range(2)]
        for writer in writers:
            for _ in range(3):
                assert not world.store.people.targets(world.desk.study.id, "judge")
                writer.write()
        assert world.store.people.targets(world.desk.study.id, "judge")
        assert judge.judge().status_code in (200, 303)
        writers[0].client.post("/withdraw", data={"confirm": "yes"})
        assert judge.judge().status_code in (200, 303)


def test_the_usual_order_leaves_the_hash_of_a_study_as_it_was(tmp_path: Path) -> None:
    hashes = []
    for name, more in (("a", ""), ("b", 'judging_opens = "while-writing"\n'), ("c", AFTER)):
        folder = tmp_path / name
        folder.mkdir()
        people = AFTER if more == AFTER else PEOPLE + more
        with people_world(folder, people=people) as world:
            settings = load_study(world.desk.session.settings.file)
            assert settings.people is not None
            hashes.append(settings.people.identity)
    assert hashes[0] == hashes[1] != hashes[2]
    assert "judging_opens" not in hashes[0]
