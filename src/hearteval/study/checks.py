"""What one study needs to run: its file, items, store, imports, keys, and models that answer."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from hearteval.analysis.calls import NOTHING_SPENT, is_same_model, warn_of_models
from hearteval.config import ModelSettings, StudySettings, has_key, load_study
from hearteval.config.first_models import STILL_EXAMPLES, WRITE_PROMPTS, are_examples
from hearteval.errors import HeartError, SettingsError
from hearteval.models.base import AskedModel
from hearteval.models.http import lacks_path
from hearteval.models.local import find_program
from hearteval.models.presets import end_words, load_model_presets
from hearteval.models.prices import money
from hearteval.models.probe import ProbeResult, probe_model
from hearteval.notices import Kind, Notice
from hearteval.report.text import listed
from hearteval.steps.completions import CompletionStep
from hearteval.steps.judgments import schema_of_judges
from hearteval.store.engines import is_readable_as_is, probe_store
from hearteval.store.sql import SqlStore
from hearteval.study import Tell
from hearteval.study.asking.cost import require_prices
from hearteval.study.asking.models import Asking, asked_directly, paid_models
from hearteval.study.asking.others import look_around, settle_command
from hearteval.study.asking.running import ask_models
from hearteval.study.grow import gather, imported_judges, judge_models, system_models
from hearteval.study.one_model import (
    NO_SUCH_MODEL,
    Named,
    SameModel,
    answered_same,
    declared_same,
    named_models,
    unsure_endpoints,
)
from hearteval.study.records.imports import (
    import_command,
    judge_import_command,
    stored_imports,
    unjudged_imports,
)
from hearteval.study.results import read_same_models, read_spending
from hearteval.study.session import Session, open_session, study_id, utc_now


class Check(NamedTuple):
    """One thing that a study may need."""

    name: str
    state: Literal["ok", "missing", "optional"]
    """A study cannot run while anything is ``missing``."""
    detail: str
    """What was found."""
    remedy: str = ""
    """What to do; empty where all is well."""


def check_study(study_file: Path, tell: Tell, *, probe: bool) -> list[Check]:
    """Look at everything that a study needs, change nothing; call each model once to `probe`."""
    try:
        settings = load_study(study_file, is_of_items=True)
    except HeartError as error:
        return [_missing("study file", error)]
    keys = _check_keys(settings)
    checks = [
        Check("study file", "ok", str(study_file)),
        _check("items", lambda: str(len(gather(settings, tell).items))),
        _check("store", lambda: probe_store(settings.store)),
        *_check_imports(settings, tell),
        *_check_imported_judges(settings, tell),
        *keys,
        *_check_local(settings),
        *_check_addresses(settings),
        *_check_prices(settings),
        *_check_ends(settings),
        *map(_check_same, declared_same(settings)),
        *_check_prompts(settings),
        *_check_calls(settings, tell, probe=probe),
    ]
    if probe and all(check.state == "ok" for check in keys):
        checks += _probe_models(settings, tell)
    return checks


def _check(name: str, find: Callable[[], str]) -> Check:
    try:
        return Check(name, "ok", find())
    except HeartError as error:
        return _missing(name, error)


def _all_models(settings: StudySettings) -> list[tuple[str, ModelSettings]]:
    """Return the models of a study's systems, judges and labelers, by what the file calls them."""
    labelers = [(f"labeler {one.name}", one.model) for one in settings.labelers]
    named = [(name, model) for name, model in labelers if model is not None]
    return [*paid_models(settings), *named]


def _check_keys(settings: StudySettings) -> list[Check]:
    models = _all_models(settings)
    if not models:
        return [Check("keys", "ok", "none needed: this study runs offline")]
    checks = []
    for name, model in models:
        if model.key_name is None or has_key(model.key_name):
            key = model.key_name or "needs no key"
            checks.append(Check(name, "ok", f"{model.model} by {model.provider}: {key}"))
        else:
            remedy = f"set the environment variable {model.key_name} to your key"
            found = f"{model.model} by {model.provider}: no key"
            checks.append(Check(name, "missing", found, remedy))
    return checks


