"""A run that finds nothing to do: what the last one said, where nothing has changed since.

It rests on the study file, the files of its items, what the store holds, the pages that were
written, and the software. A run that left anything open, or warned of anything, is not kept.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.config import StudySettings
from hearteval.domain import content_hash
from hearteval.domain.reasons import BY_DESIGN
from hearteval.store.fingerprint import fingerprint_of
from hearteval.study.kept import KeptFile, file_hash

STEPS = ("completions", "judgments", "ratings")
WRITTEN = ("results", "report", "leaderboard_csv", "ratings_csv")


class LastRun(NamedTuple):
    """What the last run said."""

    body: dict[str, Any]
    """What it did as JSON says it: nothing, for all was there."""
    text: str | None
    """What it printed; None where it was shown otherwise than it would be now."""


def find_last_run(settings: StudySettings, shown: Any) -> LastRun | None:
    """Return what the last run said, where a run now would find the same and write the same.

    Args:
        settings: Of the study.
        shown: How its results are shown, as JSON says it.
    """
    key = _key(settings)
    kept = None if key is None else KeptFile(settings, "run").read(key)
    if kept is None or kept["stored"] != fingerprint_of(settings.store):
        return None
    if kept["written"] != _written(kept["body"]):
        return None
    return LastRun(kept["body"], kept["text"] if kept["shown"] == shown else None)


def keep_run(
    settings: StudySettings,
    body: Mapping[str, Any],
    *,
    stored: str | None,
    text: str | None,
    shown: Any,
) -> None:
    """Keep what a run said, where the next one would have nothing to do.

    Args:
        settings: Of the study.
        body: What it did, as JSON says it.
        stored: The fingerprint of what its results rest on; None where the store has none.
        text: What it printed; None where that was JSON.
        shown: How.
    """
    key, written = _key(settings), _written(body)
    if key is None or stored is None or written is None or not _is_settled(body):
        return
    again = {**body, **{step: _as_before(body[step]) for step in STEPS}}
    again["plan"] = {**body["plan"], "n_new": 0}
    kept = {"stored": stored, "written": written, "body": again, "text": text, "shown": shown}
    KeptFile(settings, "run").write(key, kept)


def _is_settled(body: Mapping[str, Any]) -> bool:
    is_asked = body["ceiling"]["estimate"]["n_calls"] > 0
    steps = [body[step] for step in STEPS if body[step] is not None]
    is_missing = any(step["missing"].keys() - BY_DESIGN for step in steps)
    return not (is_asked or is_missing or body.get("failures"))


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


def _key(settings: StudySettings) -> str | None:
    """Name the study file, the store's place and the files of items; None where one is not read."""
    source = settings.items.path
    folder = source if source is not None and source.is_dir() else None
    files = [settings.file, *(sorted(folder.iterdir()) if folder else [source] if source else [])]
    if source is not None and folder is None:
        files.append(source.with_name(f"{source.name}.screening.jsonl"))
    try:
        hashes = {str(path): file_hash(path) for path in files if path.is_file()}
    except OSError:
        return None
    settled = {"settings": settings.settings_hash, "store": settings.store}
    return content_hash({"files": hashes, **settled})
