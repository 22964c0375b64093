"""What is computed of a release from its records alone, and how it is compared with what it says.

Making a release and verifying one call the same functions, on a store that was loaded from files.
"""

import io
import json
import math
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any

from hearteval.analysis.study import StudyResults, results_dict
from hearteval.config import StudySettings
from hearteval.domain import Study, content_hash
from hearteval.exchange.records.writing import format_table
from hearteval.report.tables import all_tables
from hearteval.study.grow import study_raters, study_systems
from hearteval.study.records.leaving import tables_of
from hearteval.study.session import Session

RESULTS = "results/results.json"
TABLE = "results/{}.csv"
PARQUET = "tables/{}.parquet"
TOLERANCE = 1e-9
NOT_COMPARED = (
    *("provenance.software", "provenance.created_at", "spending.made"),
    "provenance.n_pilot",
)
"""Of the results: when and by what they were computed, and what is left out beside the study."""
PROTOCOL = "protocol"


def results_files(results: StudyResults) -> dict[str, bytes]:
    """Return the results of a study as JSON, and every table of them as CSV."""
    text = json.dumps(results_dict(results), ensure_ascii=False, allow_nan=False, indent=1)
    found = {RESULTS: f"{text}\n".encode()}
    return found | {
        TABLE.format(name): table.csv().encode() for name, table in all_tables(results).items()
    }


def record_tables(session: Session, study: Study) -> dict[str, bytes]:
    """Return the study's records as tables, one a kind, as `heart export --to parquet` does."""
    return {
        PARQUET.format(kind): format_table(columns, "parquet")
        for kind, columns in tables_of(session, study).items()
    }


def read_parquet(content: bytes) -> object:
    """Return the columns of a Parquet table; None where it is none. It needs pyarrow."""
    try:
        return import_module("pyarrow.parquet").read_table(io.BytesIO(content)).to_pydict()
    except (OSError, ValueError):  # as pyarrow says that it is none
        return None


def protocol_files() -> dict[str, bytes]:
    """Return all prompts, rubrics and taxonomies of this version."""
    found = (one for one in files("hearteval.protocol").iterdir() if one.name.endswith(".toml"))
    return {f"{PROTOCOL}/{one.name}": one.read_bytes() for one in found}


def protocol_hash(found: Mapping[str, bytes]) -> str:
    """Return one hash of the files of a protocol."""
    texts = {name: text.decode(errors="replace") for name, text in found.items()}
    return content_hash({name: text for name, text in texts.items() if _is_of_protocol(name)})


def _is_of_protocol(name: str) -> bool:
    return name.startswith(f"{PROTOCOL}/")


def strange_members(settings: StudySettings, study: Study) -> list[str]:
    """Return the systems and judges, by name, that the study file describes and the study has not.

    Who a judge is depends on its prompt: one that this version would ask otherwise is another.
    """
    members = {*study.system_ids, *study.rater_ids}
    described = [(one.id, one.name) for one in study_systems(settings)]
    described += [(one.id, one.name) for one in study_raters(settings)]
    return [name for id_, name in described if id_ not in members]


def differences(then: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield where two values of JSON differ by more than `TOLERANCE`, relative above 1."""
    if path in NOT_COMPARED:
        return
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        then, now = (dict(enumerate(one)) for one in (then, now))
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*then, *now)):
            inner = f"{path}.{key}" if path else str(key)
            if (key in then) == (key in now):
                yield from differences(then[key], now[key], inner)
            else:
                yield inner
    elif _is_number(then) and _is_number(now):
        if then != now and not _is_close(then, now):
            yield path
    elif then != now:
        yield path


def _is_close(then: float, now: float) -> bool:
    try:
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:  # an integer that is larger than any float
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
