"""``heart people``: what is done for those who take part."""

from pathlib import Path

import click

from hearteval.cli.console import emit_json, say, working_on
from hearteval.cli.options import json_option, study_argument
from hearteval.cli.paying import list_people, paid, pay
from hearteval.study import quoted

BACKUPS = (
    "Not reached: backups, archived logs, replicas and snapshots of the database, copies beside it"
    " (study.db.v0005), files on other computers, what was published. Delete them yourself."
)
"""What no command can clear."""
OLD_LOG = (
    "The database's log may still hold what was deleted. SQLite: stop what uses the database, such"
    " as heart serve, and run this again. PostgreSQL: ask whoever runs the server to run"
    " pg_switch_wal() and to let go of older logs."
)


by_option = click.option(
    "--by", default="researcher", show_default=True, help="Who decides it, for the record."
)
why_option = click.option("--why", required=True, help="Why, in words, for the record.")


@click.group("people")
def command() -> None:
    """See who takes part, pay them, or delete what one wrote."""


for verb in (list_people, pay, paid):
    command.add_command(verb)


@command.command("withdraw")
@study_argument
@click.argument("name", metavar="ID")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@json_option
def withdraw(study_file: Path, name: str, *, yes: bool, as_json: bool) -> None:
    """Delete every word of a person, and who they are.

    ID is the name that the study gave them, such as P-7K3MQ2XV, or their id on the site that sent
    them. Their choices stay as numbers. This cannot be undone.
    """
    from hearteval.config import load_study
    from hearteval.errors import SettingsError, StoreError
    from hearteval.report.text import plural
    from hearteval.study.people import Desk
    from hearteval.study.people.joining import find_to_withdraw
    from hearteval.study.people.joining import withdraw as delete
    from hearteval.study.report.left_behind import find_left_behind

    with working_on(load_study(study_file, is_of_items=True), "people") as (session, study):
        desk = Desk(session=session, study=study)
        person = find_to_withdraw(desk, name)
        if person is None:
            raise StoreError(
                f"nobody in the study {study.name!r} is called {name!r}; the researcher's page"
                " (`heart serve`) lists who takes part"
            )
        if person.withdrawn_at is None and not yes:
            if as_json:
                raise SettingsError("this deletes what a person wrote; add --yes to go ahead")
            if not click.confirm(f"Delete every word of {person.name}? It cannot be undone."):
                say("nothing was deleted")
                return
        counts = {} if person.withdrawn_at else delete(desk, person)
        files = [str(path) for path in find_left_behind(session, study)]
        if as_json:
            was = person.withdrawn_at is not None
            body = {"person": person.name, "deleted": counts, "was_gone": was, "files": files}
            emit_json("people", body)
        elif person.withdrawn_at:
            say(f"{person.name} withdrew before; nothing is left to delete in the store")
        else:
            say(
                f"{person.name} has withdrawn: {plural(sum(counts.values()), 'text')} deleted. A"
                " report, an export or a copy made before may hold them: delete it, or make it anew"
            )
        if not as_json:
            _say_left(files, study_file)


@command.command("purge")
@study_argument
@click.option("--yes", is_flag=True, help="Delete without asking.")
@json_option
def purge(study_file: Path, *, yes: bool, as_json: bool) -> None:
    """Clear what withdrawals left in files: old reports, exports, rows of the database.

    Deletes the reports and exports known to be older than the last withdrawal, and writes the
    database anew. Whoever uses it waits meanwhile.
    """
    from hearteval.config import load_study
    from hearteval.errors import SettingsError
    from hearteval.study.report.left_behind import find_left_behind, remove

    with working_on(load_study(study_file, is_of_items=True), "people") as (session, study):
        files = find_left_behind(session, study)
        if files and not yes:
            if as_json:
                raise SettingsError("this deletes reports and exports; add --yes to go ahead")
            _say_left([str(path) for path in files], study_file)
            if not click.confirm("Delete these files?"):
                say("nothing was deleted")
                return
        remove(study, files)
        is_new_log = session.store.people.purge(study.id, now=session.now())
        if as_json:
            body = {"files": [str(path) for path in files], "is_new_log": is_new_log}
            emit_json("people", {**body, "left": BACKUPS})
            return
        say(f"{len(files)} files deleted")
        say("the database was written anew" if is_new_log else OLD_LOG)
        say(BACKUPS)


