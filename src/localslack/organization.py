"""An organization of Enterprise Grid: payloads, users and logins name the workspace that somebody is in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
