"""``heart label``: have models say what the completions do, by a list of strategies or skills."""

from dataclasses import asdict, replace
from pathlib import Path

import click

from hearteval.cli.console import (
    Terminal,
    emit_json,
    end_with,
    labelled,
    labelled_lines,
    say,
    working_on,
)
from hearteval.cli.options import json_option, study_argument, yes_option
from hearteval.study import quoted


@click.command("label")
@study_argument
@click.option(
    "--taxonomy",
    "name",
    type=click.Choice(["strategies", "micro-skills", "rationales", "item-screen", "safety"]),
    default="strategies",
    show_default=True,
    help="15 strategies or six micro-skills of replies; themes of reasons; the second screen of"
    " items; what is unsafe to read.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and the cost ceiling, then stop.")
@yes_option
@json_option
def command(study_file: Path, *, name: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Have the labelers of a study say what each text does.

    They are named in [labels] of the study file. Each says of every strategy, or theme, whether it
    is in the text, with words of the text as evidence. Run again, it asks what is missing.
    """
    from hearteval.config import load_study
    from hearteval.labels.cues import CUES_NOTICE
    from hearteval.labels.safety import RULES_NOTICE
    from hearteval.labels.taxonomy import TAXONOMIES, load_taxonomy

    taxonomy = load_taxonomy(next(one for one in TAXONOMIES if one == name))
    is_of_items = taxonomy.of == ("item",)
    settings = load_study(study_file, is_of_items=is_of_items)
    if name == "rationales":
        taxonomy = replace(taxonomy, n_comparisons=settings.n_reasons)
    if dry_run:
        from hearteval.study.labels import plan_labels
        from hearteval.study.session import open_stored

        opening = (
            working_on(settings, "label") if is_of_items else open_stored(study_file, Terminal())
        )
        with opening as (session, study):
            plan, words = plan_labels(session, study, taxonomy)
        if as_json:
            body = {"study": study.name, "version": study.version, "taxonomy": name}
            emit_json("label", {**body, "dry_run": True, "ceiling": plan})
        else:
            say(words)
        return
    with working_on(settings, "label", yes=yes) as (session, study):
        from hearteval.study.labels import (  # not before it begins
            label_study,
            needed_verb,
            texts_named,
        )

        counts, failures = label_study(session, study, taxonomy)
    notice = CUES_NOTICE if any(one.model is None for one in settings.labelers) else None
    notice = RULES_NOTICE if name == "safety" else notice
    if as_json:
        body = {
            "study": study.name,
            "version": study.version,
            "taxonomy": name,
            "taxonomy_version": taxonomy.version,
            "dry_run": False,
            "labels": counts,
            "notice": notice,
            "failures": [asdict(failure) for failure in failures],
        }
        emit_json("label", body)
    elif not counts["n_wanted"]:
        verb = f"heart {needed_verb(taxonomy)} {quoted(study_file)}"
        say(f"no {texts_named(taxonomy)} to label yet; first: {verb}")
        return
    else:
        n_stored = counts["n_before"] + counts["n_added"]
        say(
            f"{n_stored:,} of {counts['n_wanted']:,} {texts_named(taxonomy)} labelled by"
            f" {taxonomy.title}, {counts['n_added']:,} new"
        )
        if notice:
            say(labelled_lines(notice))
        verb = "items accept" if is_of_items else "report"
        say(labelled("next", f"heart {verb} {quoted(study_file)}"))
    end_with(failures, settings, stopped=counts["stopped"])
