"""Particulars of Mem0: the inside of a memory, damage, locks, embedders that change, and silence."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.factories.constraints import version_of

from fateforger.adapters.memory.adapter import Mem0Memory
from fateforger.adapters.memory.rows import hash_owner
from fateforger.adapters.memory.vectors import Embedded, Embedder, LocalNgrams
from fateforger.errors import MemoryUnavailable, RebuildNeeded
from fateforger.memory.documents import read_record
from fateforger.memory.record import build_filter_fields
from fateforger.memory.vocabulary import Domain

if TYPE_CHECKING:
    from fateforger.adapters.memory.index import Index

DAMAGED = "The files of the index of constraints are damaged; it has to be rebuilt."
IN_USE = "The index of constraints is in use by another program."


@asynccontextmanager
async def open_memory(folder: Path, embedder: Embedder | None = None) -> AsyncIterator[Mem0Memory]:
    memory = Mem0Memory(Embedded(folder / "qdrant"), embedder or LocalNgrams(), home=folder)
    try:
        yield memory
    finally:
        await memory.aclose()


async def inside(folder: Path, work: Callable[[Index], Any]) -> Any:
    """Return the result of ``work`` on the index itself, opened for it alone."""
    async with open_memory(folder) as memory:
        return await memory._do(work)


def raw(index: Index, user: str = "U1") -> list[dict[str, Any]]:
    return list(index._mem0.get_all(filters={"user_id": hash_owner(user)}, top_k=1_000)["results"])


async def test_record_and_flat_fields_agree_after_every_update(tmp_path: Path) -> None:
    """S13: one memory with the whole record and the flat fields, in place."""
    ids = set()
    changes: list[dict[str, Any]] = [{"days_of_week": ["MO"]}, {"end_date": "2026-05-01", "status": "proposed"}, {}]
    for seq, fields in enumerate(changes):
        version = version_of("c", seq=seq, **fields)
        async with open_memory(tmp_path) as memory:
            await memory.put(version)
        (kept,) = await inside(tmp_path, raw)
        record = read_record(kept["metadata"]["constraint_record"])
        assert record == version.record
        assert {name: kept["metadata"][name] for name in build_filter_fields(record)} == build_filter_fields(record)
        ids.add(kept["id"])
    assert len(ids) == 1


async def test_extra_memories_of_one_constraint_are_healed(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.put(version_of("c", seq=1))

    def twice_more(index: Index) -> None:
        (kept,) = raw(index)
        for _ in range(2):
            index._mem0.add("copy", user_id=hash_owner("U1"), metadata=kept["metadata"], infer=False)

    await inside(tmp_path, twice_more)
    assert len(await inside(tmp_path, raw)) == 3
    async with open_memory(tmp_path) as memory:
        assert [v.seq for v in await memory.all("U1")] == [1]
        await memory.put(newer := version_of("c", seq=2, description="newer"))
        assert await memory.all("U1") == (newer,)
    assert len(await inside(tmp_path, raw)) == 1


@pytest.mark.parametrize("field", ["status", "key", "line", "constraint_record"])
async def test_a_memory_that_contradicts_itself_is_an_error(tmp_path: Path, field: str) -> None:
    """S13, seen from behind, and S97: what does not agree is never taken for true."""
    async with open_memory(tmp_path) as memory:
        await memory.put(version_of("c"))
    await inside(tmp_path, lambda index: index._mem0.update(raw(index)[0]["id"], metadata={field: "else"}))
    async with open_memory(tmp_path) as memory:
        with pytest.raises(RebuildNeeded, match="it has to be rebuilt"):
            await memory.all("U1")


async def test_what_is_written_is_read_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """S320: a memory that does not hold what was written is made again; what never holds is an error."""
    async with open_memory(tmp_path) as memory:
        await memory.put(version_of("c", seq=1))
        index = memory._get_index()
        update, add = index._mem0.update, index._mem0.add
        index._mem0.update = lambda *_, **__: {"message": "Memory updated successfully!"}
        await memory.put(newer := version_of("c", seq=2, description="newer"))
        assert await memory.all("U1") == (newer,)
        assert "a memory did not hold what was written and is made again" in caplog.text

        def forget(text: str, **given: Any) -> Any:
            return add(text, **{**given, "metadata": {**given["metadata"], "line": "{}"}})

        index._mem0.add = forget
        with pytest.raises(MemoryUnavailable, match="does not keep what I write"):
            await memory.put(version_of("c", seq=3, description="newest"))
        index._mem0.update, index._mem0.add = update, add
        await memory.put(newest := version_of("c", seq=3, description="newest"))
        assert await memory.all("U1") == (newest,)


async def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Mem0 itself loses an eighth of them; the scenario of the indexing has 400."""
    versions = [version_of(f"c{number % 80:03}", seq=number, user=f"U{number % 8}") for number in range(160)]
    async with open_memory(tmp_path) as memory:
        await asyncio.gather(*map(memory.put, versions))
    async with open_memory(tmp_path) as memory:
        found = [v for user in range(8) for v in await memory.all(f"U{user}")]
        count = (await memory.report()).memories
    assert (sorted(v.seq for v in found), count) == (list(range(80, 160)), 80)


