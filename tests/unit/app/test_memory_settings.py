"""The index of constraints as settings describe it, and what ``doctor`` says of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of

from fateforger.adapters.memory.vectors import (
    Embedded,
    FastEmbed,
    LocalMeaning,
    LocalNgrams,
    OpenAiEmbeddings,
    Pgvector,
    QdrantServer,
)
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.memory import build_embedder, build_memory, check_memory, read_place, rebuild_index
from fateforger.app.resources import open_state
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput


def settings(folder: Path, **given: Any) -> Settings:
    return read_settings(data_dir=folder, **{f"memory_{name}": value for name, value in given.items()})


def list_files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_where_it_is(tmp_path: Path) -> None:
    database = "postgresql://me:pw@db/ours"
    assert read_place(settings(tmp_path)) == Embedded(tmp_path / "memory" / "qdrant")
    assert read_place(settings(tmp_path, store="qdrant", url="http://q:6333", key="k")) == QdrantServer(
        "http://q:6333", "k"
    )
    assert read_place(settings(tmp_path, store="pgvector", url=database)) == Pgvector(database)
    shared = read_settings(data_dir=tmp_path, memory_store="pgvector", database_url=database)
    assert read_place(shared) == Pgvector(database)
    assert (settings(tmp_path, url=database, key="k1", embedder_key="k2").secrets) == ("k1", "k2", "pw")
    assert "pw" not in f"{Pgvector(database)} {Pgvector(database).words}"


def test_what_embeds(tmp_path: Path) -> None:
    assert build_embedder(settings(tmp_path)) == LocalMeaning()
    assert build_embedder(settings(tmp_path, embedder="spelling")) == LocalNgrams()
    assert build_embedder(settings(tmp_path, embedder="ollama", embedder_model="m")) == OpenAiEmbeddings(
        "http://127.0.0.1:11434/v1", "m"
    )
    assert build_embedder(settings(tmp_path, embedder="openai", embedder_url="http://e/v1/")) == OpenAiEmbeddings(
        "http://e/v1", "text-embedding-3-small"
    )
    assert build_embedder(settings(tmp_path, embedder="openai", embedder_key="k")).name == (
        "text-embedding-3-small at https://api.openai.com/v1"
    )
    assert build_embedder(settings(tmp_path, embedder="fastembed", embedder_model="m")) == FastEmbed(
        "m", tmp_path / "memory" / "models"
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"store": "qdrant"}, "FATEFORGER_MEMORY_STORE=qdrant needs the address of that server"),
        ({"store": "qdrant", "url": "q:6333"}, "FATEFORGER_MEMORY_STORE=qdrant needs the address of that server"),
        ({"store": "pgvector"}, "FATEFORGER_MEMORY_STORE=pgvector needs a PostgreSQL address"),
        ({"embedder": "openai"}, "OpenAI needs a key; set FATEFORGER_MEMORY_EMBEDDER_KEY."),
    ],
)
async def test_what_is_missing_is_said(tmp_path: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        build_memory(settings(tmp_path, **given))
    check = await check_memory(settings(tmp_path, **given))
    assert (check.state, check.message[: len(sentence)]) == ("broken", sentence)


async def test_doctor_on_the_embedded_one(tmp_path: Path) -> None:
    """It makes nothing where there is nothing, and leaves alone what a program has open."""
    here = settings(tmp_path)
    assert (await check_memory(here)).message == "There is no index yet. It is made when something is remembered."
    assert list_files(tmp_path) == []
    store = await open_state(here)
    await store.constraints.write([version_of("c")], cause="x")
    await store.aclose()
    assert await rebuild_index(here, None, lambda _: None)
    check = await check_memory(here)
    assert (check.state, check.message) == ("local", "1 constraint in embedded Qdrant, found by local-meaning-1.")
    with lock_data_dir(tmp_path):
        assert (await check_memory(here)).message == (
            "The program that runs here has the index; fateforger health asks it."
        )
    (tmp_path / "memory" / "qdrant" / "meta.json").write_text("garbage")
    check = await check_memory(here)
    assert (check.state, check.message, check.fix) == (
        "broken",
        "The files of the index of constraints are damaged; it has to be rebuilt.",
        "It is rebuilt when the program runs, or now with: fateforger constraints reindex",
    )


async def test_doctor_names_what_only_mem0_holds(tmp_path: Path) -> None:
    """S321: after the loss of the database, this is reported before anything else is written."""
    here = settings(tmp_path)
    store = await open_state(here)
    await store.constraints.write([version_of("c")], cause="x")
    await store.aclose()
    await rebuild_index(here, None, lambda _: None)
    await asyncio.to_thread((tmp_path / "fateforger.db").unlink)
    check = await check_memory(here)
    assert (check.state, check.message, check.fix) == (
        "broken",
        "Mem0 and the database agree on 0 constraints, but not on all: 1 constraint only in Mem0.",
        "Write them back into the database with: fateforger constraints restore",
    )


async def test_doctor_on_a_server_that_is_not_there(tmp_path: Path) -> None:
    check = await check_memory(settings(tmp_path, store="qdrant", url="http://127.0.0.1:9"))
    assert check.state == "broken"
    assert check.message.startswith("The index of constraints cannot be used: the Qdrant server at 127.0.0.1:9 says: ")
