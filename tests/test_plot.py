"""`ranking.plot()`: what is drawn, and what is said where matplotlib is not installed."""

import sys
from typing import Any

import pandas as pd
import pytest

import hearteval as he
from hearteval.errors import SettingsError

VOTES = pd.DataFrame(
    {
        "left": ["ash $1", "elm", "fir"] * 16,
        "right": ["elm", "fir", "ash $1"] * 16,
        "winner": ["left", "left", "right", "left", "right", "tie"] * 8,
        "prompt": [k // 3 for k in range(48)],
    }
)


class RecordedAxes:
    """Axes that remember what was asked of them."""

    def __init__(self) -> None:
        self.lines: list[tuple[list[float], list[float], dict[str, Any]]] = []
        self.names: list[str] = []
        self.label = ""
        self.spines: dict[str, Any] = dict.fromkeys(("top", "right"), self)

    def plot(self, x: list[float], y: list[float], **style: Any) -> None:
        self.lines.append((x, y, style))

    def set_yticks(self, _places: range, names: list[str]) -> None:
        self.names = names

    def set_xlabel(self, label: str) -> None:
        self.label = label

    def axvline(self, *_arguments: Any, **_style: Any) -> None: ...

    def set_ylim(self, *_arguments: Any) -> None: ...

    def set_visible(self, *_arguments: Any) -> None: ...


def test_intervals_and_estimates_are_drawn_best_first() -> None:
    ranking = he.rank(VOTES, cluster="prompt")
    axes = RecordedAxes()

    assert ranking.plot(axes) is axes
    for place, row in enumerate(ranking.systems):
        (interval, _, _), (at, where, _) = axes.lines[2 * place : 2 * place + 2]
        assert interval == [row.low, row.high]
        assert (at, where) == ([row.elo], [place])
    assert axes.names == [row.system.replace("$", "\\$") for row in ranking.systems]
    assert axes.label.replace("\N{NO-BREAK SPACE}", " ") == "Elo, 95 % interval (item-sandwich)"


def test_a_system_without_an_interval_is_an_open_dot() -> None:
    one_way = VOTES.assign(winner="left")[VOTES.left == "elm"]
    ranking = he.rank(one_way, cluster="prompt", prior=1)
    axes = RecordedAxes()
    ranking.plot(axes)

    assert [style["markerfacecolor"] for _, _, style in axes.lines] == ["none"] * 2


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)

    with pytest.raises(SettingsError, match=r"pip install 'hearteval\[figures\]'"):
        he.rank(VOTES, cluster="prompt").plot()


def test_matplotlib_draws_it() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ranking = he.rank(VOTES, cluster="prompt")

    axes = ranking.plot()
    axes.figure.canvas.draw()

    assert [label.get_text() for label in axes.get_yticklabels()] == [
        row.system.replace("$", "\\$") for row in ranking.systems
    ]
    assert axes.get_ylim() == (2.5, -0.5)
    pyplot.close(axes.figure)
