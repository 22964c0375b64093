"""A study -> files that ``inspect view`` opens: one of Inspect's logs for each system.

What stands in them is made by `inspect_samples`, which needs the extra ``inspect``.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from heartbench.domain import Study, System
from heartbench.errors import SettingsError, StoreError
from heartbench.exchange.inspect_logs import load_inspect
from heartbench.exchange.study_export import StudyExport, tally_judgments

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

FAMILIAR_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedLog:
    """One log that was written.

    Attributes:
        system: The system's name.
        path: The file.
        n_completions: Samples with a completion.
        n_failed: Samples that hold an error instead: why the completion is missing.
        n_left_out: Items that the system was never asked about; they have no sample.
    """

    system: str
    path: Path
    n_completions: int
    n_failed: int
    n_left_out: int


def export_study(export: StudyExport, folder: Path, *, replace: bool) -> tuple[ExportedLog, ...]:
    """Write one log for each system into a folder, made where there is none.

    All are made before the first is put there, so that a fault leaves what was there before.

    Raises:
        SettingsError: A file of such a name holds something else and is not to be replaced; or the
            extra ``inspect`` is not installed.
        StoreError: The folder cannot be written.
    """
    inspect_log = load_inspect()
    from heartbench.exchange.inspect_samples import build_log  # noqa: PLC0415 - it needs the extra

    tallies = tally_judgments(export)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as drafts:
            for system in export.systems:
                log = build_log(export, system, tallies)
                draft = Path(drafts) / _file_name(export.study, system)
                inspect_log.write_eval_log(log, draft)
                written.append((draft, _exported(log, system, folder / draft.name, export)))
            _require_room(folder, [draft for draft, _ in written], replace=replace)
            for draft, exported in written:
                draft.replace(exported.path)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be written ({error.strerror or error}); check the folder, its"
            " permissions and the free space"
        ) from error
    return tuple(exported for _, exported in written)


def _require_room(folder: Path, drafts: Sequence[Path], *, replace: bool) -> None:
    for draft in drafts:
        path = folder / draft.name
        if path.exists() and not replace and _contents(path) != _contents(draft):
            raise SettingsError(
                f"{path}: holds other content; give another --out, or --force to replace it"
            )


def _contents(path: Path) -> list[tuple[str, int]] | None:
    """Return names and checksums of what a log holds; its bytes hold the time of writing too."""
    try:
        with ZipFile(path) as archive:
            return sorted((member.filename, member.CRC) for member in archive.infolist())
    except BadZipFile:
        return None


def _file_name(study: Study, system: System) -> str:
    familiar = "".join(c if c.isascii() and c.isalnum() else "-" for c in system.name)
    return f"{study.name}.{familiar[:FAMILIAR_NAME]}.{system.id[:8]}.eval"


def _exported(log: "EvalLog", system: System, path: Path, export: StudyExport) -> ExportedLog:
    samples = log.samples or []
    n_failed = sum(sample.error is not None for sample in samples)
    n_there = len({sample.id for sample in samples})
    return ExportedLog(
        system=system.name,
        path=path,
        n_completions=len(samples) - n_failed,
        n_failed=n_failed,
        n_left_out=len(export.items) - n_there,
    )
