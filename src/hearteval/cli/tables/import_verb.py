"""``heart import``: bring what was made elsewhere into a study: a log, or a table of records."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import Terminal, emit_json, say, terminal_width, working_on
from hearteval.cli.options import OnceCommand, json_option, study_argument, write_commands
from hearteval.errors import HeartError
from hearteval.study import quoted

if TYPE_CHECKING:
    from hearteval.config import StudySettings
    from hearteval.exchange.records.reading import Kind, TableColumns
    from hearteval.study.records.known import Found

KINDS = ("completions", "judgments", "ratings", "labels", "raters")
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".gz")
COLUMNS = {
    "item": ("COL", "Item's id, or its dialogue [item_id, dialogue_id]."),
    "text": ("COL", "What was written [text]."),
    "writer": ("COL", "Pseudonym of the person who wrote it [writer]."),
    "first": ("COL", "System shown first [first]."),
    "second": ("COL", "System shown second [second]."),
    "winner": ("COL", "Who won [choice, winner]."),
    "strength": ("COL|1-5", "How clear it is, a column or one number for all [strength]."),
    "rater": ("COL|NAME", "Who judged, a column or one name for all [rater]."),
    "rater_kind": ("COL|WORD", "human or llm, a column or one word for all [rater_kind]."),
    "group": ("COL|WORD", "Group of people: crowd, peer or clinician [rater_group]."),
    "repeat": ("COL", "0 for the first, 1 for the next time the same was asked [repeat]."),
    "rationale": ("COL", "The reason [rationale]."),
    "category": ("COL", "What is labelled, its key or name [category]."),
    "verdict": ("COL", "present, absent or uncertain; or 1, 0, ? [verdict]."),
    "evidence": ("COL", "Words of the reply that show it [evidence]."),
    "taxonomy": ("COL|NAME", "strategies or micro-skills; else found by category [taxonomy]."),
}
"""Options that say which column is what, in the order of the help."""
OF_AXIS = {
    "axis": "Winner, or score, by axis, as in H=human_like (repeatable) [H, E, A, R, T].",
    "axis_strength": "How clear the winner of an axis is (repeatable) [H_strength].",
    "axis_reason": "What was said of an axis (repeatable) [H_reason, H_comment].",
}
SIDES = {"left_name": "first won", "right_name": "second won", "tie_name": "a tie"}


def _column_options(function: Any) -> Any:
    """Give the command its options for columns."""
    for name, words in reversed(SIDES.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            multiple=True,
            metavar="V",
            help=f"Winner value that means {words}.",
        )
        function = option(function)
    for name, words in reversed(OF_AXIS.items()):
        option = click.option(
            f"--{name.replace('_', '-')}", multiple=True, metavar="H=COL", help=words
        )
        function = option(function)
    for name, (metavar, words) in reversed(COLUMNS.items()):
        function = click.option(f"--{name.replace('_', '-')}", metavar=metavar, help=words)(
            function
        )
    return function


@click.command("import", cls=OnceCommand)
@study_argument
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--kind", type=click.Choice(KINDS), help="What the rows of a table are.")
@click.option(
    "--system",
    metavar="NAME|COL",
    help="Of a log: name of the imported system in the study. Of a table: the system's column, or"
    " one name for all [system].",
)
@_column_options
@click.option("--own-name", is_flag=True, help="The winner column holds the winner's own name.")
@click.option("--dry-run", is_flag=True, help="Show what would be stored, and store nothing.")
@json_option
def command(
    study_file: Path,
    file: Path,
    *,
    kind: "Kind | None",
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Bring records of a table, or the replies of an Inspect log, into a study.

    FILE is a table (.csv, .tsv, .jsonl or .parquet) whose rows are what --kind says, in the columns
    that `heart export` writes or those that you name; or a log, whose replies become completions of
    --system. Systems and judges made elsewhere stand in the study file with model =
    "imported/MODEL". The same file again adds nothing; what contradicts the study is refused.

    \b
    heart import my.toml replies.csv --kind completions --text reply --dry-run
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.config import load_study

    if kind is None:
        _require_log(file, options, dry_run=dry_run)
        _import_log(load_study(study_file), str(options["system"]), file, as_json=as_json)
        return
    settings, columns = load_study(study_file), _read_columns(kind, options)
    try:
        body, found = _import_table(settings, file, kind, columns, dry_run=dry_run)
    except HeartError as error:
        if error.remedies:
            write_commands(error)
        raise
    if as_json:
        emit_json("import", body)
        return
    for line in _lines(body, found):
        say(line)
    say(f"next: {_next(settings, body)}")


def _require_log(file: Path, options: Mapping[str, Any], *, dry_run: bool) -> None:
    """Ask for what a log needs, and what only tables take; a table's kind is never guessed."""
    if file.suffix.lower() in TABLES:
        raise click.UsageError(
            f"say what the rows of {file.name} are: --kind {', '.join(KINDS[:-1])} or {KINDS[-1]}."
        )
    given = [name for name, value in options.items() if value and name != "system"]
    given += ["dry_run"] if dry_run else []
    if given:
        name = given[0].replace("_", "-")
        raise click.UsageError(f"--{name} is for tables, with --kind; a log takes --system only.")
    if not options["system"]:
        raise click.UsageError("Missing option '--system'.")


