"""The models of a first study file: what `heart init` writes of models and judges by their names.

Whatever can be known from a name and an address is written out; what cannot, such as a price that
no list has, stands as a comment where it belongs.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from hearteval.completions.prompting import Brief, known_briefs
from hearteval.config.model_settings import guess_meant
from hearteval.config.models import LOCAL, OWN_ENDPOINT
from hearteval.errors import SettingsError
from hearteval.models.http import is_http, lacks_path
from hearteval.models.presets import (
    CUE_JUDGE,
    INSPECT,
    find_family,
    load_judge_presets,
    load_model_presets,
)

FREE_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""Whose models cost nothing by the token: they are this machine's."""
OWN_FAMILY, OTHER_FAMILY = "mine", "other"
PROMPTS: Final = ("prompt-a", "prompt-b")
ADDED = " Ask one question about what happened."
"""What the second prompt of a first study asks for besides, so that the two differ."""
STILL_EXAMPLES = "both prompts are still the examples that heart init wrote"
WRITE_PROMPTS = f"write your own into {' and '.join(f'{name}.txt' for name in PROMPTS)}"


class FirstModels(NamedTuple):
    """What somebody says of their models, their judges, and what they want to know."""

    models: tuple[str, ...]
    """At least one; the answer leads with the first. Where two prompts are compared, one."""
    base_url: str | None = None
    judges: tuple[str, ...] = ()
    """None: those of the file; where two prompts are compared, the model itself."""
    is_comparison: bool = False


def add_models(text: str, first: FirstModels) -> tuple[str, Mapping[str, str]]:
    """Return a study file with these models in it, and the prompts beside it, by file name.

    Raises:
        SettingsError: A name alone does not say where the model is.
    """
    if first.base_url is not None and not is_http(first.base_url):
        raise SettingsError(
            f'--base-url {first.base_url}: expected an address such as "http://HOST/v1"'
        )
    placed = {one: _place(one, first, OWN_FAMILY, option="--model") for one in first.models}
    places = [place for place, _ in placed.values()]
    families = {model: family for model, (_, family) in placed.items()}
    judges = [_judge(judge, first, families) for judge in _named_judges(first)]
    is_own = any(own for _, _, own in judges)
    if first.is_comparison:
        systems = [
            f'[[system]]\nname = "{name}"\nprompt = "{name}.txt"\n{places[0]}' for name in PROMPTS
        ]
        brief = known_briefs()["paper"].text
        prompts = dict(zip((f"{one}.txt" for one in PROMPTS), (brief, brief + ADDED), strict=True))
    else:
        systems, prompts = [f"[[system]]\n{place}" for place in places], {}
        systems[0] += "\nmine = true"
    blocks = "\n\n".join([*systems, *chain.from_iterable(entry for _, entry, _ in judges)])
    text = re.sub(r"# MODELS|# A model.*?(?=\n\n\[judging\])", lambda _: blocks, text, flags=re.S)
    said = (
        "  # of the model's own line, as both replies are; another line is better" if is_own else ""
    )
    names = [name for name, _, _ in judges]
    if names:
        line = f"judges = {json.dumps(names, ensure_ascii=False)}{said}"
        text = re.sub(r"^judges = .*", lambda _: line, text, flags=re.M)
    text = text.replace(
        "exclude_own_family = OWN", f"exclude_own_family = {json.dumps(not is_own)}"
    )
    if {*names} - {CUE_JUDGE}:
        text = re.sub(r"#\n# The cue judge counts.*?\n\n", "\n", text, flags=re.S)
        text = text.replace(
            "six systems that need no key, and the offline cue judge",
            f"your model{'s' * (len(systems) > 1)} among systems that need no key",
        )
    return text, prompts


def are_examples(briefs: Iterable[Brief | None]) -> bool:
    """Say whether both prompts of a comparison are still those that `heart init` wrote."""
    paper = known_briefs()["paper"].text
    return {paper, paper + ADDED} <= {brief.text for brief in briefs if brief}


