"""Which models a study asked, how they were called, under what name they answered, at what cost.

Sums of calls come from the store; what a model is comes from the settings of its system or judge.
An address is no part of it: a report may be published.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from hearteval.domain import InFlight, Rater, System, canonical_json
from hearteval.models.presets import end_words, load_model_presets
from hearteval.notices import Kind, Notice

DATES = re.compile(r"\d{4}-\d{2}-\d{2}|\d{6,8}")
APART = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])")
NEUTRAL = frozenset(
    {
        "awq",
        "beta",
        "bf",
        "chat",
        "exp",
        "fp",
        "free",
        "gguf",
        "gptq",
        "hf",
        "instruct",
        "int",
        "it",
    }
    | {"k", "latest", "m", "preview", "q", "s", "v"}
)
"""Parts of a name that say which release or packing of a model it is."""
LOCAL = "local"


class CallSum(NamedTuple):
    """Calls of one step, made for one system or judge with the same settings."""

    step: str
    """``completions``, ``judgments``, ``ratings`` or ``failed tries``."""
    owner_id: str
    requested: Mapping[str, Any]
    effective: Mapping[str, Any]
    n_calls: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """One model as a study has asked it."""

    role: str
    """``system`` or ``judge``."""
    name: str
    model: str
    """What was asked for."""
    route: str
    """The provider it was asked through."""
    family: str
    served_as: tuple[str, ...]
    """What its replies call it, the most frequent first; empty where they say nothing."""
    settings: tuple[str, ...]
    """Effective settings as JSON, the most frequent first: those really used."""
    ends: str | None
    """That it has ended or soon will; None where it lives on, or nothing is known."""
    n_calls: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCost:
    """What one model cost in one step."""

    role: str
    name: str
    step: str
    n_calls: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a study's models were and cost, in US dollars."""

    models: tuple[ModelUse, ...]
    steps: tuple[StepCost, ...]
    other_usd: float
    """Of calls that left no record: cut off or lost, questions about schemas, times; and of other
    studies in the store."""
    total_usd: float
    """What all runs on the store have cost."""
    in_flight: InFlight | None = None
    """What killed processes had under way, perhaps billed and asked again; no part of the total."""


NOTHING_SPENT = Spending(models=(), steps=(), other_usd=0.0, total_usd=0.0)


def sum_spending(
    systems: Iterable[System],
    raters: Iterable[Rater],
    calls: Sequence[CallSum],
    *,
    total_usd: float,
    made: str,
    in_flight: InFlight | None = None,
) -> Spending:
    """Return what the models of a study were and cost; `made` is when, as ISO 8601."""
    today = datetime.fromisoformat(made).date()
    by_owner: defaultdict[str, list[CallSum]] = defaultdict(list)
    for call in calls:
        by_owner[call.owner_id].append(call)
    models, steps = [], []
    named: list[tuple[str, System | Rater]] = [("system", s) for s in systems]
    named += [("judge", rater) for rater in raters]
    for role, who in sorted(named, key=lambda one: (one[0] != "system", one[1].name)):
        if "model" not in who.settings:
            continue
        own = by_owner.get(who.id, [])
        if who.is_imported and own and not any(call.effective for call in own):
            continue  # a table says nothing of how a model was asked
        models.append(_use(role, who, own, today))
        for step in dict.fromkeys(call.step for call in own):
            of_step = [call for call in own if call.step == step]
            n_calls, usd = _totals(of_step)
            steps.append(StepCost(role=role, name=who.name, step=step, n_calls=n_calls, usd=usd))
    known = sum(model.usd for model in models)
    return Spending(
        models=tuple(models),
        steps=tuple(steps),
        other_usd=max(0.0, total_usd - known),
        total_usd=total_usd,
        in_flight=in_flight,
    )


def warn_of_models(spending: Spending) -> tuple[Notice, ...]:
    """Warn of models that answered under another model's name, and of those that end."""
    warnings = []
    for use in spending.models:
        others = [name for name in use.served_as if not is_same_model(use.model, name)]
        if others and use.route != LOCAL:
            text = (
                f"The {use.role} {use.name} was asked for as {use.model}, and its replies say that"
                f" they are of {', '.join(others)}."
            )
            warnings.append(Notice(Kind.OTHER_MODEL, text))
        if use.ends:
            text = f"The {use.role} {use.name} ({use.model}) {use.ends}."
            warnings.append(Notice(Kind.MODEL_ENDS, text))
    return tuple(warnings)


def is_same_model(asked: str, served: str) -> bool:
    """Say whether two names are of one model: apart from who serves it, release and packing."""
    return _name_parts(asked) == _name_parts(served)


def _name_parts(name: str) -> frozenset[str]:
    bare = DATES.sub("", name.lower().rpartition("/")[2])
    return frozenset(part for part in APART.split(bare) if part and part not in NEUTRAL)


def _use(role: str, who: System | Rater, calls: Sequence[CallSum], today: date) -> ModelUse:
    served, settings = Counter[str](), Counter[str]()
    for call in calls:
        used = dict(call.effective)
        name = used.pop("model", None)
        if name:
            served[str(name)] += call.n_calls
        if used and call.step != "failed tries":
            settings[canonical_json(used)] += call.n_calls
    n_calls, usd = _totals(calls)
    route, preset = str(who.settings.get("provider", "")), who.settings.get("preset")
    known = load_model_presets().get(str(preset))
    ends = "" if known is None else end_words(known.end_at(route), today=today)
    return ModelUse(
        role=role,
        name=who.name,
        model=str(who.settings["model"]),
        route=route,
        family=who.family,
        served_as=tuple(name for name, _ in served.most_common()),
        settings=tuple(words for words, _ in settings.most_common()),
        ends=ends or None,
        n_calls=n_calls,
        usd=usd,
    )


def _totals(calls: Iterable[CallSum]) -> tuple[int, float]:
    listed = list(calls)
    return sum(call.n_calls for call in listed), sum(call.usd for call in listed)
