"""``heart serve``: the pages on which people write, judge and label."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hearteval.cli.console import Terminal, emit_json, labelled, say, working_on
from hearteval.cli.options import json_option, study_argument

if TYPE_CHECKING:
    from hearteval.study.people import Desk, Trial

MOST_READERS = 50
"""People who may come by the link for readers of items."""
FC = TypeVar("FC", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Where:
    """Where pages are served, and how the terminal is told."""

    host: str
    port: int
    _: KW_ONLY
    is_https: bool
    as_json: bool
    public_url: str = ""


def _public_url(_context: click.Context, _option: click.Parameter, given: str) -> str:
    from hearteval.web.server import read_public_url

    return read_public_url(given) if given else ""


def address_options(function: FC) -> FC:
    """Add the options that say where pages are served."""
    options = (
        click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve at."),
        click.option(
            "--port",
            type=click.IntRange(0, 65_535),
            default=8750,
            show_default=True,
            help="0 takes any.",
        ),
        click.option("--expose", is_flag=True, help="Allow an address that others can reach."),
        click.option(
            "--https", "is_https", is_flag=True, help="A server before this one encrypts."
        ),
        click.option(
            "--public-url",
            default="",
            metavar="URL",
            callback=_public_url,
            help="Where people find it; requests for other hosts are refused. https:// is --https.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command("serve")
@study_argument
@address_options
@click.option("--pilot", "trial", flag_value="pilot", help="A trial run that never counts.")
@click.option("--preview", "trial", flag_value="preview", help="Look as a participant does.")
@json_option
def command(
    study_file: Path,
    *,
    host: str,
    port: int,
    expose: bool,
    is_https: bool,
    public_url: str,
    trial: "Trial | None",
    as_json: bool,
) -> None:
    """Serve the pages on which people write, judge, review and label.

    Prints a link to the researcher's page, where links for people are made. Ctrl-C stops it; what
    people sent is kept. A pilot is kept apart, in NAME.pilot.db; a preview prints one more link, by
    which you walk through the pages as a participant.
    """
    from hearteval.config import load_study
    from hearteval.study.people import Desk
    from hearteval.study.people.kinds import asked_kinds
    from hearteval.study.people.trial import settings_of_trial
    from hearteval.web.server import require_safe_host

    require_safe_host(host, is_exposed=expose)
    settings = load_study(study_file)
    tell = Terminal()
    with (
        settings_of_trial(settings, trial) if trial else nullcontext(settings) as served,
        working_on(served, "serve", patience_seconds=2.0) as (session, study),
    ):
        desk = Desk(session=session, study=study, trial=trial)
        if trial == "pilot":
            tell.note(f"pilot: what people send is kept in {served.store} and enters no result")
        where = Where(host, port, is_https=is_https, as_json=as_json, public_url=public_url)
        tried = asked_kinds(desk.settings) if trial == "preview" else ()
        serve_desk(desk, where, researcher=["review"], readers=tried)


def serve_desk(
    desk: "Desk",
    where: Where,
    *,
    researcher: Sequence[str],
    readers: Sequence[str] = (),
) -> None:
    """Serve the pages of a desk whose tasks are open, and say by which links people come.

    `researcher` is what the researcher may do beside watching; `readers` are the kinds of tasks of
    a link for others, where there is one.
    """
    from hearteval.study.people.joining import Link, close_unused_sign_ins, make_invite
    from hearteval.study.people.kinds import RESEARCH
    from hearteval.web.server import serve

    close_unused_sign_ins(desk)
    token, _ = make_invite(desk, Link(label="researcher", kinds=[RESEARCH, *researcher], days=7))
    others, who = None, "guest" if desk.trial else "readers"
    if readers:
        link = Link(label=who, kinds=readers, most_people=MOST_READERS)
        others, _ = make_invite(desk, link)

    def tell(address: str) -> None:
        page = f"{address}/join/{token}"
        shared = {} if others is None else {who: f"{address}/join/{others}"}
        if where.as_json:
            body = {"study": desk.study.name, "address": address, "researcher": page, **shared}
            emit_json("serve", body)
            return
        say(labelled("serving", f"{desk.study.name} at {address}; Ctrl-C stops it"))
        say(labelled("you", page))
        for name, at in shared.items():
            say(labelled(name, at))

    serve(
        desk,
        host=where.host,
        port=where.port,
        is_https=where.is_https or where.public_url.startswith("https:"),
        public_url=where.public_url,
        when_ready=tell,
    )
