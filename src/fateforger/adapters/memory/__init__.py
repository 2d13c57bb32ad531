"""The index of constraints, kept by Mem0: one memory each, written by one thread, with telemetry off.

Mem0 and what it stands on take more than a second to import: that happens at first use, on the thread of the index.
"""

from __future__ import annotations

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.embedders import Embedder, FastEmbed, LocalNgrams, OpenAiEmbeddings
from fateforger.adapters.memory.places import Embedded, Pgvector, Place, QdrantServer

__all__ = [
    "Embedded",
    "Embedder",
    "FastEmbed",
    "LocalNgrams",
    "Mem0Memory",
    "OpenAiEmbeddings",
    "Pgvector",
    "Place",
    "QdrantServer",
]
