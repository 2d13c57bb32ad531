"""Tool calls as reads and writes, the read of a whole span of time, and the server's error texts, classified.

The server's pages end at 250 events without saying so.

The text of an error is the only evidence: the numeric code does not tell a rate limit from a lost connection, and the
wording around Google's message depends on the tool, on the place of failure inside the tool, and on the versions of the
server's packages. So the wording is stripped and only the message counts.
"""

from __future__ import annotations

import asyncio
import copy
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from fateforger.adapters.calendar.budget import WHY_WAIT, Allowance, RequestBudget, get_cost
from fateforger.adapters.calendar.connection import (
    BUDGET_PATIENCE,
    CALLS_AT_ONCE,
    PAGE_SIZE,
    SHORTEST_WINDOW,
    McpSession,
    NotConnected,
    Reply,
    TimedOut,
    Trouble,
)
from fateforger.adapters.calendar.wire import AccountsAnswer, EventsAnswer, Target, build_list_arguments, read_answer
from fateforger.calendar.directory import Unreadable, order_window, read_event
from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import Limited, Outcome, Unknown, Window, WriteKind
from fateforger.calendar.refusals import RefusalKind, Wording
from fateforger.errors import CalendarError, CalendarIncomplete, CalendarNotFound, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.text import mark_message, ngettext, truncate

_NUMBER = re.compile(r"MCP error -?\d+: ")
_WRAPPING = re.compile(r"(Google API error|Internal error): ")
_RETRY_AFTER = re.compile(r"\. Retry after (\d{1,6}) s\.$")

# The first match decides. Texts that quote a person's words (titles, calendar names) come first and are anchored at
# their start, so that no title can pass for another error.
_SIGNS: tuple[tuple[RefusalKind, tuple[str, ...]], ...] = (
    (RefusalKind.EXISTS, (r"^Duplicate event detected", r"^Event ID '.*' already exists")),
    (RefusalKind.NOT_FOUND, (r"^Event with ID '.*' not found in calendar",)),
    (
        RefusalKind.NO_CALENDAR,
        (r"^No account has (read |write )?access to calendar", r"^Calendar(\(s\))?\b.* not found"),
    ),
    (RefusalKind.FORBIDDEN, (r"^(Access denied: )?Forbidden: the calendar server says: ",)),
    (RefusalKind.INVALID, (r"^Input validation error", r"^Invalid event ID", r"^Tool .* not found")),
    (
        RefusalKind.LOGIN,
        (
            r"^No authenticated accounts",
            r"^Multiple accounts available",
            r"^Account \".*\" not found",
            r"^Authentication (tokens? |required)",
            r"invalid (authentication )?credentials",
            r"invalid_(grant|client)",
            r"unauthorized_client",
            r"login required",
            r"expired or revoked",
            r"no (access, )?refresh token",
            r"insufficient authentication scopes",
        ),
    ),
    (
        RefusalKind.LIMITED,
        (
            r"rate limit exceeded",
            r"usage limits? exceeded",
            r"quota ?exceeded",
            r"exceeded (the|your|its) .*(quota|limit)",
            r"daily limit exceeded",
            r"too many requests",
            _RETRY_AFTER.pattern,
        ),
    ),
    (RefusalKind.CHANGED, (r"^Precondition Failed",)),
    (RefusalKind.EXISTS, (r"requested identifier already exists",)),
    (RefusalKind.CONFLICT, (r"^Conflict\b",)),
    (RefusalKind.DELETED, (r"^Resource has been deleted",)),
    (RefusalKind.TROUBLE, (r"^Google API server error", r"response body")),
    (RefusalKind.READ_ONLY, (r"need to have writer access",)),
    (
        RefusalKind.FORBIDDEN,
        (
            r"^Access denied",
            r"^Forbidden",
            r"changed by the organizer",
            r"insufficient permission",
            r"(not|n't) have (the )?(required |necessary )?(permission|access)",
        ),
    ),
    (RefusalKind.NOT_FOUND, (r"^Resource not found", r"^Not Found")),
    (
        # Only texts that Google is known to send: a write that did happen must not be recorded as refused.
        RefusalKind.INVALID,
        (
            r"^Bad Request",
            r"^Invalid (value|start|end|time|attendee|recurrence|conference|sequence)",
            r"^Invalid (resource|event|parameter|argument)",
            r"^Missing (time|start|end|required)",
            r"^Required( parameter|$)",
            r"time range is empty",
            r"must (either )?both be",
        ),
    ),
    (
        RefusalKind.TROUBLE,
        (
            r"^Backend Error",
            r"^Service Unavailable",
            r"^Internal (server )?error",
            r"bad gateway",
            r"gateway time-?out",
            r"^Batch request failed",
            r"^request to .* failed",
            r"\bE(CONN|HOST|NET|TIMEDOUT|AI_AGAIN|NOTFOUND|PIPE)",
            r"socket hang up",
            r"network",
            r"\baborted\b",
            r"time-?out|timed out",
        ),
    ),
)
_TABLE = tuple(
    (refusal, re.compile("|".join(f"(?:{sign})" for sign in signs), re.IGNORECASE | re.DOTALL))
    for refusal, signs in _SIGNS
)


