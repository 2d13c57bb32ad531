"""A store to say constraints to, and what it recalls: real parts only, and no model anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from tests.contracts.stores import new_file
from tests.factories.constraints import context_of, version_of

from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.applicability import Answer, decide_applicability
from fateforger.memory.versions import Version


class StoredConstraints:
    """Constraints of U1 in a database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store: Store = open_store(path)
        self.statements: list[str] = []
        self._causes = 0
        event.listen(self.store.database.engine, "before_cursor_execute", self._note)

    async def say(self, *versions: Version) -> tuple[Version, ...]:
        """Write versions as one, for a new cause."""
        self._causes += 1
        return await self.store.constraints.write(versions, cause=f"cause {self._causes}")

    async def rule(self, uid: str, words: str = "", **fields: Any) -> Version:
        given: dict[str, Any] = {"description": words} if words else {}
        return (await self.say(version_of(uid, **given, **fields)))[0]

    async def recall(self, **context: Any) -> Answer:
        """Return the applicable constraints of the usual day."""
        return decide_applicability(await self.store.constraints.of("U1"), context_of(**context))

    async def uids(self, **context: Any) -> list[str]:
        return [item.uid for item in (await self.recall(**context)).applicable]

    def _note(self, _: Any, __: Any, statement: str, *___: Any) -> None:
        self.statements.append(statement)


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[StoredConstraints]:
    kept = StoredConstraints(new_file(tmp_path))
    yield kept
    await kept.store.aclose()
