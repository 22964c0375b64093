"""The plan of a simulated study: how large it is, and what is planted in it."""

import tomllib
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from hearteval.config.model_settings import Section
from hearteval.errors import SettingsError, raise_faults

Positive = Annotated[float, Field(ge=0, le=5, allow_inf_nan=False)]
"""A standard deviation, or a size in log odds."""
LogOdds = Annotated[float, Field(ge=-5, le=5, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=0.9)]
MOST_SYSTEMS = 26


class SimulationPlan(Section):
    """What `heart simulate` makes; every number of truth is in log odds but where it says so."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    protocol: Literal["pairs", "rating"] = "pairs"
    """Whether two completions are compared, or each is rated by itself."""
    systems: Annotated[int, Field(ge=2, le=MOST_SYSTEMS)] = 5
    """Models."""
    items: Annotated[int, Field(ge=2, le=5_000)] = 60
    """All of them; `adversarial` of these."""
    adversarial: Annotated[int, Field(ge=0)] = 15
    people: Annotated[int, Field(ge=0, le=50)] = 5
    """Raters of each pair, drawn from `pool`."""
    pool: Annotated[int, Field(ge=0, le=500)] = 15
    judges: Annotated[int, Field(ge=0, le=MOST_SYSTEMS)] = 3
    writers: Annotated[int, Field(ge=0, le=10)] = 3
    """Replies by people for each item; 0 leaves the people out."""
    writer_pool: Annotated[int, Field(ge=1, le=500)] = 12
    """From how many people those come."""
    busiest_writers: Annotated[float, Field(ge=0, le=5)] = 0.0
    """How unequal their shares are: the k-th of them is k to the power of this less likely drawn
    than the first; 0 has all write as much."""
    comparisons: Annotated[int, Field(ge=1)] = 2_500
    """Pairs, at most: where there are more, as many are chosen in balance."""
    both_orders: bool = True
    repeat_pairs: Annotated[int, Field(ge=0)] = 50
    """Pairs that judges are asked again."""
    spread: Positive = 0.8
    """Models stand evenly from minus this to plus this."""
    theta: Annotated[list[LogOdds] | None, Field(min_length=2)] = None
    """Strengths of the models, in place of `spread`."""
    people_theta: LogOdds = 0.0
    """Strength of the people who write, on average."""
    judge_theta: Annotated[list[LogOdds] | None, Field(min_length=2)] = None
    """Strengths of the models as judges see them, where these are others."""
    item_sd: Positive = 0.6
    """Of completions around the strength of their system."""
    rater_sd: Positive = 0.3
    """Of each person around each system's strength."""
    judge_sd: Positive = 0.2
    """The same of each judge."""
    writer_sd: Positive = 0.0
    """Of each person who writes around the strength of people; others are drawn with each study."""
    leniency_sd: Positive = 0.3
    """Of how much raters score above or below 3, in points."""
    axis_sd: Positive = 0.3
    """Of what a system is on each axis around its strength."""
    halo: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the overall answer's noise in the mark of each axis."""
    steadiness: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Chance that a judge's noise about a pair is the same each time it is shown."""
    ties: Share = 0.17
    """Share of people's answers."""
    position_bias: Annotated[float, Field(ge=-0.45, le=0.45)] = 0.0
    """Of the first judge: it chooses the first of two equals so much more often than half."""
    length_effect: LogOdds = 0.0
    """Of one unit of (words - other's words) / (words + other's words)."""
    own_family: LogOdds = 0.0
    """What each judge gives to systems of its own family; other than 0, it judges them."""
    judge_own_family: bool = False
    """Whether judges judge their own family also where they give it nothing."""
    random_raters: Annotated[int, Field(ge=0)] = 0
    """People of the pool who answer without reading."""
    better_on_adversarial: LogOdds = 0.0
    """What people who write gain on adversarial items."""
    missing: Share = 0.0
    """Share of the judges' answers, and of the models' completions, that never came."""

    @model_validator(mode="after")
    def _fits_together(self) -> "SimulationPlan":
        for fault in self._faults():
            raise PydanticCustomError("plan", "{why}", {"why": fault})
        return self

    @property
    def is_balanced(self) -> bool:
        """Whether pairs are chosen, as there are more."""
        of_an_item = comb(self.systems, 2) + self.systems * self.writers
        return self.items * of_an_item > self.comparisons

    @property
    def judges_own(self) -> bool:
        """Whether judges judge their own family."""
        return bool(self.own_family or self.judge_own_family)

    def _faults(self) -> list[str]:
        faults = []
        if self.adversarial > self.items:
            faults.append(
                f"adversarial: {self.adversarial} of {self.items} items; give {self.items} or less"
            )
        if self.people > self.pool:
            faults.append(
                f"people: {self.people} for each pair, and the pool has {self.pool}; give"
                f" {self.pool} or less, or a larger pool"
            )
        if self.writers > self.writer_pool:
            faults.append(
                f"writers: {self.writers} replies for each item are by as many people, and the pool"
                f" has {self.writer_pool}; give writer_pool = {self.writers} or more"
            )
        if self.random_raters > self.pool:
            faults.append(
                f"random_raters: {self.random_raters}, and the pool has {self.pool}; give"
                f" {self.pool} or less, or a larger pool"
            )
        if not self.people and not self.judges:
            faults.append("judges: somebody has to judge; give people or judges")
        if self.protocol == "rating" and self.position_bias:
            faults.append("position_bias: whoever rates one completion is shown no first one")
        is_few = self.systems + bool(self.writers) < 3
        if self.protocol == "pairs" and self.judges > 1 and is_few and not self.judges_own:
            faults.append(
                "judges: kept from its own family, a judge of two systems compares nothing; add a"
                " system or writers, or set judge_own_family = true"
            )
        for name in ("theta", "judge_theta"):
            given = getattr(self, name)
            if given is not None and len(given) != self.systems:
                faults.append(f"{name}: expected {self.systems} numbers, one a system")
        return faults


def read_plan(path: Path | None, words: Sequence[str]) -> SimulationPlan:
    """Read a plan from a TOML file, if there is one, and ``KEY=VALUE`` said beside it.

    Raises:
        SettingsError: The file cannot be read, or something in it or beside it cannot be.
    """
    where, said = "heart simulate", dict[str, Any]()
    if path is not None:
        where = str(path)
        try:
            said = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
        except (UnicodeDecodeError, ValueError) as error:
            raise SettingsError(f"{path}: is not valid TOML: {error}") from error
    try:
        return SimulationPlan.model_validate({**said, **dict(map(_read_word, words))})
    except ValidationError as error:
        faults = [_explained(where, dict(fault)) for fault in error.errors(include_url=False)]
        raise_faults(where, faults)
        raise


def _read_word(word: str) -> tuple[str, Any]:
    """Read ``KEY=VALUE``, the value as TOML or, where it is none, as a word."""
    key, equals, value = word.partition("=")
    if not equals:
        raise SettingsError(f"--set {word}: expected KEY=VALUE", ids=(word,))
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def _explained(where: str, fault: Mapping[str, Any]) -> SettingsError:
    place = ".".join(map(str, fault["loc"]))
    message = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}"
    if fault["type"] == "extra_forbidden":
        message = f"unknown; known: {', '.join(SimulationPlan.model_fields)}"
    return SettingsError(f"{where}: {f'{place}: ' if place else ''}{message}", ids=(place,))
