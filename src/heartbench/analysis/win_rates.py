"""How often each system won, overall and by axis: what is known also where there is no ranking."""

from collections import Counter
from collections.abc import Sequence

from heartbench.analysis.comparisons import SCORES
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import WinRate
from heartbench.domain import AXIS_NAMES, System


def win_rates(columns: JudgmentColumns, systems: Sequence[System]) -> tuple[WinRate, ...]:
    """Return the win rate of every system, a tie counting half, sorted by name.

    Args:
        columns: Judgments.
        systems: Systems to report; those without any judgment among them.
    """
    n: Counter[tuple[str, str]] = Counter()
    n_half_wins: Counter[tuple[str, str]] = Counter()
    for row in range(len(columns)):
        first, second = columns.first_system_id[row], columns.second_system_id[row]
        choices = {"": columns.choice[row]}
        choices |= {axis: mark.choice for axis, mark in columns.axes[row].items()}
        for axis, choice in choices.items():
            half_wins = round(2 * SCORES[choice])
            for system_id, number in ((first, half_wins), (second, 2 - half_wins)):
                n[system_id, axis] += 1
                n_half_wins[system_id, axis] += number
    return tuple(
        WinRate(
            system=system.name,
            n_comparisons=n[system.id, ""],
            win_rate=n_half_wins[system.id, ""] / (2 * n[system.id, ""])
            if n[system.id, ""]
            else None,
            axes={
                axis: n_half_wins[system.id, axis] / (2 * n[system.id, axis])
                for axis in AXIS_NAMES
                if n[system.id, axis]
            },
        )
        for system in sorted(systems, key=lambda system: system.name)
    )
