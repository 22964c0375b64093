"""The table that a study file joins to its systems: what is read, and what is refused."""

from pathlib import Path

import pytest

from hearteval.config import load_study
from hearteval.errors import SettingsError
from hearteval.exchange.covariates import read_covariates


def table(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_numbers_are_read_by_column_and_system(tmp_path: Path) -> None:
    path = table(tmp_path, "system,size,maker,price\nAda, 7,one,\nBea,8.5,two,1e-3\n\n")
    assert read_covariates(path) == {"size": {"Ada": 7.0, "Bea": 8.5}, "price": {"Bea": 0.001}}


def test_no_table_is_no_columns() -> None:
    assert read_covariates(None) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,size\nAda,1\n", "needs a column 'system'"),
        ("", "needs a column 'system'"),
        ("system,maker\nAda,one\n", "needs a column of numbers"),
        ("system,size\nAda,1\nAda,2\n", "'Ada' stands there twice"),
        ("system,size\nAda,1\nBea,many\n", "holds 'many' for 'Bea'"),
        ("system,size\nAda,1\nBea,nan\n", "holds 'nan' for 'Bea'"),
        ("system,size\nAda,1\nBea,1e308\n", "holds '1e308' for 'Bea'"),
        ("system,size,size\nAda,1,2\n", "column 'size' stands there twice"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_covariates(table(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.csv: analysis.covariates cannot be read"):
        read_covariates(tmp_path / "nowhere.csv")


def test_a_table_without_a_name_is_no_table(tmp_path: Path) -> None:
    study = tmp_path / "own.toml"
    study.write_text(
        '[study]\nname = "own"\nseed = 1\n[items]\nsource = "starter"\n[[system]]\n'
        'preset = "generic"\n[judging]\njudges = ["cue"]\n[analysis]\ncovariates = ""\n'
    )
    with pytest.raises(SettingsError, match=r"analysis\.covariates: .* at least 1 character"):
        load_study(study)
