"""What writers were asked for, and which rules only some of them had (HEART 9.3, 9.4).

A rule that one writer had and another did not is a difference between their replies that is not
theirs, so a report lists it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hearteval.domain import System
from hearteval.domain.systems import SIMULATED
from hearteval.protocol import load_protocol

UNKNOWN = "unknown"
PEOPLE = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefUse:
    """One brief, and who wrote under it.

    Attributes:
        brief: ``paper``, ``matched``, ``own`` (a text of the study's), ``people`` (what people who
            write read), or ``unknown`` for replies that were made elsewhere.
        systems: Names.
        rules: What it asks for, in words; empty where that is not known by heart.
        text: The words of an ``own`` brief, else None.
    """

    brief: str
    systems: tuple[str, ...]
    rules: tuple[str, ...]
    text: str | None = None


def find_briefs(systems: Iterable[System]) -> tuple[BriefUse, ...]:
    """Return the briefs of models and people, in the order of the systems.

    Recorded replies, offline baselines and simulated systems were asked for nothing.
    """
    used: dict[tuple[str, str | None], list[str]] = {}
    for system in systems:
        if system.kind in ("model", "human") and SIMULATED not in system.settings:
            used.setdefault(_brief(system), []).append(system.name)
    protocol = load_protocol("support_prompt")
    return tuple(
        BriefUse(
            brief=brief,
            systems=tuple(names),
            rules=tuple(protocol["rules"][rule] for rule in protocol["rules_of"].get(brief, ())),
            text=text,
        )
        for (brief, text), names in used.items()
    )


def uneven_rules(briefs: Sequence[BriefUse]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the rules that only some writers had, each with who had it.

    Briefs whose rules are not known by heart are left out: their text says what they ask for.
    """
    known = [use for use in briefs if use.rules]
    rules = dict.fromkeys(rule for use in known for rule in use.rules)
    had = {rule: [use for use in known if rule in use.rules] for rule in rules}
    return tuple(
        (rule, tuple(name for use in uses for name in use.systems))
        for rule, uses in had.items()
        if len(uses) < len(known)
    )


def _brief(system: System) -> tuple[str, str | None]:
    if system.kind == "human":
        return PEOPLE, None
    if "brief" not in system.settings:
        return UNKNOWN, None
    name = str(system.settings["prompt"])
    return name, system.settings["brief"] if name == "own" else None
