"""Workers of the durable inbox: each job is one command of a person, handled once and in order.

Cards that belong to no session are jobs of their own, each posted once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import get_args

from fateforger.agents.access import build_failure_job
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs, NewJob
from fateforger.session.cards import Card, Prose
from fateforger.session.commands import BackgroundCommand, InboxCommand
from fateforger.session.messages import Outgoing
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import mark_message, speak, use_language
from fateforger.values import replace
from fateforger.workers.lanes import (
    CONNECTION,
    NOTIFICATION,
    TURN,
    ConnectionAction,
    ConnectionRequest,
    JobHandler,
    Notification,
)
from fateforger.workers.people import LanguageService


def build_notification_job(
    card: Card, *, v: str, channel: str, thread_ts: str | None = None, ts: str | None = None, beside: bool = False
) -> NewJob:
    """Return the job that brings a card to a person.

    ``v`` identifies the card: the same ``v`` is delivered once. ``ts`` is the message that the card replaces. With
    ``beside`` the card does not count as the newest message of its thread.
    """
    payload = Notification(v=v, channel=channel, thread_ts=thread_ts, ts=ts, beside=beside, card=card)
    return NOTIFICATION.build_job(payload, key=f"{channel} {thread_ts}", dedupe=v)


def connection_job(user_id: str, do: ConnectionAction, cause: str) -> NewJob:
    """Return the job that does something about the connection of a person's calendar, once per ``cause``."""
    return CONNECTION.build_job(ConnectionRequest(user_id=user_id, do=do), key=user_id, dedupe=cause)


OF_QUEUE = frozenset(kind.model_fields["kind"].default for kind in get_args(QueueCommand))
BEGINNING = frozenset({"start", "opening"})
"""Commands that begin a session, and so have none yet."""
NOT_ASKED_FOR = frozenset(kind.model_fields["kind"].default for kind in get_args(BackgroundCommand))

APOLOGY = mark_message(
    "I'm sorry, something went wrong on my side and I couldn't finish your last step. Please try it once more."
)

Handle = Callable[[InboxCommand], Awaitable[None]]
"""Handle one command. Raises the errors of :data:`~fateforger.workers.lanes.Perform`."""


def build_turn_handler(
    handle: Handle, jobs: Jobs, sessions: Sessions, languages: LanguageService, clock: Clock
) -> JobHandler:
    """Return the handler that passes each command to ``handle``, in the language of its person.

    A command that is given up results in one apology in its session, if there is one; the proposal of an agent that it
    carried out counts as refused.
    """

    async def perform(command: InboxCommand, _job: Job) -> None:
        if not isinstance(command, BackgroundCommand):
            use_language((await languages.of(command.user_id)).code)
        await handle(command)

    async def on_given_up(job: Job, _error: str) -> None:
        if job.payload.get("user_id"):
            use_language((await languages.of(job.payload["user_id"])).code)
        if job.payload.get("kind") not in NOT_ASKED_FOR:
            await notify_session(sessions, job, APOLOGY)
        await _apologize_in_channel(jobs, job, clock)
        proposal = (job.payload.get("approved") or {}).get("proposal")
        if proposal:
            await jobs.enqueue(build_failure_job(proposal, job.payload["command_id"]), now=clock.now())

    return TURN.handle(perform, on_given_up)


def build_command_job(command: InboxCommand, *, key: str) -> NewJob:
    """Return the job of a command, in order with the other commands of ``key``. Each command is queued once.

    A command that was given up is queued again when its person repeats it, as the apology asks them to.
    """
    return replace(TURN.build_job(command, key=key, dedupe=command.command_id), again=True)


async def _apologize_in_channel(jobs: Jobs, job: Job, clock: Clock) -> None:
    """Queue the apology for a command without a session in the channel and thread of the command."""
    if job.payload.get("kind") in OF_QUEUE | BEGINNING and job.payload.get("channel"):
        card = Card(text=_(APOLOGY), parts=(Prose(text=_(APOLOGY)),))
        place = {"channel": job.payload["channel"], "thread_ts": job.payload["thread_ts"]}
        await jobs.enqueue(build_notification_job(card, v=f"sorry-{job.id}", **place), now=clock.now())


async def notify_session(sessions: Sessions, job: Job, sentence: str) -> None:
    """Queue a message of the catalogue in the session of a job, once, if it has one. Raises ``StoreError``."""
    session_id, name = job.payload.get("session_id"), f"sorry-{job.id}"
    session = await sessions.load(session_id) if isinstance(session_id, str) else None
    if session is None or name in session.thread.handled:
        return
    with speak(session.options.language):
        card = Card(text=_(sentence), parts=(Prose(text=_(sentence)),))
    sorry = Outgoing(id=name, session_id=session.id, channel=session.channel, slot=name, card=card)
    after = session.after_command(name, session.touched_at)
    await sessions.save(after, expected=session.version, outgoing=(sorry,))
