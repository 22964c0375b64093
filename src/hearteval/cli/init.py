"""``heart init``: a commented study file to start from."""

import re
from importlib.resources import files
from pathlib import Path

import click

from hearteval.cli.console import emit_json
from hearteval.cli.options import json_option
from hearteval.errors import SettingsError
from hearteval.study import quoted, write_whole

MAX_NAME = 80
PRESETS = {
    "starter": "the project's own items, nothing to download",
    "esconv": "HEART's 280 regular items; needs the ESConv corpus",
}


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    default="starter",
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in PRESETS.items()) + ".",
)
@json_option
def command(folder: Path, *, preset: str, as_json: bool) -> None:
    """Make DIR with a commented study file in it, named like DIR; nothing is replaced."""
    name = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).lstrip("._-")[:MAX_NAME] or "study"
    )
    path = folder / f"{name}.toml"
    if path.exists():
        raise SettingsError(f"{path}: is already there; choose another folder, or edit that file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror})") from error
    text = (files("hearteval.cli") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
    write_whole(path, text.replace("NAME", name))
    if as_json:
        emit_json("init", {"study": name, "preset": preset, "path": str(path)})
    else:
        click.echo(f"{path}\nnext: heart run {quoted(path)}")
