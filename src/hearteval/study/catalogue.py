"""The systems and judges that a study can name: how each is reached, in JSON and as text."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from hearteval.completions.baselines import BASELINES, baseline_system
from hearteval.models.presets import (
    INSPECT,
    Route,
    end_words,
    load_judge_presets,
    load_model_presets,
    price_provider,
)
from hearteval.models.prices import Tariff, price_list, price_per_million
from hearteval.protocol import CUE_NOTICE
from hearteval.report.text import aligned, wrapped

UNKNOWN = "?"
INSPECT_MARK = "*"
SCHEMA_MARKS = {True: "J", False: "-", None: UNKNOWN}

ORIGINAL = "Original Dataset Completions"
BEST_HUMAN = "Best Human"
KEYLESS = ("original", "baseline")
NOTES = {
    "best_human": "a policy of the analysis: the best of the people's replies of each item",
    "polaris-4.0": "has no public endpoint; set base_url and model in the study file",
}


def system_objects(*, when: datetime) -> list[dict[str, Any]]:
    """Return every system as JSON says it: the published ones, the baselines, living models."""
    models = [
        _row(preset.name, preset.id, "model", preset.family, published=preset.published)
        | {"routes": [_route_object(route, when=when) for route in preset.routes]}
        for preset in load_model_presets().values()
    ]
    rows = [row for row in models if row["published"]]
    rows.append(_row(BEST_HUMAN, "best_human", "human", "human", published=True))
    for name in BASELINES:
        system = baseline_system(name, seed=0)
        is_published = system.kind == "original"
        title = ORIGINAL if is_published else system.name
        rows.append(_row(title, name, system.kind, system.family, published=is_published))
    return rows + [row for row in models if not row["published"]]


def judge_objects(*, when: datetime) -> list[dict[str, Any]]:
    """Return every judge as JSON says it, the offline baseline last."""
    return [
        {
            "name": judge.name,
            "kind": "llm",
            "family": judge.family,
            "is_baseline": judge.is_baseline,
            "model": judge.model and judge.model.id,
            "routes": [
                _route_object(route, when=when)
                for route in (judge.model.routes if judge.model else ())
            ],
        }
        for judge in load_judge_presets().values()
    ]


def list_systems(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write `system_objects` as text."""
    n_published = sum(row["published"] for row in rows)
    closing = f"{len(rows)} systems; the first {n_published} are the rows of the paper's table."
    table = _table(rows, "preset", _describe_system)
    return "\n".join((table, "", wrapped(f"{closing} {_legend(rows)}"), wrapped(_endings(rows))))


def list_judges(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write `judge_objects` as text."""
    said = (_legend(rows), CUE_NOTICE, _endings(rows))
    return "\n".join((_table(rows, "judge", _describe_judge), "", *map(wrapped, said)))


def _row(name: str, preset: str, kind: str, family: str, *, published: bool) -> dict[str, Any]:
    return {
        "name": name,
        "preset": preset,
        "kind": kind,
        "family": family,
        "routes": [],
        "published": published,
        "note": NOTES.get(preset),
    }


def _describe_system(row: Mapping[str, Any]) -> str:
    title = "" if row["name"] == row["preset"] else f"{row['name']}, "
    keyless = ", needs no key" if row["kind"] in KEYLESS else ""
    return f"{row['preset']}: {title}family {row['family']}{keyless}"


def _describe_judge(row: Mapping[str, Any]) -> str:
    asked = "offline baseline" if row["is_baseline"] else row["model"]
    return f"{row['name']}: {asked}, judges no system of the family {row['family']}"


def _route_object(route: Route, *, when: datetime) -> dict[str, Any]:
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
        "ending": end_words(route.retires, today=when.date()) or None,
        "source": route.source,
        "verified": route.verified,
        "backend": route.backend,
        "batch": route.batch,
    }


def _table(
    rows: Sequence[Mapping[str, Any]], first: str, describe: Callable[[Mapping[str, Any]], str]
) -> str:
    """Write systems or judges with their routes below each, aligned; a note comes after them.

    `first` is the heading of the first column; `describe` says what a row is.
    """
    routes = [route for row in rows for route in row["routes"]]
    heading = [first, "takes", "$ in", "$ out", "model"]
    table = iter(aligned([heading, *map(_cells, routes)], left=(0, 1, 4), gap=1).splitlines())
    lines = [next(table)]
    for row in rows:
        lines += [describe(row), *(next(table) for _ in row["routes"])]
        if row.get("note"):
            lines.append(f"  {row['note']}")
    return "\n".join(lines)


def _cells(route: Mapping[str, Any]) -> list[str]:
    letters = {"temperature": "T", "top_p": "P"}
    takes = "".join("-" if name in route["refuses"] else mark for name, mark in letters.items())
    takes += SCHEMA_MARKS[route["strict_schema"]]
    price = route["price"]
    dollars = [f"{price[key]:.2f}" for key in ("input_usd", "output_usd")] if price else None
    mark = INSPECT_MARK if route["backend"] == "inspect" else ""
    return [
        f"  {route['provider'].removeprefix(INSPECT)}{mark}",
        takes,
        *(dollars or [UNKNOWN, UNKNOWN]),
        route["model"] + (f", until {route['retires']}" if route["retires"] else ""),
    ]


def _endings(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name the models that have ended at some provider, or soon will; empty where none has."""
    key = "preset" if rows and "preset" in rows[0] else "name"
    ends = [
        f"{row[key]} ({route['provider']}: {route['ending']})"
        for row in rows
        for route in row["routes"]
        if route["ending"] and route["backend"] != "inspect"
    ]
    return f"Past or near their end: {'; '.join(ends)}." if ends else ""


def _legend(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what the cells mean, and how sure all this is."""
    routes = [route for row in rows for route in row["routes"]]
    n_verified = sum(route["verified"] for route in routes)
    return (
        "takes: T temperature, P top_p, J a strict JSON schema; - refuses it. $ in, $ out: per "
        f"million tokens, {price_list()}. until: from that day calls fail, or another model "
        f"answers. {UNKNOWN} is unknown. {INSPECT_MARK} goes through Inspect (extra inspect): in a "
        f'study file provider = "{INSPECT}NAME". Routes tried by the project: {n_verified} '
        f"of {len(routes)}; the others stand as documented."
    )
