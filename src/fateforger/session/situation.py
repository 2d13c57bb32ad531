"""Labels of the parts of a session's day, for constraints that depend on them (S225)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime

from fateforger.calendar.event import EventImage
from fateforger.memory.record import ConstraintRecord, fold_label
from fateforger.memory.versions import Version
from fateforger.planning.plan import ET
from fateforger.planning.timing import zone
from fateforger.session.model import Session

LONGEST_LABEL = 3
"""Most words of a part of a title that counts as a label."""
MOST_NEAR = 3
"""Most constraints near to a message whose topics are those of the message."""
_SHORTEST_WORD = 3
"""Fewest letters of a single word of a title that counts; shorter ones name nothing."""


def situation_of(session: Session, versions: Iterable[Version]) -> tuple[str, ...]:
    """Return the labels of the day, kinds and titles; empty if no constraint depends on any.

    A title counts whole, and each run of up to three of its words. Blocks of an earlier plan of the day do not count.
    """
    if not any(version.record.aspect is not None and version.record.aspect.depends for version in versions):
        return ()
    events = list(_events(session))
    kinds = [ET.MEETING.value] if any(event.is_timed and event.busy for event in events) else []
    kinds += [task.details.kind.type.value for task in session.day.inputs.tasks]
    titles = [*(event.summary for event in events), *(task.title for task in session.day.inputs.tasks)]
    for block in () if session.planning.plan is None else session.planning.plan.events:
        kinds.append(block.type.value)
        titles.append(block.name)
    return tuple(dict.fromkeys((*kinds, *(label for title in titles for label in _labels(title)))))


def topics_of(session: Session, versions: Iterable[Version]) -> tuple[str, ...]:
    """Return the topics and parts of life of constraints that the day is about (S176).

    These are those that a title of the day names, and those that the last message was about.
    """
    known = {topic for version in versions for topic in _topics(version.record)}
    if not known:
        return ()
    titles = [*(event.summary for event in _events(session)), *(task.title for task in session.day.inputs.tasks)]
    named = {label for title in titles for label in _labels(title)}
    asked = () if session.rules.recalled is None else session.rules.recalled.topics
    return tuple(sorted(topic for topic in known if fold_label(topic) in named or topic in asked))


def topics_about(versions: Iterable[Version], near: Sequence[str]) -> tuple[str, ...]:
    """Return the topics of the constraints that the index finds nearest to a message, whatever its language."""
    nearest = near[:MOST_NEAR]
    return tuple(sorted({topic for version in versions if version.uid in nearest for topic in version.record.topics}))


def _topics(record: ConstraintRecord) -> tuple[str, ...]:
    category = None if record.aspect is None else record.aspect.category
    return record.topics if category is None else (*record.topics, category)


def _labels(title: str) -> Iterator[str]:
    words = fold_label(title.casefold()).split()
    yield " ".join(words)
    for length in range(1, LONGEST_LABEL + 1):
        for at in range(len(words) - length + 1):
            if length > 1 or len(words[at]) >= _SHORTEST_WORD:
                yield " ".join(words[at : at + length])


def _events(session: Session) -> Iterator[EventImage]:
    """Yield the person's own events of the day."""
    snapshot = session.day.snapshot
    for event in () if snapshot is None or snapshot.day != session.date else snapshot.events:
        marker = event.own_marker
        if not event.gone and (marker is None or marker.day != session.date) and _is_on_day(event, session):
            yield event


def _is_on_day(event: EventImage, session: Session) -> bool:
    start, end = _local_day(event.start, session.tz), _local_day(event.end, session.tz)
    if start is None or end is None:
        return False
    return start <= session.date < end or (event.is_timed and start <= session.date <= end)


def _local_day(moment: object, tz: str) -> date | None:
    if isinstance(moment, datetime):
        return moment.astimezone(zone(tz)).date()
    return moment if isinstance(moment, date) else None
