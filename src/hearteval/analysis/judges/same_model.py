"""Is what judges the same model as what is judged, or as another judge, under another name?

A local server may answer any name with the one model it has, so names in a study file prove
nothing. What the replies say of their model does; where they say nothing, what was asked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hearteval.analysis.calls import CallSum
from hearteval.domain import Rater, System
from hearteval.notices import Kind, Notice

ANY_MODEL = frozenset({"default", "llama_cpp", "local-model", "model", "tgi"})
"""Names that servers give to whatever model they have."""
USED = frozenset({"completions", "judgments", "ratings"})
"""Steps whose calls came to something that results rest on."""


class Answering(NamedTuple):
    """What answers for a system or a judge."""

    who: System | Rater
    names: Mapping[str, str]
    """How people read each name, by what makes two of them the same."""


def warn_of_same_models(
    systems: Sequence[System], judges: Sequence[Rater], calls: Iterable[CallSum]
) -> list[Notice]:
    """Name judges that judge their own replies under another family, and models that count twice.

    One model with two prompts may be two systems; asked for by two names, it is named here. What
    has given nothing yet is passed over.
    """
    served: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        if call.step in USED:
            served[call.owner_id].add(str(call.effective.get("model") or ""))
    competing = [_answering(one, served[one.id]) for one in systems if one.id in served]
    judging = [_answering(one, served[one.id]) for one in judges if one.id in served]
    return [
        *(_judges_itself(judge, competing) for judge in judging if _own(judge, competing)),
        *map(_judges_twice, _twins(judging)),
        *(_competes_twice(twins) for twins in _twins(competing) if _are_asked_apart(twins)),
    ]


def bare_name(model: str) -> str:
    """Return a model's name without who serves it, the folders of its file and its ending."""
    return model.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf").strip()


def _answering(who: System | Rater, served: Iterable[str]) -> Answering:
    told = {bare_name(name) for name in served}
    told = {name for name in told if name and name.casefold() not in ANY_MODEL}
    if told:
        return Answering(who, {name.casefold(): name for name in sorted(told)})
    model = who.settings.get("model")
    # One name at two providers may be two models.
    key = f"{who.settings.get('provider')} {model}"
    return Answering(who, {} if model is None else {key: bare_name(str(model))})


def _own(judge: Answering, competing: Iterable[Answering]) -> list[Answering]:
    """Return the systems that are the judge, though its family does not say so."""
    return [
        system
        for system in competing
        if system.names.keys() & judge.names.keys() and system.who.family != judge.who.family
    ]


def _twins(found: Sequence[Answering]) -> list[list[Answering]]:
    """Return those that one model answers for, where there are several."""
    groups: dict[tuple[str, ...], list[Answering]] = {}
    for name in dict.fromkeys(name for one in found for name in one.names):
        group = [one for one in found if name in one.names]
        if len(group) > 1:
            groups.setdefault(tuple(one.who.id for one in group), group)
    return [*groups.values()]


def _are_asked_apart(twins: Sequence[Answering]) -> bool:
    asked = [str(one.who.settings.get("model")) for one in twins]
    return any(one != other for one, other in pairwise(asked))


def _judges_itself(judge: Answering, competing: Iterable[Answering]) -> Notice:
    own = _own(judge, competing)
    text = (
        f"One model under two names: {_shared([judge, own[0]])} answers as the judge"
        f" {judge.who.name} and as the system{'s' * (len(own) > 1)} {_named(own)}. So it judges its"
        " own replies, and judges tend to prefer their own; as the families differ, nothing kept it"
        " from that."
    )
    return Notice(Kind.SAME_MODEL, text)


def _judges_twice(twins: Sequence[Answering]) -> Notice:
    text = (
        f"One model judges under {len(twins)} names: {_shared(twins)} answers as {_named(twins)}."
        f" Its verdicts count as those of {len(twins)} judges."
    )
    return Notice(Kind.SAME_JUDGE, text)


def _competes_twice(twins: Sequence[Answering]) -> Notice:
    text = (
        f"The systems {_named(twins)} were asked for as different models, and {_shared(twins)}"
        " answers as each."
    )
    return Notice(Kind.OTHER_MODEL, text)


def _named(found: Sequence[Answering]) -> str:
    return " and ".join(one.who.name for one in found)


def _shared(found: Sequence[Answering]) -> str:
    first, *others = found
    return next(
        name for key, name in first.names.items() if all(key in one.names for one in others)
    )
