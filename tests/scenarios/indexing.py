"""A process that does nothing but index: ``python -m tests.scenarios.indexing DIRECTORY``, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, LocalNgrams
from fateforger.adapters.store.store import open_store
from fateforger.workers.lanes import INDEXING
from fateforger.workers.memory import Indexer
from fateforger.workers.supervisor import Repeated


def open_memory(folder: Path) -> Mem0Memory:
    return Mem0Memory(Embedded(folder / "qdrant"), LocalNgrams(), home=folder / "mem0")


async def main(folder: Path) -> None:
    store = open_store(folder / "state.db")
    indexing = Indexer(store.constraints, open_memory(folder), batch=7)
    await Repeated(INDEXING, indexing.run_once, seconds=0.02).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
