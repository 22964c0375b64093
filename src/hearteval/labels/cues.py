"""`cues`: the offline labeler, which looks for hand-set words. A baseline that measures nothing.

It exists so that everything runs without a key. Every output says what it is, and its figures are
never the paper's: words do not tell what a sentence does. A category whose cue is no word has no
pattern, and gets no label from it.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from hearteval.domain import Label, Rater, content_hash, plain_text
from hearteval.labels.reply import Said, labels_of
from hearteval.labels.taxonomy import Taxonomy, TaxonomyName, load_taxonomy
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol

CUES = "cues"
"""What a study file calls it."""
FAMILY = "cue"
CUES_NOTICE = (
    "`cues` is an offline baseline: it looks for hand-set words and measures nothing about what a"
    " text says or does."
)
"""What every output says where it labelled."""


@cache
def cues_rater(taxonomy: Taxonomy) -> Rater:
    """Return it as a rater; other words are another rater."""
    own = content_hash(load_protocol("label_cues").get(taxonomy.name, {}))
    settings = {**taxonomy.settings, "cues_hash": own}
    return Rater(name=CUES, kind="llm", family=FAMILY, settings=settings)


def has_cues(taxonomy: Taxonomy) -> bool:
    """Say whether there are words to look for by a taxonomy."""
    return bool(_patterns(taxonomy.name))


def cued_labels(text: LabelledText, taxonomy: Taxonomy, *, now: datetime) -> tuple[Label, ...]:
    """Label a text by the words it holds; the evidence is the first of them."""
    lowered = plain_text(text.quotable).lower()
    found = {key: pattern.search(lowered) for key, pattern in _patterns(taxonomy.name).items()}
    said = {
        key: Said("present" if hit else "absent", None, hit.group() if hit else "")
        for key, hit in found.items()
    }
    return labels_of(text, taxonomy, said, rater_id=cues_rater(taxonomy).id, now=now)


@cache
def _patterns(name: TaxonomyName) -> Mapping[str, re.Pattern[str]]:
    lists = load_protocol("label_cues").get(name, {})
    return {
        key: re.compile(rf"\b(?:{lists[key].strip().replace(chr(10), '|')})\b")
        for key in load_taxonomy(name).keys
        if key in lists
    }
