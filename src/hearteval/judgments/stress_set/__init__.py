"""Texts that every judge faces: each is compared with the item's reference reply.

Most must lose; those of `AUDIT_KINDS` say the same in another form, and show what formatting, a
question that fits anyone, a formal register or the marks of a second language are worth to a judge.
Pure generators over templates in ``protocol/stress.toml``. What a text says depends on the seed,
its item and its kind (and, for another item's reply, on which items there are), never on their
order. The texts become completions of `stress` systems: judged like any pair, never ranked.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Literal, NamedTuple, get_args

from hearteval.domain import Completion, Item, System
from hearteval.judgments.plan.pairs import choose_again
from hearteval.protocol import load_protocol

StressKind = Literal[
    "reference",
    "other-reply",
    "own-words",
    "hostile",
    "keyword-stuffed",
    "generic-warmth",
    "padded",
    "formatted",
    "asking",
    "formal",
    "non-native",
]
AUDIT_KINDS: tuple[StressKind, ...] = ("formatted", "asking", "formal", "non-native")
"""Kinds that `heart judges audit` alone asks for."""
STRESS_KINDS: tuple[StressKind, ...] = tuple(
    kind for kind in get_args(StressKind) if kind not in AUDIT_KINDS
)
"""Kinds that every study plans."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LETTERS = re.compile(r"[a-z]{4,}")


class StressText(NamedTuple):
    """A supporter turn for an item; the kind ``reference`` is what the others are compared with."""

    kind: StressKind
    item_id: str
    text: str


def stress_texts(
    items: Sequence[Item], *, seed: int, kinds: Sequence[StressKind] = STRESS_KINDS
) -> tuple[StressText, ...]:
    """Return the stress texts of every item that has a reference, by item id and kind.

    An item gets no ``other-reply`` where no other dialogue has a different reference.
    """
    pool = sorted((item for item in items if item.reference is not None), key=lambda i: i.id)
    texts = []
    for item in pool:
        for kind in kinds:
            draw = _Draw(f"{seed}/{item.id}/{kind}")
            text = _GENERATORS[kind](item, pool, draw)
            if text is not None:
                texts.append(StressText(kind=kind, item_id=item.id, text=text))
    return tuple(texts)


def stress_systems(*, seed: int, kinds: Sequence[StressKind] = STRESS_KINDS) -> tuple[System, ...]:
    """Return one system a kind of stress text, in the order of the kinds.

    The seed is part of a system where its texts depend on it, so of all but the reference.
    """
    version = load_protocol("stress")["version"]
    return tuple(
        System(
            name=f"stress-{kind}",
            kind="stress",
            family="original" if kind == "reference" else "baseline",
            settings={"stress": kind, "version": version}
            | ({} if kind == "reference" else {"seed": seed}),
        )
        for kind in kinds
    )


def stress_completions(
    items: Sequence[Item],
    systems: Sequence[System],
    stored: Sequence[Completion],
    *,
    n_items: int,
    seed: int,
    now: Callable[[], datetime],
) -> list[Completion]:
    """Return the completions of a stress set: those stored, and new ones where there are none.

    The systems are those of `stress_systems`. Items with a stored text stay in the set, also where
    they are more than `n_items`; there may be fewer with a reference.
    """
    bearers = {system.settings["stress"]: system.id for system in systems}
    pool = [item for item in items if item.reference is not None]
    said = {(completion.system_id, completion.item_id): completion for completion in stored}
    tested = {completion.item_id for completion in stored}
    chosen = choose_again(pool, tested, n=n_items, seed=seed, name="stress")
    wanted = {item.id for item in chosen}
    for text in stress_texts(pool, seed=seed):
        key = (bearers[text.kind], text.item_id)
        if text.item_id in wanted and key not in said:
            said[key] = Completion(
                item_id=text.item_id, system_id=key[0], text=text.text, created_at=now()
            )
    return list(said.values())


