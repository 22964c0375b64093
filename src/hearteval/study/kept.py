"""What is kept to save time: used again only where nothing that it rests on has changed.

Kept files stand in ``NAME.cache`` beside the study file, hold no text of a corpus, and may be
deleted at any time: what they say is then found anew. One that is damaged, or of anything else than
what is asked for, counts as none.
"""

import hashlib
import json
import logging
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import hearteval
from hearteval.config import StudySettings
from hearteval.domain import content_hash
from hearteval.errors import StoreError
from hearteval.study import write_whole

logger = logging.getLogger(__name__)
SCHEMA = "heart.kept/1"
COUNTED_WITH = ("numpy", "scipy", "sqlalchemy")


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
            write_whole(self._path, f"{json.dumps(_head(key, said))}\n{said}\n")
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
    folder = Path(hearteval.__file__).parent
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
