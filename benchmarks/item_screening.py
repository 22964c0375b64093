"""The first screen of ESConv under both settings of topics: the funnel, and turns to read.

    python benchmarks/item_screening.py --from ESCONV
    python benchmarks/item_screening.py --from ESCONV --parts train --read 60 --seed 31
    python benchmarks/item_screening.py --from ESCONV --read 40 --seed 43 --rule emotional-signal

The second prints turns that passed every rule, the third such that one rule left out, in a seeded
order, for a reader to judge. They are the corpus's and belong in no file of the project.
"""

import argparse
import random
from collections import Counter
from pathlib import Path

from hearteval.items.esconv import Dialogue, parse_dialogues
from hearteval.items.screening import (
    Topics,
    screen_couplets,
    screening_rules,
    screening_version,
)
from hearteval.items.selection import screen_dialogues

TOPICS: tuple[Topics, ...] = ("cautious", "paper")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--from", dest="corpus", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", default=["train", "valid", "test"])
    parser.add_argument("--topics", choices=TOPICS, default="paper")
    parser.add_argument("--rule", help="read what this rule left out, not what passed")
    parser.add_argument("--read", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    files = [arguments.corpus / f"{part}.jsonl" for part in arguments.parts]
    dialogues = [d for f in files for d in parse_dialogues(f.read_text("utf-8"), name=f.name)]
    if arguments.read:
        read(dialogues, arguments)
        return
    for topics in TOPICS:
        candidates = screen_dialogues(dialogues, topics=topics)
        n_failed = Counter(one.failed for one in candidates.screened)
        left = len(candidates.screened)
        print(f"{topics} (rules {screening_version(topics)}): {left} couplets")
        for rule in screening_rules(topics):
            left -= n_failed[rule]
            print(f"  {rule:<20}{n_failed[rule]:>7}{left:>7}")
        places = Counter(item.dialogue_id for item in candidates.items)
        print(
            f"  in {len(places)} dialogues; {sum(min(n, 2) for n in places.values())} at two each"
        )


def read(dialogues: list[Dialogue], arguments: argparse.Namespace) -> None:
    found = [
        one
        for dialogue in dialogues
        for one in screen_couplets(dialogue, topics=arguments.topics)
        if one.failed == arguments.rule
    ]
    random.Random(arguments.seed).shuffle(found)
    print(f"{len(found)} turns")
    for number, one in enumerate(found[: arguments.read], 1):
        print(number, *one.couplet.place, f"[{one.evidence[-1]}]", one.couplet.seeker_turn)


if __name__ == "__main__":
    main()
