"""Days drafted elsewhere, accepted if they keep the rules of our own drafts (S106, S121)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from fateforger.drafting.day_draft import PIECE, Day, Work
from fateforger.drafting.instance import Told
from fateforger.drafting.model import Block, Draft, UnplacedItem
from fateforger.errors import BadInput
from fateforger.limits import MAX_MINUTES, MAX_OWN_BLOCKS, MAX_TITLE_CHARS
from fateforger.planning.grid import Busy, Stretch, busy_stretches, gaps, in_words, minute_of, on_grid
from fateforger.planning.plan import ET, TBEvent, TBPlan, resolve
from fateforger.planning.timing import zone
from fateforger.values import replace

OWN = frozenset({ET.REGENERATION, ET.BUFFER, ET.PLAN_REVIEW})
"""Types that a proposer may add: breaks, buffers, and reviews, but never work."""
MOST_SAID = 6
"""Most mistakes reported at once."""


@dataclass(frozen=True, slots=True)
class ProposedBlock:
    """A proposed block.

    ``work`` is a number in ``day.works``, from 1. It is ``None`` for the proposer's own block, which has a title, a
    type, and a ``key`` for the block. ``start`` is an aware instant.
    """

    work: int | None
    title: str
    type: ET
    start: datetime
    minutes: int
    key: str

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=self.minutes)


def accept_proposal(day: Day, proposed: Sequence[ProposedBlock], told: Sequence[Told] = ()) -> Draft:
    """Return the proposal as a draft, with lunch as in our own drafts and everything left out.

    Raises ``BadInput`` with the mistakes, addressed to the proposer.
    """
    proposed = [replace(p, start=p.start.astimezone(UTC)) if _has_valid_length(p) else p for p in proposed]
    _refuse(_check_shape(day, proposed))
    proposed.sort(key=lambda p: p.start)
    bare = day.draft_lunch(told)
    lunch = [Busy(b.start, b.end) for b in resolve(bare.plan)]
    _refuse((*_check_places(day, proposed, lunch), *_check_counts(day, proposed)))
    fixed = busy_stretches((*day.busy, *lunch))
    rest = busy_stretches((*day.busy, *lunch, *(Busy(p.start, p.end) for p in proposed)))
    _refuse((*_check_one_thing(day, proposed, fixed), *_check_missing(day, proposed, rest)))
    events = sorted((*_blocks_with_start(bare.plan), *_blocks(day, proposed)), key=lambda e: e[0])
    plan = TBPlan(date=day.date, tz=day.tz, events=tuple(event for _, event in events))
    return Draft(plan, (*bare.unplaced, *_explain_missing(day, proposed, fixed, rest)))


def _refuse(mistakes: Iterable[str]) -> None:
    told = tuple(mistakes)
    if told:
        more = len(told) - MOST_SAID
        raise BadInput(" ".join((*told[:MOST_SAID], *((f"And {more} more mistakes.",) if more > 0 else ()))))


# --- one block ---


def _has_valid_length(block: ProposedBlock) -> bool:
    return 1 <= block.minutes <= MAX_MINUTES


def _check_shape(day: Day, proposed: Sequence[ProposedBlock]) -> Iterator[str]:
    for number, each in enumerate(proposed, 1):
        if not _has_valid_length(each):
            yield f"Block {number} has {each.minutes} minutes; a block has 1 to {MAX_MINUTES}."
        if each.work is not None and not 1 <= each.work <= len(day.works):
            yield f"Block {number}: there is no task {each.work}."
        if each.work is None and not each.title:
            yield f"Block {number} has neither a task nor a title."
        if each.work is None and each.type not in OWN:
            yield f"Block {number} is no task of the list; what you add yourself is of type R, BU or PR."
    own = sum(each.work is None for each in proposed)
    if own > MAX_OWN_BLOCKS:
        yield f"There are {own} blocks of your own; {MAX_OWN_BLOCKS} are the most."


def _check_places(day: Day, proposed: Sequence[ProposedBlock], lunch: Sequence[Busy]) -> Iterator[str]:
    """Report blocks that collide or leave the day; ``proposed`` is in time order."""
    start, end = day.start.astimezone(UTC), day.end.astimezone(UTC)
    for each in proposed:
        if each.start < start or each.end > end:
            yield f"{_describe_block(day, each)} leaves the day, which is {_span(day, start, end)}."
        for what, taken in (("a meeting", day.busy), ("lunch", lunch)):
            hit = next((b for b in taken if _overlap(each, b)), None)
            if hit is not None:
                yield f"{_describe_block(day, each)} runs into {what}, {_span(day, hit.start, hit.end)}."
    for earlier, later in pairwise(proposed):
        if later.start < earlier.end:
            yield f"{_describe_block(day, later)} begins before {_describe_block(day, earlier)} has ended."


def _overlap(each: ProposedBlock, busy: Busy) -> bool:
    start, end = busy.start.astimezone(UTC), busy.end.astimezone(UTC)
    return start < end and start < each.end and each.start < end


# --- the list ---


def _check_counts(day: Day, proposed: Sequence[ProposedBlock]) -> Iterator[str]:
    """Report a task whose blocks do not add up.

    Each task comes once, or in pieces of sufficient length, with exactly its time.
    """
    for number, work in enumerate(day.works, 1):
        pieces = [p.minutes for p in proposed if p.work == number]
        if len(pieces) > 1 and (not work.is_splittable or on_grid(min(pieces)) < PIECE):
            yield f"Task {number} is there {len(pieces)} times; once is enough."
        elif pieces and work.minutes is not None and sum(pieces) != work.minutes:
            yield f"Task {number} takes {work.minutes} minutes, and you gave it {sum(pieces)}."


def _check_one_thing(day: Day, proposed: Sequence[ProposedBlock], fixed: Sequence[Stretch]) -> Iterator[str]:
    """Report the one thing if it is missing or late although meetings leave room."""
    number, work = next(((n, w) for n, w in enumerate(day.works, 1) if w.first), (0, None))
    if work is None:
        return
    middle = day.middle
    start = next((p.start for p in proposed if p.work == number), None)
    fitting = [gap for gap in gaps(day.frame, fixed) if gap.minutes >= work.length]
    early = any(gap.start <= minute_of(middle) for gap in fitting)
    if start is None and fitting:
        yield f"Task {number} is the one thing that matters; give it a place first."
    elif start is not None and start >= middle and early:
        yield f"Task {number} is the one thing that matters; start it before {_clock(day, middle)}."


def _check_missing(day: Day, proposed: Sequence[ProposedBlock], rest: Sequence[Stretch]) -> Iterator[str]:
    """Report a task that would fit, with its pauses, and still leave the time that should stay free."""
    room = _longest_gap(day, rest)
    free = sum(gap.minutes for gap in gaps(day.frame, rest))
    kept = 0 if day.policy.slack_percent is None else day.frame.minutes * day.policy.slack_percent // 100
    for number, work in _missing_works(day, proposed):
        if work.length <= min(room - 2 * day.policy.after_deep, free - kept):
            yield f"Task {number} is missing, and there is room for its {in_words(work.length)}."


def _explain_missing(
    day: Day, proposed: Sequence[ProposedBlock], fixed: Sequence[Stretch], rest: Sequence[Stretch]
) -> Iterator[UnplacedItem]:
    for _, work in _missing_works(day, proposed):
        longest, left = _longest_gap(day, fixed), _longest_gap(day, rest)
        frame = day.frame.minutes
        yield UnplacedItem.of_work(work.id, work.title, work.length, frame=frame, longest=longest, left=left)


def _missing_works(day: Day, proposed: Sequence[ProposedBlock]) -> Iterator[tuple[int, Work]]:
    placed = {p.work for p in proposed}
    return ((number, work) for number, work in enumerate(day.works, 1) if number not in placed)


def _longest_gap(day: Day, taken: Sequence[Stretch]) -> int:
    return max((gap.minutes for gap in gaps(day.frame, taken)), default=0)


# --- as blocks ---


def _blocks_with_start(plan: TBPlan) -> list[tuple[datetime, TBEvent]]:
    return [(b.start.astimezone(UTC), b.event) for b in resolve(plan)]


def _blocks(day: Day, proposed: Sequence[ProposedBlock]) -> Iterator[tuple[datetime, TBEvent]]:
    pieces, seen = Counter(each.work for each in proposed), Counter[int]()
    for each in proposed:
        if each.work is None:
            block, notes = Block(each.key, each.key, each.title, each.type, each.start, each.minutes), ""
        else:
            seen[each.work] += 1
            work = day.works[each.work - 1]
            block, notes = _work_block(work, each, seen[each.work], pieces[each.work]), work.notes
        yield each.start, block.to_event(day.date, day.tz, notes)


def _work_block(work: Work, each: ProposedBlock, number: int, of: int) -> Block:
    """Return the block of a piece of work; its number is in its title when there are several."""
    part = f" ({number}/{of})"
    key = work.id if number == 1 else f"{work.id}-{number}"
    title = work.title if of == 1 else f"{work.title[: MAX_TITLE_CHARS - len(part)]}{part}"
    return Block(work.id, key, title, work.details.kind.type, each.start, each.minutes)


def _describe_block(day: Day, each: ProposedBlock) -> str:
    what = f"“{each.title}”" if each.work is None else f"Task {each.work}"
    return f"{what} ({_span(day, each.start, each.end)})"


def _span(day: Day, start: datetime, end: datetime) -> str:
    return f"{_clock(day, start)}–{_clock(day, end)}"


def _clock(day: Day, moment: datetime) -> str:
    return f"{moment.astimezone(zone(day.tz)):%H:%M}"
