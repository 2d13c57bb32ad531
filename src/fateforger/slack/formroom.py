"""Open and refresh forms, and handle submissions and controls in forms."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.coordinator.door import CoordinatorPort
from fateforger.errors import StoreError, UserError
from fateforger.session.cards import Form, FormErrors, FormRequest, Prose
from fateforger.session.commands import Command
from fateforger.slack import phrases
from fateforger.slack.addresses import FormAddress, field_block
from fateforger.slack.arrivals import FormPressed, FormRefreshRequested, FormRequested, FormSubmitted, Place, ShownForm
from fateforger.slack.asides import EphemeralMessages
from fateforger.slack.calling import SlackCallError, call_slack
from fateforger.slack.desk import RequestHandler
from fateforger.slack.errands import BackgroundTasks
from fateforger.slack.forms import modal
from fateforger.slack.presence import Timing
from fateforger.values import replace

log = logging.getLogger(__name__)

OPEN_SECONDS = 2.5
"""Slack accepts a trigger, and an acknowledgement, for three seconds."""
_NOWHERE = Place(None)
"""Modals have no channel; further messages go to direct messages."""


class FormHandler:
    """Each method returns the body of the acknowledgement. All raise ``StoreError``."""

    def __init__(
        self,
        door: CoordinatorPort,
        requests: RequestHandler,
        client: AsyncWebClient,
        ephemeral: EphemeralMessages,
        background: BackgroundTasks,
        *,
        timing: Timing | None = None,
    ) -> None:
        self._door = door
        self._requests = requests
        self._client = client
        self._ephemeral = ephemeral
        self._background = background
        self._timing = timing or Timing()

    async def open(self, asked: FormRequested) -> None:
        """Open a form while the trigger is valid, on top of the form that asked for it, or say why not."""
        request = asked.request
        refusal = await self._requests.refusal(request.session_id, request.user_id)
        if refusal is None:
            refusal = await self._open(asked)
        if refusal is not None:
            self._send_ephemeral(request.user_id, asked.place, refusal)

    async def turn(self, asked: FormRefreshRequested) -> None:
        """Refresh a form. Typed values stay, because the fields keep their ids.

        A click on a form that has changed since is too late and changes nothing.
        """
        request = asked.request
        refusal = await self._requests.refusal(request.session_id, request.user_id)
        try:
            if refusal is None:
                form = await self._door.open_form(request)
                await self._show(form, asked.form.view_id, asked.form.address.below, asked.form.hash)
        except UserError as error:
            refusal = error.message
        except SlackCallError as trouble:
            log.info("a form was not shown anew: %s", trouble)
        if refusal is not None:
            self._send_ephemeral(request.user_id, _NOWHERE, refusal)

    async def press(self, pressed: FormPressed) -> None:
        """Carry out the command of a control in a form, and then refresh the form."""
        click, form = pressed.click, pressed.form
        refusal = await self._requests.refusal(click.session_id, click.user_id)
        if refusal is None:
            try:
                command = self._door.read_click(click)
            except UserError as error:
                refusal = error.message
            else:
                await self._requests.record(command)
                self._background.send(
                    self._show_when_done(command, (ShownForm(form.view_id, form.address), *form.below))
                )
        if refusal is not None:
            self._send_ephemeral(click.user_id, _NOWHERE, refusal)

    async def take(self, filled: FormSubmitted) -> dict[str, Any] | None:
        """Turn a submission into a command, replace the form by another one, or return errors for invalid fields."""
        submission = filled.submission
        refusal = await self._requests.refusal(submission.session_id, submission.user_id)
        if refusal is not None:
            self._send_ephemeral(submission.user_id, _NOWHERE, refusal)
            return {"response_action": "clear"}
        if filled.unreadable:
            return _build_errors(filled, filled.unreadable)
        try:
            read = await self._door.read_form(submission)
        except UserError as error:
            return _build_errors(filled, {"": error.message})
        if isinstance(read, FormErrors):
            return _build_errors(filled, read.errors)
        if isinstance(read, Form):
            return {"response_action": "update", "view": modal(read, filled.address.below)}
        await self._requests.record(read)
        if filled.below:
            self._background.send(self._show_when_done(read, filled.below))
        return None

    async def _open(self, asked: FormRequested) -> str | None:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                view = modal(await self._door.open_form(asked.request), asked.below)
                show = self._client.views_open if asked.below is None else self._client.views_push
                await call_slack(show(trigger_id=asked.trigger_id, view=view))
        except UserError as error:
            return error.message
        except TimeoutError:
            return phrases.FORM_TOO_LATE
        except SlackCallError as trouble:
            log.warning("the form %s did not open: %s", asked.request.form, trouble)
            return phrases.FORM_FAILED
        return None

    async def _show_when_done(self, command: Command, forms: Sequence[ShownForm]) -> None:
        """Refresh open forms once a command was carried out.

        Forms that were closed meanwhile, or whose subject is gone, are skipped.
        """
        try:
            if not await self._done_within(command, self._timing.form):
                await self._show_all(command, forms, waiting=True)
                await self._done_within(command, self._timing.patience)
        except StoreError as error:
            log.warning("a form was not shown anew: %s", error.message)
            return
        await self._show_all(command, forms)

    async def _done_within(self, command: Command, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while not await self._door.is_carried_out(command):  # noqa: ASYNC110  another process may do it
                    await asyncio.sleep(self._timing.look)
        except TimeoutError:
            return False
        return True

    async def _show_all(self, command: Command, forms: Sequence[ShownForm], *, waiting: bool = False) -> None:
        for shown in forms:
            address = shown.address
            request = FormRequest(
                form=address.form,
                session_id=address.session,
                user_id=command.user_id,
                target=address.target,
                size=address.size,
                done=command.command_id,
            )
            try:
                form = await self._door.open_form(request)
                if waiting:
                    form = replace(form, fields=(Prose(text=phrases.FORM_WAITS), *form.fields))
                await self._show(form, shown.view_id, address.below)
            except (UserError, StoreError) as error:
                log.info("the form %s was not shown anew: %s", address.form, error.message)
            except SlackCallError as trouble:
                log.info("the form %s was not shown anew: %s", address.form, trouble)

    async def _show(self, form: Form, view_id: str, below: FormAddress | None, seen: str | None = None) -> None:
        await call_slack(self._client.views_update(view_id=view_id, hash=seen, view=modal(form, below)))

    def _send_ephemeral(self, user_id: str, place: Place, words: str) -> None:
        self._background.send(self._ephemeral.send_ephemeral(user_id, place, words))


def _build_errors(filled: FormSubmitted, errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the errors by field. Slack shows errors only at existing fields; any other goes to the first field."""
    shown: dict[str, str] = {}
    first = next(iter(filled.blocks.values()), field_block(""))
    for name, sentence in errors.items():
        block_id = filled.blocks.get(name, first)
        shown[block_id] = f"{shown[block_id]} {sentence}" if block_id in shown else sentence
    return {"response_action": "errors", "errors": shown}
