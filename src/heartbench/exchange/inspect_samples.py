"""One system of a study as one of Inspect's logs; importing this needs the extra ``inspect``.

Each completion is a sample called by its item's id, and what each rater said of it is a score: the
raw share of judgments that it won, a tie half a win; strengths and rankings stay in the report. Who
wrote a text stands in every log: nothing is called a person's that a model or a program wrote.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
)
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score

from heartbench.domain import Completion, Item, Rater, System, record_id
from heartbench.exchange.study_export import StudyExport, Tallies, Tally, sum_tallies

WRITTEN_BY: Mapping[str, str] = {
    "model": "a language model",
    "human": "people, under pseudonyms",
    "original": "the corpus: its own next turn; consent_basis of each sample says who wrote it",
    "baseline": "a baseline: a program without a model; `shuffled` and `retrieval` borrow replies",
}
NOTE = (
    "Exported from a heartbench study, not run by Inspect. A score is the raw share of judgments"
    " that a completion won, a tie half a win: it depends on the systems it was compared with."
    " Rankings and intervals are in the study's report."
)
CUE_FAMILY = "cue"
CUE_NOTE = "offline baseline: it counts hand-set cues and measures nothing about empathy"
METRIC = "win_rate"
SHOWN_DIGITS = 3
"""Of a sample's score, which Inspect shows in full; its counts are beside it."""
MESSAGES: Mapping[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scorer:
    """Whose judgments make a score, by Inspect's word for it."""

    name: str
    metadata: Mapping[str, str]
    rater_ids: frozenset[str]


def inspect_messages(item: Item, turns: Sequence[tuple[str, str]]) -> list[ChatMessage]:
    """Return what stands before a reply, given as (role, content), as Inspect's messages."""
    return [
        MESSAGES[role](id=f"{item.id}-{number}", content=content, source="input")
        for number, (role, content) in enumerate(turns)
    ]


def build_log(export: StudyExport, system: System, tallies: Tallies) -> EvalLog:
    """Return the log of one system: its completions, what is missing, and what raters said."""
    study = export.study
    samples = list(_samples(export, system, tallies))
    own = [c for c in export.completions if c.system_id == system.id]
    times = sorted(c.created_at.isoformat() for c in own) or [study.created_at.isoformat()]
    log_id = record_id("inspect_log", {"study": study.id, "system": system.id})
    return EvalLog(
        status="success",
        eval=EvalSpec(
            eval_id=log_id,
            run_id=study.id,
            task_id=log_id,
            created=study.created_at.isoformat(),
            task=f"heartbench study {study.name}",
            task_version=study.version,
            dataset=EvalDataset(
                name=str(study.design.get("items", {}).get("source", "")) or None,
                samples=len(samples),
                sample_ids=sorted({str(sample.id) for sample in samples}),
            ),
            model=_model_name(system),
            config=EvalConfig(),
            tags=[system.kind],
            packages={"heartbench": study.software_version},
            metadata=_log_metadata(export, system),
        ),
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=sum(sample.error is None for sample in samples),
            scores=_log_scores(export, own, tallies),
        ),
        stats=EvalStats(started_at=times[0], completed_at=times[-1]),
        samples=samples,
    )


def _model_name(system: System) -> str:
    """Return what Inspect shall call the system: a model as it would, all others as ours."""
    if system.kind != "model":
        return f"heartbench/{system.settings.get('preset') or system.kind}"
    provider, model = system.settings.get("provider"), system.settings.get("model", system.name)
    if provider in (None, "imported"):
        return str(model)
    return f"{provider}/{model}".removeprefix("inspect/")


def _log_metadata(export: StudyExport, system: System) -> dict[str, Any]:
    study = export.study
    return {
        "note": NOTE,
        "study": study.name,
        "study_id": study.id,
        "study_version": study.version,
        "system": system.name,
        "system_id": system.id,
        "kind": system.kind,
        "family": system.family,
        "written_by": WRITTEN_BY[system.kind],
        "is_baseline": system.kind == "baseline",
        "settings": dict(system.settings),
        "items_hash": study.items_hash,
    }


