"""Compare the decisions of a Stage 4 change about its blocks with the calendar (S201)."""

from __future__ import annotations

from fateforger import ops
from fateforger.errors import UserError
from fateforger.plan import TBPlan
from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.session.edits import apply_edit
from fateforger.session.model import Question, Session
from fateforger.session.questions import Subject, intended_fields
from fateforger.sync.canonical import canonicalize
from fateforger.sync.choices import FIELDS, TOPICS, agrees_on
from fateforger.sync.conflicts import Conflict
from fateforger.sync.model import SyncPlan


def find_contradictions(compared: SyncPlan, session: Session, command: SessionCommand | None) -> tuple[Question, ...]:
    """Return the person's just detected changes that a command contradicts, as questions.

    The command was given without having them in view, so neither side may win silently. The plan's side is unchanged.
    """
    matters = set() if command is None else decided_subjects(session, command)
    if not matters or session.plan is None:
        return ()
    if not isinstance(command, commands.RemoveBlock):
        matters |= {(key, "deleted") for key, _ in matters}
    found = {(change.key, TOPICS[change.field]) for change in compared.adopted} & matters
    blocks, ops = intended_fields(session.plan), {op.key: op for op in compared.ops}
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
    if session.plan is None:
        return set()
    match command:
        case commands.RemoveBlock(key=key):
            return _edits_of(key)
        case (
            commands.EditBlock()
            | commands.ShiftBlock()
            | commands.SwapBlock()
            | commands.ApplyPatch()
            | commands.ApplyFix()
        ):
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


def subjects_of_change(command: SessionCommand, before: TBPlan, after: TBPlan) -> set[Subject]:
    """Return the subjects that a change decided for its named blocks, not for pushed ones."""
    named = _named_blocks(command)
    was, now = intended_fields(before), intended_fields(after)
    return {
        (key, topic)
        for key in was.keys() & now.keys()
        for topic in FIELDS
        if named is None or key in named
        if not agrees_on(topic, canonicalize(was[key]), canonicalize(now[key]))
    }


def _named_blocks(command: SessionCommand) -> set[str] | None:
    """Return the blocks that a change names; ``None`` means all that it changes."""
    match command:
        case commands.EditBlock(key=key) | commands.ShiftBlock(key=key):
            return {key}
        case commands.AddBlock():
            return set()
        case commands.ApplyPatch(patch=patch):
            whole = any(isinstance(op, ops.ReplaceAll) for op in patch.ops)
            return None if whole else {op.key for op in patch.ops if isinstance(op, ops.UpdateBlock | ops.MoveBlock)}
        case _:
            return None
