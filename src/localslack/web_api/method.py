"""Declaration of a Web API method, its arguments, and lookups of what they name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from starlette.datastructures import UploadFile
from starlette.requests import Request

from localslack.directory import BOT_USER_ID, direct_channel_id
from localslack.errors import SlackError, bad_arguments
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.wire import read_json
from localslack.workspace import Workspace


class Arguments:
    """Query string, form and JSON body merged into one mapping; JSON null and absence are the same."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = {key: value for key, value in given.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def require(self, *names: str) -> None:
        """Refuse the call when one of these is missing or empty."""
        missing = [name for name in names if self._given.get(name, "") == ""]
        if missing:
            raise bad_arguments(*(f"missing required field: {name}" for name in missing))

    def text(self, name: str, default: str = "") -> str:
        value = self._given.get(name, default)
        if isinstance(value, (dict, list)):
            raise bad_arguments(f"must provide a string [json-pointer:/{name}]")
        return str(value)

    def optional_text(self, name: str) -> str | None:
        return self.text(name) or None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Booleans come as JSON, as `0`/`1` and as `true`/`false`."""
        value = self._given.get(name, default)
        return value if isinstance(value, bool) else str(value).lower() in {"1", "true"}

    def integer(self, name: str, default: int) -> int:
        try:
            return int(float(self._given.get(name, default)))
        except (TypeError, ValueError, OverflowError):
            raise bad_arguments(f"must be an integer [json-pointer:/{name}]") from None

    def structure(self, name: str, error: SlackError | None = None) -> Any:
        """Return a nested value, given as JSON or as a string of JSON; None when absent."""
        value = self._given.get(name)
        if not isinstance(value, str):
            return value
        if value == "":
            return None
        try:
            return read_json(value)
        except ValueError:
            raise error or bad_arguments(f"must be valid json [json-pointer:/{name}]") from None


async def read_arguments(request: Request) -> Arguments:
    """Collect the arguments of a request; raises `SlackError` for a body that cannot be read."""
    given: dict[str, Any] = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST":
        if kind == "application/json":
            given |= _json_object(await request.body())
        elif kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
            async with request.form() as form:
                given |= {key: value for key, value in form.items() if not isinstance(value, UploadFile)}
    return Arguments(given)


def _json_object(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        document = read_json(body)
    except ValueError:
        raise SlackError("invalid_json") from None
    if not isinstance(document, dict):
        raise SlackError("json_not_object")
    return document


Handler = Callable[[Workspace, Arguments], Mapping[str, Any]]
"""Carries out a call and returns the answer without `ok`; never waits, so calls do not interleave."""


@dataclass(frozen=True)
class Method:
    """A method with what is checked before it runs: token, scopes (any one of them), required arguments."""

    run: Handler
    scopes: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    caller: Literal["bot", "app", "anyone"] = "bot"


# --- Finding what a call's arguments name, with Slack's error codes for what is not there ---


def channel_of(workspace: Workspace, arguments: Arguments, name: str = "channel") -> Channel:
    """Return the channel an argument names: an id, `#name`, or a person's id for their direct messages."""
    given = arguments.text(name)
    person = workspace.directory.person(given)
    channel = workspace.store.channels.get(direct_channel_id(person) if person else given)
    if channel is None and given:
        channels = workspace.store.channels.of_member(BOT_USER_ID)
        channel = next((c for c in channels if not c.is_im and c.name == given.removeprefix("#")), None)
    if channel is None:
        raise SlackError("channel_not_found")
    return channel


def joined_channel(workspace: Workspace, arguments: Arguments, name: str = "channel") -> Channel:
    channel = channel_of(workspace, arguments, name)
    if not workspace.store.channels.has_member(channel.id, BOT_USER_ID):
        raise SlackError("not_in_channel")
    return channel


def message_of(workspace: Workspace, channel: Channel, ts: str, missing: str = "message_not_found") -> StoredMessage:
    """Return a message that everyone in the channel sees; ephemeral ones cannot be named by an app."""
    message = workspace.store.messages.get(channel.id, ts)
    if message is None or message.only_for is not None:
        raise SlackError(missing)
    return message


def thread_of(workspace: Workspace, channel: Channel, arguments: Arguments) -> str | None:
    """Return the `thread_ts` argument, checked: it must name the parent of a thread, never a reply."""
    thread_ts = arguments.optional_text("thread_ts")
    if thread_ts is None:
        return None
    parent = message_of(workspace, channel, thread_ts, missing="thread_not_found")
    if parent.thread_ts is not None:
        raise SlackError("cannot_reply_to_message")
    return thread_ts
