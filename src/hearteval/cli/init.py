"""``heart init``: a commented study file to start from."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import emit_json, say
from hearteval.cli.options import NearChoice, OnceCommand, json_option, names_options, study_name
from hearteval.errors import SettingsError, StoppedError
from hearteval.study import quoted, write_whole

if TYPE_CHECKING:
    from hearteval.items.dialogues import DialogueNames, ItemFile

PRESETS = {
    "starter": "the project's own items, nothing to download",
    "esconv": "HEART's 280 regular items; needs the ESConv corpus",
    "paper": "HEART's 18 systems, judges and design, as far as they answer",
    "living": "newer models of the same makers",
    "people": "people write and compare, and nobody else",
}


@click.command("init", cls=OnceCommand)
@click.argument(
    "folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False)
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="A preset of `heart systems`, or a model's name at --base-url (repeatable: the answer"
    " leads with the first).",
)
@click.option("--base-url", metavar="URL", help="Where the model is: http://HOST/v1.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="JUDGE",
    help="A judge of `heart judges list`, a preset, or a model's name at --base-url (repeatable).",
)
@click.option(
    "--compare",
    "is_comparison",
    is_flag=True,
    help="Ask which of two prompts of the model is better, and nothing else.",
)
@click.option(
    "--preset",
    type=NearChoice(list(PRESETS)),
    default="starter",
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in PRESETS.items()) + ".",
)
@click.option(
    "--items",
    "items_file",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True),
    help="Items or dialogues of your own for the study, instead of the preset's.",
)
@click.option(
    "--from",
    "release",
    metavar="RELEASE",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of `heart release`: continue its board with a system of your own.",
)
@names_options
@json_option
def command(
    folder: Path | None,
    *,
    models: tuple[str, ...],
    base_url: str | None,
    judges: tuple[str, ...],
    is_comparison: bool,
    preset: str,
    items_file: Path | None,
    release: Path | None,
    names: "DialogueNames",
    as_json: bool,
) -> None:
    """Make DIR with a commented study file in it, named like DIR; nothing is replaced.

    Without DIR it asks. What --set says of --items goes into the study file. With --from the file
    is named like the study of the release, whose replies and verdicts stand beside it.

    \b
    heart init mine --model our-model --base-url http://127.0.0.1:8080/v1
    heart init ab --compare --model our-model --base-url http://127.0.0.1:8080/v1
    heart init joined --from their-release
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    if folder is None:
        try:
            folder, models, base_url, judges = _ask(models, base_url, judges)
        except click.Abort:
            raise StoppedError("stopped; nothing was written") from None
    has_names = bool(names.as_keys())
    if release is not None:
        others = (*models, *judges, base_url, is_comparison, items_file, has_names)
        _continue(release, folder, others, preset=preset, as_json=as_json)
        return
    _require_together(
        models,
        items_file,
        base_url=base_url,
        judges=judges,
        is_comparison=is_comparison,
        preset=preset,
        has_names=has_names,
    )
    name = study_name(folder)
    path = folder / f"{name}.toml"
    if path.exists():
        raise SettingsError(f"{path}: is already there; choose another folder, or edit that file")
    text, notes = _study_text("compare" if is_comparison else preset, name)
    prompts: Mapping[str, str] = {}
    read, asked = None, tuple[str, ...]()
    if items_file is not None:
        from hearteval.study.items.files import name_own_items

        text, read = name_own_items(text, items_file, folder, names)
    if models:
        from hearteval.config.first_models import FirstModels, add_models, who_answers

        first = FirstModels(models, base_url, judges, is_comparison)
        text, prompts = add_models(text, first)
        asked = who_answers(first, text)
    if read is not None:
        from hearteval.study.items.files import leave_out_english

        text, of_language = leave_out_english(text, read.items)
        notes += of_language
    # A prompt that is there already is somebody's work.
    beside = {folder / file: words for file, words in prompts.items()}
    made = {path: text} | {at: words for at, words in beside.items() if not at.exists()}
    _write(folder, made)
    said = [*asked, *notes]
    if as_json:
        body = {"study": name, "preset": preset, "path": str(path), "notes": said}
        emit_json("init", {**body, **({"items": str(items_file)} if items_file else {})})
    else:
        own_items = None if read is None else (items_file, read)
        _say_made(made, said, own_items, then="serve" if preset == "people" else None)


def _write(folder: Path, made: Mapping[Path, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror})") from error
    for at, words in made.items():
        write_whole(at, words)


