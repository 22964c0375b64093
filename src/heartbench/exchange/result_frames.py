"""Rows of results -> a dataframe of the kind that went in, or of one that is installed."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from heartbench.errors import SettingsError
from heartbench.exchange.frames import wrap_frame
from heartbench.exchange.tables import Source

FRAMES = (nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW)


def find_frame_kind(source: Source) -> nw.Implementation:
    """Return the library whose dataframe a result becomes.

    That of the source, if it makes dataframes in memory; for a path, a database and the like, the
    first of pandas, polars and pyarrow that is installed.
    """
    if not isinstance(source, str | Path):
        kind: nw.Implementation = wrap_frame(source).implementation
        if kind in FRAMES:
            return kind
    installed = [kind for kind in FRAMES if find_spec(kind.value)]
    return installed[0] if installed else nw.Implementation.UNKNOWN


def make_frame(rows: Sequence[Mapping[str, Any]], kind: nw.Implementation) -> Any:
    """Return rows, all with the same keys, as a dataframe.

    Raises:
        SettingsError: No library that makes dataframes is installed.
    """
    if kind not in FRAMES:
        names = ", ".join(kind.value for kind in FRAMES)
        raise SettingsError(f"a dataframe of the result needs one of {names}; install one")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return nw.from_dict(columns, backend=kind.to_native_namespace()).to_native()
