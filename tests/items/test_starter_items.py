"""The starter items keep the promises that HEART 9.2 and the item file format make."""

import re
from collections import Counter
from importlib.resources import files
from itertools import combinations
from pathlib import Path

from each_of import each_of

from hearteval.domain import CUES, RESISTANCES, Item
from hearteval.domain.items import EDGES
from hearteval.items import STARTER_FILE, load_starter_items
from hearteval.items.escalation.plan import plan_intensities
from hearteval.items.files import CANARY, format_items

ROOT = Path(__file__).parents[2]
ITEMS = load_starter_items()
REGULAR = [item for item in ITEMS if item.subset == "regular"]
ADVERSARIAL = [item for item in ITEMS if item.subset == "adversarial"]

CORPUS_PROBLEMS = {
    *("Appearance Anxiety", "Issues with Children", "Procrastination", "School Bullying"),
    *("Sleep Problems", "academic pressure", "breakup with partner", "conflict with parents"),
    *("job crisis", "ongoing depression", "problems with friends"),
}
FURTHER_PROBLEMS = {
    *("bereavement", "caring for a relative", "coming out", "debt", "discrimination", "faith"),
    *("illness", "immigration", "infertility", "legal trouble", "loneliness", "medication"),
    "problems with partner",
}
EMOTIONS = {
    *("anger", "anxiety", "depression", "disgust", "fear", "guilt"),
    *("jealousy", "nervousness", "pain", "sadness", "shame"),
}
OUT_OF_SCOPE = re.compile(
    r"\b(kill\w*|self.?harm\w*|overdos\w*|cut myself|hurt myself|end it all"
    r"|gun|knife|rap(e|ed|ist)|assault\w*|cocaine|naked|sex\w*)\b",
    re.IGNORECASE,
)
TAKES_BACK = re.compile(r"(?:^|[.!?] )sorry,? (?:for|i|that)\b|\bforgive me\b", re.IGNORECASE)
IDENTIFYING = re.compile(r"https?:|www\.|@|\d{4,}|\b(Mr|Mrs|Ms|Dr)\b\.?")


def _name(item: Item) -> str:
    return item.dialogue_id


def _texts(item: Item) -> list[str]:
    return [item.situation, *(turn.text for turn in item.context), item.reference or ""]


def _seeker_words(item: Item) -> set[str]:
    spoken = " ".join(turn.text for turn in item.context if turn.role == "seeker")
    return set(re.findall(r"[a-z']+", spoken.lower()))


def _openings(texts: list[str], n_words: int) -> list[str]:
    return [" ".join(text.lower().split()[:n_words]) for text in texts]


def _n_sentences(text: str) -> int:
    return len([part for part in re.split(r"[.!?]+(?:[\"']?\s+|$)", text) if part.strip()])


def test_there_are_114_regular_and_30_adversarial_items() -> None:
    assert (len(REGULAR), len(ADVERSARIAL)) == (114, 30)


def test_each_profile_and_each_kind_of_resistance_has_its_items() -> None:
    by_profile = Counter(item.profile for item in ADVERSARIAL)
    assert by_profile == {"always-10": 7, "linear-ramp": 8, "mid-spike": 7, "mid-ramp": 8}
    assert Counter(item.resistance for item in ADVERSARIAL) == dict.fromkeys(RESISTANCES, 5)
    met = {(item.resistance, item.profile) for item in ADVERSARIAL}
    assert len(met) == len(RESISTANCES) * len(by_profile)


def test_seekers_of_91_regular_items_speak_plainly() -> None:
    assert Counter(item.cue for item in REGULAR) == {"implicit": 23, "explicit": 91}
    assert {item.cue for item in ITEMS} == set(CUES)


def test_file_begins_with_the_canary() -> None:
    shipped = files("hearteval.items").joinpath(STARTER_FILE).read_text(encoding="utf-8")
    assert CANARY in shipped.split("\n")[0]


def test_every_item_is_a_dialogue_of_its_own() -> None:
    assert len({item.dialogue_id for item in ITEMS}) == len(ITEMS)


def test_loading_twice_gives_equal_items_in_the_same_order() -> None:
    assert load_starter_items.__wrapped__() == ITEMS  # the one that is read anew


def test_file_is_written_as_format_items_writes_it() -> None:
    shipped = files("hearteval.items").joinpath(STARTER_FILE).read_text(encoding="utf-8")
    assert shipped == format_items(ITEMS)


@each_of(ITEMS, _name)
def test_provenance_is_the_projects_own_and_labels_are_known(item: Item) -> None:
    assert item.source == "starter"
    assert item.licence == "Apache-2.0"
    assert item.consent_basis == "Written for hearteval by a language model; no real person"
    assert item.language == "en"
    assert item.situation.strip()
    assert item.turn_index == len(item.context) - 1
    assert item.emotion in EMOTIONS
    assert item.problem in CORPUS_PROBLEMS | FURTHER_PROBLEMS


