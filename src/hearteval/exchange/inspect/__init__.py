"""A study -> files that ``inspect view`` opens: one of Inspect's logs for each system.

What stands in them is made in `hearteval.exchange.inspect.samples`, which needs the extra
``inspect``.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile, ZipFile

from hearteval.analysis.data import StudyData
from hearteval.domain import Study, System
from hearteval.errors import SettingsError, not_written
from hearteval.exchange.inspect.logs import load_inspect
from hearteval.exchange.records.writing import DRAFTS

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

FAMILIAR_NAME = 40


class ExportedLog(NamedTuple):
    """One log that was written, of the system of this name."""

    system: str
    path: Path
    n_completions: int
    n_failed: int
    """Samples that hold an error instead: why the completion is missing."""
    n_left_out: int
    """Items that the system was never asked about; they have no sample."""


def export_study(
    study: Study,
    data: StudyData,
    folder: Path,
    *,
    prompts: Mapping[str, Mapping[str, Sequence[tuple[str, str]]]],
    replace: bool,
) -> tuple[ExportedLog, ...]:
    """Write one log for each ranked system into a folder, made where there is none.

    All are made before the first is put there, so that a fault leaves what was there before.
    Ratings are not exported. `prompts` is what was sent, as (role, content), by hash and item id;
    with `replace`, files of such names that hold something else are replaced.

    Raises:
        SettingsError: A file of such a name holds something else and is not to be replaced; or the
            extra ``inspect`` is not installed.
        StoreError: The folder cannot be written.
    """
    inspect_log = load_inspect()
    from hearteval.exchange.inspect.samples import LogMaker  # noqa: PLC0415 - it needs the extra

    logs = LogMaker(study, data, prompts=prompts)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{DRAFTS}{os.getpid()}-"
        with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as drafts:
            for system in sorted(data.ranked, key=lambda system: system.name):
                log = logs.make(system)
                draft = Path(drafts) / _file_name(study, system)
                inspect_log.write_eval_log(log, draft)
                draft.chmod(0o600)  # it holds what people wrote
                path = folder / draft.name
                written.append((draft, _exported(log, system, path, len(data.items))))
            _require_room(folder, [draft for draft, _ in written], replace=replace)
            for draft, exported in written:
                draft.replace(exported.path)
    except OSError as error:
        raise not_written(folder, error) from error
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


def _exported(log: "EvalLog", system: System, path: Path, n_items: int) -> ExportedLog:
    samples = log.samples or []
    n_failed = sum(sample.error is not None for sample in samples)
    n_there = len({sample.id for sample in samples})
    return ExportedLog(
        system=system.name,
        path=path,
        n_completions=len(samples) - n_failed,
        n_failed=n_failed,
        n_left_out=n_items - n_there,
    )
