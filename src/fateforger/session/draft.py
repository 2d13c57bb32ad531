"""Drafts of a session's day: input for the drafting engine, its result in the session's terms, and fixes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from datetime import UTC, datetime, time, timedelta
from itertools import islice

from fateforger.drafting.day_draft import FIRST_STEPS, Day, LunchWish, Work
from fateforger.drafting.instance import Immovable, Instance, Policy, Told
from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.model import Draft, MustConflict, PlacementOption, UnplacedItem
from fateforger.drafting.solver import STEPS, refit_plan
from fateforger.errors import BadInput
from fateforger.limits import MAX_INSTANCE_EVENTS
from fateforger.memory.violations import build_reminder
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBPlan, resolve
from fateforger.planning.task_details import TaskDetails, is_shutdown, keys_before, start_from, task_of
from fateforger.planning.timing import Busy, instant_of, zone
from fateforger.quality.fixes import find_fixes
from fateforger.quality.model import Criterion, Finding, Fix, Quality
from fateforger.quality.rubric import grade_plan
from fateforger.session.day import (
    busy_meetings,
    frame_mistake,
    frame_of,
    is_left,
    is_under_way,
    lunch_date,
    lunch_start,
    now_before,
    span_of,
    usual_frame,
    whole_frame,
)
from fateforger.session.frame import frame_in_force, home_clock, local_time, zone_changes
from fateforger.session.model import (
    BlockPlan,
    Clash,
    FrameFacts,
    Offer,
    Session,
    SessionStatus,
    Sketch,
    Task,
    Unplaced,
)
from fateforger.session.recall import constraints_for_draft
from fateforger.session.stages import TimeboxingStage
from fateforger.session.tasks import block_notes, planned_minutes
from fateforger.text import format_length, mark_message
from fateforger.text import gettext as _
from fateforger.values import replace

ALWAYS = (Offer(way="defer"), Offer(way="drop"))
"""Options for any task."""


def to_unplaced(session: Session, left: Iterable[UnplacedItem]) -> tuple[Unplaced, ...]:
    """Return the items that a draft left out.

    A task can always wait or be dropped; lunch cannot, because it belongs to the frame. A missing shutdown is left to
    the quality findings.
    """
    tasks = {task.id for task in session.day.inputs.tasks}
    return tuple(
        Unplaced(
            task_id=each.id,
            title=each.title,
            reason=each.reason,
            offers=options_for(session, each.choices) if each.id in tasks else (),
        )
        for each in left
        if not is_shutdown(each.id)
    )


def with_offers(unplaced: Iterable[Unplaced], known: Iterable[Unplaced]) -> tuple[Unplaced, ...]:
    """Return another draft's unplaced items, with the options that our own draft found for the same tasks."""
    offers = {each.task_id: each.offers for each in known}
    return tuple(replace(u, offers=offers.get(u.task_id, u.offers)) for u in unplaced)


def clash_of(conflict: MustConflict | None, relaxed: tuple[str, ...]) -> Clash | None:
    return None if conflict is None else Clash(uids=conflict.ids, let_go=relaxed)


def options_for(session: Session, choices: Iterable[PlacementOption]) -> tuple[Offer, ...]:
    """Return the options for a task without room."""
    return (*ALWAYS, *_offers(session, choices))


def _offers(session: Session, choices: Iterable[PlacementOption]) -> Iterator[Offer]:
    for choice in choices:
        match choice.way:
            case "shrink":
                yield Offer(way="shrink", minutes=choice.minutes, cost=choice.cost)
            case "split":
                yield Offer(way="split", cost=choice.cost)
            case "extend" if choice.minutes is not None:
                until = _until(session, choice.minutes)
                if until is not None:
                    yield Offer(way="extend", until=until, cost=choice.cost)
            case "relax":
                yield Offer(way="set_aside", uid=choice.rule, cost=choice.cost)
            case "fill":
                yield Offer(way="fill", cost=choice.cost)
            case _:
                pass


