"""Slack's ids as the program keeps them, and as Slack knows them.

Two workspaces may give the same id to two people. So an id is kept with its tenant: the workspace, or the organization
(Enterprise Grid) that installed the app for all of its workspaces. Ids of the tenant that the database began with stay
bare (``U1``), and its key is empty; those of every other tenant carry its id (``T2/U1``).

Ids are qualified where payloads come in, and made bare where calls go out. Everything else takes them as opaque text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

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
