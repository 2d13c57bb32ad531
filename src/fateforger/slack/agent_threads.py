"""Threads as agent sessions of Slack: their status with Slack's own Stop, their title, and the steps of a turn.

A workspace that refuses a feature is asked once; what the person sees there instead is in ``slack.progress``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from fateforger.session.model import Session
from fateforger.session.pending import pending_questions
from fateforger.session.store import Sent, ThreadMessages
from fateforger.slack.client import SlackCallError, TransientSlackError, call_slack
from fateforger.slack.ids import get_tenant
from fateforger.slack.limits import LimitedClient, Pace, cosmetic
from fateforger.slack.poster import PAGE, is_marked
from fateforger.text import cut_to_units, speak
from fateforger.ui.session_cards import thread_title

log = logging.getLogger(__name__)

REFUSALS = frozenset({"feature_disabled", "feature_not_enabled", "not_agent_app", "unknown_method", "missing_scope"})
"""Errors with which a workspace refuses a feature altogether."""
MOST_TITLE = 200
MOST_STEP = 256
"""Most characters of a step."""
END_PAUSES = (0.0, 2.0, 10.0)
"""Seconds before each try to end a status, which would otherwise stay for an hour."""

PROCESSING, ACTIVE, SUSPENDED = "processing", "active", "suspended"


class Feature(StrEnum):
    """Feature that a workspace may not have."""

    SESSIONS = "agent sessions"
    STREAMS = "streamed messages"


@dataclass(frozen=True, slots=True)
class Step:
    """Step of a turn, as it is shown."""

    id: str
    title: str
    done: bool

    def to_chunk(self) -> dict[str, Any]:
        """Return the chunk of a stream that adds the step, or changes it."""
        status = "complete" if self.done else "in_progress"
        return {"type": "task_update", "id": self.id, "title": cut_to_units(self.title, MOST_STEP), "status": status}


@dataclass(slots=True)
class Narration:
    """Streamed message that shows the steps of a turn until its card takes its place.

    ``replaced`` is true if the card may have done so already; then the message is no longer removed.
    """

    where: Sent
    thread_ts: str
    shown: tuple[Step, ...]
    replaced: bool = False


@dataclass(slots=True)
class AgentThreads:
    """Keeps what Slack shows of a session's thread up to date.

    All of it is cosmetic: failures are logged, and nothing is raised.
    """

    client: LimitedClient
    pace: Pace
    latest: ThreadMessages
    _refused: set[tuple[str, Feature]] = field(init=False, default_factory=set)
    _statuses: dict[tuple[str, str], str] = field(init=False, default_factory=dict)
    _titles: dict[tuple[str, str], str] = field(init=False, default_factory=dict)
    _narrations: dict[str, Narration] = field(init=False, default_factory=dict)
    _streamed: set[str] = field(init=False, default_factory=set)
    """Messages that this process has streamed."""

    # --- status and title

    async def begin_work(self, channel: str, thread_ts: str) -> bool:
        """Have Slack show that the app is working, with a Stop. Return ``False`` if it does not.

        While many people are planning and Slack's limits leave no room for it, it is not shown.
        """
        if self._must_wait("agents.sessions.setStatus", channel):
            return False
        return await self._set_status(channel, thread_ts, PROCESSING)

    async def end_work(self, channel: str, thread_ts: str, session: Session | None) -> None:
        """Have Slack show that the app has stopped working."""
        await self._set_status(channel, thread_ts, _find_status(session), pauses=END_PAUSES)

    async def follow(self, session: Session) -> None:
        """Bring the title of a session's thread up to date, and its status while no turn is running there.

        A title that the person chose stays.
        """
        if session.thread_ts is None:
            return
        place = (session.channel, session.thread_ts)
        status = _find_status(session)
        if self._statuses.get(place, ACTIVE) not in {PROCESSING, status}:
            await self._set_status(*place, status)
        if session.thread.named:
            return
        with speak(session.options.language):
            title = cut_to_units(thread_title(session), MOST_TITLE)
        if self._titles.get(place) != title:
            self._titles[place] = title
            with cosmetic():
                if not await self._rename(*place, title):
                    self._titles.pop(place, None)

    def _must_wait(self, method: str, channel: str) -> bool:
        with cosmetic():
            return not self.client.limit_of(method, channel).is_free

    async def _set_status(self, channel: str, thread_ts: str, status: str, *, pauses: Sequence[float] = (0.0,)) -> bool:
        answer = await self._try(
            channel,
            Feature.SESSIONS,
            lambda: self.client.agents_sessions_setStatus(channel_id=channel, thread_ts=thread_ts, status=status),
            pauses,
        )
        if answer is not None:
            self._statuses[channel, thread_ts] = status
        return answer is not None

    async def _rename(self, channel: str, thread_ts: str, title: str) -> bool:
        renamed = await self._try(
            channel,
            Feature.SESSIONS,
            lambda: self.client.agents_sessions_rename(channel_id=channel, thread_ts=thread_ts, title=title),
        )
        return renamed is not None

    # --- steps

    async def narrate(self, session_id: str, user_id: str, place: Sent, steps: tuple[Step, ...]) -> bool:
        """Show the steps of a turn in a message at the end of its thread, ``place``. Return ``False`` if Slack cannot.

        The message is begun with the first steps and grows with the next ones.
        """
        narration = self._narrations.get(session_id)
        if narration is None:
            return await self._begin_narration(session_id, user_id, place, steps)
        news = [step.to_chunk() for step in steps if step not in narration.shown]
        if news:
            narration.shown = steps
            where = narration.where
            await self._try(
                where.channel,
                Feature.STREAMS,
                lambda: self.client.chat_appendStream(channel=where.channel, ts=where.ts, chunks=news),
            )
        return True

    async def _begin_narration(self, session_id: str, user_id: str, place: Sent, steps: tuple[Step, ...]) -> bool:
        if self._is_refused(place.channel, Feature.STREAMS) or self._must_wait("chat.startStream", place.channel):
            return False
        await self.pace.wait(place.channel)
        team = (await self.client.client_of(place.channel)).team
        answer = await self._try(
            place.channel,
            Feature.STREAMS,
            lambda: self.client.chat_startStream(
                channel=place.channel,
                thread_ts=place.ts,
                recipient_team_id=team,
                recipient_user_id=user_id,
                chunks=[step.to_chunk() for step in steps],
            ),
        )
        if answer is None:
            return False
        where = Sent(place.channel, str(answer["ts"]))
        self._streamed.add(where.ts)
        self._narrations[session_id] = Narration(where, place.ts, steps)
        await self.latest.observe(place.channel, place.ts, where.ts)
        return True

    def is_narrating(self, session_id: str) -> bool:
        """Check whether the steps of a session's turn are shown."""
        return session_id in self._narrations

    def take(self, session_id: str) -> Narration | None:
        """Return the narration of a session, for the caller alone to replace."""
        return self._narrations.pop(session_id, None)

    def put_back(self, session_id: str, narration: Narration) -> None:
        """Return a narration that may or may not have been replaced."""
        narration.replaced = True
        self._narrations[session_id] = narration

    async def stop_stream(self, where: Sent) -> None:
        """End a stream, unless Slack or the person ended it."""
        await self._try(
            where.channel,
            Feature.STREAMS,
            lambda: self.client.chat_stopStream(channel=where.channel, ts=where.ts, chunks=[]),
        )

    async def remove_steps(self, session_id: str) -> None:
        """Remove the steps of a turn that ends without a message of its own."""
        narration = self._narrations.get(session_id)
        if narration is not None and not narration.replaced:
            del self._narrations[session_id]
            await self.remove(narration)

    async def remove(self, narration: Narration) -> None:
        """Remove a narration that was taken."""
        await self._delete(narration.where, narration.thread_ts)

    async def remove_left(self, channel: str, thread_ts: str) -> None:
        """Remove the steps that a dead process has left in a thread.

        Their place is not stored anywhere. They are the streamed messages that have not become a card.
        """
        if self._is_refused(channel, Feature.STREAMS):
            return
        for message in await self._read_thread(channel, thread_ts):
            left = "streaming_state" in message and not is_marked(message)
            if left and message["ts"] not in self._streamed:
                await self._delete(Sent(channel, str(message["ts"])), thread_ts)

    async def _read_thread(self, channel: str, thread_ts: str) -> Iterable[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        cursor = ""
        try:
            while True:
                page = await call_slack(
                    self.client.conversations_replies(
                        channel=channel, ts=thread_ts, include_all_metadata=True, limit=PAGE, cursor=cursor or None
                    )
                )
                found += page.get("messages", ())
                cursor = page.get("response_metadata", {}).get("next_cursor", "")
                if not cursor:
                    return found
        except SlackCallError as trouble:
            log.info("cannot look in %s for steps that were left there: %s", channel, trouble)
            return ()

    async def _delete(self, where: Sent, thread_ts: str) -> None:
        await self.stop_stream(where)
        await self._try(where.channel, None, lambda: self.client.chat_delete(channel=where.channel, ts=where.ts))
        await self.latest.forget(where.channel, thread_ts, where.ts)

    def _is_refused(self, channel: str, feature: Feature | None) -> bool:
        return feature is not None and (get_tenant(channel), feature) in self._refused

    async def _try(
        self,
        channel: str,
        feature: Feature | None,
        call: Callable[[], Awaitable[AsyncSlackResponse]],
        pauses: Sequence[float] = (0.0,),
    ) -> Mapping[str, Any] | None:
        """Return the answer to a call, or ``None`` if it failed. A feature that was refused is not asked for again.

        Transient failures are tried again after each of the ``pauses``, in seconds.
        """
        for pause in pauses:
            await asyncio.sleep(pause)
            if self._is_refused(channel, feature):
                break
            try:
                return await call_slack(call())
            except SlackCallError as trouble:
                if feature is not None and trouble.code in REFUSALS:
                    if not self._is_refused(channel, feature):
                        log.warning("this workspace has no %s (%s), so the bot does without", feature, trouble)
                    self._refused.add((get_tenant(channel), feature))
                    break
                log.info("a thread is not shown as it should be: %s", trouble)
                if not isinstance(trouble, TransientSlackError):
                    break
        return None


def _find_status(session: Session | None) -> str:
    """Return the status of a session in which no turn is running: suspended while its card asks for a decision."""
    asked = () if session is None else pending_questions(session)
    return SUSPENDED if any(each.answers and not each.is_offer for each in asked) else ACTIVE
