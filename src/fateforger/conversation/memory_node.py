"""Commands about constraints, in any stage; plan and stage stay as they are (S24)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TypeGuard

from fateforger.conversation.turn_values import (
    Effect,
    MemoryReading,
    SearchMemory,
    StageInput,
    StageOutput,
    WriteMemory,
    with_memory,
)
from fateforger.errors import BadInput, UserError
from fateforger.memory.applicability import TAKEN_BACK
from fateforger.memory.credentials import REFUSED, holds_credentials
from fateforger.memory.record import ConstraintRecord, compute_content_key, compute_rule_key, compute_uid
from fateforger.memory.retrieval import RuleFilter
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Action
from fateforger.planning.plan import ET
from fateforger.session.checks import named_violations
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.rules import (
    AddExtracted,
    AllowMeetings,
    HideMemory,
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    SetPolicy,
    SettleConstraints,
    ShowMemory,
    UndoMemory,
)
from fateforger.session.frame import follow_frame_rules
from fateforger.session.memory import MemoryQuestion, MemoryToolResult, MemoryWrite
from fateforger.session.memory_changes import (
    COUNTS_AGAIN,
    Memory,
    MemoryChange,
    allow_meetings,
    ask_to_settle,
    disallow_meetings,
    find_alike,
    judge_constraint,
    remember_constraint,
    revise_constraint,
    set_policy,
    settle_conflict,
    undo_writes,
)
from fateforger.session.messages import FIRST_LISTED, MORE_LISTED, NOTHING_FOUND, LastWords
from fateforger.session.model import MEETINGS, HeldChange, Session
from fateforger.session.rulebook import known_versions, refresh_view
from fateforger.session.stages import MOST_UNDO
from fateforger.text import gettext as _
from fateforger.text import mark_message, quote_title
from fateforger.values import replace

NOTHING_TO_UNDO = mark_message("There is nothing of that left to take back.")
MAY_OVERLAP = mark_message("This plan may overlap the meetings that came to your calendar.")
NOT_THOSE = mark_message("The meetings or that rule have changed since, so I did nothing. This is how it is now.")
ASKED_AGAIN = mark_message("That is open again, so I ask you once more.")
NO_RULE = "-"
"""Uid of no rule, for a list that is empty."""
SAME_MOMENT = timedelta(milliseconds=1)
"""Versions of one message are microseconds apart; a larger difference means that something was said later."""
DECLINED_BEFORE = mark_message(
    "You did not want that rule before, so I leave it out; under Your rules you can bring it back."
)


def handle_memory_command(stage: StageInput, command: SessionCommand) -> StageOutput | None:
    """Handle a command about constraints; return ``None`` for any other. Invalid input becomes a notice."""
    session = stage.session
    match command:
        case ShowMemory(more=more, uids=uids, search=queries, filter=wanted):
            shown = _show_memory(stage, more=more, only=uids, wanted=wanted)
            return StageOutput(session=shown, effects=(SearchMemory(queries=queries),) if queries else ())
        case HideMemory():
            return StageOutput(session=session.with_thread(memory=None))
        case (
            RememberConstraint()
            | ReviseConstraint()
            | SetPolicy()
            | JudgeConstraint()
            | SettleConstraints()
            | AllowMeetings()
            | UndoMemory()
        ):
            try:
                taken = _apply_command(stage, command)
            except UserError as error:
                return StageOutput(session=_drop_settled(stage, command).refuse(error.message))
        case _:
            return None
    session, effects = apply_memory_changes(_remove_handled(session, command), taken, stage.memory, cause=stage.cause)
    return StageOutput(session=session, effects=effects)


def apply_understood(
    session: Session, reading: MemoryReading | None, heard: AddExtracted
) -> tuple[Session, tuple[Effect, ...]]:
    """Apply the constraints that were extracted from a reply in the background (S2).

    Whatever the commands of the reply itself wrote is not written again, and a constraint that the person declined is
    not proposed again in the same words.
    """
    taken = MemoryChange(memory_of(session, reading, heard))
    mine = [v for write in session.rules.memory_writes if write.cause == heard.of for v in write.versions]
    done = {compute_content_key(v.record) for v in mine} | {_asked_for(v) for v in mine}
    for record in heard.records:
        before = taken.memory.newest.get(record.uid)
        if holds_credentials(record):
            taken = taken.with_lines(_(REFUSED))
            continue
        if compute_content_key(record) in done or (compute_rule_key(record), record.applies_event_types) in done:
            continue
        if _was_decided_since(taken.memory, record, heard):
            continue
        if before is not None and _is_unwanted(before, record) and find_alike(taken.memory, record) is None:
            taken = taken.with_lines(_(DECLINED_BEFORE))
            continue
        taken = remember_constraint(taken, record)
    if heard.contradicts is not None:
        taken = ask_to_settle(taken, *heard.contradicts, repeats=heard.repeats)
    trouble = None if heard.trouble is None else _(heard.trouble)
    lines = tuple(line for line in (heard.question, trouble) if line is not None)
    if taken.versions:
        session = _clear_nothing_found(session, heard)
    if heard.question is not None:
        session = session.with_thread(last_words=LastWords.of(heard.question))
    changed, effects = apply_memory_changes(session, taken.with_lines(*lines), reading, cause=heard.command_id)
    notice = changed.thread.notice
    if heard.unread and notice is not None:
        changed = changed.with_thread(notice=replace(notice, unchecked=heard.unread))
    return changed, effects


def _clear_nothing_found(session: Session, heard: AddExtracted) -> Session:
    """Clear the notice that nothing was found: the reply stated a rule, which was extracted only later."""
    last = session.thread.handled[-1:] == (heard.of,)
    lost = session.thread.notice is not None and session.thread.notice.code == NOTHING_FOUND
    return session.with_notice() if last and lost else session


def apply_memory_changes(
    session: Session, taken: MemoryChange, reading: MemoryReading | None, *, cause: str
) -> tuple[Session, tuple[Effect, ...]]:
    """Apply a change of constraints to the session, and return it with the write of those that last."""
    write = MemoryWrite(
        cause=cause,
        lines=taken.lines,
        versions=taken.versions,
        before=tuple(taken.before.values()),
        put_aside=tuple(uid for uid in taken.put_aside if uid not in session.rules.set_aside),
        taken_up=tuple(uid for uid in taken.taken_up if uid in session.rules.set_aside),
        allowed=taken.allowed,
        answered=taken.answered,
    )
    changed = session.with_rules(
        said=(*session.rules.said, *taken.versions),
        set_aside=(*(u for u in session.rules.set_aside if u not in write.taken_up), *write.put_aside),
        allowed=(*(each for each in session.rules.allowed if each not in taken.disallowed), *taken.allowed),
        memory_questions=_open_questions(session, taken),
    ).with_day(frame=follow_frame_rules(session.day.frame, _counting(taken)))
    if write.versions or write.put_aside or write.taken_up or write.allowed or write.answered:
        changed = changed.with_rules(memory_writes=_append_write(session.rules.memory_writes, write))
    else:
        changed = changed.say(*taken.lines)
    session = _recall_again(changed, reading, taken)
    if session.thread.memory is not None:
        view = replace(session.thread.memory, lines=taken.lines)
        session = session.with_thread(memory=refresh_view(session, taken.memory.versions, view))
    lasting = tuple(version for version in taken.versions if not version.flat.session_only)
    return session, (WriteMemory(versions=lasting, expected=_get_expected_seqs(lasting, reading)),) if lasting else ()


def _counting(taken: MemoryChange) -> tuple[Version, ...]:
    """Return the constraints that were stated just now, or count again."""
    newest = taken.memory.newest
    return (*taken.versions, *(newest[uid] for uid in taken.taken_up if uid in newest))


def _recall_again(session: Session, reading: MemoryReading | None, taken: MemoryChange) -> Session:
    """Recall the constraints again: one that was replaced may apply now, and the other way round."""
    if reading is None or reading.error is not None or not taken.versions:
        return session
    lasting = tuple(version for version in taken.versions if not version.flat.session_only)
    anew = with_memory(session, MemoryReading(versions=(*reading.versions, *lasting)), taken.memory.at)
    return session.with_rules(recalled=anew.rules.recalled)


def memory_of(session: Session, reading: MemoryReading | None, command: SessionCommand | AddExtracted) -> Memory:
    """Return everything known about the person at the time of a command."""
    stored = () if reading is None else reading.versions
    return Memory(
        user_id=session.user_id,
        session_id=session.id,
        day=session.date,
        at=command.at,
        versions=(*stored, *known_versions(session)),
        tz=session.tz,
    )


def _apply_command(stage: StageInput, command: SessionCommand) -> MemoryChange:
    session = stage.session
    taken = MemoryChange(memory_of(session, stage.memory, command))
    match command:
        case RememberConstraint(record=record, supersedes=supersedes):
            return remember_constraint(taken, record, supersedes=supersedes)
        case ReviseConstraint(uid=uid, record=record, seen=seen, renewed=renewed):
            return revise_constraint(taken, uid, record, seen, renewed=renewed)
        case SetPolicy(records=records, withdrawn=withdrawn):
            return set_policy(taken, records, withdrawn)
        case JudgeConstraint(uid=uid, verdict="set_aside", seen=seen) if _is_yes(stage.session.sync.held, uid):
            return _set_aside_held(taken, stage.session.sync.held, seen)
        case JudgeConstraint(uid=uid, verdict=verdict, reason=reason, seen=seen):
            return judge_constraint(taken, uid, verdict, reason, seen)
        case SettleConstraints(uids=uids, keep=keep):
            answered = tuple(each for each in session.rules.memory_questions if set(each.uids) == set(uids))
            return replace(settle_conflict(taken, uids, keep), answered=answered)
        case AllowMeetings(uid=uid, seen=token):
            return _allow_meetings(taken, session, uid, token)
        case UndoMemory(write=cause):
            return _undo_write(taken, stage, cause)
        case _:
            raise BadInput(_(NOTHING_TO_UNDO))


def _allow_meetings(taken: MemoryChange, session: Session, uid: str, token: str) -> MemoryChange:
    """Allow the meetings that break a constraint. Raises ``BadInput`` if they are not the ones that were shown."""
    breach = next((each for each in named_violations(session) if each.item.uid == uid), None)
    if breach is None or breach.token != token:
        raise BadInput(_(NOT_THOSE))
    return allow_meetings(taken, breach.allow_on(session.date))


def _is_yes(held: HeldChange | None, uid: str) -> TypeGuard[HeldChange]:
    """Check whether setting the rule aside answers the held question, which may be about more than one rule."""
    return held is not None and held.writes is not None and held.uid == uid


def _set_aside_held(taken: MemoryChange, held: HeldChange, seen: int | None) -> MemoryChange:
    """Set aside, for the day, each rule that the held plan breaks, and allow the meetings it overlaps."""
    aside: tuple[str, ...] = ()
    for uid in (held.uid, *held.also):
        if uid != MEETINGS:
            taken = judge_constraint(taken, uid, "set_aside", None, seen if uid == held.uid else None)
            aside = (*aside, uid)
    taken = replace(taken, put_aside=aside)
    return taken.with_lines(_(MAY_OVERLAP)) if held.meetings else taken


def _is_unwanted(version: Version, record: ConstraintRecord) -> bool:
    """Check whether the person declined this constraint in the same words.

    A constraint that has merely expired may be stated again.
    """
    if not version.retired or compute_content_key(version.record) != compute_content_key(record):
        return False
    return version.event.action is Action.DECLINE or version.event.reason == TAKEN_BACK


def _was_decided_since(memory: Memory, record: ConstraintRecord, heard: AddExtracted) -> bool:
    """Check whether the person changed the same constraint after the reply, which was read late."""
    uid = record.lifecycle.uid or compute_uid(record, memory.user_id, memory.session_id)
    known = memory.newest.get(uid) or find_alike(memory, record)
    return known is not None and known.updated_at - heard.at > SAME_MOMENT


def _undo_write(taken: MemoryChange, stage: StageInput, cause: str) -> MemoryChange:
    """Undo, with new versions, what this session wrote, or what the store says that an action wrote."""
    write = next((w for w in stage.session.rules.memory_writes if w.cause == cause), None)
    if write is not None:
        before = {version.uid: version for version in write.before}
        taken = undo_writes(taken, write.versions, before)
        again = tuple(taken.memory.find_version(uid).record.name for uid in write.put_aside)
        lines = tuple(_(COUNTS_AGAIN, name=quote_title(name)) for name in again)
        taken = replace(taken, put_aside=write.taken_up, taken_up=write.put_aside).with_lines(*lines)
        return _ask_again(disallow_meetings(taken, write.allowed), write.answered)
    wrote = () if stage.memory is None else stage.memory.wrote
    if not wrote:
        raise BadInput(_(NOTHING_TO_UNDO) if stage.memory is None or stage.memory.error is None else stage.memory.error)
    ids = {(version.uid, version.updated_at) for version in wrote}
    first = min(version.updated_at for version in wrote)
    earlier = [v for v in taken.memory.versions if (v.uid, v.updated_at) not in ids and v.updated_at <= first]
    return undo_writes(taken, wrote, select_newest(earlier, taken.memory.user_id))


def _ask_again(taken: MemoryChange, questions: tuple[MemoryQuestion, ...]) -> MemoryChange:
    """Return the result with the questions that an action had answered before it was undone."""
    taken = replace(taken, questions=(*taken.questions, *questions))
    return taken.with_lines(_(ASKED_AGAIN)) if questions and not taken.lines else taken


def _remove_handled(session: Session, command: SessionCommand) -> Session:
    """Remove the write that is being undone, or the question that is being answered."""
    match command:
        case UndoMemory(write=cause):
            writes = tuple(write for write in session.rules.memory_writes if write.cause != cause)
            return session.with_rules(memory_writes=writes)
        case SettleConstraints(uids=uids):
            questions = tuple(q for q in session.rules.memory_questions if set(q.uids) != set(uids))
            return session.with_rules(memory_questions=questions)
        case _:
            return session


def _drop_settled(stage: StageInput, command: SessionCommand) -> Session:
    """Return the session without questions that are settled, because a rule was put away elsewhere meanwhile."""
    session, reading = stage.session, stage.memory
    if reading is None or reading.error is not None:
        return session
    known = MemoryChange(memory_of(session, reading, command))
    return session.with_rules(memory_questions=_open_questions(session, known))


def _show_memory(stage: StageInput, *, more: bool, only: tuple[str, ...], wanted: RuleFilter | None) -> Session:
    session, reading = stage.session, stage.memory
    stored = () if reading is None or reading.error is not None else reading.versions
    known = (*stored, *known_versions(session))
    if wanted is not None:
        only = _select_admitted(select_newest(known, session.user_id).values(), wanted) or (NO_RULE,)
    view = session.thread.memory or MemoryToolResult(asked=stage.cause)
    listed = view.listed + MORE_LISTED if more else FIRST_LISTED
    view = replace(view, listed=listed, lines=(), trouble=None if reading is None else reading.error)
    view = view if more else replace(view, asked=stage.cause, only=only)
    return session.with_thread(memory=refresh_view(session, known, view))


def _select_admitted(versions: Iterable[Version], wanted: RuleFilter) -> tuple[str, ...]:
    """Return the rules that a filter admits; those out of force only if it names their status."""
    return tuple(v.uid for v in versions if wanted.admits(v.record) and (wanted.statuses or not v.retired))


def _append_write(writes: tuple[MemoryWrite, ...], write: MemoryWrite) -> tuple[MemoryWrite, ...]:
    """Add a write. Several commands of one message are undone together."""
    if not writes or writes[-1].cause != write.cause:
        return (*writes, write)[-MOST_UNDO:]
    last = writes[-1]
    had = {version.uid for version in (*last.before, *last.versions)}
    joined = replace(
        write,
        lines=(*last.lines, *write.lines),
        versions=(*last.versions, *write.versions),
        before=(*last.before, *(version for version in write.before if version.uid not in had)),
        put_aside=(*last.put_aside, *write.put_aside),
        taken_up=(*last.taken_up, *write.taken_up),
        allowed=(*last.allowed, *write.allowed),
        answered=(*last.answered, *write.answered),
    )
    return (*writes[:-1], joined)


def _open_questions(session: Session, taken: MemoryChange) -> tuple[MemoryQuestion, ...]:
    """Return the open questions: those between two active constraints that were not decided just now."""
    now = taken.memory.newest
    written = {version.uid for version in taken.versions}
    asked = {question.uids: question for question in (*session.rules.memory_questions, *taken.questions)}
    fresh = {question.uids for question in taken.questions}
    return tuple(
        question
        for uids, question in asked.items()
        if uids in fresh or written.isdisjoint(uids)
        if all(uid in now and not now[uid].retired for uid in uids)
    )


def _get_expected_seqs(versions: tuple[Version, ...], reading: MemoryReading | None) -> dict[str, int]:
    if reading is None or reading.error is not None:
        return {}
    there = select_newest(reading.versions, versions[0].user_id)
    return {version.uid: there[version.uid].seq if version.uid in there else 0 for version in versions}


def _asked_for(version: Version) -> tuple[str, tuple[ET, ...]]:
    return compute_rule_key(version.record), version.record.applies_event_types