def _import_log(settings: "StudySettings", name: str, file: Path, *, as_json: bool) -> None:
    from hearteval.study.records.exchange import import_log, read_log_of
    from hearteval.study.records.imports import import_command

    log = read_log_of(settings, name, file)
    with working_on(settings, "import") as (session, study):
        done = import_log(session, study, name, log)
    if as_json:
        emit_json("import", done)
        return
    n_stored, n_items = done["n_stored"], done["n_items"]
    say(f"{n_stored} of {n_items} replies of {name} stored ({done['n_added']} new)")
    run = f"heart run {quoted(settings.file)}"
    say(f"next: {run if n_stored == n_items else import_command(settings, name)}")


def _import_table(
    settings: "StudySettings",
    file: Path,
    kind: "Kind",
    columns: "TableColumns",
    *,
    dry_run: bool,
) -> tuple[dict[str, Any], "Found"]:
    from hearteval.study.records.arriving import import_records, preview_records, read_import

    tell = Terminal()
    given = read_import(file, kind, columns, tell)
    if dry_run:
        return preview_records(settings, given, tell)
    with working_on(settings, "import") as (session, study):
        return import_records(session, study, given)


def _read_columns(kind: "Kind", options: Mapping[str, Any]) -> "TableColumns":
    """Return what the options say of a table's columns."""
    from hearteval.exchange.records.reading import KNOWN, TableColumns
    from hearteval.exchange.votes import OutcomeNames

    named = {name: options[name] for name in ("system", *COLUMNS) if options[name] is not None}
    if "group" in named:
        group = "writer_group" if kind == "completions" else "rater_group"
        named[group] = named.pop("group")
    alien = [name for name in named if name not in KNOWN[kind]]
    if alien:
        name = alien[0].replace("_", "-")
        raise click.UsageError(f"--{name} says nothing of {kind}; leave it out.")
    axes = {name: _read_axes(name, options[name]) for name in OF_AXIS}
    if kind not in ("judgments", "ratings") and any(axes.values()):
        raise click.UsageError(f"--axis says nothing of {kind}; leave it out.")
    return TableColumns(
        named=named,
        axes=axes["axis"],
        axis_strengths=axes["axis_strength"],
        axis_words=axes["axis_reason"],
        outcomes=OutcomeNames(
            left=options["left_name"],
            right=options["right_name"],
            tie=options["tie_name"],
            own_name=options["own_name"],
        ),
    )


def _read_axes(name: str, given: tuple[str, ...]) -> dict[Any, str]:
    """Return the column of each axis."""
    from hearteval.domain import AXIS_NAMES

    found: dict[Any, str] = {}
    for each in given:
        axis, sign, column = each.partition("=")
        option = f"--{name.replace('_', '-')}"
        if not sign or not column or axis not in AXIS_NAMES:
            known = ", ".join(AXIS_NAMES)
            raise click.UsageError(f"{option} {each}: expected AXIS=COL, the axis one of {known}.")
        if axis in found:
            raise click.UsageError(f"{option}: the axis {axis} is named twice.")
        found[axis] = column
    return found


def _lines(body: Mapping[str, Any], found: "Found") -> list[str]:
    """Say what was done, or would be."""
    from hearteval.report.text import plural, printable, shortened, wrapped

    width = terminal_width()
    new = "would be added" if body["dry_run"] else "added"
    lines = [
        f"{body['file']['file']}: {plural(body['n_rows'], 'row')} of {body['kind']};"
        f" {body['n_new']:,} {new}, {body['n_there']:,} stored before"
    ]
    for what, names in body["by"].items():
        said = ", ".join(f"{printable(name)} {n:,}" for name, n in names.items())
        lines.append(wrapped(f"{what:<8}{said}", width, indent=" " * 8))
    if body["people"]:
        lines.append(f"people  {len(body['people']):,} not known here before")
    if body["dry_run"]:
        for row, shown in found.shown:
            lines.append(f"row {row}, as it would be stored:")
            for name, value in shown.items():
                text = f"  {name:<10}{shortened(printable(str(value)), 3 * width)}"
                lines.append(wrapped(text, width, indent=" " * 12))
        lines.append("nothing was stored")
    return lines


def _next(settings: "StudySettings", body: Mapping[str, Any]) -> str:
    if body["dry_run"]:
        return "the same without --dry-run"
    if body["kind"] in ("judgments", "ratings", "labels"):
        return f"heart analyze {quoted(settings.file)}"
    return f"heart run {quoted(settings.file)}"
