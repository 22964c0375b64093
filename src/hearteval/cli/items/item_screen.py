"""``heart items review``, ``redact`` and ``accept``: the second screen of candidates."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hearteval.cli.console import Terminal, emit_json, labelled, say, working_on
from hearteval.cli.options import count_option, json_option, study_argument
from hearteval.cli.serve import Where, address_options, serve_desk
from hearteval.study import quoted

if TYPE_CHECKING:
    from hearteval.items.accepted import Accepted
    from hearteval.items.screen_agreement import ScreenAgreement
    from hearteval.study.items.second_screen import Redacted

MOST_SHOWN = 5


@click.command("redact")
@study_argument
@json_option
def redact(study_file: Path, *, as_json: bool) -> None:
    """Put placeholders in place of names and other details in the file of candidates.

    They are those that labelers or people quoted, and what the rules find. The file is rewritten,
    and FILE.redacted.jsonl says which kind of detail stood where. Then label again.
    """
    from hearteval.config import load_study
    from hearteval.study.items.second_screen import log_path, read_screened, redact_candidates

    with working_on(load_study(study_file, is_of_items=True), "redact") as (session, study):
        screened = read_screened(session, study)
        done = redact_candidates(session, screened)
    if as_json:
        body = {
            "path": str(done.path),
            "log": str(log_path(done.path)),
            "n_items": len(done.details),
            "details": {id_: [one._asdict() for one in each] for id_, each in done.details.items()},
            "by_hand": {id_: list(each) for id_, each in done.by_hand.items()},
            "refused": dict(done.refused),
        }
        emit_json("items_redact", body)
        return
    _say_redacted(done, study_file)
    n_waiting = sum(one.standing == "waiting" for one in screened.decisions)
    if n_waiting and not done.details:
        say(f"{n_waiting:,} wait for labelers, or for a person, to say what there is")
        say(labelled("next", f"heart items review {quoted(study_file)}"))


def _say_redacted(done: "Redacted", study_file: Path) -> None:
    n_details = sum(one.n for each in done.details.values() for one in each)
    say(f"{done.path}: {n_details:,} details replaced in {len(done.details):,} items")
    if done.refused:
        say(f"{len(done.refused):,} of them left out: a rule rejects them now")
    if done.by_hand:
        say(f"{len(done.by_hand):,} hold a detail that only a reader can replace, by hand:")
        for id_, questions in list(done.by_hand.items())[:MOST_SHOWN]:
            say(f"  {id_}  {', '.join(questions)}")
    if done.details:
        command = f"heart label {quoted(study_file)} --taxonomy item-screen"
        say(labelled("next", command))


@click.command("review")
@study_argument
@click.option("--all", "everything", is_flag=True, help="Every candidate and every question.")
@click.option(
    "--people",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="For each item; where two differ, a third decides.",
)
@address_options
@json_option
def review(
    study_file: Path,
    *,
    everything: bool,
    people: int,
    host: str,
    port: int,
    expose: bool,
    is_https: bool,
    public_url: str,
    as_json: bool,
) -> None:
    """Serve the pages on which people answer what labelers could not settle about candidates.

    Prints a link for you and one for others who read with you. Ctrl-C stops it; what people sent is
    kept, and `heart items accept` reads it.
    """
    from hearteval.config import load_study
    from hearteval.items.second_screen import ITEM_SCREEN
    from hearteval.study.items.second_screen import open_reading
    from hearteval.study.people.labelling import label_kind, settle_kind
    from hearteval.study.people.planning import open_tasks
    from hearteval.web.server import require_safe_host

    require_safe_host(host, is_exposed=expose)
    tell = Terminal()
    settings = load_study(study_file, is_of_items=True)
    with working_on(settings, "review", patience_seconds=2.0) as (session, study):
        desk = open_reading(session, study, is_of_all=everything, n_people=people)
        opened = open_tasks(desk)
        if not opened.n_waiting:
            if as_json:
                emit_json("items_review", {"study": study.name, "n_items": 0})
            else:
                say("labelers left nothing for a person to decide; --all has all read")
            return
        tell.note(
            f"{opened.n_waiting:,} items for {people} {'person' if people == 1 else 'people'} each"
        )
        where = Where(host, port, is_https=is_https, as_json=as_json, public_url=public_url)
        kinds = [label_kind(ITEM_SCREEN), settle_kind(ITEM_SCREEN)]
        serve_desk(desk, where, researcher=kinds, readers=kinds)


@click.command("accept")
@study_argument
@count_option("--regular", default=280, words="Items wanted.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("items.jsonl"),
    show_default=True,
    help="Item file to write; FILE.screening.jsonl is written beside it.",
)
@click.option("--dry-run", is_flag=True, help="Say what there would be; write nothing.")
@click.option("--force", is_flag=True, help="Replace files that hold other content.")
@json_option
def accept(
    study_file: Path,
    *,
    regular: int,
    out: Path,
    dry_run: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the items that the second screen accepts, with the evidence for every verdict.

    What is open waits for a person and is not in; fewer than are wanted are reported, never filled
    up. The items are drawn as `heart items build` draws them, by the study's seed.
    """
    from hearteval.config import load_study
    from hearteval.study.items.second_screen import accept_candidates, read_screened, write_accepted

    with working_on(load_study(study_file, is_of_items=True), "accept") as (session, study):
        screened = read_screened(session, study)
        accepted = accept_candidates(session, screened, n=regular)
        items_hash = None if dry_run else write_accepted(session, accepted, out, replace_it=force)
    agreement = screened.agreement
    if as_json:
        emit_json(
            "items_accept", _body(accepted, agreement, screened.topics, None if dry_run else out)
        )
        return
    _say_accepted(accepted, agreement)
    if items_hash is not None:
        say(f"\n{len(accepted.items)} items: {out}; hash {items_hash[:16]}")
        say(f"evidence: {out}.screening.jsonl")
    if accepted.shortfall:
        Terminal().warn(f"{accepted.shortfall} items fewer than the {regular} wanted")
    verbs = {"waiting": "review", "identifying": "redact"}
    for standing, verb in verbs.items():
        if accepted.standings.get(standing):  # type: ignore[call-overload]
            say(labelled("next", f"heart items {verb} {quoted(study_file)}"))


