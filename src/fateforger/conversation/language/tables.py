"""Tables that describe a session to a model, without ids, and the context of a message (S92, S108, S111).

Each table has a size limit and states how many rows were left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from datetime import date as Date  # noqa: N812  as in the commands

from pydantic import Field

from fateforger.conversation.language.model_calls import Row, Table
from fateforger.conversation.language.plan_ops import name_block
from fateforger.memory.applicability import Answer
from fateforger.memory.record import describe_days
from fateforger.memory.versions import Version
from fateforger.memory.violations import build_sections, describe_times
from fateforger.planning.plan import Resolved, resolve
from fateforger.planning.task_details import list_facts
from fateforger.planning.timing import zone
from fateforger.session.boxes import list_boxes, list_items
from fateforger.session.day import busy_meetings, local_today, on_calendar, visible_start
from fateforger.session.draft import grade_session
from fateforger.session.frame import frame_in_force, local_time, zone_changes
from fateforger.session.messages import RecentTalk
from fateforger.session.model import BlockPlan, Session
from fateforger.session.pending import PendingKind, PendingQuestion
from fateforger.session.undone import find_undone
from fateforger.tasks.durations import Estimate
from fateforger.tasks.task import QueuedTask
from fateforger.tasks.workflows import Workflows
from fateforger.text import format_weekday, shorten
from fateforger.values import Value

QUEUE_ROWS = 25
"""Tasks of the queue that a model is shown."""


class OpenPlan(Value):
    """A day that has a thread of its own."""

    session_id: str
    date: Date
    step: str


class WorkflowUse(Value):
    """A workflow that a new task can have, and when it applies."""

    name: str
    description: str
    applies_when: tuple[str, ...] = ()
    not_when: tuple[str, ...] = ()


class RuledWork(Value):
    """A task in hand that has rules: its steps by name, and the states that only the person knows, with their words."""

    task_id: str
    title: str
    steps: tuple[str, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()


def list_uses(workflows: Workflows) -> tuple[WorkflowUse, ...]:
    found = [workflow for name in workflows.names if (workflow := workflows.get(name)) is not None]
    return tuple(
        WorkflowUse(name=w.name, description=w.description, applies_when=w.applies_when, not_when=w.not_when)
        for w in found
    )


class OutsideContext(Value):
    """Context apart from the plan of a thread: the queue, its rules, how long tasks take, other plans, recent talk."""

    tasks: tuple[QueuedTask, ...] = ()
    workflows: tuple[WorkflowUse, ...] = Field(default_factory=lambda: list_uses(Workflows()))
    ruled: tuple[RuledWork, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    plans: tuple[OpenPlan, ...] = ()
    talk: RecentTalk | None = None
    focus: str | None = None
    """Id of the task that the person is going through in this thread (S217)."""

    @property
    def focus_number(self) -> int | None:
        """The row of that task in the queue."""
        return next((n for n, task in enumerate(self.tasks[:QUEUE_ROWS], 1) if task.id == self.focus), None)


MOST_MEETINGS = 40
MOST_TASKS = 60
MOST_BLOCKS = 60
MOST_FINDINGS = 12
LONGEST_TEXT = 160
"""Longest title or note, in characters."""
DAYS_AHEAD = 14


def day_facts(session: Session, now: datetime) -> Row:
    """Return the planned day, zone and today's date; also the time of day unless the planned day is in the future."""
    today = local_today(now, session.tz)
    facts = {
        "planned_day": f"{session.date.isoformat()} {format_weekday(session.date)}",
        "zone": _list_zones(session),
        "today": f"{today.isoformat()} {format_weekday(today)}",
    }
    if session.date > today:
        return facts
    return {**facts, **clock_facts(session, now)}


def _list_zones(session: Session) -> str:
    """Return the zone of the day, and those of the places to which the person travels on it."""
    changes = zone_changes(session)
    later = (f"{change.tz} from {change.at.astimezone(zone(change.tz)):%H:%M} on" for change in changes)
    return "; ".join((session.tz, *later))


def frame_facts(session: Session) -> Row:
    frame = frame_in_force(session)
    return {
        "day_start": f"{visible_start(session):%H:%M}",
        "day_end": f"{frame.day_end:%H:%M}",
        "lunch_start": "" if frame.lunch_start is None else f"{frame.lunch_start:%H:%M}",
        "lunch_minutes": frame.lunch_minutes if frame.lunch_start is not None else 0,
    }


def aim_facts(session: Session) -> tuple[tuple[str, Row], ...]:
    """Return what the day is for and its blocks of deep work; without them there are no facts."""
    inputs = session.day.inputs
    if not inputs.goals and inputs.blocks == BlockPlan():
        return ()
    row = {
        "goals": "; ".join(inputs.goals),
        "deep_blocks": inputs.blocks.deep_blocks or "",
        "block_minutes": inputs.blocks.minutes or "",
    }
    return (("aims", row),)