def _samples(export: StudyExport, system: System, tallies: Tallies) -> Iterator[EvalSample]:
    items = {item.id: item for item in export.items}
    own = [c for c in export.completions if c.system_id == system.id and c.item_id in items]
    failed = {
        attempt.item_id: attempt.reason
        for attempt in sorted(export.attempts, key=lambda attempt: attempt.attempt)
        if attempt.system_id == system.id
    }
    answered = {completion.item_id for completion in own}
    for completion in sorted(own, key=lambda c: (c.item_id, c.repeat, c.writer_id or "")):
        yield _sample(export, items[completion.item_id], system, completion, tallies)
    for item_id, reason in sorted((id_ or "", reason) for id_, reason in failed.items()):
        if item_id in items and item_id not in answered:
            yield _failed_sample(items[item_id], system, reason)


def _sample(
    export: StudyExport,
    item: Item,
    system: System,
    completion: Completion,
    tallies: Tallies,
) -> EvalSample:
    is_ours = system.kind == "model" and completion.prompt_hash == export.prompt_hash
    turns = export.prompts[item.id] if is_ours else _dialogue(item)
    before = inspect_messages(item, turns)
    message = ChatMessageAssistant(
        id=completion.id,
        content=completion.text,
        source="generate" if system.kind == "model" else None,
        model=_model_name(system) if system.kind == "model" else None,
    )
    output = _output(system, completion, message)
    return EvalSample(
        id=item.id,
        epoch=_epoch(export, completion),
        input=before,
        target="",
        messages=[*before, message],
        output=output,
        metadata=_sample_metadata(item, completion, is_ours=is_ours),
        scores=_sample_scores(export, completion, tallies.get(completion.id, {})),
        model_usage={output.model: output.usage} if output.usage else {},
        completed_at=completion.created_at.isoformat(),
        total_time=None if completion.total_ms is None else completion.total_ms / 1000,
        uuid=completion.id,
    )


def _failed_sample(item: Item, system: System, reason: str) -> EvalSample:
    """Return a sample without a completion; why there is none stands as its error."""
    before = inspect_messages(item, _dialogue(item))
    return EvalSample(
        id=item.id,
        epoch=1,
        input=before,
        target="",
        messages=before,
        metadata={**_item_labels(item), "missing": reason},
        error=EvalError(message=f"no completion: {reason}", traceback="", traceback_ansi=""),
        uuid=record_id("inspect_sample", {"item": item.id, "system": system.id}),
    )


def _epoch(export: StudyExport, completion: Completion) -> int:
    """Return the epoch: the repeat, and among people's completions of an item the writer's turn."""
    if completion.writer_id is None:
        return completion.repeat + 1
    mates = [
        (c.writer_id or "", c.repeat)
        for c in export.completions
        if (c.item_id, c.system_id) == (completion.item_id, completion.system_id)
    ]
    return sorted(mates).index((completion.writer_id, completion.repeat)) + 1


def _dialogue(item: Item) -> list[tuple[str, str]]:
    roles = {"seeker": "user", "supporter": "assistant"}
    return [(roles[turn.role], turn.text) for turn in item.context]


def _output(system: System, completion: Completion, message: Any) -> ModelOutput:
    usage = completion.usage
    counts = None
    if {"input_tokens", "output_tokens"} <= usage.keys():
        cached = usage.get("cached_tokens")
        counts = ModelUsage(
            input_tokens=usage["input_tokens"] - (cached or 0),
            output_tokens=usage["output_tokens"],
            total_tokens=usage["input_tokens"] + usage["output_tokens"],
            input_tokens_cache_read=cached,
            reasoning_tokens=usage.get("reasoning_tokens"),
        )
    return ModelOutput(
        model=str(completion.effective.get("model") or _model_name(system)),
        choices=[
            ChatCompletionChoice(
                message=message,
                stop_reason="stop" if completion.finish_reason == "stop" else "unknown",
            )
        ],
        usage=counts,
        time=None if completion.total_ms is None else completion.total_ms / 1000,
    )


