"""Stage 0: day and time zone (S39)."""

from __future__ import annotations

from datetime import timedelta

from fateforger.errors import BadInput
from fateforger.plan import zone
from fateforger.session.commands import ChooseDate
from fateforger.session.days import day_words, local_today
from fateforger.session.frame import has_ended
from fateforger.session.model import Session
from fateforger.stages import Move
from fateforger.turn.model import ReadCalendar, StageInput, StageOutput
from fateforger.turn.nodes.facts import apply_day_facts
from fateforger.values import replace

FARTHEST = timedelta(days=366)


def run(stage: StageInput) -> StageOutput:
    """Change the day or zone, apply what the person says about the day, or go on.

    Each choice starts reading that day in the background.
    """
    session = stage.session
    if stage.asked is Move.PROCEED:
        return StageOutput(session=session, move=Move.PROCEED)
    after = apply_day_facts(session, stage.command)
    if after is not None:
        return StageOutput(session=after)
    if isinstance(stage.command, ChooseDate):
        session = choose_date(session, stage.command)
    return StageOutput(session=session, effects=(ReadCalendar(day=session.date, tz=session.tz, wait=False),))


def choose_date(session: Session, command: ChooseDate) -> Session:
    """Move the session to another day or zone. Tasks and frame stay; everything else of the old day is dropped.

    Raises :class:`BadInput`.
    """
    try:
        tz = session.tz if command.tz is None else zone(command.tz).key
    except ValueError as error:
        raise BadInput(f"{error}.") from None
    day = command.date or session.date
    if (day, tz) == (session.date, session.tz):
        return session
    if session.written is not None:
        raise BadInput(
            f"Blocks for {day_words(session.date)} are on your calendar. Undo them in Refine first, or start another"
            " session for the other day."
        )
    today = local_today(command.at, tz)
    if day < today and has_ended(day, tz, session.frame, command.at):
        raise BadInput(f"{day_words(day)} is over; choose today or a later day.")
    if day > today + FARTHEST:
        raise BadInput(f"{day_words(day)} {day.year} is more than a year away; choose a nearer day.")
    return replace(
        session,
        date=day,
        tz=tz,
        snapshot=None,
        snapshot_error=None,
        plan=None,
        unplaced=(),
        draft_basis=None,
        drafted_at=None,
        put_in_past=(),
        sketch=None,
        overview=None,
        quality=None,
        refine_undo=(),
        last_sync=None,
        problem=None,
        questions=(),
    )
