"""One calendar on a CalDAV server."""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

from caldav_mcp.dav import Dav
from caldav_mcp.errors import BadRequest, Forbidden, MarksLost, NotFound, ServerTrouble
from caldav_mcp.expansion import Expander, Expansion
from caldav_mcp.ids import is_hashed, is_legal, uid_of
from caldav_mcp.later_changes import is_overtaken
from caldav_mcp.multistatus import DavResponse, propfind, query_between, query_uid
from caldav_mcp.objects import Resource
from caldav_mcp.occurrences import Occurrence
from caldav_mcp.private_values import PRIVATE

_MARGIN = timedelta(days=2)
_KEPT = 1000
_ZONE = re.compile(r"^BEGIN:VTIMEZONE\n.*?^END:VTIMEZONE$", re.DOTALL | re.MULTILINE)
_PLAIN_UID = re.compile(r"[A-Za-z0-9_@-][A-Za-z0-9_.@-]{0,199}")


@dataclass(frozen=True)
class About:
    """Facts about a calendar: its address, its name, its zone, and whether it may be changed.

    `key` names it for good; unlike `url` it does not change when the embedded server gets another port.
    """

    calendar_id: str
    key: str
    url: str
    name: str
    zone: ZoneInfo
    color: str | None = None
    description: str | None = None
    writable: bool = True


def _lines(text: str) -> list[str]:
    """Return the sorted, unfolded content lines, without the rules of zones, which are known by name."""
    unfolded = re.sub(r"\r?\n[ \t]", "", text).replace("\r\n", "\n")
    return sorted(_ZONE.sub("", unfolded).splitlines())


