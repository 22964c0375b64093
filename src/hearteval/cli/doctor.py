"""``heart doctor``: what is missing, and how to get it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from hearteval.cli.console import Terminal, emit_json, say, without_keys
from hearteval.cli.options import StudyPath, json_option
from hearteval.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from hearteval.study.checks import Check

EXTRAS = {
    "inspect": ("inspect_ai", "Inspect: its models, its tasks and its logs"),
    "local": ("xllamacpp", "models on this machine (GGUF files)"),
    "parquet": ("pyarrow", "Parquet files of votes and ratings"),
    "postgres": ("psycopg", "stores in PostgreSQL"),
    "signed": ("jwt", "links that a recruiting site signs"),
}
PACKAGES = ("numpy", "scipy", "sqlalchemy", "pydantic")
DETAIL = 32
"""The column in which what is said of something begins."""
MARKS = {"ok": "ok", "missing": "MISSING", "optional": "optional"}


@click.command("doctor")
@click.argument(
    "study_file",
    metavar="[STUDY.toml]",
    required=False,
    type=StudyPath(),
)
@click.option(
    "--probe",
    is_flag=True,
    help="Call each model of the study once (a few tokens each), and say what answered.",
)
@json_option
def command(study_file: Path | None, *, probe: bool, as_json: bool) -> None:
    """Say what is missing to run hearteval, or one study, and how to get it.

    Exit code 1 if anything needed is missing.
    """
    from hearteval.study.checks import Check, check_study

    if probe and study_file is None:
        raise click.UsageError("--probe calls the models of a study: name its file")
    checks = _check_installation()
    if study_file is not None:
        checks += check_study(study_file, Terminal(), probe=probe)
    checks = [Check(c.name, c.state, *map(without_keys, (c.detail, c.remedy))) for c in checks]
    is_ok = all(check.state != "missing" for check in checks)
    if as_json:
        emit_json("doctor", {"ok": is_ok, "checks": [check._asdict() for check in checks]})
    else:
        for check in checks:
            said = f"{MARKS[check.state]:<10}{check.name:<21} {check.detail}"
            say(said, indent=" " * DETAIL)
            if check.remedy:
                say(f"{'':<{DETAIL}}→ {check.remedy}")
    if not is_ok:
        raise click.exceptions.Exit(1)


def _check_installation() -> list[Check]:
    from hearteval.protocol import is_checked
    from hearteval.protocol.translations import describe_languages
    from hearteval.study.checks import Check

    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    completion = 'bash: `eval "$(_HEART_COMPLETE=bash_source heart)"` in ~/.bashrc'
    checks = [
        Check("hearteval", "ok", f"{__version__}, {found}"),
        Check("Python", "ok", platform.python_version()),
        Check("shell completion", "optional", "bash, zsh and fish", completion),
    ]
    for extra, (module, use) in EXTRAS.items():
        install = "" if find_spec(module) else f"pip install 'hearteval[{extra}]'"
        checks.append(Check(f"extra {extra}", "optional" if install else "ok", use, install))
    for language, lacks in describe_languages().items():
        by = "" if is_checked(language) else "; by a language model, nobody has checked them"
        detail = f"words for people and judges: {lacks or 'complete'}{by}"
        remedy = "until then these are English (docs/how-to/another-language.md)" if lacks else ""
        checks.append(Check(f"language {language}", "optional" if lacks else "ok", detail, remedy))
    return checks
