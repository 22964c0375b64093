"""Where models that are asked through batch jobs are built, and their jobs remembered."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from heartbench.cli.console import note, warn
from heartbench.config import ModelSettings
from heartbench.models.anthropic_batches import AnthropicBatches
from heartbench.models.batch_jobs import BatchJob, BatchProvider
from heartbench.models.batch_queue import BatchQueue
from heartbench.models.batch_runner import BatchPolicy, JobRunner
from heartbench.models.connections import Client
from heartbench.models.openai_batches import OpenAIBatches
from heartbench.models.wire import Endpoint
from heartbench.store.base import Store, StoredJob

POLICY = BatchPolicy()


class StoredJobs:
    """A `heartbench.models.batch_jobs.JobBook` in the study's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def open_jobs(self) -> Sequence[BatchJob]:
        """Return the jobs that are not closed, of all models."""
        return [BatchJob(**asdict(job)) for job in self._store.jobs() if job.closed_at is None]

    def keep(self, job: BatchJob) -> None:
        """Keep a job, or what is new of it; it is durable when this returns."""
        self._store.keep_job(StoredJob(**asdict(job)))

    def reply_keys(self) -> frozenset[str]:
        """Return the keys of all replies that are kept."""
        return self._store.reply_ids()


def batch_queue(
    model: ModelSettings, endpoint: Endpoint, client: Client, store: Store
) -> BatchQueue:
    """Return the batch jobs of a model, to be entered as a context."""
    provider: BatchProvider
    if model.batch == "anthropic":
        provider = AnthropicBatches(endpoint, client)
    else:
        provider = OpenAIBatches(endpoint, client, provider=model.provider)
    runner = JobRunner(provider, StoredJobs(store), say=note, policy=POLICY)
    return BatchQueue(runner, max_calls=model.concurrency)


def warn_of_open_jobs(model: ModelSettings, store: Store) -> None:
    """Say that a model is about to be asked directly for what a batch job may still answer."""
    kept = store.reply_ids()
    n = sum(
        len(set(job.custom_ids) - kept)
        for job in store.jobs()
        if job.closed_at is None and (job.provider, job.model) == (model.provider, model.model)
    )
    if n:
        warn(
            f"{model.model}: {n:,} calls are in batch jobs that were not collected to their end;"
            " asked directly, they are paid for again: stop and put batch = true back to collect"
        )


def asked_directly(model: ModelSettings) -> ModelSettings:
    """Return a model as it is asked without batch jobs: to time it, or to see whether it answers.

    Anthropic's ordinary endpoint here is its OpenAI-compatible one, which ignores schemas.
    """
    refuses = model.refuses | {"schema"} if model.batch == "anthropic" else model.refuses
    return replace(model, batch=None, refuses=refuses)
