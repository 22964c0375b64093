"""A stored study -> preference pairs for tuning: what raters chose and what they passed over.

People's choices and judges' are rows of their own: a model tuned on what a judge likes is tuned on
the judge. Texts that may not leave, and dialogues whose own fields do not say that they may be used
by others, give no row.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import Completion, Item, Pair, Rater, Study, System
from hearteval.exchange.records.writing import DRAFTS, write_files
from hearteval.study import remove_left_drafts
from hearteval.study.records.permitted import Permitted, may_be_passed_on, repeats
from hearteval.study.report.left_behind import remember
from hearteval.study.results import read_votes
from hearteval.study.session import Session
from hearteval.study.simulation.apart import require_real

FILE, CONDITIONS_FILE = "preferences.jsonl", "CONDITIONS.md"
OFFLINE = "cue"
"""The family of the offline judge, which prefers nothing: it counts cues."""
ROLES = {"seeker": "user", "supporter": "assistant"}
CONDITIONS = """# Before you tune a model on these pairs

- **Whose choice?** `judged_by` says `people` or `judges`. A model tuned on judges' choices learns \
what these judges like, and can then no longer be judged by them.
- **How sure?** `n_for` of `n_votes` raters chose so; a rater who said one thing in one order and \
another in the other gave no vote. Few votes are hardly more than a guess.
- **Which dialogues?** They are a benchmark's. A model tuned on them cannot be measured with them.
- **Whose texts?** `licence` is the dialogue's. Replies of models come under the terms of their \
makers, many of which forbid to train other models on them. People agreed to what the study's \
consent says, and no more.
- **What for?** What raters prefer to read is not what helps. Nothing here makes a model safe for \
people in distress.
"""


class Preferences(NamedTuple):
    """What was written, and what gave no row."""

    path: Path
    n_rows: int
    n_without: dict[str, int]
    """Pairs that gave no row, by why."""


def export_preferences(session: Session, study: Study, out: Path, *, replace: bool) -> Preferences:
    """Write a study's preference pairs, and the conditions under which they may be used.

    Raises:
        SettingsError: A file holds something else and is not to be replaced.
        StoreError: The folder cannot be written, or what judgments rest on was changed.
    """
    require_real(study, "nobody prefers anything in it")
    permitted = Permitted(session, study)
    n_without: Counter[str] = Counter()
    rows = sorted(_rows(permitted, n_without), key=lambda row: tuple(map(str, row.values())))
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    files = {FILE: text.encode(errors="replace"), CONDITIONS_FILE: CONDITIONS.encode()}
    remove_left_drafts(out, DRAFTS)
    write_files(files, out, replace=replace)
    remember(session, study, [out / name for name in files])
    return Preferences(out / FILE, len(rows), dict(sorted(n_without.items())))


def _rows(permitted: Permitted, n_without: Counter[str]) -> list[dict[str, Any]]:
    items = {one.id: one for one in permitted.items}
    systems = {one.id: one for one in permitted.iter(System)}
    raters = [one for one in permitted.iter(Rater) if one.family != OFFLINE]
    kinds = {one.id: one.kind for one in raters}
    is_mixed = not all(map(may_be_passed_on, permitted.items))
    pairs = {one.id: one for one in permitted.iter(Pair)}
    votes_of = _votes(permitted, kinds)
    judged = read_votes(permitted.session, permitted.study).pair.present
    only_offline = {*judged} - {pair_id for pair_id, _ in votes_of}
    if only_offline:
        n_without["only the offline judge compared them, which prefers nothing"] = len(only_offline)
    rows = []
    for (pair_id, kind), votes in votes_of.items():
        pair = pairs[pair_id]
        texts = [permitted.texts.get(id_) for id_ in pair.completion_ids]
        why = _why_not(permitted, items.get(pair.item_id), texts, systems, is_mixed=is_mixed)
        counts = Counter(votes)
        if not why and counts[texts[0].id] == counts[texts[1].id]:  # type: ignore[union-attr]
            why = "nobody is ahead"
        if why:
            n_without[why] += 1
            continue
        first, second = sorted(texts, key=lambda one: -counts[one.id])  # type: ignore[union-attr]
        assert first is not None
        assert second is not None
        rows.append(_row(items[pair.item_id], first, second, counts, systems) | {"judged_by": kind})
    return rows


def _votes(permitted: Permitted, kinds: Mapping[str, str]) -> Mapping[tuple[str, str], list[str]]:
    """Return whom each rater prefers of a pair, by pair and kind of rater."""
    said: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    pairs = {one.id: one.completion_ids for one in permitted.iter(Pair)}
    for row in read_votes(permitted.session, permitted.study):
        if row.rater_id in kinds and row.pair_id in pairs:
            said[row.pair_id, row.rater_id].add(_preferred(row, pairs[row.pair_id]))
    votes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (pair_id, rater_id), chosen in said.items():
        kind = "people" if kinds[rater_id] == "human" else "judges"
        votes[pair_id, kind] += chosen if len(chosen) == 1 else {"tie"}
    return votes


def _preferred(row: JudgmentRow, completion_ids: tuple[str, str]) -> str:
    (other,) = set(completion_ids) - {row.first_completion_id}
    return {"first": row.first_completion_id, "second": other}.get(row.choice, "tie")


def _why_not(
    permitted: Permitted,
    item: Item | None,
    texts: list[Completion | None],
    systems: Mapping[str, System],
    *,
    is_mixed: bool,
) -> str:
    """Say why a pair gives no row; nothing where it does.

    In a mixed study some dialogues may not be passed on, and replies are borrowed from all.
    """
    by = [systems[one.system_id] for one in texts if one is not None]
    if any(one.kind == "stress" for one in by):
        return "made to test judges"
    if is_mixed and any(map(repeats, by)):
        return "a reply may come from a dialogue that is not said to be free to use"
    if item is None or not may_be_passed_on(item):
        return "the dialogue is not said to be free to use"
    if any(one is None or one.id in permitted.unreadable for one in texts):
        return "a person's text that nobody has released"
    return ""


def _row(
    item: Item,
    chosen: Completion,
    rejected: Completion,
    counts: Counter[str],
    systems: Mapping[str, System],
) -> dict[str, Any]:
    return {
        "item_id": item.id,
        "prompt": [{"role": ROLES[turn.role], "content": turn.text} for turn in item.context],
        "chosen": chosen.text,
        "rejected": rejected.text,
        "chosen_system": systems[chosen.system_id].name,
        "rejected_system": systems[rejected.system_id].name,
        "n_for": counts[chosen.id],
        "n_votes": counts.total(),
        "licence": item.licence,
    }
