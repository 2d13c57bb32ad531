"""Sends these messages once each, at their time, and carries out what people answer (decision 068)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import assert_never

from fateforger.conversation.calendar_reads import Looker, build_reading
from fateforger.conversation.queue.cards import SHOW, build_reply, format_title
from fateforger.conversation.queue.decisions import block_for
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.leftovers import begin_day, close_day, put_into_queue, reopen_day
from fateforger.conversation.queue.planned_tasks import PlannedTasks
from fateforger.conversation.queue.service import list_buttons
from fateforger.conversation.queue.work import Tools, find_session
from fateforger.conversation.rituals.cards import (
    WeekReport,
    advise,
    already_card,
    begun_card,
    closed_card,
    day_card,
    morning_card,
    not_today_card,
    report_day,
    report_week,
    review_card,
)
from fateforger.conversation.rituals.schedule import (
    WORKDAYS,
    Due,
    DueSettings,
    Outcome,
    Rituals,
    RitualSettings,
    build_form,
    build_home_parts,
    build_quiet_question,
    build_settings_card,
    find_next,
    list_due,
    read_form,
)
from fateforger.conversation.session_messages import build_session
from fateforger.conversation.turn_values import apply_reading
from fateforger.errors import BadInput
from fateforger.planning.task_details import task_of
from fateforger.planning.timing import local_day, zone
from fateforger.session.cards import Card, Part
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.thread import StartTimeboxing
from fateforger.session.day import local_today, whole_frame
from fateforger.session.forms import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.messages import Exchange, RecentTalk
from fateforger.session.model import CalendarWrite, Session
from fateforger.session.queue_commands import (
    Advice,
    AnswerMorning,
    BlockTimeFor,
    ChangeRituals,
    FollowAdvice,
    ReviewWeek,
    RitualCommand,
    SettleDay,
)
from fateforger.session.recall import recall
from fateforger.session.store import HeadFilter
from fateforger.tasks.task import ENDED, QueuedTask
from fateforger.text import format_day, mark_message, speak
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.turns import build_notification_job

BUSY = timedelta(minutes=10)
"""Time after the last step in a plan in which its person gets no message (S219)."""
AGAIN = timedelta(seconds=30)
"""Time after which a person is looked at again for whom something had to wait or failed."""
CALENDAR_WAIT = 8.0
"""Seconds that a morning message waits for the calendar."""
GONE = mark_message("I don't know that day any more; its thread has its plan.")


@dataclass(frozen=True, slots=True)
class RitualService:
    """Sends these messages and answers their controls. All methods raise ``StoreError`` and can be repeated."""

    tools: Tools
    rituals: Rituals
    looker: Looker
    planned: PlannedTasks
    calendar_write: CalendarWrite

    # --- sending

    async def send_due(self) -> bool:
        """Send what is due to people who want it, once; return ``True`` if people are left over.

        Messages that are of no use any more are recorded instead.
        """
        now = self.tools.clock.now()
        looked = await self.rituals.list_due(now, limit=ROUND_SIZE)
        results = await asyncio.gather(*(self._settle_all(each, now) for each in looked), return_exceptions=True)
        failed = [(each, error) for each, error in zip(looked, results, strict=True) if error is not None]
        for each, _error in failed:  # so that people whose messages always fail do not hold back the others
            await self.rituals.look_again(each, now + AGAIN)
        if failed:
            raise failed[0][1]
        return len(looked) == ROUND_SIZE

    async def _settle_all(self, looked: DueSettings, now: datetime) -> None:
        """Settle what is due to a person. While something has to wait, they are looked at again soon."""
        settings = looked.settings
        ends = await self._find_ends(settings, now)
        due = tuple(list_due(settings, ends, now))
        over = await self.rituals.find_marks(settings.user_id, min(each.day for each in due)) if due else frozenset()
        left = [each for each in due if (each.kind, each.day) not in over]
        is_over = all([await self._settle(settings, each, now) for each in left])
        await self.rituals.look_again(looked, find_next(settings, ends, now) if is_over else now + AGAIN)

    async def _find_ends(self, settings: RitualSettings, now: datetime) -> Mapping[date, datetime]:
        """Return when the frames of today and yesterday end, as far as these have a plan."""
        if not settings.at_end:
            return {}
        today, ends = local_today(now, settings.tz), dict[date, datetime]()
        for session in await self._find_committed(settings.user_id, today - timedelta(days=1), today):
            with suppress(BadInput):  # an invalid frame has no end
                ends.setdefault(session.date, whole_frame(session)[1])
        return ends

    async def _is_busy(self, user_id: str, now: datetime) -> bool:
        return bool(await self.tools.sessions.list_heads(HeadFilter(since=now - BUSY, user_id=user_id), limit=1))

    async def _settle(self, settings: RitualSettings, due: Due, now: datetime) -> bool:
        """Send a message, or record why it is not sent; return ``False`` if it is left for a later round."""
        quiet = settings.is_quiet(now.astimezone(zone(settings.tz)).time())
        useless = await self._find_useless(settings, due, now)
        if useless is not None:
            await self.rituals.mark(settings, due, useless, now=now)
            return True
        if quiet or await self._is_busy(settings.user_id, now):
            return False
        spoken = await self.tools.languages.of(settings.user_id)
        with speak(spoken.code):
            await self._send(settings, due, now)
        return True

    async def _find_useless(self, settings: RitualSettings, due: Due, now: datetime) -> Outcome | None:
        """Return why a message is not sent, or ``None``."""
        if now >= due.until:
            return "quiet" if settings.is_quiet(due.at.astimezone(zone(settings.tz)).time()) else "late"
        match due.kind:
            case "morning":
                return None if await find_session(self.tools, settings.user_id, due.day) is None else "begun"
            case "shutdown":
                session = await self._find_day(settings.user_id, due.day)
                return None if session is not None and session.open_work.returned is None else "nothing"
            case "review":
                return None if await self._find_week(settings.user_id, due.day) else "nothing"
            case _:
                assert_never(due.kind)

    async def _send(self, settings: RitualSettings, due: Due, now: datetime) -> None:
        place: dict[str, str | None] = {"channel": settings.channel, "thread_ts": None}
        match due.kind:
            case "morning":
                card = await self._build_morning(settings, due.day, now)
            case "shutdown":
                session = await self._find_day(settings.user_id, due.day)
                if session is None:
                    return
                card = day_card(session, report_day(session))
                if session.thread_ts is not None:
                    place = {"channel": session.channel, "thread_ts": session.thread_ts}
            case "review":
                card = await self._build_review(settings.user_id, due.day, settings)
            case _:
                assert_never(due.kind)
        name = f"ritual/{settings.user_id}/{due.kind}/{due.day.isoformat()}"
        job = build_notification_job(
            card, v=name, channel=place["channel"] or settings.channel, thread_ts=place["thread_ts"], beside=True
        )
        if await self.rituals.mark(settings, due, "sent", now=now, job=job):
            before = await self.tools.talks.of(settings.user_id)
            said = Exchange.of(due.kind, card.text)
            talk = RecentTalk.after(before, said, at=now, buttons=list_buttons(card))
            await self.tools.talks.keep(settings.user_id, talk)

    async def _build_morning(self, settings: RitualSettings, day: date, now: datetime) -> Card:
        """Return the message of a day with its frame and calendar, as its plan would begin."""
        user_id = settings.user_id
        start = StartTimeboxing(
            command_id=mint_key("ritual", user_id, day),
            user_id=user_id,
            at=now,
            channel=settings.channel,
            tz=settings.tz,
            date=day,
        )
        earlier = await self.tools.sessions.of_user(user_id)
        session = build_session(start, earlier, calendar_write=self.calendar_write)
        look = await self.looker.wait(session.user_id, session.date, session.tz, seconds=CALENDAR_WAIT, fresh=True)
        if look is not None:
            session = apply_reading(session, build_reading(session, look))
        versions = () if self.tools.rules is None else await self.tools.rules.versions(user_id)
        session = session.with_rules(recalled=recall(session, versions, now))
        return morning_card(session, await read_queue(self.tools.tasks, user_id))

    # --- what people choose

    async def find_home_parts(self, user_id: str) -> tuple[Part, ...]:
        """Return the settings for App Home."""
        return build_home_parts(await self.rituals.of(user_id))

    async def open_form(self, request: FormRequest) -> Form:
        return build_form(await self.rituals.of(request.user_id), request)

    async def read_form(self, submission: FormSubmission) -> ChangeRituals | FormErrors:
        """Return the command of a filled form, or the errors per field."""
        known = await self.rituals.of(submission.user_id)
        return read_form(known or self._first_settings(submission.user_id, submission.at), submission)

    def _first_settings(self, user_id: str, at: datetime, channel: str = "", tz: str = "") -> RitualSettings:
        return RitualSettings(user_id=user_id, channel=channel, tz=tz or self.tools.tz, since=at)

    # --- answers

    async def answer(self, command: RitualCommand) -> Card:
        """Carry out a command and return its card."""
        match command:
            case ChangeRituals():
                return await self._change(command)
            case AnswerMorning():
                return await self._answer_morning(command)
            case SettleDay():
                return await self._settle_day(command)
            case ReviewWeek():
                day = local_today(command.at, command.tz or self.tools.tz)
                return await self._build_review(command.user_id, day, None)
            case FollowAdvice():
                return await self._follow_advice(command, command.advice)
            case _:
                assert_never(command)

    async def _change(self, command: ChangeRituals) -> Card:
        known = await self.rituals.of(command.user_id)
        change, first = command.change, self._first_settings(command.user_id, command.at, command.channel, command.tz)
        if not change.model_fields_set:
            return build_settings_card(known)
        wanted = (known or first).with_change(change, command.at)
        chosen = {change.morning, change.shutdown} - {None}
        if any(wanted.is_quiet(clock) for clock in chosen if clock is not None):
            return build_quiet_question(wanted, change)

        def apply(before: RitualSettings | None) -> RitualSettings:
            placed = replace(before or first, channel=command.channel, tz=command.tz or (before or first).tz)
            return placed.with_change(change, command.at)

        return build_settings_card(await self.rituals.change(command.user_id, apply), change.off)

    async def _answer_morning(self, command: AnswerMorning) -> Card:
        if not command.begins:
            return not_today_card(command.date)
        begun = await self.tools.sessions.on_days(command.user_id, command.date, command.date)
        start = StartTimeboxing(
            command_id=mint_key("ritual", command.user_id, command.date, len(begun)),
            user_id=command.user_id,
            at=command.at,
            channel=command.channel,
            thread_ts=command.thread_ts,
            tz=command.tz or self.tools.tz,
            date=command.date,
        )
        there = await find_session(self.tools, command.user_id, command.date)
        if there is not None:
            return begun_card(command.date) if there.thread_ts == command.thread_ts else already_card(command.date)
        await begin_day(self.tools, start, ())
        return begun_card(command.date)

    async def _settle_day(self, command: SettleDay) -> Card:
        session = await self.tools.sessions.load(command.session)
        if session is None or session.user_id != command.user_id:
            return build_reply(_(GONE))
        match command.do:
            case "tick" | "untick":
                session = await self._tick(session, command.task, done=command.do == "tick")
            case "close" | "close_for_tomorrow":
                day = session.date + timedelta(days=1) if command.do == "close_for_tomorrow" else None
                return await self._close(session, day)
            case "reopen":
                session = await reopen_day(self.tools, session)
            case _:
                assert_never(command.do)
        return day_card(session, report_day(session))

    async def _tick(self, session: Session, task: str, *, done: bool) -> Session:
        """Record whether a task of a day is done, there and in the queue."""
        kept = tuple(each for each in session.open_work.settled if done or task_of(task, [each]) is None)
        after = session.with_open_work(settled=tuple(dict.fromkeys((*kept, task))) if done else kept)
        if after == session:
            return session
        await self.planned.follow(session, after)
        return await self.tools.sessions.save(after, expected=session.version)

    async def _close(self, session: Session, day: date | None) -> Card:
        if session.open_work.returned is None:
            over = local_day(session.date, zone(session.tz))[1] + timedelta(days=1)
            await close_day(self.tools, session, now=over, day=day)
            session = await self.tools.sessions.load(session.id) or session
        returned = session.open_work.returned
        names = [each.queued for each in (() if returned is None else returned.tasks)]
        found = [await self.tools.tasks.get(session.user_id, name) for name in names]
        back = [task for task in found if task is not None and task.state not in ENDED]
        return closed_card(session, report_day(session), back, day)

    # --- the week

    async def _build_review(self, user_id: str, day: date, settings: RitualSettings | None) -> Card:
        sessions = await self._find_week(user_id, day)
        report = await self._report_week(user_id, sessions)
        known = settings or await self.rituals.of(user_id)
        advice = advise(report, sessions, WORKDAYS if known is None else known.days)
        return review_card(report, advice, asked=settings is None)

    async def _report_week(self, user_id: str, sessions: Sequence[Session]) -> WeekReport:
        ended = [task.id for task in await self.tools.tasks.of(user_id, ended=True) if task.state in ENDED]
        return report_week(sessions, frozenset(ended))

    async def _follow_advice(self, command: FollowAdvice, advice: Advice) -> Card:
        """Keep time for a task on a day: in its plan if there is one, else for when that day is planned."""
        queued = await self._find_advised(command.user_id, advice)
        if queued is None or queued.state in ENDED:
            return build_reply(_("{title} is over, so it needs no time any more.", title=advice.title), SHOW.localize())
        if await find_session(self.tools, command.user_id, advice.date) is not None:
            fields = command.model_dump(exclude={"kind", "advice"})
            time_of = advice.model_dump(exclude={"task", "title"})
            return await block_for(self.tools, BlockTimeFor(**fields, **time_of, task_id=queued.id))

        def keep(task: QueuedTask) -> QueuedTask:
            details = replace(task.spec.details.move_to(advice.date), at=advice.start)
            return replace(task, spec=replace(task.spec, details=details))

        await self.tools.tasks.change(command.user_id, queued.id, keep, now=self.tools.clock.now())
        sentence = _(
            "{title} has {day} at {time:%H:%M}: it is on the list of that day with this time.",
            title=format_title(queued),
            day=format_day(advice.date),
            time=advice.start,
        )
        return build_reply(sentence, SHOW.localize())

    async def _find_advised(self, user_id: str, advice: Advice) -> QueuedTask | None:
        """Return the task of a suggestion in the queue; one that only its day knows goes there first."""
        queued = await self.tools.tasks.get(user_id, advice.task)
        if queued is not None:
            return queued
        for session in await self._find_committed(user_id, advice.date - timedelta(days=14), advice.date):
            known = (*session.day.inputs.tasks, *session.open_work.deferred)
            task = next((each for each in known if each.id == advice.task), None)
            if task is not None and (put := await put_into_queue(self.tools, session, task)) is not None:
                return await self.tools.tasks.get(user_id, put.queued)
        return None

    async def _find_week(self, user_id: str, day: date) -> tuple[Session, ...]:
        """Return the sessions of the week up to a day whose plans are on the calendar."""
        return await self._find_committed(user_id, day - timedelta(days=day.weekday()), day)

    async def _find_day(self, user_id: str, day: date) -> Session | None:
        return next(iter(await self._find_committed(user_id, day, day)), None)

    async def _find_committed(self, user_id: str, first: date, last: date) -> tuple[Session, ...]:
        found = await self.tools.sessions.on_days(user_id, first, last)
        return tuple(session for session in found if session.sync.written is not None)