def list_upcoming_days(now: datetime, tz: str) -> Table:
    """Return the next days with their weekdays, so that a model need not count."""
    today = local_today(now, tz)
    days = [today + timedelta(days=n) for n in range(DAYS_AHEAD)]
    return "days", [{"date": d.isoformat(), "weekday": format_weekday(d)} for d in days], 0


def list_meetings(session: Session) -> Table:
    """Return the events that are on the calendar and cannot be moved."""
    timed = on_calendar(session).timed
    rows = [
        {
            "from": f"{local_time(session, m.start):%H:%M}",
            "to": f"{local_time(session, m.end):%H:%M}",
            "title": shorten(m.title, LONGEST_TEXT),
            "busy": "yes" if m.busy else "no",
        }
        for m in timed[:MOST_MEETINGS]
    ]
    return "meetings", rows, len(timed) - len(rows)


def list_taken(session: Session, fixed: Sequence[Resolved]) -> Table:
    """Return the times that no block of a draft may overlap: busy meetings and ``fixed`` blocks."""
    stands = [(m.start, m.end, m.title) for m in busy_meetings(session)]
    stands += [(block.start, block.end, block.event.name) for block in fixed]
    stands.sort(key=lambda each: each[0].astimezone(UTC))
    here = [(local_time(session, s), local_time(session, e), title) for s, e, title in stands[:MOST_MEETINGS]]
    rows = [{"from": f"{s:%H:%M}", "to": f"{e:%H:%M}", "title": shorten(title, LONGEST_TEXT)} for s, e, title in here]
    return "taken", rows, len(stands) - len(rows)


def list_tasks(session: Session) -> Table:
    """Return the tasks, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": shorten(task.title, LONGEST_TEXT),
            "minutes": "" if task.minutes is None else task.minutes,
            "depth": task.details.kind.value,
            "one_thing": "yes" if task.one_thing else "no",
            "details": "; ".join(list_facts(task.details)),
        }
        for number, task in enumerate(session.day.inputs.tasks[:MOST_TASKS], 1)
    ]
    return "tasks", rows, len(session.day.inputs.tasks) - len(rows)


def list_unplaced(session: Session) -> Table:
    """Return the tasks that did not fit, numbered from 1."""
    rows = [
        {"number": number, "title": shorten(each.title, LONGEST_TEXT), "why": shorten(each.reason, LONGEST_TEXT)}
        for number, each in enumerate(session.planning.unplaced, 1)
    ]
    return "open", rows, 0


def list_box_items(session: Session) -> Table:
    """Return the small tasks in boxes, numbered from 1."""
    titles = {task.id: task for task in list_boxes(session)}
    rows = [
        {
            "number": number,
            "title": shorten(titles[task_id].details.items[place].title, LONGEST_TEXT),
            "box": shorten(titles[task_id].title, LONGEST_TEXT),
            "done": "yes" if titles[task_id].details.items[place].done else "no",
        }
        for number, (task_id, place) in enumerate(list_items(session), 1)
    ]
    return "items", rows, 0


def clock_facts(session: Session, now: datetime) -> Row:
    """Return the person's local time."""
    return {"now": f"{now.astimezone(zone(session.tz)):%Y-%m-%d %H:%M}"}