def test_labels_are_spread() -> None:
    assert {item.emotion for item in REGULAR} == EMOTIONS
    assert {item.problem for item in REGULAR} == CORPUS_PROBLEMS | FURTHER_PROBLEMS
    combinations_used = Counter((item.emotion, item.problem) for item in REGULAR)
    assert max(combinations_used.values()) <= 5
    assert max(Counter(item.emotion for item in REGULAR).values()) <= 19
    assert len({item.culture for item in ITEMS}) >= 25
    assert len({item.population for item in ITEMS}) >= 12


@each_of(REGULAR, _name)
def test_regular_history_has_5_to_13_turns(item: Item) -> None:
    assert 5 <= len(item.context) <= 13


def test_regular_histories_differ_in_length_and_in_who_starts() -> None:
    assert len({len(item.context) for item in REGULAR}) >= 6
    assert {item.context[0].role for item in REGULAR} == {"seeker", "supporter"}
    final_lengths = sorted(len(item.context[-1].text.split()) for item in REGULAR)
    assert final_lengths[0] < 30
    assert final_lengths[-1] > 75


@each_of(ADVERSARIAL, _name)
def test_adversarial_history_gives_its_profile_room(item: Item) -> None:
    assert len(item.context) >= 8
    assert sum(turn.role == "seeker" for turn in item.context) >= 4


@each_of(REGULAR, _name)
def test_reference_is_one_to_three_short_sentences(item: Item) -> None:
    assert item.reference is not None
    assert 1 <= _n_sentences(item.reference) <= 3
    assert 15 <= len(item.reference.split()) <= 60


def test_references_open_differently() -> None:
    openings = Counter(_openings([item.reference or "" for item in REGULAR], 2))
    assert max(openings.values()) <= 4


@each_of(ITEMS, _name)
def test_text_is_one_clean_line_in_scope_that_identifies_nobody(item: Item) -> None:
    for text in _texts(item):
        assert text == " ".join(text.split())
        assert not OUT_OF_SCOPE.search(text)
        assert not IDENTIFYING.search(text)


def test_every_item_says_what_is_at_its_edge_and_the_reference_counts_them() -> None:
    assert all(item.edge is not None for item in ITEMS)
    counts = Counter(edge for item in ITEMS for edge in item.edge or ())
    text = (ROOT / "docs/reference/item-files.md").read_text(encoding="utf-8")
    listed = ", ".join(f"`{edge}` {counts[edge]}" for edge in EDGES)
    n_regular, n_adversarial = (sum(bool(i.edge) for i in own) for own in (REGULAR, ADVERSARIAL))
    n_all = n_regular + n_adversarial
    assert f"labelled {n_all}, in doubt too: {n_regular} regular" in text
    assert f"{n_adversarial} adversarial ({listed};" in text
    guide = (ROOT / "docs/how-to/people.md").read_text(encoding="utf-8")
    assert f"{n_all} of the {len(ITEMS)} [starter items]" in guide


def test_the_known_hard_cases_are_at_the_edge() -> None:
    edges = {item.dialogue_id: item.edge for item in ITEMS}
    assert edges["wouldnt-notice"] == ("risk", "minor")
    assert edges["tight-since-lunch"] == ("risk", "medical")
    assert edges["he-never-hit-me"] == ("risk", "abuse")
    assert edges["promise-you-wont-tell"] == EDGES


def test_no_two_items_are_near_duplicates() -> None:
    overlaps = {
        (a.dialogue_id, b.dialogue_id): len(x & y) / len(x | y)
        for (a, x), (b, y) in combinations([(item, _seeker_words(item)) for item in ITEMS], 2)
    }
    assert {pair: share for pair, share in overlaps.items() if share > 0.3} == {}


def test_seekers_open_and_end_differently() -> None:
    for place in (0, -1):
        spoken = [[t.text for t in item.context if t.role == "seeker"][place] for item in ITEMS]
        repeated = Counter(_openings(spoken, 4))
        assert max(repeated.values()) <= 2


def test_no_turn_but_a_greeting_is_used_twice() -> None:
    said = [turn.text for item in ITEMS for turn in item.context]
    turns = [text for text in said if len(text.split()) > 6]
    assert len(set(turns)) == len(turns)


@each_of(ADVERSARIAL, _name)
def test_intensities_are_the_curve_that_rewrites_are_planned_by(item: Item) -> None:
    n_turns = sum(turn.role == "seeker" for turn in item.context)
    assert item.profile is not None
    assert item.intensities == plan_intensities(item.profile, n_turns)


@each_of(ADVERSARIAL, _name)
def test_no_seeker_takes_the_anger_back(item: Item) -> None:
    spoken = [turn.text for turn in item.context if turn.role == "seeker"]
    assert not any(TAKES_BACK.search(text) for text in spoken)
