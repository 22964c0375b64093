"""``heart release``: write a study as a folder that strangers can check and continue."""

from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, say, shorter
from hearteval.cli.options import json_option, study_argument
from hearteval.study import quoted


@click.command("release")
@study_argument
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--add",
    "before",
    metavar="RELEASE",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The release that this study continues: its rows stay as they are, byte for byte.",
)
@click.option("--coarsen", "is_coarse", is_flag=True, help="Say less of people until 5 are alike.")
@click.option(
    "--accept",
    "accepted",
    metavar="ID",
    multiple=True,
    help="A record that somebody has read (its id or kind): it tells nobody's name.",
)
@json_option
def command(
    study_file: Path,
    folder: Path,
    *,
    before: Path | None,
    is_coarse: bool,
    accepted: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a study into the new folder DIR, for others to check, cite and continue.

    Words that nobody has released, texts of a corpus that is not ours to pass on and everything
    that tells who somebody is stay out. Results are computed from what is in the folder. A study
    that holds an e-mail address, a key, a name in people's words, or fewer than five people who are
    alike in what is said of them is refused. `heart verify DIR` checks it.
    """
    from hearteval.report.text import plural
    from hearteval.study.release.making import release_study
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal()) as (session, study):
        done = release_study(
            session, study, folder, accepted={*accepted}, is_coarse=is_coarse, before=before
        )
    made = done.manifest
    if as_json:
        about = made.model_dump(by_alias=True, exclude={"schema_", "files"})
        emit_json("release", {**about, "folder": str(folder), "moved": list(done.moved)})
        return
    n = sum(made.n_records.values())
    say(
        f"{shorter(str(folder))}: {plural(n, 'record')} of {made.name}, version "
        f"{made.study_version}; release {made.id[:16]}"
    )
    for kind, n_out in made.n_left_out.items():
        say(f"  left out: words of {plural(n_out, kind)}")
    if done.moved:
        say(f"  other than in the study, as words were left out: {', '.join(done.moved)}")
    say("Copies that others make of it cannot be called back: read datasheet.md before you publish")
    say(f"next: heart verify {quoted(folder)}")
