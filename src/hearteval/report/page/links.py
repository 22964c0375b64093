"""Where things stand: addresses on the page, and names of the pages in the folder.

A name of a system may hold anything; a hash of it stands in addresses.
"""

import hashlib
from collections.abc import Iterable, Mapping

from hearteval.report.page import replies

INDEX = "index.html"
ALL = "comparisons.html"


def pair_key(left: str, right: str) -> str:
    """Name two systems in an address or a file name, whatever their own names hold."""
    return f"pair-{_hash(chr(0).join(sorted((left, right))))}"


def system_page(name: str) -> str:
    """Name the page of a system."""
    return f"system-{_hash(name)}.html"


def item_page(item_id: str) -> str:
    """Name the page of an item."""
    return f"item-{item_id[:12]}.html"


def pair_links(
    shown: replies.Shown, there: Iterable[replies.Reading]
) -> dict[tuple[str, str], str]:
    """Return where replies of two systems are: on this page, else in the folder."""
    pages = {one.systems for one in shown.readings if shown.folder is not None}
    links = {ends: f"{shown.folder}{pair_key(*ends)}.html" for ends in pages}
    return links | {one.systems: f"#{pair_key(*one.systems)}" for one in there}


def system_links(shown: replies.Shown, names: Iterable[str]) -> Mapping[str, str]:
    """Return the page of each system; none where there is no folder."""
    if shown.folder is None:
        return {}
    return {name: f"{shown.folder}{system_page(name)}" for name in names}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
