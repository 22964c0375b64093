"""What a caller says of a table -> checked columns, labels and numbers.

A wrong kind of argument is a `TypeError` and a value that can never be a `ValueError`; columns that
are not there, or that serve twice, are a `SettingsError`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from hearteval.errors import Remedy, SettingsError
from hearteval.exchange.options import Label, arguments_of
from hearteval.exchange.tables.columns import cell_kind, cell_text, find_near, list_names

KNOWN_COLUMNS = {"left": ("model_a", "left"), "right": ("model_b", "right"), "winner": ("winner",)}
"""Columns of arena-style files, by role."""

MEANT_WORDS = {
    "left": ("left", "a", "first", "1", "model1", "modela", "systema", "system1", "gen1"),
    "right": ("right", "b", "second", "2", "model2", "modelb", "systemb", "system2", "gen2"),
    "winner": (
        *("winner", "won", "verdict", "preference", "preferred", "choice", "chosen", "vote"),
        *("outcome", "result", "label"),
    ),
}
"""Words in the name of a column that may have a role, the likeliest first."""

ITEM_COLUMNS = (
    *("questionid", "promptid", "itemid", "dialogueid", "instructionid", "conversationid", "uid"),
    *("question", "prompt", "item", "dialogue", "instruction", "conversation"),
)
"""Names of columns that tell prompts apart, without what is no letter, the likeliest first."""

F = TypeVar("F", bound=Callable[..., Any])


def takes(record: type) -> Callable[[F], F]:
    """Give a function, in its `**options`, all that a record describes: defaults, words, numbers.

    Where its docstring names arguments, those of the record follow them.
    """
    arguments = arguments_of(record)
    more = []
    for name, (hint, options) in arguments.items():
        default = False if hint is bool else options[0].default
        needed = Parameter.empty if default is ... else default
        more.append(Parameter(name, Parameter.KEYWORD_ONLY, default=needed, annotation=hint))
    lines = "".join(
        f"        {name}: {' '.join(option.words for option in options)}\n"
        for name, (_, options) in arguments.items()
    )

    def decorate(function: F) -> F:
        *own, _ = signature(function).parameters.values()
        whole = signature(function).replace(parameters=[*own, *more])

        @wraps(function)
        def told(*given: Any, **options: Any) -> Any:
            bound = whole.bind(*given, **options)
            bound.apply_defaults()
            for name, (hint, _) in arguments.items():
                value = bound.arguments[name]
                if hint is int:
                    bound.arguments[name] = read_integer(name, value)
                elif value is not None and hint in (float, float | None):
                    bound.arguments[name] = read_number(name, value)
            return function(*bound.args, **bound.kwargs)

        told.__signature__ = whole  # type: ignore[attr-defined]
        head, raises, errors = (function.__doc__ or "").partition("\n    Raises:")
        told.__doc__ = f"{head}{lines if 'Args:' in head else ''}{raises}{errors}"
        return cast("F", told)

    return decorate


def read_labels(argument: str, labels: Label | Sequence[Label]) -> tuple[str, ...]:
    """Write one label or several as the texts that cells of a column become."""
    many = labels if isinstance(labels, Sequence) and not isinstance(labels, str) else [labels]
    if not all(cell_kind(label) for label in many):
        raise TypeError(f"{argument} must be a value of the winner column or several, not {labels}")
    return tuple(str(cell_text(label)) for label in many)


def read_names(argument: str, names: Any) -> tuple[str, ...]:
    """Return the names of one column or several; none for None."""
    many = () if names is None else names
    many = [many] if isinstance(many, str) else many
    if not isinstance(many, Sequence) or not all(isinstance(name, str) for name in many):
        advice = f"; write it as {str(names)!r}" if isinstance(names, Integral) else ""
        raise TypeError(f"{argument} must be the name of a column, as text, not {names!r}{advice}")
    return tuple(many)


def check_also(also: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Return what is wanted too, each once."""
    if isinstance(also, str) or not set(also) <= set(known):
        raise ValueError(f"also must be several of {', '.join(known)}, in a list; not {also!r}")
    return tuple(dict.fromkeys(also))


def check_named(argument: str, names: Any) -> tuple[str, ...]:
    """Return the names of one column or several, at least one."""
    read = read_names(argument, names)
    if not read:
        check_columns_named({argument: None})
    return read


