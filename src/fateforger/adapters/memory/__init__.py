"""The index of constraints in Mem0: one memory per constraint, accessed by one thread, with telemetry off.

Mem0 and its dependencies take more than a second to import, which happens on first use, on the index thread.
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
