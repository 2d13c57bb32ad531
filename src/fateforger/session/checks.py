"""Checks of the current plan: rules that it breaks, and rules and meetings that arrived after it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from fateforger.calendar.engine import build_desired_day
from fateforger.calendar.event import EventImage
from fateforger.calendar.matching import link_events, match_same_events
from fateforger.calendar.model import DesiredBlock
from fateforger.drafting.instance import Frame, Immovable, Instance, Told
from fateforger.drafting.model import find_violations
from fateforger.errors import BadInput, PlanInvalid
from fateforger.limits import MAX_INSTANCE_EVENTS, MAX_TITLE_CHARS
from fateforger.memory.applicability import Applicable
from fateforger.memory.contradiction import find_day_clashes
from fateforger.memory.violations import (
    ConstraintViolation,
    build_reminder,
    find_block_violations,
    find_order_violations,
    find_unlike_blocks,
    is_checkable,
    needs_confirmation,
)
from fateforger.memory.vocabulary import Necessity, RuleKind, Source
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan, resolve
from fateforger.planning.task_details import task_of
from fateforger.planning.timing import FixedWindow
from fateforger.session.commands.base import mint_key
from fateforger.session.day import Meeting, busy_meetings, day_window, has_passed, own_key, whole_frame
from fateforger.session.memory import AllowedMeeting, MemoryQuestion
from fateforger.session.model import CheckedInputs, Session
from fateforger.session.recall import constraints_for_draft, followed_constraints, musts
from fateforger.session.rulebook import rules_in_force
from fateforger.session.stages import TimeboxingStage
from fateforger.text import gettext as _
from fateforger.text import join_sentences, join_words, quote_title
from fateforger.values import replace
from fateforger.workflow.day_conformance import DayBlock


def day_meetings(session: Session) -> tuple[DayBlock, ...]:
    """Return the meetings of the day, as such rules see them."""
    return tuple(DayBlock(ET.MEETING, m.title, m.start, m.end) for m in busy_meetings(session) if m.start < m.end)


def broken_day_rules(session: Session) -> tuple[ConstraintViolation, ...]:
    """Return the rules that the current plan breaks, in order of precedence.

    A plan without times breaks none.
    """
    if session.planning.plan is None:
        return ()
    try:
        return find_order_violations(
            followed_constraints(session).applicable, session.planning.plan, day_meetings(session)
        )
    except PlanInvalid:
        return ()


def unconfirmed_rules(session: Session) -> tuple[Applicable, ...]:
    """Return the rules extracted from the person's words that they still have to confirm."""
    items = followed_constraints(session).applicable
    return tuple(item for item in items if item.record.payload.day_rule is not None and needs_confirmation(item.record))


def rule_clashes(session: Session) -> tuple[MemoryQuestion, ...]:
    """Return the rules of the day that conflict with each other, as questions."""
    in_order = sorted(
        (item.version for item in followed_constraints(session).applicable), key=lambda v: (v.updated_at, v.seq)
    )
    names = {version.uid: version.record.name for version in in_order}
    return tuple(
        MemoryQuestion(uids=(newer, older), names=(names[newer], names[older]), sentence=finding.sentence)
        for finding in find_day_clashes(in_order)
        for newer, older in [finding.uids[:2]]
    )


@dataclass(frozen=True, slots=True)
class MeetingViolation:
    """A constraint in force, and the meetings of the calendar that break it."""

    item: Applicable
    meetings: tuple[Meeting, ...]

    @property
    def token(self) -> str:
        """A token that changes with the meetings."""
        return mint_key("m", *(meeting.id for meeting in self.meetings))

    def allow_on(self, day: date) -> tuple[AllowedMeeting, ...]:
        """Return the meetings as allowed on that day."""
        return tuple(
            AllowedMeeting(rule=self.item.uid, meeting=meeting.id, title=meeting.title, day=day)
            for meeting in self.meetings
        )


MOST_VIOLATIONS = 2
"""Most constraints that the card names at once because of meetings."""


def named_violations(session: Session) -> tuple[MeetingViolation, ...]:
    """Return the constraints that the card names with the meetings that break them.

    It does while the day is planned; a committed plan has settled it.
    """
    if session.stage in {TimeboxingStage.DATE, TimeboxingStage.REVIEW_COMMIT}:
        return ()
    return _find_meeting_violations(session)[:MOST_VIOLATIONS]


def settle_named(before: Session, after: Session) -> Session:
    """Return the session after a command; meetings that an earlier card named are not named by that of another step."""
    if before.stage is after.stage:
        return after
    named = (each for breach in named_violations(before) for each in breach.allow_on(before.date))
    return after.with_rules(allowed=tuple(dict.fromkeys((*after.rules.allowed, *named))))


