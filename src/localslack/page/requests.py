"""Reading what the page asks, and who asks it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.websockets import WebSocket

from localslack.errors import Refusal
from localslack.people import WorkspaceUser
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.wire import read_json
from localslack.workspace import Workspace

NO_MESSAGE = "That message is no longer there."


async def read_body(request: Request) -> dict[str, Any]:
    """Return the JSON object a page posted.

    Only JSON is read: another site's page cannot send it here without the browser asking first.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        document = read_json(await request.body()) if kind == "application/json" else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise Refusal("The page sent something that is not a JSON object. Please reload it.")
    return document


def is_own_page(socket: WebSocket) -> bool:
    """Check whether a socket was opened by this server's own page, or by a client that is not a browser."""
    origin = socket.headers.get("origin")
    hosts = {socket.headers.get("host"), socket.headers.get("x-forwarded-host")}
    return origin is None or urlsplit(origin).netloc in hosts


def part(given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object inside what the page posted; empty when there is none."""
    value = given.get(name)
    return value if isinstance(value, dict) else {}


def page_address(request: Request) -> str:
    """Return the page's address of a permalink: the channel, or the thread of a reply."""
    channel = quote(request.path_params["channel"])
    thread_ts = request.query_params.get("thread_ts")
    return f"/#/{channel}/t/{quote(thread_ts)}" if thread_ts else f"/#/{channel}"


def person_of(workspace: Workspace, user_id: object) -> WorkspaceUser:
    """Return the person the page acts as; the first one if it names none."""
    person = workspace.directory.person(str(user_id)) if user_id else workspace.directory.people[0]
    if person is None:
        raise Refusal("There is nobody with that id in this workspace. Please reload the page.")
    return person


def channel_of(workspace: Workspace, person: WorkspaceUser, channel_id: object) -> Channel:
    """Return a channel the person is in; others do not exist for them."""
    channel = workspace.store.channels.get(str(channel_id))
    if channel is None or not workspace.store.channels.has_member(channel.id, person.id):
        raise Refusal("That channel isn't there for you. Please choose another one.")
    return channel


def message_of(workspace: Workspace, person: WorkspaceUser, channel: Channel, ts: object) -> StoredMessage:
    """Return a message the person can see."""
    message = workspace.store.messages.get(channel.id, str(ts))
    if message is None or message.only_for not in (None, person.id):
        raise Refusal(NO_MESSAGE)
    return message
