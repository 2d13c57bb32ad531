"""CalDAV servers as they are, unlike the RFC: a front for Radicale with the habits of other servers.

Each habit is documented of a server that people use; a comment at its name tells which one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

Habit = Literal[
    "rewrites",  # Sabre, Google, Exchange gateways: another text is stored than was sent
    "no etag",  # DAViCal, Bedework: a PUT is answered without an ETag
    "early etag",  # iCloud: the ETag of the answer is not the one the object has a moment later
    "weak etag",  # behind a compressing proxy
    "drops marks",  # servers that keep only what they know
    "no uid filter",  # servers that cannot search for a UID
    "uid is 400",  # Nextcloud before it answered no-uid-conflict: a UID that is there already is a bad request
    "only well-known",  # Nextcloud, Fastmail: nothing but a web page at the root
    "other host",  # iCloud: the calendars are at another host of the same domain
    "read-only",  # another person's calendar
    "ignores time",  # servers that answer every query with the whole calendar
    "bin",  # Nextcloud: deleted calendars are listed
    "moved",  # a calendar that was renamed on a server that remembers where it was: /me/old/
    "cuts lists",  # RFC 6578 and servers with a limit of matches: 507 in place of the rest
    "lists no text",  # gateways that know of an object what is not its text
    "takes anything",  # servers that store what is no iCalendar: here, what is stored with X-ANY- before its name
]
FORWARDED = ("authorization", "depth", "content-type", "if-match", "if-none-match")
_METHODS = ["GET", "PUT", "DELETE", "PROPFIND", "REPORT", "PROPPATCH", "MKCALENDAR"]
_TIME_RANGE = re.compile(rb"<[^<>]*time-range[^<>]*>")
_RESPONSE = re.compile(rb"<response>.*?</response>", re.DOTALL)
_TEXT = re.compile(rb"<(\w+:)?calendar-data[ >].*?</(\w+:)?calendar-data>", re.DOTALL)
_CUT = b"<response><href>/me/b-work/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>"
_WRITE = re.compile(rb"<privilege><(write|write-content|all|bind|unbind)( ?/>|>.*?</\1>)</privilege>")


@dataclass(frozen=True)
class ServerQuirks:
    """Changes that a server with some habits makes to requests and answers.

    ``elsewhere`` is the address by which it names calendars, with the habit ``other host``.
    """

    of: frozenset[Habit]
    elsewhere: str = ""

    def refuse(self, method: str, body: bytes) -> int | None:
        """Return the status of a refusal, if the request is refused."""
        if method == "REPORT" and b"prop-filter" in body and "no uid filter" in self.of:
            return 403
        return 403 if method in ("PUT", "DELETE") and "read-only" in self.of else None

    def take(self, method: str, body: bytes) -> bytes:
        """Return the body of a request as the server reads it."""
        if method == "REPORT" and "ignores time" in self.of:
            return _TIME_RANGE.sub(b"", body)
        if method != "PUT":
            return body
        if "drops marks" in self.of:
            body = re.sub(rb"\r\n[ \t]", b"", body)
            body = b"".join(line for line in body.splitlines(keepends=True) if not line.startswith(b"X-"))
        if "rewrites" in self.of:
            body = re.sub(rb"^END:VEVENT\b", b"X-SERVER-SEEN:yes\r\nEND:VEVENT", body, flags=re.MULTILINE)
            body = body.replace(b"PRODID:-//fate", b"PRODID:-//late")
        return body

    def tell(self, method: str, answer: httpx.Response) -> httpx.Response:
        """Return the answer as programs get it."""
        status, body = answer.status_code, answer.content
        headers = {n: v for n, v in answer.headers.items() if n in ("etag", "content-type", "location")}
        if method == "PUT":
            if "no etag" in self.of or "rewrites" in self.of:
                headers.pop("etag", None)
            if "early etag" in self.of and status < 300:
                headers["etag"] = '"early"'
            if status == 409 and "uid is 400" in self.of:
                status = 400
            if "weak etag" in self.of and "etag" in headers:
                headers["etag"] = f"W/{headers['etag']}"
        if method == "PROPFIND":
            body = self._show(body)
        if "takes anything" in self.of:
            body = body.replace(b"X-ANY-", b"")
        if method == "REPORT" and "cuts lists" in self.of:
            body = _RESPONSE.sub(_CUT, body, count=1)
        if method == "REPORT" and "lists no text" in self.of:
            body = _TEXT.sub(b"", body)
        return httpx.Response(status, headers=headers, content=body)

    def _show(self, body: bytes) -> bytes:
        if "read-only" in self.of:
            body = _WRITE.sub(b"", body)
        if "bin" in self.of:
            gone = b'<NC:deleted-calendar xmlns:NC="http://nextcloud.com/ns" />'
            body = re.sub(rb"(<[^<>]*>/me/a-[^<]*</.*?<resourcetype>)", rb"\1" + gone, body, count=1, flags=re.DOTALL)
        if "other host" in self.of:
            at = self.elsewhere.encode()
            body = re.sub(rb"(calendar-home-set>\s*<[^>]*href>)/", rb"\1" + at + b"/", body)
        return body


class QuirkyCalDav:
    """The front: ``app()`` behind one address, forwarding to Radicale at ``target`` (its root). ``elsewhere`` is as in
    :class:`ServerQuirks`."""

    def __init__(self, target: str, habits: Collection[Habit] = ()) -> None:
        self.habits = frozenset(habits)
        self.elsewhere = ""
        self.asked: list[tuple[str, str]] = []
        self._target = target.rstrip("/")
        self._http = httpx.AsyncClient(trust_env=False, timeout=60)

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._answer, methods=_METHODS)])

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _answer(self, request: Request) -> Response:
        path, method, habits = request.url.path, request.method, ServerQuirks(self.habits, self.elsewhere)
        self.asked.append((method, f"{request.headers['host'].partition(':')[0]}{path}"))
        if "only well-known" in self.habits:
            if path == "/.well-known/caldav":
                return RedirectResponse("/dav/", 301)
            if path == "/":
                return Response("<html>Welcome</html>", media_type="text/html")
            if path == "/dav/":
                path = "/"
        if "moved" in self.habits and path.startswith("/me/old/"):
            return RedirectResponse(path.replace("/old/", "/b-work/"), 301)
        body = await request.body()
        if (refused := habits.refuse(method, body)) is not None:
            return Response(status_code=refused)
        given = {name: value for name, value in request.headers.items() if name in FORWARDED}
        found = await self._http.request(method, self._target + path, content=habits.take(method, body), headers=given)
        answer = habits.tell(method, found)
        headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return Response(answer.content, answer.status_code, headers)
