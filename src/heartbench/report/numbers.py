"""How numbers are written, once for the page and the terminal.

Ratings are whole Elo, or one decimal in the detailed tables; shares are percent with one decimal.
No unit is left out: what returns a bare number says so.
"""

from collections.abc import Mapping, Sequence

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
NO_VALUE = "\N{EN DASH}"


def count(n: int) -> str:
    """Write a count with commas between thousands."""
    return f"{n:,}"


def whole(value: float) -> str:
    """Write a rating as a whole number."""
    return f"{value:.0f}"


def decimal(value: float | None) -> str:
    """Write a rating with one decimal, or a dash where there is none."""
    return NO_VALUE if value is None else f"{value:.1f}"


def signed(value: float) -> str:
    """Write a difference of ratings as a whole number with its sign."""
    text = f"{value:+.0f}"
    return "0" if text in {"+0", "-0"} else text.replace("-", MINUS)


def ranks(low: int, high: int) -> str:
    """Write the ranks that are left open, from the best to the worst."""
    return str(low) if low == high else f"{low}{NO_VALUE}{high}"


def small(value: float) -> str:
    """Write a log-strength or its standard error with three decimals."""
    return f"{value:.3f}".replace("-", MINUS)


def hundredths(value: float) -> str:
    """Write a ratio such as a discrimination with two decimals."""
    return f"{value:.2f}".replace("-", MINUS)


def signed_hundredths(value: float | None) -> str:
    """Write a z-score with its sign and two decimals, or a dash where there is none."""
    if value is None:
        return NO_VALUE
    text = f"{value:+.2f}"
    return "0.00" if text in {"+0.00", "-0.00"} else text.replace("-", MINUS)


def tick(value: float) -> str:
    """Write a value of a scale without needless decimals."""
    return f"{value:g}".replace("-", MINUS)


def ends_of(low: float | None, high: float | None) -> str:
    """Write interval ends with two decimals in brackets, or a dash where there are none."""
    if low is None or high is None:
        return NO_VALUE
    return f"[{hundredths(low)}, {hundredths(high)}]"


def interval(low: float | None, high: float | None) -> str:
    """Write interval ends as whole numbers in brackets, or a dash where there are none."""
    if low is None or high is None:
        return NO_VALUE
    return f"[{whole(low)}, {whole(high)}]"


def bare_percent(share: float) -> str:
    """Write a share of 1 as percent with one decimal, without the sign (a heading names it)."""
    return f"{100 * share:.1f}"


def percent(share: float) -> str:
    """Write a share of 1 as percent with one decimal and the sign."""
    return f"{bare_percent(share)}{NO_BREAK_SPACE}%"


def level_percent(level: float) -> str:
    """Write a nominal level such as .95 without needless decimals."""
    return f"{100 * level:.4g}{NO_BREAK_SPACE}%"


def points(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign, without the unit."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in {"+0.0", "-0.0"} else text.replace("-", MINUS)


def pixels(value: float) -> str:
    """Write a coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")


def plural(n: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun."""
    return f"{count(n)}{NO_BREAK_SPACE}{one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Write names as a list in a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def reasons(missing: Mapping[str, int]) -> str:
    """Write counts by reason, most frequent first, or a dash where nothing is missing."""
    ordered = sorted(missing.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count(n)}{NO_BREAK_SPACE}{why}" for why, n in ordered if n) or NO_VALUE