def _check_local(settings: StudySettings) -> list[Check]:
    """Say what is missing to run the study's local models, where it has some."""
    checks = []
    for name, model in _all_models(settings):
        try:
            if model.path is not None:
                find_program(model.path)
        except SettingsError as error:
            checks.append(_missing(name, error))
    return checks


def _check_addresses(settings: StudySettings) -> list[Check]:
    """Name the endpoints whose address ends where the path of an API would begin."""
    words = "names a host and no path"
    remedy = "most servers answer at http://HOST/v1: `heart doctor --probe` asks"
    return [
        Check(f"{name}: base_url", "optional", words, remedy)
        for name, model in _all_models(settings)
        if model.backend == "openai-compatible" and model.base_url and lacks_path(model.base_url)
    ]


def _check_prices(settings: StudySettings) -> list[Check]:
    try:
        require_prices(settings, utc_now(), _all_models(settings))
    except SettingsError as error:
        return [_missing("prices", error)]
    return []


def _check_ends(settings: StudySettings) -> list[Check]:
    """Name the models that have ended, or soon will, by the presets they come from."""
    checks, today, presets = [], utc_now().date(), load_model_presets()
    for name, model in _all_models(settings):
        preset = presets.get(model.preset or "")
        if preset is None or model.provider not in {route.provider for route in preset.routes}:
            continue
        words = end_words(preset.end_at(model.provider), today=today)
        if words:
            remedy = "from then on calls fail or another model answers: take a living one"
            checks.append(Check(f"{name}: end", "optional", f"{model.model}: {words}", remedy))
    return checks


def _check_calls(settings: StudySettings, tell: Tell, *, probe: bool) -> list[Check]:
    """Say what models have answered so far, under what name, with which settings, at what cost.

    A model that has never answered is at fault, unless the `probe` says how it is now.
    """
    spending, warned, in_flight = NOTHING_SPENT, list[Notice](), None
    try:
        if is_readable_as_is(settings.store):
            with open_session(settings, tell, is_only_read=True) as session:
                in_flight = look_around(session.store).in_flight
                study = session.store.latest_study(study_id(settings))
                if study is not None:
                    spending = read_spending(session, study)
                    warned += read_same_models(session, study)
    except HeartError:
        return []  # the check of the store has said so
    failed = {(s.role, s.name): s.n_calls for s in spending.steps if s.step == "failed tries"}
    checks = []
    for use in filter(lambda use: use.n_calls, spending.models):
        name, n = f"calls of {use.role} {use.name}", f"{use.n_calls:,} calls, ${use.usd:.4f}, "
        if failed.get((use.role, use.name)) == use.n_calls:
            remedy = (
                "check the model's name, base_url (http://HOST/v1) and that the server runs;"
                " `heart doctor --probe` asks it once"
            )
            state: Literal["missing", "optional"] = "optional" if probe else "missing"
            checks.append(Check(name, state, f"{n}and all of them failed", remedy))
            continue
        said = "answered"
        said += f" as {listed(use.served_as)}" if use.served_as else ""
        sent = listed(use.settings).replace(',"', ', "')  # a line may be folded there
        said += f", with {sent}" if sent else ""
        checks.append(Check(name, "ok", n + said))
    if in_flight is not None and in_flight.usd:
        found = (
            f"at most ${money(in_flight.usd)} in flight when a run was killed, perhaps billed:"
            " counted as spent"
        )
        remedy = f"`{settle_command(settings.file)}` replaces it by what was billed"
        checks.append(Check("in flight", "optional", found, remedy))
    remedy = "see docs/reference/warnings.md"
    warned += [one for one in warn_of_models(spending) if one.kind is Kind.OTHER_MODEL]
    return [*checks, *(Check("models", "optional", str(one), remedy) for one in warned)]


