"""Tables of records for the tests of `heart import`, and studies that take them."""

import csv
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hearteval.config import load_study
from hearteval.domain import Item
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.grow import gather

HEAD = """
[study]
name = "ours"
seed = 5
fail_on_missing = 1
[items]
source = "starter"
regular = 3
adversarial = 1
[[system]]
preset = "generic"
"""
SYSTEMS = """
[[system]]
name = "ours"
model = "imported/ours"
family = "ours"
[[system]]
name = "theirs"
model = "imported/openai/gpt-5"
[[judge]]
name = "kind judge"
model = "imported/some-judge"
family = "some"
[[judge]]
name = "gpt judge"
model = "imported/openai/gpt-4o"
"""
JUDGING = '[judging]\njudges = ["kind judge", "gpt judge"]\n'
PEOPLE = '[people]\nwriters_per_item = 1\nraters_per_pair = 2\nprotocol = "five-point"\n'


def items_of(study: Path) -> tuple[Item, ...]:
    return gather(load_study(study), Quiet()).items


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows in the format that a path's name says."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
    return path


def replies(study: Path, *systems: str) -> list[dict[str, Any]]:
    return [
        {"dialogue": item.dialogue_id, "who": name, "reply": f"{name} hears you, {n}. And then?"}
        for n, item in enumerate(items_of(study))
        for name in systems
    ]


REPLIES = ("--kind", "completions", "--item", "dialogue", "--text", "reply", "--system", "who")


def stored(study: Path, kind: type[Any]) -> list[Any]:
    with closing(SqlStore.open(load_study(study).store)) as store:
        return list(store.iter(kind))
