"""Any file or dataframe -> a table of coded columns.

Files are told apart by their suffix alone: .csv, .tsv, .jsonl or .ndjson, each also with .gz, and
.parquet, which needs the extra of that name. Every dataframe that narwhals knows will do, and a
list of dictionaries.
"""

from pathlib import Path
from typing import Any, cast

from hearteval.errors import SettingsError
from hearteval.exchange.tables.arrow import ParquetTable
from hearteval.exchange.tables.columns import Report, Table, report_nothing
from hearteval.exchange.tables.frames import FrameTable, RowsTable, Source, is_rows
from hearteval.exchange.tables.text import CsvTable, JsonLinesTable

__all__ = ["Source", "open_table"]


def open_table(source: Source, report: Report = report_nothing) -> Table:
    """Open a file or dataframe for reading; `report` is told how far a reading is.

    Raises:
        SettingsError: There is no such file, it is empty, its suffix is not known, two columns
            have one name, or it cannot be read at all.
        InvalidVotesError: A Parquet file is cut short or damaged.
        TypeError: The source is neither a path nor a dataframe nor a list of dictionaries.
    """
    if is_rows(source):
        return RowsTable(source, report)
    if not isinstance(source, str | Path):
        return FrameTable(cast("Any", source), report)
    path = Path(source)
    if str(source) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        raise SettingsError(
            f"{source}: only files are read, no pipes and no standard input; save it as a file"
        )
    if path.is_dir():
        raise SettingsError(f"{path} is a folder; give a file of votes or ratings")
    if not path.exists():
        raise SettingsError(f"there is no file {path}; check the path")
    table = _table_for(path)
    if path.stat().st_size == 0:
        raise SettingsError(f"{path} is empty; check the path")
    return table(path, report)


def _table_for(path: Path) -> type[CsvTable] | type[JsonLinesTable] | type[ParquetTable]:
    match path.name.lower().removesuffix(".gz").rpartition(".")[2]:
        case "csv" | "tsv":
            return CsvTable
        case "jsonl" | "ndjson":
            return JsonLinesTable
        case "parquet" if path.suffix.lower() == ".parquet":
            return ParquetTable
    if path.suffix.lower() == ".json":
        raise SettingsError(
            f"{path}: JSON is read one object a line; write it so and name the file .jsonl"
        )
    known = ".csv, .tsv, .jsonl or .ndjson (each also with .gz) or .parquet"
    raise SettingsError(f"{path}: the format cannot be told; name the file {known}")
