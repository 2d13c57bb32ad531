"""Differences that the person and the plan both changed, and the questions about them (S201).

Neither side wins without the person's answer: until then the calendar keeps its state, and everything else continues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from fateforger.calendar.adoption import adopt_changes, describe_adopted
from fateforger.calendar.conflicts import (
    FIELDS,
    TOPICS,
    Answer,
    Choices,
    Conflict,
    Topic,
    agrees_on,
    explain_other_day,
    find_conflicts,
)
from fateforger.calendar.engine import build_desired_day
from fateforger.calendar.event import (
    Canon,
    EventFields,
)
from fateforger.calendar.model import Adopted, Snapshot, SyncPlan, format_value, list_changes
from fateforger.errors import UserError
from fateforger.planning.patch import MoveBlock, ReplaceAll, UpdateBlock
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.commands.plan import (
    AddBlock,
    ApplyFix,
    ApplyPatch,
    EditBlock,
    RemoveBlock,
    ShiftBlock,
    Side,
    SwapBlock,
)
from fateforger.session.edits import apply_edit
from fateforger.session.model import Question, Session
from fateforger.values import replace

Subject = tuple[str, Topic]
"""Subject of a question: a block's key and a topic."""


def open_questions(session: Session) -> tuple[Question, ...]:
    """Return the questions without an answer."""
    return tuple(question for question in session.sync.questions if question.answer is None)


def subject_of(question: Question) -> Subject:
    return question.conflict.key, question.conflict.topic


def question_token(questions: Iterable[Question]) -> str:
    """Return a token that changes when either side of one of the questions does."""
    parts: list[str] = []
    for question in questions:
        conflict = question.conflict
        parts += [conflict.key, conflict.topic]
        for side in (conflict.calendar, conflict.plan):
            parts += [repr(None if side is None else getattr(side.canon, name)) for name in FIELDS[conflict.topic]]
    return hashlib.sha1("\0".join(parts).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:12]


def question_target(question: Question, token: str | None = None) -> str:
    """Return the target of a question's buttons, with the question's own token unless another is given."""
    token = question_token([question]) if token is None else token
    return f"{question.conflict.topic}.{token}.{question.conflict.key}"


# --- input of a comparison ---


def choices_of(session: Session) -> Choices:
    """Return the person's choices: their answers, and the calendar that they saw while planning."""
    return Choices(
        seen={} if session.day.snapshot is None else session.day.snapshot.own_fields,
        answers=tuple(
            Answer(
                event_id=question.conflict.event_id,
                topic=question.conflict.topic,
                keep=question.answer or "open",
                calendar=question.conflict.calendar,
            )
            for question in session.sync.questions
        ),
    )


# --- after a comparison ---


def update_questions(questions: Sequence[Question], compared: SyncPlan, shown: Snapshot) -> tuple[Question, ...]:
    """Return the questions after a comparison.

    These are the open ones, and the answers that still fit the calendar. A question with unchanged sides stays the
    same question.
    """
    known = {subject_of(question): question for question in questions}
    found = [Question(conflict=conflict) for conflict in find_conflicts(compared)]
    now = [_keep_same(known.get(subject_of(question)), question) for question in found]
    left_open = {subject_of(question) for question in now}
    seen = shown.own_fields
    kept = [
        question
        for question in questions
        if question.answer is not None and subject_of(question) not in left_open and _fits(question, seen)
    ]
    return (*now, *kept)


def _keep_same(before: Question | None, now: Question) -> Question:
    return (
        before
        if before is not None and before.answer is None and question_token([before]) == question_token([now])
        else now
    )


def _fits(question: Question, seen: Mapping[str, EventFields | None]) -> bool:
    conflict = question.conflict
    if conflict.event_id not in seen:
        return False
    return agrees_on(conflict.topic, _canon(seen[conflict.event_id]), _canon(conflict.calendar))


def intended_fields(plan: TBPlan) -> dict[str, EventFields]:
    """Return the intended calendar state of each block, by key."""
    return {block.key: block.fields for block in build_desired_day(plan, overlapping=True).blocks}


# --- answers ---


def answered_questions(session: Session, matters: Iterable[Subject]) -> tuple[Question, ...]:
    """Return the open questions that a change answers.

    A card has asked them, so the change was made with both sides in view.
    """
    decided = set(matters)
    keys = {key for key, _ in decided}
    return tuple(
        question
        for question in open_questions(session)
        if question.shown
        if subject_of(question) in decided or (question.conflict.topic == "deleted" and question.conflict.key in keys)
    )


def with_answer(session: Session, questions: Iterable[Question], keep: Side) -> Session:
    """Return the session with these questions answered.

    Keeping the calendar's side means that the plan adopts it.
    """
    chosen = {subject_of(question) for question in questions}
    after = tuple(replace(q, answer=keep) if subject_of(q) in chosen else q for q in session.sync.questions)
    session = session.with_sync(questions=after)
    if keep == "plan" or session.planning.plan is None:
        return session
    changes = [
        c for q in session.sync.questions if subject_of(q) in chosen for c in _adopted_changes(q.conflict, session)
    ]
    return session.with_planning(plan=adopt_changes(session.planning.plan, changes))


def reopen_questions(session: Session, questions: Iterable[Question]) -> Session:
    """Return the session with these questions open again."""
    again = {subject_of(q): replace(q, answer=None, shown=False) for q in questions}
    others = tuple(question for question in session.sync.questions if subject_of(question) not in again)
    return session.with_sync(questions=(*others, *again.values()))


