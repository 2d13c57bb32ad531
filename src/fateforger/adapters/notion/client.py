"""Requests to Notion's API through its client library, with retries, translated errors and no log output."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx
from notion_client import AsyncClient
from notion_client.errors import HTTPResponseError, InvalidPathParameterError, RequestTimeoutError

from fateforger.adapters.answers import AnswerTooLong, limit_answers, read_retry_after
from fateforger.errors import BadInput, SourceUnavailable
from fateforger.limits import MAX_NOTION_ANSWER_BYTES
from fateforger.ports.clock import Clock

TROUBLE = (HTTPResponseError, RequestTimeoutError, InvalidPathParameterError, httpx.HTTPError, TimeoutError, ValueError)
"""Errors of the client library; a ``ValueError`` is an answer that is not JSON."""
_NOT_THERE, _CONFLICT, _LIMITED, _FAILED = 404, 409, 429, 500


def is_missing(error: BaseException | None) -> bool:
    """Check whether the id does not exist, or is not shared with the integration."""
    return isinstance(error, HTTPResponseError) and error.status == _NOT_THERE


def is_passing(error: Exception) -> bool:
    """Check whether the same request may succeed later."""
    if isinstance(error, HTTPResponseError):
        return error.status in {_CONFLICT, _LIMITED} or error.status >= _FAILED
    return isinstance(error, RequestTimeoutError | httpx.TransportError | TimeoutError)


def to_source_error(error: Exception, clock: Clock) -> BadInput | SourceUnavailable:
    """Return our error for an error of Notion, without Notion's own text, which may repeat what it was sent."""
    if not isinstance(error, HTTPResponseError):
        if isinstance(error, AnswerTooLong):
            return SourceUnavailable("Notion gave an answer that is too long to read.")
        if isinstance(error, httpx.TransportError | RequestTimeoutError | TimeoutError):
            return SourceUnavailable("I cannot reach Notion just now. Run it again in a while; nothing is moved twice.")
        return SourceUnavailable("What answered is not Notion; look at FATEFORGER_NOTION_URL.", where="notion_url")
    wait = read_retry_after(error.headers.get("retry-after", ""), clock.now())
    match error.status:
        case 401:
            return BadInput("Notion does not accept this token; copy it again into NOTION_TOKEN.", where="notion_token")
        case 403:
            return BadInput("This integration may not read content; allow it in the integration's settings.")
        case 404:
            return BadInput("Notion has nothing there, or it is not shared with the integration.")
        case 429:
            return SourceUnavailable("Notion asks for fewer requests; try later.", retry_after=wait)
        case status if status >= _FAILED or status == _CONFLICT:
            return SourceUnavailable(f"Notion fails just now (status {status}); try later.", retry_after=wait)
        case status:
            return SourceUnavailable(f"Notion refused the request (status {status}).")


API_VERSION = "2026-03-11"
"""2025-09-03 was the first version in which a database has data sources."""
TRIES = 6
CALL_SECONDS = 60.0
"""Seconds for one request, its answer included."""
LONGEST_PAUSE = 120.0
PAGE = 100

Sleep = Callable[[float], Awaitable[None]]
# Without a logger of its own the library writes to the terminal, including what the server sent.
_QUIET = logging.getLogger(f"{__name__}.library")
_NOTHING = logging.CRITICAL + 1


