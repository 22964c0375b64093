"""How a plan says what is to come and what it costs: what is expected first, the bound last."""

from collections.abc import Mapping
from typing import Any

from hearteval.config import StudySettings
from hearteval.models.prices import Estimate, money
from hearteval.report.text import listed
from hearteval.study import quoted

Spending = Mapping[str, Estimate]
"""What each model of a study is estimated to use, by "system NAME" and "judge NAME"."""
NOTHING = Estimate(
    n_calls=0, input_tokens=0, output_tokens=0, usd_low=0.0, usd_high=0.0, seconds=0.0
)
CENTS_FROM = 0.1
"""Dollars of which no part of a cent is said."""
PROBED = ("system ", "judge ")
"""How those begin whom `--probe-cost` asks."""
UNTHOUGHT = "thinking tokens not counted"


def in_all(spending: Spending) -> Estimate:
    """Add up what every model is estimated to use."""
    return sum(spending.values(), NOTHING)


def spending_lines(settings: StudySettings, spending: Spending) -> str:
    """Say what is to come, a line for each model that is asked, in all, and at most."""
    total = in_all(spending)
    if not total.n_calls:
        return f"  {estimate_words(total)}"
    asked = {who: one for who, one in spending.items() if one.n_calls}
    lines = [f"{who}: {one.n_calls:,} calls, {_usd_words(one)}" for who, one in asked.items()]
    lines.append(f"in all: {_use_words(total)}{limit_words(settings, total)}")
    if total.usd_high:
        unthought = _unthought_words(settings, asked)
        lines += [*_range_words(total), *unthought, _bound_words(total)]
    return "\n".join(f"  {line}" for line in lines)


def estimate_words(estimate: Estimate) -> str:
    """Say what is to come: calls, tokens, money, time, and the most that it may cost."""
    if not estimate.n_calls:
        return "no model is asked, so no call costs anything"
    most = f"; at most ${estimate.usd_high:.2f}" if estimate.usd_high else ""
    return _use_words(estimate) + most


def _use_words(estimate: Estimate) -> str:
    return (
        f"{estimate.n_calls:,} calls, about {estimate.input_tokens:,} tokens in and"
        f" {estimate.output_tokens:,} out, {_usd_words(estimate)}; {_time_words(estimate)}"
    )


def _usd_words(estimate: Estimate) -> str:
    """Say what is expected and between what; of what is free that it is."""
    if not estimate.usd_high:
        return "which cost nothing"
    between = f" ({_range(estimate)})" if _range(estimate) else ""
    unthought = f", {UNTHOUGHT}" if estimate.n_unthought else ""
    return f"expected ${_usd(estimate.usd_low)}{between}{unthought}"


def _range(estimate: Estimate) -> str:
    low, high = _usd(estimate.usd_from), _usd(estimate.usd_to)
    return "" if low == high else f"{low}\N{EN DASH}{high}"


def _usd(usd: float | None) -> str:
    return f"{usd or 0:,.2f}" if not usd or usd >= CENTS_FROM else money(usd)


def _range_words(total: Estimate) -> list[str]:
    """Say where the figures come from, and what their ranges are of."""
    assumed = "each reply short or long, the provider's cache used or not"
    if not total.n_measured:
        return [f"range: {assumed}"] if _range(total) else []
    measured = "by what calls of the same model have cost here, range 95 %"
    n_others = total.n_calls - total.n_measured
    return [measured + (f"; of the {n_others:,} others {assumed}" if n_others else "")]


def _unthought_words(settings: StudySettings, asked: Spending) -> list[str]:
    """Say of whom it is not known how long they think, and how it can be."""
    who = [name for name, one in asked.items() if one.n_unthought and one.usd_high]
    if not who:
        return []
    verb = "thinks before it answers" if len(who) == 1 else "think before they answer"
    words = (
        f"{listed(who)} {verb}, which is charged as output and not counted here: give"
        " thinking_tokens in the study file"
    )
    if any(name.startswith(PROBED) for name in who):
        words += (
            f", or ask ten questions and go by them: heart run {quoted(settings.file)} --probe-cost"
        )
    return [words]


def _bound_words(total: Estimate) -> str:
    return (
        f"at most ${total.usd_high:,.2f}, were every reply as long as allowed and every call made"
        " as often as it may be"
    )


def _time_words(estimate: Estimate) -> str:
    minutes = estimate.seconds / 60
    about = f"{minutes:.0f} minutes" if minutes >= 2 else f"{estimate.seconds:.0f} seconds"
    said = [f"about {about}"] if estimate.n_calls > estimate.n_batch_calls else []
    if estimate.n_batch_calls:
        said.append(f"{estimate.n_batch_calls:,} of the calls in batch jobs: up to 24 hours each")
    if estimate.n_undiscounted:
        n = f"{estimate.n_undiscounted:,}"
        said.append(f"{n} of them at the ordinary price: no list has their batch price")
    return "; ".join(said)


def limit_words(settings: StudySettings, estimate: Estimate) -> str:
    """Say where the study's limit ends what is to come, and that it ends it early where it does."""
    limit = settings.max_usd
    if limit is None or not estimate.usd_high:
        return ""
    early = ", which is less than it needs" if limit < (estimate.usd_low or 0.0) else ""
    return f"; it stops at budget.max_usd, ${money(limit)} in all{early}"


def spent_words(
    settings: StudySettings, usd: float, in_flight: Mapping[str, Any] | None = None
) -> str:
    """Say what all runs of a study have cost so far, and what killed ones had in flight."""
    limit = settings.max_usd
    of = "" if limit is None else f" of ${money(limit)} (budget.max_usd)"
    more = ""
    if in_flight is not None and in_flight["usd"]:
        more = f", and at most ${money(in_flight['usd'])} in flight when a run was killed"
    return f"spent so far, all runs of this store together: ${money(usd)}{of}{more}"
