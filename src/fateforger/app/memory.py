"""The configured index of constraints: its location, its embedder, its check for ``doctor``, and rebuilding it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import (
    Embedded,
    Embedder,
    FastEmbed,
    LocalMeaning,
    LocalNgrams,
    OpenAiEmbeddings,
    Pgvector,
    Place,
    QdrantServer,
)
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.resources import Check, open_state
from fateforger.config import Settings
from fateforger.errors import BadInput, MemoryUnavailable, RebuildNeeded
from fateforger.memory.ports import Constraints
from fateforger.memory.retrieval import NEAREST
from fateforger.memory.versions import Version
from fateforger.text import format_count, join_words
from fateforger.workers.contradictions import Differences, compare_memory, restore_lost
from fateforger.workers.memory import Indexer, OnProgress

_OPENAI, _OPENAI_MODEL = "https://api.openai.com/v1", "text-embedding-3-small"
_OLLAMA, _OLLAMA_MODEL = "http://127.0.0.1:11434/v1", "nomic-embed-text"
_FASTEMBED_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
_HELD = "The program that runs here has the index of constraints."
PATIENCE_SECONDS = 60.0
"""The longest that a command waits for the program that runs here to write to the memory."""
_POLL_SECONDS = 0.2


def build_memory(settings: Settings) -> Mem0Memory:
    """Return the index. Nothing is opened yet. Raises ``BadInput`` with the setting to fix."""
    return Mem0Memory(read_place(settings), build_embedder(settings), home=_home(settings) / "mem0")


def read_place(settings: Settings) -> Place:
    """Return the location of the index. Raises ``BadInput``."""
    match settings.memory_store:
        case "embedded":
            return Embedded(_home(settings) / "qdrant")
        case "qdrant":
            if not (settings.memory_url or "").startswith(("http://", "https://")):
                raise BadInput(
                    "FATEFORGER_MEMORY_STORE=qdrant needs the address of that server in FATEFORGER_MEMORY_URL, like"
                    " http://127.0.0.1:6333.",
                    where="memory_url",
                )
            return QdrantServer(str(settings.memory_url), _secret(settings.memory_key))
        case "pgvector":
            url = settings.memory_url or settings.database_url or ""
            if not url.startswith(("postgresql://", "postgres://")):
                raise BadInput(
                    "FATEFORGER_MEMORY_STORE=pgvector needs a PostgreSQL address in FATEFORGER_MEMORY_URL, like"
                    " postgresql://me@localhost/fateforger.",
                    where="memory_url",
                )
            return Pgvector(url)


async def rebuild_index(
    settings: Settings,
    user_id: str | None,
    begun: OnProgress,
    progress: OnProgress = lambda _: None,
    *,
    discard: bool = False,
) -> bool:
    """Rebuild the index from the store; with ``user_id``, index the constraints of that person again.

    Returns ``True`` when it is done, and ``False`` if a program that runs on the data directory will do it. ``begun``
    is called with the number of constraints, ``progress`` with the number of constraints done since its last call.
    Raises ``StoreError``, ``MemoryUnavailable`` and ``BadInput``; ``MemoryUnavailable`` also if the index alone holds
    constraints, unless these are to be discarded.
    """
    async with AsyncExitStack() as stack:
        store = await open_state(settings)
        stack.push_async_callback(store.aclose)
        try:
            stack.enter_context(lock_data_dir(settings.data_dir))
        except BadInput:
            begun(await store.constraints.reindex(user_id))
            return False
        memory = build_memory(settings)
        stack.push_async_callback(memory.aclose)
        indexing = Indexer(store.constraints, memory)
        if user_id is None:
            begun(await indexing.rebuild(discard=discard))
        else:
            begun(await store.constraints.reindex(user_id))
        await indexing.catch_up(progress)
        return True


@dataclass(frozen=True, slots=True)
class FillResult:
    """The memory after its waiting writes.

    ``differences`` is missing where the program that runs here has the memory to itself; ``done`` says whether it has
    written everything by now.
    """

    differences: Differences | None
    done: bool


async def fill_memory(settings: Settings, constraints: Constraints) -> FillResult:
    """Carry out what waits to be written to the memory, then compare the memory with the store.

    A program that runs on the data directory does the writing; it is waited for. Raises ``StoreError``,
    ``MemoryUnavailable`` and ``BadInput``.
    """
    async with AsyncExitStack() as stack:
        memory = build_memory(settings)
        stack.push_async_callback(memory.aclose)
        try:
            stack.enter_context(lock_data_dir(settings.data_dir))
        except BadInput:
            done = await _await_running_program(constraints)
            if isinstance(read_place(settings), Embedded):
                return FillResult(None, done)
        else:
            await Indexer(constraints, memory).catch_up(lambda _: None)
            done = True
        return FillResult(await compare_memory(constraints, memory), done)


async def _await_running_program(constraints: Constraints) -> bool:
    """Wait for a limited time until the program that runs here has written everything to the memory."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await constraints.list_unindexed(limit=1):  # noqa: ASYNC110  another program sends no event
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        return False
    return True


async def compare_stores(settings: Settings, constraints: Constraints) -> Differences:
    """Compare the memory with the store; nothing is written. Raises like :func:`open_alone`."""
    async with open_alone(settings) as memory:
        return await compare_memory(constraints, memory)


async def restore_constraints(settings: Settings, constraints: Constraints, user_id: str | None) -> tuple[Version, ...]:
    """Write what only the memory holds (of one person) back into the store, and return it.

    Raises like :func:`open_alone`.
    """
    async with open_alone(settings) as memory:
        found = await compare_memory(constraints, memory)
        lost = [version for version in found.lost if user_id in {None, version.user_id}]
        restored = await restore_lost(constraints, lost)
        await Indexer(constraints, memory).catch_up()
        return restored


