"""Slack's ids as the program keeps them, and the addresses that controls carry.

Two workspaces may give the same id to two people. So an id is kept with its tenant: the workspace, or the organization
(Enterprise Grid) that installed the app for all of its workspaces. Ids of the tenant that the database began with stay
bare (``U1``), and its key is empty; those of every other tenant carry its id (``T2/U1``).

Ids are qualified where payloads come in, and made bare where calls go out. Everything else takes them as opaque text.

A button carries an :class:`Address` in its ``value``. Pickers and menus have no such field, so the ``block_id`` of
their block carries one, without a target. Each choice of a row's menu carries a :class:`ControlAction`. ``v`` names the
rendering: a control of a later rendering has another ``v``, so a click on it is a new click, while two clicks on one
rendering are the same click.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

ACTION_MARK = "#"
"""Separates the action from the suffix that makes an ``action_id`` unique within a message."""

FORM_PREFIX = "form."
"""Prefix of actions that open a form; the rest is the name of the form."""

TURN_PREFIX = "turn."
"""Prefix of actions that refresh their form; the rest is the name of the choice."""

QUEUE_PREFIX, RITUAL_PREFIX = "queue.", "ritual."
"""Prefixes of actions on the queue, and on messages that the bot sent by itself; the answer replaces the card."""

SAVE_AS_TASK = "save_as_task"
"""Message shortcut that creates a task from a message."""

STOP = "turn.stop"
"""Action of the button that stops a running turn; its target is the id of the turn's command."""

PROPOSAL_PREFIX = "proposal."
"""Prefix of actions that answer an agent's proposal; the rest is the answer, and the target is the proposal."""

PERSON_PREFIX = "person."
"""Prefix of actions on the data held about the person who uses them."""

CALENDAR_PREFIX = "calendar."
"""Prefix of actions on the connection of a person's calendar."""

FEEDBACK = "feedback"
"""Action of the thumbs; the value carries the vote."""

SAY = "say"
"""Action of a button that says something for the person: its target is the text."""

START = "start"
"""Action that begins a session; only this package knows where it was used and in which zone."""

WELCOME = "welcome"
"""Rendering of a welcome card: its button begins a session in the card's own thread."""

MORE = "more"
"""Action of the button in a form that asks for more rows."""

VALUE_ACTION = "value"
"""``action_id`` of every field of a form; the ``block_id`` tells which one."""

YES = "yes"
"""Value of the box of a single checkbox; with several boxes, each has the value of its choice."""

FIELD_PREFIX = "field."
"""Prefix of the ``block_id`` of a form's field; the rest is its name."""

EDITION_MARK = "~"
"""Separates the name of a field from its edition, if it has more than one."""


