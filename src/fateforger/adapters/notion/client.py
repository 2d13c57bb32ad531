"""Requests to Notion's API through its client library, and the databases of constraints with their columns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from notion_client import AsyncClient
from notion_client.errors import HTTPResponseError, InvalidPathParameterError, RequestTimeoutError
from notion_client.helpers import extract_notion_id

from fateforger.adapters.answers import AnswerTooLong, limit_answers, read_retry_after
from fateforger.errors import BadInput, SourceUnavailable
from fateforger.limits import MAX_NOTION_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import join_words, quote_title

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


@dataclass(frozen=True, slots=True)
class Table:
    """A database: its key in options, its title, and the titles of its columns by field name.

    The first title of a column is the usual one. The migration can do without a table that is not ``needed``.
    """

    key: str
    title: str
    columns: Mapping[str, tuple[str, ...]]
    needed: bool = True


CONSTRAINTS = Table(
    "constraints",
    "TB Constraints",
    {
        "name": ("Name",),
        "description": ("Description",),
        "uid": ("UID",),
        "necessity": ("Necessity",),
        "status": ("Status",),
        "source": ("Source",),
        "confidence": ("Confidence",),
        "scope": ("Scope",),
        "start_date": ("Start Date",),
        "end_date": ("End Date",),
        "days_of_week": ("Days Of Week",),
        "timezone": ("Timezone",),
        "recurrence": ("Recurrence",),
        "ttl_days": ("TTL Days",),
        "applies_stages": ("Applies Stages",),
        "applies_event_types": ("Applies Event Types",),
        "topics": ("Topics",),
        "rule_kind": ("Rule Kind",),
        "duration_min": ("Duration Min (min)", "Duration Min"),
        "duration_max": ("Duration Max (min)", "Duration Max"),
        "contiguity": ("Contiguity",),
        "supersedes": ("Supersedes",),
    },
)
WINDOWS = Table(
    "windows",
    "TB Constraint Windows",
    {
        "constraint": ("Constraint",),
        "kind": ("Kind",),
        "start": ("Start Time (local)", "Start Time"),
        "end": ("End Time (local)", "End Time"),
    },
)
TOPICS = Table("topics", "TB Topics", {"name": ("Name",)})
EVENTS = Table(
    "events",
    "TB Constraint Events",
    {"uid": ("Extracted UID",), "words": ("User Utterance",), "at": ("Occurred At",)},
    needed=False,
)
TABLES = (CONSTRAINTS, WINDOWS, TOPICS, EVENTS)

Columns = Mapping[str, str]
"""The title of the column for each field; fields without a column are left out."""


def parse_columns(options: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Parse options like ``ttl_days=Lives`` or ``windows.kind=Sort`` into titles by table and field.

    Raises ``BadInput``.
    """
    tables = {table.key: table for table in TABLES}
    found = {}
    for given, title in options:
        key, dot, name = given.rpartition(".")
        table = tables.get(key if dot else CONSTRAINTS.key)
        if table is None or name not in table.columns:
            known = [
                column if each is CONSTRAINTS else f"{each.key}.{column}" for each in TABLES for column in each.columns
            ]
            raise BadInput(f"“{given}” is nothing I look for; use one of {', '.join(known)}.", where="column")
        found[table.key, name] = title.strip()
    return found


def find_columns(table: Table, schema: Mapping[str, Any], said: Mapping[tuple[str, str], str]) -> Columns:
    """Return the columns of this database.

    Raises :class:`BadInput` with the missing columns, and the ones they could be.
    """
    by_fold = {title.casefold(): title for title in schema}
    found: dict[str, str] = {}
    missing: list[str] = []
    for name, usual in table.columns.items():
        given = said.get((table.key, name))
        if given == "":
            continue
        candidates = usual if given is None else (given,)
        title = next((by_fold[each.casefold()] for each in candidates if each.casefold() in by_fold), None)
        if title is None and name == "name":
            title = next((each for each, column in schema.items() if column["type"] == "title"), None)
        if title is None and given is not None:
            raise BadInput(
                f"“{table.title}” has no column “{given}”; it has {join_words(map(quote_title, sorted(schema)))}.",
                where="column",
            )
        if title is None:
            missing.append(name)
        else:
            found[name] = title
    if missing:
        raise BadInput(_describe_missing(table, missing, sorted(set(schema) - set(found.values()))), where="column")
    return found


