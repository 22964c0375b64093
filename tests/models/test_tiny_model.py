"""The tiny model in the repository is the project's own: made from its own text, by its recipe."""

import http.client
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from gguf_file import read_metadata
from tiny_model import ONE_THREAD, TINY_MODEL
from tiny_tokenizer import SPECIAL_TOKENS, SYMBOLS, Tokenizer, learn_merges, own_texts

import hearteval
from hearteval.items import load_starter_items
from hearteval.models.local import run_local_model


@pytest.fixture(scope="module")
def merges() -> list[tuple[str, str]]:
    return learn_merges(own_texts())


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    return read_metadata(TINY_MODEL)


def test_it_is_small_enough_for_the_repository() -> None:
    assert TINY_MODEL.stat().st_size <= 2_000_000


def test_its_text_comes_from_the_installed_package_alone() -> None:
    opened: list[Path] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching and isinstance(arguments[0], str | os.PathLike):
            opened.append(Path(arguments[0]).resolve())

    own_texts()  # opens modules too
    load_starter_items.cache_clear()
    watching = True
    sys.addaudithook(note)
    texts = own_texts()
    watching = False
    package = Path(hearteval.__file__).parent
    assert len(texts) > 500
    assert [path.relative_to(package) for path in opened] == [Path("items/starter/items.jsonl")]


def test_its_vocabulary_is_what_the_recipe_learns_from_that_text(
    metadata: dict[str, Any], merges: list[tuple[str, str]]
) -> None:
    assert metadata["tokenizer.ggml.merges"] == [f"{a} {b}" for a, b in merges]
    learned = [a + b for a, b in merges]
    assert metadata["tokenizer.ggml.tokens"] == [*SPECIAL_TOKENS, *SYMBOLS, *learned]


def test_it_carries_the_projects_licence(metadata: dict[str, Any]) -> None:
    assert metadata["general.license"] == "apache-2.0"
    assert "own starter items" in metadata["general.description"]


@pytest.mark.server
def test_llama_cpp_splits_text_as_the_recipe_did(merges: list[tuple[str, str]]) -> None:
    tokenizer = Tokenizer(merges)
    texts = [*own_texts()[::40], "It's 3 a.m.\n\n  I'm not_ok…  ", '{"H": "x", "E":2}']
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
        for text in texts:
            connection.request("POST", "/tokenize", json.dumps({"content": text}))
            assert json.loads(connection.getresponse().read())["tokens"] == tokenizer.encode(text)
        connection.close()
