"""A server that speaks the part of Notion's API that reading databases needs (2025-09-03 and later), over real HTTP.

It is no fake of a port: the unmodified client library talks to it. What Notion cuts short is cut short here: 25 entries of a
relation, a long text or a rollup in a page, 100 results in an answer, 10,000 in a query.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.fakes.asgi_server import serve_app

TOKEN = "ntn_0123456789abcdefghijABCDEFGHIJ0123456789abcd"
INLINE = 25
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Json = dict[str, Any]


def notion_id(number: int) -> str:
    """Return the ``number``-th id."""
    text = f"{number:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def text_of(said: str, *, run: int = 2000) -> list[Json]:
    """Return a rich text with runs of that many letters."""
    pieces = [said[at : at + run] for at in range(0, len(said), run)]
    return [{"type": "text", "text": {"content": piece, "link": None}, "plain_text": piece} for piece in pieces]


@dataclass
class NotionPage:
    """A page with whole properties, ``{"type": ..., ...}`` by the title of their column."""

    id: str
    properties: dict[str, Json]
    created: str = "2026-01-01T08:00:00.000Z"
    edited: str = "2026-01-01T08:00:00.000Z"
    in_trash: bool = False


@dataclass
class NotionTable:
    """A database with one data source; ``schema`` gives the type of each column by its title."""

    title: str
    database_id: str
    source_id: str
    schema: dict[str, str]
    pages: list[NotionPage] = field(default_factory=list)
    shared: bool = True
    more_sources: list[Json] = field(default_factory=list)

    def property_id(self, title: str) -> str:
        return "title" if self.schema[title] == "title" else quote(f"{title[:2]}:\\{list(self.schema).index(title)}")

    @property
    def columns(self) -> Json:
        return {
            title: {"id": self.property_id(title), "name": title, "type": kind, kind: {}}
            for title, kind in self.schema.items()
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure in place of an answer. ``cut`` breaks the connection off."""

    status: int = 500
    code: str = "internal_server_error"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    cut: bool = False