class Collection:
    """Reads and guarded writes of one calendar's objects. Raises `ServiceError`s.

    An ETag that comes with the answer to a PUT should mean that the object is stored as it was sent. Some servers
    rewrite it all the same, or give it another ETag a moment later. So the first object is read again, and then every
    one, unless that one was found as it was sent; `echoes` says that the server is known to be honest. A change by
    another program before that reading is recognized by the ETag, or else by what the object shows.
    """

    def __init__(self, dav: Dav, about: About, *, echoes: bool | None = None) -> None:
        self._dav = dav
        self._echoes = echoes
        self.about = about
        self._expander = Expander()
        self._known: dict[str, Resource] = {}

    def href_for(self, uid: str) -> str:
        """Return the address for a new object with that UID."""
        return urljoin(self.about.url, f"{uid}.ics") if _PLAIN_UID.fullmatch(uid) else self.spare_href_for(uid)

    def spare_href_for(self, uid: str) -> str:
        """Another place for it, whatever the UID looks like."""
        return urljoin(self.about.url, f"{hashlib.sha256(uid.encode()).hexdigest()}.ics")

    async def find(self, event_id: str) -> Resource | None:
        """Return the stored object of an event id (not of an occurrence), or None."""
        if not is_legal(event_id):
            return None
        uid = uid_of(event_id)
        found = await self._get(self.href_for(uid))
        if found is not None and found.event_id == event_id:
            return found
        candidates = await self._with_uid(uid)
        if is_hashed(event_id):
            candidates += await self.objects()
        return next((resource for resource in candidates if resource.event_id == event_id), None)

    async def _with_uid(self, uid: str) -> list[Resource]:
        """Return the objects of a UID; some servers cannot look for one, and then all have to be looked through."""
        try:
            return await self._query(query_uid(uid))
        except (BadRequest, Forbidden):
            return await self.objects()

    async def expand(self, earliest: datetime | None, latest: datetime | None) -> Expansion:
        """Return everything that overlaps an open span of time, and what had to be left out.

        The margin covers floating and all-day times, which a server may read in another zone than ours.
        """
        start, end = earliest and earliest - _MARGIN, latest and latest + _MARGIN
        resources = await self._ask(query_between(start, end))
        return await self._expander.expand(resources, earliest, latest, self.about.zone)

    async def objects(self) -> list[Resource]:
        """Return all objects that can be read."""
        return await self._query(query_between(None, None))

    async def occurrence_at(self, resource: Resource, stamp: str) -> Occurrence | None:
        """Return the occurrence of a series whose original start is `stamp`, or None."""
        return await self._expander.occurrence_at(resource, stamp, self.about.zone)

    async def create(self, href: str, text: str) -> Resource:
        """Store a new object.

        Raises `PreconditionFailed` or `Conflict` (with some servers `BadRequest` or `Forbidden`) when the place or the
        UID is taken, and `MarksLost` when the server dropped our marks.
        """
        stored = await self._put(href, text, {"If-None-Match": "*"})
        if PRIVATE in text and PRIVATE not in stored.text:
            await self.remove(stored)
            raise MarksLost
        return stored

    async def replace(self, before: Resource, text: str) -> Resource:
        """Store a new state of an object; `PreconditionFailed` when it is no longer in the state `before`."""
        return await self._put(before.href, text, {"If-Match": before.etag})

    async def remove(self, before: Resource) -> None:
        """Delete an object; `PreconditionFailed` when it changed, `NotFound` when it is gone."""
        await self._dav.request("DELETE", before.href, headers={"If-Match": before.etag})

    async def state(self) -> str:
        """Return a text that changes whenever anything in the calendar does; also proof that the calendar is there."""
        # One by one: some servers keep a record of every sync-token they have given out.
        for name in ("CS:getctag", "D:sync-token"):
            found = await self._dav.multistatus("PROPFIND", self.about.url, propfind(name), depth=0)
            if found and (text := found[0].text(name)):
                return text
        raise ServerTrouble("The calendar server does not say when a calendar changes")

    async def _put(self, href: str, text: str, guard: dict[str, str]) -> Resource:
        headers = {"Content-Type": "text/calendar; charset=utf-8", **guard}
        response = await self._dav.request("PUT", href, body=text.encode(), headers=headers)
        etag = response.headers.get("ETag") or ""
        strong = bool(etag) and not etag.startswith("W/")
        if strong and self._echoes:
            return self._find_cached(href, etag, text)
        stored = await self._get(href)
        if stored is None:
            raise ServerTrouble("The calendar server accepted an event and does not have it")
        if self._echoes is None:
            self._echoes = strong and stored.etag == etag and _lines(stored.text) == _lines(text)
        if etag and etag.removeprefix("W/") == stored.etag.removeprefix("W/"):
            return stored
        sent = Resource(href, etag, text.replace("\r\n", "\n"))
        return replace(stored, overtaken=await asyncio.to_thread(is_overtaken, sent, stored))

    async def _get(self, href: str) -> Resource | None:
        found = await self._fetch(href)
        return found if found is not None and await asyncio.to_thread(lambda: found.is_readable) else None

    async def _fetch(self, href: str) -> Resource | None:
        try:
            response = await self._dav.request("GET", href)
        except NotFound:
            return None
        return self._find_cached(href, response.headers.get("ETag", ""), response.text)

    async def _query(self, body: bytes) -> list[Resource]:
        """Return the objects that a query finds and that can be read, which is looked into away from the loop."""
        found = await self._ask(body)
        return await asyncio.to_thread(lambda: [resource for resource in found if resource.is_readable])

    async def _ask(self, body: bytes) -> list[Resource]:
        listed = await self._dav.multistatus("REPORT", self.about.url, body, depth=1)
        found = [await self._read_listed(response) for response in listed]
        return [resource for resource in found if resource is not None]

    async def _read_listed(self, listed: DavResponse) -> Resource | None:
        """Return a listed object, which is read by itself if it was listed without its text; None if it was deleted.

        Raises `ServerTrouble` if the server says that the list is incomplete: the missing time would seem to be free.
        """
        if listed.status in {404, 410}:
            return None
        if listed.status >= 400:
            raise ServerTrouble(f"The calendar server listed only a part of the calendar (status {listed.status})")
        href, text = urljoin(self.about.url, listed.href), listed.text("C:calendar-data")
        if text is not None:
            return self._find_cached(href, listed.text("D:getetag") or "", text)
        return None if href == self.about.url else await self._fetch(href)

    def _find_cached(self, href: str, etag: str, text: str) -> Resource:
        """Return the object, already parsed when it was read in the same state before."""
        text = text.replace("\r\n", "\n")
        before = self._known.get(href)
        if before is not None and before.etag == etag and before.text == text:
            return before
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[href] = Resource(href, etag, text)
        return self._known[href]
