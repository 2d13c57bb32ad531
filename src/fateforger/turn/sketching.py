"""Draft of the day by a model, checked by code (S93, S120, S121).

The model answers in blocks and refers to tasks by number; code assigns the keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from fateforger.constraints import Applicable
from fateforger.constraints.day_breaches import find_order_violations
from fateforger.constraints.kinds import Necessity
from fateforger.drafting import Day, Draft, ProposedBlock, accept_proposal
from fateforger.drafting.draft import TRIAL_STEPS, draft_lunch, instance_of
from fateforger.drafting.instance import Told
from fateforger.drafting.keeping import check_plan
from fateforger.drafting.mend import BlockMove, RepairResult, repair_plan
from fateforger.errors import BadInput, ModelError, ModelTimedOut
from fateforger.plan import ET, TBPlan, resolve
from fateforger.ports import Model, Role
from fateforger.session.day_rules import day_meetings
from fateforger.session.fitting import to_unplaced
from fateforger.session.frame import instant_in
from fateforger.session.keys import mint_key
from fateforger.session.model import Session, Sketch
from fateforger.session.recall import constraints_for_draft, count_left_out
from fateforger.session.skeleton import basis, day_of, draft_constraints, own_draft
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.constants import DRAFT_LIMIT
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts
from fateforger.turn.reading.facts import Table
from fateforger.turn.reading.remembered import reminders
from fateforger.turn.reading.values import BlockWords, DraftWords
from fateforger.values import replace

TOO_SLOW = "The language model took too long, so I drafted this day by my own rules; Redo step asks it again."
NO_USE = (
    "The language model gave me no draft that works, so I drafted this day by my own rules; Redo step asks it again."
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
    ours = own_draft(session, steps=TRIAL_STEPS)
    musts, order = _musts(session, ours), _order(session, ours)
    kept = reminders(constraints_for_draft(session), left_out=count_left_out(session))
    prompt = prompt_for(
        "draft",
        Role.DRAFT,
        DraftWords,
        "",
        facts=(("day", facts.day_facts(session, now)), ("frame", facts.frame_facts(session))),
        tables=(*_tables(session, day, rules, instead_of), *kept),
        words={"another": instead_of is not None, "remembered": bool(kept)},
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

    asked = await ask(model, ModelQuestion(prompt, DraftWords, seconds=seconds, accept=fits))
    result = build_draft(asked.value)
    whole = _repair(day, musts, result.plan)
    if whole is None or _find_broken_order(session, order, whole.plan) is not None:
        return Sketch(basis=basis(session), trouble=NO_USE)
    return Sketch(
        basis=basis(session),
        plan=whole.plan,
        mended=tuple(map(_moved_words, whole.moved)),
        unplaced=to_unplaced(session, result.unplaced),
    )


def without_sketch(session: Session, error: ModelError | BadInput) -> Sketch:
    """Return a sketch without a draft, with the reason."""
    return Sketch(basis=basis(session), trouble=TOO_SLOW if isinstance(error, ModelTimedOut) else NO_USE)


def _tables(session: Session, day: Day, rules: Sequence[Told], instead_of: TBPlan | None) -> Iterator[Table]:
    yield facts.tasks(session)
    yield facts.list_taken(session, resolve(draft_lunch(day, rules).plan))
    if instead_of is not None:
        yield facts.blocks(replace(session, plan=instead_of))


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
    found = check_plan(plan, instance_of(day, musts)) if musts else ()
    if not found:
        return None
    titles = ", ".join(f"“{plan.block(key).name}”" for key in found[0].keys)
    return f"{titles} breaks what must be followed: “{found[0].rule.words}”. Put it elsewhere."


def _repair(day: Day, musts: Sequence[Told], plan: TBPlan) -> RepairResult | None:
    """Move blocks that break a must; return ``None`` if that is not possible."""
    if _find_broken_must(day, musts, plan) is None:
        return RepairResult(plan)
    result = repair_plan(plan, instance_of(day, musts))
    return result if _find_broken_must(day, musts, result.plan) is None else None


def _moved_words(moved: BlockMove) -> str:
    when = f"from {moved.before:%H:%M} to {moved.after:%H:%M}"
    return f"To keep your rules, I moved “{moved.title}” {when} in the model's draft."


def _clean(title: str) -> str:
    """Return one line of printable characters."""
    return facts.cut("".join(c if c.isprintable() else " " for c in title), LONGEST_TITLE)
