"""How well the checks of rewritten items tell: what should pass, and what should not.

The reader is simulated: its numbers are those of the profile that was written, with a normal error,
rounded and cut at 0 and 10. For the words, seeker turns of ESConv are exchanged for those of
another dialogue, or words are dropped at random.

    python benchmarks/rewrite_checks.py [ESCONV]
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hearteval.domain import PROFILES, Item, Profile, Turn
from hearteval.items import load_starter_items
from hearteval.items.escalation.checks import Reading, check_reading, check_text
from hearteval.items.escalation.plan import (
    Planned,
    find_unfitness,
    plan_intensities,
    seeker_turns,
)
from hearteval.items.run import build_from_folder

N_REWRITES = 1_000
N_TURNS = (4, 5, 7)
ERRORS = (1.0, 1.5)


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"| turns | SD | planned | {' | '.join(PROFILES)} | backwards | flat at 5 |")
    for n_turns in N_TURNS:
        for sd in ERRORS:
            for profile in PROFILES:
                curves = [plan_intensities(other, n_turns) for other in PROFILES]
                curves += [plan_intensities(profile, n_turns)[::-1], (5,) * n_turns]
                shares = [passing(profile, written, sd, rng) for written in curves]
                cells = " | ".join(f"{share:.3f}" for share in shares)
                print(f"| {n_turns} | {sd} | {profile} | {cells} |")
    if len(sys.argv) > 1:
        print_words(Path(sys.argv[1]), rng)


def passing(profile: Profile, written: Sequence[int], sd: float, rng: np.random.Generator) -> float:
    """Return the share of rewrites that the reader's numbers let pass."""
    planned = planned_with(profile, len(written))
    n_passed = 0
    for _ in range(N_REWRITES):
        noisy = np.clip(np.round(written + rng.normal(0, sd, len(written))), 0, 10).astype(int)
        numbers = dict(zip(planned.seeker_turns, noisy.tolist(), strict=True))
        reading = Reading(intensities=numbers, fits={}, evidence={}, by="simulated")
        n_passed += all(finding.is_pass for finding in check_reading(planned, reading))
    return n_passed / N_REWRITES


def planned_with(profile: Profile, n_turns: int) -> Planned:
    said = (Turn(role="supporter", text="Hello."), Turn(role="seeker", text="Hello."))
    source = replace(load_starter_items()[0], context=said * n_turns, id="")
    return Planned(source=source, profile=profile, resistance="yes-but")


def print_words(folder: Path, rng: np.random.Generator) -> None:
    built = build_from_folder(folder, regular=600, rng=np.random.default_rng(0))
    sources = [item for item in built.items if not find_unfitness(item)]
    other, alike = [], []
    for source in sources:
        rest = [o for o in sources if o.dialogue_id != source.dialogue_id]
        rest = [o for o in rest if len(o.context) == len(source.context)]
        for k in rng.permutation(len(rest))[:10]:
            passed = keeps(source, [rest[k].context[j].text for j in seeker_turns(source.context)])
            other.append(passed)
            if rest[k].problem == source.problem:
                alike.append(passed)
    print(f"{len(sources)} sources; words of another dialogue pass {np.mean(other):.3f}")
    print(f"of another dialogue with the same problem: {np.mean(alike):.3f} of {len(alike)}")
    for share in (0.3, 0.5, 0.7):
        kept = np.mean([keeps(source, thinned(source, share, rng)) for source in sources])
        print(f"with {share:.0%} of the words dropped: {kept:.3f}")


def thinned(source: Item, share: float, rng: np.random.Generator) -> list[str]:
    texts = [source.context[k].text.split() for k in seeker_turns(source.context)]
    return [" ".join(w for w in words if rng.random() > share) or "no" for words in texts]


def keeps(source: Item, texts: Sequence[str]) -> bool:
    said = dict(zip(seeker_turns(source.context), texts, strict=True))
    context = tuple(
        Turn(role=turn.role, text=said.get(k, turn.text)) for k, turn in enumerate(source.context)
    )
    (found,) = (f for f in check_text(source, context) if f.rule == "situation-kept")
    return found.is_pass


if __name__ == "__main__":
    main()