def _body(
    accepted: "Accepted", agreement: "ScreenAgreement", topics: str, out: Path | None
) -> dict[str, Any]:
    from hearteval.domain import hash_records

    return {
        "n_selected": len(accepted.items),
        "n_requested": accepted.n_requested,
        "topics": topics,
        "shortfall": accepted.shortfall,
        "standings": accepted.standings,
        "funnel": [asdict(step) for step in accepted.funnel],
        "strata": [asdict(one) for one in accepted.strata],
        "labels": accepted.labels,
        "unsettled": accepted.unsettled,
        "intensities": list(accepted.intensities),
        "agreement": agreement.to_dict(),
        "path": None if out is None else str(out),
        "items_hash": hash_records(accepted.items),
    }


def _say_accepted(accepted: "Accepted", agreement: "ScreenAgreement") -> None:
    say(f"{'rule':<26}{'in':>8}{'out':>8}{'rejected':>10}")
    for step in accepted.funnel:
        say(f"{step.rule:<26}{step.n_in:>8}{step.n_out:>8}{step.n_in - step.n_out:>10}")
    empty = [one for one in accepted.strata if not one.n_chosen]
    if empty:
        names = "; ".join(f"{one.problem} and {one.emotion}" for one in empty[:MOST_SHOWN])
        say(f"\nwithout an item: {len(empty)} of {len(accepted.strata)} strata ({names})")
    say(f"\nlabels of the items: {_counts(accepted.labels)}")
    if accepted.intensities:
        average = sum(accepted.intensities) / len(accepted.intensities)
        say(f"intensity, 1 to 5: {average:.1f} on average")
    if any(accepted.unsettled.values()):
        say(f"not settled: {_counts(accepted.unsettled)}")
    if agreement.questions:
        say("\n" + "\n".join(_agreement_lines(agreement)))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {n}" for key, n in counts.items() if n) or "none"


def _agreement_lines(agreement: "ScreenAgreement") -> Iterable[str]:
    yield f"{'agreement on':<26}{'items':>7}{'same':>8}  kappa [95 % interval over dialogues]"
    pair = ("", "")
    for row in agreement.questions:
        if (row.one, row.other) != pair:
            pair = (row.one, row.other)
            yield f"{row.one} and {row.other}"
        kappa = row.kappa
        words = "-" if kappa is None else f"{kappa.value:.2f}"
        if kappa is not None and kappa.low is not None and kappa.high is not None:
            words += f" [{kappa.low:.2f}, {kappa.high:.2f}]"
        name = row.category.replace("_", " ")
        yield f"  {name:<24}{row.n_completions:>7}{100 * row.same:>7.0f}%  {words}"
    for one in agreement.scales:
        alpha = "-" if one.alpha is None else f"{one.alpha.value:.2f}"
        yield (
            f"{one.question} of {one.one} and {one.other}: {100 * one.near:.0f}% of {one.n_items}"
            f" at most a level apart, Krippendorff's alpha {alpha}"
        )
