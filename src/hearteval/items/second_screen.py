"""The second screen: what labelers and people say of a candidate settles whether it is an item.

Each question of the taxonomy ``item-screen`` is settled by itself. People's word counts more than
that of models; two labelers who say the same settle what no person has spoken of; whatever is
missing, uncertain or disputed stays open, and an item with an open question that decides waits for
a person. Which answers leave a turn out depends on the topics (HEART 9.2, docs/decisions/0037).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Literal, NamedTuple

from hearteval.domain import Item, Label, LabelVerdict, Screening
from hearteval.items.screening import Topics, find_identifying
from hearteval.labels.taxonomy import Category, Taxonomy

ITEM_SCREEN: Literal["item-screen"] = "item-screen"
MIN_LABELERS = 2
"""Fewer never settle a question by themselves."""
PAIR = 2
"""People who differ on a scale: there is none between them."""
MOST_APART = 1
"""Levels of a scale by which two answers may differ and count as the same."""

NEEDED = ("distress", "unresolved", "several_replies")
"""Questions that have to hold of an item."""
DELICATE = ("risk", "abuse", "minor", "addiction", "trauma")
"""Questions that leave a turn out under the topics ``cautious``, and are labels under ``paper``."""
REFUSED = ("expertise", "self_harm_plan", "hate", "nsfw", "identity_stays")
"""Questions that never may hold of an item."""
DETAILS = ("person_name", "place_name", "organisation_name", "contact", "other_identity")
"""Questions whose evidence tells who somebody is: it is replaced before the item is accepted."""
REPLY = "reply_answers"
CUE = "explicit_cue"
INTENSITY = "intensity"
TOLD = (INTENSITY, REPLY, CUE)
"""Questions that never decide."""
UNDECIDED = "second-undecided"
IDENTIFYING = "second-identifying"

Why = Literal["missing", "one labeler", "uncertain", "differ"]
Standing = Literal["in", "out", "identifying", "waiting"]
"""Of a candidate: it may be chosen; it is left out; it may be chosen once details that tell who
somebody is are replaced; a person has to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Who is asked: labelers by rater id, with their names, and the ids of people."""

    labelers: Mapping[str, str]
    people: Collection[str]

    def name(self, rater_id: str) -> str:
        """Return a labeler's name; of people nothing but that they are."""
        return self.labelers.get(rater_id, "a person")


class Answer(NamedTuple):
    """What all answers to one question about one item come to."""

    verdict: LabelVerdict
    """``uncertain`` where it is open; of a scale ``present`` where there is a score."""
    score: float | None
    why: Why | None
    """Why it is open; None where it is settled."""
    by_people: bool
    said: str
    """Who said what, in words."""
    quotes: tuple[str, ...]
    """What those quote who say that it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of one candidate.

    Attributes:
        reasons: Questions that leave it out; where it waits, those that are open and decide; where
            it tells who somebody is, those that found it. Empty where it may be chosen.
        disputed: Further questions that are open, and decide nothing under these topics.
    """

    item: Item
    standing: Standing
    reasons: tuple[str, ...]
    disputed: tuple[str, ...]
    answers: Mapping[str, Answer]
    topics: Topics


def rule_of(question: str) -> str:
    """Return the rule of the funnel that a question is."""
    return "second-" + question.replace("_", "-")


def deciding(topics: Topics) -> tuple[str, ...]:
    """Return the questions that decide about an item, in the order in which they are given."""
    delicate = DELICATE if topics == "cautious" else ()
    return (*NEEDED, *REFUSED, *delicate, *DETAILS)


def telling(topics: Topics) -> tuple[str, ...]:
    """Return the questions that are labels and nothing else."""
    return (*TOLD, *(() if topics == "cautious" else DELICATE))


SECOND_RULES = (*map(rule_of, (*NEEDED, *REFUSED, *DELICATE)), UNDECIDED, IDENTIFYING)
"""Every rule by which this screen can leave a candidate out, in order."""
SECOND_LABELS = tuple(map(rule_of, (*DELICATE, *DETAILS, *TOLD)))
"""Questions that leave nothing out, as rules: a label each, or of another rule."""


def settle(question: Category, labels: Iterable[Label], sources: Sources) -> Answer:
    """Settle one question about one item; labels of raters who are not asked say nothing.

    People settle it with more than half of all that people said. Without them labelers do: two or
    more, all of them, with one voice. A scale is settled where the answers are at most a level
    apart, by their mean; of three people or more by their median.
    """
    own = [one for one in labels if one.category == question.key]
    by_people = [one for one in own if one.rater_id in sources.people]
    used = by_people or [one for one in own if one.rater_id in sources.labelers]
    used.sort(key=lambda one: (sources.name(one.rater_id), one.id))
    settled: tuple[LabelVerdict, float | None] | Why
    if not by_people and len({one.rater_id for one in used}) < len(sources.labelers):
        settled = "missing"
    elif not by_people and len(sources.labelers) < MIN_LABELERS:
        settled = "one labeler" if sources.labelers else "missing"
    elif question.levels:
        settled = _settle_score(used, has_majority=bool(by_people))
    else:
        settled = _settle_verdict(used, has_majority=bool(by_people))
    is_open = isinstance(settled, str)
    verdict, score = ("uncertain", None) if isinstance(settled, str) else settled
    return Answer(
        verdict=verdict,
        score=score,
        why=settled if isinstance(settled, str) else None,
        by_people=bool(by_people) and not is_open,
        said=_in_words(used, sources),
        quotes=tuple(
            dict.fromkeys(one.evidence for one in used if one.verdict == "present" and one.evidence)
        ),
    )