def _check_imported_judges(settings: StudySettings, tell: Tell) -> list[Check]:
    judges = imported_judges(settings)
    if not judges:
        return []
    lacking = [*judges]
    try:
        if is_readable_as_is(settings.store):
            with open_session(settings, tell, is_only_read=True) as session:
                study = session.store.latest_study(study_id(settings))
                if study is not None:
                    lacking = unjudged_imports(session.store, study, settings)
    except HeartError:
        return []  # the check of the store has said so
    how = judge_import_command(settings)
    return [
        Check(f"import {name}", "optional", "nothing imported yet", how)
        if name in lacking
        else Check(f"import {name}", "ok", "judged elsewhere")
        for name in judges
    ]


def _check_imports(settings: StudySettings, tell: Tell) -> list[Check]:
    imported = {entry.name: entry.imported for entry in settings.systems if entry.imported}
    if not imported:
        return []
    try:
        stored = stored_imports(settings, tell)
    except HeartError:
        return []  # the check of the store has said so
    checks = []
    for name, model in imported.items():
        n, n_items = stored.get(name, (0, 0))
        found = f"{n} of {n_items} replies imported" if n else "nothing imported yet"
        remedy = "" if 0 < n_items == n else import_command(settings, name)
        state: Literal["ok", "optional"] = "optional" if remedy else "ok"
        checks.append(Check(f"import {name}", state, f"{model.model}: {found}", remedy))
    return checks


def _check_prompts(settings: StudySettings) -> list[Check]:
    if not are_examples(system.brief for system in settings.systems):
        return []
    return [Check("prompts", "optional", STILL_EXAMPLES, WRITE_PROMPTS)]


def _check_same(found: SameModel) -> Check:
    state: Literal["missing", "optional"] = "missing" if found.judges_itself else "optional"
    return Check("one model, two names", state, found.words, found.remedy)


def _probe_models(settings: StudySettings, tell: Tell) -> list[Check]:
    named = named_models(settings)
    unsure = unsure_endpoints(named)
    nobody = {
        place: replace(asked_directly(one.model), model=NO_SUCH_MODEL)
        for place, one in unsure.items()
    }
    systems, judges = (
        {id_: asked_directly(model) for id_, model in models.items()}
        for models in (system_models(settings), judge_models(settings))
    )

    async def probe(asking: Asking) -> list[Check]:
        asked = [asking.models[id_] for id_ in (*systems, *judges)]
        probed = [await _probe(*of) for of in zip(named, asked, strict=True)]
        answers_any = {place for place in nobody if await _answers(asking.models[place])}
        same = answered_same([one for _, one in probed], answers_any)
        return [*(check for check, _ in probed), *map(_check_same, same)]

    with closing(SqlStore.in_memory()) as store:
        session = Session(settings=settings, store=store, tell=tell, now=utc_now)
        held = partial(schema_of_judges, settings.judging.form)
        free = {**systems, **nobody}
        return ask_models(session, probe, (free, CompletionStep().schema), (judges, held))


async def _answers(asked: AskedModel) -> bool:
    try:
        await probe_model(asked)
    except HeartError:
        return False
    return True


async def _probe(one: Named, asked: AskedModel) -> tuple[Check, Named]:
    """Ask one question; return what was found, and the entry with what its reply says it is."""
    name = f"probe {one.role} {one.name}"
    try:
        found = await probe_model(asked)
    except HeartError as error:
        return _missing(name, error), one
    return _read_probe(name, asked.model.name, found), one._replace(answer=found.model)


def _read_probe(name: str, asked_for: str, found: ProbeResult) -> Check:
    if found.follows_schema is False:
        return Check(
            name,
            "optional",
            f"{found.model} answers, but its endpoint does not enforce the JSON schema",
            "a reply of another form is missing: where many are, take another endpoint",
        )
    if found.model and not is_same_model(asked_for, found.model):
        return Check(
            name,
            "optional",
            f"{asked_for} was asked for, and {found.model} answers",
            "see docs/reference/warnings.md#other-model",
        )
    held = ", and the JSON schema is enforced" if found.follows_schema else ""
    return Check(name, "ok", f"{found.model} answers{held}")


def _missing(name: str, error: Exception) -> Check:
    what, _, remedy = str(error).partition("; ")
    return Check(name, "missing", what, remedy)
