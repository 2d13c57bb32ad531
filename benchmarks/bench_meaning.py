"""Search by meaning: how much of a labeled set each embedder finds, and what it costs.

The set is in ``benchmarks.meaning``: 257 rules of five people in five languages, and 376 held-out pairs of a message
and a rule. Each embedder runs behind the real index. ``fastembed`` is measured only where its model has been
downloaded. Then the whole way of a message: which rules its prompt shows, all musts and the nearest others. Then the
time of a search among a thousand rules, and what the first use of the model takes.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.unit.conversation.sessions import MORNING, session

from benchmarks.meaning import FIRST, Person, Recall, give_to, measure_recall, read_people
from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.vectors import Embedded, Embedder, FastEmbed, LocalMeaning, LocalNgrams
from fateforger.conversation.memory_service import MOST_SEARCHED
from fateforger.errors import MemoryUnavailable
from fateforger.memory.versions import Version
from fateforger.session.recall import NEAREST_SHOWN, constraints_for_message, recall
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

RULES = 1_000
TARGET_MS = 25
FASTEMBED = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
FASTEMBED_CACHE = Path.home() / ".cache" / "fastembed"
FIRST_USE = """
import json, resource, time
from fateforger.adapters.memory.vectors import LocalMeaning
kib = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before, started, busy = kib(), time.perf_counter(), time.process_time()
LocalMeaning().embed("lunch")
print(json.dumps({"seconds": time.perf_counter() - started, "processor_seconds": time.process_time() - busy,
                  "mb": (kib() - before) / 1024}))
"""


@asynccontextmanager
async def index(embedder: Embedder, *versions: Version) -> AsyncIterator[Mem0Memory]:
    with tempfile.TemporaryDirectory() as name:
        memory = Mem0Memory(Embedded(Path(name) / "qdrant"), embedder, home=Path(name))
        try:
            for start in range(0, len(versions), 100):
                await memory.put(*versions[start : start + 100])
            yield memory
        finally:
            await memory.aclose()


async def measure_embedder(embedder: Embedder, people: Sequence[Person]) -> tuple[dict[str, str], dict[str, str]]:
    """Search the rules of each person, and see which ones a prompt about the message shows."""
    kept: list[bool] = []
    now = session(TimeboxingStage.REFINE)
    async with index(embedder, *(version for person in people for version in person.versions)) as memory:

        async def search(person: Person, text: str) -> list[str]:
            return [found.uid for found in await memory.search(person.user_id, text, limit=MOST_SEARCHED)]

        async def prompt(person: Person, text: str) -> list[str]:
            mine = replace(now, user_id=person.user_id)
            known = mine.with_rules(recalled=recall(mine, person.versions, MORNING, await search(person, text)))
            shown = [item.uid for item in constraints_for_message(known).applicable]
            kept.append(person.musts == set(shown[: len(person.musts)]))
            return shown[len(person.musts) :]

        found = await measure_recall(people, search)
        shown = {first: await measure_recall(people, prompt, first) for first in (FIRST, NEAREST_SHOWN)}
    shares = {
        f"{group}, among {first}": share
        for first, recalled in shown.items()
        for group, share in describe(recalled).items()
        if group.startswith(("wishes", "should"))
    }
    return describe(found), {"prompts with all musts": f"{statistics.mean(kept):.1%}", **shares}


def describe(recall: Mapping[str, Recall]) -> dict[str, str]:
    return {group: f"{each.share:.1%} of {each.pairs}" for group, each in sorted(recall.items())}


async def measure_speed(embedder: Embedder, people: Sequence[Person]) -> dict[str, Any]:
    """Return the milliseconds of a search among a thousand rules of one person."""
    drawn = [version for person in people for version in person.versions]
    rules = [give_to(drawn[n % len(drawn)], "U", f"c{n}") for n in range(RULES)]
    started, busy = time.perf_counter(), time.process_time()
    times: list[tuple[float, float]] = []
    async with index(embedder, *rules) as memory:
        indexing = (time.perf_counter() - started, time.process_time() - busy)
        await memory.search("U", "lunch", limit=FIRST)
        for message in (message for person in people for message in person.messages):
            started, busy = time.perf_counter(), time.process_time()
            await memory.search("U", message.text, limit=MOST_SEARCHED)
            times.append(((time.perf_counter() - started) * 1_000, (time.process_time() - busy) * 1_000))
    clock, processor = zip(*times, strict=True)
    return {
        "ms": _percentiles(clock),
        "processor_ms": _percentiles(processor),
        "indexing_seconds": indexing[0],
        "indexing_processor_seconds": indexing[1],
    }


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {"p50": statistics.median(values), "p95": statistics.quantiles(values, n=20)[-1]}


async def measure() -> dict[str, Any]:
    embedders: dict[str, Embedder] = {
        "local": LocalMeaning(),
        "spelling": LocalNgrams(),
        "fastembed": FastEmbed(FASTEMBED, FASTEMBED_CACHE),
    }
    figures: dict[str, Any] = {"target_p95_ms": TARGET_MS}
    for messages, held_out in (("held_out", True), ("development", False)):
        found, shown = {}, {}
        for name, embedder in embedders.items():
            try:
                found[name], shown[name] = await measure_embedder(embedder, read_people(held_out=held_out))
            except MemoryUnavailable as error:
                found[name] = {"not measured": error.message}
        figures[messages] = {f"found_among_{FIRST}": found, "shown_in_prompts_besides_musts": shown}
    people = read_people()
    figures[f"search_among_{RULES}"] = {
        name: await measure_speed(embedders[name], people) for name in ("local", "spelling")
    }
    return figures


def main() -> int:
    first = subprocess.run([sys.executable, "-c", FIRST_USE], check=True, capture_output=True, text=True)
    figures = {**asyncio.run(measure()), "first_use": json.loads(first.stdout)}
    print(json.dumps(figures, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
