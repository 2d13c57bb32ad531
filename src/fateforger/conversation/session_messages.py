"""Messages of a session after a turn, its creation, and the closing of abandoned ones without a message (S211).

The card of a stage is one message, updated in place. Words are answered by a short reply at the end of the thread. The
card itself moves there once the reply would be too far from it, or when it asks something that its buttons answer.
Opening a view with a click posts it at the end of the thread; later changes update it in place. When it is closed, or
opened again further down, one line remains of the message.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import islice

from fateforger.planning.timing import local_day, zone
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.cards import Card, Feedback, Prose, plain
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.thread import (
    EndAbandoned,
    StageAction,
    StartTimeboxing,
    TimeboxingUserReply,
    format_session_id,
)
from fateforger.session.conflicts import mark_shown
from fateforger.session.day import has_ended, local_today, usual_day, usual_frame
from fateforger.session.edits import is_okay
from fateforger.session.memory import AllowedMeeting
from fateforger.session.messages import MOST_EXCHANGES, Exchange, Notice, Outgoing
from fateforger.session.model import (
    CalendarWrite,
    DayInputs,
    FrameFacts,
    InputFacts,
    Options,
    RuleState,
    Session,
    SessionStatus,
    ThreadState,
)
from fateforger.session.open_work import carry_over
from fateforger.session.pending import pending_questions
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import HeadFilter, SessionHead, Sessions, iter_heads
from fateforger.text import format_day
from fateforger.text import gettext as _
from fateforger.ui.calendar_cards import (
    closed_history_card,
    closed_preview_card,
    history_card,
    moved_history_card,
    moved_preview_card,
    preview_card,
)
from fateforger.ui.card_parts import show_notice
from fateforger.ui.rule_cards import closed_memory_card, memory_card, moved_memory_card
from fateforger.ui.session_cards import left_card, moved_card, root_card, root_line, stage_card
from fateforger.values import replace
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.turns import build_command_job

HISTORY = "history"
PREVIEW = "preview"
MEMORY = "memory"


def build_side_messages(before: Session | None, after: Session, cause: str) -> tuple[Outgoing, ...]:
    """Return the side messages that a command has changed."""
    shown = ((HISTORY, _build_history), (PREVIEW, _build_preview), (MEMORY, _build_memory))
    messages = ((slot, card(before, after)) for slot, card in shown)
    return tuple(_build_side_message(after, cause, slot, *found) for slot, found in messages if found is not None)


SideCard = tuple[Card, Card | None]
"""A card, and the replacement for its earlier message if the card moves to the end of the thread."""


def _build_history(before: Session | None, after: Session) -> SideCard | None:
    old, new = None if before is None else before.thread.history, after.thread.history
    if new == old:
        return None
    if new is None:
        return None if old is None else (closed_history_card(after, old), None)
    moved = moved_history_card() if old is None or old.asked != new.asked else None
    return history_card(after, new), moved


def _build_preview(before: Session | None, after: Session) -> SideCard | None:
    old, new = None if before is None else before.thread.preview, after.thread.preview
    if new == old:
        return None
    if new is None:
        return None if old is None else (closed_preview_card(after, old), None)
    moved = moved_preview_card() if old is None or old.asked != new.asked else None
    return preview_card(after, new), moved


def _build_memory(before: Session | None, after: Session) -> SideCard | None:
    """Return the memory card if it changed. It also depends on the session's recent notes and open decisions."""
    old, new = None if before is None else before.thread.memory, after.thread.memory
    if new is None:
        return None if old is None else (closed_memory_card(old), None)
    card = memory_card(after, new)
    if before is not None and old is not None and memory_card(before, old) == card and old.asked == new.asked:
        return None
    return card, moved_memory_card() if old is None or old.asked != new.asked else None


def _build_side_message(session: Session, cause: str, slot: str, card: Card, moved: Card | None) -> Outgoing:
    """Return the message. ``moved`` replaces its earlier version if the message moves to the end of the thread."""
    return Outgoing(
        id=f"{cause}:{slot}",
        session_id=session.id,
        channel=session.channel,
        slot=slot,
        card=card,
        retire=() if moved is None else (slot,),
        farewell=moved,
        stays=moved is None,
        beside=True,
    )


ROOT = "root"
ASKING = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})
"""Stages with cards that ask the open questions."""


def find_slot(session: Session) -> str:
    return f"stage:{session.stage.number}"


class Trigger(StrEnum):
    """Cause of a session's messages."""

    WORDS = "words"
    CONTROL = "control"
    """A control or form, which the person has in front of them."""
    BACKGROUND = "background"


