"""What `rank` and `agree` can be told beside a table, each thing once.

Of these records the command line makes its options and Python the arguments of a function, with
their defaults and words, and the same check of numbers. They import nothing heavy.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Required, TypedDict, get_args, get_origin

Label = str | float | bool
"""A value of the winner column."""
Labels = Label | Sequence[Label]
Column = str | None
Columns = str | Sequence[str] | None
"""A column, or several that name something together."""
Tables = Mapping[str, Any]
"""Files, or whatever else holds rows, by a name of each."""
AlsoShown = Literal["differences", "groups"]
AlsoMeasured = Literal["by_pair", "by_rater", "by_category", "pooled"]


class Option(NamedTuple):
    """What a command line and a reference say of an argument beside its type."""

    words: str
    metavar: str | None = None
    default: Any = None
    """`...` where it must be given; of a flag False."""
    within: tuple[Any, Any] = (None, None)
    is_above: bool = False
    """Whether the lower end is not within."""
    spelled: tuple[str, ...] = ()
    """On the command line, where not as the argument."""
    n_words: int = 1
    """Words that a command line takes at once."""


def arguments_of(record: type) -> dict[str, tuple[Any, Sequence[Option]]]:
    """Return the type and the option of each argument, in the order of a record.

    One with an option for each of its choices lists some of them.
    """
    described = {name: get_args(kept) for name, kept in record.__annotations__.items()}
    return {name: (hint, options) for name, (hint, *options) in described.items()}


def choices_of(hint: Any) -> tuple[str, ...]:
    """Return what an argument may be, or list, by its type."""
    kinds = (hint, *get_args(hint))
    return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


RESAMPLES = Option("Bootstrap replicates.", None, 1000, (100, 1_000_000))
SEED = Option("Seed of the bootstrap.", None, 0, (0, None))
LEVEL = Option("Nominal coverage of the intervals.", None, 0.95, (0, 0.999999), is_above=True)


class VoteOptions(TypedDict, total=False):
    """Which columns of a table say who won, and in which words."""

    left: Annotated[Column, Option("Column of one system [model_a or left].", "COL")]
    right: Annotated[Column, Option("Column of the other system [model_b or right].", "COL")]
    winner: Annotated[Column, Option("Column that says who won [winner].", "COL")]
    left_name: Annotated[Labels, Option("Winner value that means left.", "V", ())]
    right_name: Annotated[Labels, Option("Winner value that means right.", "V", ())]
    tie_name: Annotated[Labels, Option("Winner value that means a tie.", "V", ())]
    own_name: Annotated[bool, Option("The winner column holds the winner's own name.")]


class RankOptions(VoteOptions, total=False):
    """What `rank` takes beside the votes and what parts them."""

    baseline: Annotated[Column, Option("Whom Arena-Hard's games compare models with.", "NAME")]
    strength: Annotated[Column, Option("Column of strengths; adds Elo weighted by them.", "COL")]
    cluster: Annotated[Columns, Option("Column of the item (prompt, dialogue) voted on.", "COL")]
    rater: Annotated[Column, Option("Column of the person who voted; not for judges.", "COL")]
    ties: Annotated[
        Literal["half", "davidson", "drop"],
        Option("Half a win to each side, a parameter of their own, or left out.", None, "half"),
    ]
    prior: Annotated[
        float,
        Option("Half-won comparisons added to every pair of systems.", "WEIGHT", 0.0, (0, 10**6)),
    ]
    interval: Annotated[
        Literal["two-way", "item-sandwich", "item-bootstrap", "published"] | None,
        Option("Default: two-way with a cluster and five raters, else item-sandwich."),
    ]
    anchor: Annotated[str | None, Option("Hold a system at 1500; contrasts with it.", "SYSTEM")]
    also: Annotated[
        Sequence[AlsoShown],
        Option("Every two systems: difference, interval, q.", None, ()),
        Option("With which others each system is tied."),
    ]
    controls: Annotated[
        Mapping[str, tuple[str, str]],
        Option(
            "Also rank with a length or count held equal: its columns for both sides.",
            *("NAME LEFT RIGHT", {}),
            spelled=("--control",),
            n_words=3,
        ),
    ]
    position: Annotated[bool, Option("Also rank with being on the left held equal.")]
    judge: Annotated[
        Column,
        Option("Who judged: also rank by judges who differ, or part --judged-by.", "COL"),
    ]
    judged_by: Annotated[
        Tables,
        Option("Also anchor people's votes by a judge's, in a file alike.", "FILE", {}),
    ]
    human: Annotated[
        Sequence[str], Option("With --judged-by: a system that is people.", "SYSTEM", ())
    ]
    assume_random: Annotated[
        bool, Option("With --judged-by: what people compared was drawn at random.")
    ]
    resamples: Annotated[int, RESAMPLES]
    seed: Annotated[int, SEED]
    level: Annotated[float, LEVEL._replace(spelled=("--level", "--confidence"))]


class AgreeOptions(TypedDict, total=False):
    """What `agree` takes beside the ratings and what parts them."""

    unit: Annotated[Columns, Option("Column of what is rated.", "COL")]
    rater: Annotated[Columns, Option("Column of who rates; if wide, one of each.", "COL")]
    value: Annotated[Column, Option("Column of the rating.", "COL")]
    wide: Annotated[bool, Option("There is one column for each rater, or each item.")]
    reverse: Annotated[
        Sequence[str], Option("Rater or item to turn from --min to --max.", "RATER", ())
    ]
    level: Annotated[
        Required[Literal["nominal", "ordinal", "interval", "ratio"]],
        Option("Level of measurement.", default=...),
    ]
    minimum: Annotated[
        float | None, Option("Lowest value; lower ones are left out.", spelled=("--min",))
    ]
    maximum: Annotated[
        float | None, Option("Highest value; higher ones are left out.", spelled=("--max",))
    ]
    interval: Annotated[
        Literal["fisher-z", "percentile"],
        Option("How intervals are made from the bootstrap over units.", None, "fisher-z"),
    ]
    confidence: Annotated[float, LEVEL]
    also: Annotated[
        Sequence[AlsoMeasured],
        Option("Every two raters too.", None, ()),
        Option("Each rater beside the others too."),
        Option("Each value against all others too."),
        Option("With --by, all groups together too."),
    ]
    resamples: Annotated[int, RESAMPLES]
    seed: Annotated[int, SEED]