def list_left_over(session: Session) -> Table:
    """Return the offered tasks of earlier days, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": shorten(each.task.title, LONGEST_TEXT),
            "minutes": "" if each.task.minutes is None else each.task.minutes,
            "of": each.day.isoformat(),
        }
        for number, each in enumerate(session.open_work.offered, 1)
    ]
    return "left_over", rows, 0


def list_blocks(session: Session) -> Table:
    """Return the blocks of the plan, by the names that ops use."""
    resolved = (
        sorted(resolve(session.planning.plan), key=lambda b: b.index) if session.planning.plan is not None else []
    )
    rows = [
        {
            "b": name_block(block.index),
            "title": shorten(block.event.name, LONGEST_TEXT),
            "type": block.event.type.value,
            "from": f"{local_time(session, block.start):%H:%M}",
            "to": f"{local_time(session, block.end):%H:%M}",
            "notes": shorten(block.event.description, 80),
        }
        for block in resolved[:MOST_BLOCKS]
    ]
    return "plan", rows, len(resolved) - len(rows)


def quality_facts(session: Session) -> Row:
    """Return the quality of the plan, and the next step to improve it."""
    quality = grade_session(session)
    if quality is None:
        return {"level": "", "next_step": ""}
    return {"level": f"{quality.level} of 4, {quality.label}", "next_step": shorten(quality.next_step, LONGEST_TEXT)}


def list_findings(session: Session) -> Table:
    """Return the findings that would improve the plan, the most important first."""
    quality = grade_session(session)
    found = () if quality is None else quality.findings
    rows = [
        {"for_level": finding.level, "finding": shorten(finding.text, LONGEST_TEXT)}
        for finding in found[:MOST_FINDINGS]
    ]
    return "findings", rows, len(found) - len(rows)


def list_history(session: Session) -> Table:
    """Return the writes in view, numbered from 1, newest first."""
    rows = () if session.thread.history is None else session.thread.history.rows
    listed = [
        {
            "number": number,
            "at": f"{row.at.astimezone(zone(session.tz)):%H:%M}",
            "what": row.title,
            "said": shorten(row.said or "; ".join(row.named), LONGEST_TEXT),
            "state": row.state,
            "possible": f"{row.button}_write" if row.button else "",
        }
        for number, row in enumerate(rows, 1)
    ]
    return "history", listed, 0 if session.thread.history is None else session.thread.history.total - len(rows)


def list_pending(waiting: Sequence[PendingQuestion]) -> Table:
    """Return the questions and offers of the card, numbered from 1, with the effect of a yes and a no."""
    rows = [
        {
            "number": number,
            "kind": question.kind.value,
            "question": shorten(question.sentence, 400),
            "yes": _if_yes(question),
            "no": shorten(question.no.label, LONGEST_TEXT) if question.no is not None else "nothing changes",
        }
        for number, question in enumerate(waiting, 1)
    ]
    return "pending", rows, 0


def _if_yes(question: PendingQuestion) -> str:
    if question.yes is not None:
        return shorten(question.yes.label, LONGEST_TEXT)
    if question.which:
        return f"one of: {' / '.join(shorten(option.label, LONGEST_TEXT) for option in question.which)}"
    words = {PendingKind.WORDS, PendingKind.SAID, PendingKind.QUEUE}
    return "what it asks" if question.kind in words else "has to be said one by one"


def exchange_facts(session: Session) -> tuple[tuple[str, Row], ...]:
    """Return the bot's last words, and its last change of the plan; without them there are no facts."""
    last, steps = session.thread.last_words, session.sync.refine_undo
    undone = find_undone(session)
    facts: list[tuple[str, Row]] = []
    if last is not None:
        facts.append(("last_words", {"you": shorten(last.bot, 400)}))
    if steps:
        facts.append(("last_change", {"what": shorten(steps[-1].sentence, 400)}))
    if undone is not None:
        facts.append(("undone_change", {"what": shorten(undone.step.sentence, 400)}))
    return tuple(facts)


def list_exchanges(session: Session) -> tuple[Table, ...]:
    """Return what was said last, the oldest first; without it there is no table."""
    rows = [{"person": each.person, "you": each.bot} for each in session.thread.exchanges]
    return (("said", rows, 0),) if rows else ()


MOST_CONSIDERED = 30
LONGEST_CONSIDERED = 6_000
"""Limit on the characters of all reminders to consider. Those that must be followed are never cut."""


def list_reminders(answer: Answer, *, left_out: int = 0) -> tuple[Table, ...]:
    """Return the constraints in the person's own words, with the day they were stated (S92, S174, S195, S196).

    They are numbered through both tables; without constraints there are no tables. ``left_out`` is the number of
    constraints that the answer does not hold.
    """
    told = build_sections(answer)
    if not (told.must_follow or told.consider):
        return ()
    must = [{"number": number, **reminder.row} for number, reminder in enumerate(told.must_follow, 1)]
    consider: list[Row] = []
    room = LONGEST_CONSIDERED
    for number, reminder in enumerate(told.consider[:MOST_CONSIDERED], len(must) + 1):
        words = shorten(reminder.words, LONGEST_TEXT)
        room -= len(words)
        if room < 0:
            break
        consider.append({"number": number, **reminder.row, "words": words})
    more = len(told.consider) - len(consider) + told.left_out + left_out
    return ("must_follow", must, 0), ("consider", consider, more)


def list_statements(versions: Sequence[Version]) -> Table:
    """Return constraints in the person's words, numbered from 1, with their days and times."""
    rows = [
        {
            "number": number,
            "words": shorten(version.record.words, LONGEST_TEXT),
            "days": describe_days(version.record),
            "times": describe_times(version.record),
        }
        for number, version in enumerate(versions, 1)
    ]
    return "earlier", rows, 0


def list_constraints(versions: Sequence[Version], answer: Answer) -> Table:
    """Return the constraints that a message may refer to, numbered from 1; ``applies`` marks those in force."""
    followed = {item.uid for item in answer.applicable}
    rows = [
        {
            "number": number,
            "name": shorten(version.record.name, 80),
            "words": shorten(version.record.words, LONGEST_TEXT),
            "said": version.created_at.astimezone(zone(answer.context.timezone)).date().isoformat(),
            "necessity": version.record.necessity.value,
            "status": "put away" if version.retired else version.record.status.value,
            "applies": "yes" if version.uid in followed else "no",
        }
        for number, version in enumerate(versions, 1)
    ]
    return "memory", rows, 0
