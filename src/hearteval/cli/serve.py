"""``heart serve``: the pages on which people write and judge."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, labelled, working_on
from hearteval.cli.options import json_option, study_argument


@click.command("serve")
@study_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve at.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8750, show_default=True, help="0 takes any."
)
@click.option("--expose", is_flag=True, help="Allow an address that others can reach.")
@click.option("--https", "is_https", is_flag=True, help="A server before this one encrypts.")
@json_option
def command(
    study_file: Path, *, host: str, port: int, expose: bool, is_https: bool, as_json: bool
) -> None:
    """Serve the pages on which people write, judge and review.

    Prints a link to the researcher's page, where links for people are made. Ctrl-C stops it; what
    people sent is kept.
    """
    from hearteval.config import load_study
    from hearteval.study.people import Desk
    from hearteval.study.people.joining import Link, make_invite
    from hearteval.study.people.kinds import RESEARCH
    from hearteval.study.people.planning import open_tasks
    from hearteval.web.server import require_safe_host, serve

    require_safe_host(host, is_exposed=expose)
    settings = load_study(study_file)
    tell = Terminal()
    with working_on(settings, "serve", patience_seconds=2.0) as (session, study):
        desk = Desk(session=session, study=study)
        link = Link(label="researcher", kinds=[RESEARCH, "review"], days=7)
        token, _ = make_invite(desk, link)

        def say(address: str) -> None:
            page = f"{address}/join/{token}"
            if as_json:
                emit_json("serve", {"study": study.name, "address": address, "researcher": page})
            else:
                click.echo(labelled("serving", f"{study.name} at {address}; Ctrl-C stops it"))
                click.echo(labelled("you", page))

        with tell.progress("tasks"):
            opened = open_tasks(desk)
        tell.note(
            f"texts: {opened.n_released:,} may be shown, {opened.n_waiting:,} wait for a person to"
            f" read them, {opened.n_kept_out:,} kept out"
        )
        serve(desk, host=host, port=port, is_https=is_https, when_ready=say)
