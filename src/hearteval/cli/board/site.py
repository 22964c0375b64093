"""``heart site``: the public board as a static site."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, say, shorter
from hearteval.cli.options import json_option


@click.command("site")
@click.argument(
    "folders",
    metavar="RELEASE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the site goes: a new folder, or an earlier site, which is replaced.",
)
@click.option(
    "--no-people",
    "allows_no_people",
    is_flag=True,
    help="Allow a board without people's replies, which it then says first.",
)
@json_option
def command(folders: tuple[Path, ...], *, out: Path, allows_no_people: bool, as_json: bool) -> None:
    """Make the public board of one or several releases, as pages that need no server.

    Each RELEASE is checked first, as `heart verify` does, and only read; one that does not hold is
    refused. Several releases of one study are one board with its history, those of several studies
    stand side by side. A board without people's replies is refused, unless --no-people is said.
    """
    from hearteval.report.page.links import INDEX
    from hearteval.report.text import plural
    from hearteval.study.report.site import make_site

    boards = make_site(folders, out, Terminal(), allows_no_people=allows_no_people)
    if as_json:
        said = [
            {
                "name": one.name,
                "page": one.page,
                "release": one.edition.id,
                "n_releases": len(one.editions),
                "n_systems": len(one.competitors),
                "has_people": one.has_people,
            }
            for one in boards
        ]
        emit_json("site", {"folder": str(out), "boards": said})
        return
    for one in boards:
        n = plural(len(one.competitors), "system")
        say(f"{one.name}: {n}, release {one.edition.short_id} of {one.edition.made}")
    say(f"site    {shorter(str(out / INDEX))}")
    say("next    look at it, then put the folder on any host of static files")
