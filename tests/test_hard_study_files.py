"""Study files that are valid TOML, or nearly, and no study: one line, and what to do."""

from pathlib import Path

import pytest

from hearteval.config import load_study
from hearteval.errors import SettingsError
from hearteval.report.table import Column, Table

OWN = 'model = "openai-compatible/x"\nbase_url = "http://localhost:1/v1"\nfamily = "f"\nprice = 0\n'
NAMED = '\n[[system]]\nname = "{}"\n' + OWN


def with_judge(text: str, name: str) -> str:
    judge = f'\n[[judge]]\nname = "{name}"\n{OWN}'
    return text.replace('judges = ["cue"]', f'judges = ["{name}"]') + judge


HARD = {
    "a long number": (lambda text: text.replace("5", "9" * 5_000, 1), "too many digits"),
    "a long hexadecimal number": (
        lambda text: text.replace("5", "0x" + "f" * 5_000, 1),
        "too many digits",
    ),
    "deep lists": (
        lambda text: text.replace("seed = 5", "seed = 5\nx = " + "[" * 3_000 + "]" * 3_000),
        "nested too deeply",
    ),
    "many tokens": (
        lambda text: text + NAMED.format("m") + "max_tokens = 1000000000000000000000\n",
        "max_tokens",
    ),
    "a price that no sum of can be written": (
        lambda text: text + NAMED.format("m").replace("= 0", "= { input = 1e308, output = 1 }"),
        "price.input: input should be less than or equal to 1000000",
    ),
    "a Cyrillic letter": (
        lambda text: text + NAMED.format("gener\u0456c") + NAMED.format("generic"),
        "look the same",
    ),
    "a character without width": (
        lambda text: text + NAMED.format("one") + NAMED.format("o\u00adne"),
        "look the same|visible characters",
    ),
    "a system named as no winner": (lambda text: text + NAMED.format("Tie"), "without a winner"),
    "an address that is none": (
        lambda text: text + NAMED.format("m").replace("http://localhost:1/v1", "ftp://localhost"),
        "base_url: expected an address",
    ),
    "a pace that never comes": (
        lambda text: text + NAMED.format("m") + "rpm = 1e-300\n",
        "rpm: input should be greater than or equal to 0.001",
    ),
    "a judge named as the baseline": (lambda text: with_judge(text, "cue"), "offline baseline"),
}


@pytest.mark.parametrize(("change", "message"), HARD.values(), ids=HARD)
def test_a_hard_study_file_is_refused_in_one_line(
    study: Path, change: object, message: str
) -> None:
    assert callable(change)
    load_study(study)
    study.write_text(change(study.read_text("utf-8")), encoding="utf-8")
    with pytest.raises(SettingsError, match=message) as caught:
        load_study(study)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+cmd", "@SUM(A1)", "\t=1"])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    table = Table(columns=(Column("name"), Column("n")), rows=[(text, -1.5)])
    name, n = table.csv().splitlines()[1].rsplit(",", 1)
    assert name == f"'{text}"
    assert n == "-1.5"
