"""Apply a person's judgment to constraints: change, confirm, archive, restore, choose, undo.

Pure functions, as in :mod:`fateforger.session.remembering`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from fateforger.constraints import ConstraintRecord, Event, Version
from fateforger.constraints.contradiction import is_narrowing
from fateforger.constraints.credentials import REFUSED, holds_credentials
from fateforger.constraints.identity import compute_rule_key
from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.supersession import mark_replacing
from fateforger.constraints.wording import join_words, quote_name
from fateforger.errors import BadInput
from fateforger.session.commands import ConstraintVerdict
from fateforger.session.consequences import (
    COUNTS_AGAIN,
    displace_others,
    release_from_replacers,
    replacement_sentence,
    resolve_conflicts,
    restore_displaced,
    without_superseded,
    without_superseding,
)
from fateforger.session.knowledge import UNKNOWN, Memory, MemoryChange
from fateforger.values import replace

CHANGED = "That constraint has changed since this card was made, so I did nothing. This is how it is now."
TAKEN_BACK = "taken back"
AS_SAID = "as you said"
CHANGED_SINCE = "{} was changed since, so I left it as it is."


def revise_constraint(taken: MemoryChange, uid: str, record: ConstraintRecord, seen: int | None) -> MemoryChange:
    """Return the result of revising a constraint.

    Raises ``BadInput`` when it does not exist, when the person saw another version of it, or when it contains a
    secret.
    """
    before = _require_seen(taken.memory, uid, seen)
    if holds_credentials(record):
        raise BadInput(REFUSED)
    record = record.with_uid(uid)
    if record == before.record:
        return taken.with_lines(f"{quote_name(record.name)} stays as it is.")
    declined = record.status is Status.DECLINED
    event = Event(action=Action.DECLINE if declined else Action.UPDATE)
    said = f"{quote_name(record.name)} is {'declined' if declined else 'changed'}."
    taken = taken.with_version(taken.memory.next(uid, record, event), said)
    return restore_displaced(taken, uid) if declined else resolve_conflicts(taken, uid)


def judge_constraint(
    taken: MemoryChange, uid: str, verdict: ConstraintVerdict, reason: str | None, seen: int | None
) -> MemoryChange:
    """Return the result of a verdict on a constraint.

    Raises ``BadInput`` as :func:`revise_constraint`.
    """
    version = _require_seen(taken.memory, uid, seen)
    name = quote_name(version.record.name)
    match verdict:
        case "accept":
            if version.record.status is Status.LOCKED:
                return taken.with_lines(f"{name} is confirmed already.")
            return _with_status(
                taken, version, Status.LOCKED, Event(action=Action.UPDATE, reason=reason or "confirmed"), name
            )
        case "restore":
            if not version.retired:
                return taken.with_lines(f"{name} is in force already.")
            event = Event(action=Action.UPDATE, reason=reason or "restored")
            # Constraints it had replaced may be in force again, so they are compared once more.
            bare = replace(version, record=without_superseding(version.record))
            return resolve_conflicts(
                _with_status(release_from_replacers(taken, uid), bare, Status.LOCKED, event, name), uid
            )
        case "decline" | "archive":
            if version.retired:
                return taken.with_lines(f"{name} is out of force already.")
            taken = _with_status(
                taken, version, Status.DECLINED, Event(action=Action(verdict), reason=reason or AS_SAID), name
            )
            return restore_displaced(taken, uid)
        case "set_aside":
            return replace(taken, put_aside=(uid,)).with_lines(f"{name} does not count for this day.")
        case "use_again":
            return replace(taken, taken_up=(uid,)).with_lines(COUNTS_AGAIN.format(name))
        case _:
            assert_never(verdict)


def settle_conflict(taken: MemoryChange, uids: tuple[str, str], keep: str | None) -> MemoryChange:
    """Return the result of the person's choice between two constraints.

    Raises ``BadInput`` when one is out of force, or when both cannot be kept because each replaces the other.
    """
    memory = taken.memory
    one, other = (memory.find_version(uid) for uid in uids)
    if one.retired or other.retired:
        raise BadInput("One of the two is out of force already, so there is nothing left to decide.")
    circle = one.uid in other.flat.supersedes and other.uid in one.flat.supersedes
    if keep is None:
        if circle:
            raise BadInput("Each of the two replaces the other, so only one of them can count. Which one?")
        return taken.with_lines(f"Both stay: {quote_name(one.record.name)} and {quote_name(other.record.name)}.")
    kept, loser = (one, other) if keep == one.uid else (other, one)
    if keep != kept.uid:
        raise BadInput(UNKNOWN)
    if kept.flat.session_only and not loser.flat.session_only:
        line = f"For this day {quote_name(kept.record.name)} counts instead of {quote_name(loser.record.name)}."
        return replace(taken, put_aside=(loser.uid,)).with_lines(line)
    if circle or loser.flat.session_only or compute_rule_key(kept.record) == compute_rule_key(loser.record):
        gone = replace(loser.record, status=Status.DECLINED)
        event = Event(action=Action.ARCHIVE, reason=f"the same as {kept.uid}")
        line = f"{quote_name(kept.record.name)} stays, {quote_name(loser.record.name)} is put away."
        return taken.with_version(memory.next(loser.uid, without_superseded(gone, kept.uid), event), line)
    if kept.uid in loser.flat.supersedes:
        let_go = Event(action=Action.UPDATE, reason=f"no longer supersedes {kept.uid}")
        taken = taken.with_version(memory.next(loser.uid, without_superseded(loser.record, kept.uid), let_go))
    event = Event(action=Action.UPDATE, reason=f"supersedes {loser.uid}")
    record = mark_replacing(kept.record, loser)
    taken = taken.with_version(taken.memory.next(kept.uid, record, event), replacement_sentence(record, loser.record))
    return displace_others(taken, kept.uid)


def undo_writes(taken: MemoryChange, wrote: Sequence[Version], before: Mapping[str, Version]) -> MemoryChange:
    """Undo one command's writes by new versions.

    Each constraint is restored as it was ``before``, or archived where there was none. A constraint that was changed
    since stays as it is, which is reported.
    """
    last = {version.uid: version for version in wrote}
    for uid, version in last.items():
        memory = taken.memory
        now, was = memory.find_version(uid), before.get(uid)
        if now.updated_at != version.updated_at:
            taken = taken.with_lines(CHANGED_SINCE.format(quote_name(now.record.name)))
        elif was is None:
            gone = replace(version.record, status=Status.DECLINED)
            taken = taken.with_version(memory.next(uid, gone, Event(action=Action.ARCHIVE, reason=TAKEN_BACK)))
        else:
            stays = was.retired or is_narrowing(was.event.reason)
            event = was.event if stays else Event(action=Action.UPDATE, reason=TAKEN_BACK)
            taken = taken.with_version(memory.next(uid, was.record, event))
    back = {version.uid for version in taken.versions}
    names = [quote_name(version.record.name) for uid, version in last.items() if uid in back and not version.retired]
    again = [quote_name(version.record.name) for uid, version in last.items() if uid in back and version.retired]
    lines = ((names, f"Taken back: {', '.join(names)}."), (again, COUNTS_AGAIN.format(join_words(again or [""]))))
    return taken.with_lines(*(line for those, line in lines if those))


def _require_seen(memory: Memory, uid: str, seen: int | None) -> Version:
    version = memory.find_version(uid)
    if seen is not None and version.seq != seen:
        raise BadInput(CHANGED)
    return version


def _with_status(taken: MemoryChange, version: Version, status: Status, event: Event, name: str) -> MemoryChange:
    words = {
        Action.UPDATE: f"{name} is {'restored' if version.retired else 'confirmed'}.",
        Action.DECLINE: f"{name} is declined; I won't use it any more.",
        Action.ARCHIVE: f"{name} is put away; I won't use it any more.",
    }
    sure = 1.0 if status is Status.LOCKED and version.record.confidence is not None else version.record.confidence
    record = replace(version.record, status=status, confidence=sure)
    return taken.with_version(taken.memory.next(version.uid, record, event), words[event.action])
