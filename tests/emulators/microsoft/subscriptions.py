"""Subscriptions of Graph: the subscribers to changes of a calendar, and the notices that are due."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx
from tests.emulators.microsoft.graph import GraphRequest, GraphResponse
from tests.emulators.microsoft.mailbox import Json, Mailbox, Refusal

LONGEST = timedelta(days=7)
TOKEN = "Validation: Testing client application reachability"
_PATH = re.compile(r"/v1\.0/subscriptions(?:/(?P<id>[^/]+))?")
_RESOURCE = re.compile(r"(?:me|users/[^/]+)/calendars/[^/]+/events")


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Subscription:
    id: str
    owner: str
    asked: Json
    until: datetime
    seen: int

    def show(self) -> Json:
        return {**self.asked, "id": self.id, "expirationDateTime": f"{self.until:%Y-%m-%dT%H:%M:%SZ}"}

    def notice(self) -> Json:
        return {
            "subscriptionId": self.id,
            "clientState": self.asked.get("clientState"),
            "changeType": "updated",
            "resource": self.asked["resource"],
            "subscriptionExpirationDateTime": f"{self.until:%Y-%m-%dT%H:%M:%SZ}",
        }


@dataclass
class Subscriptions:
    now: Callable[[], datetime] = utc_now
    open: dict[str, Subscription] = field(default_factory=dict)
    _made: int = 0

    def handles(self, path: str) -> bool:
        return _PATH.fullmatch(path) is not None

    async def answer(self, asked: GraphRequest, owner: str, mailbox: Mailbox) -> GraphResponse:
        """Answer a request. Raises :class:`Refusal`. A new subscription's address has to return a token first."""
        self.open = {name: one for name, one in self.open.items() if one.until > self.now()}
        place = _PATH.fullmatch(asked.path)
        assert place is not None
        if asked.method == "POST" and place["id"] is None:
            return await self._create(asked.json(), owner, mailbox)
        found = self.open.get(place["id"] or "")
        if found is None or found.owner != owner:
            raise Refusal(404, "ResourceNotFound", "The object was not found.")
        if asked.method == "DELETE":
            del self.open[found.id]
            return GraphResponse(204)
        found.until = self._read_until(asked.json())
        return GraphResponse(200, found.show())

    async def _create(self, body: Json, owner: str, mailbox: Mailbox) -> GraphResponse:
        address, state = str(body.get("notificationUrl", "")), str(body.get("clientState", ""))
        if urlsplit(address).scheme != "https" and urlsplit(address).hostname != "127.0.0.1":
            raise Refusal(400, "InvalidRequest", "NotificationUrl must be an HTTPS URL.")
        if not _RESOURCE.fullmatch(str(body.get("resource", ""))) or len(state) > 128:
            raise Refusal(400, "InvalidRequest", "The request is invalid.")
        until, key = self._read_until(body), (body.get("changeType"), body["resource"])
        if any(
            one.owner == owner and (one.asked["changeType"], one.asked["resource"]) == key for one in self.open.values()
        ):
            raise Refusal(409, "ExtensionError", "A subscription with the same values exists already.")
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            try:
                said = await client.post(address, params={"validationToken": TOKEN})
            except httpx.HTTPError:
                said = httpx.Response(503)
        plain = said.headers.get("content-type", "").startswith("text/plain")
        if said.status_code != 200 or said.text != TOKEN or not plain:
            raise Refusal(400, "ValidationError", "Subscription validation request failed.")
        self._made += 1
        made = Subscription(f"subscription-{self._made}", owner, body, until, len(mailbox.log))
        self.open[made.id] = made
        return GraphResponse(201, made.show())

    def _read_until(self, body: Json) -> datetime:
        until = datetime.fromisoformat(str(body.get("expirationDateTime")))
        if not self.now() < until <= self.now() + LONGEST:
            raise Refusal(400, "InvalidRequest", "Subscription expiration can only be so many minutes in the future.")
        return until

    async def deliver(self, mailboxes: Mapping[str, Mailbox]) -> None:
        """Send the notices that are due."""
        for one in list(self.open.values()):
            changes = len(mailboxes[one.owner].log)
            if one.until > self.now() and changes != one.seen:
                one.seen = changes
                async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
                    await client.post(one.asked["notificationUrl"], json={"value": [one.notice()]})