def _until(session: Session, minutes: int) -> time | None:
    """Return the end of a day that is longer by that much, or ``None`` if the frame cannot be."""
    start, end = whole_frame(session)
    later = (end.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(end.tzinfo)
    until = local_time(session, later).time().replace(tzinfo=None, fold=0)
    try:
        span = span_of(session, replace(frame_in_force(session), day_end=until))
    except BadInput:
        return None
    return until if span[1].astimezone(UTC) == later.astimezone(UTC) and span[0] == start else None


def day_of(session: Session) -> Day:
    """Return all inputs of a draft, with the part of the frame that is left (K11).

    Raises ``BadInput`` when the frame is a mistake, or over.
    """
    start, end = frame_of(session)
    lunch_at = lunch_start(session)
    lunch = None if lunch_at is None else _lunch(session, lunch_at)
    if lunch is not None and is_left(session, lunch.key):
        lunch = None  # the person keeps it where they moved it
    return Day(
        date=session.date,
        tz=session.tz,
        start=start,
        end=end,
        busy=tuple(Busy(m.start, m.end, title=m.title) for m in busy_meetings(session)),
        lunch=lunch,
        works=tuple(work_of(session, t) for t in session.day.inputs.tasks),
        next_start=usual_frame(frame_in_force(session)).day_start if is_under_way(session) else None,
        now=now_before(session, start),
        done=_begun_titles(session, start),
        fills=session.day.frame.fills,
        deep_blocks=session.day.inputs.blocks.deep_blocks,
        longest_focus=session.day.inputs.blocks.minutes,
    )


def _begun_titles(session: Session, now: datetime) -> tuple[str, ...]:
    """Return the titles of the blocks that began before now."""
    if session.planning.plan is None or not is_under_way(session):
        return ()
    blocks = resolve(session.planning.plan)
    return tuple(b.event.name for b in blocks if b.start.astimezone(UTC) < now.astimezone(UTC))


def policy_of(session: Session) -> Policy:
    """Return the policy of a session's day for drafting, refitting, and grading (K10).

    Once the plan is on the calendar, the one thing is not asked for any more, because it may be done by then. Raises
    ``BadInput`` as :func:`day_of`.
    """
    policy = day_of(session).policy
    if session.sync.written is None or any(task.one_thing for task in session.day.inputs.tasks):
        return policy
    return replace(policy, one_thing_early=False)


def draft_constraints(session: Session) -> tuple[Told, ...]:
    """Return the constraints that a draft follows, for the engine: all that apply, musts first."""
    items = sorted(
        constraints_for_draft(session).applicable, key=lambda item: item.record.necessity is not Necessity.MUST
    )
    return tuple(
        Told(uid=item.uid, constraint_record=item.record, said_on=build_reminder(item).said_on) for item in items
    )


def own_draft(session: Session, *, steps: int = STEPS, trial_steps: int | None = STEPS) -> Draft:
    """Return the engine's draft of the session's day; ``trial_steps`` as in :meth:`Day.draft`."""
    return day_of(session).draft(draft_constraints(session), steps=steps, trial_steps=trial_steps)


def instance_in(session: Session) -> Instance:
    """Return the session's day as an instance, with meetings by name and constraints that can be kept.

    A plan is graded by the same policy that it was drafted by (K10).

    Raises ``BadInput`` when the frame is a mistake, or over.
    """
    gone = () if session.planning.clash is None else session.planning.clash.let_go
    instance = day_of(session).instance(tuple(each for each in draft_constraints(session) if each.id not in gone))
    meetings = islice((m for m in busy_meetings(session) if m.start < m.end), MAX_INSTANCE_EVENTS)
    events = tuple(
        Immovable(id=f"meeting-{n}", title=m.title[:300], start=m.start, end=m.end) for n, m in enumerate(meetings, 1)
    )
    return replace(instance, immovables=events, policy=policy_of(session), pinned=())


def basis_of(session: Session) -> str | None:
    """Return the fingerprint of a draft's inputs (S46, S232), or ``None`` when nothing can be drafted.

    These are date, zone, frame, lunch, tasks, busy time, and the constraints that it follows, including those of this
    conversation. The passing of time makes no draft stale. Nothing can be drafted once the session ended, or while
    its frame is a mistake.
    """
    return None if session.status is SessionStatus.CANCELLED else _fingerprint(session)


def is_current(session: Session, basis: str | None) -> bool:
    """Check whether a draft with this basis was made from what the session holds now."""
    return bool(basis) and basis == basis_of(session)


def carry_basis(before: Session, after: Session) -> Session:
    """Return ``after`` with its drafts as current as they were before, though their inputs have changed."""
    was, now = _fingerprint(before), _fingerprint(after)
    if was is None or now is None:
        return after
    if before.planning.draft_basis == was:
        after = after.with_planning(draft_basis=now)
    sketch = after.planning.sketch
    return after if sketch is None or sketch.basis != was else after.with_planning(sketch=replace(sketch, basis=now))


def _fingerprint(session: Session) -> str | None:
    try:
        start, end = whole_frame(session)
    except BadInput:
        return None
    frame = frame_in_force(session)
    lunch = None
    if frame.lunch_start is not None and frame.lunch_minutes:
        at = instant_of(datetime.combine(lunch_date(session), frame.lunch_start), zone(session.tz))
        lunch = astuple(_lunch(session, at))
    busy = [(m.start, m.end) for m in busy_meetings(session)]
    works = [astuple(work_of(session, task)) for task in session.day.inputs.tasks]
    inputs = session.day.inputs
    parts: list[object] = [session.date, session.tz, start, end, busy, lunch, works]
    # Left out where there are none: drafts were fingerprinted without them.
    parts += [(inputs.goals, inputs.blocks.model_dump())] if (inputs.goals or inputs.blocks != BlockPlan()) else []
    made_from = json.dumps(parts, default=str)
    rules = "".join(sorted(item.record.model_dump_json() for item in constraints_for_draft(session).applicable))
    return hashlib.sha1(f"{made_from}{rules}".encode(), usedforsecurity=False).hexdigest()


def draft_day(session: Session, sketch: Sketch | None = None) -> Session:
    """Return the session with a fresh draft as its plan: a model's, if there is one, else the engine's.

    A model's draft that was made earlier is moved to begin now.
    """
    session = session.with_planning(drafted_at=session.now, put_in_past=())
    if sketch is None or sketch.plan is None:
        quick = session.planning.quick
        steps = FIRST_STEPS if quick and session.planning.plan is None else STEPS
        # The background tries the options again with more steps, if it looks for a better draft.
        result = own_draft(session, steps=steps, trial_steps=TRIAL_STEPS if quick else STEPS)
        fresh = with_own_draft(session, result).with_planning(rough=quick)
    else:
        session = session.with_planning(rough=False)
        plan, left = _start_now(session, sketch.plan)
        unplaced = (*sketch.unplaced, *to_unplaced(session, left))
        fresh = session.with_planning(plan=plan, unplaced=with_offers(unplaced, session.planning.unplaced))
    return fresh.with_planning(draft_basis=basis_of(session))


def with_own_draft(session: Session, result: Draft) -> Session:
    """Return the session with a draft of the engine as its plan."""
    return session.with_planning(
        plan=result.plan,
        unplaced=to_unplaced(session, result.unplaced),
        clash=clash_of(result.conflict, result.relaxed),
    )


def _start_now(session: Session, plan: TBPlan) -> tuple[TBPlan, tuple[UnplacedItem, ...]]:
    """Return an earlier draft with its past part moved, and the items that lost their place."""
    now = session.now
    late = () if now is None else keys_before(plan, now)
    if now is None or not late:
        return plan, ()
    plan = start_from(plan, late, now)
    result = refit_plan(plan, instance_in(session).from_now(plan, now))
    return result.plan, result.unplaced


def wants_sketch(session: Session) -> bool:
    """Check whether to draft in advance (S44).

    That is so while the person lists tasks, the calendar is known, and neither a draft nor the plan has the same
    inputs.
    """
    if session.stage is not TimeboxingStage.CAPTURE_INPUTS or not session.day.inputs.tasks:
        return False
    if frame_mistake(session) is not None or basis_of(session) is None:
        return False
    if session.day.snapshot is None or session.day.snapshot.day != session.date:
        return False
    planning = session.planning
    planned = planning.plan is not None and is_current(session, planning.draft_basis)
    return not planned and (planning.sketch is None or not is_current(session, planning.sketch.basis))


def without_stale_sketch(session: Session) -> Session:
    """Return the session without a draft whose inputs have changed (S46, S232)."""
    if session.planning.sketch is None or is_current(session, session.planning.sketch.basis):
        return session
    return session.with_planning(sketch=None)


def grade_session(session: Session) -> Quality | None:
    """Return the quality of the current plan, or ``None`` if there is nothing to grade."""
    plan = _plan_to_grade(session)
    return None if plan is None else grade_plan(instance_in(session), plan, unplaced_items(session))


_OF_A_DONE_PLAN = frozenset({Criterion.AFTER_DEEP, Criterion.MEAL})
_NOT_ASKED = frozenset({Criterion.WORK, Criterion.MUST, Criterion.MEETING})
_OKAY = 2


def find_unfinished(session: Session) -> tuple[Finding, ...]:
    """Return what keeps the plan from being done: the one thing is late, a break is missing, or it is not Okay (S208).

    Musts and meetings have questions of their own, and a day without work is a choice.
    """
    quality = grade_session(session)
    found = () if quality is None else quality.findings
    wanted = (each for each in found if each.level <= _OKAY or each.criterion in _OF_A_DONE_PLAN)
    return tuple(each for each in wanted if each.criterion not in _NOT_ASKED)


def _plan_to_grade(session: Session) -> TBPlan | None:
    """Return the plan, unless its frame is a mistake, or nothing is left of it since it moved to another day."""
    plan = session.planning.plan
    if plan is None or frame_mistake(session) is not None:
        return None
    moved = not plan.events and any(each.plan for each in session.open_work.sent)
    return None if moved else plan


def unplaced_items(session: Session) -> tuple[UnplacedItem, ...]:
    """Return the tasks that found no place when the day was drafted."""
    return tuple(UnplacedItem(each.task_id, each.title, each.reason) for each in session.planning.unplaced)


def _lunch(session: Session, start: datetime) -> LunchWish:
    return LunchWish(f"lunch-{session.date.isoformat()}", start, frame_in_force(session).lunch_minutes)


def work_of(session: Session, task: Task) -> Work:
    """Return a task as work for the drafting engine. Where its minutes are open, the usual ones of its kind count."""
    return Work(
        task.id,
        task.title,
        planned_minutes(session, task),
        _in_home_clock(session, task.details),
        task.one_thing,
        block_notes(task),
    )


def _in_home_clock(session: Session, details: TaskDetails) -> TaskDetails:
    """Return the details with their times of this day in the session's zone, in which a day is drafted."""
    if not zone_changes(session):
        return details
    today = {None, session.date}
    due, earliest = details.due_time, details.from_time
    return replace(
        details,
        at=None if details.at is None else home_clock(session, details.at),
        due_time=home_clock(session, due) if due is not None and details.due_day in today else due,
        from_time=home_clock(session, earliest) if earliest is not None and details.from_day in today else earliest,
    )


def option_words(before: Session, after: Session) -> tuple[str, ...]:
    """Describe how an option changed the inputs of a draft.

    The text is for cards that show only the draft, and is the same for buttons and words. Deferred work is mentioned
    where it is kept.
    """
    tasks = {task.id: task for task in before.day.inputs.tasks}
    stay = {task.id for task in (*after.day.inputs.tasks, *after.open_work.deferred)}
    return (
        *_frame_words(frame_in_force(before), frame_in_force(after)),
        *(line for task in after.day.inputs.tasks if task.id in tasks for line in _task_words(tasks[task.id], task)),
        *(_("“{title}” is off your list.", title=task.title) for task in tasks.values() if task.id not in stay),
        *describe_one_thing(before, after),
    )


def describe_one_thing(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence that names the task that became the one thing, if one did."""
    was = {task.id for task in before.day.inputs.tasks if task.one_thing}
    return tuple(
        _("“{title}” is now the one thing that matters.", title=task.title)
        for task in after.day.inputs.tasks
        if task.one_thing and task.id not in was
    )


def _frame_words(before: FrameFacts, after: FrameFacts) -> Iterator[str]:
    if after.day_start != before.day_start:
        yield _("Your day starts at {clock} now.", clock=f"{after.day_start:%H:%M}")
    if after.day_end != before.day_end:
        yield _("Your day ends at {clock} now.", clock=f"{after.day_end:%H:%M}")


def _task_words(before: Task, after: Task) -> Iterator[str]:
    if after.minutes is not None and after.minutes != before.minutes:
        yield _("“{title}” takes {minutes} now.", title=after.title, minutes=format_length(after.minutes))
    if after.details.splittable and not before.details.splittable:
        yield _("“{title}” may be done in pieces now.", title=after.title)


def room_words(over: TBPlan, session: Session) -> tuple[str, ...]:
    """Name the tasks that gained or lost a place compared with the plan before."""
    tasks = {task.id: task.title for task in session.day.inputs.tasks}
    was, now = _placed_tasks(over, tasks), _placed_tasks(session.planning.plan, tasks)
    return (
        *(
            _("“{title}” has a place now.", title=title)
            for task, title in tasks.items()
            if task in now and task not in was
        ),
        *(
            _("“{title}” has no place any more.", title=title)
            for task, title in tasks.items()
            if task in was and task not in now
        ),
    )


def _placed_tasks(plan: TBPlan | None, tasks: Iterable[str]) -> set[str]:
    found = (task_of(block.block_key, tasks) for block in (() if plan is None else plan.events))
    return {task for task in found if task is not None}


STALE_FIX = mark_message(
    "That suggestion was for the plan as it was before, so I changed nothing."
    " What would help now is on the newest card."
)
_ALL_FIXES = 20


def with_fixes(session: Session, at: datetime) -> Session:
    """Return the session with the fixes that its card offers, tested on the current plan.

    Blocks that began before the instant ``at`` stay.
    """
    refining = session.status is SessionStatus.ACTIVE and session.stage is TimeboxingStage.REFINE
    plan = _plan_to_grade(session) if refining else None
    if plan is None:
        return session.with_planning(fixes=())
    return session.with_planning(fixes=find_fixes(_from_now(session, at), plan, unplaced_items(session)))


def pick_fix(session: Session, fix: str, at: datetime) -> Patch:
    """Return the patch of an offered fix, if it still helps the current plan and calendar.

    Raises ``BadInput`` otherwise; nothing is changed.
    """
    offered: tuple[Fix, ...] = ()
    plan = _plan_to_grade(session)
    if plan is not None:
        offered = find_fixes(_from_now(session, at), plan, unplaced_items(session), most=_ALL_FIXES)
    patch = next((each.patch for each in offered if each.id == fix), None)
    if patch is None:
        raise BadInput(_(STALE_FIX))
    return patch


def _from_now(session: Session, at: datetime) -> Instance:
    return replace(instance_in(session), now=at)
