"""Opening forms, giving them more rows, and taking what was filled in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.coordinator.door import Door
from fateforger.errors import UserError
from fateforger.session.cards import FormErrors
from fateforger.slack import phrases
from fateforger.slack.addresses import FIELD_PREFIX
from fateforger.slack.arrivals import FormAsked, FormFilled, MoreRowsAsked, Place
from fateforger.slack.asides import Asides
from fateforger.slack.calling import SlackTrouble, called
from fateforger.slack.desk import Desk
from fateforger.slack.errands import Errands
from fateforger.slack.forms import modal

log = logging.getLogger(__name__)

OPEN_SECONDS = 2.5
"""Slack takes a trigger for three seconds, and an acknowledgement as well."""

_NOWHERE = Place(None)
"""A modal stands in no channel; what has to be said beside it goes to the person's direct messages."""


class FormRoom:
    """Each method returns what goes out with the acknowledgement. All raise ``StoreError``."""

    def __init__(self, door: Door, desk: Desk, client: AsyncWebClient, asides: Asides, errands: Errands) -> None:
        self._door = door
        self._desk = desk
        self._client = client
        self._asides = asides
        self._errands = errands

    async def open(self, asked: FormAsked) -> None:
        """Open the form while the trigger is fresh, or say why not."""
        request = asked.request
        refusal = await self._desk.refusal(request.session_id, request.user_id)
        if refusal is None:
            refusal = await self._open(asked)
        if refusal is not None:
            self._whisper(request.user_id, asked.place, refusal)

    async def grow(self, asked: MoreRowsAsked) -> None:
        """Show the same form with more rows. What was typed stays, as the fields keep their ids. A second click on
        the button of the smaller form comes too late and changes nothing."""
        try:
            form = await self._door.open_form(asked.request)
            await called(self._client.views_update(view_id=asked.view_id, hash=asked.view_hash, view=modal(form)))
        except UserError as error:
            self._whisper(asked.request.user_id, _NOWHERE, error.message)
        except SlackTrouble as trouble:
            log.info("a form did not grow: %s", trouble)

    async def take(self, filled: FormFilled) -> dict[str, Any] | None:
        """Turn the form into a command, or send it back with a sentence beside each field that cannot be used."""
        submission = filled.submission
        refusal = await self._desk.refusal(submission.session_id, submission.user_id)
        if refusal is not None:
            self._whisper(submission.user_id, _NOWHERE, refusal)
            return {"response_action": "clear"}
        if filled.unreadable:
            return _beside(filled, filled.unreadable)
        try:
            read = await self._door.read_form(submission)
        except UserError as error:
            return _beside(filled, {"": error.message})
        if isinstance(read, FormErrors):
            return _beside(filled, read.errors)
        await self._desk.put(read)
        return None

    async def _open(self, asked: FormAsked) -> str | None:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                form = await self._door.open_form(asked.request)
                await called(self._client.views_open(trigger_id=asked.trigger_id, view=modal(form)))
        except UserError as error:
            return error.message
        except TimeoutError:
            return phrases.FORM_TOO_LATE
        except SlackTrouble as trouble:
            log.warning("the form %s did not open: %s", asked.request.form, trouble)
            return phrases.FORM_FAILED
        return None

    def _whisper(self, user_id: str, place: Place, words: str) -> None:
        self._errands.send(self._asides.whisper(user_id, place, words))


def _beside(filled: FormFilled, errors: Mapping[str, str]) -> dict[str, Any]:
    """Slack shows a sentence only beside a field that the form has; any other goes to the first field."""
    shown: dict[str, str] = {}
    for name, sentence in errors.items():
        field = name if name in filled.names or not filled.names else filled.names[0]
        block_id = f"{FIELD_PREFIX}{field}"
        shown[block_id] = f"{shown[block_id]} {sentence}" if block_id in shown else sentence
    return {"response_action": "errors", "errors": shown}
