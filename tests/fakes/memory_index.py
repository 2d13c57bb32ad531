"""An index of constraints in a dictionary."""

from __future__ import annotations

from fateforger.errors import MemoryUnavailable
from fateforger.memory.ports import Contents, MemoryReport, Recollection
from fateforger.memory.retrieval import NGRAM_DIMENSIONS, NGRAM_FLOOR, NGRAM_NAME, embed_ngrams
from fateforger.memory.versions import Version


class MemoryIndex:
    """``trouble`` is what every call fails with while it is set."""

    def __init__(self) -> None:
        self.shown: dict[tuple[str, str], Version] = {}
        self.trouble: MemoryUnavailable | None = None
        self.scrubs = 0

    def is_there(self) -> bool:
        return bool(self.shown)

    async def put(self, *versions: Version) -> None:
        self._well()
        for version in versions:
            self.shown[version.user_id, version.uid] = version

    async def drop(self, user_id: str, uid: str) -> None:
        self._well()
        self.shown.pop((user_id, uid), None)

    async def all(self, user_id: str) -> tuple[Version, ...]:
        self._well()
        return tuple(version for (owner, _), version in sorted(self.shown.items()) if owner == user_id)

    async def list_everything(self) -> Contents:
        self._well()
        return Contents(tuple(version for _, version in sorted(self.shown.items())))

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        asked = embed_ngrams(text)
        found = []
        for version in await self.all(user_id):
            record = version.record
            said = embed_ngrams(". ".join((record.name, record.description, *record.topics)))
            score = sum(one * other for one, other in zip(asked, said, strict=True))
            if score >= NGRAM_FLOOR:
                found.append(Recollection(version.uid, score))
        return tuple(sorted(found, key=lambda item: -item.score)[: max(limit, 0)])

    async def wipe(self) -> None:
        self.trouble = None
        self.shown.clear()

    async def scrub(self) -> None:
        self._well()
        self.scrubs += 1

    async def report(self) -> MemoryReport:
        self._well()
        return MemoryReport("a dictionary", NGRAM_NAME, NGRAM_DIMENSIONS, len(self.shown))

    async def aclose(self) -> None: ...

    def _well(self) -> None:
        if self.trouble is not None:
            raise self.trouble
