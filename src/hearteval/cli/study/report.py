"""``heart report``: write the report page."""

from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, end_with, labelled, open_page, say, shorter
from hearteval.cli.options import json_option, open_option, study_argument


@click.command("report")
@study_argument
@click.option(
    "--full",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write every comparison chosen to be read, and every item, as pages into a folder.",
)
@click.option(
    "--figures",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the figures (SVG, PDF, PNG; one column and one page wide) and tables for LaTeX into"
    " a folder.",
)
@click.option(
    "--public",
    "is_public",
    is_flag=True,
    help="Write NAME.public.html instead, to share: no dialogue, no reply, no reason of a judge.",
)
@open_option
@json_option
def command(
    study_file: Path,
    *,
    full: Path | None,
    figures: Path | None,
    is_public: bool,
    is_opened: bool,
    as_json: bool,
) -> None:
    """Compute a study's results and write NAME.report.html and NAME.leaderboard.csv."""
    if full is not None and is_public:
        raise click.UsageError("--full writes all texts and --public none; choose one of them.")
    if full is not None and figures is not None and full.resolve() == figures.resolve():
        raise click.UsageError("--full and --figures name one folder; name two.")
    from hearteval.study.session import open_stored

    with open_stored(study_file, Terminal()) as (session, study):
        with session.tell.progress("analysis"):
            from hearteval.study.report.write import write_report  # not before it begins
            from hearteval.study.results import analyze

            results = analyze(session, study)
        paths = write_report(
            session, study, results, full=full, figures=figures, is_public=is_public
        )
    if as_json:
        failures = [asdict(failure) for failure in results.failures]
        body = {"study": study.name, "version": study.version, **paths, "failures": failures}
        emit_json("report", body)
    else:
        say(labelled("report", shorter(paths["report"])))
        if "full" in paths:
            say(labelled("replies", shorter(paths["full"])))
        if "figures" in paths:
            say(labelled("figures", shorter(paths["figures"])))
    if is_opened:
        open_page(paths["report"])
    end_with(results.failures, session.settings)
