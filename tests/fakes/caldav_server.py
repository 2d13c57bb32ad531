"""A CalDAV server in this process, without a socket: Radicale, with habits of other servers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.fakes.quirky_caldav import FORWARDED, Habit, ServerQuirks

from caldav_mcp.embedded import build_application

ROOT = "http://caldav.example"
USER = "me"
_NOTES = re.compile(r"^DESCRIPTION:.*(?:\r\n[ \t].*)*", re.MULTILINE)


@dataclass(frozen=True)
class StoredObject:
    """A calendar object as the server keeps it. ``path`` is where."""

    path: str
    etag: str
    text: str


Watch = Callable[[StoredObject | None, StoredObject | None], None]


class CalDavServer:
    """A server with one calendar, at ``url``.

    ``answer`` is for the program: it follows the ``habits``, and ``watch`` gets each write with the object before and
    after. ``put`` and ``delete`` are for the person's actions elsewhere. ``objects`` are all objects by path, ``bin``
    the deleted ones. With ``html`` the server writes notes as HTML, as the page of some servers does.
    """

    def __init__(self, folder: Path, name: str, habits: Collection[Habit] = (), *, html: bool = False) -> None:
        app = build_application(folder, durable=False)
        self._http = httpx.Client(transport=httpx.WSGITransport(app), base_url=ROOT, auth=(USER, "any"))
        self._habits = ServerQuirks(frozenset(habits))
        self._html = html
        self.url = f"{ROOT}/{USER}/{name}/"
        self.objects: dict[str, StoredObject] = {}
        self.bin: dict[str, StoredObject] = {}
        self.writes = 0
        self.watch: Watch = lambda before, after: None
        self._http.request("MKCALENDAR", self.url).raise_for_status()

    def close(self) -> None:
        self._http.close()

    def answer(self, method: str, path: str, headers: httpx.Headers, body: bytes) -> httpx.Response:
        if (refused := self._habits.refuse(method, body)) is not None:
            return httpx.Response(refused)
        taken, is_rewritten = self._rewrite(method, self._habits.take(method, body))
        given = {name: value for name, value in headers.items() if name in FORWARDED}
        before = self.objects.get(path)
        answer = self._http.request(method, path, content=taken, headers=given)
        if answer.is_success and method in {"PUT", "DELETE"}:
            self._keep(path)
            self.watch(before, self.objects.get(path))
        told = self._habits.tell(method, answer)
        if is_rewritten:
            told.headers.pop("etag", None)  # RFC 4791, 5.3.4
        return told

    def put(self, path: str, text: str) -> StoredObject:
        headers = {"Content-Type": "text/calendar; charset=utf-8"}
        self._http.put(path, content=text.encode(), headers=headers).raise_for_status()
        self._keep(path)
        return self.objects[path]

    def delete(self, path: str) -> StoredObject:
        self._http.delete(path).raise_for_status()
        self._keep(path)
        return self.bin[path]

    def _keep(self, path: str) -> None:
        self.writes += 1
        found = self._http.get(path)
        if found.is_success:
            self.objects[path] = StoredObject(path, found.headers["etag"], found.text)
        elif path in self.objects:
            self.bin[path] = self.objects.pop(path)

    def _rewrite(self, method: str, body: bytes) -> tuple[bytes, bool]:
        if method != "PUT" or not self._html:
            return body, False
        rewritten = _NOTES.sub(lambda notes: notes[0].replace("\\n", "<br>"), re.sub(r"\r\n[ \t]", "", body.decode()))
        is_other = rewritten != re.sub(r"\r\n[ \t]", "", body.decode())
        return (rewritten.encode(), True) if is_other else (body, False)
