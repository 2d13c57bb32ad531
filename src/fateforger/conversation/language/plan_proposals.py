"""Patches, drafts of a day and parts of a goal, proposed by a model and checked by code (S70-S72, S93, S120, S168).

A proposed day is accepted if it keeps the rules of our own drafts (S106, S121).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from fateforger.conversation.language.answers import BlockWords, DraftWords, PatchWords
from fateforger.conversation.language.model_calls import ModelQuestion, Table, ask, prompt_for
from fateforger.conversation.language.plan_ops import read_plan_change
from fateforger.conversation.language.tables import (
    aim_facts,
    day_facts,
    exchange_facts,
    frame_facts,
    list_blocks,
    list_exchanges,
    list_findings,
    list_meetings,
    list_reminders,
    list_taken,
    list_tasks,
    list_upcoming_days,
    quality_facts,
)
from fateforger.drafting.day_draft import PIECE, Day, Work
from fateforger.drafting.instance import Told
from fateforger.drafting.left_out import TRIAL_STEPS
from fateforger.drafting.model import Block, Draft, UnplacedItem, find_violations
from fateforger.drafting.solver import BlockMove, RevisedPlan, repair_plan
from fateforger.errors import BadInput, InternalError, ModelError, ModelTimedOut, ModelUnusable, UserError
from fateforger.limits import MAX_MINUTES, MAX_OWN_BLOCKS, MAX_TITLE_CHARS
from fateforger.memory.applicability import Applicable
from fateforger.memory.violations import find_order_violations
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.patch import Patch
from fateforger.planning.plan import ET, TBEvent, TBPlan, resolve
from fateforger.planning.timing import Busy, Stretch, busy_stretches, gaps, minute_of, on_grid, zone
from fateforger.ports.model import Model, Role
from fateforger.session.checks import day_meetings
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.plan import ApplyPatch
from fateforger.session.day import instant_in, local_today
from fateforger.session.draft import basis_of, day_of, draft_constraints, own_draft, to_unplaced
from fateforger.session.edits import apply_edit
from fateforger.session.model import Session, Sketch
from fateforger.session.recall import constraints_for_draft, constraints_for_message, count_left_out
from fateforger.session.stages import DRAFT_LIMIT, PATCH_LIMIT, PATCH_TRIES, TimeboxingStage
from fateforger.tasks.parts import Parts
from fateforger.tasks.task import COARSE, TaskSpec
from fateforger.text import format_length, mark_message, shorten
from fateforger.text import gettext as _
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
            yield f"Task {number} is missing, and there is room for its {format_length(work.length)}."


def _explain_missing(
    day: Day, proposed: Sequence[ProposedBlock], fixed: Sequence[Stretch], rest: Sequence[Stretch]
) -> Iterator[UnplacedItem]:
    for _number, work in _missing_works(day, proposed):
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


SECONDS = 45.0


async def decompose_goal(spec: TaskSpec, model: Model, *, now: datetime, tz: str) -> Parts:
    """Ask a model to decompose a goal into parts. Raises ``ModelError``."""
    said = spec.title if not spec.context else f"{spec.title}\n\n{spec.context}"
    day = ("day", {"today": local_today(now, tz).isoformat()})
    prompt = prompt_for("decompose", Role.DRAFT, Parts, said, facts=(day, ("limits", {"most_parts": COARSE})))
    question = ModelQuestion(prompt, Parts, seconds=SECONDS, accept=_require_complete)
    return await ask(model, question)


def _require_complete(parts: Parts) -> None:
    if not parts.parts or not parts.goal or not parts.assumptions or not parts.probes:
        raise UserError("Say the goal, at least one assumption, one probe and one part")
    if len(parts.parts) > COARSE:
        raise UserError(f"There are more than {COARSE} parts; keep them coarse")


@dataclass(frozen=True, slots=True)
class PatchResult:
    """Patch that fits the plan, with the model's question or remark about the rest of the message.

    ``day`` is the day to which the message moves the whole plan, if it does.
    """

    patch: Patch
    question: str | None
    day: date | None = None


class TimeboxPatcher:
    """Asks a model for a patch until it can be applied to the plan."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def patch(self, session: Session, message: str, *, cause: str, now: datetime) -> PatchResult:
        """Return the patch that a message asks for, by block keys.

        The patch has been applied once, so it fits; it names only the person's own blocks. The plan is never changed
        here. Raises ``ModelError``.
        """
        if session.stage is not TimeboxingStage.REFINE:
            raise InternalError(f"Patches are made in Refine, not in {session.stage.heading}.")
        plan = session.planning.plan or TBPlan(date=session.date, tz=session.tz)
        kept = list_reminders(constraints_for_message(session), left_out=count_left_out(session))
        prompt = prompt_for(
            "patch",
            Role.PATCH,
            PatchWords,
            message,
            facts=(
                ("day", day_facts(session, now)),
                ("frame", frame_facts(session)),
                ("quality", quality_facts(session)),
                *aim_facts(session),
                *exchange_facts(session),
            ),
            tables=(
                list_blocks(session),
                list_meetings(session),
                list_tasks(session),
                list_findings(session),
                list_upcoming_days(now, session.tz),
                *list_exchanges(session),
                *kept,
            ),
        )

        told_off = False

        def fits(words: PatchWords) -> None:
            """Reject an overlapping patch once; repair it the second time."""
            nonlocal told_off
            command = ApplyPatch(
                command_id=cause,
                user_id=session.user_id,
                at=now,
                session_id=session.id,
                patch=read_plan_change(session, plan, words).patch,
            )
            mend, told_off = told_off, True
            apply_edit(session, command, mend=mend)

        question = ModelQuestion(prompt, PatchWords, seconds=PATCH_LIMIT, tries=PATCH_TRIES, accept=fits)
        value = await ask(self._model, question)
        change = read_plan_change(session, plan, value)
        return PatchResult(change.patch, value.question, change.day)


