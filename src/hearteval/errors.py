"""Every error a caller of hearteval may catch, as one small tree.

HeartError
├── EngineError          the cluster that work is spread over is not reached, or is lost
├── InvalidRecordError   a record breaks one of its own rules
├── InvalidVotesError    a row of a vote or rating file cannot be read as what it must be
├── InvalidReplyError    a model's reply is not what was asked for
├── ModelCallError       a model gave no reply
│   └── BudgetError      a call would cost more than the study allows
├── NotIdentifiedError   the comparisons do not determine the strengths
├── StoppedError         a run was told to stop, by Ctrl-C or another signal
├── StoreError           stored data contradict what is being added, or cannot be reached
└── SettingsError        a study file, an item file or a corpus is not usable as it stands

A caller's plain programming mistake is a ``ValueError`` or ``TypeError`` instead.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MAX_FAULTS_SHOWN = 20
"""Faults of one file that a message lists."""
MAX_PLACES_SHOWN = 3
"""Places of one fault likewise."""


class Remedy(NamedTuple):
    """One way out of an error: what it stands for, and the arguments that say so.

    A value is text, several texts, or true; the command line writes the same as options.
    """

    words: str
    arguments: Mapping[str, Any]


class HeartError(Exception):
    """Base of all errors that hearteval raises on purpose.

    Attributes:
        headline: What is wrong.
        ids: The ids (records, systems, files) that the message is about, for machines.
        remedies: Ways out, to choose one of.
        ways: The same as lines that the message ends with: arguments of a function.
    """

    def __init__(
        self, message: str, *, ids: Sequence[str] = (), remedies: Sequence[Remedy] = ()
    ) -> None:
        super().__init__(message)
        self.headline = message
        self.ids = tuple(ids)
        self.offer(remedies)

    def offer(self, remedies: Sequence[Remedy]) -> None:
        """Name the ways out, in place of those named before."""
        self.remedies = tuple(remedies)
        self.ways = tuple(map(_in_python, remedies))

    def __str__(self) -> str:
        return "\n".join((self.headline, *self.ways))

    @property
    def kind(self) -> str:
        """Name of the error in ``heart.error/1``, e.g. ``"settings"``."""
        name = type(self).__name__.removesuffix("Error")
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _in_python(remedy: Remedy) -> str:
    said = ", ".join(f"{name}={_one_or_all(value)!r}" for name, value in remedy.arguments.items())
    return f"  {remedy.words}: {said}"


def _one_or_all(value: object) -> object:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


class EngineError(HeartError):
    """The cluster that work is spread over is not reached, or is lost."""


class InvalidRecordError(HeartError):
    """A record breaks one of its own rules."""


class InvalidVotesError(HeartError):
    """A row of a file or dataframe of votes or ratings cannot be read as what it must be."""


class InvalidReplyError(HeartError):
    """A model's reply is not what was asked for; it is missing, never repaired by guessing.

    Attributes:
        reason: A short fixed word, counted in reports, e.g. ``wrong-axes``.
    """

    def __init__(self, message: str, *, reason: str, ids: Sequence[str] = ()) -> None:
        super().__init__(message, ids=ids)
        self.reason = reason


class ModelCallError(HeartError):
    """A model gave no reply.

    Attributes:
        reason: A short fixed word, counted in reports, e.g. ``rate-limited`` or ``timeout``.
        n_attempts: Calls that were made.
    """

    def __init__(
        self, message: str, *, reason: str, n_attempts: int = 1, ids: Sequence[str] = ()
    ) -> None:
        super().__init__(message, ids=ids)
        self.reason = reason
        self.n_attempts = n_attempts


class BudgetError(ModelCallError):
    """A call would cost more than the study allows; nothing was called."""


class NotIdentifiedError(HeartError):
    """The comparisons do not determine the strengths.

    Attributes:
        components: Groups of systems within which strengths are determined, as indices
            (raised by ``stats``) or names (raised by ``analysis``).
    """

    def __init__(
        self,
        message: str,
        *,
        components: Sequence[Sequence[int]] | Sequence[Sequence[str]] = (),
        ids: Sequence[str] = (),
    ) -> None:
        super().__init__(message, ids=ids)
        self.components = tuple(tuple(group) for group in components)


class StoppedError(HeartError):
    """A run was told to stop, by Ctrl-C or another signal; what came until then is kept."""

    @property
    def kind(self) -> str:
        """Name of the error in ``heart.error/1``: that of every stop."""
        return "interrupted"


class StoreError(HeartError):
    """Stored data contradict what is being added, or the store cannot be used."""


class SettingsError(HeartError):
    """A study file, an item file or a corpus cannot be used as it stands.

    Attributes:
        faults: Every fault of the file where it has several, of which the message lists the first;
            else empty.
    """

    def __init__(
        self,
        message: str,
        *,
        ids: Sequence[str] = (),
        remedies: Sequence[Remedy] = (),
        faults: Sequence[str] = (),
    ) -> None:
        super().__init__(message, ids=ids, remedies=remedies)
        self.faults = tuple(faults)


def not_written(path: object, error: OSError) -> StoreError:
    """Return the error of a file or folder that the system does not let be written."""
    why = error.strerror or error
    advice = "check the folder, its permissions and the free space"
    return StoreError(f"{path}: cannot be written ({why}); {advice}")


def first_few(words: Sequence[str], n: int) -> str:
    """List the first words in a message, and say how many more there are."""
    more = f" and {len(words) - n:,} more" if len(words) > n else ""
    return ", ".join(words[:n]) + more


def raise_faults(file: str, faults: Sequence[SettingsError]) -> None:
    """Raise the fault of a file, or one error that lists all of them; return where it has none.

    Args:
        file: Its name, with which each message begins: said once above a list.
        faults: In the order of the file.

    Raises:
        SettingsError: There is a fault.
    """
    if not faults:
        return
    if len(faults) == 1:
        raise faults[0]
    words = [str(fault).removeprefix(file).lstrip(":, ") for fault in faults]
    groups: dict[str, list[str]] = {}
    for each in words:
        where, is_placed, what = each.partition(": ")
        groups.setdefault(what if is_placed else each, []).append(where if is_placed else "")
    shown = [_place_together(*group) for group in groups.items()]
    counted = f"{len(shown)} fault{'s' * (len(shown) != 1)}"
    lines = [f"{file}: {counted}", *(f"  {each}" for each in shown[:MAX_FAULTS_SHOWN])]
    if len(shown) > MAX_FAULTS_SHOWN:
        lines.append(f"  and {len(shown) - MAX_FAULTS_SHOWN} more")
    ids = dict.fromkeys(id_ for fault in faults for id_ in fault.ids)
    raise SettingsError("\n".join(lines), ids=tuple(ids), faults=words)


def _place_together(words: str, places: Sequence[str]) -> str:
    """Say a fault once with its first places; those of one file share its word for them."""
    if len(places) == 1:
        return f"{places[0]}: {words}" if places[0] else words
    noun = places[0].rpartition(" ")[0]
    one_noun = all(place.rpartition(" ")[0] == noun for place in places)
    if one_noun and noun.isalpha():
        plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        places = [
            f"{plural} {places[0].rpartition(' ')[2]}",
            *(p.rpartition(" ")[2] for p in places[1:]),
        ]
    where = first_few(places, MAX_PLACES_SHOWN)
    return f"{where}: {words}" if places[0] else f"{words} ({len(places):,} times)"
