"""A person's task lists in other services, over MCP: read, never written to."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fateforger.errors import TasksUnavailable
from fateforger.limits import (
    MAX_CODE_CHARS,
    MAX_LISTED_NOTES_CHARS,
    MAX_LISTED_TASKS,
    MAX_TASK_LIST_BYTES,
    MAX_TASK_LIST_DEPTH,
    MAX_TITLE_CHARS,
)
from fateforger.memory.credentials import remove_credentials
from fateforger.planning.timing import zone
from fateforger.tasks.task import OutsideTask
from fateforger.text import gettext as _
from fateforger.text import mark_message

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response
    from mcp import Client
    from mcp_types import CallToolResult, Tool


_REFUSED = (401, 403)


def open_http_client(token: str | None, seconds: float, refused: list[int]) -> AsyncClient:
    """Return a client, which the caller closes.

    An answer that is too long raises :class:`~fateforger.adapters.answers.AnswerTooLong`. The status of a refused login
    is added to ``refused``, since the protocol's client does not expose it.
    """
    import httpx2  # noqa: PLC0415  heavy, and not needed before the first look

    from fateforger.adapters.answers import limit_answers  # noqa: PLC0415  heavy as well

    # Both log addresses or answers; an address may hold a secret.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("mcp.client.streamable_http").setLevel(logging.CRITICAL)

    async def note_refusal(response: Response) -> None:
        if response.status_code in _REFUSED:
            refused.append(response.status_code)

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    client = httpx2.AsyncClient(headers=headers, timeout=seconds, event_hooks={"response": [note_refusal]})
    limit_answers(client, MAX_TASK_LIST_BYTES)
    return client


KNOWN = (
    "get_all_tasks",
    "list_tasks",
    "list_all_tasks",
    "get_tasks",
    "list_open_tasks",
    "filter_tasks",
    "get_tasks_due_today",
)
"""The first one that a server has is used."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server declares it. ``writes``: it declares that it does more than read."""

    name: str
    needs: frozenset[str] = frozenset()
    writes: bool = False


def choose_tool(tools: Sequence[OfferedTool], wanted: str | None) -> str:
    """Return the tool to call: the ``wanted`` one, otherwise the first known.

    Raises ``ValueError`` with the reason when there is none that only reads and needs no arguments.
    """
    if wanted is not None:
        tool = next((tool for tool in tools if tool.name == wanted), None)
        if tool is None:
            raise ValueError("the server has no tool of the name that is set")
        if tool.needs or tool.writes:
            raise ValueError(f"the tool that is set {'does more than read' if tool.writes else 'needs arguments'}")
        return tool.name
    usable = {_normalize_name(tool.name): tool.name for tool in tools if not tool.needs and not tool.writes}
    found = next((usable[name] for name in KNOWN if name in usable), None)
    if found is None:
        raise ValueError("the server has no tool that is known to list tasks; TICKTICK_MCP_TOOL can name one")
    return found


