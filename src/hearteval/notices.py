"""Sentences that stand beside numbers and say what limits them, the most serious first.

Whatever warns makes a `Notice`. It is text, so JSON and tables hold it as it is; its kind says how
serious it is, what to do about it, and where `docs/reference/warnings.md` says more.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """What a notice is about, the most serious first; the value names its section of the docs."""

    SIMULATED = "simulated"
    BY_CHANCE = "by-chance"
    """Of people who agree with each other no more than chance would."""
    TOO_FAST = "too-fast"
    """Of judgments by people that came faster than replies can be read."""
    LEFT_OUT = "left-out"
    """Of people who are left out of every number: many, or such that the order is another."""
    BASELINE_JUDGE = "baseline-judge"
    SAME_MODEL = "same-model"
    """Of a judge that judges itself under another name."""
    NO_RESULT = "no-result"
    JUDGE_FAULT = "judge-fault"
    DRIFTED = "drifted"
    """Of a judge that judges otherwise than when the board that is continued was made."""
    MISFIT = "misfit"
    LEADER_LOSES = "leader-loses"
    KINDS_DIFFER = "people-differ"
    DROPPED = "dropped"
    OWN_FAMILY = "own-family"
    JUDGE_ORDER = "judge-order"
    MISSING = "missing"
    BY_DESIGN = "by-design"
    """Of replies that cannot be there, such as the recorded one of an item that was rewritten."""
    PRIOR = "prior"
    NOT_RANKED = "not-ranked"
    NO_INTERVAL = "no-interval"
    FEW_ITEMS = "few-items"
    UNEVEN_ITEMS = "uneven-items"
    FEW_RATERS = "few-raters"
    UNEVEN_RATERS = "uneven-raters"
    FEW_WRITERS = "few-writers"
    FEW_CASES = "few-cases"
    """Agreement that rests on few disagreements, or on a rare category."""
    AXIS = "axis"
    NAMES_ITSELF = "names-itself"
    """Of replies that give away whose they are."""
    SAME_JUDGE = "same-judge"
    OTHER_MODEL = "other-model"
    MODEL_ENDS = "model-ends"
    LOOK_ALIKES = "look-alikes"
    NOT_AUDITED = "not-audited"
    NOT_ASKED_AGAIN = "not-asked-again"
    """Of a judge of a continued board, about pairs that it has judged."""
    GIVEN_RATERS = "given-raters"
    OTHER_INTERVAL = "other-interval"
    TWO_KINDS = "people-and-judges"
    READING = "reading"
    """Of how a file was read."""
    UNUSED = "unused"

    @property
    def order(self) -> int:
        """Return the place among all kinds: 0 is the most serious."""
        return list(Kind).index(self)

    @property
    def is_serious(self) -> bool:
        """Return whether a reader who misses it may believe what is not so."""
        return self.order <= Kind.MISSING.order


ADVICE: Mapping[Kind, str] = {
    Kind.SIMULATED: (
        "Compare what you read with `truth.json`. For results, start a study of your own"
        " (`heart init my-study`)."
    ),
    Kind.BY_CHANCE: (
        'Look at the times (report, "Coverage") and at single people (`each-person.csv`).'
        " Nobody is left out by it: take no share and no rank by these people for a"
        " finding."
    ),
    Kind.TOO_FAST: (
        "Look at each person's times, and do not report figures that rest on these people"
        " without them. Pay for time, and say that reading is needed."
    ),
    Kind.LEFT_OUT: (
        'Read both rankings (report, "How carefully people answered") and report both. Say by'
        " which rules people were left out, and that these were fixed before."
    ),
    Kind.BASELINE_JUDGE: (
        'Name a model as judge in the study file (`judges = ["gpt", "claude"]`) and run again.'
    ),
    Kind.SAME_MODEL: (
        "Serve another model to the judge. Or give both the same `family` and judge"
        " again: what they have in common is then left to other judges. `heart doctor"
        " STUDY.toml --probe` finds it before anything is asked. If the two are different"
        " models that bear one name, name them apart where they are served (llama.cpp:"
        " `--alias`; vLLM: `--served-model-name`)."
    ),
    Kind.NO_RESULT: (
        "Read the cause beside it, mend it (key, address, model name), and run the same"
        " command again: only what is missing is asked."
    ),
    Kind.MISFIT: ("Read the head-to-head table instead of the ranks for the pairs named."),
    Kind.LEADER_LOSES: ("Read that pair in the head-to-head table before you name a winner."),
    Kind.KINDS_DIFFER: (
        'Read the two rankings apart (report, "People and judges"), and say whose a result is.'
    ),
    Kind.DROPPED: "Look at the counts by reason, mend the file or name other columns.",
    Kind.JUDGE_FAULT: (
        "Name another judge. Where there are several, compare the ranking with and without it"
        ' (report, "Judges").'
    ),
    Kind.DRIFTED: (
        "Compare new rows with each other only, or have people judge some pairs of both and anchor"
        " the board (`docs/how-to/join-a-board.md`)."
    ),
    Kind.NOT_ASKED_AGAIN: "`heart judges drift STUDY.toml` asks about a few of them.",
    Kind.OWN_FAMILY: ("Add judges of other families and leave `judging.exclude_own_family` on."),
    Kind.JUDGE_ORDER: (
        "Keep both orders on. Add judges, and give little weight to small differences."
    ),
    Kind.MISSING: "Run the command again; what fails for a lasting reason is said to.",
    Kind.BY_DESIGN: (
        "Nothing. Compare systems on regular items alone (`heart analyze` breaks them"
        " down by subset) where that matters."
    ),
    Kind.PRIOR: "Add votes between the groups, or compare within groups only.",
    Kind.NOT_RANKED: "Judge more pairs of it.",
    Kind.NO_INTERVAL: "Add items or raters.",
    Kind.FEW_ITEMS: "Add items; name the column of items.",
    Kind.UNEVEN_ITEMS: "Spread judgments evenly over items.",
    Kind.FEW_RATERS: "Have at least five people judge each system.",
    Kind.UNEVEN_RATERS: "Spread judgments evenly over people.",
    Kind.FEW_WRITERS: (
        "Have at least five people write, better twelve, and spread items evenly over them."
    ),
    Kind.FEW_CASES: "Collect more units, above all of the rare category.",
    Kind.AXIS: "Read those columns as hints.",
    Kind.NAMES_ITSELF: (
        "Read those replies; where there are many, tell the system in its prompt to leave"
        " its name out. They stay in the ranking: it is what the system says."
    ),
    Kind.SAME_JUDGE: ("Take one of them out of `judging.judges`, or serve another model to it."),
    Kind.OTHER_MODEL: (
        "Read both names. If they are two models, pin the release or take another route"
        " (`provider`), under a new name in the study file."
    ),
    Kind.MODEL_ENDS: (
        "Finish the study before that day, or take a living model. What is stored stays."
    ),
    Kind.LOOK_ALIKES: "Make them one in the file, if they are.",
    Kind.NOT_AUDITED: (
        "`heart judges audit STUDY.toml`. It needs items with a reference reply: where"
        " yours have none, test the judge in a study of the starter items."
    ),
    Kind.GIVEN_RATERS: (
        "Say so when you quote them; to speak for people at large, have at least five of"
        " them judge."
    ),
    Kind.OTHER_INTERVAL: "Read which one stands in the settings.",
    Kind.TWO_KINDS: "Look at both rankings apart if they disagree.",
    Kind.READING: "Check that the decision is the right one.",
    Kind.UNUSED: "Nothing, or put the name back.",
}
"""What to do about each, in a line or two; `docs/reference/warnings.md` says it too, and why."""

SIMULATED_WORDS = (
    "Simulated: every text, person and judgment here was drawn by a computer from planted numbers;"
    " nothing here was measured."
)
"""The first line of everything that is made from simulated data."""


class Notice(str):
    """A sentence that a reader must know, and its kind."""

    __slots__ = ("kind",)
    kind: Kind

    def __new__(cls, kind: Kind, text: str) -> Self:
        """Make one of a kind and its text."""
        notice = super().__new__(cls, text)
        notice.kind = kind
        return notice

    def __getnewargs__(self) -> tuple[Kind, str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return self.kind, str(self)


def simulated_line(notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the first line of what is made from simulated data; nothing where it is real."""
    return tuple(str(one) for one in notices if one.kind is Kind.SIMULATED)[:1]


def by_severity(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return each notice once, the most serious first, else in the order given."""
    return tuple(sorted(dict.fromkeys(notices), key=lambda notice: notice.kind.order))
