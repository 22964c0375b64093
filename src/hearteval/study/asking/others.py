"""What else goes on on a store: other runs that are on it now, and what killed ones have left.

A killed run leaves questions that it had claimed, which are free again, and money: its calls under
way were perhaps billed, so that their ceilings stay booked until somebody says what they cost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hearteval.domain import InFlight, record_id
from hearteval.errors import SettingsError
from hearteval.models.prices import money
from hearteval.report.text import listed, plural
from hearteval.store.base import Store
from hearteval.store.records import Found, StoredReply
from hearteval.store.sharing.panel import Panel, name_owner
from hearteval.study import quoted
from hearteval.study.session import Now, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What killed runs had under way, and what it came to."""

    replaced: InFlight | None
    """None where nothing was left, and nothing is booked."""
    spent_usd: float
    """Of all runs on the store, in US dollars."""


def look_around(store: Store) -> Found:
    """Return what other runs do on a store now, or have left there; nothing is changed."""
    return Panel(store).look_around()


def tell_what_was_found(session: Session) -> bool:
    """Say in a line what other runs do here or have left here; return whether there is anything."""
    found = look_around(session.store)
    words = [others_words(found)] if found.others else []
    if found.n_claims:
        n = plural(found.n_claims, "question")
        words.append(f"{n} that a killed run had claimed are free again")
    if found.in_flight is not None and found.in_flight.usd:
        words.append(in_flight_words(found.in_flight, session.settings.file))
    if words:
        session.tell.warn(f"found here: {'; '.join(words)}")
    return bool(words)


def free_what_is_left(store: Store) -> None:
    """Free the questions that killed runs had claimed: who asks does, and nobody may have to."""
    panel = Panel(store)
    if panel.look_around().n_claims:
        panel.leave()


def tell_of_others_once(session: Session, panel: Panel) -> Callable[[], None]:
    """Return what says that others work on the store, when it is first called."""
    is_told = False

    def tell() -> None:
        nonlocal is_told
        if not is_told:
            found = panel.look_around()
            is_told = bool(found.others)
            if is_told:
                session.tell.warn(others_words(found))

    return tell


def others_words(found: Found) -> str:
    """Say who else works on a store."""
    who = listed(sorted(map(name_owner, found.others)))
    verb = "works" if len(found.others) == 1 else "work"
    return f"{who} {verb} on this store too: each question is asked once, the budget is one"


def in_flight_words(in_flight: InFlight, study_file: Path) -> str:
    """Say what killed runs had under way, and how the true sum replaces it."""
    calls = f" for about {plural(in_flight.n_calls, 'call')}" if in_flight.n_calls else ""
    return (
        f"at most ${money(in_flight.usd)}{calls} in flight when a run was killed, perhaps billed:"
        f" it counts as spent until `{settle_command(study_file)}` replaces it by what was billed"
    )


def settle_command(study_file: Path) -> str:
    """Return the command that replaces what killed runs had under way by what it cost."""
    return f"heart store settle {quoted(study_file)} DOLLARS"


def settle_in_flight(store: Store, usd: float, *, now: Now) -> Settled:
    """Book what the calls cost that killed runs had under way; done again, it changes nothing.

    Raises:
        SettingsError: It is more than those calls can have cost.
    """
    panel, at = Panel(store), now()
    in_flight = panel.look_around().in_flight
    if in_flight is None:
        return Settled(replaced=None, spent_usd=store.spent_usd())
    if usd > in_flight.usd:
        raise SettingsError(
            f"at most ${money(in_flight.usd)} were in flight, and ${money(usd)} is more: give what"
            " those calls cost alone, without what is booked already"
            f" (${money(store.spent_usd())})"
        )
    own = record_id("settled", {"usd": usd, "at": at.isoformat()})
    cost = StoredReply(id=own, reply={}, cost=usd, created_at=at)
    replaced = store.settle(cost, is_gone=panel.is_gone)
    return Settled(replaced=replaced, spent_usd=store.spent_usd())