def strip_wrapping(text: str) -> str:
    """Return the text without the server's wrapping: Google's own message if there is one."""
    bare = _NUMBER.sub("", text.strip(), count=2)
    return _WRAPPING.sub("", bare, count=1) if _WRAPPING.match(bare) else bare


def classify_refusal(text: str) -> RefusalKind:
    """Classify the error text of any tool."""
    message = strip_wrapping(text)
    return next((refusal for refusal, sign in _TABLE if sign.search(message)), RefusalKind.UNCLEAR)


def read_retry_after(text: str) -> float | None:
    """Return the seconds to wait, which only our local calendar passes on from its CalDAV server."""
    found = _RETRY_AFTER.search(text)
    return None if found is None else float(found[1])


_LONGEST = 300
_DETAILS = re.compile(r"\.? Details: .*$")
_AROUND = re.compile(r"((Access denied|Resource not found|Bad Request|Google API server error|Forbidden): )+")

READ_ONLY = mark_message(
    "I may read this calendar but not write to it ({reason}). Please ask for the right to make changes to it, or name"
    " another one in FATEFORGER_CALENDAR_ID."
)
SERVER = Wording(
    login=mark_message(
        "The login to your calendar does not work ({reason}). Please check it at the calendar server, or log in there"
        " again."
    ),
    not_found=mark_message(
        "The calendar server does not find your calendar ({reason}). Please check that it still exists and that your"
        " login may use it."
    ),
    no_write={
        RefusalKind.READ_ONLY: READ_ONLY,
        RefusalKind.FORBIDDEN: mark_message("Your calendar does not allow it ({reason})."),
        RefusalKind.INVALID: mark_message("Your calendar cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: READ_ONLY,
        RefusalKind.FORBIDDEN: mark_message("Your login may not use this calendar that way ({reason})."),
        RefusalKind.LIMITED: mark_message("Your calendar takes no more requests for the moment ({reason})."),
        RefusalKind.TROUBLE: mark_message("The calendar server could not reach your calendar ({reason})."),
    },
    unusable=mark_message("The calendar server did not answer the question ({reason})."),
    wait=mark_message("Your calendar takes no more requests for the moment"),
)


def extract_sentence(text: str) -> str:
    """Return the first sentence of an error text, short enough for use inside another sentence."""
    line = _DETAILS.sub("", strip_wrapping(text).split("\n", 1)[0])
    sentence = _AROUND.sub("", line, count=1).split(". ", 1)[0].strip().rstrip(".") or _("no reason given")
    return truncate(sentence, _LONGEST)


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Refused:
    """A read without an answer: ``error`` for a plain read, ``outcome`` for a read before a write."""

    refusal: RefusalKind
    text: str
    error: CalendarError

    def to_error(self) -> CalendarError:
        return self.error

    def to_outcome(self, kind: WriteKind) -> Outcome:
        """Return the outcome of a write that could not start."""
        if isinstance(self.error, CalendarUnreachable) and self.error.retry_after is not None:
            return Limited(self.error.retry_after, self.error.reason)
        return SERVER.to_outcome(self.refusal, extract_sentence(self.text), kind)


class CalendarTools:
    """The tools of one server, limited in concurrency and by the login's request budget."""

    def __init__(
        self,
        session: McpSession,
        budget: RequestBudget,
        *,
        at_once: int = CALLS_AT_ONCE,
        patience: float = BUDGET_PATIENCE,
    ) -> None:
        """``patience`` is the number of seconds a read waits for the budget before it is refused."""
        self.session = session
        self.patience = patience
        self._budget = budget
        self._turn = asyncio.Semaphore(at_once)
        self._asking = asyncio.Lock()
        self._only_account: str | None = None
        self.background = False

    @property
    def server(self) -> str:
        """Return the server's name for use in a sentence."""
        return self.session.endpoint.describe()

    def in_background(self) -> Self:
        """Return the same tools for background reads, which never wait for the budget and leave most of it."""
        tools = copy.copy(self)
        tools.background, tools.patience = True, 0.0
        return tools

    async def reserve(self, requests: int, *, patience: float = 0.0) -> Allowance | Limited:
        """Reserve requests of the login's budget, waiting up to ``patience`` seconds for them."""
        while True:
            allowance = await self._budget.reserve(requests, background=self.background)
            if isinstance(allowance, Allowance):
                return allowance
            if allowance > patience:
                return Limited(allowance, _(WHY_WAIT))
            patience -= allowance
            await self._budget.sleep(allowance)

    async def aclose(self) -> None:
        """Close the session, and record the cost of the last calls."""
        try:
            await self.session.aclose()
        finally:
            await self._budget.aclose()

    async def ask(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        model: type[Answer],
        *,
        allowance: Allowance | None = None,
    ) -> Answer | Refused:
        """Call a tool that changes nothing; it may be called twice.

        Unless it is paid from an ``allowance``, it may wait a little for the login's budget.
        """
        try:
            reply = await self._call(tool, arguments, repeatable=True, allowance=allowance)
            if isinstance(reply, Limited):
                return self._refuse_over_budget(reply.retry_after or 0.0)
            if not reply.failed:
                return read_answer(reply.text, model)
            refusal, wait = classify_refusal(reply.text), read_retry_after(reply.text)
            error = SERVER.to_error(refusal, extract_sentence(reply.text), retry_after=wait)
            return Refused(refusal, reply.text, error)
        except Trouble as trouble:
            why = _("it gave no answer in time") if isinstance(trouble, TimedOut) else trouble
            unreachable = CalendarUnreachable(_("I cannot reach {server}: {why}.", server=self.server, why=why))
            return Refused(RefusalKind.TROUBLE, str(trouble), unreachable)
        except Unreadable as problem:
            return self.unreadable(problem)

    async def tell(
        self,
        kind: WriteKind,
        tool: str,
        arguments: Mapping[str, Any],
        model: type[Answer],
        *,
        allowance: Allowance | None = None,
    ) -> Answer | Outcome:
        """Call a tool that changes something, once.

        It never waits for the budget: a writer has to keep a lease meanwhile, so it gets the seconds to wait instead.
        """
        try:
            reply = await self._call(tool, arguments, repeatable=False, allowance=allowance)
            if isinstance(reply, Limited):
                return reply
            if reply.failed:
                refusal, wait = classify_refusal(reply.text), read_retry_after(reply.text)
                return SERVER.to_outcome(refusal, extract_sentence(reply.text), kind, retry_after=wait)
            return read_answer(reply.text, model)
        except Trouble as trouble:
            return Unknown(f"{type(trouble).__name__}: {trouble}")
        except Unreadable as problem:
            return Unknown(f"an answer that cannot be read: {problem}")

    def unreadable(self, problem: Unreadable) -> Refused:
        """Return the refusal for an answer that breaks the server's contract."""
        text = _("I do not understand the answer of {server}: {problem}.", server=self.server, problem=problem)
        return Refused(RefusalKind.UNCLEAR, text, CalendarIncomplete(text))

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        repeatable: bool,
        allowance: Allowance | None,
    ) -> Reply | Limited:
        # A writer has to keep a lease meanwhile, and a call with an allowance has already paid.
        patience = self.patience if repeatable and allowance is None else 0.0
        named = await self._with_account(arguments, patience)
        if isinstance(named, Limited):
            return named
        if allowance is not None:
            return await self._send(tool, named, allowance, repeatable=repeatable)
        await self.session.open()  # this may take longer than a reservation lasts
        reserved = await self.reserve(get_cost(tool), patience=patience)
        if isinstance(reserved, Limited):
            return reserved
        with reserved:
            return await self._send(tool, named, reserved, repeatable=repeatable)

    async def _send(self, tool: str, arguments: Mapping[str, Any], allowance: Allowance, *, repeatable: bool) -> Reply:
        async with self._turn:
            allowance.pay(tool)
            reply = await self.session.call(tool, arguments, repeatable=repeatable)
            allowance.count_answer(tool, classify_refusal(reply.text) if reply.failed else None)
            return reply

    async def _with_account(self, arguments: Mapping[str, Any], patience: float) -> Mapping[str, Any] | Limited:
        """Name the account if the server has only one.

        Without an account the server looks up the calendar in a list that it caches for five minutes, even an empty
        list from a failed request to Google.
        """
        if "account" in arguments or arguments.get("calendarId", "primary") == "primary":
            return arguments
        async with self._asking:
            if self._only_account is None:
                found = await self._find_sole_account(patience)
                if isinstance(found, Limited):
                    return found
                self._only_account = found
        return {**arguments, "account": self._only_account} if self._only_account else arguments

    async def _find_sole_account(self, patience: float) -> str | Limited:
        """Return the only login of the server; an empty text when it has several or knows of none."""
        if "manage-accounts" not in (await self.session.open()).tools:
            return ""
        reserved = await self.reserve(get_cost("manage-accounts"), patience=patience)
        if isinstance(reserved, Limited):
            return reserved
        with reserved:
            reply = await self._send("manage-accounts", {"action": "list"}, reserved, repeatable=True)
        if reply.failed:
            raise NotConnected(extract_sentence(reply.text))
        accounts = read_answer(reply.text, AccountsAnswer).accounts
        return accounts[0].account_id if len(accounts) == 1 else ""

    def _refuse_over_budget(self, seconds: float) -> Refused:
        """Return the refusal for an exhausted budget; nothing was sent."""
        text = ngettext(
            "I asked your calendar very often in the last minute; please try again in {count} second.",
            "I asked your calendar very often in the last minute; please try again in {count} seconds.",
            math.ceil(seconds),
        )
        unreachable = CalendarUnreachable(text, retry_after=seconds, reason=_(WHY_WAIT))
        return Refused(RefusalKind.LIMITED, text, unreachable)