@asynccontextmanager
async def open_alone(settings: Settings) -> AsyncIterator[Mem0Memory]:
    """Open the memory, an embedded one only while no program that runs here holds it.

    Raises ``StoreError``, ``MemoryUnavailable``, and ``BadInput`` for a setting.
    """
    async with AsyncExitStack() as stack:
        memory = build_memory(settings)
        stack.push_async_callback(memory.aclose)
        _hold_alone(stack, settings)
        yield memory


def _hold_alone(stack: AsyncExitStack, settings: Settings) -> bool:
    """Lock the data directory; return ``False`` if a program that runs has it, and the memory is on a server.

    Raises ``MemoryUnavailable`` if that program holds the memory.
    """
    try:
        stack.enter_context(lock_data_dir(settings.data_dir))
    except BadInput as error:
        if isinstance(read_place(settings), Embedded):
            raise MemoryUnavailable(_HELD) from error
        return False
    return True


async def search_constraints(settings: Settings, constraints: Constraints, user_id: str, text: str) -> tuple[str, ...]:
    """Return the uids of a person's constraints that are closest in meaning to ``text``, the closest first.

    An index that no running program holds is brought up to date first. Raises ``MemoryUnavailable``, ``StoreError``,
    and ``BadInput`` for a setting.
    """
    async with AsyncExitStack() as stack:
        memory = build_memory(settings)
        stack.push_async_callback(memory.aclose)
        if _hold_alone(stack, settings):
            await Indexer(constraints, memory).catch_up()
        return tuple(found.uid for found in await memory.search(user_id, text, limit=NEAREST) if found.related)


def build_embedder(settings: Settings) -> Embedder:
    """Return the embedder, which turns words into vectors. Raises ``BadInput``."""
    model, key = settings.memory_embedder_model, _secret(settings.memory_embedder_key)
    url = (settings.memory_embedder_url or "").rstrip("/")
    match settings.memory_embedder:
        case "local":
            return LocalMeaning()
        case "spelling":
            return LocalNgrams()
        case "fastembed":
            return FastEmbed(model or _FASTEMBED_MODEL, _home(settings) / "models")
        case "ollama":
            return OpenAiEmbeddings(url or _OLLAMA, model or _OLLAMA_MODEL, key)
        case "openai":
            if not url and not key:
                raise BadInput("OpenAI needs a key; set FATEFORGER_MEMORY_EMBEDDER_KEY.", where="memory_embedder_key")
            return OpenAiEmbeddings(url or _OPENAI, model or _OPENAI_MODEL, key)


def _home(settings: Settings) -> Path:
    return settings.data_dir / "memory"


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()


MEMORY_FIX = "Check the FATEFORGER_MEMORY settings; planning goes on without the index."
_REBUILD_FIX = "It is rebuilt when the program runs, or now with: fateforger constraints reindex"
_SHARE = "Several programs on one database should share an index: FATEFORGER_MEMORY_STORE=pgvector, or qdrant."


async def check_memory(settings: Settings) -> Check:
    """Check whether the index works. An embedded index can only be checked while no program holds it."""
    try:
        place = read_place(settings)
        memory = build_memory(settings)
    except BadInput as error:
        return Check("memory", "broken", error.message, "Mend that setting, or leave it out for the embedded index.")
    async with AsyncExitStack() as stack:
        if isinstance(place, Embedded):
            if not place.folder.exists():
                return Check("memory", "local", "There is no index yet. It is made when something is remembered.")
            try:
                stack.enter_context(lock_data_dir(settings.data_dir))
            except BadInput:
                return Check("memory", "local", "The program that runs here has the index; fateforger health asks it.")
        stack.push_async_callback(memory.aclose)
        try:
            report = await memory.report()
            store = await open_state(settings)
            stack.push_async_callback(store.aclose)
            found = await compare_memory(store.constraints, memory)
        except RebuildNeeded as error:
            return Check("memory", "broken", error.message, _REBUILD_FIX)
        except MemoryUnavailable as error:
            return Check("memory", "broken", error.message, MEMORY_FIX)
    if found.lost or found.repairable or found.unreadable:
        return Check("memory", "broken", describe_differences(found), describe_remedy(found))
    embedded = isinstance(place, Embedded)
    return Check(
        "memory",
        "local" if embedded else "real",
        f"{format_count(report.memories, 'constraint')} in {report.store}, found by {report.embedder}.",
        _SHARE if embedded and settings.database_url else "",
    )


def describe_differences(found: Differences) -> str:
    """Return the sentences about a comparison of Mem0 with the database."""
    if found.is_whole:
        return f"Mem0 and the database agree: {format_count(found.agreed, 'constraint')}, one memory each."
    counts = (
        (len(found.lost), "only in Mem0"),
        (len(found.missing), "missing from Mem0"),
        (len(found.outdated), "different in Mem0"),
        (found.waiting, "waiting to be written to Mem0"),
    )
    parts = [f"{format_count(count, 'constraint')} {words}" for count, words in counts if count]
    if found.unreadable:
        parts.append(f"{format_count(found.unreadable, 'memory', 'memories')} unreadable")
    agreed = format_count(found.agreed, "constraint")
    return f"Mem0 and the database agree on {agreed}, but not on all: {join_words(parts)}."


def describe_remedy(found: Differences) -> str:
    """Return what to do about the differences; empty if nothing has to be done."""
    if found.lost:
        return "Write them back into the database with: fateforger constraints restore"
    return _REBUILD_FIX if found.repairable or found.unreadable else ""
