"""What a run may cost: estimated before it starts, shown, and agreed to before a call is made."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import click

from heartbench.cli.batches import asked_directly
from heartbench.cli.console import utc_now
from heartbench.cli.models import (
    judge_sampling,
    paid_models,
    schema_text,
    tariff_of,
)
from heartbench.cli.open_work import NOTHING_DONE, Done
from heartbench.cli.session import (
    judge_models,
    study_raters,
    study_systems,
    system_models,
)
from heartbench.completions.prompting import support_messages
from heartbench.config import ModelSettings, StudySettings
from heartbench.domain import Item, content_hash
from heartbench.errors import SettingsError
from heartbench.judgments.judge_prompt import judge_messages
from heartbench.judgments.rating_prompt import rating_messages
from heartbench.judgments.stress import STRESS_KINDS
from heartbench.models.asking import to_messages
from heartbench.models.base import Sampling
from heartbench.models.prices import (
    CallPlan,
    Estimate,
    estimate_calls,
    estimate_prompt_tokens,
    price_per_million,
)

COMPLETION_TOKENS, JUDGMENT_TOKENS, RATING_TOKENS = 60, 420, 300
"""Expected tokens of a reply: about 40 words; six reasons of a sentence or two in JSON, or five."""
COMPLETION_SECONDS, JUDGMENT_SECONDS = 3.0, 12.0
PROBE_TOKENS = 50
"""Of the question that shows whether a judge's endpoint enforces a schema, and of its reply."""
TYPICAL_REPLY = "word " * 40
MAX_PAID_TRIES = 2
"""A reply that cannot be used is asked for once more."""
NOTHING = Estimate(
    n_calls=0, input_tokens=0, output_tokens=0, usd_low=0.0, usd_high=0.0, seconds=0.0
)


def estimate_spending(
    settings: StudySettings,
    items: Sequence[Item],
    done: Done = NOTHING_DONE,
    *,
    of: Literal["systems", "judges", "both"] = "both",
) -> Estimate:
    """Estimate the calls that a study still needs of its systems, its judges or both.

    Raises:
        SettingsError: A price is unknown.
    """
    _require_prices(settings)
    total = NOTHING
    systems = {} if of == "judges" else system_models(settings)
    judges = {} if of == "systems" else judge_models(settings)
    for system_id, model in systems.items():
        answered = done.completions.get(system_id, frozenset())
        prompts = [
            estimate_prompt_tokens(to_messages(support_messages(item)))
            for item in items
            if item.id not in answered
        ]
        total += _estimate(model, prompts, output=COMPLETION_TOKENS, seconds=COMPLETION_SECONDS)
    stress = [system.id for system in study_systems(settings) if system.kind == "stress"]
    tested = frozenset[str]().union(*(done.completions.get(id_, frozenset()) for id_ in stress))
    ceiling = n_judgments(settings, len(items), n_tested=len(tested))
    n_open = {rater_id: ceiling[rater_id] - done.judgments.get(rater_id, 0) for rater_id in judges}
    if done.open_judgments is not None:
        n_open = {rater_id: done.open_judgments.get(rater_id, 0) for rater_id in judges}
    return total + estimate_judgments(settings, items, n_open)


def estimate_judgments(
    settings: StudySettings, items: Sequence[Item], n_open: Mapping[str, int]
) -> Estimate:
    """Estimate so many judgments or ratings of each judge, by rater id.

    Raises:
        SettingsError: A price is unknown.
    """
    _require_prices(settings)
    total = NOTHING
    output = RATING_TOKENS if settings.judging.protocol == "rating" else JUDGMENT_TOKENS
    for rater_id, model in judge_models(settings).items():
        n = n_open.get(rater_id, 0)
        tokens = _judge_prompt_tokens(items, judge_sampling(model, settings), settings)
        if n > 0:
            total += _estimate(model, [tokens] * n, output=output, seconds=JUDGMENT_SECONDS)
            probes = [] if model.batch else [PROBE_TOKENS]
            total += _estimate(model, probes, output=PROBE_TOKENS, seconds=COMPLETION_SECONDS)
    return total


def estimate_probes(settings: StudySettings, asked: Mapping[str, Sequence[Item]]) -> Estimate:
    """Estimate calls of `heart latency`.

    Args:
        settings: The study's.
        asked: By system id, the item of each call.

    Raises:
        SettingsError: A price is unknown.
    """
    _require_prices(settings)
    total = NOTHING
    for system_id, model in system_models(settings).items():
        messages = [to_messages(support_messages(item)) for item in asked.get(system_id, ())]
        prompts = [estimate_prompt_tokens(each) for each in messages]
        total += _estimate(
            asked_directly(model), prompts, output=COMPLETION_TOKENS, seconds=COMPLETION_SECONDS
        )
    return total