class _Draw:
    """Deterministic draws from a name: the same name, the same draws, on every machine."""

    def __init__(self, name: str) -> None:
        self._name = name

    def number(self, label: str) -> int:
        digest = hashlib.sha256(f"{self._name}/{label}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def one_of(self, options: Sequence[str], label: str) -> str:
        return options[self.number(label) % len(options)]

    def shuffled(self, options: Sequence[str]) -> list[str]:
        return sorted(options, key=self.number)


def _other_reply(item: Item, pool: Sequence[Item], draw: _Draw) -> str | None:
    start = draw.number("donor") % len(pool)
    for step in range(len(pool)):
        donor = pool[(start + step) % len(pool)]
        is_other = (donor.source, donor.dialogue_id) != (item.source, item.dialogue_id)
        if is_other and donor.reference != item.reference:
            return donor.reference
    return None


def _own_words(item: Item, _pool: Sequence[Item], draw: _Draw) -> str | None:
    """Put the words of the reference in another order; none where it has a single word."""
    words = (item.reference or "").split()
    order = draw.shuffled([str(number) for number in range(len(words))])
    text = " ".join(words[int(number)] for number in order)
    return text if text != item.reference else None


def _generic_warmth(_item: Item, _pool: Sequence[Item], draw: _Draw) -> str:
    return draw.one_of(load_protocol("stress")["generic-warmth"]["templates"], "template")


def _padded(item: Item, _pool: Sequence[Item], draw: _Draw) -> str:
    padding = load_protocol("stress")["padded"]
    before, after = (draw.one_of(padding[side], side) for side in ("before", "after"))
    return f"{before} {item.reference} {after}"


def _formatted(item: Item, _pool: Sequence[Item], draw: _Draw) -> str:
    """Set the sentences of the reference in Markdown; no word is added or taken away."""
    layouts = load_protocol("stress")["formatted"]["layouts"]
    layout = layouts[draw.number("layout") % len(layouts)]
    first, *rest = SENTENCE_END.split((item.reference or "").strip())
    lines = [layout["first"].format(sentence=first)]
    lines += [layout["rest"].format(sentence=sentence) for sentence in rest]
    return "\n".join(lines)


def _asking(item: Item, _pool: Sequence[Item], draw: _Draw) -> str | None:
    question = draw.one_of(load_protocol("stress")["asking"]["questions"], "question")
    return f"{(item.reference or '').strip()} {question}"


def _formal(item: Item, _pool: Sequence[Item], _draw: _Draw) -> str | None:
    """Write the short forms of the reference out; none where it has none."""
    return _rewritten(item.reference or "", load_protocol("stress")["formal"]["rules"])


def _non_native(item: Item, _pool: Sequence[Item], _draw: _Draw) -> str | None:
    """Write the reference as somebody may whose first language has no articles; as `_formal`."""
    return _rewritten(item.reference or "", load_protocol("stress")["non-native"]["rules"])


def _rewritten(text: str, rules: Sequence[Mapping[str, str]]) -> str | None:
    """Apply rules, one after the other; None where none applies. A sentence keeps its capital."""
    new = text.replace("\u2019", "'")
    for rule in rules:
        new = re.sub(rule["from"], partial(_as_written, rule["to"]), new, flags=re.IGNORECASE)
    sentences = SENTENCE_END.split(" ".join(new.split()))
    new = " ".join(one[:1].upper() + one[1:] for one in sentences)
    return None if new == " ".join(text.split()) else new


def _as_written(to: str, found: re.Match[str]) -> str:
    new = found.expand(to)
    return new[:1].upper() + new[1:] if found[0][:1].isupper() else new


def _hostile(item: Item, _pool: Sequence[Item], draw: _Draw) -> str:
    topic, other = _topics(item, draw, n_words=2)
    template = draw.one_of(load_protocol("stress")["hostile"]["templates"], "template")
    text = template.format(topic=topic, other=other)
    return text[0].upper() + text[1:]


def _keyword_stuffed(item: Item, _pool: Sequence[Item], draw: _Draw) -> str:
    settings = load_protocol("stress")["keyword-stuffed"]
    template: str = draw.one_of(settings["templates"], "template")
    words = _topics(item, draw, n_words=template.count("{word}"))
    warm_words = draw.shuffled(settings["warm_words"])
    for index in range(template.count("{warm}")):
        template = template.replace("{warm}", warm_words[index % len(warm_words)], 1)
    for word in words:
        template = template.replace("{word}", word, 1)
    return template[0].upper() + template[1:]


def _topics(item: Item, draw: _Draw, *, n_words: int) -> list[str]:
    """Return as many of the seeker's words, newest turn first, repeated where they run out."""
    settings = load_protocol("stress")
    passed_over = set(settings["passed_over"].split())
    words: list[str] = []
    for turn in reversed(item.context):
        if turn.role == "seeker":
            new = set(_LETTERS.findall(turn.text.lower())) - passed_over - set(words)
            words += draw.shuffled(sorted(new))
    words = words or [settings["fallback_topic"]]
    return [words[index % len(words)] for index in range(n_words)]


_GENERATORS: Mapping[StressKind, Callable[[Item, Sequence[Item], _Draw], str | None]] = {
    "reference": lambda item, _pool, _draw: item.reference,
    "other-reply": _other_reply,
    "own-words": _own_words,
    "hostile": _hostile,
    "keyword-stuffed": _keyword_stuffed,
    "generic-warmth": _generic_warmth,
    "padded": _padded,
    "formatted": _formatted,
    "asking": _asking,
    "formal": _formal,
    "non-native": _non_native,
}