def _continue(
    release: Path, folder: Path, others: Iterable[object], *, preset: str, as_json: bool
) -> None:
    if any(others) or preset != "starter":
        raise click.UsageError(
            "--from continues a release with its items, systems and judges: give DIR alone, and"
            " add your system to the study file."
        )
    from hearteval.cli.console import Terminal
    from hearteval.report.text import listed, plural
    from hearteval.study.release.continuing import continue_release

    done = continue_release(release, folder, Terminal())
    made = done.release
    if as_json:
        body = {"study": made.name, "preset": None, "path": str(done.path), "notes": list[str]()}
        board = {"release": made.id, "systems": list(done.systems)}
        emit_json("init", {**body, **board, "to_fill_in": list(done.to_fill_in)})
        return
    n = plural(sum(made.n_records.values()), "record")
    say(f"{done.path}\n{n} of release {made.id[:16]}, frozen: {listed(done.systems)}")
    if done.to_fill_in:
        say(f"write where they are into the study file: {listed(done.to_fill_in)}")
    say(f"next: add your [[system]], then  heart run {quoted(done.path)} --dry-run")


def _study_text(template: str, name: str) -> tuple[str, list[str]]:
    """Return a study file of a template, and what is to be said of the models in it."""
    text = (files("hearteval.cli") / "presets" / f"{template}.toml").read_text(encoding="utf-8")
    text = text.replace("NAME", name)
    if template not in ("paper", "living"):
        return text, []
    from hearteval.config.known_models import known_models

    known = known_models(published=template == "paper", today=datetime.now(UTC).date())
    text = text.replace("KNOWN_MODELS", known.systems)
    text = text.replace("KNOWN_JUDGES", json.dumps(known.judges))
    return text, [f"{what}: {', '.join(who)}" for what, who in known.notes.items() if who]


def _say_made(
    made: Iterable[Path],
    said: Iterable[str],
    own_items: "tuple[Path | None, ItemFile] | None",
    *,
    then: str | None,
) -> None:
    path, *prompts = made
    say("\n".join(map(str, made)))
    for words in said:
        say(words)
    if own_items is not None:
        from hearteval.cli.items.items import counted, say_how_read
        from hearteval.report.text import listed
        from hearteval.study.items.files import still_to_state

        file, read = own_items
        say(f"{counted(read.items)} of {file}, read so:")
        say_how_read(read.notes)
        unsaid = zip(still_to_state(read), (path, file), strict=True)
        if where := [f"{listed(what)} in {at}" for what, at in unsaid if what]:
            say(f"before the first run, which keeps them for good: state {', '.join(where)}")
    first = f"write your prompts into {' and '.join(map(str, prompts))}, then  " if prompts else ""
    say(f"next: {first}heart run {quoted(path)}")
    if then:
        say(f"then: heart {then} {quoted(path)}")


def _require_together(models: tuple[str, ...], items_file: Path | None, **given: Any) -> None:
    """Refuse options without what they go with, and models that cannot go together."""
    with_model = {"base_url": "--base-url", "judges": "--judge", "is_comparison": "--compare"}
    lone = [option for name, option in with_model.items() if given[name]]
    if not models and lone:
        raise click.UsageError(f"{lone[0]} says something of a model: name it with --model.")
    for option, named in (("--model", models), ("--judge", given["judges"])):
        for one, n in Counter(named).items():
            if n > 1:
                raise click.UsageError(f"{option} {one} is given twice; give it once.")
    if given["is_comparison"] and len(models) > 1:
        raise click.UsageError("--compare asks one model with two prompts: give --model once.")
    if given["is_comparison"] and given["preset"] != "starter":
        raise click.UsageError("--compare takes the starter items, or yours with --items.")
    if items_file is not None and given["preset"] == "esconv":
        raise click.UsageError("--items and --preset esconv each say which items; give one.")
    if items_file is None and given["has_names"]:
        raise click.UsageError("--set says how --items is read; give it.")


def _ask(
    models: tuple[str, ...], base_url: str | None, judges: tuple[str, ...]
) -> tuple[Path, tuple[str, ...], str | None, tuple[str, ...]]:
    """Ask for what a first study needs, as far as it was not given."""
    if not sys.stdin.isatty():
        raise click.UsageError("Missing argument 'DIR'.")
    folder = click.prompt("Folder of the study", default="my-study")
    models = models or _asked("Model (empty for none)")
    if models:
        words = "Its address (empty for a preset of `heart systems`)"
        base_url = base_url or next(iter(_asked(words)), None)
        judges = judges or _asked("Judge (empty for the offline one, which measures nothing)")
    return Path(folder), models, base_url, judges


def _asked(words: str) -> tuple[str, ...]:
    return tuple(filter(None, [click.prompt(words, default="", show_default=False)]))