def read_integer(argument: str, value: Any) -> int:
    """Return an integer of any library as Python's, which JSON can write."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{argument} must be an integer, not {value!r}")
    return int(value)


def read_number(argument: str, value: Any) -> float:
    """Return a number of any library as Python's, which JSON can write."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{argument} must be a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{argument} is too large a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{argument} must be finite, not {value}")
    return number


def check_level(level: Any) -> float:
    """Return a nominal coverage, between 0 and 1."""
    number = read_number("level", level)
    if not 0 < number < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    return number


def check_columns_named(columns: Mapping[str, Any], *, optional: Sequence[str] = ()) -> None:
    """Raise `TypeError` when an argument that names a column is no text."""
    for argument, name in columns.items():
        if isinstance(name, str) or (name is None and argument in optional):
            continue
        advice = f"; write it as {str(name)!r}" if isinstance(name, Integral) else ""
        raise TypeError(f"{argument} must be the name of a column, as text, not {name!r}{advice}")


def check_roles(columns: Mapping[str, str | None]) -> None:
    """Raise `SettingsError` when one column is named for two roles."""
    role_of: dict[str, str] = {}
    for role, name in columns.items():
        if name is not None and role_of.setdefault(name, role) != role:
            raise SettingsError(
                f"the column {name!r} is named both as {role_of[name]} and as {role}; name another "
                "for one of them",
                ids=[role_of[name], role],
            )


def check_controls(controls: Any, *, position: bool) -> dict[str, tuple[str, str]]:
    """Return the two columns of each control, for the left and for the right answer.

    Raises:
        TypeError: They are no mapping of names to two columns.
        SettingsError: There is nothing to control for, or one is named like the control for
            position, or has one column for both sides.
    """
    expected = (
        "controls must map a name to two columns, for the left and for the right answer, as in"
        " {'length': ('words_a', 'words_b')}, not"
    )
    if not isinstance(controls, Mapping):
        raise TypeError(f"{expected} {controls!r}")
    if not controls and not position:
        raise SettingsError("there is nothing to control for: name controls, or keep position")
    for name, pair in controls.items():
        columns = [name, *pair] if isinstance(pair, list | tuple) else []
        if len(columns) != 3 or not all(isinstance(column, str) for column in columns):
            raise TypeError(f"{expected} {dict(controls)!r}")
        if name == "position":
            raise SettingsError(
                "a control cannot be called 'position', as that of being on the left is; rename it"
            )
        if pair[0] == pair[1]:
            raise SettingsError(f"the control {name!r} names {pair[0]!r} for both sides")
    return {name: (pair[0], pair[1]) for name, pair in controls.items()}


def find_items(there_are: Sequence[str]) -> str | None:
    """Return the column that tells prompts apart by its name; None for none."""
    by_letters = {re.sub("[^a-z]", "", name.casefold()): name for name in reversed(there_are)}
    return next((by_letters[name] for name in ITEM_COLUMNS if name in by_letters), None)


def _find_meant(role: str, there_are: Sequence[str]) -> str | None:
    """Return the column that may have a role by its name: a word of it, or one much like it."""
    for word in MEANT_WORDS[role]:
        for column in there_are:
            if word in re.findall(r"[a-z0-9]+", column.casefold()):
                return column
    return find_near(KNOWN_COLUMNS[role][-1], there_are)


def find_columns(there_are: Sequence[str], named: Mapping[str, str | None]) -> dict[str, str]:
    """Fill in the columns of arena-style files where none were named.

    Raises:
        SettingsError: A column was not named, and there is none of a known name.
    """
    known = {
        role: next((column for column in KNOWN_COLUMNS[role] if column in there_are), None)
        for role in named
    }
    found = {role: known[role] if name is None else name for role, name in named.items()}
    absent = [role for role, name in found.items() if name is None]
    if absent:
        there = [name for name in there_are if name not in found.values()]
        near = {role: _find_meant(role, there) for role in absent}
        meant = {role: column for role, column in near.items() if column is not None}
        is_whole = len(set(meant.values())) == len(absent)
        raise SettingsError(
            f"name the columns of the votes: {', '.join(f'--{role}' for role in absent)};"
            f" there are {list_names(there_are)}" + ("; did you mean:" if is_whole else ""),
            ids=absent,
            remedies=[Remedy(", ".join(f"{r} is {c!r}" for r, c in meant.items()), meant)]
            if is_whole
            else [],
        )
    return {role: name for role, name in found.items() if name is not None}
