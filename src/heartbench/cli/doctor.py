"""``heart doctor``: what is missing, and how to get it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from heartbench.cli.options import json_option

if TYPE_CHECKING:
    from heartbench.config import StudySettings
    from heartbench.models.base import AskedModel

State = Literal["ok", "missing", "optional"]
EXTRAS = {
    "inspect": ("inspect_ai", "Inspect: its models, its tasks and its logs"),
    "local": ("xllamacpp", "models on this machine (GGUF files)"),
    "parquet": ("pyarrow", "Parquet files of votes and ratings"),
    "postgres": ("psycopg", "stores in PostgreSQL"),
}
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
@click.option(
    "--probe",
    is_flag=True,
    help="Call each model of the study once (a few tokens each), and say what answered.",
)
@json_option
def command(study_file: Path | None, *, probe: bool, as_json: bool) -> None:
    """Say what is missing to run heartbench, or one study, and how to get it.

    Exit code 1 if anything needed is missing.
    """
    from heartbench.cli.console import emit_json

    if probe and study_file is None:
        raise click.UsageError("--probe calls the models of a study: name its file")
    checks = [*_check_installation(), *_check_extras()]
    if study_file is not None:
        checks += _check_study(study_file, probe=probe)
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


def _check_study(study_file: Path, *, probe: bool) -> list[Check]:
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
    checks += _check_imports(settings)
    keys = _check_keys(settings)
    checks += keys
    if probe and all(check.state == "ok" for check in keys):
        checks += _probe_models(settings)
    return checks


def _check_keys(settings: StudySettings) -> list[Check]:
    from heartbench.cli.models import paid_models
    from heartbench.config import has_key

    models = paid_models(settings)
    if not models:
        return [Check(name="keys", state="ok", detail="none needed: this study runs offline")]
    checks = []
    for name, model in models:
        if model.key_name is None:
            checks.append(Check(name=name, state="ok", detail=f"{model.model}: needs no key"))
        elif has_key(model.key_name):
            checks.append(Check(name=name, state="ok", detail=f"{model.model}: {model.key_name}"))
        else:
            checks.append(
                Check(
                    name=name,
                    state="missing",
                    detail=f"{model.model}: no key",
                    remedy=f"set the environment variable {model.key_name} to your key",
                )
            )
    return checks


def _check_imports(settings: StudySettings) -> list[Check]:
    from heartbench.cli.imported_systems import import_command, stored_imports
    from heartbench.errors import HeartbenchError

    imported = {entry.name: entry.imported for entry in settings.systems if entry.imported}
    if not imported:
        return []
    try:
        stored = stored_imports(settings)
    except HeartbenchError:
        return []  # the check of the store has said so
    checks = []
    for name, model in imported.items():
        n_stored, n_items = stored.get(name, (0, 0))
        is_whole = 0 < n_items == n_stored
        found = (
            f"{n_stored} of {n_items} completions imported" if n_stored else "nothing imported yet"
        )
        checks.append(
            Check(
                name=f"import {name}",
                state="ok" if is_whole else "optional",
                detail=f"{model.model}: {found}",
                remedy="" if is_whole else import_command(settings, name),
            )
        )
    return checks


def _probe_models(settings: StudySettings) -> list[Check]:
    from heartbench.cli.asking import run_to_end
    from heartbench.cli.batches import asked_directly
    from heartbench.cli.models import open_models
    from heartbench.cli.session import judge_models, system_models
    from heartbench.errors import HeartbenchError
    from heartbench.models.probe import probe_model
    from heartbench.store.grouped import GroupedWriter
    from heartbench.store.sql import SqlStore

    async def probe(name: str, asked: AskedModel) -> Check:
        try:
            found = await probe_model(asked)
        except HeartbenchError as error:
            return _missing(name, error)
        if found.follows_schema is False:
            return Check(
                name=name,
                state="missing",
                detail=f"{found.model} answers, but its endpoint does not enforce the JSON schema",
                remedy="take another endpoint for this judge: most of its replies would be missing",
            )
        held = ", and the JSON schema is enforced" if found.follows_schema else ""
        return Check(name=name, state="ok", detail=f"{found.model} answers{held}")

    async def probe_all() -> list[Check]:
        systems, judges = (
            {id_: asked_directly(model) for id_, model in models.items()}
            for models in (system_models(settings), judge_models(settings))
        )
        store = SqlStore.in_memory()
        async with (
            GroupedWriter(store) as writer,
            open_models(settings, writer, systems=systems, judges=judges) as asking,
        ):
            wanted = [(f"probe {asked.model.name}", asked) for asked in asking.systems.values()]
            wanted += [(f"probe {asked.model.name}", asked) for asked in asking.judges.values()]
            return [await probe(name, asked) for name, asked in wanted]

    return run_to_end(probe_all())


def _missing(name: str, error: Exception) -> Check:
    what, _, remedy = str(error).partition("; ")
    return Check(name=name, state="missing", detail=what, remedy=remedy)
