"""The organization, the team, the app, its bot and the people, as the objects the Web API hands out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from localslack.manifest import AppManifest
from localslack.people import WorkspaceUser


@dataclass(frozen=True)
class Organization:
    """An organization that installed the app once for all of its workspaces.

    `teams` gives the workspace of each person. People, channels and direct messages with the app are the same in all
    of them.
    """

    id: str
    name: str
    teams: Mapping[str, str]

    def stamp_payload(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return a payload with the organization, and the workspace of the person who caused it."""
        if payload.get("type") == "event_callback":
            return self._stamp_event(payload)
        if "command" in payload:
            marks = {"enterprise_id": self.id, "enterprise_name": self.name, "is_enterprise_install": "true"}
            return {**payload, **marks, "team_id": self.teams[payload["user_id"]]}
        user = payload["user"]
        team = self.teams[user["id"]]
        stamped = {
            **payload,
            "team": {**payload["team"], "id": team, "enterprise_id": self.id, "enterprise_name": self.name},
            "user": {**user, "team_id": team},
            "enterprise": {"id": self.id, "name": self.name},
            "is_enterprise_install": True,
        }
        if "view" in payload:
            stamped["view"] = {**payload["view"], "team_id": team, "app_installed_team_id": self.id}
        return stamped

    def _stamp_event(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        user = payload["event"].get("user")
        team = self.teams.get(user["id"] if isinstance(user, Mapping) else str(user), next(iter(self.teams.values())))
        authorization = {"enterprise_id": self.id, "team_id": team, "is_enterprise_install": True}
        return {
            **payload,
            "team_id": team,
            "enterprise_id": self.id,
            "context_team_id": team,
            "context_enterprise_id": self.id,
            "authorizations": [each | authorization for each in payload["authorizations"]],
        }

    def stamp_user(self, user: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `user` of `users.info`, marked as a member of the organization."""
        team = self.teams.get(user["id"])
        if team is None:
            return dict(user)
        member = {"id": user["id"], "enterprise_id": self.id, "enterprise_name": self.name, "teams": [team]}
        return {**user, "team_id": team, "enterprise_user": {**member, "is_admin": False, "is_owner": False}}

    def stamp_login(self, login: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer of `auth.test` to a token of the organization."""
        marks = {"team": self.name, "team_id": self.id, "enterprise_id": self.id, "is_enterprise_install": True}
        return {**login, **marks}


TEAM_ID = "T0000LOCAL"
TEAM_DOMAIN = "local"
APP_ID = "A0000LOCAL"
BOT_ID = "B0000LOCAL"
BOT_USER_ID = "U00000BOT"
GENERAL_ID = "C0000GENERAL"


@dataclass(frozen=True)
class Directory:
    """The fixed population of a workspace."""

    team_name: str
    url: str
    app: AppManifest
    people: tuple[WorkspaceUser, ...]
    organization: Organization | None = None

    def person(self, user_id: str) -> WorkspaceUser | None:
        return next((person for person in self.people if person.id == user_id), None)

    def user_object(self, user_id: str, now: datetime) -> dict[str, Any] | None:
        """Return the `user` object of `users.info`, or None for an unknown id; `tz_offset` is that of `now`."""
        if user_id == BOT_USER_ID:
            return self._user(user_id, self.app.bot_name, self.app.name, "UTC", now, is_bot=True)
        person = self.person(user_id)
        if person is None:
            return None
        user = self._user(person.id, person.name, person.real_name, person.tz, now, is_bot=False)
        user["color"] = person.color
        user["profile"]["email"] = person.email
        return user if self.organization is None else self.organization.stamp_user(user)

    def stamp_payload(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return a payload for the app as it leaves the workspace."""
        return dict(payload) if self.organization is None else self.organization.stamp_payload(payload)

    def bot_profile(self) -> dict[str, Any]:
        return {
            "id": BOT_ID,
            "app_id": APP_ID,
            "user_id": BOT_USER_ID,
            "name": self.app.bot_name,
            "team_id": TEAM_ID,
            "deleted": False,
            "icons": {},
        }

    def bot_marks(self) -> Mapping[str, Any]:
        """Return the fields that mark a message as written by the bot."""
        return {
            "user": BOT_USER_ID,
            "bot_id": BOT_ID,
            "app_id": APP_ID,
            "team": TEAM_ID,
            "bot_profile": self.bot_profile(),
        }

    @staticmethod
    def _user(user_id: str, name: str, real_name: str, tz: str, now: datetime, *, is_bot: bool) -> dict[str, Any]:
        local = now.astimezone(ZoneInfo(tz))
        offset = local.utcoffset()
        return {
            "id": user_id,
            "team_id": TEAM_ID,
            "name": name,
            "real_name": real_name,
            "deleted": False,
            "tz": tz,
            "tz_label": local.tzname(),
            "tz_offset": int(offset.total_seconds()) if offset else 0,
            "is_bot": is_bot,
            "is_app_user": False,
            "updated": 0,
            "color": "5b6b7a",
            "profile": {
                "real_name": real_name,
                "real_name_normalized": real_name,
                "display_name": name,
                "display_name_normalized": name,
                "team": TEAM_ID,
            },
        }


def direct_channel_id(person: WorkspaceUser) -> str:
    """Return the id of the direct message channel between a person and the bot."""
    return f"D{person.id[1:]}"
