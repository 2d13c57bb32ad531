"""Other stores of a person's constraints, to migrate from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from fateforger.constraints.moved import StoredRow


class ConstraintSource(Protocol):
    """Another store of constraints; it is only ever read.

    Raises :class:`~fateforger.errors.SourceUnavailable` if it cannot be read now, ``BadInput`` if its options are
    incomplete.
    """

    @property
    def name(self) -> str:
        """The name people know it by."""
        ...

    def rows(self) -> AsyncIterator[StoredRow]:
        """Yield every row in a stable order.

        An incomplete row has its trouble described and is never returned in part.
        """
        ...

    async def left_out(self) -> tuple[str, ...]:
        """Return one sentence for each intentional omission, once the rows were read."""
        ...

    async def aclose(self) -> None:
        """Close files and connections."""
        ...
