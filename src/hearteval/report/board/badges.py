"""Badges: a place on a board as a small SVG, for a page of one's own. No font, no address."""

from markupsafe import Markup, escape

HEIGHT, PADDING, GLYPH = 20, 7, 6.4
LEFT, RIGHT, QUIET = "#3a3f47", "#1d5a9c", "#5a5f69"


def badge(left: str, right: str, title: str, *, is_quiet: bool = False) -> str:
    """Draw two words side by side; a quiet one claims little, and has no colour.

    A browser's own font fills a width that is counted from letters, so nothing is loaded.
    """
    parts, start = [], 0
    for words, colour in ((left, LEFT), (right, QUIET if is_quiet else RIGHT)):
        inner = round(GLYPH * len(words))
        width = inner + 2 * PADDING
        parts.append(
            Markup(
                '<rect x="{}" width="{}" height="{}" fill="{}"/>'
                '<text x="{}" y="14" textLength="{}" lengthAdjust="spacingAndGlyphs">{}</text>'
            ).format(start, width, HEIGHT, colour, start + PADDING, inner, words)
        )
        start += width
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{start}" height="{HEIGHT}" role="img"'
        f' aria-label="{escape(title)}"><title>{escape(title)}</title>'
        '<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" fill="#fff">'
    )
    return f"{head}{''.join(parts)}</g></svg>\n"
