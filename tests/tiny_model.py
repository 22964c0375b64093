"""The project's own tiny model, for tests that must meet a genuine model server.

How it is made: tests/models/make_tiny_model.py. One thread: with more, threads that wait for each
other on a busy machine cost far more than they bring to a model of this size.
"""

from pathlib import Path

from hearteval.models.local import LocalSettings

TINY_MODEL = Path(__file__).parent / "models" / "data" / "tiny.gguf"
ONE_THREAD = LocalSettings(n_threads=1)
