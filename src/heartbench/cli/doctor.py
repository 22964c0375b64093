"""``heart doctor``: what is missing, and how to get it."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import click

from heartbench.cli.options import json_option

State = Literal["ok", "missing", "optional"]
EXTRAS = {"postgres": ("psycopg", "stores in PostgreSQL")}
PACKAGES = ("numpy", "scipy", "sqlalchemy", "pydantic")
MARKS: dict[State, str] = {"ok": "ok", "missing": "MISSING", "optional": "optional"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a study may need.

    Attributes:
        name: What it is.
        state: ``ok``, ``missing`` (a study cannot run without it) or ``optional``.
        detail: What was found.
        remedy: What to do; empty where all is well.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""


@click.command("doctor")
@click.argument(
    "study_file",
    metavar="[STUDY.toml]",
    required=False,
    type=click.Path(path_type=Path, dir_okay=False),
)
@json_option
def command(study_file: Path | None, *, as_json: bool) -> None:
    """Say what is missing to run heartbench, or one study, and how to get it.

    Exit code 1 if anything needed is missing.
    """
    from heartbench.cli.console import emit_json

    checks = [*_check_installation(), *_check_extras()]
    if study_file is not None:
        checks += _check_study(study_file)
    is_ok = all(check.state != "missing" for check in checks)
    if as_json:
        emit_json("doctor", {"ok": is_ok, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            click.echo(f"{MARKS[check.state]:<10}{check.name:<22}{check.detail}")
            if check.remedy:
                click.echo(f"{'':<10}{'':<22}→ {check.remedy}")
    if not is_ok:
        raise click.exceptions.Exit(1)


def _check_installation() -> list[Check]:
    import platform
    from importlib.metadata import version

    from heartbench import __version__

    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        Check(name="heartbench", state="ok", detail=f"{__version__}, {found}"),
        Check(name="Python", state="ok", detail=platform.python_version()),
        Check(
            name="keys",
            state="ok",
            detail="none needed: every system and judge of this version runs offline",
        ),
        Check(
            name="shell completion",
            state="optional",
            detail="bash, zsh and fish",
            remedy='bash: eval "$(_HEART_COMPLETE=bash_source heart)" in ~/.bashrc',
        ),
    ]


def _check_extras() -> list[Check]:
    from importlib.util import find_spec

    checks = []
    for extra, (module, use) in EXTRAS.items():
        is_there = find_spec(module) is not None
        checks.append(
            Check(
                name=f"extra {extra}",
                state="ok" if is_there else "optional",
                detail=use,
                remedy="" if is_there else f"pip install 'heartbench[{extra}]'",
            )
        )
    return checks


def _check_study(study_file: Path) -> list[Check]:
    from heartbench.cli.session import gather
    from heartbench.config import load_study
    from heartbench.errors import HeartbenchError
    from heartbench.store.probe import probe_store

    try:
        settings = load_study(study_file)
    except HeartbenchError as error:
        return [_missing("study file", error)]
    checks = [Check(name="study file", state="ok", detail=str(study_file))]
    try:
        items = gather(settings).items
        checks.append(Check(name="items", state="ok", detail=f"{len(items)}"))
    except HeartbenchError as error:
        checks.append(_missing("items", error))
    try:
        checks.append(Check(name="store", state="ok", detail=probe_store(settings.store)))
    except HeartbenchError as error:
        checks.append(_missing("store", error))
    return checks


def _missing(name: str, error: Exception) -> Check:
    what, _, remedy = str(error).partition("; ")
    return Check(name=name, state="missing", detail=what, remedy=remedy)
