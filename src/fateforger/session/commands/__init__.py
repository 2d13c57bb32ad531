"""Commands of a person as typed messages (S58, S99, S107), and their unions.

Each command has one meaning and one executor, whether it came from a button, a form, a slash command, or, with a
model, from words.

``command_id`` is unique to the click, submission, or message and the same for its repetitions, so a command is
carried out once. ``at`` is the aware instant at which the person acted.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter, ValidationError

from fateforger.errors import BadInput
from fateforger.session.commands.day import DayCommand
from fateforger.session.commands.plan import CalendarCommand, PlanCommand, RefreshCalendar
from fateforger.session.commands.rules import AddExtracted, AskToReplace, RuleCommand
from fateforger.session.commands.thread import EndAbandoned, KeepTitle, Opening, StartTimeboxing, ThreadCommand
from fateforger.session.forms import CardAction, Click, list_actions
from fateforger.session.queue_commands import QueueCommand
from fateforger.text import gettext as _
from fateforger.text import mark_message

SessionCommand = ThreadCommand | DayCommand | PlanCommand | CalendarCommand | RuleCommand
Command = Annotated[StartTimeboxing | SessionCommand | QueueCommand, Field(discriminator="kind")]
SessionUpdate = RefreshCalendar | AddExtracted | EndAbandoned | KeepTitle
"""Commands of background work to a session."""
BackgroundCommand = SessionUpdate | AskToReplace
"""Commands that no person gave to the bot. It does not answer them."""
InboxCommand = StartTimeboxing | Opening | SessionCommand | QueueCommand | BackgroundCommand
"""Commands of the durable inbox."""
COMMAND: TypeAdapter[InboxCommand] = TypeAdapter(Annotated[InboxCommand, Field(discriminator="kind")])
"""Reads and writes any command as JSON."""

ACTIONS: Mapping[str, tuple[type[SessionCommand | QueueCommand], CardAction]] = {
    action.id: (kind, action)
    for kind in chain(get_args(SessionCommand), get_args(QueueCommand))
    for action in list_actions(kind)
}
"""Actions of cards, with the commands that declare them; others open a form, start a session, or turn a page."""
FORM_COMMANDS: Mapping[str, type[SessionCommand]] = {
    form: kind for kind in get_args(SessionCommand) for form in kind.forms
}
"""The command that each form of a session gives."""
UNKNOWN = mark_message("I don't know that button any more; please use the newest card in this thread.")


def read_click(click: Click) -> SessionCommand | QueueCommand:
    """Return the command of a control. Raises :class:`BadInput` for an unknown or unreadable one."""
    if click.action not in ACTIONS:
        raise BadInput(_(UNKNOWN), where=click.action)
    kind, action = ACTIONS[click.action]
    envelope = {"command_id", "user_id", "at", "session_id"} & kind.model_fields.keys()
    try:
        return kind.model_validate({**click.model_dump(include=envelope), **action.read(click)})
    except ValidationError:
        raise BadInput(_(UNKNOWN), where=click.action) from None
