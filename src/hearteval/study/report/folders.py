"""Folders that a report writes: replaced as a whole, and only where an earlier one wrote them."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from hearteval.domain import Study
from hearteval.errors import SettingsError, not_written
from hearteval.study import remove_left_drafts
from hearteval.study.session import Session

START = ".hearteval."
"""Of the name of a folder that is being written."""
MARKER = ".hearteval-pages"
"""Lists the files of a folder that a report has written, under the id of its study."""


def write_folder(
    session: Session,
    study: Study,
    folder: Path,
    files: Iterable[tuple[str, bytes]],
    *,
    label: str,
    n_files: int,
) -> None:
    """Write files into a folder of their own, with progress.

    The folder is replaced as a whole, and only one that an earlier report of this study wrote.

    Raises:
        SettingsError: The folder is not of this study's reports, or holds something else too.
        StoreError: It cannot be written.
    """
    folder = folder.resolve()
    require_own_folder(folder, study)
    remove_left_drafts(folder.parent, START)
    draft = folder.with_name(f"{START}{os.getpid()}")
    old = folder.with_name(f"{START}{os.getpid()}.old")
    try:
        _write_files(session, files, draft, study.id, label=label, n_files=n_files)
        if folder.exists():
            folder.replace(old)
        draft.replace(folder)
    except OSError as error:
        raise not_written(folder, error) from error
    finally:
        if old.exists() and not folder.exists():
            old.replace(folder)
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def link_to(folder: Path, start: Path) -> str:
    """Return how a page in one folder links to another folder, with a slash at the end."""
    way = os.path.relpath(folder.resolve(), start.resolve())
    return "".join(f"{quote(part)}/" for part in Path(way).parts if part != ".")


def require_own_folder(folder: Path, study: Study) -> None:
    """Let only a folder be replaced that is empty, or all written by reports of this study.

    Raises:
        SettingsError: It is another one.
    """
    try:
        found = {path.name for path in folder.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise SettingsError(f"{folder}: is no folder; name another one") from None
    except OSError as error:
        raise SettingsError(
            f"{folder}: cannot be a folder ({error.strerror}); name another one"
        ) from error
    if not found:
        return
    marker = folder / MARKER
    listed = marker.read_text("utf-8", errors="replace") if marker.is_file() else ""
    study_id, *own = listed.splitlines() or [""]
    foreign = sorted(found - {MARKER, *own})
    if study_id != study.id or foreign:
        what = f"it holds {foreign[0]}" if foreign else "it is of another study"
        raise SettingsError(
            f"{folder}: only an empty folder, or one that `heart report` wrote for this study,"
            f" is replaced, and {what}; name another one"
        )


def _write_files(
    session: Session,
    files: Iterable[tuple[str, bytes]],
    draft: Path,
    study_id: str,
    *,
    label: str,
    n_files: int,
) -> None:
    draft.mkdir(mode=0o700, parents=True)
    names = []
    with session.tell.progress(label) as progress:
        for n, (name, content) in enumerate(files, 1):
            (draft / name).write_bytes(content)
            names.append(name)
            progress(n, n_files)
    (draft / MARKER).write_text("\n".join([study_id, *names]) + "\n", encoding="utf-8")
