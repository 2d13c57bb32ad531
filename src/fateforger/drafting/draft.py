"""A day from its meetings, frame, lunch and tasks: deterministic, nothing overlaps, nothing is left out unsaid.

Meetings stay where they are (S121). The one thing comes first and early, then deep work, then shallow work, each in the
order of priority. Work without minutes gets a usual length, so that a day without any numbers still plans (S106).
"""

from __future__ import annotations

from fateforger.drafting.blocks import block, work_block
from fateforger.drafting.free import Stretch, blocked, frame_of, gaps
from fateforger.drafting.lunch import LUNCH, lunch_stretch, wants_lunch
from fateforger.drafting.minutes import in_words, instant
from fateforger.drafting.model import Day, Draft, Left, Work
from fateforger.drafting.place import Board, on_grid, place
from fateforger.plan import ET, TBEvent, TBPlan

USUAL_DEEP = 60
USUAL_SHALLOW = 30


def draft(day: Day) -> Draft:
    """Place what fits and name what does not. The order of ``day.busy`` does not matter."""
    frame = frame_of(day)
    board = Board(frame, list(blocked(day.busy)))
    blocks: list[tuple[Stretch, TBEvent]] = []
    unplaced: list[Left] = []
    if day.lunch is not None and wants_lunch(frame, day.lunch):
        lunch = lunch_stretch(board, day.lunch)
        if lunch is None:
            unplaced.append(Left(day.lunch.key, LUNCH, "meetings leave no 20 minutes free around that time"))
        else:
            board.taken.append(lunch)
            start = instant(lunch.start)
            event = block(day, start, lunch.minutes, key=day.lunch.key, name=LUNCH, kind=ET.REGENERATION)
            blocks.append((lunch, event))
    longest = max((g.minutes for g in gaps(frame, board.taken)), default=0)
    for work in in_order(day.works):
        pieces = place(board, on_grid(length(work)), deep=work.deep)
        if pieces:
            blocks.extend(zip(pieces, _events(day, work, pieces), strict=True))
        else:
            unplaced.append(Left(work.id, work.title, why_left(length(work), frame.minutes, longest, board.room())))
    blocks.sort(key=lambda b: b[0])
    return Draft(TBPlan(date=day.date, tz=day.tz, events=tuple(e for _, e in blocks)), tuple(unplaced))


def in_order(works: tuple[Work, ...]) -> list[Work]:
    """The one thing, then deep work, then the rest; otherwise as given."""
    return sorted(works, key=lambda w: (not w.first, not w.deep))


def length(work: Work) -> int:
    """Minutes, or the usual ones when they were left open."""
    return work.minutes or (USUAL_DEEP if work.deep else USUAL_SHALLOW)


def _events(day: Day, work: Work, pieces: tuple[Stretch, ...]) -> list[TBEvent]:
    over = sum(p.minutes for p in pieces) - length(work)
    return [
        work_block(
            day,
            instant(piece.start),
            piece.minutes - (over if number == len(pieces) else 0),
            work,
            number=number,
            of=len(pieces),
        )
        for number, piece in enumerate(pieces, start=1)
    ]


def why_left(minutes: int, frame: int, longest: int, left: int) -> str:
    """Why work of that length found no place: the whole frame, its longest free stretch before any work was placed, and
    the longest one that is left, in minutes."""
    if minutes > frame:
        return f"it needs {in_words(minutes)}, and the whole day has {in_words(frame)}"
    if minutes > longest:
        return f"it needs {in_words(minutes)}, and the longest free stretch of the day is {in_words(longest)}"
    if left == 0:
        return "the day is full"
    return f"it needs {in_words(minutes)}, and the longest stretch still free is {in_words(left)}"
