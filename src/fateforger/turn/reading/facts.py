"""What a model gets to see of a session: short tables, never an id (S92, S108, S111). Each table has its budget, and
says what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from fateforger.plan import Resolved, resolve, zone
from fateforger.session.days import local_today, weekday
from fateforger.session.frame import shown_start
from fateforger.session.meetings import busy_meetings, on_calendar
from fateforger.session.model import LastWords, Session
from fateforger.session.pending import PendingKind, PendingQuestion

MOST_MEETINGS = 40
MOST_TASKS = 60
MOST_BLOCKS = 60
MOST_FINDINGS = 12
LONGEST_TEXT = 160
"""Characters of one title or note."""
DAYS_AHEAD = 14

Row = Mapping[str, object]
Table = tuple[str, Sequence[Row], int]
"""Its name, its rows, and how many more there are that are not shown."""


def cut(text: str, limit: int = LONGEST_TEXT) -> str:
    """One line of at most that many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def day_facts(session: Session, now: datetime) -> Row:
    """Which day, which zone, what day it is; and what time it is, when the planned day is that day or is under way."""
    today = local_today(now, session.tz)
    facts = {
        "planned_day": f"{session.date.isoformat()} {weekday(session.date)}",
        "zone": session.tz,
        "today": f"{today.isoformat()} {weekday(today)}",
    }
    if session.date > today:
        return facts
    return {**facts, **clock(session, now)}


def frame_facts(session: Session) -> Row:
    """The frame of the day as it stands."""
    frame = session.frame
    return {
        "day_start": f"{shown_start(session):%H:%M}",
        "day_end": f"{frame.day_end:%H:%M}",
        "lunch_start": "" if frame.lunch_start is None else f"{frame.lunch_start:%H:%M}",
        "lunch_minutes": frame.lunch_minutes if frame.lunch_start is not None else 0,
    }


def upcoming(now: datetime, tz: str) -> Table:
    """The days from today on, so that a model need not count weekdays."""
    today = local_today(now, tz)
    days = [today + timedelta(days=n) for n in range(DAYS_AHEAD)]
    return "days", [{"date": d.isoformat(), "weekday": weekday(d)} for d in days], 0


def meetings(session: Session) -> Table:
    """What is on the calendar already and cannot be moved."""
    timed = on_calendar(session).timed
    rows = [
        {"from": f"{m.start:%H:%M}", "to": f"{m.end:%H:%M}", "title": cut(m.title), "busy": "yes" if m.busy else "no"}
        for m in timed[:MOST_MEETINGS]
    ]
    return "meetings", rows, len(timed) - len(rows)


def taken(session: Session, fixed: Sequence[Resolved]) -> Table:
    """What no block of a draft may overlap: busy meetings, and what is ``fixed`` besides."""
    stands = [(m.start, m.end, m.title) for m in busy_meetings(session)]
    stands += [(block.start, block.end, block.event.name) for block in fixed]
    stands.sort(key=lambda each: each[0].astimezone(UTC))
    rows = [{"from": f"{s:%H:%M}", "to": f"{e:%H:%M}", "title": cut(title)} for s, e, title in stands[:MOST_MEETINGS]]
    return "taken", rows, len(stands) - len(rows)


def tasks(session: Session) -> Table:
    """What is to be done, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": cut(task.title),
            "minutes": "" if task.minutes is None else task.minutes,
            "depth": task.depth.value,
            "one_thing": "yes" if task.one_thing else "no",
        }
        for number, task in enumerate(session.inputs.tasks[:MOST_TASKS], 1)
    ]
    return "tasks", rows, len(session.inputs.tasks) - len(rows)


def no_room(session: Session) -> Table:
    """What found no place in the plan, numbered from 1."""
    rows = [
        {"number": number, "title": cut(each.title), "why": cut(each.reason)}
        for number, each in enumerate(session.unplaced, 1)
    ]
    return "open", rows, 0


def clock(session: Session, now: datetime) -> Row:
    """What time it is for the person."""
    return {"now": f"{now.astimezone(zone(session.tz)):%Y-%m-%d %H:%M}"}


def left_over(session: Session) -> Table:
    """What earlier days left open and could be done on this one, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": cut(each.task.title),
            "minutes": "" if each.task.minutes is None else each.task.minutes,
            "of": each.day.isoformat(),
        }
        for number, each in enumerate(session.offered, 1)
    ]
    return "left_over", rows, 0


def blocks(session: Session) -> Table:
    """The plan as it is, by the positions that a patch names, from 0."""
    resolved = sorted(resolve(session.plan), key=lambda b: b.index) if session.plan is not None else []
    rows = [
        {
            "i": block.index,
            "n": cut(block.event.name),
            "t": block.event.type.value,
            "from": f"{block.start:%H:%M}",
            "to": f"{block.end:%H:%M}",
            "d": cut(block.event.description, 80),
        }
        for block in resolved[:MOST_BLOCKS]
    ]
    return "plan", rows, len(resolved) - len(rows)


def quality_facts(session: Session) -> Row:
    """How good the plan is, and what lifts it."""
    quality = session.quality
    if quality is None:
        return {"level": "", "next_step": ""}
    return {"level": f"{quality.level} of 4, {quality.label}", "next_step": cut(quality.next_step)}


def findings(session: Session) -> Table:
    """What would make the plan better, the most important first."""
    found = () if session.quality is None else session.quality.findings
    rows = [{"for_level": finding.level, "finding": cut(finding.text)} for finding in found[:MOST_FINDINGS]]
    return "findings", rows, len(found) - len(rows)


def history(session: Session) -> Table:
    """The writes that the person has in view, numbered from 1, the newest first."""
    rows = () if session.history is None else session.history.rows
    listed = [
        {
            "number": number,
            "at": f"{row.at.astimezone(zone(session.tz)):%H:%M}",
            "what": row.title,
            "said": cut(row.said or "; ".join(row.named)),
            "state": row.state,
            "possible": f"{row.button}_write" if row.button else "",
        }
        for number, row in enumerate(rows, 1)
    ]
    return "history", listed, 0 if session.history is None else session.history.total - len(rows)


def pending(waiting: Sequence[PendingQuestion]) -> Table:
    """What the card asks and offers, numbered from 1, with what a yes and a no do."""
    rows = [
        {
            "number": number,
            "kind": question.kind.value,
            "question": cut(question.sentence, 400),
            "yes": _if_yes(question),
            "no": cut(question.no.label) if question.no is not None else "nothing changes",
        }
        for number, question in enumerate(waiting, 1)
    ]
    return "pending", rows, 0


def _if_yes(question: PendingQuestion) -> str:
    if question.yes is not None:
        return cut(question.yes.label)
    if question.which:
        return f"one of: {' / '.join(cut(option.label) for option in question.which)}"
    return "what it asks" if question.kind in {PendingKind.WORDS, PendingKind.SAID} else "has to be said one by one"


def last_words(words: LastWords) -> Row:
    """What the person was told or asked last."""
    return {"you": cut(words.bot, 400)}
