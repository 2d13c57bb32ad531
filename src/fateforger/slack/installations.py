"""Installations of the app: the workspaces and organizations, their tokens, and the states of installs under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from fateforger.slack.ids import FIRST

NOT_INSTALLED = "not_installed"
"""Error of what waits because the app was removed."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The app in one tenant: a workspace, or an organization that installed it for all of its workspaces.

    ``team_id`` is unknown for an organization. ``token`` is empty where it comes from the settings, and once the app
    was removed, at ``ended_at``. The token has to be renewed before ``expires_at``, if there is one, with
    ``refresh_token``.
    """

    tenant: str
    name: str
    team_id: str | None
    installed_at: datetime
    token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: datetime | None = None
    scopes: str = ""
    is_first: bool = False
    ended_at: datetime | None = None

    @property
    def key(self) -> str:
        """The key of the tenant in ids."""
        return FIRST if self.is_first else self.tenant


class Installations(Protocol):
    """All installations. Each call is one commit. Raises :class:`~fateforger.errors.StoreError`.

    The first tenant that is ever kept is the one that the database began with, for good: its ids stay bare.
    """

    async def get(self, tenant: str) -> Installation | None:
        """Return the installation of a tenant, also one that has ended."""
        ...

    async def find_first(self) -> Installation | None:
        """Return the installation of the tenant that the database began with."""
        ...

    async def check_first(self) -> None:
        """Raise ``BadInput`` if the database has plans of an unknown tenant: the first to install would get them."""
        ...

    async def list_all(self) -> tuple[Installation, ...]:
        """Return all installations, the first one first."""
        ...

    async def keep(self, installation: Installation) -> Installation:
        """Keep an installation in place of an earlier one of its tenant, and return it as it is kept.

        What waited for it while it was gone becomes due. Raises ``BadInput`` if tokens cannot be encrypted.
        """
        ...

    async def claim_renewal(self, installation: Installation, *, now: datetime, until: datetime) -> bool:
        """Claim the renewal of the tokens until that moment; ``False`` if another process has it, or has done it."""
        ...

    async def renew(self, before: Installation, after: Installation) -> bool:
        """Replace the tokens of an installation; ``False`` if they have changed since, and then they stay."""
        ...

    async def end(self, tenant: str, *, at: datetime) -> bool:
        """Delete the tokens of a tenant that removed the app; ``False`` if it was installed later than that."""
        ...

    async def renew_encryption(self) -> int:
        """Encrypt all tokens with the newest key; return how many were not."""
        ...

    async def add_state(self, state: str, *, expires_at: datetime) -> None:
        """Remember the state of an install that begins, and forget those that have expired."""
        ...

    async def take_state(self, state: str, *, now: datetime) -> bool:
        """Use up a state; ``False`` if it is unknown, was used, or has expired."""
        ...
