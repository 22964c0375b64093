"""Entries of a study file that name a model: a preset, an endpoint of one's own, a local file."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hearteval.completions.baselines import BASELINES
from hearteval.completions.prompting import Brief, known_briefs
from hearteval.config.model_settings import (
    BATCH_CALLS,
    MAX_CONCURRENCY,
    Entry,
    ImportedModel,
    Judge,
    JudgeSettings,
    ModelSettings,
    System,
    SystemSettings,
    guess_meant,
)
from hearteval.domain import shows_text
from hearteval.domain.systems import IMPORTED
from hearteval.errors import SettingsError
from hearteval.models.base import VLLM_FILES
from hearteval.models.http import is_http
from hearteval.models.presets import (
    CUE_JUDGE,
    INSPECT,
    ModelPreset,
    Route,
    find_family,
    is_known_to_think,
    load_inspect_providers,
    load_judge_presets,
    load_model_presets,
)
from hearteval.models.prices import TokenPrice
from hearteval.models.wrappers.pace import CallLimits
from hearteval.protocol import ENGLISH

LOCAL, OWN_ENDPOINT = "local", "openai-compatible"
LOCAL_TIMEOUT_S = 900.0
"""Of a call to a local model, which computes slowly."""
LOCAL_CONCURRENCY = 2
"""One call is computed while the next is on its way; more would wait inside llama.cpp's server."""
KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
REFUSABLE = ("temperature", "top_p", "seed", "max_tokens", "schema")
MOST_BRIEF = 20_000
"""Characters of a brief of one's own."""
NOT_FAMILIES = ("human", "original", "baseline", "cue")
NO_MODELS = ("original", "baseline")
"""Families of imported systems that say of what kind these are."""


def read_system(
    where: str, folder: Path, entry: System, *, language: str = ENGLISH
) -> SystemSettings:
    """Read a ``[[system]]`` that messages call `where`; paths are relative to `folder`.

    The language is that in which models are asked.

    Raises:
        SettingsError: It names no preset and no model, both, or what does not exist.
    """
    if entry.model is None and entry.preset is None:
        raise SettingsError(
            f"{where}: preset is missing; one of: {', '.join(BASELINES)}, a model of"
            " `heart systems`; or give model, base_url and family"
        )
    if entry.preset == "best_human":
        raise SettingsError(
            f"{where}: best_human is chosen from people's completions when a study is analysed, and"
            " this version has no people yet"
        )
    if entry.preset in BASELINES:
        why = f"the preset {entry.preset!r} needs nothing more"
        _refuse_extras(where, entry, {"preset", "name", "mine"}, why)
        name = _clean_name(where, entry.name or entry.preset)
        return SystemSettings(name=name, preset=entry.preset, model=None, is_mine=entry.mine)
    if _is_imported(entry):
        imported = _imported_model(where, entry)
        name = _clean_name(where, entry.name or imported.model)
        return SystemSettings(
            name=name, preset=None, model=None, imported=imported, is_mine=entry.mine
        )
    model = _read_model(where, folder, entry)
    preset = load_model_presets().get(entry.preset or "")
    brief = read_brief(f"{where}: prompt", folder, entry.prompt or "paper", language)
    told = "" if brief.name == "paper" else f" ({Path(entry.prompt or '').stem})"
    name = entry.name or f"{preset.name if preset else model.model}{told}"
    return SystemSettings(
        name=_clean_name(where, name), preset=None, model=model, brief=brief, is_mine=entry.mine
    )


def read_brief(where: str, folder: Path, given: str, language: str = ENGLISH) -> Brief:
    """Return the brief of a name, or that in a file, whose path is relative to `folder`.

    Raises:
        SettingsError: There is neither, or nothing in the file that a model could be told.
    """
    known = known_briefs(language)
    if given in known:
        return known[given]
    path = folder / given
    if not path.is_file():
        raise SettingsError(
            f"{where}: there is no file {path}{guess_meant(given, tuple(known))}; expected"
            f" {' or '.join(map(repr, known))}, or a text file with what the model is told",
            ids=(given,),
        )
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{where}: {path} cannot be read as text in UTF-8: {error}") from error
    if not shows_text(text) or len(text) > MOST_BRIEF:
        raise SettingsError(
            f"{where}: {path}: expected what the model is told, up to {MOST_BRIEF:,} characters"
        )
    same = next((brief for brief in known.values() if brief.text == text), None)
    return same or Brief(name="own", text=text, language=language)


