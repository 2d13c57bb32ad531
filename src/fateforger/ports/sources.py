"""Where a person's constraints were kept before, to be moved from there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from fateforger.constraints.moved import StoredRow


class ConstraintSource(Protocol):
    """Another store of constraints; it is only ever read. Raises :class:`~fateforger.errors.SourceUnavailable` when it
    cannot be read now, ``BadInput`` when somebody has to say more about it."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def rows(self) -> AsyncIterator[StoredRow]:
        """Every row, in an order that stays the same. Of a row that is not whole the trouble is told, never a part."""
        ...

    async def left_out(self) -> tuple[str, ...]:
        """After the rows: what was passed over on purpose, a sentence each."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
