"""Parquet files -> coded columns, in batches; text is read as dictionaries, not as strings.

Only the columns asked for are read, a page at a time, so that memory does not grow with the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from heartbench.errors import InvalidVotesError, SettingsError
from heartbench.exchange.arrow import BATCH_ROWS, BatchCoder, check_types
from heartbench.exchange.columns import (
    CodedColumn,
    Report,
    check_columns,
    check_unique,
    report_nothing,
)

_BUFFER_BYTES = 1 << 20


class ParquetTable:
    """A Parquet file; it needs pyarrow."""

    warnings = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._parquet: Any = import_module("pyarrow.parquet")
        except ImportError:
            advice = "pip install 'heartbench[parquet]'"
            raise SettingsError(f"{path}: reading Parquet needs pyarrow; {advice}") from None
        with self._explaining(), self._parquet.ParquetFile(path) as file:
            self._schema: Any = file.schema_arrow
        self.column_names: tuple[str, ...] = tuple(self._schema.names)
        check_unique(self.label, self.column_names)

    @property
    def label(self) -> str:
        """The file's name, with its folder."""
        return str(self._path)

    def batches(
        self, names: Sequence[str], report: Report = report_nothing
    ) -> Iterator[Mapping[str, CodedColumn]]:
        """Yield some of the columns, at most `BATCH_ROWS` rows at a time."""
        check_columns(self.label, names, self.column_names)
        check_types(self.label, self._schema, names)
        names = list(names)
        with (
            self._explaining(),
            self._parquet.ParquetFile(
                self._path, read_dictionary=names, buffer_size=_BUFFER_BYTES, pre_buffer=False
            ) as file,
        ):
            n_done, n_rows = 0, file.metadata.num_rows
            coder = BatchCoder(self.label, names)
            for batch in file.iter_batches(BATCH_ROWS, columns=names, use_threads=False):
                yield coder.code(batch)
                n_done += len(batch)
                report(n_done, n_rows)

    def place(self, row: int) -> str:
        """Say in which row something stands."""
        return f"row {row}"

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        arrow = import_module("pyarrow")
        try:
            yield
        except UnicodeDecodeError:
            raise SettingsError(f"{self.label} holds text that is not UTF-8") from None
        except (arrow.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            problem = f"is cut short, damaged or no Parquet file ({reason})"
            raise InvalidVotesError(f"{self.label} {problem}; fetch or write it again") from None
