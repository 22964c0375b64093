"""Routes to models as JSON and as aligned lines, for ``heart systems`` and ``heart judges``."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from heartbench.models.presets import INSPECT, Route, price_provider
from heartbench.models.prices import Tariff, price_list, price_per_million

UNKNOWN = "?"
INSPECT_MARK = "*"
SCHEMA_MARKS = {True: "J", False: "-", None: UNKNOWN}


def route_object(route: Route, *, when: datetime) -> dict[str, Any]:
    """Return a route as JSON says it, its list price in US dollars per million tokens."""
    tariff = Tariff(provider=price_provider(route.provider), model=route.model)
    price = price_per_million(tariff, when=when)
    return {
        "provider": route.provider,
        "model": route.model,
        "base_url": route.base_url,
        "key_name": route.key_name,
        "refuses": sorted(route.refuses),
        "max_tokens_key": route.max_tokens_key,
        "strict_schema": route.strict_schema,
        "context": route.context,
        "extra_body": dict(route.extra_body),
        "price": price and {"input_usd": price.input_usd, "output_usd": price.output_usd},
        "retires": route.retires and route.retires.isoformat(),
        "source": route.source,
        "verified": route.verified,
        "backend": route.backend,
        "batch": route.batch,
    }


def route_cells(route: Mapping[str, Any]) -> list[str]:
    """Return the cells of a route in a table: where, what it takes, its price, its end."""
    letters = {"temperature": "T", "top_p": "P"}
    takes = "".join("-" if name in route["refuses"] else mark for name, mark in letters.items())
    takes += SCHEMA_MARKS[route["strict_schema"]]
    price = route["price"]
    dollars = [f"{price[key]:.2f}" for key in ("input_usd", "output_usd")] if price else None
    mark = INSPECT_MARK if route["backend"] == "inspect" else ""
    return [
        f"  {route['provider'].removeprefix(INSPECT)}{mark}",
        route["model"],
        takes,
        *(dollars or [UNKNOWN, UNKNOWN]),
        route["retires"] or "",
    ]


def route_legend(routes: Sequence[Mapping[str, Any]]) -> str:
    """Say what the cells mean, and how sure all this is."""
    n_verified = sum(route["verified"] for route in routes)
    return (
        "takes: T temperature, P top_p, J a strict JSON schema; - refuses it. $ in, $ out: per "
        f"million tokens, {price_list()}. until: from that day calls fail, or another model "
        f"answers. {UNKNOWN} is unknown. {INSPECT_MARK} goes through Inspect (extra inspect): in a "
        f'study file provider = "{INSPECT}NAME". Routes tried by the project: {n_verified} '
        f"of {len(routes)}; the others stand as documented."
    )
