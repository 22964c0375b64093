"""One system of a study as one of Inspect's logs; importing this needs the extra ``inspect``.

Each completion is a sample called by its item's id, and what each rater said of it is a score: the
raw share of judgments that it won, a tie half a win; strengths and rankings stay in the report. Who
wrote a text stands in every log: nothing is called a person's that a model or a program wrote.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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

from hearteval.analysis.coverage.missing import last_attempts
from hearteval.analysis.coverage.study import BASELINE_FAMILY
from hearteval.analysis.data import StudyData
from hearteval.domain import Completion, Item, Rater, Study, System, record_id
from hearteval.domain.systems import SIMULATED
from hearteval.notices import SIMULATED_WORDS

WRITTEN_BY: Mapping[str, str] = {
    "model": "a language model",
    "human": "people, under pseudonyms",
    "original": "the corpus: its own next turn; consent_basis of each sample says who wrote it",
    "baseline": "a baseline: a program without a model; `shuffled` and `retrieval` borrow replies",
}
NOTE = (
    "Exported from a hearteval study, not run by Inspect. A score is the raw share of judgments"
    " that a completion won, a tie half a win: it depends on the systems it was compared with."
    " Rankings and intervals are in the study's report."
)
CUE_NOTE = "offline baseline: it counts hand-set cues and measures nothing about empathy"
METRIC = "win_rate"
SHOWN_DIGITS = 3
"""Of a sample's score, which Inspect shows in full; its counts are beside it."""
ITEM_LABELS = (
    *("subset", "profile", "emotion", "problem", "culture", "population", "language"),
    *("cue", "resistance"),
    *("source", "dialogue_id", "licence", "consent_basis"),
)
"""What is said of the item of a sample."""
MESSAGES: Mapping[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


class Tally(NamedTuple):
    """How often something won, lost and tied."""

    wins: int = 0
    losses: int = 0
    ties: int = 0

    @property
    def n(self) -> int:
        """Judgments."""
        return sum(self)

    @property
    def win_rate(self) -> float:
        """Share won, a tie half a win; there must be a judgment."""
        return (self.wins + self.ties / 2) / self.n


Tallies = Mapping[str, Mapping[str, Tally]]
"""By completion id and rater id."""


class _Scorer(NamedTuple):
    """Whose judgments make a score, by Inspect's word for it."""

    name: str
    metadata: Mapping[str, str]
    rater_ids: frozenset[str]

    def sum(self, tallies: Mapping[str, Tally]) -> Tally:
        return _total(tally for id_, tally in tallies.items() if id_ in self.rater_ids)


def inspect_messages(item: Item, turns: Sequence[tuple[str, str]]) -> list[ChatMessage]:
    """Return what stands before a reply, given as (role, content), as Inspect's messages."""
    return [
        MESSAGES[role](id=f"{item.id}-{number}", content=content, source="input")
        for number, (role, content) in enumerate(turns)
    ]


def tally_judgments(data: StudyData) -> Tallies:
    """Count judgments by completion and by rater, for both sides of each.

    Repeats and attention checks are left out, as in a ranking, and so are judgments of raters and
    completions that are not exported.
    """
    mates = {pair.id: pair.completion_ids for pair in data.pairs}
    raters = {rater.id for rater in data.raters}
    ranked = {system.id for system in data.ranked}
    known = {c.id for c in data.completions if c.system_id in ranked}
    judgments = data.judgments.first_ones.by(raters)
    shown = {id_ for id_, texts in mates.items() if known.issuperset(texts)}
    counts: defaultdict[str, defaultdict[str, Counter[str]]]
    counts = defaultdict(lambda: defaultdict(Counter))
    for judgment in judgments.select(judgments.pair.is_in(shown)):
        for completion_id in mates[judgment.pair_id]:
            is_first = completion_id == judgment.first_completion_id
            won = "wins" if (judgment.choice == "first") == is_first else "losses"
            outcome = "ties" if judgment.choice == "tie" else won
            counts[completion_id][judgment.rater_id][outcome] += 1
    return {
        completion_id: {rater_id: Tally(**counted) for rater_id, counted in by_rater.items()}
        for completion_id, by_rater in counts.items()
    }


class LogMaker:
    """Makes the logs of a study, one for each system; its arguments are those of `export_study`."""

    def __init__(
        self,
        study: Study,
        data: StudyData,
        *,
        prompts: Mapping[str, Mapping[str, Sequence[tuple[str, str]]]],
    ) -> None:
        self._study = study
        self._data = data
        self._prompts = prompts
        self._items = {item.id: item for item in data.items}
        self._tallies = tally_judgments(data)
        self._scorers = _scorers(data.raters)

    def make(self, system: System) -> EvalLog:
        """Return the log of a system: its completions, what is missing, what raters said."""
        study = self._study
        samples = list(self._samples(system))
        own = [c for c in self._data.completions if c.system_id == system.id]
        times = sorted(c.created_at.isoformat() for c in own) or [study.created_at.isoformat()]
        log_id = record_id("inspect_log", {"study": study.id, "system": system.id})
        return EvalLog(
            status="success",
            eval=EvalSpec(
                eval_id=log_id,
                run_id=study.id,
                task_id=log_id,
                created=study.created_at.isoformat(),
                task=f"hearteval study {study.name}",
                task_version=study.version,
                dataset=EvalDataset(
                    name=str(study.design.get("items", {}).get("source", "")) or None,
                    samples=len(samples),
                    sample_ids=sorted({str(sample.id) for sample in samples}),
                ),
                model=_model_name(system),
                config=EvalConfig(),
                tags=[system.kind],
                packages={"hearteval": study.software_version},
                metadata=_log_metadata(study, system),
            ),
            results=EvalResults(
                total_samples=len(samples),
                completed_samples=sum(sample.error is None for sample in samples),
                scores=list(self._log_scores(own)),
            ),
            stats=EvalStats(started_at=times[0], completed_at=times[-1]),
            samples=samples,
        )

    def _samples(self, system: System) -> Iterator[EvalSample]:
        own = [
            c
            for c in self._data.completions
            if c.system_id == system.id and c.item_id in self._items
        ]
        own.sort(key=lambda c: (c.item_id, c.repeat, c.writer_id or ""))
        of_system = [a for a in self._data.attempts if a.system_id == system.id]
        failed = last_attempts(of_system, lambda attempt: attempt.item_id or "")
        for completion in own:
            yield self._sample(system, completion, _epoch(completion, own))
        answered = {completion.item_id for completion in own}
        for item_id, attempt in sorted(failed.items()):
            if item_id in self._items and item_id not in answered:
                yield _failed_sample(self._items[item_id], system, attempt.reason)

    def _sample(self, system: System, completion: Completion, epoch: int) -> EvalSample:
        item = self._items[completion.item_id]
        is_model = system.kind == "model"
        sent = self._prompts.get(completion.prompt_hash or "", {}) if is_model else {}
        is_ours = item.id in sent
        turns = sent.get(item.id) or _dialogue(item)
        before = inspect_messages(item, turns)
        message = ChatMessageAssistant(
            id=completion.id,
            content=completion.text,
            source="generate" if is_model else None,
            model=_model_name(system) if is_model else None,
        )
        output = _output(system, completion, message)
        return EvalSample(
            id=item.id,
            epoch=epoch,
            input=before,
            target="",
            messages=[*before, message],
            output=output,
            metadata=_sample_metadata(item, completion, is_ours=is_ours),
            scores=dict(self._sample_scores(completion)),
            model_usage={output.model: output.usage} if output.usage else {},
            completed_at=completion.created_at.isoformat(),
            total_time=None if completion.total_ms is None else completion.total_ms / 1000,
            uuid=completion.id,
        )

    def _sample_scores(self, completion: Completion) -> Iterator[tuple[str, Score]]:
        for scorer in self._scorers:
            tally = scorer.sum(self._tallies.get(completion.id, {}))
            if tally.n:
                yield (
                    scorer.name,
                    Score(
                        value=round(tally.win_rate, SHOWN_DIGITS),
                        answer=completion.text,
                        explanation=f"won {tally.wins}, lost {tally.losses}, tied {tally.ties} of"
                        f" {tally.n} judgments of this completion against others",
                        metadata={**scorer.metadata, **tally._asdict()},
                    ),
                )

    def _log_scores(self, completions: Sequence[Completion]) -> Iterator[EvalScore]:
        for scorer in self._scorers:
            each = [scorer.sum(self._tallies.get(c.id, {})) for c in completions]
            total = _total(each)
            if total.n:
                n_scored = sum(tally.n > 0 for tally in each)
                yield EvalScore(
                    name=scorer.name,
                    scorer=scorer.name,
                    scored_samples=n_scored,
                    unscored_samples=len(each) - n_scored,
                    metrics={METRIC: EvalMetric(name=METRIC, value=total.win_rate)},
                    metadata={**scorer.metadata, **total._asdict()},
                )


def _model_name(system: System) -> str:
    """Return what Inspect shall call the system: a model as it would, all others as ours."""
    if system.kind != "model":
        return f"hearteval/{system.settings.get('preset') or system.kind}"
    provider, model = system.settings.get("provider"), system.settings.get("model", system.name)
    if provider in (None, "imported"):
        return str(model)
    return f"{provider}/{model}".removeprefix("inspect/")


def _log_metadata(study: Study, system: System) -> dict[str, Any]:
    return {
        **({SIMULATED: True} if study.is_simulated else {}),
        "note": f"{SIMULATED_WORDS} {NOTE}" if study.is_simulated else NOTE,
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


def _epoch(completion: Completion, own: Sequence[Completion]) -> int:
    """Return the epoch: the repeat, and among people's completions of an item the writer's turn."""
    if completion.writer_id is None:
        return completion.repeat + 1
    mates = [(c.writer_id or "", c.repeat) for c in own if c.item_id == completion.item_id]
    return sorted(mates).index((completion.writer_id, completion.repeat)) + 1


def _dialogue(item: Item) -> list[tuple[str, str]]:
    roles = {"seeker": "user", "supporter": "assistant"}
    return [(roles[turn.role], turn.text) for turn in item.context]


def _output(system: System, completion: Completion, message: Any) -> ModelOutput:
    usage = completion.call.usage
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
        model=str(completion.call.effective.get("model") or _model_name(system)),
        choices=[
            ChatCompletionChoice(
                message=message,
                stop_reason="stop" if completion.call.finish_reason == "stop" else "unknown",
            )
        ],
        usage=counts,
        time=None if completion.total_ms is None else completion.total_ms / 1000,
    )


def _item_labels(item: Item) -> dict[str, Any]:
    labels = {name: getattr(item, name) for name in ITEM_LABELS}
    return {name: label for name, label in labels.items() if label is not None}


def _sample_metadata(item: Item, completion: Completion, *, is_ours: bool) -> dict[str, Any]:
    details: dict[str, Any] = {
        "completion_id": completion.id,
        "writer": completion.writer_id,
        "repeat": completion.repeat,
        "prompt_hash": completion.prompt_hash,
        "shown_before_it": "what was sent" if is_ours else "the dialogue alone",
        "requested": dict(completion.call.requested) or None,
        "effective": dict(completion.call.effective) or None,
        "finish_reason": completion.call.finish_reason,
        "first_token_ms": completion.first_token_ms,
        "cost_usd": completion.call.cost,
    }
    known = {name: value for name, value in details.items() if value is not None}
    return {**_item_labels(item), **known}


def _scorers(raters: Sequence[Rater]) -> list[_Scorer]:
    """Return who gives scores: the LLM judges together where there are several, then each rater."""
    each = sorted((_one_scorer(rater) for rater in raters), key=lambda one: one.name)
    judges = frozenset(
        rater.id for rater in raters if rater.kind == "llm" and rater.family != BASELINE_FAMILY
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
    elif rater.family == BASELINE_FAMILY:
        name, judged_by = f"{name} (offline baseline)", CUE_NOTE
    metadata = {"judged_by": judged_by, "rater": rater.name, "family": rater.family}
    return _Scorer(name=name, metadata=metadata, rater_ids=frozenset({rater.id}))


def _total(tallies: Iterable[Tally]) -> Tally:
    return Tally(*map(sum, zip(*tallies, strict=True)))
