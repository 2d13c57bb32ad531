"""Effect of a proposal, without applying it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from fateforger.errors import BadInput
from fateforger.limits import MAX_PROPOSAL_LINES
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity, Scope, Status
from fateforger.planning.patch import Patch
from fateforger.planning.plan import Resolved, TBPlan, resolve
from fateforger.session.commands.plan import ApplyPatch, ApprovedChange
from fateforger.session.day import local_today
from fateforger.session.edits import EditResult, apply_edit
from fateforger.session.gate import find_refusal
from fateforger.session.memory_changes import Memory, MemoryChange, noted_sentence, remember_constraint
from fateforger.session.model import Session, SessionStatus
from fateforger.session.placement import changed_blocks, span
from fateforger.session.rulebook import rows_of, unsaved_session
from fateforger.text import gettext as _
from fateforger.text import label_text, mark_message, quote_title
from fateforger.values import replace

LONGEST_NOTES = 300
LONGEST_WORDS = 500


def preview_patch(
    session: Session, patch: Patch, *, at: datetime, approved: ApprovedChange | None = None
) -> EditResult:
    """Return the effect of a patch on the plan of a session, with the moves that make room.

    Raises ``UserError`` when it cannot be applied, changes nothing, or differs from ``approved``.
    """
    if session.status is SessionStatus.CANCELLED:
        raise BadInput(_("That plan is closed, so it cannot be changed."))
    if find_refusal(session, ApplyPatch) is not None:
        heading = session.stage.heading
        raise BadInput(_("The plan is at the step “{heading}”; it can be changed from Refine on.", heading=heading))
    command = ApplyPatch(
        command_id="", user_id=session.user_id, at=at, session_id=session.id, patch=patch, approved=approved
    )
    result = apply_edit(session, command)
    if not changed_blocks(result.before, result.after):
        raise BadInput(_("That changes nothing; the plan is like that already."))
    return result


def describe_patch(before: TBPlan, after: TBPlan) -> tuple[str, ...]:
    """Describe each change in a line, by time, with all that a person needs for approval.

    Raises ``BadInput`` when there are too many changes to review.
    """
    was = {block.key: block for block in resolve(before)}
    now = {block.key: block for block in resolve(after)}
    pairs = [(was.get(key), now.get(key)) for key in changed_blocks(before, after)]
    pairs.sort(key=lambda pair: [(b.start.astimezone(UTC), b.key) for b in pair if b is not None][-1])
    lines = tuple(line for old, new in pairs for line in _describe_change(old, new))
    if len(lines) > MAX_PROPOSAL_LINES:
        raise BadInput(
            _("That is too much to say yes to at once ({count} changes); propose fewer.", count=len(lines)),
            where="patch",
        )
    return lines


def _describe_change(old: Resolved | None, new: Resolved | None) -> Iterator[str]:
    if new is None:
        if old is not None:
            yield _(
                "{name}, {hours}, goes out of the plan.",
                name=quote_title(old.event.name),
                hours=span(old.start, old.end),
            )
        return
    name, event = quote_title(new.event.name), new.event
    if old is None:
        yield _(
            "{name} comes in, {hours}, as {words}.",
            name=name,
            hours=span(new.start, new.end),
            words=event.type.block_words,
        )
    elif (old.start, old.end) != (new.start, new.end):
        yield _(
            "{name} moves to {hours} (now {before}).",
            name=quote_title(old.event.name),
            hours=span(new.start, new.end),
            before=span(old.start, old.end),
        )
    if old is not None and old.event.name != event.name:
        yield _("{name} gets the title {title}.", name=quote_title(old.event.name), title=name)
    if old is not None and old.event.type is not event.type:
        yield _(
            "{name} counts as {words} (now {before}).",
            name=name,
            words=event.type.block_words,
            before=old.event.type.block_words,
        )
    if event.description != ("" if old is None else old.event.description):
        notes = event.description
        if len(notes) > LONGEST_NOTES:
            raise BadInput(
                _(
                    "Notes of more than {longest_notes} characters cannot be looked through; shorten them.",
                    longest_notes=LONGEST_NOTES,
                ),
                where="patch",
            )
        yield (
            _("{name} gets these notes: “{notes}”", name=name, notes=notes)
            if notes
            else _("{name} loses its notes.", name=name)
        )


def prepare_record(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record as it would be written after approval, which confirms it.

    Raises ``BadInput`` for one that is limited to a session, or that names itself or others.
    """
    if "scope" not in record.model_fields_set:
        record = replace(record, scope=Scope.PROFILE)
    if record.scope is Scope.SESSION:
        raise BadInput(
            _("A rule for a single plan belongs in its thread; give it the scope profile or datespan."),
            where="constraint_record.scope",
        )
    if record.lifecycle.uid is not None or record.lifecycle.supersedes_uids:
        raise BadInput(
            _("Leave out uid and supersedes_uids; to put it in the place of another one, name that in replaces."),
            where="constraint_record.lifecycle",
        )
    if record.status is Status.DECLINED:
        raise BadInput(
            _("It would be declined from the start; leave out its status."), where="constraint_record.status"
        )
    return replace(record, status=Status.LOCKED, confidence=None)


def preview_constraint(
    record: ConstraintRecord,
    replaces: str | None,
    *,
    versions: tuple[Version, ...],
    user_id: str,
    tz: str,
    at: datetime,
) -> MemoryChange:
    """Return the effect of a constraint on a person's others, outside any session.

    Raises ``BadInput`` when the constraint to replace does not exist or is out of force, or when the record contains
    a secret.
    """
    memory = Memory(user_id=user_id, session_id=None, day=local_today(at, tz), at=at, versions=versions, tz=tz)
    if replaces is not None and memory.find_version(replaces).retired:
        raise BadInput(_("What it is to replace is out of force already; leave that out."), where="replaces")
    taken = remember_constraint(MemoryChange(memory), record, supersedes=replaces)
    if not taken.versions:
        raise BadInput(_("That changes nothing; the person told me that already."))
    return taken


def describe_constraint(taken: MemoryChange) -> tuple[str, ...]:
    """Describe a constraint, its necessity, and its time; then its effect on the others."""
    memory = taken.memory
    person = unsaved_session(memory.user_id, memory.tz, memory.at)
    row = next(row for row in rows_of(person, memory.versions, retired=True) if row.uid == taken.versions[0].uid)
    words = row.words
    if len(words) > LONGEST_WORDS:
        raise BadInput(
            _(
                "More than {longest_words} characters cannot be looked through; say it shorter.",
                longest_words=LONGEST_WORDS,
            )
        )
    facts = " · ".join(text for text in (_(_BINDING[row.necessity]), row.when or _("always"), row.times) if text)
    said = (quote_title(words, LONGEST_WORDS),) if words != row.name else ()
    noted = noted_sentence(taken.versions[0].record, memory.today)
    others = (*(line for line in taken.lines if line != noted), *(question.sentence for question in taken.questions))
    return (label_text(quote_title(row.name), facts), *said, *others)


_BINDING = {
    Necessity.MUST: mark_message("it must be kept"),
    Necessity.SHOULD: mark_message("it should be kept"),
    Necessity.PREFER: mark_message("it is kept if possible"),
}
