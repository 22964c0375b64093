"""A small panel with planted careless people, as the rules read it; who is what by name."""

import numpy as np

from hearteval.analysis.quality.rules import PanelAnswers
from hearteval.domain.quality import Counted

N_SYSTEMS = 6
KINDS = ("careful", "unsteady", "fast", "first", "line", "random", "contrary", "copies")


def panel(
    rng: np.random.Generator, kinds: list[str], *, n_pairs: int = 300, per_pair: int = 5
) -> PanelAnswers:
    """Draw a panel whose people are of these kinds; a person is called by place and kind."""
    theta = rng.normal(0, 0.7, N_SYSTEMS)
    rows: list[tuple[int, int, int, tuple[int, int], float, int, float, int, int]] = []
    last: dict[int, int] = {}
    for pair in range(n_pairs):
        one, other = (int(k) for k in rng.permutation(N_SYSTEMS)[:2])
        lean = theta[one] - theta[other] + rng.normal(0, 0.85)
        for person in rng.permutation(len(kinds))[:per_pair].tolist():
            kind, is_turned = kinds[person], bool(rng.integers(2))
            sees = {"random": 0.0, "line": 0.0, "contrary": -1.0, "unsteady": 1 / 3}.get(kind, 1.0)
            x = lean * sees + rng.logistic()
            size = 0 if abs(x) < 0.3 else 2 if abs(x) < 1.8 else 4
            answer = int(np.sign(x)) * size * (-1 if is_turned else 1)
            if kind == "first" and rng.random() < 0.8:
                answer = max(2, abs(answer))
            if kind == "line":
                answer = 2 if rng.random() < 0.9 else answer
            for_one = -answer if is_turned else answer
            score = 0.5 if for_one == 0 else float(for_one > 0)
            words = 60
            seconds = float(np.exp(rng.normal(3.6, 0.4)))
            seconds = 2.0 + rng.random() if kind == "fast" else seconds
            reason = last.get(person, len(rows)) if kind == "copies" else len(rows)
            last[person] = reason
            rows.append(
                (person, pair, pair // 2, (one, other), score, answer, seconds, words, reason)
            )
    columns = list(zip(*rows, strict=True))
    careless = {"fast", "random", "line"}
    return PanelAnswers(
        names=[f"{k} {kind}" for k, kind in enumerate(kinds)],
        person=np.array(columns[0]),
        pair=np.array(columns[1]),
        item=np.array(columns[2]),
        systems=np.array(columns[3]),
        score=np.array(columns[4]),
        answer=np.array(columns[5]),
        seconds=np.array(columns[6]),
        words=np.array(columns[7]),
        reason=np.array(columns[8]),
        checks={k: Counted(3 if kind in careless else 0, 4) for k, kind in enumerate(kinds)},
        repeats={k: Counted(1 if kind in careless else 15, 25) for k, kind in enumerate(kinds)},
        triads={k: Counted(14 if kind in careless else 4, 25) for k, kind in enumerate(kinds)},
    )
