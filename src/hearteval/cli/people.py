"""``heart people``: what is done for one person."""

from pathlib import Path

import click

from hearteval.cli.console import emit_json, working_on
from hearteval.cli.options import json_option, study_argument


@click.group("people")
def command() -> None:
    """Delete what a person wrote, when they ask for it."""


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
                click.echo("nothing was deleted")
                return
        counts = {} if person.withdrawn_at else delete(desk, person)
        if as_json:
            was = person.withdrawn_at is not None
            emit_json("people", {"person": person.name, "deleted": counts, "was_gone": was})
        elif person.withdrawn_at:
            click.echo(f"{person.name} withdrew before; nothing is left to delete")
        else:
            texts = plural(sum(counts.values()), "text")
            click.echo(
                f"{person.name} has withdrawn: {texts} deleted. A report, an export or a copy made"
                " before may hold them: delete it, or make it anew"
            )