TOO_SLOW = mark_message("The language model took too long, so I drafted this day without it. Redo step asks it again.")
NO_USE = mark_message(
    "The language model gave me no draft that works, so I drafted this day without it. Redo step asks it again."
)
NO_ANSWER = mark_message(
    "The language model does not answer at the moment, so I drafted this day without it. Redo step asks it again."
)
LONGEST_TITLE = 80


async def sketch_day(
    session: Session,
    model: Model,
    *,
    now: datetime,
    instead_of: TBPlan | None = None,
    seconds: float = DRAFT_LIMIT,
) -> Sketch:
    """Ask a model for a draft of the session's day. Blocks that break a must are moved, as few as possible.

    ``instead_of`` is a draft that the person wants replaced by another one. Raises ``ModelError`` if there is no draft
    in time, ``BadInput`` if the frame is invalid.
    """
    session = session.at_time(now)
    day, rules = day_of(session), draft_constraints(session)
    ours = own_draft(session, steps=TRIAL_STEPS, trial_steps=TRIAL_STEPS)
    musts, order = _musts(session, ours), _order(session, ours)
    kept = list_reminders(constraints_for_draft(session), left_out=count_left_out(session))
    prompt = prompt_for(
        "draft",
        Role.DRAFT,
        DraftWords,
        "",
        facts=(("day", day_facts(session, now)), ("frame", frame_facts(session)), *aim_facts(session)),
        tables=(*_tables(session, day, rules, instead_of), *kept),
    )
    told_off = False

    def build_draft(words: DraftWords) -> Draft:
        return accept_proposal(day, tuple(_propose(session, words.blocks)), rules)

    def fits(words: DraftWords) -> None:
        """Reject a draft that breaks a must once; repair it the second time."""
        nonlocal told_off
        plan = build_draft(words).plan
        mistake = _find_broken_must(day, musts, plan) or _find_broken_order(session, order, plan)
        if mistake is not None and not told_off:
            told_off = True
            raise BadInput(mistake)

    words = await ask(model, ModelQuestion(prompt, DraftWords, seconds=seconds, accept=fits))
    result = build_draft(words)
    whole = _repair(day, musts, result.plan)
    if whole is None or _find_broken_order(session, order, whole.plan) is not None:
        return Sketch(basis=basis_of(session) or "", trouble=_(NO_USE))
    return Sketch(
        basis=basis_of(session) or "",
        plan=whole.plan,
        mended=tuple(map(_moved_words, whole.moved)),
        unplaced=to_unplaced(session, result.unplaced),
    )


