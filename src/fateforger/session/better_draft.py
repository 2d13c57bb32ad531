"""Better draft that replaces the first plan of a session while the person reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fateforger.drafting.day_draft import LongSearch
from fateforger.drafting.model import Draft
from fateforger.planning.block_times import is_lunch
from fateforger.planning.plan import Resolved, TBPlan, resolve
from fateforger.session.draft import day_of, draft_constraints, is_current, room_words, with_own_draft
from fateforger.session.model import Session, SessionStatus
from fateforger.session.overview import overview
from fateforger.session.stages import TimeboxingStage
from fateforger.session.zones import local_time
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title

_MOST_NAMED = 3


def awaits_better_draft(session: Session) -> bool:
    """Check whether the session shows a first plan that a better one may replace."""
    return (
        session.planning.rough
        and session.status is SessionStatus.ACTIVE
        and session.stage is TimeboxingStage.SKELETON
        and is_current(session, session.planning.draft_basis)
    )


def search_again(session: Session, stop: Callable[[], bool] | None = None) -> LongSearch | None:
    """Return a longer search for the session's plan, unless that is not what a short search found any more.

    ``stop`` is polled to end it early, and whatever follows from it.
    """
    plan = session.planning.plan
    return None if plan is None else day_of(session).search_again(draft_constraints(session), plan, stop)


def apply_better_draft(session: Session, draft: Draft | None) -> Session:
    """Return the session with a better draft for its first plan, and what changed; ``None`` keeps the plan.

    If only the options for what did not fit are others, they are replaced without a word.
    """
    over = session.planning.plan
    session = session.with_planning(rough=False)
    if draft is None or over is None:
        return session
    better = with_own_draft(session, draft)
    if draft.plan == over:
        return better
    better = better.say(_describe_order(session, over, draft.plan), *room_words(over, better))
    return better.with_planning(overview=overview(better))


def _describe_order(session: Session, over: TBPlan, plan: TBPlan) -> str:
    """Name the blocks that begin at another time than in the plan before, lunch first."""
    was = {block.key: block.start for block in resolve(over)}
    moved = [block for block in resolve(plan) if was.get(block.key, block.start) != block.start]
    if not moved:
        return _("A better order was found.")
    named = join_words(_name_starts(session, sorted(moved, key=lambda b: (not _is_lunch(b), b.start))), _MOST_NAMED)
    return _("A better order was found: {named}.", named=named)


def _name_starts(session: Session, moved: list[Resolved]) -> Iterator[str]:
    for number, block in enumerate(moved):
        title = _("lunch") if _is_lunch(block) else quote_title(block.event.name)
        if number == 0:
            yield _("{title} is at {start:%H:%M} now", title=title, start=local_time(session, block.start))
        else:
            yield _("{title} at {start:%H:%M}", title=title, start=local_time(session, block.start))


def _is_lunch(block: Resolved) -> bool:
    return is_lunch(block.key)