def _find_meeting_violations(session: Session) -> tuple[MeetingViolation, ...]:
    """Return the constraints that meetings of the day break, in order of precedence.

    Meetings that are over, or that the person allowed, are left out. Rules over the order of the day have a check of
    their own (:func:`broken_day_rules`).
    """
    meetings = {meeting.id: meeting for meeting in busy_meetings(session) if not has_passed(session, meeting)}
    allowed = {(each.rule, each.meeting) for each in session.rules.allowed if each.day == session.date}
    found = find_block_violations(
        rules_in_force(session, at_any_stage=True).applicable,
        [_as_block(place, meeting) for place, meeting in enumerate(meetings.values())],
    )
    left = (
        (breach.item, tuple(meetings[key] for key in breach.keys if (breach.item.uid, key) not in allowed))
        for breach in found
    )
    return tuple(MeetingViolation(item, against) for item, against in left if against)


def _as_block(place: int, meeting: Meeting) -> Resolved:
    """Return a meeting in the form in which constraints are checked."""
    window = FixedWindow(start=meeting.start, end=meeting.end)
    event = TBEvent(name=meeting.title[:MAX_TITLE_CHARS], type=ET.MEETING, timing=window)
    return Resolved(place, meeting.id, event, meeting.start, meeting.end)


MOST_RULES = 200
"""Most constraints that are passed to the engine at once."""


def new_violations(
    session: Session, before: TBPlan, after: TBPlan, necessity: Necessity
) -> tuple[ConstraintViolation, ...]:
    """Return the constraints of one necessity that a change breaks at new places."""
    items = [item for item in followed_constraints(session, after).applicable if item.record.necessity is necessity]
    known = {breach.item.uid: breach for breach in broken_constraints(session, items, before)}
    found = (
        (breach, _new_places(breach, known.get(breach.item.uid)))
        for breach in broken_constraints(session, items, after)
    )
    return tuple(
        replace(breach, keys=tuple(sorted(set(breach.keys) & fresh))) for breach, fresh in found if fresh is not None
    )


def broken_musts(session: Session) -> tuple[ConstraintViolation, ...]:
    """Return the musts in force that the session's plan breaks, even if it broke them when they were stated.

    Raises ``PlanInvalid`` when the blocks cannot be resolved to instants.
    """
    if session.planning.plan is None:
        return ()
    return tuple(breach for breach in broken_constraints(session, musts(session), session.planning.plan) if breach.keys)


@dataclass(frozen=True, slots=True)
class OpenMust:
    """A must of which only the person can tell whether the plan keeps it.

    It is in words only, or ``blocks`` that the person put into its time are said to be of another kind.
    """

    item: Applicable
    blocks: tuple[Resolved, ...] = ()

    @property
    def key(self) -> str:
        """The rule and its version, as a session records the answer."""
        return _rule(self.item)


def open_musts(session: Session) -> tuple[OpenMust, ...]:
    """Return the musts in force that the person has to judge on this plan, without those they said it keeps (K9).

    Raises ``PlanInvalid`` when the blocks cannot be resolved to instants.
    """
    plan = session.planning.plan
    if plan is None or not plan.events:
        return ()
    put = [block for block in resolve(plan) if _is_put_there(session, block)]
    found = (
        OpenMust(item, find_unlike_blocks(item, put))
        for item in musts(session)
        if _rule(item) not in session.rules.kept
    )
    return tuple(each for each in found if each.blocks or not is_checkable(each.item.record))


def _is_put_there(session: Session, block: Resolved) -> bool:
    """Check whether the person chose the time of a block, and not a draft."""
    task = next((t for t in session.day.inputs.tasks if task_of(block.key, (t.id,)) is not None), None)
    placed = any(block.key in step.placed for step in session.sync.refine_undo)
    return placed or (task is not None and task.details.at is not None)


def broken_constraints(session: Session, items: Sequence[Applicable], plan: TBPlan) -> tuple[ConstraintViolation, ...]:
    """Return the constraints that a plan breaks, each once."""
    blocks = resolve(plan)
    found = {breach.item.uid: breach for breach in find_block_violations(items, blocks)}
    by_uid = {item.uid: item for item in items if item.record.payload.day_rule is None}
    for each in find_violations(day_with(session, list(by_uid.values())), blocks) if by_uid else ():
        item = by_uid[each.rule]
        keys = (*(found[item.uid].keys if item.uid in found else ()), *each.keys)
        found[item.uid] = ConstraintViolation(item, tuple(dict.fromkeys(keys)))
    order = {item.uid: place for place, item in enumerate(items)}
    ordered = sorted(found.values(), key=lambda breach: order[breach.item.uid])
    return (*ordered, *find_order_violations(items, plan, day_meetings(session)))


