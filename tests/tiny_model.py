"""The project's own tiny model, for tests that must meet a genuine model server.

How it is made: tests/models/make_tiny_model.py. One thread: with more, threads that wait for each
other on a busy machine cost far more than they bring to a model of this size.
"""

import http.client
import os
from pathlib import Path

from hearteval.models.local import LocalSettings

TINY_MODEL = Path(__file__).parent / "models" / "data" / "tiny.gguf"
ONE_THREAD = LocalSettings(n_threads=1)
SECONDS = 60
"""For which nothing hangs that works."""


def is_serving(base_url: str) -> bool:
    connection = http.client.HTTPConnection(base_url.split("/")[2], timeout=SECONDS)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (ConnectionError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
