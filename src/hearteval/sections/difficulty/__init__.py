"""The most demanding items: those on which systems differ most and least, with links to read."""

from typing import Any, ClassVar, Self

from markupsafe import Markup

from hearteval.analysis.section import Basis, Figure, Records, Section
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.page import replies
from hearteval.report.page.links import item_page
from hearteval.report.plots.style import COLOURS, GREY, MARKS, square_height
from hearteval.report.text import NO_VALUE, bare_percent, hundredths, percent, pixels, plural
from hearteval.sections.difficulty.measure import ItemDifficulty, ItemSpread, measure_difficulty

N_MOST, N_LEAST, N_AGAINST = 5, 3, 5
WIDTH, HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 44


def draw_difficulty(found: ItemDifficulty, figure: Any) -> None:
    """Draw how far apart systems are on each item, and how far that follows the ranking."""
    axes = figure.subplots()
    for k, subset in enumerate(sorted({item.subset for item in found.items}, reverse=True)):
        shown = [
            item
            for item in found.items
            if item.subset == subset and item.discrimination is not None
        ]
        axes.scatter(
            [item.spread for item in shown],
            [item.discrimination for item in shown],
            s=10,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKS[k % len(MARKS)],
            alpha=0.7,
            linewidths=0,
            label=f"{subset} ({len(shown)})",
        )
    axes.axvline(found.expected_spread, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("spread of the systems on an item")
    axes.set_ylabel("correlation with the ranking")
    axes.legend()


class Difficulty(Section[ItemDifficulty]):
    """On which items systems differ most and least."""

    NAME: ClassVar = "items"
    TITLE: ClassVar = "The most demanding items"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("difficulty",)
    TABLES: ClassVar = {"items": "how far apart the systems are on every item"}
    FIGURES: ClassVar = (
        Figure(
            "items",
            "Each item: how far apart systems are on it (dotted: as the ranking expects), and how"
            " far it orders them as the ranking.",
            lambda section: section.found if section.found.tells_items_apart else None,
            draw_difficulty,
            square_height,
        ),
    )

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Measure it; None without a ranking, and where there is too little of it."""
        found = measure_difficulty(basis.cells) if basis.cells else None
        return None if found is None else cls(found)

    def records(self, table: str) -> Records:
        """Return a row for each item, where these are shown to differ."""
        del table
        return self.found.items if self.found.tells_items_apart else ()

    def line(self) -> Markup:
        """Say in a sentence or two how much depends on the item."""
        found = self.found
        if not found.tells_items_apart:
            return Markup(
                "<b>No item is shown to be more demanding than another:</b> how far apart the"
                " systems are differs between the {} items by no more than chance."
            ).format(len(found.items))
        if not found.sd_of_items:
            return Markup(
                "<b>No item stands out.</b> On every item the systems win as much as elsewhere, but"
                " for chance."
            )
        said = Markup(
            "<b>Which system does well depends on the item too:</b> what a system wins on one item"
            " departs from what the ranking expects by {} points (SD) beyond chance."
        ).format(bare_percent(found.sd_of_items))
        if found.mean_discrimination is None:
            return said
        return said + Markup(" An item alone agrees with the ranking by r = {} on average.").format(
            hundredths(found.mean_discrimination)
        )

    def item_groups(self) -> dict[str, list[ItemSpread]]:
        """Return the items on which systems differ most and least, and those that contradict."""
        items = self.found.items
        most, least = items[:N_MOST], items[::-1][:N_LEAST]
        chosen = {row.item_id for row in (*most, *least)}
        turned = [
            (row.discrimination, row.item_id, row)
            for row in items
            if row.discrimination is not None
            and row.discrimination < 0
            and row.item_id not in chosen
        ]
        against = [row for *_, row in sorted(turned, key=lambda one: one[:2])]
        groups = {
            "Systems differ most": list(most),
            "Another order than the ranking": against[:N_AGAINST],
            "Systems differ least": [row for row in least if row not in most],
        }
        return {title: rows for title, rows in groups.items() if rows}

    @staticmethod
    def kind_words(row: ItemSpread) -> str:
        """Name what is known of an item."""
        subset = "" if row.subset == "regular" else f"{row.subset}, "
        return f"{subset}{row.emotion}, {row.problem}"

    @staticmethod
    def name(row: ItemSpread, shown: replies.Shown) -> Markup:
        """Name an item by what is said last, where that is known, and link to its page."""
        is_known = not shown.is_public
        read = (one.item for one in shown.readings if is_known and one.item.id == row.item_id)
        words = next(map(replies.opening, read), "") or f"Item {row.item_id[:12]}"
        if shown.folder is None or not is_known:
            return Markup("{}").format(words)
        page = f"{shown.folder}{item_page(row.item_id)}"
        return Markup('<a href="{}">{}</a>').format(page, words)

    @staticmethod
    def agreement_words(row: ItemSpread) -> str:
        """Write how far an item agrees with the ranking."""
        return NO_VALUE if row.discrimination is None else hundredths(row.discrimination)

    def behind_words(self) -> str:
        """Say what the numbers stand on."""
        found = self.found
        n = plural(sum(row.n_judgments for row in found.items), "judgment")
        return (
            f"{n} of {plural(len(found.items), 'item')}. Of what sets the spread of an item apart"
            f" {percent(found.shrinkage)} is kept on average; the rest is taken for chance."
        )

    @property
    def cloud(self) -> tuple[Scale, Scale, str] | None:
        """The scales and the dots of all items; None where fewer than two have both numbers."""
        rows = [row for row in self.found.items if row.discrimination is not None]
        if len(rows) < 2:
            return None
        spreads = [100 * row.spread for row in rows]
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
        return across, up, dots
