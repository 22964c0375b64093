"""``heart judges``: the judges that a study can name, and what they can be trusted with."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from hearteval.cli.console import emit_json, end_with, say, working_on
from hearteval.cli.options import count_option, json_option, study_argument, yes_option


@click.group("judges")
def command() -> None:
    """List the judges, and test those of a study."""


@command.command("list")
@json_option
def list_all(*, as_json: bool) -> None:
    """List the judges that a study can name, with families, routes, refusals and prices."""
    from hearteval.models.prices import price_list
    from hearteval.study.catalogue import judge_objects, list_judges

    rows = judge_objects(when=datetime.now(UTC))
    if as_json:
        emit_json("judges", {"judges": rows, "prices": price_list()})
    else:
        say(list_judges(rows))


@command.command("audit")
@study_argument
@count_option("--items", "n_items", default=20, words="Items with a reference to audit on.")
@yes_option
@json_option
def audit(study_file: Path, *, n_items: int, yes: bool, as_json: bool) -> None:
    """Stress-test the judges of a study: can they be swayed, flattered, confused, misled?

    Run again, it asks what is missing; with more items it keeps what was asked.
    """
    from hearteval.config import load_study
    from hearteval.protocol import CUE_NOTICE
    from hearteval.report.text import wrapped
    from hearteval.sections.judges.words import judge_audit_lines
    from hearteval.study.pipeline import LEVEL, audit_study, pair_form

    settings = load_study(study_file)
    pair_form(settings)
    with working_on(settings, "judges-audit", yes=yes) as (session, study):
        counts, audits, failures = audit_study(session, study, n_items=n_items)
    notice = CUE_NOTICE if any(found.is_baseline for found in audits) else None
    if as_json:
        body = {"study": study.name, "version": study.version, **counts, "level": LEVEL}
        rows = [asdict(found) for found in audits]
        body |= {"judge_notice": notice, "judges": rows}
        emit_json("judges_audit", {**body, "failures": [asdict(one) for one in failures]})
    else:
        say(judge_audit_lines(audits, level=LEVEL))
        if notice is not None:
            say("\n" + wrapped(notice))
    end_with(failures, settings, stopped=counts["judgments"]["stopped"])


@command.command("halo")
@study_argument
@count_option("--pairs", "n_pairs", default=50, words="Pairs to ask each judge about again.")
@yes_option
@json_option
def halo(study_file: Path, *, n_pairs: int, yes: bool, as_json: bool) -> None:
    """Do axis marks follow the overall verdict? Ask about each axis alone, and in another order.

    Judges are shown pairs that they have judged; no ranking reads what they say here. Run again, it
    asks what is missing; with more pairs it keeps what was asked.
    """
    from hearteval.config import load_study
    from hearteval.sections.judges.words import halo_lines
    from hearteval.study.judges.halo import measure_judges
    from hearteval.study.pipeline import LEVEL, pair_form

    settings = load_study(study_file)
    pair_form(settings)
    with working_on(settings, "judges-halo", yes=yes) as (session, study):
        counts, found = measure_judges(session, study, n_pairs=n_pairs)
    if as_json:
        body = {"study": study.name, "version": study.version, **counts, "level": LEVEL}
        emit_json("judges_halo", {**body, "judges": [asdict(one) for one in found]})
    else:
        say(halo_lines(found, settings.judging.form.axis_names, level=LEVEL))
    end_with((), settings, stopped=counts["judgments"]["stopped"])


@command.command("drift")
@study_argument
@count_option("--pairs", "n_pairs", default=50, words="Old pairs to ask each judge about again.")
@yes_option
@json_option
def drift(study_file: Path, *, n_pairs: int, yes: bool, as_json: bool) -> None:
    """Do the judges of a board that you continue still judge as they did?

    Each is asked again about old pairs, as it was asked then; no ranking reads what it says here.
    Run again, it asks what is missing; with more pairs it keeps what was asked.
    """
    from hearteval.config import load_study
    from hearteval.report.text import wrapped
    from hearteval.sections.board import drift_words
    from hearteval.study.judges.drift import check_drift
    from hearteval.study.pipeline import LEVEL

    settings = load_study(study_file)
    with working_on(settings, "judges-drift", yes=yes) as (session, study):
        counts, found = check_drift(session, study, n_pairs=n_pairs)
    if as_json:
        body = {"study": study.name, "version": study.version, **counts, "level": LEVEL}
        emit_json("judges_drift", {**body, "judges": [asdict(one) for one in found.judges]})
    else:
        for one in found.judges:
            say(wrapped(drift_words(one)))
    end_with((), settings, stopped=counts["judgments"]["stopped"])


@command.command("calibrate")
@study_argument
@yes_option
@json_option
def calibrate(study_file: Path, *, yes: bool, as_json: bool) -> None:
    """Have judges that rate score keyed examples first: are they strict, mild, or far off?

    What they say here enters no score. Run again, it asks what is missing.
    """
    from hearteval.config import load_study
    from hearteval.sections.ratings.words import calibration_lines
    from hearteval.study.judges.calibration import calibrate_judges

    settings = load_study(study_file)
    with working_on(settings, "judges-calibrate", yes=yes) as (session, study):
        counts, found, failures = calibrate_judges(session, study)
    if as_json:
        body = {"study": study.name, "version": study.version, **counts}
        rows = [asdict(one) for one in found]
        failed = [asdict(one) for one in failures]
        emit_json("judges_calibrate", {**body, "raters": rows, "failures": failed})
    else:
        say(calibration_lines(found))
    end_with(failures, settings, stopped=counts["ratings"]["stopped"])