def _normalize_name(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("ticktick_")


AROUND = ("tasks", "items", "data", "result")
"""The names under which an object may hold the list."""


def extract_entries(structured: object, texts: Sequence[str]) -> list[Any]:
    """Return the entries of the list in an answer, unchanged. Raises ``ValueError`` when it contains no list."""
    if structured is not None and (found := _find_list(structured)) is not None:
        return found
    if not texts and structured is None:
        return []  # an empty list, each entry of which would have been a separate text
    parsed = [_parse(text) for text in texts]
    if len(parsed) == 1 and (found := _find_list(parsed[0])) is not None:
        return found
    if parsed and all(isinstance(each, dict) and "title" in each for each in parsed):
        return parsed
    raise ValueError("the answer holds no list of tasks")


def _find_list(value: object, deep: int = 0) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if deep == MAX_TASK_LIST_DEPTH:
        return None
    if isinstance(value, str):
        return _find_list(_parse(value), deep + 1)
    if isinstance(value, dict):
        inside = (_find_list(value[name], deep + 1) for name in AROUND if name in value)
        return next((found for found in inside if found is not None), None)
    return None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_ENDED = frozenset({"completed", "complete", "done", "closed", "archived", "abandoned", "won't do", "wont do"})
_SLACK = 100
"""Characters to search beyond the limit, so that no secret is cut in two and missed."""
_JOINS = "\n\u200c\u200d"
"""Line ends, and the characters that join letters and emoji."""
_PRIORITIES = {"low": 1, "medium": 3, "high": 5}


def read_tasks(entries: Sequence[Any], tz: str) -> tuple[OutsideTask, ...]:
    """Return the open tasks among entries, each once.

    ``tz`` is the person's zone, in which a due instant becomes a day. Raises ``ValueError`` when there are entries and
    none of them is a task.
    """
    seen = [
        each for each in entries[:MAX_LISTED_TASKS] if isinstance(each, Mapping) and _clean_title(each.get("title"))
    ]
    if entries and not seen:
        raise ValueError("what it lists are no tasks")
    tasks = [_to_task(each, tz) for each in seen if _is_open(each)]
    return tuple({task.id: task for task in tasks}.values())


def _to_task(entry: Mapping[str, Any], tz: str) -> OutsideTask:
    title = _clean_title(entry.get("title"))
    name = entry.get("id")
    known = f"{name}" if isinstance(name, str | int) and f"{name}" else f"title {title}"
    return OutsideTask(
        id=f"ticktick-{hashlib.sha256(known.encode(errors='replace')).hexdigest()[:12]}",
        title=title,
        notes=_find_first_text(entry, "content", "notes", "desc", "description"),
        priority=_parse_priority(entry.get("priority")),
        due=_parse_day(entry.get("dueDate", entry.get("due_date")), tz),
    )


def _is_open(entry: Mapping[str, Any]) -> bool:
    """Check whether an entry is open. TickTick: 0 is open, 2 completed, -1 will not be done."""
    status = entry.get("status", 0)
    if isinstance(status, str):
        bare = status.strip().lower()
        ended = bare in _ENDED or bare in {"1", "2", "-1"}
    else:
        ended = isinstance(status, int) and status != 0
    return not (ended or any(entry.get(name) for name in ("completed", "isCompleted", "completedTime")))


def _parse_priority(value: object) -> int:
    if isinstance(value, str):
        value = int(value) if value in {"1", "3", "5"} else _PRIORITIES.get(value.strip().lower(), 0)
    return value if isinstance(value, int) and value in {1, 3, 5} else 0


def _parse_day(value: object, tz: str) -> date | None:
    if not isinstance(value, str) or len(value) > MAX_CODE_CHARS:
        return None
    try:
        at = datetime.fromisoformat(value)
        return (at.astimezone(zone(tz)) if at.tzinfo else at).date()
    except (ValueError, OverflowError):
        return None


def _clean_title(value: object) -> str:
    """Return a title as one line."""
    return " ".join(_clean(value, MAX_TITLE_CHARS).split())


def _find_first_text(entry: Mapping[str, Any], *names: str) -> str:
    texts = (_clean(entry.get(name), MAX_LISTED_NOTES_CHARS) for name in names)
    return next((text for text in texts if text), "")


def _clean(value: object, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    shown = "".join(c if c.isprintable() or c in _JOINS else " " for c in value.strip()[: limit + _SLACK])
    return remove_credentials(shown).strip()[:limit].rstrip()


LOOK_SECONDS = 2.0
"""Seconds for a whole read: connecting, listing the tools, calling one."""
CLOSE_SECONDS = 1.0
SENTENCE = mark_message("I could not read your TickTick list just now.")


class TickTick:
    """A list of open tasks. Each read opens a connection of its own, and closes it.

    ``token`` is sent as a bearer token and never logged. ``tool`` names the tool to call; without it a known one is
    used. ``tz`` is the person's zone, in which a due instant becomes a day.
    """

    def __init__(
        self, url: str, *, tz: str, token: str | None = None, tool: str | None = None, seconds: float = LOOK_SECONDS
    ) -> None:
        self._url = url
        self._tz = tz
        self._token = token
        self._tool = tool
        self._seconds = seconds

    async def open_tasks(self) -> tuple[OutsideTask, ...]:
        """See :data:`fateforger.tasks.ports.OpenTasks`."""
        from fateforger.adapters.answers import AnswerTooLong  # noqa: PLC0415  heavy

        # A separate task: the client's scopes end the task in which a connection breaks.
        await asyncio.to_thread(import_module, "mcp.client.streamable_http")  # heavy, and not part of the time limit
        refused: list[int] = []
        look = asyncio.create_task(self._look(refused), name="look at TickTick")
        try:
            await asyncio.wait({look}, timeout=self._seconds)
        finally:
            look.cancel()
            await asyncio.wait({look}, timeout=CLOSE_SECONDS)
        if not look.done() or look.cancelled():
            raise TasksUnavailable(_(SENTENCE), reason=f"no answer within {self._seconds:g} s")
        if (error := look.exception()) is None:
            return look.result()
        cause = _first_cause(error)
        if isinstance(cause, TasksUnavailable):
            raise cause
        if isinstance(cause, AnswerTooLong):
            raise TasksUnavailable(_(SENTENCE), reason=f"{cause}")
        # Only the type of error: its text may quote the address or the answer.
        why = f"HTTP {refused[-1]}: the login was refused" if refused else f"no connection ({type(cause).__name__})"
        raise TasksUnavailable(_(SENTENCE), reason=why) from None

    async def _look(self, refused: list[int]) -> tuple[OutsideTask, ...]:
        from mcp import Client  # noqa: PLC0415  heavy, and not needed before the first look
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  heavy

        async with (
            open_http_client(self._token, self._seconds, refused) as http,
            Client(
                streamable_http_client(self._url, http_client=http, max_sse_event_size=MAX_TASK_LIST_BYTES)
            ) as client,
        ):
            return await self._call_tool(client)

    async def _call_tool(self, client: Client) -> tuple[OutsideTask, ...]:
        listed = await client.list_tools()
        try:
            tool = choose_tool([_to_offered_tool(tool) for tool in listed.tools], self._tool)
            answer = await client.call_tool(tool, {})
            # In a thread, since the answer may be long.
            return await asyncio.to_thread(_read_answer, answer, self._tz)
        except ValueError as error:
            raise TasksUnavailable(_(SENTENCE), reason=f"{error}") from None


def _read_answer(result: CallToolResult, tz: str) -> tuple[OutsideTask, ...]:
    if result.is_error:
        raise ValueError("its tool answered with an error")
    texts = [block.text for block in result.content if block.type == "text"]
    return read_tasks(extract_entries(result.structured_content, texts), tz)


def _to_offered_tool(tool: Tool) -> OfferedTool:
    needs = tool.input_schema.get("required") or ()
    hints = tool.annotations
    writes = hints is not None and (hints.read_only_hint is False or hints.destructive_hint is True)
    return OfferedTool(tool.name, frozenset(needs), writes)


def _first_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
