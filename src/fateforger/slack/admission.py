"""The standing of a person in their workspace, and whether they may plan: members, guests and strangers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from fateforger.text import gettext as _
from fateforger.text import mark_message

Guests = Literal["none", "multi-channel", "all"]

FOR_STRANGERS = mark_message(
    "I only plan with people of the organization that installed me. Please ask your own to install me, too."
)
FOR_GUESTS = mark_message(
    "I can't plan with you as a guest of this workspace. Please ask one of its administrators to change that."
)
FOR_MEMBERS = mark_message("I only plan with people who are active members of this workspace.")


class Standing(StrEnum):
    """The standing of a person in their workspace. Slack calls guests of one channel *ultra restricted*."""

    MEMBER = "member"
    GUEST = "guest"
    CHANNEL_GUEST = "channel guest"
    STRANGER = "stranger"
    BOT = "bot"
    DEACTIVATED = "deactivated"


class Standings(Protocol):
    """The standing of each person, as Slack said last. Each call is one commit.

    Raises :class:`~fateforger.errors.StoreError`.
    """

    async def of(self, user_id: str) -> Standing | None:
        """Return the standing of a person; ``None`` if Slack was not asked yet."""
        ...

    async def keep(self, user_id: str, standing: Standing) -> None:
        """Keep the standing of a person; it replaces what was kept before."""
        ...


def read_standing(user: Mapping[str, Any], teams: frozenset[str]) -> Standing:
    """Return the standing of a user of Slack in the workspaces ``teams``, or in the organization of one of them."""
    if user.get("deleted"):
        return Standing.DEACTIVATED
    organization = user.get("enterprise_user") or {}
    own = {user.get("team_id"), organization.get("enterprise_id"), *organization.get("teams", ())}
    if user.get("is_stranger") or (teams and teams.isdisjoint(own)):
        return Standing.STRANGER
    if user.get("is_bot"):
        return Standing.BOT
    if user.get("is_ultra_restricted"):
        return Standing.CHANNEL_GUEST
    return Standing.GUEST if user.get("is_restricted") else Standing.MEMBER


@dataclass(frozen=True, slots=True)
class Admission:
    """Decides who may plan: members and the chosen ``guests``, but no one of another organization."""

    standings: Standings
    guests: Guests = "multi-channel"

    async def find_refusal(self, user_id: str) -> str | None:
        """Return why a person may not plan; ``None`` if they may, or are not known yet. Raises ``StoreError``."""
        standing = await self.standings.of(user_id)
        return None if standing is None else self.explain(standing)

    def explain(self, standing: Standing) -> str | None:
        """Return why a person of that standing may not plan; ``None`` if they may."""
        match standing:
            case Standing.MEMBER:
                return None
            case Standing.GUEST:
                return _(FOR_GUESTS) if self.guests == "none" else None
            case Standing.CHANNEL_GUEST:
                return None if self.guests == "all" else _(FOR_GUESTS)
            case Standing.STRANGER:
                return _(FOR_STRANGERS)
            case Standing.BOT | Standing.DEACTIVATED:
                return _(FOR_MEMBERS)
