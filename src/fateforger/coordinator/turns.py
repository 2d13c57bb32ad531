"""Run one turn: from a command of an active session to the session and its messages, saved together."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime

from fateforger.coordinator.chronicle import chronicled
from fateforger.coordinator.context import contradicting, needs_day, withheld_words
from fateforger.coordinator.drafts import Drafts
from fateforger.coordinator.effects import Effects
from fateforger.coordinator.keeping import ended, told
from fateforger.coordinator.later import Later
from fateforger.coordinator.logbook import Entry, Logbook
from fateforger.coordinator.looking import Look, Looker
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.messages import aside, only_beside, owed, rateable
from fateforger.coordinator.mirroring import reading_of
from fateforger.coordinator.offering import offered
from fateforger.coordinator.outside import OutsideList
from fateforger.coordinator.previewing import aged
from fateforger.coordinator.proposals import ProposalDesk
from fateforger.coordinator.stopping import not_stopped, stopped
from fateforger.coordinator.taskdesk import TaskDesk
from fateforger.coordinator.telling import TellingModel
from fateforger.coordinator.underway import Course, TurnStopped, Underway
from fateforger.errors import VersionConflict
from fateforger.ports import Model, Sessions
from fateforger.session.advice import advised
from fateforger.session.cards import Card
from fateforger.session.commands import (
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    SessionCommand,
    SettleConstraints,
    TimeboxingUserReply,
    UndoMemory,
)
from fateforger.session.model import Session, SessionStatus
from fateforger.session.pending import WaitingProposal
from fateforger.session.progress import Doing, Progress, Tell
from fateforger.session.skeleton import without_stale_sketch
from fateforger.turn.constants import REREAD_WAIT
from fateforger.turn.model import DraftDay, Effect, GoBack, ReadCalendar, TurnInput, TurnOutcome, WriteCalendar
from fateforger.turn.nodes.besides import LOOKS
from fateforger.turn.nodes.refine import saying
from fateforger.turn.present import ended_reply, not_yours

log = logging.getLogger(__name__)

STILL_READING = "I am still reading your message for rules. If I find one, the plan follows it, and the card says so."
OF_MEMORY = (RememberConstraint, ReviseConstraint, JudgeConstraint, SettleConstraints, UndoMemory)
TRIES = 4
"""Attempts to carry out a command while background work keeps saving the session."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Carries out commands of active sessions: gather the context (S108), run the turn, apply its effects, and save.

    The caller ensures that there is one at a time per session.
    """

    sessions: Sessions
    looker: Looker
    effects: Effects
    drafts: Drafts
    later: Later
    logbook: Logbook
    model: Model | None
    memory: MemoryDesk | None
    tasks: TaskDesk | None
    outside: OutsideList | None
    proposals: ProposalDesk | None = None
    _underway: Underway = field(init=False, default_factory=Underway)

    async def carry_out(self, command: SessionCommand, tell: Tell) -> None:
        """Carry out a command, once. If background work saved the session meanwhile, start again.

        Raises ``StoreError``.
        """
        with self._underway.course(command) as course:
            for attempt in range(1, TRIES + 1):
                try:
                    async with self.drafts.turn(command.session_id):
                        await self._attempt(command, course, tell)
                except VersionConflict:
                    if attempt == TRIES:
                        raise
                else:
                    return

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """See :meth:`fateforger.coordinator.door.Door.stop`."""
        return self._underway.stop(session_id, asked_at)

    async def _attempt(self, command: SessionCommand, course: Course, tell: Tell) -> None:
        before = await self.sessions.load(command.session_id)
        if before is None or command.command_id in before.handled:
            return
        if command.user_id != before.user_id:
            await self._answer(before, command, not_yours())
        elif before.status is SessionStatus.CANCELLED:
            await self._answer(before, command, ended_reply(before))
        else:
            if self.memory is not None:
                # This comes before the turn: if the program dies during it, the reply is read nevertheless.
                await self.memory.overhear(command)
            try:
                await self._run_logged(before, command, course, tell)
            except TurnStopped:
                if await self.effects.past.caused(before, command.command_id):
                    # An earlier attempt was interrupted while it wrote. Only a complete write leaves a consistent
                    # state.
                    course.act(whatever=True)
                    await self._run_logged(before, command, course, tell)
                else:
                    after = stopped(before).touched(command.command_id, command.at)
                    after, messages = owed(before, after, command.command_id)
                    await self.sessions.save(after, expected=before.version, outgoing=messages)

    async def _run_logged(self, before: Session, command: SessionCommand, course: Course, tell: Tell) -> None:
        with self.logbook.turn(command, before) as entry:
            await self._go_on(before, command, course, tell, entry)

    async def _go_on(self, before: Session, command: SessionCommand, course: Course, tell: Tell, entry: Entry) -> None:
        look = await course.unless_stopped(self._look(before, command, tell))
        model = None if self.model is None else TellingModel(self.model, course, tell)
        turn = await self._assembled(before, command, look)
        outcome = await entry.run(turn, model)
        heard = outcome
        asking = None if look is None else contradicting(turn, look, outcome)
        if asking is not None:
            turn, outcome = asking, await entry.run(asking)
        turn, outcome = await self._with_extracted(command, turn, outcome, heard, look, course, entry)
        after = await course.unless_stopped(self.drafts.apply_draft(outcome, tell))
        course.act()
        if turn.reading is not None and turn.reading.plan is not None:
            await self.effects.note(turn.reading.plan, before, f"{command.command_id}/seen")
        for effect in outcome.effects:
            doing = self.effects.carry_out(effect, after, before=before, cause=command.command_id, tell=tell)
            after = await entry.effect(effect, after, doing)
        if course.stop_asked:
            after = not_stopped(after, outcome.effects)
        after = await self._settled(before, outcome, after, command)
        await self._saved(before, outcome, after, command, () if model is None else model.prompts)

    async def _with_extracted(
        self,
        said: SessionCommand,
        turn: TurnInput,
        outcome: TurnOutcome,
        heard: TurnOutcome,
        look: Look | None,
        course: Course,
        entry: Entry,
    ) -> tuple[TurnInput, TurnOutcome]:
        """Run the turn again with the rules in its own message, before it drafts or commits (K9).

        If the message was not read for rules in time, the outcome is returned with a notice. ``heard`` is the outcome
        of the first reading of the message.
        """
        if self.memory is None or not isinstance(said, TimeboxingUserReply) or not heard.heard:
            return turn, outcome
        if not any(map(_needs_rules, outcome.effects)) or any(isinstance(each, OF_MEMORY) for each in heard.heard):
            return turn, outcome
        found = await course.unless_stopped(self.memory.await_extraction(said))
        if found.late:
            return turn, outcome.model_copy(update={"session": saying(outcome.session, STILL_READING)})
        if found.understood is None or found.understood.command_id in turn.session.handled:
            return turn, outcome
        known = await self.later.remember(turn.session, found.understood)
        known = known.touched(found.understood.command_id, known.touched_at)
        assembled = await self._assembled(known, said, look)
        first, *rest = heard.heard
        again = assembled.model_copy(update={"command": first, "rest": tuple(rest), "lines": heard.lines})
        outcome = await entry.run(again)
        news = found.understood.command_id
        writes = tuple(
            write.model_copy(update={"fresh": write.fresh or write.cause == news})
            for write in outcome.session.memory_writes
        )
        session = outcome.session.model_copy(update={"memory_writes": writes})
        return again, outcome.model_copy(update={"session": session})

    async def _assembled(self, before: Session, command: SessionCommand, look: Look | None) -> TurnInput:
        memory = None if self.memory is None else await self.memory.look(before, command)
        queue = None if self.tasks is None else self.tasks.planned
        more, trouble = await offered(self.sessions, before, queue, self.outside, now=command.at)
        return TurnInput(
            session=before,
            command=command,
            reading=None if look is None else reading_of(before, look, command),
            memory=memory,
            lines=withheld_words(command),
            proposals=await self._proposed(before, command),
            offered=more,
            offer_trouble=trouble,
        )

    async def _proposed(self, before: Session, command: SessionCommand) -> tuple[WaitingProposal, ...]:
        """Return the agents' proposals in the thread, for a message that may answer them."""
        if self.proposals is None or self.model is None or not isinstance(command, TimeboxingUserReply):
            return ()
        return await self.proposals.waiting(before, command.at)

    async def _settled(self, before: Session, outcome: TurnOutcome, after: Session, command: SessionCommand) -> Session:
        """Return the session with its consequences applied: questions noted, history updated, stale views dropped."""
        if after.plan is not None and after.questions != before.questions:
            await self.effects.note(after.plan, after, f"{command.command_id}/settled")
        if after.history is not None and outcome.effects:
            went_back = any(isinstance(effect, GoBack) for effect in outcome.effects)
            after = await self.effects.past.refreshed(after, said=went_back)
        return advised(without_stale_sketch(aged(before, after)), command.at).touched(command.command_id, command.at)

    async def _saved(
        self, before: Session, outcome: TurnOutcome, after: Session, command: SessionCommand, prompts: tuple[str, ...]
    ) -> None:
        """Save the session with its messages, and start background work. Violated rules are logged and reported."""
        messages_of = only_beside if all(isinstance(c, LOOKS) for c in outcome.heard or (command,)) else owed
        after, messages = messages_of(before, after, command.command_id)
        after, broke = ended(before, outcome, after, messages)
        if broke:
            log.error("the turn of %s broke %s", command.command_id, ", ".join(each.stated.id for each in broke))
            after, messages = owed(before, told(after, broke), command.command_id)
        messages = rateable(messages, command.command_id, prompts)
        if self.tasks is not None:
            await self.tasks.planned.follow(before, after)
        after = await self.sessions.save(after, expected=before.version, outgoing=messages)
        chronicled(before, after, command.command_id)
        self.drafts.prepare(after)
        waits = any(isinstance(effect, ReadCalendar) and effect.wait for effect in outcome.effects)
        if waits and after.snapshot is None and after.snapshot_error is None:
            self.later.take_in(after)

    async def _answer(self, session: Session, command: SessionCommand, card: Card) -> None:
        """Answer the person who acted, without a change to the session."""
        known = session.touched(command.command_id, session.touched_at)
        message = aside(session, command.command_id, card, to=command.user_id)
        await self.sessions.save(known, expected=session.version, outgoing=(message,))

    async def _look(self, session: Session, command: SessionCommand, tell: Tell) -> Look | None:
        """Read the day for commands that draft, change or write a plan; ``None`` if not needed or too late."""
        if not needs_day(session, command, words=self.model is not None):
            return None
        tell(Progress(doing=Doing.LOOKING))
        return await self.looker.wait(session.date, session.tz, seconds=REREAD_WAIT, fresh=True)


def _needs_rules(effect: Effect) -> bool:
    """Check whether an effect has to follow all known rules."""
    return isinstance(effect, DraftDay) or (isinstance(effect, WriteCalendar) and effect.commit)
