"""Is a study's judge one of its systems under another name? Seen before anything is paid for."""

from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from typing import NamedTuple

from hearteval.analysis.judges.same_model import ANY_MODEL, bare_name
from hearteval.config import ModelSettings, StudySettings
from hearteval.config.models import OWN_ENDPOINT

NO_SUCH_MODEL = "hearteval-no-such-model"
"""A name that no model has: an endpoint that answers it answers any name."""


class Named(NamedTuple):
    """A system or judge of a study file that is a model."""

    role: str
    name: str
    model: ModelSettings
    answer: str | None = None
    """What its reply called its model, empty where it said nothing; None before it has replied."""

    @property
    def endpoint(self) -> str:
        """Where it is asked; may hold a secret."""
        model = self.model
        return str(model.path or f"{model.provider} {(model.base_url or '').rstrip('/')}")

    @property
    def is_told(self) -> bool:
        """Whether its reply named a model that is not just the name it was asked by."""
        return self.answer not in {None, "", self.model.model}


class SameModel(NamedTuple):
    """A judge and a system, or two judges, that are one model."""

    one: Named
    other: Named

    @property
    def judges_itself(self) -> bool:
        """Whether a judge would judge its own replies; else it would count twice."""
        return self.one.role != self.other.role

    @property
    def words(self) -> str:
        """Say so, and what follows."""
        one, other = self
        if self.judges_itself:
            what = f"the judge {other.name} and the system {one.name} are the same model"
            return f"{what} under two names: it would judge its own replies"
        what = f"the judges {one.name} and {other.name} are the same model"
        return f"{what}: its verdicts would count twice"

    @property
    def remedy(self) -> str:
        """Say what to do."""
        if self.judges_itself:
            return "serve another model to the judge, or give both the same family"
        return "take one of the two out, or serve another model to it"


def named_models(settings: StudySettings) -> list[Named]:
    """Return the models of a study's systems, then of its judges, in the order of the file."""
    systems = [("system", one.name, one.model) for one in settings.systems]
    judges = [("judge", one.name, one.model) for one in settings.judging.judges]
    return [
        Named(role, name, model) for role, name, model in (*systems, *judges) if model is not None
    ]


def declared_same(settings: StudySettings) -> list[SameModel]:
    """Return what the study file itself gives one model at one address."""
    return _same_models(named_models(settings), _is_declared_same)


def answered_same(named: Sequence[Named], any_name: Collection[str]) -> list[SameModel]:
    """Return what the study file names apart, and one model answers.

    `any_name` holds the endpoints that answer a name no model has. Where such an endpoint repeats
    the name it is asked by, nothing tells two names there apart.
    """

    def is_same(one: Named, other: Named) -> bool:
        if one.answer is None or other.answer is None or _is_declared_same(one, other):
            return False
        is_at_one = one.endpoint == other.endpoint
        if is_at_one and one.endpoint in any_name and not one.is_told and not other.is_told:
            return True
        name, name_of_other = (
            bare_name(answer).casefold() for answer in (one.answer, other.answer)
        )
        return bool(name) and name == name_of_other and (is_at_one or name not in ANY_MODEL)

    return _same_models(named, is_same)


def unsure_endpoints(named: Sequence[Named]) -> dict[str, Named]:
    """Return the endpoints to ask for a model that does not exist, each with an entry of theirs.

    Where calls are paid for, a name buys a model; elsewhere several names may be one.
    """
    places: dict[str, list[Named]] = {}
    for one in named:
        price = one.model.price
        is_free = price is not None and not price.input_usd and not price.output_usd
        if one.model.provider == OWN_ENDPOINT and is_free:
            places.setdefault(one.endpoint, []).append(one)
    return {
        place: some[0]
        for place, some in places.items()
        if len({one.model.model for one in some}) > 1 and some[-1].role == "judge"
    }


def _is_declared_same(one: Named, other: Named) -> bool:
    return one.endpoint == other.endpoint and one.model.model == other.model.model


def _same_models(
    named: Sequence[Named], is_same: Callable[[Named, Named], bool]
) -> list[SameModel]:
    """Return the pairs that matter: two systems may well be one model with two prompts."""
    return [
        SameModel(one, other)
        for one, other in combinations(named, 2)
        if other.role == "judge"
        and (one.role == "judge" or one.model.family != other.model.family)
        and is_same(one, other)
    ]