class _Compact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    def pack(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


class Address(_Compact):
    """Session, target, rendering and block number of a control."""

    session: str = ""
    target: str = ""
    v: str = ""
    n: int = 0


class ControlAction(_Compact):
    """Action and target of a choice in a row's menu."""

    action: str
    target: str = ""


class Vote(_Compact):
    """Vote of a thumb: session, turn, and the prompts of the turn."""

    session: str
    turn: str
    helpful: bool
    prompts: tuple[str, ...] = ()


class FormAddress(_Compact):
    """State of a form in its ``private_metadata``. ``below`` is the address of the form under it.

    ``edits`` is as in :class:`~fateforger.session.forms.Form`.
    """

    form: str
    session: str = ""
    target: str = ""
    size: int = 0
    below: FormAddress | None = None
    edits: bool = False


A = TypeVar("A", bound=_Compact)


def unpack(kind: type[A], text: str | None) -> A | None:
    """Parse an address that came back from Slack; return ``None`` if it is not valid."""
    try:
        return kind.model_validate_json(text or "")
    except ValidationError:
        return None


def field_block(name: str, edition: int = 0) -> str:
    return f"{FIELD_PREFIX}{name}" + (f"{EDITION_MARK}{edition}" if edition else "")


def field_name(block_id: str) -> str | None:
    """Return the name of the field with this ``block_id``; ``None`` if it is not a field."""
    if not block_id.startswith(FIELD_PREFIX):
        return None
    return block_id.removeprefix(FIELD_PREFIX).partition(EDITION_MARK)[0]


def action_of(action_id: str) -> str:
    """Return the action of a control, without the suffix."""
    return action_id.rpartition(ACTION_MARK)[0] or action_id


MARK = "/"
FIRST = ""
"""Key of the tenant that the database began with."""

_PATHS = (
    "user_id",
    "channel_id",
    "trigger_id",
    "user",
    "user.id",
    "channel",
    "channel.id",
    "container.channel_id",
    "container.view_id",
    "view.id",
    "view.previous_view_id",
    "view.root_view_id",
    "authorizations.*.user_id",
    "event.user",
    "event.user.id",
    "event.channel",
)
"""Places in a payload of Slack that have an id which is read."""
_ARGUMENTS = (
    "channel",
    "channel_id",
    "user",
    "user_id",
    "users",
    "recipient_user_id",
    "trigger_id",
    "view_id",
)
"""Arguments of Slack's methods that are ids."""
_TEXTS = ("text", "blocks", "view")
_QUALIFIED = re.compile(r"(?:\b[TE][A-Z0-9]+/)?\w+", re.ASCII)


def qualify(tenant: str, slack_id: str) -> str:
    """Return an id of Slack with the key of its tenant. Raises ``ValueError`` for an id that Slack cannot have given.

    Otherwise a payload could name somebody of another workspace.
    """
    if MARK in slack_id:
        raise ValueError(f"{slack_id!r} is no id of Slack")
    return f"{tenant}{MARK}{slack_id}" if tenant else slack_id


def get_tenant(kept: str) -> str:
    """Return the key of the tenant of an id."""
    return kept.rpartition(MARK)[0]


def get_bare(kept: str) -> str:
    """Return an id as Slack knows it."""
    return kept.rpartition(MARK)[2]


def find_ids(text: str) -> Iterator[str]:
    """Yield the words of a text, a qualified id as one word: ``T2/U1`` does not hold the word ``U1``."""
    return (found[0] for found in _QUALIFIED.finditer(text))


def qualify_payload(body: dict[str, Any], tenant: str) -> None:
    """Qualify the ids of a payload in place. Raises ``ValueError`` like :func:`qualify`."""
    for path in _PATHS:
        for holder, name in _find(body, path.split(".")):
            holder[name] = qualify(tenant, holder[name])


def _find(value: Any, path: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield where the texts at a path are."""
    name, *rest = path
    if name == "*":
        for each in value if isinstance(value, list) else ():
            yield from _find(each, rest)
    elif isinstance(value, dict) and (found := value.get(name)):
        if rest:
            yield from _find(found, rest)
        elif isinstance(found, str):
            yield value, name


def find_tenant(arguments: Mapping[str, Any]) -> str | None:
    """Return the key of the tenant that the arguments of a call belong to; ``None`` if they have no id.

    Raises ``ValueError`` if they belong to several, which no call may mix.
    """
    tenants = {get_tenant(str(arguments[name])) for name in _ARGUMENTS if arguments.get(name)}
    if len(tenants) > 1:
        raise ValueError("a call with ids of several workspaces")
    return next(iter(tenants), None)


def to_slack(arguments: Mapping[str, Any], tenant: str) -> dict[str, Any]:
    """Return the arguments of a call with ids, links and mentions as Slack knows them."""
    bare = {name: get_bare(str(arguments[name])) for name in _ARGUMENTS if arguments.get(name)}
    if not tenant:
        return {**arguments, **bare}
    mention = re.compile(rf"(?<=<[@#]){re.escape(tenant + MARK)}")
    texts = {name: _map_texts(arguments[name], mention) for name in _TEXTS if arguments.get(name)}
    return {**arguments, **texts, **bare}


def _map_texts(value: Any, mention: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return mention.sub("", value)
    if isinstance(value, dict):
        return {name: _map_texts(each, mention) for name, each in value.items()}
    return [_map_texts(each, mention) for each in value] if isinstance(value, list | tuple) else value


def qualify_answer(data: dict[str, Any], tenant: str) -> None:
    """Qualify the ids of an answer of Slack that are kept, in place: those of channels."""
    for path in (["channel"], ["channel", "id"]):
        for holder, name in _find(data, path):
            holder[name] = qualify(tenant, holder[name])
