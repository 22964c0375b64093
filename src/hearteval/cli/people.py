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


@click.group("people")
def command() -> None:
    """See who takes part, pay them, or delete what a person wrote."""


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


def _say_left(files: list[str], study_file: Path) -> None:
    """List what is older than the last withdrawal, and say what to do."""
    if not files:
        return
    say("older than the last withdrawal, so they may hold words of that person:")
    for file in files:
        say(f"  {file}")
    say(f"make them anew, or delete them: heart people purge {quoted(study_file)}")