def settle_questions(session: Session) -> Session:
    """Return the session with its questions updated to its plan and last snapshot.

    Questions whose sides are equal now, or whose block is gone, are dropped. Where the plan's change was withdrawn,
    the plan adopts the calendar's side, and a notice says so.
    """
    if not session.sync.questions:
        return session
    blocks = {} if session.planning.plan is None else intended_fields(session.planning.plan)
    seen = {} if session.day.snapshot is None else session.day.snapshot.own_fields
    left: list[Question] = []
    changes: list[Adopted] = []
    for question in session.sync.questions:
        conflict = question.conflict
        if conflict.key not in blocks:
            continue
        conflict = replace(conflict, plan=blocks[conflict.key])
        if _is_over(conflict, seen):
            continue
        if conflict.is_withdrawn and question.answer is None:
            changes += _adopted_changes(conflict, session)
        else:
            left.append(replace(question, conflict=conflict))
    session = session.with_sync(questions=tuple(left))
    if session.planning.plan is None or not changes:
        return session
    adopted = session.with_planning(plan=adopt_changes(session.planning.plan, changes))
    return adopted.remark(*describe_adopted(changes, zone(session.tz)))


def _is_over(conflict: Conflict, seen: Mapping[str, EventFields | None]) -> bool:
    """Check whether the sides agree now, or the event appeared or disappeared."""
    if conflict.event_id not in seen:
        return conflict.is_agreed
    now = seen[conflict.event_id]
    if (now is None) != (conflict.calendar is None):
        return True
    return conflict.is_agreed or (now is not None and agrees_on(conflict.topic, now.canon, conflict.plan.canon))


def _adopted_changes(conflict: Conflict, session: Session) -> list[Adopted]:
    """Return the calendar's side as changes for the plan."""
    if conflict.calendar is None:
        return [_build_whole_change(conflict, "deleted", None)]
    known, shown, tz = conflict.base.canon, conflict.calendar.canon, zone(session.tz)
    if conflict.topic == "time" and (left := explain_other_day(shown.start, known.start, session.date, tz)) is not None:
        return [_build_whole_change(conflict, "released", left)]
    changes = list_changes(conflict.plan.canon, shown)
    return [
        Adopted.model_validate(
            {
                "key": conflict.key,
                "summary": conflict.title,
                "field": name,
                "plan": format_value(changes[name][0], tz),
                "calendar": format_value(changes[name][1], tz),
            }
        )
        for name in FIELDS[conflict.topic]
        if name in changes
    ]


def _build_whole_change(conflict: Conflict, field: Literal["deleted", "released"], calendar: str | None) -> Adopted:
    return Adopted(key=conflict.key, summary=conflict.title, field=field, plan=conflict.title, calendar=calendar)


def _canon(fields: EventFields | None) -> Canon | None:
    return None if fields is None else fields.canon


def mark_shown(session: Session) -> Session:
    """Return the session after its card has asked its questions."""
    if all(question.shown for question in session.sync.questions):
        return session
    shown = tuple(replace(question, shown=True) for question in session.sync.questions)
    return session.with_sync(questions=shown)


def find_contradictions(compared: SyncPlan, session: Session, command: SessionCommand | None) -> tuple[Question, ...]:
    """Return the person's just detected changes that a command contradicts, as questions.

    The command was given without having them in view, so neither side may win silently. The plan's side is unchanged.
    """
    matters = set() if command is None else decided_subjects(session, command)
    if not matters or session.planning.plan is None:
        return ()
    if not isinstance(command, RemoveBlock):
        matters |= {(key, "deleted") for key, _ in matters}
    asked = (change for change in compared.adopted if change.field != "released")
    found = {(change.key, TOPICS[change.field]) for change in asked} & matters
    blocks, ops = intended_fields(session.planning.plan), {op.key: op for op in compared.ops}
    return tuple(
        Question(
            conflict=Conflict(
                key=key,
                event_id=ops[key].event_id,
                title=ops[key].summary,
                topic=topic,
                calendar=None if (event := ops[key].before) is None else event.fields,
                plan=blocks[key],
                base=blocks[key],
            )
        )
        for key, topic in sorted(found)
    )


def decided_subjects(session: Session, command: SessionCommand) -> set[Subject]:
    """Return the subjects that a change of Stage 4 decides for the blocks that it names."""
    if session.planning.plan is None:
        return set()
    match command:
        case RemoveBlock(key=key):
            return _edits_of(key)
        case EditBlock() | ShiftBlock() | SwapBlock() | ApplyPatch() | ApplyFix():
            try:
                result = apply_edit(session, command)
            except UserError:
                return set()
            gone = {b.block_key for b in result.before.events} - {b.block_key for b in result.after.events}
            return subjects_of_change(command, result.before, result.after).union(*(_edits_of(key) for key in gone))
        case _:
            return set()


def _edits_of(key: str) -> set[Subject]:
    return {(key, topic) for topic in FIELDS if topic != "deleted"}


def subjects_of_change(command: SessionCommandBase, before: TBPlan, after: TBPlan) -> set[Subject]:
    """Return the subjects that a change decided for its named blocks, not for pushed ones."""
    named = _named_blocks(command)
    was, now = intended_fields(before), intended_fields(after)
    return {
        (key, topic)
        for key in was.keys() & now.keys()
        for topic in FIELDS
        if named is None or key in named
        if not agrees_on(topic, was[key].canon, now[key].canon)
    }


def _named_blocks(command: SessionCommandBase) -> set[str] | None:
    """Return the blocks that a change names; ``None`` means all that it changes."""
    match command:
        case EditBlock(key=key) | ShiftBlock(key=key):
            return {key}
        case AddBlock():
            return set()
        case ApplyPatch(patch=patch):
            whole = any(isinstance(op, ReplaceAll) for op in patch.ops)
            return None if whole else {op.key for op in patch.ops if isinstance(op, UpdateBlock | MoveBlock)}
        case _:
            return None