def decide(
    item: Item, labels: Iterable[Label], sources: Sources, *, topics: Topics, taxonomy: Taxonomy
) -> Decision:
    """Settle every question about a candidate, and what becomes of it.

    Names and the like that the rules find count too, unless people say that there are none.
    """
    by_question: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        by_question[label.category].append(label)
    answers = {
        one.key: settle(one, by_question[one.key], sources)
        for one in taxonomy.categories
        if item.reference is not None or one.key != REPLY
    }
    decides = deciding(topics)
    refused = (*REFUSED, *(DELICATE if topics == "cautious" else ()))
    against = [key for key in NEEDED if answers[key].verdict == "absent"]
    against += [key for key in refused if answers[key].verdict == "present"]
    opened = [key for key, answer in answers.items() if answer.why is not None]
    waits = [key for key in decides if key in opened]
    found = [key for key in DETAILS if answers[key].verdict == "present"]
    if not all(answers[key].by_people for key in DETAILS):
        kinds = {kind for text in texts_of(item).values() for kind, _ in find_identifying(text)}
        found += [f"rule {kind}" for kind in sorted(kinds)]
    standing: Standing
    standing, reasons = (
        ("out", against)
        if against
        else ("waiting", waits)
        if waits
        else ("identifying", found)
        if found
        else ("in", [])
    )
    return Decision(
        item=item,
        standing=standing,
        reasons=tuple(reasons),
        disputed=tuple(key for key in opened if key not in decides),
        answers=answers,
        topics=topics,
    )


def texts_of(item: Item) -> dict[str, str]:
    """Return the texts of an item that may tell who somebody is, by where they stand."""
    turns = {f"context[{n}]": turn.text for n, turn in enumerate(item.context)}
    return {"situation": item.situation, **turns, "reference": item.reference or ""}


def needs_person(decision: Decision) -> tuple[str, ...]:
    """Return the questions that a person is asked for: none where the item is left out anyway."""
    if decision.standing == "out":
        return ()
    waits = decision.reasons if decision.standing == "waiting" else ()
    return (*waits, *decision.disputed)


def list_decision(decision: Decision, *, version: str, replaced: str = "") -> tuple[Screening, ...]:
    """Return the records of a candidate's second screen: one ``fail``, or a ``pass`` by question.

    A question that is a label under these topics passes, with what was said as its evidence.
    `replaced` is what was put in place of details that tell who somebody is, in words.
    """
    answers = decision.answers
    reasons = decision.reasons
    found: dict[str, str]
    if decision.standing == "in":
        found = {rule_of(key): _evidence(key, answers) for key in answers}
        found[IDENTIFYING] = replaced
    elif decision.standing == "out":
        found = {rule_of(reasons[0]): _evidence(reasons[0], answers)}
    elif decision.standing == "waiting":
        found = {UNDECIDED: "; ".join(f"{key}: {answers[key].why}" for key in reasons)}
    else:
        found = {IDENTIFYING: "; ".join(reasons)}
    verdict: Literal["pass", "fail"] = "pass" if decision.standing == "in" else "fail"
    return tuple(
        Screening(
            item_id=decision.item.id,
            rule=rule,
            verdict=verdict,
            evidence=evidence,
            version=f"{ITEM_SCREEN}-{version}",
        )
        for rule, evidence in found.items()
    )


def _settle_verdict(
    labels: Sequence[Label], *, has_majority: bool
) -> tuple[LabelVerdict, float | None] | Why:
    verdicts = [one.verdict for one in labels]
    definite: tuple[LabelVerdict, ...] = ("present", "absent")
    for verdict in definite:
        n = verdicts.count(verdict)
        if n == len(verdicts) or (has_majority and 2 * n > len(verdicts)):
            return verdict, None
    return "uncertain" if "uncertain" in verdicts else "differ"


def _settle_score(
    labels: Sequence[Label], *, has_majority: bool
) -> tuple[LabelVerdict, float | None] | Why:
    scores = [one.score for one in labels if one.score is not None]
    if len(scores) < len(labels):
        return "uncertain"
    if max(scores) - min(scores) <= MOST_APART:
        return "present", mean(scores)
    return ("present", median(scores)) if has_majority and len(scores) > PAIR else "differ"


def _in_words(labels: Sequence[Label], sources: Sources) -> str:
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for one in labels:
        word = one.verdict if one.score is None else str(one.score)
        by_word[word].append(sources.name(one.rater_id))
    return ", ".join(f"{word} by {' and '.join(names)}" for word, names in by_word.items())


def _evidence(key: str, answers: Mapping[str, Answer]) -> str:
    """Say who answered what, with what they quote, but for quotes that tell who somebody is."""
    answer = answers[key]
    words = answer.said or "not asked"
    if answer.why is not None:
        words = f"not settled ({answer.why}): {words}"
    details = [quote.casefold() for one in DETAILS for quote in answers[one].quotes]
    shown = [
        f'"{quote}"'
        for quote in answer.quotes
        if key not in DETAILS
        and not any(detail in quote.casefold() for detail in details)
        and not find_identifying(quote)
    ]
    return "; ".join([words, *shown])
