"""The step: read a corpus or an item file and hand over the items of a study.

The module of this package that reads a user's files. Storing is one call of `study`, because
the items and the study version that lists them are written together.
"""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hearteval.domain import Item, Screening, Subset
from hearteval.errors import SettingsError
from hearteval.items import load_starter_items
from hearteval.items.dialogues import DialogueNames, ItemFile, parse_bytes
from hearteval.items.esconv import N_DIALOGUES, Dialogue, corpus_files, parse_dialogues
from hearteval.items.files import parse_screenings
from hearteval.items.kept import (
    Before,
    Chosen,
    Corpus,
    Keep,
    as_kept,
    choice_key,
    choose_again,
    corpus_hash,
)
from hearteval.items.screening import DEFAULT_TOPICS, Topics, screening_version
from hearteval.items.selection import BuildResult, FunnelStep, build_items, funnel_from_screenings
from hearteval.protocol import ENGLISH

logger = logging.getLogger(__name__)

TEXTS = (".txt", ".md")
"""Endings of the files of a folder that are read."""
SOURCE_WORDS = {
    "starter": "starter items, written for hearteval by a language model, reference replies too",
    "esconv": "ESConv (Liu et al., 2021), selected by rules alone, without a second screen",
    "file": "an item file of the study's own",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredItems:
    """The items of a study and how they came to be chosen."""

    items: tuple[Item, ...]
    """Sorted by id."""
    screenings: tuple[Screening, ...]
    """Evidence about these items; empty where there is none."""
    funnel: tuple[FunnelStep, ...]
    """How many candidates each rule let through; empty likewise."""
    shortfall: dict[Subset, int]
    """By subset, how many fewer there are than the study asks for."""
    source: str
    """Where they come from, in words."""
    notes: tuple[str, ...] = ()
    """How a file of dialogues was read and what it does not say; what was kept of a choice."""
    choices: tuple[Before, ...] = ()
    """What was chosen from which corpus; empty for items that came chosen."""


def gather_items(  # noqa: PLR0913 - what [items] of a study file says, and its seed
    source: Literal["starter", "esconv", "file"],
    path: Path | None,
    *,
    regular: int | None,
    adversarial: int | None,
    seed: int,
    rng: np.random.Generator,
    names: DialogueNames | None = None,
    topics: Topics | None = None,
    keep: Keep | None = None,
    before: Before | None = None,
    known: Collection[str] = (),
    language: str = ENGLISH,
) -> GatheredItems:
    """Read or build the items that a study asks for; fewer are reported, never filled up.

    Args:
        source: Of what.
        path: Folder of the corpus or the item file; None for the starter items.
        regular: How many regular items; None takes all there are.
        adversarial: Likewise.
        seed: Seed of the study; decides which of an item file's items are taken.
        rng: Decides which of a corpus's turns are selected; made from the same seed.
        names: What a file of dialogues calls its columns and the people in it.
        topics: What is a reason to leave a corpus's turn out; None for what `before` says, else
            for the default.
        keep: Where the choice from a corpus is kept; None screens the corpus each time.
        before: What was chosen before from the corpus: it stays, whatever the rules are by now.
        known: Ids of the items that the study has: of a file that has grown, they are taken first.
        language: Of the starter items.

    Raises:
        SettingsError: The source cannot be read, or holds no item that the study asks for.
    """
    notes: tuple[str, ...] = ()
    choices: tuple[Before, ...] = ()
    words = SOURCE_WORDS[source]
    if source == "esconv" and path is not None:
        had = None if before is None else before.chosen
        wish = _Wish(regular or 0, seed, topics or (had.topics if had else DEFAULT_TOPICS))
        chosen = _choose_from(path, wish, rng=rng, keep=keep, before=before)
        if had is not None and had.rules != screening_version(had.topics):
            notes = (f"what the study chose by rules {had.rules} stays", *notes)
        choices = (Before(chosen, regular),)
        items, screenings, funnel = chosen.items, chosen.evidence, chosen.funnel
        words += f", topics = {chosen.topics}"
    else:
        read = None if path is None else read_item_file(path, names)
        items = load_starter_items(language) if read is None else read.items
        notes = () if read is None else read.notes
        evidence = () if path is None else read_screenings(path)
        funnel = funnel_from_screenings(evidence) if evidence else ()
        listed = {item.id for item in items}
        screenings = tuple(s for s in evidence if s.item_id in listed)
    wanted: dict[Subset, int | None] = {"regular": regular, "adversarial": adversarial}
    taken = [item for subset, n in wanted.items() for item in _take(items, subset, n, seed, known)]
    if not taken:
        raise SettingsError(
            f"the item source {path or source} holds no item that the study wants; ask for more "
            "than 0 regular or adversarial items"
        )
    return GatheredItems(
        items=tuple(sorted(taken, key=lambda item: item.id)),
        screenings=screenings,
        funnel=funnel,
        shortfall=_shortfall(taken, wanted),
        source=words,
        notes=notes,
        choices=choices,
    )


def merge_items(gathered: Sequence[GatheredItems], *, known: Collection[str] = ()) -> GatheredItems:
    """Put the items of several sources together; the same dialogue twice is one item.

    That is one context in one subset and profile, wherever it comes from. Of two records of it the
    one whose id is among `known` stays, else that of the earlier source, which a note says.
    """
    if len(gathered) == 1:
        return gathered[0]
    taken: dict[Any, tuple[int, Item]] = {}
    listed = [(number, item) for number, one in enumerate(gathered, 1) for item in one.items]
    for number, item in sorted(listed, key=lambda one: one[1].id not in known):
        taken.setdefault((item.subset, item.profile, item.context), (number, item))
    counts = Counter(number for number, _ in taken.values())
    ids = {item.id for _, item in taken.values()}
    sources = [f"{counts[n]} of {one.source}" for n, one in enumerate(gathered, 1)]
    n_twice = len(listed) - len(taken)
    twice = (f"{n_twice} of the items are in several sources and count once",) if n_twice else ()
    shortfall = sum((Counter(one.shortfall) for one in gathered), Counter[Subset]())
    return GatheredItems(
        items=tuple(sorted((item for _, item in taken.values()), key=lambda item: item.id)),
        screenings=tuple(s for one in gathered for s in one.screenings if s.item_id in ids),
        funnel=_funnels(gathered),
        shortfall=dict(shortfall),
        source="; ".join(sources),
        notes=twice,
        choices=tuple(choice for one in gathered for choice in one.choices),
    )


def _funnels(gathered: Sequence[GatheredItems]) -> tuple[FunnelStep, ...]:
    """Return the funnels of all sources in one, their rules told apart where there are several."""
    if sum(bool(one.funnel) for one in gathered) == 1:
        return next(one.funnel for one in gathered if one.funnel)
    return tuple(
        replace(step, rule=f"items {number}: {step.rule}")
        for number, one in enumerate(gathered, 1)
        for step in one.funnel
    )


def build_from_folder(
    folder: Path, *, regular: int, rng: np.random.Generator, topics: Topics = DEFAULT_TOPICS
) -> BuildResult:
    """Read the ESConv files of a folder and select regular items from them.

    Raises:
        SettingsError: A file is missing, cut or not of the corpus.
    """
    return build_items(read_dialogues(folder), n=regular, rng=rng, topics=topics)


def read_dialogues(folder: Path) -> list[Dialogue]:
    """Read the ESConv files of a folder.

    Raises:
        SettingsError: A file is missing, cut or not of the corpus.
    """
    return _read_dialogues(folder, _read_corpus(folder))


class _Wish(NamedTuple):
    """What a study asks of a corpus."""

    regular: int
    seed: int
    topics: Topics


def _choose_from(
    folder: Path,
    wish: _Wish,
    *,
    rng: np.random.Generator,
    keep: Keep | None,
    before: Before | None,
) -> Chosen:
    """Choose from a corpus; what the study chose from it before stays."""
    corpus = _read_corpus(folder)
    if before is None or before.chosen.corpus != corpus_hash(corpus):
        return _choose(folder, corpus, wish, rng=rng, keep=keep)
    had = before.chosen
    if before.regular == wish.regular:
        _warn_of_size(folder, had.n_dialogues)
        return had
    new = _choose(folder, corpus, wish, rng=rng, keep=keep)
    return new._replace(items=_grown(had.items, new.items, n=wish.regular))


def _choose(
    folder: Path, corpus: Corpus, wish: _Wish, *, rng: np.random.Generator, keep: Keep | None
) -> Chosen:
    topics = wish.topics
    key = choice_key(corpus, regular=wish.regular, seed=wish.seed, topics=topics)
    kept = None if keep is None else keep.read(key)
    again = None if kept is None else choose_again(corpus, kept, topics=topics)
    if again is not None:
        _warn_of_size(folder, again.n_dialogues)
        return again
    dialogues = _read_dialogues(folder, corpus)
    built = build_items(dialogues, n=wish.regular, rng=rng, topics=topics)
    chosen = Chosen(
        items=built.items,
        evidence=built.evidence,
        funnel=built.funnel,
        n_dialogues=len(dialogues),
        corpus=corpus_hash(corpus),
        topics=topics,
        rules=screening_version(topics),
    )
    if keep is not None:
        keep.write(key, as_kept(chosen))
    return chosen


def _grown(had: Sequence[Item], new: Sequence[Item], *, n: int) -> tuple[Item, ...]:
    """Take `n` items: those of both choices, then those of the first, then those of the second."""
    ids = {item.id for item in had}, {item.id for item in new}
    both = [item for item in had if item.id in ids[1]]
    only_had = [item for item in had if item.id not in ids[1]]
    only_new = [item for item in new if item.id not in ids[0]]
    return tuple([*both, *only_had, *only_new][:n])


def _read_corpus(folder: Path) -> Corpus:
    try:
        names = corpus_files(sorted(path.name for path in folder.iterdir()))
    except OSError as error:
        raise SettingsError(
            f"{folder}: cannot be read as a folder ({error.strerror}); give the folder that holds "
            "ESConv"
        ) from error
    return {name: read_text(folder / name) for name in names}


def _read_dialogues(folder: Path, corpus: Corpus) -> list[Dialogue]:
    dialogues = [one for name, text in corpus.items() for one in parse_dialogues(text, name=name)]
    _warn_of_size(folder, len(dialogues))
    return dialogues


def _warn_of_size(folder: Path, n_dialogues: int) -> None:
    if n_dialogues != N_DIALOGUES:
        message = "%s holds %d dialogues, the whole of ESConv %d: is a file cut?"
        logger.warning(message, folder, n_dialogues, N_DIALOGUES)


def read_item_file(path: Path, names: DialogueNames | None = None) -> ItemFile:
    """Read the items of a file: whole ones, or dialogues as text, as a table or as JSON.

    A folder's text files are read as one, each a dialogue.

    Raises:
        SettingsError: The file cannot be read, or lists of what is wrong with it.
    """
    try:
        if not path.is_dir():
            return parse_bytes([(str(path), path.read_bytes())], name=str(path), names=names)
        texts = [one for one in sorted(path.iterdir()) if one.suffix.lower() in TEXTS]
        files = [(one.name, one.read_bytes()) for one in texts]
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    if not files:
        raise SettingsError(f"{path}: holds no {' or '.join(TEXTS)} file; check the path")
    return parse_bytes(files, name=str(path), names=names)


def read_screenings(item_file: Path) -> tuple[Screening, ...]:
    """Read the evidence beside an item file; empty where there is none.

    Raises:
        SettingsError: The file cannot be read, or a line of it is no valid verdict.
    """
    path = evidence_path(item_file)
    return parse_screenings(read_text(path), name=str(path)) if path.exists() else ()


def evidence_path(item_file: Path) -> Path:
    """Return where the evidence for an item file stands."""
    return item_file.with_name(item_file.name + ".screening.jsonl")


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        SettingsError: It cannot be read, or is no UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(
            f"{path}: is not UTF-8 text (byte 0x{error.object[error.start]:02x} in line {line}), "
            "perhaps Latin-1, Windows-1252 or UTF-16; save it as UTF-8",
            ids=(str(path),),
        ) from error
    if "\0" in text:
        raise SettingsError(f"{path}: is no text; save it as UTF-8 text", ids=(str(path),))
    return text


def _take(
    items: Sequence[Item], subset: Subset, n: int | None, seed: int, known: Collection[str]
) -> list[Item]:
    """Take n items of a subset, known ones first, by a seeded hash.

    So a larger n keeps the smaller's items, and items that come new into a file displace none.
    """
    pool = [item for item in items if item.subset == subset]
    if n is None or n >= len(pool):
        return pool

    def place(item: Item) -> tuple[bool, bytes]:
        return item.id not in known, sha256(f"{seed}\x00{item.id}".encode()).digest()

    return sorted(pool, key=place)[:n]


def _shortfall(items: Sequence[Item], wanted: dict[Subset, int | None]) -> dict[Subset, int]:
    found = Counter(item.subset for item in items)
    return {subset: n - found[subset] for subset, n in wanted.items() if n and n > found[subset]}