@dataclass
class NotionServer:
    """Counts what it is asked. ``failures`` says what becomes of the next requests; ``None`` lets one through."""

    tables: list[NotionTable] = field(default_factory=list)
    failures: Iterator[Failure | None] = field(default_factory=lambda: iter(()))
    longest_query: int = 10_000
    shows_trash: bool = False
    asked: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    url: str = ""

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/search", self._guard(self._search), methods=["POST"]),
                Route("/v1/databases/{id}", self._guard(self._database)),
                Route("/v1/data_sources/{id}", self._guard(self._source)),
                Route("/v1/data_sources/{id}/query", self._guard(self._query), methods=["POST"]),
                Route("/v1/pages/{id}/properties/{property:path}", self._guard(self._property)),
            ]
        )

    def _guard(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            self.asked.append(f"{request.method} {request.url.path}")
            if request.headers.get("authorization") != f"Bearer {TOKEN}":
                return _error(401, "unauthorized", "API token is invalid.")
            version = request.headers.get("notion-version", "")
            if version < "2025-09-03":
                return _error(400, "missing_version", "Notion-Version header should be defined.")
            self.versions.add(version)
            failure = next(self.failures, None)
            if failure is None:
                return await answer(request)
            if failure.cut:
                return _Cut(200)
            if failure.body is not None:
                return Response(failure.body, failure.status, dict(failure.headers))
            return _error(failure.status, failure.code, f"Request {TOKEN} failed.", dict(failure.headers))

        return handle

    async def _search(self, request: Request) -> Response:
        body = await request.json()
        assert body["filter"] == {"property": "object", "value": "data_source"}
        words = body["query"].lower()
        fitting = [_source_object(t) for t in self.tables if t.shared and words in t.title.lower()]
        return JSONResponse(_page_of(fitting, body, "page_or_data_source"))

    async def _database(self, request: Request) -> Response:
        table = next((t for t in self.tables if t.shared and t.database_id == request.path_params["id"]), None)
        if table is None:
            return _missing()
        sources = [{"id": table.source_id, "name": table.title}, *table.more_sources]
        return JSONResponse({"object": "database", "id": table.database_id, "data_sources": sources})

    async def _source(self, request: Request) -> Response:
        table = self._table(request)
        return _missing() if table is None else JSONResponse(_source_object(table))

    async def _query(self, request: Request) -> Response:
        table = self._table(request)
        if table is None:
            return _missing()
        body = await request.json()
        pages = sorted(table.pages, key=lambda page: datetime.fromisoformat(page.created))
        assert body["sorts"] == [{"timestamp": "created_time", "direction": "ascending"}]
        if "filter" in body:
            since = datetime.fromisoformat(body["filter"]["created_time"]["on_or_after"])
            pages = [page for page in pages if datetime.fromisoformat(page.created) >= since]
        pages = [page for page in pages if self.shows_trash or not page.in_trash]
        answer = _page_of(pages[: self.longest_query], body, "page_or_data_source")
        answer["results"] = [_page_object(table, page) for page in answer["results"]]
        if len(pages) > self.longest_query:
            answer["request_status"] = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
        return JSONResponse(answer)

    async def _property(self, request: Request) -> Response:
        wanted = quote(unquote(request.url.path.partition("/properties/")[2]))
        for table in self.tables:
            for page in table.pages:
                if page.id != request.path_params["id"]:
                    continue
                for title, value in page.properties.items():
                    if wanted == table.property_id(title):
                        return JSONResponse(_item(table.property_id(title), value, dict(request.query_params)))
        return _missing()

    def _table(self, request: Request) -> NotionTable | None:
        return next((t for t in self.tables if t.shared and t.source_id == request.path_params["id"]), None)


@asynccontextmanager
async def notion_server(*tables: NotionTable) -> AsyncIterator[NotionServer]:
    """Run the server, at ``server.url``."""
    server = NotionServer(list(tables))
    async with serve_app(server.app) as base:
        server.url = base
        yield server


class _Cut(Response):
    """Begins an answer and never ends it."""

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"object": "list"', "more_body": True})


def _source_object(table: NotionTable) -> Json:
    return {
        "object": "data_source",
        "id": table.source_id,
        "title": text_of(table.title),
        "properties": table.columns,
        "parent": {"type": "database_id", "database_id": table.database_id},
        "in_trash": False,
    }


def _page_object(table: NotionTable, page: NotionPage) -> Json:
    return {
        "object": "page",
        "id": page.id,
        "created_time": page.created,
        "last_edited_time": page.edited,
        "in_trash": page.in_trash,
        "parent": {"type": "data_source_id", "data_source_id": table.source_id, "database_id": table.database_id},
        "properties": {
            title: {"id": table.property_id(title), **_cut_short(value)} for title, value in page.properties.items()
        },
    }


def _cut_short(value: Json) -> Json:
    kind = value["type"]
    held = value[kind]
    if kind == "rollup" and held.get("type") == "array":
        return {**value, kind: {**held, "array": held["array"][:INLINE]}}
    if not isinstance(held, list):
        return value
    more = {"has_more": len(held) > INLINE} if kind == "relation" else {}
    return {**value, kind: held[:INLINE], **more}


def _item(property_id: str, value: Json, asked: Json) -> Json:
    kind = value["type"]
    held = value[kind]
    if kind == "rollup" and held.get("type") == "array":
        items = [{"object": "property_item", **each} for each in held["array"]]
        about = {"id": property_id, "type": kind, kind: {**held, "array": []}}
    elif kind in {"title", "rich_text", "relation", "people"}:
        items = [{"object": "property_item", "id": property_id, "type": kind, kind: each} for each in held]
        about = {"id": property_id, "type": kind, kind: {}}
    else:
        return {"object": "property_item", "id": property_id, **value}
    return {**_page_of(items, asked, "property_item"), "property_item": {**about, "next_url": None}}


def _page_of(results: list[Any], asked: Json, kind: str) -> Json:
    size = min(int(asked.get("page_size", 100)), 100)
    begin = int(asked.get("start_cursor") or 0)
    end = begin + size
    more = end < len(results)
    return {
        "object": "list",
        "results": results[begin:end],
        "next_cursor": str(end) if more else None,
        "has_more": more,
        "type": kind,
    }


def _missing() -> Response:
    return _error(404, "object_not_found", "Could not find it. Make sure it is shared with your integration.")


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    body = {"object": "error", "status": status, "code": code, "message": message, "request_id": "r-1"}
    return Response(json.dumps(body), status, headers, "application/json")
