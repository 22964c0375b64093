"""What texts can be labelled by: strategies and skills of completions, themes of reasons, and more.

A taxonomy is a file of the protocol, with a definition, one example that has the category and one
that does not. Labels name it, its version and its categories by their keys; a model that labels by
another version is another rater. So labels of two versions are never mixed, people's neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from hearteval.domain import Axis, Rater
from hearteval.protocol import load_protocol

Unit = Literal["completion", "reasons", "item"]
"""What a label is of: a completion, the reasons of a judgment, or an item."""
TaxonomyName = Literal["strategies", "micro-skills", "rationales", "item-screen", "safety"]
TAXONOMIES: tuple[TaxonomyName, ...] = get_args(TaxonomyName)
_FILES: Mapping[TaxonomyName, str] = {
    "strategies": "strategies",
    "micro-skills": "micro_skills",
    "rationales": "rationales",
    "item-screen": "item_screen",
    "safety": "safety_labels",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One thing that a text may do, or a scale of how much of something it holds."""

    key: str
    """What stands in replies and in stored labels."""
    name: str
    definition: str
    present: str = ""
    """An example that has it; of a scale none."""
    absent: str = ""
    """One that does not."""
    levels: tuple[str, ...] = ()
    """Of a scale, what each score means, from 1 up; empty where it is present or absent."""
    axis: Axis | None = None
    """The axis that it belongs to; None where it is of none."""
    placeholder: str = ""
    """What takes the place of its evidence, which tells who somebody is; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """A list of categories, any number of which may hold of one text."""

    name: TaxonomyName
    of: tuple[Unit, ...]
    version: str
    unversioned: str
    """The version of labels that bear none: they are older than the field."""
    title: str
    categories: tuple[Category, ...]
    n_comparisons: int | None = None
    """Of how many comparisons the reasons are labelled, at most; None for all."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the categories, in their order."""
        return tuple(category.key for category in self.categories)

    @property
    def identifying(self) -> frozenset[str]:
        """The keys of categories whose evidence tells who somebody is: it is shown to nobody."""
        return frozenset(one.key for one in self.categories if one.placeholder)

    @property
    def label_version(self) -> str | None:
        """The version as labels bear it: none where they would not have borne one before."""
        return None if self.version == self.unversioned else self.version

    @property
    def stamp(self) -> dict[str, Any]:
        """What every label by it says of it."""
        return {"taxonomy": self.name, "taxonomy_version": self.label_version}

    @property
    def settings(self) -> dict[str, Any]:
        """What of it stands in the settings of a rater that labels by it."""
        return {"labels": self.name, "taxonomy_version": self.version}

    def words(self, of: Unit) -> Mapping[str, str]:
        """Return what a labeler is told of such a text, the taxonomy's own words first."""
        own: Mapping[str, str] = load_protocol(_FILES[self.name]).get(of, {})
        return {**load_protocol("label_prompt")[of], **own}

    def is_of(self, rater: Rater) -> bool:
        """Say whether a rater that is no person labels by this taxonomy, in this version."""
        return self.settings.items() <= dict(rater.settings).items()


@cache
def load_taxonomy(name: TaxonomyName) -> Taxonomy:
    """Return a taxonomy as it ships."""
    data = load_protocol(_FILES[name])
    return Taxonomy(
        name=name,
        version=data["version"],
        unversioned=data["unversioned"],
        of=tuple(data["of"]),
        title=data["title"],
        categories=tuple(
            Category(**{**category, "levels": tuple(category.get("levels", ()))})
            for category in data["category"]
        ),
    )


def taxonomies_of_replies() -> list[Taxonomy]:
    """Return those of what replies do; what screens say is none of them: it releases texts."""
    return [one for one in map(load_taxonomy, TAXONOMIES) if one.of == ("completion",)]
