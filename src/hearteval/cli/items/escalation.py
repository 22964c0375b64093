"""``heart items adversarial``: items whose seeker resists help, rewritten by a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import Terminal, emit_json, labelled, run_log, say
from hearteval.cli.options import count_option, json_option, names_options, yes_option

if TYPE_CHECKING:
    from hearteval.items.dialogues import DialogueNames

N_ITEMS, N_TRIES, MOST_TRIES = 20, 3, 10


@click.command("adversarial")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True),
    required=True,
    help="File of items or dialogues to rewrite.",
)
@click.option(
    "--rewriter",
    required=True,
    metavar="MODEL",
    help="Who rewrites the seeker's turns: see `heart judges list`.",
)
@click.option(
    "--reader",
    required=True,
    metavar="MODEL",
    help="Who reads them without being told the profile: a model of another family, or `person`.",
)
@click.option(
    "--models",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File that describes models, as [[judge]] in a study file; it may be one.",
)
@count_option("--items", "n", default=N_ITEMS, words="Items wanted.")
@count_option("--tries", default=N_TRIES, most=MOST_TRIES, words="Rewrites of one item, at most.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("adversarial.jsonl"),
    show_default=True,
    help="Item file to write; what belongs to it is written beside it.",
)
@click.option("--force", is_flag=True, help="Replace a file that holds other content.")
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@yes_option
@names_options
@json_option
def command(
    *,
    source: Path,
    rewriter: str,
    reader: str,
    models: Path | None,
    n: int,
    tries: int,
    seed: int,
    out: Path,
    force: bool,
    dry_run: bool,
    yes: bool,
    names: "DialogueNames",
    as_json: bool,
) -> None:
    """Have seekers resist help: items rewritten along four profiles of rising hostility.

    A model rewrites the seeker's turns of regular items, every rewrite is checked, and a model of
    another family, or a person, reads it without being told the profile. What fails is kept with
    its reason and tried again. Run again, it goes on where it was, and pays for nothing twice.
    """
    from hearteval.config.escalation import read_escalation
    from hearteval.study.items.escalation import (
        describe,
        describe_spending,
        escalate_items,
        has_failed,
        plan_spending,
        plan_words,
        read_task,
        replay,
    )
    from hearteval.study.session import open_session

    settings = read_escalation(rewriter, reader, models=models, out=out, seed=seed)
    task = read_task(source, names, settings, n=n, tries=tries)
    found = replay(task)
    body: dict[str, Any] = {"dry_run": dry_run, "from": str(source), "rewriter": rewriter}
    body |= {"reader": reader, "seed": seed, "tries": tries}
    if dry_run:
        spending = plan_spending(task, found)
        if as_json:
            body |= describe(task, found) | {"ceiling": describe_spending(task, spending)}
            emit_json("items_adversarial", body)
            return
        body = describe(task, found)
        n_left = body["n_planned"] - body["n_items"]
        body["funnel"] = body["funnel"][:-1]  # nothing was rewritten for it to count
        _say(body)
        who = "a person" if settings.reader is None else reader
        say(f"{n_left} items to be rewritten by {rewriter} and read by {who}; {n} wanted")
        say(plan_words(task, spending))
        return
    tell = Terminal(yes=yes)
    with run_log(settings.asking, "adversarial"), open_session(settings.asking, tell) as session:
        found = escalate_items(session, task, found, force=force)
    if as_json:
        emit_json("items_adversarial", body | describe(task, found))
    else:
        _say(describe(task, found))
        _say_where(describe(task, found))
    if has_failed(found):
        say(f"heart: {found.stopped or 'not every item was rewritten'}", err=True)
        raise click.exceptions.Exit(1)


def _say(body: dict[str, Any]) -> None:
    say(f"{'rule':<22}{'in':>8}{'out':>8}{'left out':>10}")
    for step in body["funnel"]:
        lost = step["n_in"] - step["n_out"]
        say(f"{step['rule']:<22}{step['n_in']:>8}{step['n_out']:>8}{lost:>10}")
    for of in ("profile", "resistance"):
        say(f"\n{of:<22}{'planned':>8}{'items':>8}")
        for word, n in body["planned"][of].items():
            say(f"{word:<22}{n:>8}{body['items'][of][word]:>8}")
    if body["rejected"]:
        say(f"\n{'rejected, by reason':<22}{'rewrites':>8}")
        for reason, n in body["rejected"].items():
            say(f"{reason:<22}{n:>8}")
    say("")


def _say_where(body: dict[str, Any]) -> None:
    words = f"{body['n_items']} adversarial items"
    words += f", {body['n_to_read']} rewrites to be read" if body["n_to_read"] else ""
    n_short = body["shortfall"] - body["n_to_read"]
    say(words + (f", {n_short} fewer than wanted" if n_short else ""))
    if body["path"]:
        say(labelled("items", body["path"]))
        say(labelled("why", f"{body['path']}.screening.jsonl"))
    if body["rejected_path"]:
        say(labelled("failed", body["rejected_path"]))
    if body["to_read_path"]:
        say(labelled("read", body["to_read_path"]))
        say(
            labelled(
                "next",
                "fill in intensity (0 to 10) for each turn of the seeker's and fits (yes, no,"
                " uncertain) for each of the supporter's, then run the same command again",
            )
        )
