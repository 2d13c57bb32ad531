"""The calendar as any CalDAV client sees it: plain HTTP, without code of the program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from http import HTTPStatus

import httpx
import icalendar

_REPORT = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>"""


@dataclass
class CalDav:
    """``url`` is the calendar collection, with the login in it where one is needed."""

    url: str
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        address = httpx.URL(self.url)
        login = (address.username or "me", address.password)
        self.url = str(address.copy_with(userinfo=b""))
        self.http = httpx.Client(
            timeout=60, trust_env=False, auth=login, limits=httpx.Limits(max_keepalive_connections=0)
        )

    def hrefs(self) -> list[str]:
        answer = self.http.request("REPORT", self.url, content=_REPORT, headers={"Depth": "1"})
        answer.raise_for_status()
        return sorted(re.findall(r"<(?:\w+:)?href>([^<]+\.ics)</", answer.text))

    def raw(self) -> dict[str, bytes]:
        """Return every object of the calendar, byte for byte."""
        base = httpx.URL(self.url)
        found = {}
        for href in self.hrefs():
            answer = self.http.get(base.join(href))
            if answer.status_code == HTTPStatus.NOT_FOUND:  # deleted since it was listed
                continue
            answer.raise_for_status()
            found[href] = answer.content
        return found

    def events(self) -> list[tuple[str, str, str]]:
        """Return title, start and end of every event, in order of time, as local ISO text with offset."""
        found = []
        for content in self.raw().values():
            for event in icalendar.Calendar.from_ical(content).walk("VEVENT"):
                assert isinstance(event, icalendar.Event)
                found.append((str(event["SUMMARY"]), event.start, event.end))
        found.sort(key=lambda e: (e[1].timestamp() if isinstance(e[1], datetime) else 0, e[0]))
        return [(title, start.isoformat(), end.isoformat()) for title, start, end in found]

    def titles(self) -> list[str]:
        return [title for title, _, _ in self.events()]

    def put(self, name: str, title: str, start: datetime, end: datetime, **extra: str) -> None:
        """Write an event as another client would."""
        lines = [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//somebody else//EN",
            "BEGIN:VEVENT",
            f"UID:{name}",
            "DTSTAMP:20260101T000000Z",
            f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
            f"DTEND:{end:%Y%m%dT%H%M%SZ}",
            f"SUMMARY:{title}",
            *(f"{key}:{value}" for key, value in extra.items()),
            "END:VEVENT",
            "END:VCALENDAR",
        ]
        self._put(name, "\r\n".join(lines) + "\r\n")

    def put_all_day(self, name: str, title: str, day: date) -> None:
        lines = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//somebody else//EN", "BEGIN:VEVENT", f"UID:{name}",
            "DTSTAMP:20260101T000000Z", f"DTSTART;VALUE=DATE:{day:%Y%m%d}", f"SUMMARY:{title}", "END:VEVENT",
            "END:VCALENDAR",
        ]  # fmt: skip
        self._put(name, "\r\n".join(lines) + "\r\n")

    def put_object(self, name: str, text: str) -> None:
        """Write a whole calendar object as another program would."""
        self._put(name, text)

    def _put(self, name: str, text: str) -> None:
        address = httpx.URL(self.url).join(f"{name}.ics")
        answer = self.http.put(address, content=text.encode(), headers={"Content-Type": "text/calendar"})
        answer.raise_for_status()

    def move(self, title: str, start: str, new_start: str, end: str, new_end: str) -> None:
        """Put an event at another time, as iCalendar writes local times."""
        self._rewrite(title, {start: new_start, end: new_end})

    def delete(self, title: str) -> None:
        """Delete an event by its title."""
        href, _ = self._find(title)
        self.http.delete(httpx.URL(self.url).join(href)).raise_for_status()

    def retitle(self, old: str, new: str) -> None:
        """Change a title as a person would in another calendar program."""
        self._rewrite(old, {f"SUMMARY:{old}": f"SUMMARY:{new}"})

    def _rewrite(self, title: str, changes: dict[str, str]) -> None:
        href, content = self._find(title)
        for old, new in changes.items():
            assert old.encode() in content, f"no {old} in {content!r}"
            content = content.replace(old.encode(), new.encode())
        answer = self.http.put(
            httpx.URL(self.url).join(href), content=content, headers={"Content-Type": "text/calendar"}
        )
        answer.raise_for_status()

    def _find(self, title: str) -> tuple[str, bytes]:
        for href, content in self.raw().items():
            if f"SUMMARY:{title}".encode() in content:
                return href, content
        raise AssertionError(f"no event {title!r} among {self.titles()}")