class NotionPages:
    """Read access to Notion.

    A request is repeated when Notion is busy or fails, after the pause it asks for. Without such a pause,
    ``first_pause`` in seconds comes before the second try and is doubled from then on.
    """

    def __init__(
        self, token: str, *, url: str | None, clock: Clock, sleep: Sleep = asyncio.sleep, first_pause: float = 1.0
    ) -> None:
        where = {} if url is None else {"base_url": url.rstrip("/").removesuffix("/v1")}
        options = {
            "auth": token,
            "notion_version": API_VERSION,
            "retry": False,
            "logger": _QUIET,
            "log_level": _NOTHING,
            **where,
        }
        http = httpx.AsyncClient()
        self._client = AsyncClient(options, client=http)
        limit_answers(http, MAX_NOTION_ANSWER_BYTES)
        self._clock = clock
        self._sleep = sleep
        self._first_pause = first_pause

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def find_by_title(self, title: str) -> list[dict[str, Any]]:
        """Return the data sources with exactly this title that the integration can see."""
        ask = {"query": title, "filter": {"property": "object", "value": "data_source"}, "page_size": PAGE}
        answers = self._answers(lambda cursor: self._client.search(**ask, start_cursor=cursor))
        found = [source async for answer in answers for source in answer["results"]]
        return [source for source in found if _get_title(source) == title and not in_trash(source)]

    async def database(self, object_id: str) -> dict[str, Any] | None:
        """Return a database with its data sources; ``None`` if there is none with this id."""
        return await self._get_or_none(lambda: self._client.databases.retrieve(object_id))

    async def data_source(self, object_id: str) -> dict[str, Any] | None:
        """Return a data source with its columns; ``None`` if there is none with this id."""
        return await self._get_or_none(lambda: self._client.data_sources.retrieve(object_id))

    async def pages(self, source_id: str) -> AsyncIterator[dict[str, Any]]:
        """Yield every page of a data source in the order of creation.

        Notion ends a query after 10,000 results and reports so; the next query continues where that one ended.
        """
        since: str | None = None
        seen_last: set[str] = set()
        while True:
            cut_off, fresh, seen = False, 0, set[str]()
            last = since
            async for answer in self._answers(lambda cursor: self._query(source_id, since, cursor)):  # noqa: B023  used up in this round
                cut_off |= (answer.get("request_status") or {}).get("type") == "incomplete"
                for page in answer["results"]:
                    if page["created_time"] != last:
                        last, seen = page["created_time"], set()
                    seen.add(page["id"])
                    if page["id"] in seen_last:
                        continue
                    fresh += 1
                    yield page
            if not cut_off:
                return
            if not fresh or last is None:
                raise SourceUnavailable("Notion gives no more than 10,000 rows that were made in the same minute.")
            since, seen_last = last, seen | (seen_last if last == since else set())

    async def whole(self, page_id: str, property_id: str) -> dict[str, Any]:
        """Return a property with all its values, in the form it has in a page."""
        ask = self._client.pages.properties.retrieve
        items: list[dict[str, Any]] = []
        about: Mapping[str, Any] = {}
        async for answer in self._answers(
            lambda cursor: ask(page_id, property_id, start_cursor=cursor, page_size=PAGE)
        ):
            if answer.get("object") != "list":
                return answer
            items += answer["results"]
            about = answer.get("property_item") or about
        kind = about.get("type") or (items[0]["type"] if items else "rich_text")
        if kind != "rollup":
            return {"type": kind, kind: [item[kind] for item in items]}
        total = about.get("rollup") or {}
        return {
            "type": "rollup",
            "rollup": total if total.get("type") != "array" else {"type": "array", "array": items},
        }

    def _query(self, source_id: str, since: str | None, cursor: str | None) -> Awaitable[Any]:
        ask: dict[str, Any] = {"sorts": [{"timestamp": "created_time", "direction": "ascending"}], "page_size": PAGE}
        if since is not None:
            ask["filter"] = {"timestamp": "created_time", "created_time": {"on_or_after": since}}
        return self._client.data_sources.query(source_id, **ask, start_cursor=cursor)

    async def _answers(self, ask: Callable[[str | None], Awaitable[Any]]) -> AsyncIterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            answer = await self._patiently(lambda: ask(cursor))  # noqa: B023  called before the next round
            yield answer
            cursor = answer.get("next_cursor")
            if not answer.get("has_more") or cursor is None:
                return

    async def _get_or_none(self, ask: Callable[[], Awaitable[Any]]) -> dict[str, Any] | None:
        try:
            answer: dict[str, Any] = await self._patiently(ask)
        except BadInput as error:
            if is_missing(error.__cause__):
                return None
            raise
        return answer

    async def _patiently(self, ask: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        for attempt in range(TRIES):
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    answer = await ask()
            except TROUBLE as error:
                refusal = to_source_error(error, self._clock)
                if not isinstance(refusal, SourceUnavailable) or not is_passing(error) or attempt + 1 == TRIES:
                    raise refusal from error
                wanted = refusal.retry_after
                await self._sleep(min(self._first_pause * 2**attempt if wanted is None else wanted, LONGEST_PAUSE))
            else:
                if isinstance(answer, dict):
                    return answer
                raise SourceUnavailable("What answered is not Notion.")
        raise AssertionError("the last try returns or raises")


def in_trash(thing: Mapping[str, Any]) -> bool:
    """Check whether a page or data source is in the trash."""
    return bool(thing.get("in_trash") or thing.get("archived"))


def _get_title(thing: Mapping[str, Any]) -> str:
    return "".join(run.get("plain_text") or "" for run in thing.get("title") or ()).strip()