def read_judge(where: str, folder: Path, entry: Judge) -> JudgeSettings:
    """Read a ``[[judge]]``; the arguments and errors are those of `read_system`."""
    if _is_imported(entry):
        imported = _imported_model(where, entry)
        name = _clean_name(where, entry.name or imported.model)
        return JudgeSettings(name=name, model=None, imported=imported)
    model = _read_model(where, folder, entry)
    name = _clean_name(where, entry.name or entry.preset or model.model)
    return JudgeSettings(name=name, model=model)


def find_judge(where: str, name: str, own: Mapping[str, JudgeSettings]) -> JudgeSettings:
    """Return the judge of a name: a ``[[judge]]`` of the file, a preset, or the cue judge.

    Raises:
        SettingsError: There is none.
    """
    if name in own:
        return own[name]
    presets = load_judge_presets()
    if name == CUE_JUDGE:
        return JudgeSettings(name=name, model=None)
    if name not in presets:
        raise SettingsError(
            f"{where}: there is no judge {name!r}; one of: {', '.join((*own, *presets))}, or"
            " describe it in [[judge]]",
            ids=(name,),
        )
    preset = presets[name].model
    assert preset is not None
    model = _of_route(preset, preset.routes[0], Judge())
    return JudgeSettings(name=name, model=model)


def _is_imported(entry: Entry) -> bool:
    return (entry.model or "").startswith(f"{IMPORTED}/")


def _refuse_extras(where: str, entry: Entry, allowed: set[str], why: str) -> None:
    extras = sorted(entry.model_fields_set - allowed)
    if extras:
        raise SettingsError(f"{where}: {', '.join(extras)}: {why}; remove it")


def _imported_model(where: str, entry: Entry) -> ImportedModel:
    _check_words(where, entry)
    allowed = {"model", "name", "family", "mine"}
    _refuse_extras(where, entry, allowed, "an imported model is never asked")
    model = (entry.model or "").removeprefix(f"{IMPORTED}/")
    if not model or not model.isprintable():
        raise SettingsError(
            f"{where}: model: expected the model as its log names it, such as"
            f' "{IMPORTED}/openai/gpt-5"'
        )
    if model == CUE_JUDGE and isinstance(entry, Judge):
        if entry.family is not None:
            raise SettingsError(
                f"{where}: family: {entry.model} is the offline baseline and has a family of its"
                " own; remove the line"
            )
        return ImportedModel(model=model, family=CUE_JUDGE)
    return ImportedModel(
        model=model, family=_required_family(where, entry, known=find_family(model))
    )


def _required_family(where: str, entry: Entry, known: str | None = None) -> str:
    """Return the family that an entry names; where the model is a known one, that of the model."""
    if known is not None and entry.family not in {None, known}:
        raise SettingsError(
            f"{where}: family: {entry.model} is of the family {known!r}, not {entry.family!r};"
            " judges never decide on their own family: remove the line, or correct it"
        )
    if known is not None:
        return known
    if entry.family is None:
        raise SettingsError(
            f"{where}: family: name the developer's line (gpt, claude, llama, a word of your own);"
            " judges never decide on their own family"
        )
    return entry.family


def _clean_name(where: str, name: str) -> str:
    clean = unicodedata.normalize("NFC", name).strip()
    if not clean.isprintable() or not clean or clean.startswith("stress-"):
        raise SettingsError(
            f"{where}: name: expected visible characters that do not begin with 'stress-'"
        )
    if clean.casefold() == "tie":
        raise SettingsError(f"{where}: name: {clean!r} is what a comparison without a winner says")
    return clean


def _read_model(where: str, folder: Path, entry: Entry) -> ModelSettings:
    _check_words(where, entry)
    model = _find_model(where, folder, entry)
    _check_batch(where, entry, model)
    if model.path is None and not entry.reuse_prompts:
        raise SettingsError(f"{where}: reuse_prompts: only a local model can be told; remove it")
    return model