def _item_labels(item: Item) -> dict[str, Any]:
    labels = {
        "subset": item.subset,
        "profile": item.profile,
        "emotion": item.emotion,
        "problem": item.problem,
        "culture": item.culture,
        "population": item.population,
        "language": item.language,
        "source": item.source,
        "dialogue_id": item.dialogue_id,
        "licence": item.licence,
        "consent_basis": item.consent_basis,
    }
    return {name: label for name, label in labels.items() if label is not None}


def _sample_metadata(item: Item, completion: Completion, *, is_ours: bool) -> dict[str, Any]:
    details: dict[str, Any] = {
        "completion_id": completion.id,
        "writer": completion.writer_id,
        "repeat": completion.repeat,
        "prompt_hash": completion.prompt_hash,
        "shown_before_it": "what was sent" if is_ours else "the dialogue alone",
        "requested": dict(completion.requested) or None,
        "effective": dict(completion.effective) or None,
        "finish_reason": completion.finish_reason,
        "first_token_ms": completion.first_token_ms,
        "cost_usd": completion.cost,
    }
    known = {name: value for name, value in details.items() if value is not None}
    return {**_item_labels(item), **known}


def _scorers(export: StudyExport) -> list[_Scorer]:
    """Return who gives scores: the LLM judges together where there are several, then each rater."""
    each = sorted((_one_scorer(rater) for rater in export.raters), key=lambda one: one.name)
    judges = frozenset(
        rater.id for rater in export.raters if rater.kind == "llm" and rater.family != CUE_FAMILY
    )
    if len(judges) < 2:
        return each
    together = {"judged_by": f"{len(judges)} LLM judges together, each judgment counted once"}
    return [_Scorer(name="all judges", metadata=together, rater_ids=judges), *each]


def _one_scorer(rater: Rater) -> _Scorer:
    name = f"judge {rater.name}"
    judged_by = "an LLM judge"
    if rater.kind == "human":
        name, judged_by = f"person {rater.name}", "a person, by pseudonym"
    elif rater.family == CUE_FAMILY:
        name, judged_by = f"{name} (offline baseline)", CUE_NOTE
    metadata = {"judged_by": judged_by, "rater": rater.name, "family": rater.family}
    return _Scorer(name=name, metadata=metadata, rater_ids=frozenset({rater.id}))


def _sum(tallies: Mapping[str, Tally], rater_ids: frozenset[str]) -> Tally:
    given = [tally for rater_id, tally in tallies.items() if rater_id in rater_ids]
    return sum_tallies(given)


def _sample_scores(
    export: StudyExport, completion: Completion, tallies: Mapping[str, Tally]
) -> dict[str, Score]:
    scores = {}
    for scorer in _scorers(export):
        tally = _sum(tallies, scorer.rater_ids)
        if tally.n:
            scores[scorer.name] = Score(
                value=round(tally.win_rate, SHOWN_DIGITS),
                answer=completion.text,
                explanation=f"won {tally.wins}, lost {tally.losses}, tied {tally.ties} of"
                f" {tally.n} judgments of this completion against others",
                metadata={**scorer.metadata, **asdict(tally)},
            )
    return scores


def _log_scores(
    export: StudyExport, completions: Sequence[Completion], tallies: Tallies
) -> list[EvalScore]:
    scores = []
    for scorer in _scorers(export):
        each = [_sum(tallies.get(c.id, {}), scorer.rater_ids) for c in completions]
        total = sum_tallies(each)
        if total.n:
            n_scored = sum(tally.n > 0 for tally in each)
            scores.append(
                EvalScore(
                    name=scorer.name,
                    scorer=scorer.name,
                    scored_samples=n_scored,
                    unscored_samples=len(each) - n_scored,
                    metrics={METRIC: EvalMetric(name=METRIC, value=total.win_rate)},
                    metadata={**scorer.metadata, **asdict(total)},
                )
            )
    return scores
