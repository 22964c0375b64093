"""``heart gate``: may the candidate take the baseline's place?"""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click

from hearteval.cli.console import Terminal, emit_json, run_log, say, terminal_width
from hearteval.cli.options import (
    FiniteFloat,
    StudyPath,
    count_option,
    json_option,
    verbose_option,
    yes_option,
)

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("first", metavar="BASELINE.toml", type=StudyPath())
@click.argument("second", metavar="[CANDIDATE.toml]", type=StudyPath(), required=False)
@click.option("--baseline", metavar="NAME", help="The system of BASELINE.toml that is meant.")
@click.option("--candidate", metavar="NAME", help="The system of CANDIDATE.toml that is meant.")
@click.option(
    "--margin",
    type=FiniteFloat(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Difference of win rates that is as good as none.",
)
@count_option(
    "--looks", default=1, most=10, words="Planned looks; it stops at the first that decides."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@click.option("--junit", type=FILE, help="Write JUnit XML.")
@click.option("--markdown", type=FILE, help="Write a summary as Markdown.")
@yes_option
@verbose_option
@json_option
def command(
    first: Path,
    second: Path | None,
    *,
    baseline: str | None,
    candidate: str | None,
    margin: float,
    looks: int,
    dry_run: bool,
    junit: Path | None,
    markdown: Path | None,
    yes: bool,
    is_verbose: bool,
    as_json: bool,
) -> None:
    """Say whether a candidate is worse, better or as good as a baseline, overall and by axis.

    Exit code 0: it is worse on nothing, and nothing is open. 3: it is worse on something. 4: it is
    worse on nothing, and something is open.

    One study that has judged both asks nobody. With two, the baseline's stored replies are taken
    over: only the candidate's and the judges' are paid for, in the candidate's study.

    \b
    heart gate prompts --baseline prompt-a --candidate prompt-b
    heart gate released new --looks 5 --yes --junit gate.xml
    """  # noqa: D301 - click reads this mark of a paragraph to keep
    from hearteval.config import load_study
    from hearteval.report.files.gate import (
        EXIT_CODES,
        gate_display,
        gate_junit,
        gate_markdown,
        gate_object,
    )
    from hearteval.stats.gate import GateRule
    from hearteval.study import write_whole
    from hearteval.study.asking.gate import GateQuestion, hold_gate, price_gate

    question = GateQuestion(
        baseline=first,
        candidate=second,
        baseline_name=baseline,
        candidate_name=candidate,
        rule=GateRule(margin=margin, n_looks=looks),
    )
    tell = Terminal(yes=yes, is_verbose=is_verbose)
    if dry_run:
        words, estimate = price_gate(question, tell)
        if as_json:
            emit_json("gate", {"dry_run": True, "estimate": asdict(estimate)})
        else:
            say(words)
        return
    with run_log(load_study(second), "gate") if second else nullcontext():
        gate = hold_gate(question, tell)
    for path, write in ((junit, gate_junit), (markdown, gate_markdown)):
        if path is not None:
            write_whole(path, write(gate))
    if as_json:
        emit_json("gate", {"dry_run": False, **gate_object(gate)})
    else:
        click.echo(gate_display(gate).text(terminal_width()))
    if gate.result.outcome != "passed":
        raise click.exceptions.Exit(EXIT_CODES[gate.result.outcome])