def _find_model(where: str, folder: Path, entry: Entry) -> ModelSettings:
    if entry.preset is None:
        return _own_model(where, folder, entry)
    preset = load_model_presets().get(entry.preset)
    if preset is None:
        known = (*BASELINES, *load_model_presets())
        guess = guess_meant(entry.preset, known)
        raise SettingsError(
            f"{where}: there is no preset {entry.preset!r}{guess}; `heart systems` lists them"
        )
    if entry.family is not None:
        raise SettingsError(f"{where}: family: a preset brings its own family; remove it")
    if not preset.routes or entry.base_url is not None:
        return _own_endpoint(where, entry, preset=preset)
    if entry.model is not None:
        raise SettingsError(f"{where}: model: a preset brings its own; remove it, or add base_url")
    return _of_route(preset, _choose_route(where, preset, entry), entry)


def _choose_route(where: str, preset: ModelPreset, entry: Entry) -> Route:
    if entry.provider is None:
        return next((r for r in preset.routes if r.batch or not entry.batch), preset.routes[0])
    routes = {route.provider: route for route in preset.routes}
    if entry.provider not in routes:
        raise SettingsError(
            f"{where}: provider: {preset.id} is served by {', '.join(routes)}, not by"
            f" {entry.provider!r}"
        )
    return routes[entry.provider]


def _of_route(preset: ModelPreset, route: Route, entry: Entry) -> ModelSettings:
    return replace(
        _settings(entry, route.provider, route.model, preset.family),
        preset=preset.id,
        base_url=route.base_url,
        key_name=entry.key_name or route.key_name,
        refuses=_refused(route, entry),
        max_tokens_key=route.max_tokens_key,
        extra_body=route.extra_body,
        batch=route.batch if entry.batch else None,
        thinks=preset.thinks,
        cache_from=route.cache_from,
        cache_mark=route.cache_mark,
    )


def _settings(entry: Entry, provider: str, model: str, family: str | None) -> ModelSettings:
    """Return what an entry says of a model, whoever serves it."""
    assert family is not None
    is_set = "concurrency" in entry.model_fields_set
    price = entry.price
    return ModelSettings(
        provider=provider,
        model=model,
        family=family,
        key_name=entry.key_name,
        refuses=frozenset(entry.refuses or ()),
        max_tokens=entry.max_tokens,
        price=None
        if price is None
        else TokenPrice(input_usd=price.input, output_usd=price.output, cached_usd=price.cached),
        thinking_tokens=entry.thinking_tokens,
        thinks=is_known_to_think(model),
        is_streamed=entry.stream,
        concurrency=BATCH_CALLS if entry.batch and not is_set else entry.concurrency,
        limits=CallLimits(
            rpm=entry.rpm,
            tpm=entry.tpm,
            timeout_s=entry.timeout_s or CallLimits.timeout_s,
            tries=entry.tries,
            max_wait_s=entry.max_wait_s,
            stop_after=entry.stop_after,
        ),
    )


def _own_model(where: str, folder: Path, entry: Entry) -> ModelSettings:
    model = entry.model or ""
    if entry.provider is not None:
        raise SettingsError(f"{where}: provider: goes with a preset; remove it")
    if model.startswith(f"{LOCAL}:"):
        _required_family(where, entry)
        return _local_model(where, folder, entry)
    entry = entry.model_copy(
        update={"family": _required_family(where, entry, known=find_family(model))}
    )
    if model.startswith(INSPECT):
        return _inspect_model(where, entry)
    return _own_endpoint(where, entry, preset=None)


def _own_endpoint(where: str, entry: Entry, *, preset: ModelPreset | None) -> ModelSettings:
    if entry.base_url is None or entry.model is None:
        lacking = "base_url" if entry.base_url is None else "model"
        raise SettingsError(
            f"{where}: {lacking} is missing: an endpoint of your own needs model ="
            ' "openai-compatible/ID" and base_url = "http://HOST/v1"'
        )
    if not is_http(entry.base_url):
        raise SettingsError(
            f'{where}: base_url: expected an address such as "http://HOST/v1"', ids=("base_url",)
        )
    model = entry.model.removeprefix(f"{OWN_ENDPOINT}/")
    family = preset.family if preset else entry.family
    return replace(
        _settings(entry, OWN_ENDPOINT, model, family),
        preset=preset.id if preset else None,
        base_url=entry.base_url,
        batch="openai" if entry.batch else None,
    )


