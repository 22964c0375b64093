"""The most demanding items: those on which systems differ most and least, with links to read."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.ranking.difficulty import ItemDifficulty, ItemSpread
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.page import replies
from hearteval.report.page.links import item_page
from hearteval.report.text import NO_VALUE, bare_percent, hundredths, percent, pixels, plural

N_MOST, N_LEAST, N_AGAINST = 5, 3, 5
WIDTH, HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 44


class ItemGroup(NamedTuple):
    """Some items and why they are shown."""

    title: str
    items: tuple[ItemSpread, ...]


class Cloud(NamedTuple):
    """Every item by spread and by agreement with the ranking, as a path of dots."""

    across: Scale
    up: Scale
    dots: str


class Dialogue(NamedTuple):
    """Where an item can be read, and how it starts; either may be unknown."""

    href: str
    opening: str


def dialogues(shown: replies.Shown, found: ItemDifficulty | None) -> Mapping[str, Dialogue]:
    """Return by item where its page lies, and what its seeker says last, as far as is known."""
    openings = {one.item.id: replies.opening(one.item) for one in shown.readings}
    if shown.is_public or found is None:
        return {}
    return {
        row.item_id: Dialogue(
            "" if shown.folder is None else f"{shown.folder}{item_page(row.item_id)}",
            openings.get(row.item_id, ""),
        )
        for row in found.items
    }


def answer(found: ItemDifficulty) -> Markup:
    """Say in a sentence or two how much depends on the item."""
    if not found.tells_items_apart:
        return Markup(
            "<b>No item is shown to be more demanding than another:</b> how far apart the systems"
            " are differs between the {} items by no more than chance."
        ).format(len(found.items))
    if not found.sd_of_items:
        return Markup(
            "<b>No item stands out.</b> On every item the systems win as much as elsewhere, but for"
            " chance."
        )
    agree = found.mean_discrimination
    said = (
        ""
        if agree is None
        else Markup(" An item alone agrees with the ranking by r = {} on average.").format(
            hundredths(agree)
        )
    )
    return (
        Markup(
            "<b>Which system does well depends on the item too:</b> what a system wins on one item"
            " departs from what the ranking expects by {} points (SD) beyond chance."
        ).format(bare_percent(found.sd_of_items))
        + said
    )


def item_groups(found: ItemDifficulty) -> list[ItemGroup]:
    """Return the items on which systems differ most and least, and those that contradict."""
    items = found.items
    most, least = items[:N_MOST], items[::-1][:N_LEAST]
    chosen = {row.item_id for row in (*most, *least)}
    turned = [
        (row.discrimination, row.item_id, row)
        for row in items
        if row.discrimination is not None and row.discrimination < 0 and row.item_id not in chosen
    ]
    against = [row for *_, row in sorted(turned, key=lambda one: one[:2])]
    groups = [
        ItemGroup("Systems differ most", most),
        ItemGroup("Another order than the ranking", tuple(against[:N_AGAINST])),
        ItemGroup("Systems differ least", tuple(row for row in least if row not in most)),
    ]
    return [group for group in groups if group.items]


def kind_words(row: ItemSpread) -> str:
    """Name what is known of an item."""
    subset = "" if row.subset == "regular" else f"{row.subset}, "
    return f"{subset}{row.emotion}, {row.problem}"


def name_words(row: ItemSpread, known: Mapping[str, Dialogue]) -> Markup:
    """Name an item by what is said last, with a link where there is a page."""
    at = known.get(row.item_id, Dialogue("", ""))
    words = at.opening or f"Item {row.item_id[:12]}"
    if not at.href:
        return Markup("{}").format(words)
    return Markup('<a href="{}">{}</a>').format(at.href, words)


def agreement_words(row: ItemSpread) -> str:
    """Write how far an item agrees with the ranking."""
    return NO_VALUE if row.discrimination is None else hundredths(row.discrimination)


def behind_words(found: ItemDifficulty) -> str:
    """Say what the numbers stand on."""
    n = sum(row.n_judgments for row in found.items)
    return (
        f"{plural(n, 'judgment')} of {plural(len(found.items), 'item')}. Of what sets the spread of"
        f" an item apart {percent(found.shrinkage)} is kept on average; the rest is taken for"
        " chance."
    )


def cloud(found: ItemDifficulty) -> Cloud | None:
    """Return the picture of all items; None where fewer than two have both numbers."""
    rows = [row for row in found.items if row.discrimination is not None]
    if len(rows) < 2:
        return None
    spreads: Sequence[float] = [100 * row.spread for row in rows]
    agreements = [row.discrimination or 0.0 for row in rows]
    low, high = 0.0, max(*spreads, 1.0) * 1.03
    across = Scale(
        low=low,
        high=high,
        start=_LEFT,
        end=WIDTH - _RIGHT,
        ticks=round_ticks(low, high, n_most=6),
    )
    bottom = min(0.0, -0.5 if min(agreements) < 0 else 0.0, *agreements)
    up = Scale(
        low=bottom,
        high=1.0,
        start=HEIGHT - _BOTTOM,
        end=_TOP,
        ticks=round_ticks(bottom, 1.0, n_most=4),
    )
    dots = "".join(
        f"M{pixels(across.place(x))} {pixels(up.place(y))}h0"
        for x, y in zip(spreads, agreements, strict=True)
    )
    return Cloud(across, up, dots)
