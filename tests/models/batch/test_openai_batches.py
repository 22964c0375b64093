"""What results of OpenAI's batch jobs say where a line is not what it should be."""

import json

import pytest

from hearteval.models.base import Sampling
from hearteval.models.batch.providers import OpenAIBatches
from hearteval.models.failures import FaultError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import Client, Timeouts

ENDPOINT = Endpoint(name="m", model="m", base_url="http://127.0.0.1/v1", api_key="k-012345")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"response": {"status_code": "abc", "body": {}}}, "server-error"),
        ({"response": {"status_code": [200], "body": {}}}, "server-error"),
        ({"response": {"status_code": 1e300, "body": {}}}, "server-error"),
        ({"response": {"body": {}}}, "server-error"),
        ({"response": {"status_code": 404, "body": {}}}, "unknown-model"),
        ({"response": {"status_code": 200, "body": None}}, "not-a-completion"),
        ({"response": 5}, "server-error"),
        ({"error": {"code": ["batch_expired"]}}, "server-error"),
        ({}, "server-error"),
    ],
)
def test_line_without_a_reply_says_why(line: dict[str, object], reason: str) -> None:
    client = Client(session=None, timeouts=Timeouts(), proxy=None, trust_env=False)  # type: ignore[arg-type]
    batches = OpenAIBatches(ENDPOINT, client)

    with pytest.raises(FaultError) as caught:
        batches.read(json.dumps({"custom_id": "a", **line}), Sampling(max_tokens=9))

    assert caught.value.reason == reason