@command.command("quality")
@study_argument
@click.option("--apply", "is_applied", is_flag=True, help="Leave out whom the study's rules find.")
@by_option
@json_option
def quality(study_file: Path, *, is_applied: bool, by: str, as_json: bool) -> None:
    """Set people's answers against rules: checks, times, habits, agreement.

    It lists what was seen and leaves nobody out. With --apply it does, by the rules that the study
    file named before anybody answered (people.quality.excludes); `heart people restore` takes that
    back.
    """
    from dataclasses import asdict

    from hearteval.config import load_study
    from hearteval.report.text import plural
    from hearteval.sections.quality.words import NO_REJECTION, SEEN_NOT_DONE, finding_words
    from hearteval.study.people.quality import leave_out_by_rules, look_at_answers

    with working_on(load_study(study_file), "people") as (session, study):
        seen = look_at_answers(session, study)
        made = leave_out_by_rules(session, study, seen, by=by) if is_applied else []
        out = sorted({*seen.quality.excluded, *(one.person for one in made)})
        if as_json:
            body = {
                "people": sorted({one.person for one in seen.findings}),
                "findings": [asdict(one) for one in seen.findings],
                "found": {name: [one.rule for one in own] for name, own in seen.found.items()},
                "rules": asdict(seen.quality.rules),
                "excludes": list(seen.quality.excludes),
                "preregistered": seen.quality.preregistered,
                "to_leave_out": [] if is_applied else sorted(seen.to_leave_out),
                "left_out_now": [one.person for one in made],
                "left_out": out,
                "is_rejection": False,
            }
            emit_json("people", body)
            return
        n = len({one.person for one in seen.findings})
        say(f"{plural(n, 'person', 'people')} answered; rules see something in {len(seen.found)}")
        for name, own in sorted(seen.found.items()):
            words = "; ".join(f"{one.rule}: {finding_words(one)}" for one in own)
            say(f"  {name}  {words}")
        if seen.found:
            say(SEEN_NOT_DONE)
        if made:
            say(f"left out now: {', '.join(one.person for one in made)}")
        elif is_applied:
            say("nobody is left out who was not before")
        elif seen.to_leave_out:
            say(
                f"by the study's rules {', '.join(sorted(seen.to_leave_out))} would be left out:"
                f" heart people quality {quoted(study_file)} --apply"
            )
        say(f"left out of every number: {', '.join(out) or 'nobody'}")
        if out or seen.to_leave_out:
            say(NO_REJECTION)


@command.command("exclude")
@study_argument
@click.argument("name", metavar="ID")
@why_option
@by_option
@json_option
def exclude(study_file: Path, name: str, *, why: str, by: str, as_json: bool) -> None:
    """Leave a person out of every number; nothing is deleted.

    ID is the name that the study gave them, such as P-7K3MQ2XV. It is no rejection: they are paid.
    """
    _decide(study_file, name, is_excluded=True, why=why, by=by, as_json=as_json)


@command.command("restore")
@study_argument
@click.argument("name", metavar="ID")
@why_option
@by_option
@json_option
def restore(study_file: Path, name: str, *, why: str, by: str, as_json: bool) -> None:
    """Let a person back into every number; both decisions stay on record."""
    _decide(study_file, name, is_excluded=False, why=why, by=by, as_json=as_json)


def _decide(
    study_file: Path, name: str, *, is_excluded: bool, why: str, by: str, as_json: bool
) -> None:
    from hearteval.config import load_study
    from hearteval.sections.quality.words import NO_REJECTION
    from hearteval.study.people.quality import decide_by_hand

    with working_on(load_study(study_file), "people") as (session, study):
        is_new = decide_by_hand(session, study, name, is_excluded=is_excluded, why=why, by=by)
        if as_json:
            body = {"person": name, "is_excluded": is_excluded, "is_new": is_new}
            emit_json("people", {**body, "is_rejection": False})
            return
        state = "left out of every number" if is_excluded else "counted in every number"
        say(f"{name} is {state}{'' if is_new else ', as before'}")
        say(NO_REJECTION if is_excluded else "both decisions stay on record")


def _say_left(files: list[str], study_file: Path) -> None:
    """List what is older than the last withdrawal, and say what to do."""
    if not files:
        return
    say("older than the last withdrawal, so they may hold words of that person:")
    for file in files:
        say(f"  {file}")
    say(f"make them anew, or delete them: heart people purge {quoted(study_file)}")
