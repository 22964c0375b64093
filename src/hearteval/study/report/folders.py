"""Folders that a report writes: replaced as a whole, and only where an earlier one wrote them."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from hearteval.errors import SettingsError, not_written
from hearteval.study import Tell, remove_left_drafts

START = ".hearteval."
"""Of the name of a folder that is being written."""
MARKER = ".hearteval-pages"
"""Lists the files of a folder that a report has written, under the id of its study."""
SITE = "site"
"""Stands for that id in the folder of a site, which may be of several studies."""


def write_folder(  # noqa: PLR0913 - whose folder it is, what goes into it, how that is told
    tell: Tell,
    owner: str,
    folder: Path,
    files: Iterable[tuple[str, bytes]],
    *,
    label: str,
    n_files: int,
    is_private: bool = True,
) -> None:
    """Write files into a folder of their own, with progress.

    The folder is replaced as a whole, and only one that was written for the same owner: the id of a
    study, whose reports these are, or `SITE`. A private one, which may hold dialogues, is its
    owner's alone to read.

    Raises:
        SettingsError: The folder is another's, or holds something else too.
        StoreError: It cannot be written.
    """
    require_own_folder(folder.resolve(), owner)
    with draft_of(folder, mode=0o700 if is_private else 0o755) as draft:
        with tell.progress(label) as progress:
            names = []
            for n, (name, content) in enumerate(files, 1):
                (draft / name).write_bytes(content)
                names.append(name)
                progress(n, n_files)
        (draft / MARKER).write_text("\n".join([owner, *names]) + "\n", encoding="utf-8")


@contextmanager
def draft_of(folder: Path, *, mode: int = 0o755) -> Iterator[Path]:
    """Yield a new folder to write into, which takes the place of another once all is there.

    Raises:
        StoreError: It cannot be written; what was there before is there still.
    """
    folder = folder.resolve()
    draft = folder.with_name(f"{START}{os.getpid()}")
    old = folder.with_name(f"{START}{os.getpid()}.old")
    try:
        remove_left_drafts(folder.parent, START)
        draft.mkdir(mode=mode, parents=True)
        yield draft
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


def require_own_folder(folder: Path, owner: str) -> None:
    """Let only a folder be replaced that is empty, or all written for the same owner.

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
    former, *own = listed.splitlines() or [""]
    foreign = sorted(found - {MARKER, *own})
    if former != owner or foreign:
        what = f"it holds {foreign[0]}" if foreign else "it is of another study"
        ours = "`heart site` wrote" if owner == SITE else "`heart report` wrote for this study"
        raise SettingsError(
            f"{folder}: only an empty folder, or one that {ours},"
            f" is replaced, and {what}; name another one"
        )