def _inspect_model(where: str, entry: Entry) -> ModelSettings:
    provider, _, model = (entry.model or "").removeprefix(INSPECT).partition("/")
    known = load_inspect_providers()
    if provider not in known or not model:
        raise SettingsError(
            f"{where}: model: expected inspect/PROVIDER/ID with a provider of"
            f" {', '.join(known)}; others speak OpenAI's chat completions"
            ' (model = "openai-compatible/ID" and base_url)'
        )
    return replace(
        _settings(entry, f"{INSPECT}{provider}", model, entry.family),
        base_url=entry.base_url or known[provider].base_url,
        key_name=entry.key_name or known[provider].key_name,
        cache_from=known[provider].cache_from,
        cache_mark=known[provider].cache_mark,
    )


def _local_model(where: str, folder: Path, entry: Entry) -> ModelSettings:
    path = folder / (entry.model or "").removeprefix(f"{LOCAL}:")
    for setting in ("base_url", "key_name"):
        if getattr(entry, setting) is not None:
            raise SettingsError(f"{where}: {setting}: a local model needs none; remove it")
    if not path.is_file():
        raise SettingsError(f"{where}: model: there is no file {path}", ids=(str(path),))
    found = _settings(entry, LOCAL, path.name, entry.family)
    free = TokenPrice(input_usd=0.0, output_usd=0.0)
    limits = found.limits
    if entry.timeout_s is None:
        limits = replace(limits, timeout_s=LOCAL_TIMEOUT_S)
    if path.suffix not in VLLM_FILES and "concurrency" not in entry.model_fields_set:
        found = replace(found, concurrency=LOCAL_CONCURRENCY)
    return replace(
        found,
        path=path,
        reuse_prompts=entry.reuse_prompts,
        price=found.price or free,
        limits=limits,
    )


def _refused(route: Route, entry: Entry) -> frozenset[str]:
    """Return what a route refuses; a judge's batch interface may take a schema where it does not.

    A system is sent no schema: it stays the same system with and without batch jobs.
    """
    if entry.refuses is not None:
        return frozenset(entry.refuses)
    if entry.batch and isinstance(entry, Judge) and route.batch_refuses is not None:
        return route.batch_refuses
    return route.refuses


def _check_batch(where: str, entry: Entry, model: ModelSettings) -> None:
    if entry.batch and model.batch is None:
        presets = load_model_presets().values()
        served = {route.provider for preset in presets for route in preset.routes if route.batch}
        raise SettingsError(
            f"{where}: batch: {model.model} by {model.provider} has no batch jobs that hearteval"
            f" can use; remove it, or take one of the providers {', '.join(sorted(served))} or an"
            " endpoint of your own"
        )
    if model.batch == "anthropic" and "max_tokens" in model.refuses:
        raise SettingsError(
            f"{where}: refuses: Anthropic's batch jobs need max_tokens; take it out"
        )


def _check_words(where: str, entry: Entry) -> None:
    if entry.concurrency > MAX_CONCURRENCY and not entry.batch:
        raise SettingsError(
            f"{where}: concurrency: at most {MAX_CONCURRENCY:,} calls at once; more go into a batch"
            " job only (batch = true)"
        )
    if entry.key_name is not None and not KEY_NAME.fullmatch(entry.key_name):
        raise SettingsError(
            f"{where}: key_name: expected the name of an environment variable in capitals, such as"
            " OPENAI_API_KEY; never a key itself"
        )
    unknown = sorted(set(entry.refuses or ()) - set(REFUSABLE))
    if unknown:
        raise SettingsError(
            f"{where}: refuses: {', '.join(unknown)}: expected some of {', '.join(REFUSABLE)}"
        )
    is_known = entry.family in NO_MODELS and _is_imported(entry) and not isinstance(entry, Judge)
    if (
        entry.family is not None
        and not is_known
        and (entry.family in NOT_FAMILIES or not re.fullmatch(r"[\w.-]+", entry.family))
    ):
        raise SettingsError(
            f"{where}: family: expected a word for the developer's line, none of"
            f" {', '.join(NOT_FAMILIES)}"
        )
