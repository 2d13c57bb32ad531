"""Find rules and meetings that arrived after the plan was made and that it was not checked against.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fateforger.constraints import Applicable
from fateforger.constraints.kinds import Source
from fateforger.constraints.wording import join_words, quote_name
from fateforger.plan import ET, Resolved, resolve
from fateforger.session.meetings import Meeting, busy_meetings, own_key
from fateforger.session.model import CheckedInputs, Session
from fateforger.session.recall import constraints_for_draft, musts
from fateforger.sync import build_desired_day
from fateforger.sync.canonical import is_timed
from fateforger.sync.foreign import link_events, match_same_events
from fateforger.sync.model import DesiredBlock, EventImage

MOST_NAMED = 3
Match = Callable[[Sequence[DesiredBlock], Sequence[EventImage]], Mapping[str, EventImage]]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rules and meetings that are new to the plan."""

    rules: tuple[Applicable, ...] = ()
    meetings: tuple[Meeting, ...] = ()

    @property
    def because(self) -> str:
        """End of a sentence: ``, because you told me: “Nothing before 11”``.

        Empty when nothing is new.
        """
        parts: list[str] = []
        if self.rules:
            told = all(item.record.source is Source.USER for item in self.rules)
            names = _list_names(item.record.name for item in self.rules)
            parts.append(f"you told me: {names}" if told else f"you have a rule about it: {names}")
        if self.meetings:
            parts.append(f"this is on your calendar now: {_list_names(_words(meeting) for meeting in self.meetings)}")
        return f", because {', and because '.join(parts)}" if parts else ""


def current_inputs(session: Session) -> CheckedInputs:
    """Return all rules and meetings that a plan of the session has to follow."""
    return CheckedInputs(
        rules=tuple(_rule(item) for item in _rules(session)),
        meetings=tuple(_meeting(meeting) for meeting in busy_meetings(session)),
    )


def find_arrivals(session: Session) -> Arrivals:
    """Return the arrivals that the session's plan was not checked against.

    The result is empty when it is unknown what the plan was checked against.
    """
    if session.weighed is None:
        return Arrivals()
    rules, meetings = set(session.weighed.rules), set(session.weighed.meetings)
    return Arrivals(
        tuple(item for item in _rules(session) if _rule(item) not in rules),
        tuple(meeting for meeting in busy_meetings(session) if _meeting(meeting) not in meetings),
    )


def explain_redraft(session: Session) -> str:
    """Return why the session's draft is outdated, as the end of a sentence."""
    if because := find_arrivals(session).because:
        return because
    was, now = session.weighed or CheckedInputs(), current_inputs(session)
    if set(was.rules) - set(now.rules):
        return ", because your rules have changed"
    if set(was.meetings) - set(now.meetings):
        return ", because your calendar has changed"
    return ", because what it was made from has changed"


def overlaps_with(session: Session, meetings: Iterable[Meeting]) -> tuple[tuple[Resolved, Meeting], ...]:
    """Return each block of the plan with each of the meetings that it overlaps.

    The person's own event for the same thing as a block does not count. Raises ``PlanInvalid``.
    """
    there = tuple(meetings)
    if session.plan is None or not there:
        return ()
    blocks = [block for block in resolve(session.plan) if block.event.type is not ET.BACKGROUND]
    found = [(block, meeting) for block in blocks for meeting in there if _overlap(block, meeting)]
    same = _events_for_blocks(session, match_same_events) if found else {}
    return tuple((block, meeting) for block, meeting in found if same.get(block.key) != meeting.id)


def overrun_key(block: Resolved, meeting: Meeting) -> str:
    """Return the key under which a session records a double booking."""
    return f"{block.key} {meeting.id}"


def double_bookings(session: Session) -> tuple[tuple[Resolved, Meeting], ...]:
    """Return the blocks that still overlap a meeting added later, unless the person accepted that.

    A block whose time a meeting takes up is left out, because it is not written (S79).
    """
    if not session.overrun:
        return ()
    there = overlaps_with(session, busy_meetings(session))
    unwritten = _events_for_blocks(session, link_events) if there else {}
    asked = ((block, meeting) for block, meeting in there if block.key not in unwritten)
    return tuple((block, meeting) for block, meeting in asked if overrun_key(block, meeting) in session.overrun)


def can_still_move(block: Resolved, at: datetime) -> bool:
    """Check whether a block can still be moved at that instant."""
    return block.start.astimezone(UTC) >= at.astimezone(UTC)


def _rules(session: Session) -> tuple[Applicable, ...]:
    """Return the rules that a draft follows, and every must in force at the current step."""
    found = {item.uid: item for item in (*constraints_for_draft(session).applicable, *musts(session))}
    return tuple(found.values())


def _rule(item: Applicable) -> str:
    return f"{item.uid} {item.version.updated_at.isoformat()}"


def _meeting(meeting: Meeting) -> str:
    return f"{meeting.id} {meeting.start.astimezone(UTC).isoformat()} {meeting.end.astimezone(UTC).isoformat()}"


def _overlap(block: Resolved, meeting: Meeting) -> bool:
    start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
    return meeting.start.astimezone(UTC) < end and start < meeting.end.astimezone(UTC)


def _events_for_blocks(session: Session, match: Match) -> Mapping[str, str]:
    """Return the ids of the foreign events that ``match`` finds for blocks not yet on the calendar, by key."""
    if session.plan is None or session.snapshot is None:
        return {}
    events = [event for event in session.snapshot.events if not event.gone and is_timed(event)]
    written = {key for event in events if (key := own_key(event, session.date)) is not None}
    blocks = [b for b in build_desired_day(session.plan, overlapping=True).blocks if b.key not in written]
    foreign = [event for event in events if own_key(event, session.date) is None]
    return {key: event.id for key, event in match(blocks, foreign).items()}


def _words(meeting: Meeting) -> str:
    return f"{meeting.title}, {meeting.start:%H:%M}–{meeting.end:%H:%M}"


def _list_names(names: Iterable[str]) -> str:
    shown = [quote_name(name) for name in names]
    more = len(shown) - MOST_NAMED
    return join_words([*shown[:MOST_NAMED], f"{more} more"] if more > 0 else shown)