def n_judgments(settings: StudySettings, n_items: int, *, n_tested: int = 0) -> dict[str, int]:
    """Return how many judgments or ratings each judge may be asked for, by rater id; a ceiling.

    Args:
        settings: The study's settings.
        n_items: Its items.
        n_tested: Items of the stress set so far; `heart judges audit` may have tested more of them
            than the study file asks for.
    """
    plan = settings.judging.plan
    families = [system.family for system in study_systems(settings) if system.kind != "stress"]
    n_orders = 2 if plan.both_orders else 1
    n_tested = max(min(n_items, plan.stress_items), n_tested)
    if settings.judging.protocol == "rating":
        return _n_ratings(settings, n_items, n_stress=n_tested * len(STRESS_KINDS))
    n_stress = n_tested * (len(STRESS_KINDS) - 1)
    n_pairs = math.comb(len(families), 2)
    counts = {}
    for rater in study_raters(settings):
        n_own = families.count(rater.family) if plan.exclude_own_family else 0
        n_eligible = math.comb(len(families) - n_own, 2)
        wanted = n_items * n_eligible
        if plan.comparisons is not None:
            # A balanced plan draws from all pairs; a judge gets its share of those it may judge.
            wanted = min(wanted, math.ceil(plan.comparisons * n_eligible / max(n_pairs, 1)))
        counts[rater.id] = (wanted + n_stress) * n_orders + min(wanted, plan.repeat_pairs)
    return counts


def _n_ratings(settings: StudySettings, n_items: int, *, n_stress: int) -> dict[str, int]:
    plan = settings.judging.plan
    families = [system.family for system in study_systems(settings) if system.kind != "stress"]
    counts = {}
    for rater in study_raters(settings):
        n_own = families.count(rater.family) if plan.exclude_own_family else 0
        wanted = n_items * (len(families) - n_own)
        counts[rater.id] = wanted + n_stress + min(wanted, plan.repeat_pairs)
    return counts


def estimate_words(estimate: Estimate) -> str:
    """Say what is to come: calls, tokens, money, time."""
    if not estimate.n_calls:
        return "no model is asked: it costs nothing"
    return (
        f"{estimate.n_calls:,} calls, about {estimate.input_tokens:,} tokens in and"
        f" {estimate.output_tokens:,} out: about ${estimate.usd_low:.2f}, at most"
        f" ${estimate.usd_high:.2f}; {_time_words(estimate)}"
    )


def _time_words(estimate: Estimate) -> str:
    minutes = estimate.seconds / 60
    about = f"{minutes:.0f} minutes" if minutes >= 2 else f"{estimate.seconds:.0f} seconds"
    direct = [f"about {about}"] if estimate.n_calls > estimate.n_batch_calls else []
    batch = [f"{estimate.n_batch_calls:,} of the calls in batch jobs: up to 24 hours each"]
    ordinary = [
        f"{estimate.n_undiscounted:,} of them at the ordinary price: no list has their batch price"
    ]
    return "; ".join(
        direct
        + (batch if estimate.n_batch_calls else [])
        + (ordinary if estimate.n_undiscounted else [])
    )


def limit_words(settings: StudySettings, estimate: Estimate) -> str:
    """Say where the study's limit ends what is to come, and that it ends it early where it does."""
    limit = settings.max_usd
    if limit is None or not estimate.usd_high:
        return ""
    early = ", which is less than it needs" if limit < (estimate.usd_low or 0.0) else ""
    return f"; it stops at budget.max_usd, ${limit:.2f} in all{early}"


def spent_words(settings: StudySettings, usd: float) -> str:
    """Say what all runs of a study have cost so far."""
    limit = settings.max_usd
    of = "" if limit is None else f" of ${limit:.2f} (budget.max_usd)"
    return f"spent so far, all runs of this store together: ${usd:.2f}{of}"


def estimate_object(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON says it."""
    return asdict(estimate)


def confirm_spending(settings: StudySettings, estimate: Estimate, *, yes: bool) -> None:
    """Ask before money is spent; what costs nothing never asks.

    Raises:
        SettingsError: It costs money, nobody is there to be asked, and nobody has said yes.
        click.Abort: The answer was no.
    """
    if not estimate.usd_high or yes:
        return
    words = estimate_words(estimate) + limit_words(settings, estimate)
    if not sys.stdin.isatty():
        raise SettingsError(
            f"{settings.file}: this asks models and costs money ({words}); add --yes to go ahead"
        )
    click.echo(words, err=True)
    click.confirm("Go ahead?", abort=True, err=True)


def _require_prices(settings: StudySettings) -> None:
    for name, model in paid_models(settings):
        if price_per_million(tariff_of(model), when=utc_now()) is None:
            raise SettingsError(
                f"{settings.file}: {name}: no list has a price for {model.model} by"
                f" {model.provider}; give it in dollars per million tokens, e.g."
                " price = { input = 0.5, output = 1.5 }, or 0 for what costs nothing",
                ids=(name,),
            )


def _estimate(
    model: ModelSettings, prompts: Sequence[int], *, output: int, seconds: float
) -> Estimate:
    plan = CallPlan(
        output_tokens=min(output, model.max_tokens),
        max_tokens=model.max_tokens,
        max_attempts=MAX_PAID_TRIES,
        seconds=seconds,
        concurrency=model.concurrency,
    )
    return estimate_calls(tariff_of(model), prompts, plan, when=utc_now())


def _judge_prompt_tokens(items: Sequence[Item], sampling: Sampling, settings: StudySettings) -> int:
    """Return the tokens of a judge's prompt for an item of average length."""
    if not items:
        return 0
    protocol, tokens = settings.judging.protocol, 0
    for item in items:
        nonce = content_hash(item.id)[:16]
        if protocol == "rating":
            messages = rating_messages(item.context, TYPICAL_REPLY, nonce=nonce)
        else:
            messages = judge_messages(
                item.context, TYPICAL_REPLY, TYPICAL_REPLY, nonce=nonce, protocol=protocol
            )
        tokens += estimate_prompt_tokens(to_messages(messages), schema_text(sampling))
    return round(tokens / len(items))