def without_sketch(session: Session, error: ModelError | BadInput) -> Sketch:
    """Return a sketch without a draft, with the reason."""
    match error:
        case ModelTimedOut():
            trouble = _(TOO_SLOW)
        case ModelUnusable() | BadInput():
            trouble = _(NO_USE)
        case _:
            trouble = _(NO_ANSWER)
    return Sketch(basis=basis_of(session) or "", trouble=trouble)


def _tables(session: Session, day: Day, rules: Sequence[Told], instead_of: TBPlan | None) -> Iterator[Table]:
    yield list_tasks(session)
    yield list_taken(session, resolve(day.draft_lunch(rules).plan))
    if instead_of is not None:
        yield list_blocks(session.with_planning(plan=instead_of))


def _propose(session: Session, blocks: Sequence[BlockWords]) -> Iterator[ProposedBlock]:
    times = Counter[str]()
    for number, words in enumerate(blocks, 1):
        if words.start.tzinfo is not None:
            raise BadInput(f"Block {number} starts at a time with a zone; give the local time, HH:MM.")
        title = _clean(words.title or "")
        times[title] += 1
        yield ProposedBlock(
            work=words.task,
            title=title,
            type=ET(words.type),
            start=instant_in(session, words.start),
            minutes=words.minutes,
            # The same pause in another draft is the same block, moved.
            key=mint_key("d", session.date, title.casefold(), times[title]),
        )


def _musts(session: Session, ours: Draft) -> tuple[Told, ...]:
    """Return the musts that can be followed: those that the solver's draft follows."""
    impossible = ours.relaxed
    rules = (rule for rule in draft_constraints(session) if rule.constraint_record.necessity is Necessity.MUST)
    return tuple(rule for rule in rules if rule.id not in impossible)


def _order(session: Session, ours: Draft) -> tuple[Applicable, ...]:
    """Return the musts for the order of the day that the solver's draft follows."""
    items = (item for item in constraints_for_draft(session).applicable if item.record.payload.day_rule is not None)
    musts = tuple(item for item in items if item.record.necessity is Necessity.MUST)
    if not musts:
        return ()
    broken = {breach.item.uid for breach in find_order_violations(musts, ours.plan, day_meetings(session))}
    return tuple(item for item in musts if item.uid not in broken)


def _find_broken_order(session: Session, order: Sequence[Applicable], plan: TBPlan) -> str | None:
    """Return the first violated rule for the order of the day, as :func:`_find_broken_must` does."""
    found = find_order_violations(order, plan, day_meetings(session))
    return f"{found[0].sentence} It must be kept; put the blocks elsewhere." if found else None


def _find_broken_must(day: Day, musts: Sequence[Told], plan: TBPlan) -> str | None:
    """Return a sentence about the first must that a draft breaks, for the model to fix."""
    found = find_violations(day.instance(musts), resolve(plan)) if musts else ()
    if not found:
        return None
    titles = ", ".join(f"“{plan.block(key).name}”" for key in found[0].keys)
    return f"{titles} breaks what must be followed: “{found[0].words}”. Put it elsewhere."


def _repair(day: Day, musts: Sequence[Told], plan: TBPlan) -> RevisedPlan | None:
    """Move blocks that break a must; return ``None`` if that is not possible."""
    if _find_broken_must(day, musts, plan) is None:
        return RevisedPlan(plan)
    result = repair_plan(plan, day.instance(musts))
    return result if _find_broken_must(day, musts, result.plan) is None else None


def _moved_words(moved: BlockMove) -> str:
    when = _("from {before} to {after}", before=f"{moved.before:%H:%M}", after=f"{moved.after:%H:%M}")
    return _("To keep your rules, I moved “{title}” {when} in the model's draft.", title=moved.title, when=when)


def _clean(title: str) -> str:
    """Return one line of printable characters."""
    return shorten("".join(c if c.isprintable() else " " for c in title), LONGEST_TITLE)