def build_messages(
    before: Session | None, after: Session, cause: str, trigger: Trigger = Trigger.BACKGROUND
) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the messages, the first message first, and the session that records what they say.

    After a change of stage, the previous card becomes one line about its outcome. Without ``before`` the card is shown
    at the end of the thread.
    """
    messages: list[Outgoing] = []
    line = root_line(after)
    if line != after.thread.root_line:
        messages.append(_build_message(after, f"{cause}:root", ROOT, root_card(after)))
        after = after.with_thread(root_line=line)
    card = _build_message(after, f"{cause}:card", find_slot(after), _build_card(after))
    if after.stage in ASKING:
        after = mark_shown(after)
    if before is not None and before.stage is not after.stage:
        farewell = left_card(after, before.stage)
        card = replace(card, retire=(find_slot(before),), farewell=farewell)
    else:
        card = replace(card, retire=(card.slot,), farewell=moved_card(after))
        if before is not None:
            card = _keep_in_place(before, after, card, trigger)
    messages.append(card)
    messages += build_side_messages(before, after, cause)
    return after, tuple(messages)


def _keep_in_place(before: Session, after: Session, card: Outgoing, trigger: Trigger) -> Outgoing:
    """Return the card of an unchanged stage with where it is shown. News that it alone tells go to the end."""
    if trigger is Trigger.CONTROL:
        return replace(card, stays=True)
    reply = Card(text="\n".join(after.notice_lines), parts=notice) if (notice := show_notice(after)) else None
    asks = _asks_more(before, after)
    if trigger is Trigger.WORDS:
        return card if asks else replace(card, reply=reply)
    card = _set_apart_told(before, after, card)
    return replace(card, stays=not asks and not has_memory_news(before, after))


def _set_apart_told(before: Session, after: Session, card: Outgoing) -> Outgoing:
    """Return the card of an update, with what the earlier notice said as a part that is left out where a reply said it.

    A notice that goes on from the earlier one is split for that.
    """
    told = before.notice_lines
    new = tuple(islice(after.notice_lines, len(told), None))
    if not told or after.notice_lines != (*told, *new):
        return card
    earlier, (whole, *rest) = show_notice(before)[0], show_notice(after)
    split = (earlier, Prose(text=plain("\n".join(new), 600))) if new else (whole,)
    parts = (each for part in card.card.parts for each in (split if part == whole else (part,)))
    said = Card(text="\n".join(told), parts=(earlier, *rest))
    return replace(card, card=replace(card.card, parts=tuple(parts)), replied=said)


def _asks_more(before: Session, after: Session) -> bool:
    """Check whether the card asks something new that its buttons answer."""
    asked = [each.answers for each in pending_questions(before)]
    new = (each for each in pending_questions(after) if not each.is_offer and each.answers)
    return any(each.answers not in asked for each in new)


def with_exchange(session: Session, command: SessionCommand, *, rules: bool) -> Session:
    """Return the session with what the person just said or pressed, and what its card says to that.

    The words of a message that may tell ``rules`` are left out, because they may hold a secret.
    """
    if command.is_view:
        return session
    if isinstance(command, TimeboxingUserReply):
        person = "(left out)" if command.withheld or rules else command.text
    elif isinstance(command, StageAction):
        person = f"[{command.moves[command.move].label}]"
    else:
        person = f"[{command.kind}]"
    last = session.thread.last_words
    bot = " ".join(session.notice_lines) or (session.stage.heading if last is None else last.bot)
    exchanges = (*session.thread.exchanges, Exchange.of(person, bot))
    return session.with_thread(exchanges=exchanges[-MOST_EXCHANGES:])


def with_feedback(session: Session, turn: str, prompts: tuple[str, ...]) -> Session:
    """Return the session after a turn; its card asks for a rating of the turn if a model contributed to it."""
    return session.with_thread(feedback=Feedback(turn=turn, prompts=prompts) if prompts else None)


def _build_card(session: Session) -> Card:
    """Return the card of the session's stage, with the thumbs of the last turn."""
    card, thumbs = stage_card(session), session.thread.feedback
    return card if thumbs is None else replace(card, parts=(*card.parts, thumbs))