def _describe_missing(table: Table, missing: Sequence[str], unknown: Sequence[str]) -> str:
    usual = join_words(quote_title(table.columns[name][0]) for name in missing)
    option = missing[0] if table is CONSTRAINTS else f"{table.key}.{missing[0]}"
    others = f" I do not know {join_words(map(quote_title, unknown))}." if unknown else ""
    return (
        f"“{table.title}” has no column {usual}. If it goes by another name, say so: --column {option}=NAME; if there"
        f" is none, --column {option}= leaves it out.{others}"
    )


WITHOUT = "none"


@dataclass(frozen=True, slots=True)
class Place:
    """A data source and the columns in it."""

    source_id: str
    columns: Columns


def parse_databases(options: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Parse options like ``windows=https://notion.so/...`` into ids by key, or ``none``. Raises ``BadInput``."""
    tables = {table.key: table for table in TABLES}
    found = {}
    for key, given in options:
        if key not in tables:
            raise BadInput(f"“{key}” is no database I read; use one of {', '.join(tables)}.", where="database")
        if given.strip() == WITHOUT and key != "constraints":
            found[key] = WITHOUT
            continue
        object_id = extract_notion_id(given)
        if object_id is None:
            raise BadInput(f"“{given[:80]}” is no id or address of a Notion database.", where="database")
        found[key] = object_id
    return found


async def find_place(
    table: Table, pages: NotionPages, databases: Mapping[str, str], columns: Mapping[tuple[str, str], str]
) -> Place | None:
    """Return the place of a table; ``None`` when an optional one is missing. Raises ``BadInput`` for a needed one."""
    given = databases.get(table.key)
    if given == WITHOUT:
        return None
    source_id = await (_find_by_title(table, pages) if given is None else _find_by_id(table, pages, given))
    source = None if source_id is None else await pages.data_source(source_id)
    if source_id is None or source is None:
        if table.needed:
            raise BadInput(_describe_not_found(table), where="database")
        return None
    return Place(source_id, find_columns(table, source["properties"], columns))


async def _find_by_title(table: Table, pages: NotionPages) -> str | None:
    found = await pages.find_by_title(table.title)
    if len(found) > 1:
        ids = ", ".join(str(source["id"]) for source in found)
        raise BadInput(
            f"There are {len(found)} databases called “{table.title}”; say which one: --database {table.key}=ID, with"
            f" one of {ids}.",
            where="database",
        )
    return str(found[0]["id"]) if found else None


async def _find_by_id(table: Table, pages: NotionPages, object_id: str) -> str:
    """Return the id of a data source, from its own id or from that of its database.

    A database with several data sources must have exactly one with the table's title.
    """
    database = await pages.database(object_id)
    if database is None:
        return object_id
    sources = database.get("data_sources") or []
    fitting = sources if len(sources) == 1 else [each for each in sources if each.get("name") == table.title]
    if len(fitting) != 1:
        names = ", ".join(f"“{each.get('name')}” ({each['id']})" for each in sources) or "none"
        raise BadInput(
            f"That database has several data sources: {names}. Name one by its id: --database {table.key}=ID.",
            where="database",
        )
    return str(fitting[0]["id"])


def _describe_not_found(table: Table) -> str:
    without = "" if table.key == "constraints" else f"; if you never had one, --database {table.key}=none"
    return (
        f"I do not find the database “{table.title}” in Notion. Share it with the integration (in Notion: ••• on its"
        f" page, Connections), or name it with --database {table.key}=ADDRESS{without}."
    )
