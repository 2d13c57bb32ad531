"""Forms about a session and about a person's rules: show them with current values, and read them as commands."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from fateforger.coordinator import forms
from fateforger.coordinator.alone import RuleService
from fateforger.coordinator.memory import MemoryService
from fateforger.errors import BadInput, StoreError
from fateforger.ports import Clock, Sessions
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import SessionCommand
from fateforger.session.memory import known_versions
from fateforger.session.model import Session
from fateforger.session.rulebook import NOT_ALL as NOT_ALL_RULES
from fateforger.session.rulebook import RuleBook, lines_of_command

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FormService:
    """Opens and reads forms; accesses only the database. ``alone`` serves rules outside of a session."""

    sessions: Sessions
    memory: MemoryService | None
    alone: RuleService
    clock: Clock

    async def open(self, request: FormRequest) -> Form:
        """Return a form. Raises ``UserError`` if it makes no sense now."""
        if request.form in forms.RULES:
            return forms.open_rules(await self._read_rules(request.session_id, request.user_id, request.done), request)
        return forms.open_form(await self._load_session(request.session_id), request)

    async def read(self, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
        """Return the command of a filled form, another form to show, or the errors per field."""
        if submission.form in forms.RULES:
            return forms.read_rules(await self._read_rules(submission.session_id, submission.user_id), submission)
        return forms.read_form(await self._load_session(submission.session_id), submission)

    async def _read_rules(self, session_id: str, user_id: str, done: str | None = None) -> RuleBook:
        """Return the person's rules, as far as they can be read now, with the reply of the command ``done``."""
        if not session_id:
            return await self.alone.book(user_id, done)
        session = await self._load_session(session_id)
        lines = lines_of_command(session, done)
        try:
            stored = () if self.memory is None else await self.memory.versions(session.user_id)
        except StoreError as error:
            log.warning("a form without the stored constraints of %s: %s", session.user_id, error.message)
            stored, lines = (), (*lines, NOT_ALL_RULES)
        return RuleBook(session, (*stored, *known_versions(session)), lines)

    async def _load_session(self, session_id: str) -> Session:
        session = await self.sessions.load(session_id)
        if session is None:
            raise BadInput("I don't know that session any more; start a new one with /timebox.")
        return session.at_time(self.clock.now())
