"""A process that only indexes: ``python -m tests.scenarios.index_process DIRECTORY [meaning]``, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, LocalMeaning, LocalNgrams
from fateforger.adapters.store.store import open_store
from fateforger.workers.lanes import INDEXING
from fateforger.workers.memory import Indexer
from fateforger.workers.supervisor import Repeated


def open_memory(folder: Path, *, meaning: bool = False) -> Mem0Memory:
    embedder = LocalMeaning() if meaning else LocalNgrams()
    return Mem0Memory(Embedded(folder / "qdrant"), embedder, home=folder / "mem0")


async def main(folder: Path, *how: str) -> None:
    store = open_store(folder / "state.db")
    indexing = Indexer(store.constraints, open_memory(folder, meaning="meaning" in how), batch=7)
    await Repeated(INDEXING, indexing.run_once, seconds=0.02).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
