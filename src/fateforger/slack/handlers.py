"""Messages and clicks as commands on the turn lane, or as refusals."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import TypeGuard

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.conversation.agent_proposals import build_answer_job
from fateforger.conversation.ports import CoordinatorPort
from fateforger.conversation.queue.dispatch import read_typed
from fateforger.errors import BadInput, UserError
from fateforger.limits import MAX_MESSAGE_CHARS, MAX_PROMPT_MESSAGE_CHARS
from fateforger.memory.credentials import TOO_LONG, redact_credentials, remove_account_numbers
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.cards import ProgressCallback
from fateforger.session.commands import Command, InboxCommand, SessionCommand
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.commands.rules import SettleConstraints, UndoMemory
from fateforger.session.commands.thread import KeepTitle, Opening, StartTimeboxing, TimeboxingUserReply
from fateforger.session.forms import Click
from fateforger.session.model import Session
from fateforger.session.queue_commands import (
    PullTask,
    QueueCommand,
    QueueCommandBase,
    ShowTasks,
)
from fateforger.session.store import Feedbacks, Outbox, Rating, Sent
from fateforger.slack import phrases
from fateforger.slack.access import (
    CONNECT,
    CalendarRefused,
    People,
    Places,
    Said,
    calendar_refusal,
    claim_answer,
    connect_answer,
    is_private,
    parse_sent_code,
    parse_typed_code,
)
from fateforger.slack.home import Home
from fateforger.slack.notices import build_sentence_job, first_greeting_job, greeting_job, retire_welcome, suggest
from fateforger.slack.payloads import MessageSaid, Place, Press, command_id
from fateforger.slack.poster import Poster
from fateforger.slack.progress import Handle
from fateforger.tasks.transitions import TypedCommand, parse_command
from fateforger.text import TIMEBOX, format_number, name_commands
from fateforger.text import gettext as _
from fateforger.ui.connection_cards import DISCONNECT, JOIN
from fateforger.values import replace, replace_named
from fateforger.workers.lanes import ERASING, STOP_TURN, TURN, ConnectionAction, PersonalDataRequest, StopTurn, TryLater
from fateforger.workers.supervisor import BackgroundTasks
from fateforger.workers.turns import build_command_job, connection_job

_CONNECTION_BUTTONS: Mapping[str, ConnectionAction] = {DISCONNECT.action: "disconnect", JOIN.action: "join"}

log = logging.getLogger(__name__)

LATE = 30.0
"""Age of a late message, in seconds. Slack sends a message again after a minute if no program took it."""


def build_command_handler(
    door: CoordinatorPort, jobs: Jobs, people: People, places: Places, home: Home, clock: Clock
) -> Handle:
    """Return a handler that carries out a command, and refreshes App Home if that may change the queue on it.

    A person who may not plan is told so: intake cannot know that of somebody whom Slack was not asked about yet. A
    person whose first message begins no session is welcomed. An answer to a card that another program is still
    sending waits until the card's thread is recorded. A person who wrote where others read is told that the
    answer is in their direct messages.
    """

    async def handle(asked: InboxCommand, tell: ProgressCallback) -> None:
        command = await places.complete(asked)
        if isinstance(command, QueueCommandBase | Opening | StartTimeboxing):
            refusal = await places.admit(command.user_id)
            if refusal is not None:
                await people.send_ephemeral(command.user_id, Place(None), refusal)
                return
        if isinstance(command, Opening):
            await open_session(command)
        else:
            await door.handle(command, tell)
        if isinstance(command, QueueCommandBase):
            await home.note_change(command.user_id)

    async def open_session(command: Opening) -> None:
        if not command.opens and await door.is_beginning(command.user_id, command.channel, command.at):
            raise TryLater("the thread of the plan is not there yet")
        if not await door.on_opening(command):
            await jobs.enqueue(greeting_job(command), now=clock.now())
        elif command.is_moved:
            # At the top of the channel: Slack may not show an ephemeral message in a thread without replies.
            await people.send_ephemeral(command.user_id, Place(command.heard_channel), _(phrases.ANSWERED_ELSEWHERE))

    return handle


@dataclass(frozen=True, slots=True)
class RequestHandler:
    """Records what people ask for. Each method returns once it is recorded; a returned text goes to the person only.

    All methods raise ``StoreError`` if the request could not be recorded.
    """

    door: CoordinatorPort
    jobs: Jobs
    feedbacks: Feedbacks
    people: People
    background: BackgroundTasks
    poster: Poster
    client: AsyncWebClient
    outbox: Outbox
    clock: Clock

    async def start(
        self,
        command_id: str,
        user_id: str,
        asked: Place,
        *,
        said: str = "",
        unread: str = "",
        welcome_ts: str | None = None,
        press: Press | None = None,
    ) -> Said | None:
        """Begin a session in a place that only the person reads, and return words about it for where they asked.

        This is their thread with the bot, or else the top of their direct messages. A claim of the calendar arrives
        here too. ``said`` is the text after a command, and ``unread`` an earlier message that the plan may use.
        ``press`` is the click on a button, ``welcome_ts`` the welcome card of that.
        """
        code = parse_typed_code(said)
        if code is not None:
            return await claim_answer(self.door, self.people, user_id, code)
        if said == CONNECT:
            return await connect_answer(self.door, self.people, user_id)
        try:
            day = date.fromisoformat(said) if said else None
        except ValueError:
            return await self._start_with_words(command_id, user_id, asked, said)
        refusal = await calendar_refusal(self.door, self.people, user_id)
        if refusal is not None:
            return refusal
        command = StartTimeboxing(
            command_id=command_id,
            user_id=user_id,
            at=self.clock.now(),
            channel=asked.channel or "",
            thread_ts=asked.thread_ts,
            tz="",
            date=day,
            unread=unread,
        )
        await self.record(command, press)
        if asked.channel is None:
            return None
        if welcome_ts is not None:
            where = Sent(asked.channel, welcome_ts)
            self.background.start(retire_welcome(self.poster, self.door, where), name="a used welcome")
        return None if is_private(asked.channel) else _(phrases.PLANNED_ELSEWHERE)

    async def _start_with_words(self, command_id: str, user_id: str, asked: Place, said: str) -> Said | None:
        """Record words after the command as a first message, which a model reads; return words about it.

        Without a model, these are a card with the uses of such a message.
        """
        refusal = await calendar_refusal(self.door, self.people, user_id)
        if refusal is not None:
            return refusal
        if len(said) > MAX_MESSAGE_CHARS:
            return _(TOO_LONG)
        private = is_private(str(asked.channel))
        place = Place(asked.channel if private else None)
        opening = self._build_opening(command_id, user_id, place, said, to_plan=True)
        if not self.door.reads_words:
            return self.door.welcome("" if opening.withheld else opening.text)
        await self.record(opening)
        return None if private else _(phrases.ANSWERED_ELSEWHERE)

    async def press_start(
        self,
        command_id: str,
        user_id: str,
        asked: Place,
        *,
        unread: str = "",
        welcome_ts: str | None = None,
        press: Press | None = None,
    ) -> None:
        """Begin a session by a button or a shortcut, which have no answer, so words are sent separately."""
        words = await self.start(command_id, user_id, asked, unread=unread, welcome_ts=welcome_ts, press=press)
        if words is not None:
            await self.send_ephemeral(user_id, asked, words)

    async def hear(self, said: MessageSaid) -> None:
        """Pass a message to the session in its thread; otherwise welcome the person if the bot was addressed."""
        if said.direct:
            self.people.learn_direct(said.user_id, said.channel)
        code = parse_sent_code(said.text) if said.direct else None
        if code is not None:
            answer = await claim_answer(self.door, self.people, said.user_id, code)
            await self.send_ephemeral(said.user_id, Place(None), answer)
            return
        session_id = None if said.opens else await self.door.session_in_thread(said.channel, said.thread_ts)
        if session_id is None:
            await self._handle_first_words(said)
            return
        # Before the command is recorded: whichever program answers it sees that its card is no longer the newest.
        await self.poster.latest.observe(said.channel, said.thread_ts, said.ts)
        owner = await self.door.owner(session_id)
        if owner != said.user_id:
            # The same post arrives as a message and as a mention; only the mention is answered.
            if owner is not None and said.event == "app_mention":
                await self._reply(said, phrases.not_yours(owner))
            return
        refusal = await calendar_refusal(self.door, self.people, said.user_id)
        if refusal is not None:
            if said.event != "app_mention":
                await self._reply(said, refusal)
            return
        unread = await self._find_unread(said, session_id)
        if unread is not None:
            await self._reply(said, _(unread))
            return
        await self._tell_unread_parts(said)
        if said.attached and not said.text and self.door.reads_words:
            return
        await self._pass_on(said, session_id)

    async def _pass_on(self, said: MessageSaid, session_id: str) -> None:
        """Pass a message of a session's owner to the session; a written command is carried out instead."""
        typed = parse_command(said.text)
        if typed is not None:
            await self._carry_out_typed(said, typed)
            return
        text, withheld = redact_credentials(remove_account_numbers(said.text))
        reply = TimeboxingUserReply(
            command_id=said.command_id,
            user_id=said.user_id,
            at=self.clock.now(),
            session_id=session_id,
            text=text,
            withheld=withheld,
        )
        await self.record(reply, said.press)

    async def note_change(self, changed: MessageSaid) -> None:
        """Tell a person that an edit of a message is not read, or that what they deleted still counts.

        Without a model messages are not read anyway, nor is one counted any more whose plan has ended. A deletion is
        only answered if there is, or may be, something to undo: the message waits, or it made the last change.
        """
        if not self.door.reads_words or not await self.jobs.was_accepted(TURN.name, changed.command_id):
            return
        session = await self.door.find_open(changed.channel, changed.thread_ts, changed.user_id)
        if session is None and await self.door.session_in_thread(changed.channel, changed.thread_ts) is not None:
            return
        if changed.event == "message_changed":
            words = phrases.CHANGE_UNREAD
        elif session is not None and await self._can_undo(changed, session):
            words = phrases.STILL_COUNTS
        else:
            return
        place = Place(changed.channel, None if session is None and changed.opens else changed.thread_ts)
        cause = command_id("edit", changed.command_id, changed.text)  # each edit, but the same one once
        await self.send_ephemeral(changed.user_id, place, _(words), cause=cause)

    async def _can_undo(self, said: MessageSaid, session: Session) -> bool:
        """Check whether a message of a session made the last change, or waits and may make one."""
        if session.reports_change and session.thread.handled[-1:] == (said.command_id,):
            return True
        return await self.jobs.find_unfinished(TURN.name, said.command_id) is not None

    async def _find_unread(self, said: MessageSaid, session_id: str) -> str | None:
        """Return what to say about a message that is not read, or ``None``.

        A click is not held up by an earlier message that is late. Once a card is shown that the person had not seen
        when writing, “go on” would do another step than the one meant.
        """
        if len(said.text) > MAX_MESSAGE_CHARS:
            return TOO_LONG
        if time.time() - float(said.ts) < LATE:  # Slack's time, whatever the program's clock is set to
            return None
        card = await self.outbox.latest(session_id)
        shown = None if card is None else await self.outbox.slot(session_id, card.slot)
        return None if shown is None or float(shown.ts) < float(said.ts) else phrases.CAME_LATE

    async def _tell_unread_parts(self, said: MessageSaid) -> None:
        """Tell a person what of their message is not read: files, another message, or the end of a long one.

        Without a model messages are not read anyway. The mention in a channel arrives as a message, too.
        """
        if not self.door.reads_words or not (said.direct or said.event == "app_mention"):
            return
        place = Place(said.channel, None if said.opens else said.thread_ts)
        if said.attached:
            await self.send_ephemeral(said.user_id, place, _(phrases.ATTACHED_UNREAD), cause=said.command_id)
        if len(said.text) > MAX_PROMPT_MESSAGE_CHARS:
            most = format_number(MAX_PROMPT_MESSAGE_CHARS)
            await self.send_ephemeral(said.user_id, place, _(phrases.REST_UNREAD, count=most), cause=said.command_id)

    async def _carry_out_typed(self, said: MessageSaid, typed: TypedCommand) -> None:
        """Carry out a slash command that was written out in the thread of a plan, next to the plan (S147, S151)."""
        place = Place(said.channel, said.thread_ts)
        if typed.name == TIMEBOX:
            asked = Place(said.channel) if typed.rest else place
            words = await self.start(said.command_id, said.user_id, asked, said=typed.rest)
            if words is not None:
                await self._reply(said, words)
            return
        async with self.tell_refusal(said.user_id, place, cause=said.command_id):
            about = {"command_id": said.command_id, "user_id": said.user_id, "at": self.clock.now()}
            if is_private(said.channel):
                about |= {"channel": said.channel, "thread_ts": said.thread_ts}
            await self.record(read_typed(typed, about))

    async def _handle_first_words(self, said: MessageSaid) -> None:
        """Handle a first message: carry out a command, or record the text for the worker.

        The worker welcomes a person whom it cannot answer. Messages of people who may not plan are refused unread.
        """
        if not (said.direct or said.mention):
            return
        refusal = await calendar_refusal(self.door, self.people, said.user_id)
        if refusal is not None:
            await self._refuse(said, refusal)
            return
        if len(said.text) > MAX_MESSAGE_CHARS:
            await self._refuse(said, _(TOO_LONG))
            return
        typed = parse_command(said.text)
        if typed is not None and typed.name == TIMEBOX:
            await self._carry_out_typed(said, typed)
            return
        await self._tell_unread_parts(said)
        await self.poster.latest.observe(said.channel, said.thread_ts, said.ts)
        place = Place(said.channel, said.thread_ts)
        opening = self._build_opening(said.command_id, said.user_id, place, said.text, opens=said.opens)
        await self.record(opening, said.press)

    async def _refuse(self, said: MessageSaid, words: Said) -> None:
        """Tell a person who addressed the bot why they cannot plan, invisibly to others in a channel."""
        if is_private(said.channel):
            await self.jobs.enqueue(greeting_job(said, words), now=self.clock.now())
        elif said.event != "message" and said.mention:
            # The same post arrives as a message and as a mention; only the mention is answered.
            await self.send_ephemeral(said.user_id, Place(said.channel), words, cause=said.command_id)

    def _build_opening(
        self, command_id: str, user_id: str, place: Place, said: str, *, opens: bool = True, to_plan: bool = False
    ) -> Opening:
        text, withheld = redact_credentials(remove_account_numbers(said))
        return Opening(
            command_id=command_id,
            user_id=user_id,
            at=self.clock.now(),
            channel=place.channel or "",
            thread_ts=place.thread_ts,
            tz="",
            text=text,
            opens=opens,
            to_plan=to_plan,
            withheld=withheld,
        )

    async def ask(self, command_id: str, user_id: str, asked: Place, name: str, said: str) -> Said | None:
        """Handle a slash command about the queue, and return words about it for where it was typed."""
        refusal = await calendar_refusal(self.door, self.people, user_id)
        if refusal is not None:
            return refusal
        about = {"command_id": command_id, "user_id": user_id, "at": self.clock.now()}
        try:
            command = read_typed(TypedCommand(name, said), about)
        except BadInput as error:
            return error.message
        await self.record(command)
        return None if is_private(str(asked.channel)) else _(phrases.ANSWERED_ELSEWHERE)

    async def meet(self, user_id: str, channel: str) -> None:
        """Handle a visit to direct messages: welcome the person once ever, or tell them why they cannot plan."""
        self.people.learn_direct(user_id, channel)
        refusal = await calendar_refusal(self.door, self.people, user_id)
        job = first_greeting_job(user_id, channel, refused=refusal is not None)
        await self.jobs.enqueue(job, now=self.clock.now())
        if self.door.reads_words and refusal is None:
            self.background.start(suggest(self.client, channel), name="suggestions")

    async def click(self, click: Click, place: Place, replaced: str | None, press: Press) -> None:
        """Handle a control of a card, for the session's owner only.

        ``replaced`` is the message that the answer to a control outside of a plan replaces. A control that shows
        something leaves the card as it is, so each ``press`` of it counts.
        """
        async with self.tell_refusal(click.user_id, place):
            await self.check_access(click.session_id, click.user_id)
            command = self.door.read_click(click)
            is_view = isinstance(command, ShowTasks) or (isinstance(command, SessionCommandBase) and command.is_view)
            if is_view:
                command = replace_named(command, {"command_id": press.command_id})
            if place.channel is not None and _is_answered_in(place.channel, command):
                there = {"channel": place.channel, "thread_ts": place.thread_ts, "ts": replaced}
                command = replace_named(command, there)
            await self.record(command, press if is_view else None)

    async def stop(self, command_id: str, user_id: str, place: Place, session_id: str | None = None) -> None:
        """Handle Stop on a session's card, or Slack's own in a thread, whose session is looked up.

        Where there is none, a first message may be being read.
        """
        if session_id is None and place.thread_ts is not None:
            session_id = await self.door.session_in_thread(str(place.channel), place.thread_ts)
        async with self.tell_refusal(user_id, place):
            await self._check_owner(session_id or "", user_id)
            now = self.clock.now()
            payload = StopTurn(
                session_id=session_id, user_id=user_id, channel=place.channel, thread_ts=place.thread_ts, at=now
            )
            job = STOP_TURN.build_job(payload, key=f"{payload.turn_id} {command_id}", dedupe=command_id)
            await self.jobs.enqueue(job, now=now)

    async def keep_title(self, command_id: str, channel: str, thread_ts: str) -> None:
        """Handle a title that the person chose for the thread of a session."""
        session_id = await self.door.session_in_thread(channel, thread_ts)
        if session_id is not None:
            now = self.clock.now()
            command = KeepTitle(command_id=command_id, session_id=session_id, at=now)
            await self.jobs.enqueue(build_command_job(command, key=session_id), now=now)

    async def answer(self, command_id: str, user_id: str, place: Place, proposal_id: str, answer: str) -> None:
        """Handle a button of an agent's proposal. The worker checks whose proposal it is."""
        async with self.tell_refusal(user_id, place):
            await self.check_access("", user_id)
            job = build_answer_job(
                proposal_id, answer, user_id=user_id, channel=place.channel, thread_ts=place.thread_ts, cause=command_id
            )
            await self.jobs.enqueue(job, now=self.clock.now())

    async def about(self, command_id: str, user_id: str, wish: str) -> None:
        """Handle a request to export or erase the person's data; ``wish`` is the action of the control."""
        payload = PersonalDataRequest(user_id=user_id, wish=wish)
        # Erasure deletes the job last, because it names the person.
        await self.jobs.enqueue(ERASING.build_job(payload, key=user_id, dedupe=command_id), now=self.clock.now())

    async def connection(self, command_id: str, user_id: str, action: str) -> None:
        """Handle a button about the connection of a person's calendar; ``action`` is that of the control."""
        wish: ConnectionAction | None = _CONNECTION_BUTTONS.get(action)
        if wish is not None:
            await self.jobs.enqueue(connection_job(user_id, wish, command_id), now=self.clock.now())

    async def rate(self, rating: Rating, place: Place) -> None:
        """Handle a vote by the session's owner."""
        async with self.tell_refusal(rating.user_id, place):
            await self._check_owner(rating.session_id, rating.user_id)
            await self.feedbacks.rate(rating)
            await self.send_ephemeral(rating.user_id, place, _(phrases.THANKS))

    async def check_access(self, session_id: str, user_id: str) -> None:
        """Check that this person may use this session and may plan at all. Raises ``BadInput`` with the reason.

        Without a session only the calendar is checked.
        """
        await self._check_owner(session_id, user_id)
        refusal = await calendar_refusal(self.door, self.people, user_id)
        if refusal is not None:
            raise CalendarRefused(refusal)

    async def _check_owner(self, session_id: str, user_id: str) -> None:
        if session_id and (owner := await self.door.owner(session_id)) != user_id:
            raise BadInput(name_commands(phrases.SESSION_LOST) if owner is None else phrases.not_yours(owner))

    async def record(
        self, command: SessionCommand | QueueCommand | StartTimeboxing | Opening, press: Press | None = None
    ) -> None:
        """Record a command, once; of a double click, whose times are Slack's, only the first ``press``."""
        job, now = build_command_job(command, key=_key(command)), self.clock.now()
        if press is not None:
            job, now = replace(job, dedupe=press.name, apart=press.apart), press.at
        await self.jobs.enqueue(job, now=now)

    @asynccontextmanager
    async def tell_refusal(self, user_id: str, place: Place, *, cause: str = "") -> AsyncIterator[None]:
        """Tell a person why their request is refused, if the block raises a ``UserError``.

        ``cause`` is that of :meth:`send_ephemeral`.
        """
        try:
            yield
        except UserError as error:
            said = error.card if isinstance(error, CalendarRefused) else error.message
            await self.send_ephemeral(user_id, place, said, cause=cause)

    async def _reply(self, heard: MessageSaid, said: Said) -> None:
        """Tell a person something about their message, in its thread."""
        place = Place(heard.channel, heard.thread_ts)
        await self.send_ephemeral(heard.user_id, place, said, cause=heard.command_id)

    async def send_ephemeral(self, user_id: str, place: Place, said: Said, *, cause: str = "") -> None:
        """Tell a person something after the acknowledgement, even if the program dies in between.

        A card is lost in that case, because the link in it must not be stored. ``cause`` names the event, which Slack
        may deliver again.
        """
        if isinstance(said, str):
            job = build_sentence_job(user_id, place, said, cause=cause)
            await self.jobs.enqueue(job, now=self.clock.now())
        else:
            self.background.start(self.people.send_ephemeral(user_id, place, said), name="a hint")


def _is_answered_in(channel: str, command: Command) -> TypeGuard[QueueCommand | SettleConstraints | UndoMemory]:
    """Check whether a control is answered where it is. A queue is private, so it is shown in private places only."""
    if isinstance(command, QueueCommandBase):
        return is_private(channel)
    return isinstance(command, SettleConstraints | UndoMemory) and not command.session_id


def _key(command: SessionCommand | QueueCommand | StartTimeboxing | Opening) -> str:
    """Return the key within which commands run in order.

    That is the session, the thread, a person's first messages in a channel, their pulls, or their other queue commands.
    """
    if isinstance(command, QueueCommandBase):
        return f"{'pulling' if isinstance(command, PullTask) else 'queue'} {command.user_id}"
    if isinstance(command, Opening):
        return command.order_key
    if not isinstance(command, StartTimeboxing):
        return command.session_id or f"rules {command.user_id}"
    return f"{command.channel} {command.thread_ts}" if command.thread_ts else command.command_id
