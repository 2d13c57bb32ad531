"""Handler of the calls of agents: authentication, authorization, the audit log, and the tool."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fateforger.agents.access import AgentAccess, Caller, Tool, read_input
from fateforger.agents.clients import UNKNOWN_TOOL, Call, Client, Outcome, matches_hash, name_arguments, parse_key
from fateforger.agents.ports import Calls, Clients
from fateforger.agents.proposal_tools import CONSTRAINT_TOOLS, PLAN_TOOLS, PROPOSAL_TOOLS
from fateforger.agents.task_tools import TASK_TOOLS
from fateforger.errors import FateforgerError, UserError
from fateforger.limits import MAX_CALLS_PER_MINUTE
from fateforger.masks import hide_secrets
from fateforger.ports.clock import Clock
from fateforger.text import clean_text
from fateforger.values import replace

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (*TASK_TOOLS, *PLAN_TOOLS, *CONSTRAINT_TOOLS, *PROPOSAL_TOOLS)}


log = logging.getLogger(__name__)

NO_TOKEN = (
    "A token is missing. Its owner makes one with fateforger mcp client add; it goes into FATEFORGER_MCP_TOKEN, or over"  # noqa: S105  a message, not a token
    " HTTP into the header Authorization: Bearer."
)
WRONG_TOKEN = "I don't know this token. Its owner makes one with fateforger mcp client add."  # noqa: S105  a message, not a token
PERSON_GONE = (
    "The person this token works for has left Slack, or the app was removed from their workspace. The token works again"
    " when that has changed."
)
TOO_FAST = f"Too many calls: a client may make {MAX_CALLS_PER_MINUTE} a minute. Try again in a moment."
BROKEN = "Something went wrong on my side, and I can't say whether that was done. The log of fateforger says more."


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a call: a document, or with ``is_error`` the error, which is ours if it ``failed``."""

    document: Mapping[str, Any]
    is_error: bool = False
    failed: bool = False

    @property
    def text(self) -> str:
        """The document as JSON, or the message of an error."""
        if self.is_error:
            error = self.document["error"]
            return str(error["message"]) if error["where"] is None else f"{error['message']} ({error['where']})"
        return json.dumps(self.document, ensure_ascii=False)

    @property
    def outcome(self) -> Outcome:
        """The outcome for the log."""
        return "failed" if self.failed else "refused" if self.is_error else "done"

    @property
    def about(self) -> str:
        """The kind of an error, or the id of the proposal that was made or read."""
        if self.is_error:
            return str(self.document["error"]["kind"])
        proposal = self.document.get("proposal")
        return "" if proposal is None else str(proposal["id"])


class Refused(UserError):
    """A call was refused before anything was done."""


@dataclass(slots=True)
class CallHandler:
    """Carries out calls. Every call is in the audit log before it has any effect."""

    reach: AgentAccess
    clients: Clients
    calls: Calls
    clock: Clock
    is_reachable: Callable[[str], Awaitable[bool]]
    """Checks whether a person's account is active and the app has not been removed from their workspace."""

    async def authenticate(self, token: str | None) -> Client:
        """Return the client of a token.

        Raises :class:`Refused` for a token that is missing, wrong, expired or revoked, or whose person cannot be
        reached in Slack any more, and ``StoreError``.
        """
        client = await self._find_client(token)
        await self._check_access(client, self.clock.now())
        return client

    async def call(self, name: str, arguments: Mapping[str, Any] | None, token: str | None) -> Answer:
        """Run a tool. Every error becomes an answer; nothing is raised."""
        given = arguments or {}
        try:
            client = await self._find_client(token)
            number = await self._begin_call(client, name, given)
        except FateforgerError as error:
            log.warning("a call of %s was refused: %s", name[:80], error.message)
            answer = _error_answer(error)
            return replace(answer, document=_clean_document(answer.document))
        caller = Caller(client, number, self.clock.now())
        answer = await self._answer(name, given, caller)
        return await self._end_call(number, replace(answer, document=_clean_document(answer.document)))

    async def _find_client(self, token: str | None) -> Client:
        if not token:
            raise Refused(NO_TOKEN)
        key = parse_key(token)
        found = None if key is None else await self.clients.with_key(key)
        if found is None or not matches_hash(token, found[1]):
            raise Refused(WRONG_TOKEN)
        return found[0]

    async def _check_access(self, client: Client, now: datetime) -> None:
        barred = client.explain_refusal(now)
        if barred is None and not await self.is_reachable(client.user_id):
            barred = PERSON_GONE
        if barred is not None:
            raise Refused(barred)

    async def _begin_call(self, client: Client, name: str, given: Mapping[str, Any]) -> int:
        now, tool = self.clock.now(), TOOLS.get(name)
        asked = Call(
            client=client.name,
            user_id=client.user_id,
            tool=UNKNOWN_TOOL if tool is None else name,
            asked=name_arguments(given, () if tool is None else tool.takes.model_fields),
            at=now,
        )
        number = await self.calls.begin(asked, since=now - timedelta(minutes=1), most=MAX_CALLS_PER_MINUTE)
        if number is None:
            raise Refused(TOO_FAST)
        return number

    async def _answer(self, name: str, given: Mapping[str, Any], caller: Caller) -> Answer:
        try:
            return Answer(await self._run_tool(name, given, caller))
        except FateforgerError as error:
            return _error_answer(error)
        except Exception as error:  # outermost edge of a call: a fault in one tool must not end the server
            log.exception("the call %s of %s failed", caller.number, name)
            document = {"error": {"kind": type(error).__name__, "message": BROKEN, "where": None}}
            return Answer(document, is_error=True, failed=True)

    async def _run_tool(self, name: str, given: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        await self._check_access(caller.client, caller.at)
        tool = TOOLS.get(name)
        if tool is None:
            raise Refused(f"There is no tool “{name[:80]}”. Tools are {', '.join(TOOLS)}.")
        _check_scope(tool, caller.client)
        return await tool.run(read_input(tool.takes, given), caller, self.reach)

    async def _end_call(self, number: int, answer: Answer) -> Answer:
        try:
            await self.calls.end(number, answer.outcome, answer.about, now=self.clock.now())
        except FateforgerError as error:
            log.warning("what came of the call %s is not in the log: %s", number, error.message)
        return answer


def _check_scope(tool: Tool, client: Client) -> None:
    needed = tool.scope if isinstance(tool.scope, tuple) else (tool.scope,)
    if set(needed).isdisjoint(client.scopes):
        raise Refused(f"This token may not do that; {tool.name} needs the scope {' or '.join(needed)}.")


def _error_answer(error: FateforgerError) -> Answer:
    said = {"kind": error.kind, "message": error.message, "where": error.where}
    return Answer({"error": said}, is_error=True)


def _clean_document(value: Any) -> Any:
    """Return a document whose texts are safe to show and hold no secret of this program."""
    if isinstance(value, str):
        return clean_text(hide_secrets(value))
    if isinstance(value, Mapping):
        return {name: _clean_document(each) for name, each in value.items()}
    return [_clean_document(each) for each in value] if isinstance(value, list | tuple) else value