def build_only_side_messages(before: Session, after: Session, cause: str) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the messages of a view next to the plan. The card of the stage and its notice do not change."""
    after = after.with_thread(notice=before.thread.notice)
    return after, build_side_messages(before, after, cause)


def build_ephemeral(session: Session, cause: str, card: Card, *, to: str) -> Outgoing:
    """Return a card that only one person sees."""
    return replace(_build_message(session, f"{cause}:aside", f"aside:{cause}", card), ephemeral_to=to)


def _build_message(session: Session, message_id: str, slot: str, card: Card) -> Outgoing:
    return Outgoing(id=message_id, session_id=session.id, channel=session.channel, slot=slot, card=card)


def has_memory_news(before: Session, after: Session) -> bool:
    """Check whether background work changed something that the person has not seen."""
    return (replace(before.rules, recalled=None), before.thread.notice) != (
        replace(after.rules, recalled=None),
        after.thread.notice,
    )


def build_session(start: StartTimeboxing, earlier: Sequence[Session], *, calendar_write: CalendarWrite) -> Session:
    """Return the session that a start begins. ``earlier`` are the person's sessions, the most recently changed first.

    The person's last choice of when to write to the calendar takes precedence over ``calendar_write``.
    """
    tz, notices = _read_zone(start.tz)
    frame = next((usual_frame(s.day.frame) for s in earlier if s.day.frame.confirmed), FrameFacts())
    day = start.date or usual_day(start.at, tz, frame)
    if day < local_today(start.at, tz) and has_ended(day, tz, frame, start.at):
        notices += (_("{day} is over, so I took the next day to plan.", day=format_day(day)),)
        day = usual_day(start.at, tz, frame)
    if start.note:
        notices += (start.note,)
    if start.unread:
        notices += (_("You wrote: {words}", words=start.unread),)
    chosen = next(
        (s.options.calendar_write_chosen for s in earlier if s.options.calendar_write_chosen is not None), None
    )
    session = Session(
        id=format_session_id(start),
        user_id=start.user_id,
        channel=start.channel,
        thread_ts=start.thread_ts,
        created_at=start.at,
        touched_at=start.at,
        tz=tz,
        date=day,
        now=start.at,
        options=Options(mode=start.mode, calendar_write=chosen or calendar_write, calendar_write_chosen=chosen),
        day=DayInputs(inputs=InputFacts(tasks=start.inputs), frame=frame),
        rules=RuleState(allowed=_find_allowed(earlier, day)),
        thread=ThreadState(notice=Notice(lines=notices, unread=start.unread) if notices else None),
    )
    return session.with_open_work(offered=carry_over(session, earlier, now=start.at))


def _find_allowed(earlier: Sequence[Session], day: date) -> tuple[AllowedMeeting, ...]:
    """Return the meetings that the person allowed in another session of that day or a later one."""
    known = (each for session in earlier for each in session.rules.allowed if each.day >= day)
    return tuple(dict.fromkeys(known))


def _read_zone(name: str) -> tuple[str, tuple[str, ...]]:
    try:
        return zone(name).key, ()
    except ValueError:
        return "UTC", (_("I do not know the time zone “{name}” of your profile; please choose yours.", name=name[:60]),)


log = logging.getLogger(__name__)

IDLE = timedelta(hours=6)
"""Inactivity after which a session may be closed."""
LOOK_BACK = timedelta(days=35)
"""Inactivity after which a session is not checked any more."""


def is_abandoned(session: Session, now: datetime) -> bool:
    """Check whether a session can be closed: its plan is Okay or better, its day is over, and it is idle.

    Until its day is over, a plan can be refitted and undone in its thread, however long that is idle. Pure.
    """
    if session.status is not SessionStatus.ACTIVE or now - session.touched_at < IDLE or not is_over(session, now):
        return False
    return is_okay(session)


def is_over(session: Session | SessionHead, now: datetime) -> bool:
    """Check whether the day of a session is over where its person is. Pure."""
    return local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now


def close_session(session: Session, command: EndAbandoned) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the closed session and its messages, which update existing messages and post none. Pure."""
    after = (
        replace(session, status=SessionStatus.CANCELLED)
        .with_thread(history=None, preview=None, memory=None, notice=None, feedback=None)
        .after_command(command.command_id, session.touched_at)
    )
    after, messages = build_messages(session, after, command.command_id)
    return after, tuple(replace(message, stays=True) for message in messages)


class SessionCloser:
    """Enqueues one job on the lane of each abandoned session, in order with its other commands."""

    def __init__(self, sessions: Sessions, jobs: Jobs, clock: Clock) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._clock = clock

    async def run_once(self) -> bool:
        """Check sessions whose day may be over, each version once; return ``True`` if some are left over.

        Raises ``StoreError``.
        """
        now, checked = self._clock.now(), 0
        idle = HeadFilter(since=now - LOOK_BACK, until=now - IDLE, last=now.date() + timedelta(days=1), unjudged=True)
        async for head in iter_heads(self._sessions, idle):
            if not is_over(head, now):
                continue
            if checked == ROUND_SIZE:
                return True
            checked += 1
            session = await self._sessions.load(head.id)
            if session is not None and is_abandoned(session, now):
                command_id = f"left:{session.id}:{session.version}"
                command = EndAbandoned(command_id=command_id, session_id=session.id, at=now)
                await self._jobs.enqueue(build_command_job(command, key=session.id), now=now)
            await self._sessions.mark_judged(head)
        return False
