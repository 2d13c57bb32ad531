"""What a Slack payload turned out to be. Nothing here has been looked up or believed yet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from fateforger.session.cards import FormRequest, FormSubmission
from fateforger.session.commands import Click
from fateforger.session.feedback import Rating
from fateforger.slack.addresses import FormAddress


@dataclass(frozen=True, slots=True)
class Place:
    """Where in Slack something happened. In App Home and in modals there is no channel."""

    channel: str | None
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class StartAsked:
    """``/timebox``, the shortcut, or a start button. ``said`` is what was typed after the command; ``welcome_ts`` is
    the welcome card whose button it was."""

    command_id: str
    user_id: str
    place: Place
    said: str = ""
    by_button: bool = False
    welcome_ts: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A person wrote something. ``thread_ts`` is the thread it belongs to, or would open (then ``opens``).
    ``event`` tells the two events of one post apart that mention the bot in a channel."""

    command_id: str
    user_id: str
    channel: str
    thread_ts: str
    ts: str
    text: str
    event: str
    direct: bool
    mention: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class QueueAsked:
    """A slash command about the queue; ``said`` is what was typed after it."""

    command_id: str
    user_id: str
    place: Place
    command: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Clicked:
    """A control of a card was used. ``ts`` is the message of a control of the queue, whose answer takes its place."""

    click: Click
    place: Place
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Stop was pressed: on our button, which knows its session, or on Slack's own in a thread."""

    command_id: str
    user_id: str
    place: Place
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A button of another agent's proposal was pressed; ``answer`` is what it says."""

    command_id: str
    user_id: str
    place: Place
    proposal_id: str
    answer: str


@dataclass(frozen=True, slots=True)
class AboutAsked:
    """A person asked for all that is held about them, or to be forgotten; ``wish`` is the action of the control."""

    command_id: str
    user_id: str
    wish: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A thumb on a card was pressed."""

    rating: Rating
    place: Place


@dataclass(frozen=True, slots=True)
class FormAsked:
    """A control asked for a form. ``trigger_id`` opens one within three seconds, over the form ``below`` if the control
    stood in one."""

    request: FormRequest
    trigger_id: str
    place: Place
    below: FormAddress | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A form and the view it stands in."""

    view_id: str
    address: FormAddress


@dataclass(frozen=True, slots=True)
class OpenForm:
    """A form that is on a person's screen. ``hash`` is that of the view as it was; ``below`` are those under it, the
    nearest first."""

    address: FormAddress
    view_id: str
    hash: str
    below: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True)
class FormTurned:
    """A control in an open form shows it anew: with more rows, another page, other fields."""

    request: FormRequest
    form: OpenForm


@dataclass(frozen=True, slots=True)
class FormPressed:
    """A control in an open form that is a command."""

    click: Click
    form: OpenForm


@dataclass(frozen=True, slots=True)
class FormFilled:
    """A form was submitted; ``address`` is its own, ``below`` are those under it. ``blocks`` has each field's block, in
    order; ``unreadable`` has a sentence for each field whose value has the wrong shape."""

    submission: FormSubmission
    address: FormAddress
    below: tuple[Shown, ...] = ()
    blocks: Mapping[str, str] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HomeOpened:
    user_id: str


@dataclass(frozen=True, slots=True)
class MessagesOpened:
    """A person looks at their direct messages with the bot."""

    user_id: str
    channel: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing for us; ``because`` is for the log."""

    because: str


Arrival = (
    StartAsked
    | QueueAsked
    | Said
    | Clicked
    | StopAsked
    | Answered
    | AboutAsked
    | Rated
    | FormAsked
    | FormTurned
    | FormPressed
    | FormFilled
    | HomeOpened
    | MessagesOpened
    | Ignored
)


def command_id(kind: str, *parts: str) -> str:
    """An id that is the same for repetitions of one deed, and short whatever the parts are."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
    return f"{kind}-{digest[:32]}"
