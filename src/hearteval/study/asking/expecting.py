"""What calls not yet made are expected to use: replies as they may well be, or as they have been.

A model whose calls have been counted here is expected to go on as it has: its own tokens for the
same words, what it thinks, what its provider's cache held. Any other is expected to reply about as
long as it is asked to.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any, NamedTuple

from hearteval.config import ModelSettings
from hearteval.models.asking import MAX_INVALID
from hearteval.models.base import Usage
from hearteval.models.prices import CallPlan, Estimate, Tariff, estimate_calls, price_call
from hearteval.stats.special import t_quantile
from hearteval.store.base import Store
from hearteval.study.asking.models import tariff_of

LEVEL = 0.95
"""Of the range of what was measured."""
LEAST_MEASURED, MOST_MEASURED = 5, 200
"""Calls of one model, to go by them, and of more so many."""
Used = Mapping[str, Sequence[Usage]]
"""What calls have used, by id of the system or rater that made them."""
NOTHING_USED: Used = MappingProxyType({})


class Expected(NamedTuple):
    """What is expected of a reply."""

    tokens: int
    seconds: float
    least: int | None = None
    """Tokens of one as short as it may well be; None for what is expected."""
    most: int | None = None
    tries: int = MAX_INVALID
    """How often it is asked for, at most."""


def read_used(store: Store, ids: Iterable[str]) -> Used:
    """Return what calls of these systems and LLM judges have used, where enough were counted."""
    used = {id_: _counted(store.usages(id_, n=MOST_MEASURED)) for id_ in ids}
    return {id_: counted for id_, counted in used.items() if len(counted) >= LEAST_MEASURED}


def _counted(usages: Sequence[Mapping[str, Any]]) -> list[Usage]:
    """Return those whose prompt and reply were counted; what logs may say besides is left out."""
    names = [field.name for field in fields(Usage)]
    found = (Usage(**{name: usage.get(name) for name in names}) for usage in usages)
    return [one for one in found if None not in {one.input_tokens, one.output_tokens}]


def estimate_replies(
    model: ModelSettings,
    prompts: Sequence[int],
    reply: Expected,
    when: datetime,
    *,
    beginning: int = 0,
    used: Sequence[Usage] = (),
) -> Estimate:
    """Estimate a reply to each of these prompts, asked for again after unusable ones.

    Args:
        model: Who is asked.
        prompts: Tokens of each.
        reply: What is expected of each reply, thoughts apart.
        when: Of the prices.
        beginning: Tokens with which every prompt begins in the same way.
        used: By calls of the same kind, where some have been counted.
    """
    thought, most = model.thinking_tokens or 0, model.max_tokens
    is_kept = model.caches and beginning >= (model.cache_from or 0)
    plan = CallPlan(
        output_tokens=min(reply.tokens + thought, most),
        least_tokens=min((reply.least or reply.tokens) + thought, most),
        most_tokens=min((reply.most or reply.tokens) + thought, most),
        kept_tokens=beginning if is_kept else 0,
        is_marked=is_kept and model.cache_mark is not None,
        max_tokens=most,
        max_attempts=reply.tries * (1 if model.batch else model.limits.tries),
        seconds=reply.seconds,
        concurrency=model.concurrency,
    )
    planned = estimate_calls(tariff_of(model), prompts, plan, when=when)
    if used:
        planned = _as_measured(planned, tariff_of(model), used, when=when)
    is_unthought = model.thinks and model.thinking_tokens is None and not planned.n_measured
    return replace(planned, n_unthought=planned.n_calls) if is_unthought else planned


def _as_measured(
    planned: Estimate, tariff: Tariff, used: Sequence[Usage], *, when: datetime
) -> Estimate:
    """Return an estimate of calls that cost what such calls have cost, at the prices of `when`.

    Of m calls with mean cost c and standard deviation s, n more cost n c ± t(m - 1) s √(n + n²/m),
    the prediction interval for a sum of independent draws; a sum has no less than nothing.
    """
    costs = [price_call(tariff, one, when=when) for one in used]
    known = [cost for cost in costs if cost is not None]
    if len(known) < LEAST_MEASURED:
        return planned
    n, m = planned.n_calls, len(known)
    expected = n * fmean(known)
    off = t_quantile(m - 1, level=LEVEL) * stdev(known) * math.sqrt(n + n * n / m)

    def of_all(name: str) -> int:
        return round(n * fmean(getattr(one, name) or 0 for one in used))

    return replace(
        planned,
        input_tokens=of_all("input_tokens"),
        output_tokens=of_all("output_tokens"),
        cached_tokens=of_all("cached_tokens"),
        usd_low=expected,
        usd_from=max(0.0, expected - off),
        usd_to=expected + off,
        n_measured=n,
    )
