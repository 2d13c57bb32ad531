"""Forms as Slack modals: their rendering, opening, submission, and controls."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, assert_never
from weakref import WeakValueDictionary

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import BadInput, StoreError, UserError
from fateforger.session.cards import Choice, Controls, Divider, Note, Prose
from fateforger.session.commands import Command
from fateforger.session.forms import (
    ChoiceField,
    Click,
    DateField,
    FlagField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    Input,
    ManyField,
    NumberField,
    TextField,
    TextPart,
    TimeField,
)
from fateforger.slack import phrases
from fateforger.slack.blocks import MAX_OPTIONS, MAX_PLACEHOLDER, blocks_of, build_section, option, plain_text
from fateforger.slack.client import SlackCallError, call_slack
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.ids import ACTION_MARK, MORE, VALUE_ACTION, YES, Address, FormAddress, field_block
from fateforger.slack.mrkdwn import escape, split, to_mrkdwn
from fateforger.slack.payloads import OpenForm, Place
from fateforger.slack.progress import Timing
from fateforger.text import clean_text, count_units, cut_to_units, mark_message
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.supervisor import BackgroundTasks

MAX_BLOCKS = 100
NO_ROOM = mark_message("There is no room for more fields here. Send these, then open it again.")
MAX_TITLE = 24
MAX_WORDS = 2000
MAX_TYPED = 3000
MAX_BOXES = 10
RADIO = 4
"""Up to this many choices are shown as radio buttons, more as a select."""

View = dict[str, Any]
Block = dict[str, Any]


def modal(form: Form, below: FormAddress | None = None) -> View:
    """Return a form as a modal.

    Field names become block ids, so typed values survive a refresh. ``below`` is the address of the form under it.
    """
    here = Address(session=form.session_id, v=_rendering(form))
    numbers = count()
    blocks = [block for field in form.fields for block in _blocks(field, here, numbers)]
    if count_units(form.title) > MAX_TITLE:
        blocks.insert(0, build_section(f"*{escape(clean_text(form.title))}*"))
    room = MAX_BLOCKS - 1
    if len(blocks) > room:
        blocks = [
            *blocks[: room - 1],
            build_section(_(NO_ROOM)),
        ]
    elif form.more is not None:
        more = {"type": "button", "action_id": f"{MORE}{ACTION_MARK}0", "text": plain_text(form.more)}
        blocks.append({"type": "actions", "block_id": MORE, "elements": [more]})
    address = FormAddress(
        form=form.form,
        session=form.session_id,
        target=form.target,
        size=form.size,
        below=below,
        edits=form.edits,
    )
    view = {
        "type": "modal",
        "callback_id": form.form,
        "title": plain_text(form.title, MAX_TITLE),
        "close": plain_text(form.close, MAX_TITLE),
        "private_metadata": address.pack(),
        "blocks": blocks,
    }
    return view if form.submit is None else view | {"submit": plain_text(form.submit, MAX_TITLE)}


def _rendering(form: Form) -> str:
    """Return a fingerprint of a form's appearance; a choice in one with another fingerprint is not carried over."""
    return hashlib.sha256(form.model_dump_json().encode()).hexdigest()[:12]


def _blocks(field: FormField, here: Address, numbers: Iterator[int]) -> list[Block]:
    match field:
        case TextPart():
            return [build_section(words) for words in split(to_mrkdwn(field.text), MAX_TYPED)]
        case Prose() | Note() | Divider() | Controls():
            return blocks_of(field, here, numbers)
        case _:
            return [] if isinstance(field, ChoiceField) and not field.choices else [_build_input(field)]


def _build_input(field: Input) -> Block:
    block: Block = {
        "type": "input",
        "block_id": field_block(field.name, field.edition if isinstance(field, TextField) else 0),
        "label": plain_text(field.label, MAX_WORDS),
        "element": _element(field) | {"action_id": VALUE_ACTION},
        # Slack treats an unticked box as an empty input, so it has to be optional.
        "optional": isinstance(field, ManyField | FlagField) or field.optional,
    }
    if isinstance(field, ChoiceField) and field.turns:
        block["dispatch_action"] = True
    if hint := _hint(field):
        block["hint"] = plain_text(hint, MAX_WORDS)
    return block


def _hint(field: Input) -> str:
    """Return the hint of a field, and what of it does not fit."""
    hint = "" if isinstance(field, DateField | FlagField) else field.hint
    if isinstance(field, TextField) and count_units(field.value) > _longest(field):
        return _("{hint} This is longer than fits here; only its beginning is shown.", hint=hint).strip()
    if isinstance(field, ChoiceField | ManyField) and len(field.choices) > MAX_OPTIONS:
        return _(
            "{hint} These are the first {shown} of {count} choices.",
            hint=hint,
            shown=MAX_OPTIONS,
            count=len(field.choices),
        ).strip()
    return hint


