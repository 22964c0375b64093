"""One configured design and its members; it grows by versions that are appended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from hearteval.domain.display import Display, read_display
from hearteval.domain.ids import fill_id, require
from hearteval.domain.systems import SIMULATED, JsonObject

Voters = Literal["people", "judges", "both", "anchored"]
"""Whose votes a ranking is by; anchored: people's, helped by judges' where these know their mind.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One version of a study: items, systems, raters and plan, with a seed and content hashes."""

    name: str
    seed: int
    """Root of all its randomness."""
    version: int = 1
    """1, 2, … as the study grows."""
    item_ids: tuple[str, ...]
    """Sorted, as are those of systems and raters."""
    items_hash: str
    """SHA-256 over the whole items, not their ids only."""
    system_ids: tuple[str, ...]
    """Ranked systems and the stress systems."""
    rater_ids: tuple[str, ...]
    design: JsonObject
    """How pairs are chosen, as JSON."""
    protocols: Mapping[str, str] = field(default_factory=dict)
    """By kind of rater."""
    protocol_version: str
    settings_hash: str
    """SHA-256 over the study file's settings."""
    software_version: str
    created_at: datetime
    id: str = ""
    """From name and seed only, so that it survives growth."""

    def __post_init__(self) -> None:
        where = f"study {self.name!r}"
        require(bool(self.name.strip()), "study", "name is empty")
        require(self.version >= 1, where, f"version is {self.version}")
        members = {"items": self.item_ids, "systems": self.system_ids, "raters": self.rater_ids}
        for kind, ids in members.items():
            require(len(set(ids)) == len(ids), where, f"{kind} are listed twice")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(self, "study", "name", "seed")

    @property
    def is_simulated(self) -> bool:
        """Whether all of it was drawn by `heart simulate`: it is never mixed with what is real."""
        return self.design.get(SIMULATED) is True

    @property
    def pool(self) -> frozenset[str]:
        """Ids of the systems of the released board that it continues: they are asked no more."""
        return frozenset(self.design.get("pool", {}).get("system_ids", ()))

    @property
    def pool_version(self) -> int:
        """The version of the study that was released as that board; 0 where there is none."""
        return int(self.design.get("pool", {}).get("version", 0))

    @property
    def display(self) -> Display:
        """In which form raters see replies."""
        return read_display(self.design.get("display"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguityRule:
    """When a comparison is ambiguous: both must hold."""

    consensus: float = 0.8
    """Fewer than this share of people's votes stand on one side; four of five by default."""
    split_axes: int = 1
    """At least so many axes have another winner among the judges, or none, than most axes have."""


DEFAULT_RULE: Final = AmbiguityRule()