def day_with(session: Session, items: Sequence[Applicable]) -> Instance:
    """Return the session's day with its meetings and these constraints, without tasks.

    The frame is the whole day while the session's own is invalid.
    """
    try:
        start, end = whole_frame(session)
    except BadInput:
        start, end = day_window(session.date, session.tz)
    meetings = [m for m in busy_meetings(session) if m.start < m.end][:MAX_INSTANCE_EVENTS]
    return Instance(
        date=session.date,
        tz=session.tz,
        frame=Frame(start=start, end=end),
        immovables=tuple(
            Immovable(id=f"meeting-{n}", title=m.title[:300], start=m.start, end=m.end)
            for n, m in enumerate(meetings, 1)
        ),
        constraints=tuple(
            Told(uid=item.uid, constraint_record=item.record, said_on=build_reminder(item).said_on)
            for item in items[:MOST_RULES]
        ),
    )


def _new_places(now: ConstraintViolation, before: ConstraintViolation | None) -> set[str] | None:
    """Return the places where a constraint is newly broken, or ``None``."""
    if before is None:
        return set(now.places)
    payload = now.item.record.payload
    if payload.rule_kind is RuleKind.CAPACITY and payload.scalar_params.duration_min is not None:
        return None  # there was too little of it before: another block of it makes nothing worse
    return set(now.places - before.places) or None


MOST_NAMED = 3
Match = Callable[[Sequence[DesiredBlock], Sequence[EventImage]], Mapping[str, EventImage]]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Rules and meetings that are new to the plan."""

    rules: tuple[Applicable, ...] = ()
    meetings: tuple[Meeting, ...] = ()

    @property
    def sentences(self) -> str:
        """Say what is new: ``You told me: “Nothing before 11”.`` Empty when nothing is."""
        parts: list[str] = []
        if self.rules:
            told = all(item.record.source is Source.USER for item in self.rules)
            names = join_words((quote_title(item.record.name) for item in self.rules), MOST_NAMED)
            parts.append(
                _("You told me: {names}.", names=names)
                if told
                else _("You have a rule about it: {names}.", names=names)
            )
        if self.meetings:
            meetings = (quote_title(_words(meeting)) for meeting in self.meetings)
            parts.append(_("This is on your calendar now: {meetings}.", meetings=join_words(meetings, MOST_NAMED)))
        return join_sentences(*parts)


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
    if session.planning.weighed is None:
        return Arrivals()
    rules, meetings = set(session.planning.weighed.rules), set(session.planning.weighed.meetings)
    return Arrivals(
        tuple(item for item in _rules(session) if _rule(item) not in rules),
        tuple(meeting for meeting in busy_meetings(session) if _meeting(meeting) not in meetings),
    )


def explain_redraft(session: Session) -> str:
    """Return why the session's draft is outdated, in a sentence or two."""
    if news := find_arrivals(session).sentences:
        return news
    was, now = session.planning.weighed or CheckedInputs(), current_inputs(session)
    if set(was.rules) - set(now.rules):
        return _("Your rules have changed.")
    if set(was.meetings) - set(now.meetings):
        return _("Your calendar has changed.")
    return _("What it was made from has changed.")


def overlaps_with(session: Session, meetings: Iterable[Meeting]) -> tuple[tuple[Resolved, Meeting], ...]:
    """Return each block of the plan with each of the meetings that it overlaps.

    The person's own event for the same thing as a block does not count. Raises ``PlanInvalid``.
    """
    there = tuple(meetings)
    if session.planning.plan is None or not there:
        return ()
    blocks = [block for block in resolve(session.planning.plan) if block.event.type is not ET.BACKGROUND]
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
    if not session.planning.overrun:
        return ()
    there = overlaps_with(session, busy_meetings(session))
    unwritten = _events_for_blocks(session, link_events) if there else {}
    asked = ((block, meeting) for block, meeting in there if block.key not in unwritten)
    return tuple(
        (block, meeting) for block, meeting in asked if overrun_key(block, meeting) in session.planning.overrun
    )


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
    if session.planning.plan is None or session.day.snapshot is None:
        return {}
    events = [event for event in session.day.snapshot.events if not event.gone and event.is_timed]
    written = {key for event in events if (key := own_key(event, session.date)) is not None}
    blocks = [b for b in build_desired_day(session.planning.plan, overlapping=True).blocks if b.key not in written]
    foreign = [event for event in events if own_key(event, session.date) is None]
    return {key: event.id for key, event in match(blocks, foreign).items()}


def _words(meeting: Meeting) -> str:
    return f"{meeting.title}, {meeting.start:%H:%M}–{meeting.end:%H:%M}"
