"""Translate what a draft left out or could not keep into the session's terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, time, timedelta

from fateforger.drafting import UnplacedItem
from fateforger.drafting.model import MustConflict, OptionKind, PlacementOption
from fateforger.drafting.naming import is_shutdown
from fateforger.errors import BadInput
from fateforger.session.frame import frame_span, whole_frame
from fateforger.session.model import Clash, Offer, Session, Unplaced
from fateforger.values import replace

ALWAYS = (Offer(way="defer"), Offer(way="drop"))
"""Options for any task."""


def to_unplaced(session: Session, left: Iterable[UnplacedItem]) -> tuple[Unplaced, ...]:
    """Return the items that a draft left out.

    A task can always wait or be dropped; lunch cannot, because it belongs to the frame. A missing shutdown is left to
    the quality findings.
    """
    tasks = {task.id for task in session.inputs.tasks}
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
    """Return the conflict of musts, if there is one."""
    return None if conflict is None else Clash(uids=conflict.ids, let_go=relaxed)


def options_for(session: Session, choices: Iterable[PlacementOption]) -> tuple[Offer, ...]:
    """Return the options for a task without room."""
    return (*ALWAYS, *_offers(session, choices))


def _offers(session: Session, choices: Iterable[PlacementOption]) -> Iterator[Offer]:
    for choice in choices:
        match choice.way:
            case OptionKind.SHRINK:
                yield Offer(way="shrink", minutes=choice.minutes)
            case OptionKind.SPLIT:
                yield Offer(way="split")
            case OptionKind.EXTEND if choice.minutes is not None:
                until = _until(session, choice.minutes)
                if until is not None:
                    yield Offer(way="extend", until=until)
            case OptionKind.RELAX:
                yield Offer(way="set_aside", uid=choice.rule)
            case _:
                pass


def _until(session: Session, minutes: int) -> time | None:
    """Return the end of a day that is longer by that much, or ``None`` if the frame cannot be."""
    start, end = whole_frame(session)
    later = (end.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(end.tzinfo)
    until = later.time().replace(tzinfo=None, fold=0)
    try:
        span = frame_span(session.date, session.tz, replace(session.frame, day_end=until))
    except BadInput:
        return None
    return until if span[1].astimezone(UTC) == later.astimezone(UTC) and span[0] == start else None
