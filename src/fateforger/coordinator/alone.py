"""A person's rules outside of a session: read them, and change them with the same commands as in a session."""

from __future__ import annotations

import logging

from fateforger.coordinator.memory import MemoryService
from fateforger.errors import BadInput, StoreError, StoreUnavailable, VersionConflict
from fateforger.ports import Clock, Sessions
from fateforger.session.commands import SessionCommand
from fateforger.session.model import Session
from fateforger.session.rulebook import RuleBook, lines_of_command, unsaved_session
from fateforger.stages import Move
from fateforger.turn.model import StageInput, WriteMemory
from fateforger.turn.nodes import memory as node
from fateforger.values import replace

log = logging.getLogger(__name__)

TRIES = 4
NO_RULES = "I cannot look up your rules just now. Please try again in a moment."
MOST_KEPT = 500
NO_ZONE = "UTC"
"""The time zone of a person who has never planned a day; it only decides which day is today."""


class RuleService:
    """Reads and changes rules outside of a session.

    ``memory`` is ``None`` where nothing is remembered. The replies of recent commands are kept for the forms that show
    them.
    """

    def __init__(self, sessions: Sessions, memory: MemoryService | None, clock: Clock) -> None:
        self._sessions = sessions
        self._memory = memory
        self._clock = clock
        self._said: dict[str, tuple[str, ...]] = {}

    async def book(self, user_id: str, done: str | None) -> RuleBook:
        """Return the person's rules for today, with the reply of the command ``done``.

        Raises ``BadInput`` while the rules cannot be read.
        """
        try:
            versions = () if self._memory is None else await self._memory.versions(user_id)
        except StoreError as error:
            log.warning("the rules of %s cannot be looked up: %s", user_id, error.message)
            raise BadInput(NO_RULES) from error
        return RuleBook(await self._person(user_id), versions, self._said.get(done or "", ()))

    def get_reply(self, command_id: str) -> tuple[str, ...]:
        """Return the reply of a command that was recently carried out by this process."""
        return self._said.get(command_id, ())

    async def carry_out(self, command: SessionCommand) -> None:
        """Apply a command to a rule, once. Raises ``StoreError``; the command can then be repeated."""
        if command.command_id in self._said or self._memory is None:
            return
        for attempt in range(1, TRIES + 1):
            try:
                await self._attempt(command, self._memory)
            except VersionConflict:
                if attempt == TRIES:
                    raise
            else:
                return

    async def is_carried_out(self, command: SessionCommand) -> bool:
        """Check whether a command was carried out, by this program or another one on the same database."""
        if command.command_id in self._said or self._memory is None:
            return True
        return await self._memory.has_written(command.user_id, command.command_id)

    async def _attempt(self, command: SessionCommand, memory: MemoryService) -> None:
        person = await self._person(command.user_id)
        reading = await memory.look(person, command)
        if reading.error is not None:
            raise StoreUnavailable(reading.error)
        stage = StageInput(
            session=person, asked=Move.STAY, command=command, cause=command.command_id, now=command.at, memory=reading
        )
        output = node.run(stage, command)
        if output is None:
            raise BadInput("That needs a session; start one with /timebox.")
        for effect in output.effects:
            if isinstance(effect, WriteMemory):
                # The rule belongs to no session.
                versions = tuple(replace(version, session_id=None) for version in effect.versions)
                lasting = replace(effect, versions=versions)
                await memory.write(lasting, output.session, command.command_id)
        done = replace(output.session, handled=(command.command_id,))
        self._said[command.command_id] = lines_of_command(done, command.command_id)
        while len(self._said) > MOST_KEPT:
            del self._said[next(iter(self._said))]

    async def _person(self, user_id: str) -> Session:
        sessions = await self._sessions.of_user(user_id)
        return unsaved_session(user_id, sessions[0].tz if sessions else NO_ZONE, self._clock.now())
