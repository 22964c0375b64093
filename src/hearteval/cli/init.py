"""``heart init``: a commented study file to start from."""

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import emit_json
from hearteval.cli.options import json_option, names_options, study_name
from hearteval.errors import SettingsError
from hearteval.study import quoted, write_whole

if TYPE_CHECKING:
    from hearteval.items.dialogues import DialogueNames

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
@click.option(
    "--items",
    "items_file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Items or dialogues of your own for the study, instead of the preset's.",
)
@names_options
@json_option
def command(
    folder: Path,
    *,
    preset: str,
    items_file: Path | None,
    names: "DialogueNames",
    as_json: bool,
) -> None:
    """Make DIR with a commented study file in it, named like DIR; nothing is replaced.

    What --items calls its columns and its people goes into the study file.
    """
    if items_file is not None and preset != "starter":
        raise click.UsageError("--items and --preset each say which items to use; give one.")
    name = study_name(folder)
    path = folder / f"{name}.toml"
    if path.exists():
        raise SettingsError(f"{path}: is already there; choose another folder, or edit that file")
    text = (files("hearteval.cli") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
    if items_file is not None:
        from hearteval.study.items.files import name_own_items

        text = name_own_items(text, items_file, folder, names)
    elif any(asdict(names).values()):
        raise click.UsageError("columns and people are named for --items; give it.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror})") from error
    write_whole(path, text.replace("NAME", name))
    if as_json:
        own = {} if items_file is None else {"items": str(items_file)}
        emit_json("init", {"study": name, "preset": preset, "path": str(path), **own})
    else:
        click.echo(f"{path}\nnext: heart run {quoted(path)}")