def _element(field: Input) -> Block:
    match field:
        case TextField():
            return _text(field)
        case NumberField():
            given = {"initial_value": field.value, "min_value": field.minimum, "max_value": field.maximum}
            bounds = {name: str(value) for name, value in given.items() if value is not None}
            return {"type": "number_input", "is_decimal_allowed": False} | bounds
        case ChoiceField():
            options = [option(choice) for choice in field.choices[:MAX_OPTIONS]]
            chosen = next((shown for shown in options if shown["value"] == field.value), None)
            kind = "radio_buttons" if len(options) <= RADIO else "static_select"
            return {"type": kind, "options": options} | ({} if chosen is None else {"initial_option": chosen})
        case ManyField():
            return _many(field)
        case DateField():
            day = {} if field.value is None else {"initial_date": field.value.isoformat()}
            return {"type": "datepicker"} | day
        case TimeField():
            clock = {} if field.value is None else {"initial_time": field.value.strftime("%H:%M")}
            return {"type": "timepicker"} | clock
        case FlagField():
            tick = option(Choice(label=_("Yes"), value=YES))
            return {"type": "checkboxes", "options": [tick]} | ({"initial_options": [tick]} if field.value else {})
        case _:
            assert_never(field)


def _text(field: TextField) -> Block:
    longest = _longest(field)
    element: Block = {"type": "plain_text_input", "multiline": field.multiline, "max_length": longest}
    if field.value:
        element["initial_value"] = cut_to_units(field.value, longest)
    if field.placeholder:
        element["placeholder"] = plain_text(field.placeholder, MAX_PLACEHOLDER)
    return element


def _longest(field: TextField) -> int:
    return min(field.max_length, MAX_TYPED)


def _many(field: ManyField) -> Block:
    choices = field.choices
    if len(choices) > MAX_OPTIONS:  # what is chosen comes first: left out, it would be given up unseen
        choices = tuple(sorted(choices, key=lambda choice: choice.value not in field.value))
    options = [option(choice) for choice in choices[:MAX_OPTIONS]]
    element: Block = {"type": "multi_static_select", "options": options}
    if field.boxes and len(options) <= MAX_BOXES:
        element["type"] = "checkboxes"
    else:
        element["placeholder"] = plain_text(field.placeholder, MAX_PLACEHOLDER)
    chosen = [shown for shown in options if shown["value"] in field.value]
    return element | {"initial_options": chosen} if chosen else element


log = logging.getLogger(__name__)

