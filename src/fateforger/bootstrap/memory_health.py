"""Check the index of constraints for ``doctor``."""

from __future__ import annotations

from contextlib import AsyncExitStack

from fateforger.adapters.memory import Embedded
from fateforger.bootstrap.check import Check
from fateforger.bootstrap.claim import lock_data_dir
from fateforger.bootstrap.memory import build_memory, read_place
from fateforger.config import Settings
from fateforger.errors import BadInput, MemoryUnavailable, RebuildNeeded

MEMORY_FIX = "Check the FATEFORGER_MEMORY settings; planning goes on without the index."
_REBUILD_FIX = "It is made anew by itself when the program runs, or now with: fateforger constraints reindex"
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
                return Check("memory", "local", "Nothing was remembered yet; the index is made when something is.")
            try:
                stack.enter_context(lock_data_dir(settings.data_dir))
            except BadInput:
                return Check("memory", "local", "The program that runs here has the index; fateforger health asks it.")
        stack.push_async_callback(memory.aclose)
        try:
            report = await memory.report()
        except RebuildNeeded as error:
            return Check("memory", "broken", error.message, _REBUILD_FIX)
        except MemoryUnavailable as error:
            return Check("memory", "broken", error.message, MEMORY_FIX)
    embedded = isinstance(place, Embedded)
    return Check(
        "memory",
        "local" if embedded else "real",
        f"{_count_words(report.memories)} in {report.store}, found by {report.embedder}.",
        _SHARE if embedded and settings.database_url else "",
    )


def _count_words(memories: int) -> str:
    return f"{memories} constraint{'' if memories == 1 else 's'}"
