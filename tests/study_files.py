"""Study files by what matters to a test; what is left out is as small as it may be."""

import json
from collections.abc import Mapping
from types import MappingProxyType

FREE = {"input": 0, "output": 0}
"""A price."""
NOTHING: Mapping[str, object] = MappingProxyType({})


def study_text(
    name: str,
    *entries: str,
    items: tuple[int, int] = (3, 0),
    study: Mapping[str, object] = NOTHING,
    judging: Mapping[str, object] = NOTHING,
    end: str = "",
) -> str:
    """Return a study of starter items that the cue judge compares once in both orders.

    Args:
        name: The study's.
        *entries: Its systems and judges.
        items: Its regular and its adversarial ones.
        study: Further values of that table.
        judging: Further values of that table.
        end: Further tables.
    """
    once = {"judges": ["cue"], "stress_items": 0, "repeat_pairs": 0}
    regular, adversarial = items
    return (
        f"[study]\n{_lines({'name': name, 'seed': 1, **study})}"
        f'[items]\nsource = "starter"\nregular = {regular}\nadversarial = {adversarial}\n'
        f"{''.join(entries)}[judging]\n{_lines({**once, **judging})}{end}"
    )


def presets(*names: str) -> str:
    """Return systems that answer without a model."""
    return "".join(entry("system", preset=name) for name in names)


def entry(kind: str, **values: object) -> str:
    """Return a system, a judge or a labeler."""
    return f"[[{kind}]]\n{_lines(values)}"


def _lines(values: Mapping[str, object]) -> str:
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value)


def served(kind: str, name: str, model: str, url: str, family: str, **more: object) -> str:
    """Return an entry whose model answers at an address."""
    model = f"openai-compatible/{model}"
    return entry(kind, name=name, model=model, base_url=url, family=family, **more)