class OtherEmbedder:
    name, dimensions, floor, related = "another", 8, 0.0, 0.0

    def embed(self, text: str) -> list[float]:
        return [float(len(text) % n) for n in range(1, 9)]

    def embed_rules(self, texts: Sequence[str], domains: Sequence[Domain | None]) -> list[list[float]]:
        return [self.embed(text) for text in texts]

    def close(self) -> None: ...


async def test_another_embedder_is_refused_until_the_index_is_rebuilt(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.put(version_of("c"))
    async with open_memory(tmp_path, OtherEmbedder()) as memory:
        with pytest.raises(RebuildNeeded) as refused:
            await memory.put(version_of("d"))
        await memory.wipe()
        assert (await memory.report()).memories == 0
        await memory.put(version_of("d"))
        assert [v.uid for v in await memory.all("U1")] == ["d"]
    assert str(refused.value) == (
        "The index of constraints was made with local-ngrams-1 (512 dimensions), and another (8) is set now; it has to be"
        " rebuilt."
    )


@pytest.mark.parametrize(
    ("damaged", "garbage"),
    [
        ("meta.json", b""),
        ("meta.json", b"garbage" * 10_000),
        ("collection/fateforger_constraints/storage.sqlite", b"garbage" * 10_000),
        ("collection/fateforger_constraints/storage.sqlite", b"SQLite format 3\0" + bytes(range(256)) * 40),
    ],
)
async def test_garbage_in_the_files_is_one_sentence_and_wiping_mends_it(
    tmp_path: Path, damaged: str, garbage: bytes
) -> None:
    async with open_memory(tmp_path) as memory:
        for number in range(20):
            await memory.put(version_of(f"c{number}"))
    (tmp_path / "qdrant" / damaged).write_bytes(garbage)
    async with open_memory(tmp_path) as memory:
        with pytest.raises(RebuildNeeded) as refused:
            await memory.report()
        assert str(refused.value) == DAMAGED
        await memory.wipe()
        await memory.put(version_of("c"))
        assert len(await memory.all("U1")) == 1


async def test_an_index_that_somebody_else_has_is_not_touched(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as first, open_memory(tmp_path) as second:
        await first.put(version_of("c"))
        for call in (second.report, second.wipe, lambda: second.put(version_of("d"))):
            with pytest.raises(MemoryUnavailable, match=IN_USE) as refused:
                await call()
            assert not isinstance(refused.value, RebuildNeeded)
        assert len(await first.all("U1")) == 1


async def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "qdrant").write_text("a file")
    async with open_memory(tmp_path) as memory:
        with pytest.raises(MemoryUnavailable, match=r"The index of constraints cannot be used: .*File exists"):
            await memory.report()


SILENT = """
import asyncio, atexit, sys
heard = []
atexit.register(lambda: print(heard))  # the first one is called last: what others send in parting is heard, too

def listening(event, arguments):
    if event == "socket.getaddrinfo":
        heard.append((event, str(arguments[0])))
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"} and isinstance(arguments[1], tuple):
        heard.append((event, str(arguments[1])))
    if event in {"subprocess.Popen", "os.system", "os.posix_spawn"}:
        heard.append((event, str(arguments[0])))

sys.addaudithook(listening)
from pathlib import Path
from tests.factories.constraints import version_of
from fateforger.adapters.memory.vectors import Embedded, LocalNgrams
from fateforger.adapters.memory.adapter import Mem0Memory

async def work():
    home = Path(sys.argv[1])
    memory = Mem0Memory(Embedded(home / "qdrant"), LocalNgrams(), home=home / "mem0")
    for number in range(30):
        await memory.put(version_of(f"c{number % 20}", description="What will I do until 2030? 'Quoted' Big Names"))
    await memory.search("U1", "When was the Last Time I met 'Alan Turing' in New York?", limit=5)
    await memory.all("U1")
    await memory.drop("U1", "c1")
    await memory.report()
    await memory.wipe()
    await memory.report()
    await memory.aclose()

asyncio.run(work())
"""


def test_nothing_is_sent_anywhere(tmp_path: Path) -> None:
    """No address is looked up, no connection made, no program started, and no file left in the home directory.

    This holds for any environment, and with the packages installed for which Mem0 would fetch models.
    """
    touch = f"open({str(tmp_path / 'touched')!r}, 'a').write('x')"
    model = f"class SparseTextEmbedding:\n    def __init__(self, **_):\n        {touch}\n"
    fakes = {"spacy": touch, "fastembed": model}
    for package, source in fakes.items():
        (tmp_path / "packages" / package).mkdir(parents=True)
        (tmp_path / "packages" / package / "__init__.py").write_text(source)
    environment = {
        **os.environ,
        "MEM0_TELEMETRY": "true",
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join((str(tmp_path / "packages"), *filter(None, sys.path))),
    }
    (tmp_path / "home").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SILENT, str(tmp_path / "data")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
    assert (list((tmp_path / "home").iterdir()), (tmp_path / "touched").exists()) == ([], False)
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["mem0", "qdrant"]
