"""One configured design and its members; it grows by versions that are appended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from heartbench.domain.ids import record_id
from heartbench.domain.rules import fill_id, require
from heartbench.domain.systems import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One version of a study: items, systems, raters and plan, with a seed and content hashes.

    Attributes:
        name: The study's name.
        seed: Root of all its randomness.
        version: 1, 2, … as the study grows.
        item_ids: Items, sorted.
        items_hash: SHA-256 over the whole items, not their ids only.
        system_ids: Ranked systems and the stress systems, sorted.
        rater_ids: Raters, sorted.
        design: How pairs are chosen, as JSON.
        protocols: Protocol by kind of rater.
        protocol_version: Version of the protocol texts.
        settings_hash: SHA-256 over the study file's settings.
        software_version: Version of heartbench.
        created_at: UTC.
        id: From name and seed only, so that it survives growth; left empty, it is computed.
    """

    name: str
    seed: int
    version: int = 1
    item_ids: tuple[str, ...]
    items_hash: str
    system_ids: tuple[str, ...]
    rater_ids: tuple[str, ...]
    design: JsonObject
    protocols: Mapping[str, str] = field(default_factory=dict)
    protocol_version: str
    settings_hash: str
    software_version: str
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        where = f"study {self.name!r}"
        require(bool(self.name.strip()), "study", "name is empty")
        require(self.version >= 1, where, f"version is {self.version}")
        for kind, ids in (
            ("items", self.item_ids),
            ("systems", self.system_ids),
            ("raters", self.rater_ids),
        ):
            require(len(set(ids)) == len(ids), where, f"{kind} are listed twice")
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        fill_id(self, lambda: record_id("study", {"name": self.name, "seed": self.seed}))
