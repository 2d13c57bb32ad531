"""Reading what the page asks, who asks it, and the surface it is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
"""A message, an open modal or the Home tab, as a person acts on it."""


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


def page_address(request: Request) -> str:
    """Return the page's address of a permalink: the channel, or the thread of a reply."""
    channel = quote(request.path_params["channel"])
    thread_ts = request.query_params.get("thread_ts")
    return f"/#/{channel}/t/{quote(thread_ts)}" if thread_ts else f"/#/{channel}"


@dataclass(frozen=True)
class PageRequest:
    """A request of a page: its arguments, `given` as JSON or in the query, and the person that it names."""

    workspace: Workspace
    given: Mapping[str, Any]

    @cached_property
    def me(self) -> WorkspaceUser:
        """The person the page acts as; the first one if it names none."""
        user_id = self.given.get("user")
        people = self.workspace.directory
        person = people.person(str(user_id)) if user_id else people.people[0]
        if person is None:
            raise Refusal("There is nobody with that id in this workspace. Please reload the page.")
        return person

    @property
    def channel(self) -> Channel:
        """The named channel, which the person is in; others do not exist for them."""
        return self.find_channel(self.given)

    @property
    def message(self) -> StoredMessage:
        """The named message, which the person can see."""
        return self.find_message(self.channel, self.given)

    def part(self, name: str) -> Mapping[str, Any]:
        """Return an object inside what the page posted; empty when there is none."""
        value = self.given.get(name)
        return value if isinstance(value, dict) else {}

    def find_channel(self, given: Mapping[str, Any]) -> Channel:
        channel = self.workspace.store.channels.get(str(given.get("channel")))
        if channel is None or not self.workspace.store.channels.has_member(channel.id, self.me.id):
            raise Refusal("That channel isn't there for you. Please choose another one.")
        return channel

    def find_message(self, channel: Channel, given: Mapping[str, Any]) -> StoredMessage:
        message = self.workspace.store.messages.get(channel.id, str(given.get("ts")))
        if message is None or message.only_for not in (None, self.me.id):
            raise Refusal(NO_MESSAGE)
        return message

    def find_open_view(self) -> dict[str, Any]:
        """Return the modal or Home tab that the page names by its id."""
        return self._find_view(self.given)

    def _find_view(self, given: Mapping[str, Any]) -> dict[str, Any]:
        me, found = self.me, self.workspace.store.views.get(str(given.get("view_id")))
        if found is None or found[0] != me.id:
            raise Refusal(NO_VIEW)
        return found[1]

    def find_surface(self) -> Surface:
        """Return the surface that the page names; raises `Refusal` when it is not there for this person."""
        given = self.part("surface")
        match given.get("type"):
            case "message":
                channel = self.find_channel(given)
                return MessageSurface(channel, self.find_message(channel, given))
            case "view":
                return ViewSurface(self._find_view(given))
            case "home":
                home = self.workspace.store.views.home(self.me.id)
                if home is None:
                    raise Refusal("The Home tab has nothing on it yet.")
                return ViewSurface(home)
            case _:
                raise Refusal("The page named no message, form or Home tab. Please reload it.")

    def find_placed(self, surface: Surface, named: Mapping[str, Any]) -> PlacedElement:
        """Return the element a page names by block_id and action_id, as it is there or was there last."""
        ids = str(named.get("block_id")), str(named.get("action_id"))
        placed = find_element(surface.blocks, *ids) or self.workspace.replaced.find(surface.place, *ids)
        if placed is None:
            raise Refusal("That button or field has changed. Please look again.")
        return placed

    def build_place(self, surface: Surface) -> dict[str, Any]:
        """Return the part of an action's payload about its place: surface, entered values, and where to answer.

        What was entered in a view is kept with it, so that it is there again after a restart.
        """
        match surface:
            case MessageSurface(channel, message):
                target = ResponseTarget(channel.id, self.me.id, message.ts, message.thread_ts)
                return {**self.build_place_of_suggestion(surface), "response_url": self.workspace.response_url(target)}
            case ViewSurface(view):
                return interactions.on_view(self.workspace.modals.remember(view, self.part("state")))
            case _:
                assert_never(surface)

    def build_place_of_suggestion(self, surface: Surface) -> dict[str, Any]:
        """Return the same for options looked up while typing: nothing is kept and there is nowhere to answer."""
        values = state_values(surface.blocks, self.part("state"))
        match surface:
            case MessageSurface(channel, message):
                return interactions.on_message(channel, message, values)
            case ViewSurface(view):
                return interactions.on_view({**view, "state": {"values": values}})
            case _:
                assert_never(surface)
