"""What calls are expected to use: by hand, and as often right as it says where it was measured."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from hearteval.config import ModelSettings
from hearteval.models.base import Usage
from hearteval.models.prices import Estimate, TokenPrice
from hearteval.study.asking.expecting import Expected, estimate_replies

NOW = datetime(2026, 11, 22, tzinfo=UTC)
MILLION = 1_000_000
MODEL = ModelSettings(
    provider="openai-compatible",
    model="ours",
    family="ours",
    refuses=frozenset(),
    max_tokens=4_000,
    price=TokenPrice(input_usd=0.0, output_usd=1.0),
    concurrency=4,
)
REPLY = Expected(400, 1.0, 200, 600)


def estimated(model: ModelSettings, used: list[int] | None = None, n: int = 10) -> Estimate:
    """Estimate so many replies, of a model whose calls so far have written so many tokens each."""
    counted = [Usage(input_tokens=10, output_tokens=tokens) for tokens in used or []]
    return estimate_replies(model, [10] * n, REPLY, NOW, used=counted)


def test_thoughts_are_output_as_long_as_the_study_file_says() -> None:
    without, found = estimated(MODEL), estimated(replace(MODEL, thinking_tokens=1_000))

    assert (without.output_tokens, found.output_tokens) == (4_000, 14_000)
    dollars = [found.usd_from, found.usd_low, found.usd_to, found.usd_high]
    assert dollars == pytest.approx([0.012, 0.014, 0.016, 0.04 * 12], rel=1e-12)


def test_no_reply_with_its_thoughts_is_longer_than_it_may_be() -> None:
    assert estimated(replace(MODEL, thinking_tokens=9_000)).output_tokens == 40_000


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (MODEL, 0),
        (replace(MODEL, thinks=True), 10),
        (replace(MODEL, thinks=True, thinking_tokens=0), 0),
    ],
)
def test_only_what_a_model_known_to_think_may_think_is_said_not_to_be_counted(
    model: ModelSettings, n: int
) -> None:
    assert estimated(model).n_unthought == n


def test_what_was_measured_gives_mean_and_prediction_interval() -> None:
    used = [tokens * MILLION for tokens in (1, 2, 3, 4, 5)]

    found = estimated(replace(MODEL, thinks=True), used)

    # Mean 3, standard deviation 1.5811, t(4) 2.7764, and 10 + 10 * 10 / 5 = 30 variances.
    off = 2.776445 * 1.581139 * 30**0.5
    dollars = [found.usd_low, found.usd_from, found.usd_to]
    assert dollars == pytest.approx([30, 30 - off, 30 + off], rel=1e-5)
    assert (found.n_measured, found.n_unthought) == (10, 0)
    assert (found.input_tokens, found.output_tokens) == (100, 30 * MILLION)


def test_four_calls_are_too_few_to_go_by() -> None:
    # Fewer than five never get so far: `read_used` leaves them out.
    assert estimated(MODEL, [7] * 4) == estimated(MODEL)


def test_sum_of_further_calls_lies_in_the_range_as_often_as_it_says() -> None:
    rng, inside = np.random.default_rng(5), 0
    for _ in range(400):
        lengths = rng.lognormal(6, 0.6, size=(110,)).round().astype(int)
        found = estimated(MODEL, lengths[:10].tolist(), n=100)
        assert found.usd_from is not None
        assert found.usd_to is not None
        inside += found.usd_from <= lengths[10:].sum() / MILLION <= found.usd_to

    assert 0.9 <= inside / 400 <= 0.97