_OVERLAP = timedelta(seconds=1)


async def read_window(tools: CalendarTools, target: Target, start: datetime, end: datetime) -> Window:
    """Return all live events that end after ``start`` and begin before ``end``, by start, then id.

    Raises :class:`~fateforger.errors.CalendarError`; ``CalendarIncomplete`` when the answer may not be complete.
    """
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    if end <= start:
        return Window()
    left_out: set[str] = set()
    events = await _read_span(tools, target, start, end, left_out)
    return Window(order_window(events, start, end, target.time_zone), left_out)


async def _read_span(
    tools: CalendarTools, target: Target, start: datetime, end: datetime, left_out: set[str]
) -> list[EventImage]:
    events = await _read_page(tools, target, start, end, left_out)
    if len(events) < PAGE_SIZE:
        return events
    if end - start <= SHORTEST_WINDOW:
        raise CalendarIncomplete(
            _(
                "More than {most} events lie within a minute of {start} UTC; the calendar server cannot show them all.",
                most=PAGE_SIZE - 1,
                start=f"{start:%Y-%m-%d %H:%M}",
            )
        )
    middle = (start + (end - start) / 2).replace(microsecond=0)
    # The halves overlap, or a zero-length event in the very middle would be in neither.
    return [
        *await _read_span(tools, target, start, middle + _OVERLAP, left_out),
        *await _read_span(tools, target, middle, end, left_out),
    ]


async def _read_page(
    tools: CalendarTools, target: Target, start: datetime, end: datetime, left_out: set[str]
) -> list[EventImage]:
    answer = await tools.ask("list-events", build_list_arguments(target, start, end), EventsAnswer)
    if isinstance(answer, Refused):
        raise answer.error
    if answer.partial_failures or answer.total_count != len(answer.events):
        raise CalendarIncomplete(_("Only a part of the calendar could be read by {server}.", server=tools.server))
    if target.account is None and len(answer.accounts) > 1:
        raise CalendarNotFound(
            _(
                "The calendar server is logged in to several accounts ({accounts}); say which one with"
                " FATEFORGER_CALENDAR_ACCOUNT.",
                accounts=", ".join(answer.accounts),
            )
        )
    left_out.update(event.summary for event in answer.left_out)
    try:
        return [read_event(event) for event in answer.events]
    except Unreadable as problem:
        raise tools.unreadable(problem).error from None