OPEN_SECONDS = 2.5
"""Slack accepts a trigger, and an acknowledgement, for three seconds."""
NAMES_SECONDS = 1.0
"""Time of these in which Slack may tell the names of people."""
_NOWHERE = Place(None)
"""Modals have no channel; further messages go to direct messages."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class _OpenView:
    """View that is being refreshed, by one holder of ``turn`` at a time.

    ``asked`` is what the person asked last to see in it, if they did while it was being refreshed.
    """

    asked: FormRequest | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class FormHandler:
    """Opens, refreshes and submits forms. All methods raise ``StoreError``.

    A view always shows what the person asked last to see in it, however long an earlier refresh takes.
    """

    door: CoordinatorPort
    requests: RequestHandler
    client: AsyncWebClient
    background: BackgroundTasks
    timing: Timing
    _views: WeakValueDictionary[str, _OpenView] = field(default_factory=WeakValueDictionary, init=False)

    async def open(
        self, request: FormRequest, trigger_id: str, place: Place, *, below: FormAddress | None = None
    ) -> None:
        """Open a form on top of the one ``below``, or say in ``place`` why not.

        ``trigger_id`` is valid for three seconds.
        """
        async with self.requests.tell_refusal(request.user_id, place):
            await self.requests.check_access(request.session_id, request.user_id)
            await self._open(request, trigger_id, below)

    async def refresh(self, request: FormRequest, shown: OpenForm) -> None:
        """Refresh a form. Typed values stay, because the fields keep their ids."""
        view = self._view(shown)
        view.asked = request
        async with self.requests.tell_refusal(request.user_id, _NOWHERE):
            await self.requests.check_access(request.session_id, request.user_id)
            try:
                await self._show(view, request, shown)
            except SlackCallError as trouble:
                log.info("a form was not shown again: %s", trouble)

    async def press(self, click: Click, form: OpenForm) -> None:
        """Carry out the command of a control in a form, and then refresh the form."""
        async with self.requests.tell_refusal(click.user_id, _NOWHERE):
            await self.requests.check_access(click.session_id, click.user_id)
            command = self.door.read_click(click)
            await self.requests.record(command)
            self.background.start(self._show_when_done(command, (form, *form.below)), name="an open form")

    async def submit(
        self, submission: FormSubmission, shown: OpenForm, blocks: Mapping[str, str], unreadable: Mapping[str, str]
    ) -> dict[str, Any] | None:
        """Turn a submission into a command, replace the form by another one, or return errors for invalid fields.

        ``blocks`` maps each field to its block, in order; ``unreadable`` has a sentence for each invalid value. The
        result is the body of the acknowledgement.
        """
        try:
            await self.requests.check_access(submission.session_id, submission.user_id)
        except UserError as refused:
            await self.requests.send_ephemeral(submission.user_id, _NOWHERE, refused.message)
            return {"response_action": "clear"}
        if unreadable:
            return _build_errors(blocks, unreadable)
        try:
            read = await self.door.read_form(submission)
        except UserError as error:
            return _build_errors(blocks, {"": error.message})
        if isinstance(read, FormErrors):
            return _build_errors(blocks, read.errors)
        if isinstance(read, Form):
            self._view(shown).asked = FormRequest(
                form=read.form,
                session_id=read.session_id,
                user_id=submission.user_id,
                target=read.target,
                size=read.size,
            )
            return {"response_action": "update", "view": modal(read, shown.address.below)}
        await self.requests.record(read)
        if shown.below:
            self.background.start(self._show_when_done(read, shown.below), name="an open form")
        return None

    async def _open(self, request: FormRequest, trigger_id: str, below: FormAddress | None) -> None:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                request = await self._name_mentioned(request)
                view = modal(await self.door.open_form(request), below)
                show = self.client.views_open if below is None else self.client.views_push
                await call_slack(show(trigger_id=trigger_id, view=view))
        except TimeoutError:
            raise BadInput(_(phrases.FORM_TOO_LATE)) from None
        except SlackCallError as trouble:
            log.warning("the form %s did not open: %s", request.form, trouble)
            raise BadInput(_(phrases.FORM_FAILED)) from trouble

    async def _name_mentioned(self, request: FormRequest) -> FormRequest:
        """Return the request with names for people whom a saved message mentions, unless Slack takes long to tell."""
        if "text" in request.chosen:
            with suppress(TimeoutError):
                async with asyncio.timeout(NAMES_SECONDS):
                    named = await self.requests.people.name_mentioned(request.chosen["text"], request.user_id)
                    return replace(request, chosen={**request.chosen, "text": named})
        return request

    async def _show_when_done(self, command: Command, forms: Sequence[OpenForm]) -> None:
        """Refresh open forms once a command was carried out.

        Forms that were closed meanwhile, or whose subject is gone, are skipped.
        """
        views = [(self._view(shown), shown) for shown in forms]
        try:
            if not await self._done_within(command, self.timing.form):
                await self._show_all(command, views, waiting=True)
                await self._done_within(command, self.timing.patience)
        except StoreError as error:
            log.warning("a form was not shown again: %s", error.message)
            return
        await self._show_all(command, views)

    async def _done_within(self, command: Command, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while not await self.door.is_carried_out(command):  # noqa: ASYNC110  another process may do it
                    await asyncio.sleep(self.timing.look)
        except TimeoutError:
            return False
        return True

    async def _show_all(
        self, command: Command, views: Sequence[tuple[_OpenView, OpenForm]], *, waiting: bool = False
    ) -> None:
        for view, shown in views:
            request = shown.build_request(command.user_id, done=command.command_id)
            try:
                await self._show(view, request, shown, waiting=waiting)
            except (UserError, StoreError) as error:
                log.info("the form %s was not shown again: %s", shown.address.form, error.message)
            except SlackCallError as trouble:
                log.info("the form %s was not shown again: %s", shown.address.form, trouble)

    def _view(self, shown: OpenForm) -> _OpenView:
        return self._views.setdefault(shown.view_id, _OpenView())

    async def _show(self, view: _OpenView, request: FormRequest, shown: OpenForm, *, waiting: bool = False) -> None:
        """Show what is requested, or what the person asked later to see in the same view."""
        async with view.turn:
            while True:
                asked = view.asked
                form = await self.door.open_form(replace(asked or request, done=request.done))
                if view.asked is asked:
                    break
            # Slack keeps what a field has; what it showed first tells whether the person changed it.
            form = form.with_values(shown.initial)
            if waiting:
                form = replace(form, fields=(Prose(text=_(phrases.FORM_WAITS)), *form.fields))
            # Its hash would refuse a press that came just after a refresh of the bot's own.
            await call_slack(self.client.views_update(view_id=shown.view_id, view=modal(form, shown.address.below)))


def _build_errors(blocks: Mapping[str, str], errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the errors by field. Slack shows errors only at existing fields; any other goes to the first field."""
    shown: dict[str, str] = {}
    first = next(iter(blocks.values()), field_block(""))
    for name, sentence in errors.items():
        block_id = blocks.get(name, first)
        shown[block_id] = f"{shown[block_id]} {sentence}" if block_id in shown else sentence
    return {"response_action": "errors", "errors": shown}
