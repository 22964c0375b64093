"""What is kept to save time: used again only where nothing that it rests on has changed.

Kept files stand in ``NAME.cache`` beside the study file, hold no text of a corpus, and may be
deleted at any time: what they say is then found anew. One that is damaged, or of anything else than
what is asked for, counts as none.

`grow` keeps a choice from a corpus. Here stands how a run is kept that a later one would only
repeat: it rests on the study file, the files of its items, what the store holds, the pages that
were written, and the software. A run that asked anybody, failed, or met trouble that may pass is
not kept; what one warned of is kept with it, to be said again.
"""

import hashlib
import json
import logging
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.config import ItemSettings, StudySettings
from hearteval.domain import content_hash
from hearteval.errors import StoreError
from hearteval.models.presets import end_words, load_model_presets
from hearteval.store.integrity.fingerprint import fingerprint_of
from hearteval.study import write_whole

logger = logging.getLogger(__name__)
SCHEMA = "heart.kept/1"
COUNTED_WITH = ("numpy", "scipy", "sqlalchemy")
STEPS = ("completions", "judgments", "ratings")
WRITTEN = ("results", "report", "leaderboard_csv", "ratings_csv")


class KeptFile:
    """One answer beside a study, under a key that names all that it rests on.

    Args:
        settings: Of the study.
        name: What is kept, in a word.
        is_written: Whether an answer may be kept; else only one that is there is used.
    """

    def __init__(self, settings: StudySettings, name: str, *, is_written: bool = True) -> None:
        self._path = settings.file.parent / f"{settings.name}.cache" / f"{name}.json"
        self._is_written = is_written

    def read(self, key: str) -> Any | None:
        """Return what was kept under a key by this very software; None where nothing was."""
        try:
            head, body = self._path.read_text("utf-8").splitlines()
            is_it = json.loads(head) == _head(key, body)
            return json.loads(body) if is_it else None
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, key: str, body: Any) -> None:
        """Keep what JSON can say, in place of what was kept; where that fails, nothing is."""
        if not self._is_written:
            return
        said = json.dumps(body, allow_nan=False)
        try:
            self._path.parent.mkdir(exist_ok=True)
            # A warning may repeat the words of a provider, and those a dialogue.
            text = f"{json.dumps(_head(key, said))}\n{said}\n"
            write_whole(self._path, text, is_private=True)
        except (OSError, StoreError) as error:
            logger.info("%s is not kept: %s", self._path, error)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits; raise `OSError` where it has none."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _head(key: str, body: str) -> dict[str, str]:
    made_of = content_hash([key, _software_hash()])
    return {
        "schema": SCHEMA,
        "made_of": made_of,
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }


@cache
def _software_hash() -> str:
    """Hash this package as it is installed, changes of a developer included, and what it uses."""
    folder = Path(__file__).parents[1]
    files = sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()}".encode())
    for path in files:
        if path.is_file():
            digest.update(f"\0{path.relative_to(folder)}\0{file_hash(path)}".encode())
    for name in COUNTED_WITH:
        digest.update(f"\0{name} {_version(name)}".encode())
    return digest.hexdigest()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


class LastRun(NamedTuple):
    """What the last run said."""

    body: dict[str, Any]
    """What it did as JSON says it: nothing, for all was there."""
    text: str | None
    """What it printed; None where it was shown otherwise than it would be now."""
    warnings: tuple[str, ...]
    """What it warned of."""


def find_last_run(settings: StudySettings, shown: Any) -> LastRun | None:
    """Return what the last run said, where a run now would find the same and write the same.

    Args:
        settings: Of the study.
        shown: How its results are shown, as JSON says it.
    """
    key = run_key(settings).key
    kept = None if key is None else KeptFile(settings, "run").read(key)
    if kept is None or kept["written"] != _written(kept["body"]):
        return None
    if kept["stored"] != fingerprint_of(settings.store, settings.name, like=kept["stored"]):
        return None
    text = kept["text"] if kept["shown"] == shown else None
    return LastRun(kept["body"], text, tuple(kept["warnings"]))


class RunKey(NamedTuple):
    """What a run begins with."""

    settings: StudySettings
    key: str | None
    """Names the study file, its store, its items and how near its models' ends are today; None
    where a file is not read."""


def keep_run(
    begun: RunKey,
    body: Mapping[str, Any],
    *,
    stored: str,
    text: str | None,
    warnings: Sequence[str],
    shown: Any,
) -> None:
    """Keep what a run said, where the next one would have nothing to do.

    Args:
        begun: Taken before anything was read, so that a file edited meanwhile is read again.
        body: What it did, as JSON says it.
        stored: The fingerprint of what its results rest on.
        text: What it printed; None where that was JSON.
        warnings: What it warned of.
        shown: How it was shown, as JSON says it.
    """
    written = _written(body)
    if begun.key is None or written is None or not _is_settled(body):
        return
    again = {**body, **{step: _as_before(body[step]) for step in STEPS}}
    again["plan"] = {**body["plan"], "n_new": 0}
    found = {"stored": stored, "written": written, "body": again}
    said = {"text": text, "warnings": list(warnings), "shown": shown}
    KeptFile(begun.settings, "run").write(begun.key, found | said)


def _is_settled(body: Mapping[str, Any]) -> bool:
    """Say whether a next run would ask nobody: what is missing even so stays missing."""
    is_asked = body["ceiling"]["estimate"]["n_calls"] > 0
    return not (is_asked or body.get("failures"))


def _as_before(step: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if step is None:
        return None
    return {**step, "n_before": step["n_before"] + step["n_added"], "n_added": 0}


def _written(body: Mapping[str, Any]) -> dict[str, str] | None:
    paths = {name: body[name] for name in WRITTEN if name in body} | body["tables"]
    try:
        return {name: file_hash(Path(path)) for name, path in paths.items()}
    except OSError:
        return None


def run_key(settings: StudySettings) -> RunKey:
    """Return what a run begins with, the store's content apart."""
    files = [settings.file, *(path for table in settings.items for path in _files_of(table))]
    try:
        hashes = {str(path): file_hash(path) for path in files if path.is_file()}
    except OSError:
        return RunKey(settings, None)
    settled = {"settings": settings.settings_hash, "store": settings.store}
    ends = _ends_of_models(settings)
    return RunKey(settings, content_hash({"files": hashes, "ends": ends, **settled}))


def _files_of(table: ItemSettings) -> list[Path]:
    source = table.path
    if source is None:
        return []
    if source.is_dir():
        return sorted(source.iterdir())
    return [source, source.with_name(f"{source.name}.screening.jsonl")]


def _ends_of_models(settings: StudySettings) -> list[str]:
    """Return what is said today of models that have ended or soon will."""
    today, presets = datetime.now(UTC).date(), load_model_presets()
    systems, judges = settings.systems, settings.judging.judges
    asked = [*(one.model for one in systems), *(one.model for one in judges)]
    return [
        end_words(presets[model.preset].end_at(model.provider), today=today)
        for model in asked
        if model is not None and model.preset is not None and model.preset in presets
    ]
