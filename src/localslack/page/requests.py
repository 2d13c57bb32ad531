"""Reading what the page asks, who asks it, and the surface it is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.websockets import WebSocket

from localslack import interactions
from localslack.blocks.elements import PlacedElement, find_element
from localslack.errors import Refusal
from localslack.form_state import state_values
from localslack.people import WorkspaceUser
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.store.store import ResponseTarget
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


# --- The surface a person acts on: a message, an open modal or their Home tab ---


NO_VIEW = "That form is no longer open."


@dataclass(frozen=True)
class MessageSurface:
    channel: Channel
    message: StoredMessage

    @property
    def blocks(self) -> Sequence[Mapping[str, Any]]:
        return self.message.body.get("blocks") or []

    @property
    def place(self) -> tuple[str, ...]:
        return (self.channel.id, self.message.ts)


@dataclass(frozen=True)
class ViewSurface:
    view: dict[str, Any]

    @property
    def blocks(self) -> Sequence[Mapping[str, Any]]:
        blocks: Sequence[Mapping[str, Any]] = self.view["blocks"]
        return blocks

    @property
    def place(self) -> tuple[str, ...]:
        return (self.view["id"],)


Surface = MessageSurface | ViewSurface


def surface_of(workspace: Workspace, person: WorkspaceUser, named: object) -> Surface:
    """Return the surface a page names; raises `Refusal` when it is not there for this person."""
    given = named if isinstance(named, dict) else {}
    match given.get("type"):
        case "message":
            channel = channel_of(workspace, person, given.get("channel"))
            return MessageSurface(channel, message_of(workspace, person, channel, given.get("ts")))
        case "view":
            return ViewSurface(open_view(workspace, person, given.get("view_id")))
        case "home":
            home = workspace.store.views.home(person.id)
            if home is None:
                raise Refusal("The Home tab has nothing on it yet.")
            return ViewSurface(home)
        case _:
            raise Refusal("The page named no message, form or Home tab. Please reload it.")


def open_view(workspace: Workspace, person: WorkspaceUser, view_id: object) -> dict[str, Any]:
    found = workspace.store.views.get(str(view_id))
    if found is None or found[0] != person.id:
        raise Refusal(NO_VIEW)
    return found[1]


def placed_in(workspace: Workspace, surface: Surface, given: Mapping[str, Any]) -> PlacedElement:
    """Return the element a page names by block_id and action_id, as it is there or was there last."""
    named = str(given.get("block_id")), str(given.get("action_id"))
    placed = find_element(surface.blocks, *named) or workspace.replaced.find(surface.place, *named)
    if placed is None:
        raise Refusal("That button or field has changed. Please look again.")
    return placed


def where(workspace: Workspace, person: WorkspaceUser, surface: Surface, entered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an action's payload about its place: the surface, its entered values, and where to answer.

    What was entered in a view is kept with it, so that it is there again after a restart.
    """
    match surface:
        case MessageSurface(channel, message):
            target = ResponseTarget(channel.id, person.id, message.ts, message.thread_ts)
            return {**glimpse(surface, entered), "response_url": workspace.response_url(target)}
        case ViewSurface(view):
            return interactions.on_view(workspace.modals.remember(view, entered))
        case _:
            assert_never(surface)


def glimpse(surface: Surface, entered: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for options looked up while typing: nothing is kept and there is nowhere to answer."""
    match surface:
        case MessageSurface(channel, message):
            return interactions.on_message(channel, message, state_values(surface.blocks, entered))
        case ViewSurface(view):
            return interactions.on_view({**view, "state": {"values": state_values(surface.blocks, entered)}})
        case _:
            assert_never(surface)
