"""``heart plan``: what a study could tell, what it costs, and which designs would tell enough."""

from pathlib import Path
from typing import Any

import click

from hearteval.cli.console import Terminal, emit_json, terminal_width
from hearteval.cli.options import FiniteFloat, StudyPath, engine_options, json_option


@click.command("plan")
@click.argument("study_file", metavar="[STUDY.toml]", type=StudyPath(), required=False)
@click.option(
    "--pilot",
    metavar="PILOT.toml",
    type=StudyPath(),
    help="A study whose stored votes tell how dialogues and people vary.",
)
@click.option("--raters", type=click.IntRange(min=5), help="People who judge.  [default: 15]")
@click.option(
    "--gap",
    type=FiniteFloat(0, 50, min_open=True, max_open=True),
    default=5.0,
    show_default=True,
    help="Difference to be seen, in points: 5 is one of two systems preferred in 55 %.",
)
@click.option(
    "--power",
    type=FiniteFloat(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Chance with which it is to be seen.",
)
@click.option(
    "--half-width",
    type=FiniteFloat(0, 50, min_open=True, max_open=True),
    help="Half-width of a difference's interval, in points, in place of --power.",
)
@click.option(
    "--max-hours", type=FiniteFloat(0, min_open=True), help="Person-hours there are at most."
)
@click.option(
    "--max-usd", type=FiniteFloat(0, min_open=True), help="Dollars of models and pay at most."
)
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw it, as SVG.")
@engine_options(asks=False)
@json_option
def command(
    study_file: Path | None,
    *,
    pilot: Path | None,
    raters: int | None,
    figure: Path | None,
    as_json: bool,
    gap: float,
    half_width: float | None,
    **asked: Any,
) -> None:
    """Say what a study could tell, what it would cost, and the cheapest designs.

    How dialogues, people and chance vary is measured on the votes of a pilot, which may be the
    study itself; without one it is taken from published votes, and said so. Nobody is asked.

    \b
    heart plan study.toml --max-hours 100
    heart plan study.toml --pilot pilot.toml --gap 8
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.analysis.planner import Question
    from hearteval.api.plans import plan_told
    from hearteval.report.files.plan import plan_display
    from hearteval.report.plots.plan import plan_svg
    from hearteval.study import write_whole

    half = None if half_width is None else half_width / 100
    question = Question(gap=gap / 100, half_width=half, **asked)
    found = plan_told(study_file, pilot, question, Terminal(), n_raters=raters)
    if figure is not None:
        write_whole(figure, plan_svg(found))
    if as_json:
        emit_json("plan", found.to_dict())
    else:
        click.echo(plan_display(found).text(terminal_width()))
