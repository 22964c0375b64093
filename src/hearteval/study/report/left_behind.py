"""Files that a study was written to before somebody withdrew: they may hold that person's words.

Where reports and exports of a study with people were written stands in ``NAME.files`` beside the
study file, a path a line. A file is done with when it is gone, or is written anew after the last
withdrawal.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from hearteval.domain import Study
from hearteval.errors import not_written
from hearteval.study.report.folders import require_own_folder
from hearteval.study.session import Session

MADE = ("report.html", "results.json")
"""Endings of the files beside the study file that may hold words and are always there."""


def remember(session: Session, study: Study, paths: Iterable[Path]) -> None:
    """Keep where files with words were written, for when somebody withdraws."""
    if not session.store.people.people(study.id):
        return
    paths = [one.resolve() for one in paths]
    for one in paths:
        one.touch()  # what holds the same as before was not written, and is as of now all the same
    known, path = set(_listed(session)), _list_of(session)
    new = map(str, paths)
    try:
        opener = partial(os.open, mode=0o600)
        with open(path, "a", encoding="utf-8", opener=opener) as file:
            file.writelines(f"{one}\n" for one in dict.fromkeys(new) if one not in known)
    except OSError as error:
        session.tell.warn(
            f"{path}: cannot be written ({error.strerror}); should somebody withdraw, what was"
            " written now is not listed"
        )


def find_left_behind(session: Session, study: Study) -> list[Path]:
    """Return the files and folders on this computer that are older than the last withdrawal."""
    gone = [one.withdrawn_at for one in session.store.people.people(study.id) if one.withdrawn_at]
    if not gone:
        return []
    file, last = session.settings.file, max(gone).timestamp()
    beside = [file.parent / f"{session.settings.name}.{ending}" for ending in MADE]
    known = dict.fromkeys([*(one.resolve() for one in beside), *map(Path, _listed(session))])
    return [one for one in known if one.exists() and one.stat().st_mtime <= last]


def remove(study: Study, paths: Iterable[Path]) -> None:
    """Delete files, and folders in which nothing stands but what a report has written.

    Raises:
        SettingsError: A folder holds something else.
        StoreError: One cannot be deleted.
    """
    for path in paths:
        try:
            if path.is_dir():
                require_own_folder(path, study.id)
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise not_written(path, error) from error


def _list_of(session: Session) -> Path:
    return session.settings.file.parent / f"{session.settings.name}.files"


def _listed(session: Session) -> list[str]:
    with suppress(FileNotFoundError):
        return _list_of(session).read_text("utf-8").splitlines()
    return []
