"""Access of one call: what a tool can reach, and its arguments and scope."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.agents.clients import Client, Scope
from fateforger.agents.ports import Proposals
from fateforger.errors import BadInput
from fateforger.limits import MAX_CALL_CHARS, MAX_MESSAGE_CHARS
from fateforger.memory.credentials import REFUSED, TOO_LONG, redact_credentials
from fateforger.memory.versions import Version
from fateforger.planning.validation import first_mistake
from fateforger.session.day import local_today
from fateforger.session.model import Session, SessionStatus
from fateforger.tasks.ports import Tasks
from fateforger.tasks.workflows import Workflows
from fateforger.text import format_day
from fateforger.workflow.predicates import Facts, NothingAllowed

MOST_SESSIONS = 100


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """Read access to sessions and constraints; write access to tasks, and to proposals that the person has to approve.

    ``sessions_of`` returns a person's sessions, the most recently changed first; ``constraints_of`` all versions of
    their constraints. ``tz`` is the time zone of people who have not planned a day yet. ``facts`` are what the rules of
    ``workflows`` may look at.
    """

    sessions_of: Callable[[str], Awaitable[tuple[Session, ...]]]
    constraints_of: Callable[[str], Awaitable[tuple[Version, ...]]]
    tasks: Tasks
    proposals: Proposals
    tz: str
    workflows: Workflows = field(default_factory=Workflows)
    facts: Facts = field(default_factory=NothingAllowed)


@dataclass(frozen=True, slots=True)
class Caller:
    """The calling client, the time of the call, and its number in the audit log."""

    client: Client
    number: int
    at: datetime

    @property
    def user_id(self) -> str:
        """The person that the agent works for."""
        return self.client.user_id


async def find_day(reach: AgentAccess, caller: Caller, day: date | None) -> tuple[date, str, Session | None]:
    """Return the day (today if ``day`` is ``None``), its time zone, and the session that plans it.

    An open session is preferred to one that has ended.
    """
    sessions = await reach.sessions_of(caller.user_id)
    tz = sessions[0].tz if sessions else reach.tz
    wanted = day or local_today(caller.at, tz)
    mine = [session for session in sessions if session.date == wanted]
    mine.sort(key=lambda session: session.status is not SessionStatus.ACTIVE)
    return wanted, mine[0].tz if mine else tz, mine[0] if mine else None


def require_session(day: date, session: Session | None) -> Session:
    """Return the session. Raises ``BadInput`` if there is none."""
    if session is None:
        raise BadInput(f"Nothing is planned for {format_day(day)}; the person starts a plan in Slack.", where="date")
    return session


I = TypeVar("I", bound="Input")  # noqa: E741  a type variable, as short as the others
Run = Callable[[Any, Caller, AgentAccess], Awaitable[dict[str, Any]]]


class Input(BaseModel):
    """The arguments of a tool: no extra fields, no type coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    ``takes`` parses the arguments; ``shape`` provides a more detailed schema, if set. ``run`` raises ``UserError`` for
    a request that cannot be fulfilled.
    """

    name: str
    description: str
    scope: Scope | tuple[Scope, ...]
    takes: type[Input]
    run: Run
    shape: type[BaseModel] | None = None
    writes: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return (self.shape or self.takes).model_json_schema()


def read_input(takes: type[I], arguments: Mapping[str, Any]) -> I:
    """Return the parsed arguments of a call.

    Raises ``BadInput`` with one sentence about the first mistake, for credentials in any argument, and for texts too
    long to search for credentials.
    """
    try:
        written = json.dumps(arguments)
        texts = list(_find_texts(arguments))
        if len(written) > MAX_CALL_CHARS or any(len(text) > MAX_MESSAGE_CHARS for text in texts):
            raise BadInput(TOO_LONG)
        if any(redact_credentials(text)[1] for text in texts):
            raise BadInput(REFUSED)
        return takes.model_validate_json(written)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where or None) from None
    except RecursionError:
        raise BadInput("These arguments are nested too deeply.") from None


def _find_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _find_texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _find_texts(each)