def who_answers(first: FirstModels, text: str) -> tuple[str, ...]:
    """Say which models are asked and who judges in a study file.

    A judge's name that is almost a known one is asked about, an address without a path doubted.
    """
    judges, models = load_judge_presets(), load_model_presets()
    at = f" at {first.base_url}" if first.base_url else ""
    asked = [f"{model}{'' if model in models else at}" for model in first.models]
    judging = []
    for judge in _named_judges(first):
        is_known = judge in judges or judge in models
        meant = "" if is_known or not first.judges else guess_meant(judge, tuple(judges))
        judging.append(f"{judge}{'' if is_known else at}{meant}")
    judging = judging or tomllib.loads(text)["judging"]["judges"] or ["people"]
    said = f"{_counted('model', asked)}; {_counted('judge', judging)}"
    if judging == [CUE_JUDGE]:
        said += (
            ", which measures nothing: name a model with --judge, or as judges in the study file"
        )
    if first.base_url is None or not lacks_path(first.base_url):
        return (said,)
    v1 = f"{first.base_url.rstrip('/')}/v1"
    return said, f"{first.base_url} has no path: most servers answer at {v1}"


def _counted(what: str, named: Sequence[str]) -> str:
    return f"{what}{'s' * (len(named) > 1)}: {', '.join(named)}"


def _named_judges(first: FirstModels) -> tuple[str, ...]:
    """Return the judges to write of; where there are none, those of the file stay."""
    return first.judges or (first.models if first.is_comparison else ())


def _judge(
    asked: str, first: FirstModels, families: Mapping[str, str | None]
) -> tuple[str, list[str], bool]:
    """Return a judge's name, its entry where it needs one, and whether it may judge its own line.

    `families` are those that the models were given. Of two prompts of one model both replies are of
    its line, so that such a judge favours neither.
    """
    judges = load_judge_presets()
    if first.judges and asked in judges:
        own = [_family(model) for model in first.models] if first.is_comparison else []
        return asked, [], judges[asked].family in own
    line = _family(asked) or asked
    like = next((one for one in first.models if asked == one or line == _family(one)), None)
    place, _ = _place(asked, first, families.get(like or "") or OTHER_FAMILY, option="--judge")
    entry = f"[[judge]]\nname = {json.dumps(asked, ensure_ascii=False)}\n{place}"
    return asked, [entry], like is not None and first.is_comparison


def _family(model: str) -> str | None:
    """Return the line of a known model."""
    preset = load_model_presets().get(model)
    return preset.family if preset else find_family(model)


def _place(
    model: str, first: FirstModels, unknown_family: str, *, option: str
) -> tuple[str, str | None]:
    """Return the lines that say where a model is, and its family where it has to be named."""
    presets = load_model_presets()
    if model in presets:
        return f"preset = {json.dumps(model)}", None
    is_local, is_inspect = model.startswith(f"{LOCAL}:"), model.startswith(INSPECT)
    if first.base_url is None and not is_local and not is_inspect:
        raise SettingsError(
            f"{option} {model}: no preset has this name{guess_meant(model, tuple(presets))}: say"
            " where it is (--base-url http://HOST/v1), or take a preset of `heart systems`",
            ids=(model,),
        )
    is_elsewhere = not is_local and not is_inspect
    lines = [f"model = {json.dumps(f'{OWN_ENDPOINT}/{model}' if is_elsewhere else model)}"]
    if is_elsewhere:
        lines.append(f"base_url = {json.dumps(first.base_url)}")
    family = None if not is_local and find_family(model) else unknown_family
    if family is not None:
        lines.append(f"family = {json.dumps(family)}")
    if is_elsewhere and urlsplit(first.base_url or "").hostname in FREE_HOSTS:
        lines.append("price = 0")
    elif is_elsewhere:
        lines.append(_key(first.base_url or ""))
        lines.append("# price = { input = 0.5, output = 1.5 }   # dollars per million tokens")
    return "\n".join(lines), family


def _key(base_url: str) -> str:
    """Return the line that names the key: of a provider that the presets know, its own."""
    known = {
        route.base_url.rstrip("/"): route.key_name
        for preset in load_model_presets().values()
        for route in preset.routes
        if route.key_name
    }
    name = known.get(base_url.rstrip("/"))
    if name is None:
        return '# key_name = "MY_KEY"       # the environment variable that holds its key'
    return f'key_name = "{name}"'
