"""Every point of a dialogue where a supporter answers a seeker, and the item it would make.

Whether the item is worth having is for ``screening`` and ``selection`` to say.
"""

from dataclasses import dataclass
from itertools import pairwise

from heartbench.domain import Item, Turn
from heartbench.items.esconv import Dialogue

LICENCE = "CC BY-NC 4.0"
CONSENT_BASIS = (
    "Written by crowd workers who were paid to contribute to ESConv (Liu et al. 2021), released by "
    "its authors for academic research only."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Couplet:
    """A seeker turn and the supporter turn that follows it.

    Attributes:
        dialogue: The dialogue both are part of.
        turn_index: Position of the seeker turn in it, from 0.
    """

    dialogue: Dialogue
    turn_index: int

    @property
    def context(self) -> tuple[Turn, ...]:
        """Everything said up to and with the seeker turn."""
        return self.dialogue.turns[: self.turn_index + 1]

    @property
    def seeker_turn(self) -> str:
        """What the seeker says here."""
        return self.dialogue.turns[self.turn_index].text

    @property
    def reply(self) -> str:
        """What the corpus's supporter answered."""
        return self.dialogue.turns[self.turn_index + 1].text


def enumerate_couplets(dialogue: Dialogue) -> tuple[Couplet, ...]:
    """Find every seeker turn that a supporter turn follows, in order."""
    roles = [turn.role for turn in dialogue.turns]
    return tuple(
        Couplet(dialogue=dialogue, turn_index=index)
        for index, pair in enumerate(pairwise(roles))
        if pair == ("seeker", "supporter")
    )


def couplet_item(couplet: Couplet) -> Item:
    """Make the item whose reference is the corpus's own next supporter turn."""
    dialogue = couplet.dialogue
    return Item(
        source=dialogue.corpus,
        dialogue_id=dialogue.dialogue_id,
        turn_index=couplet.turn_index,
        situation=dialogue.situation,
        context=couplet.context,
        subset="regular",
        emotion=dialogue.emotion,
        problem=dialogue.problem,
        language="en",
        licence=LICENCE,
        consent_basis=CONSENT_BASIS,
        reference=couplet.reply,
    )
