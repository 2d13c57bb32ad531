"""Apply a person's judgment to constraints: change, confirm, archive, restore, choose, undo.

Pure functions, as in :mod:`fateforger.session.remembering`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from fateforger.constraints import ConstraintRecord, Event, Version
from fateforger.constraints.contradiction import is_narrowing
from fateforger.constraints.credentials import REFUSED, holds_credentials
from fateforger.constraints.identity import rule_key
from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.supersession import replacing
from fateforger.constraints.wording import listed, quoted
from fateforger.errors import BadInput
from fateforger.session.commands import Verdict
from fateforger.session.consequences import (
    COUNTS_AGAIN,
    alone,
    consistent,
    giving_back,
    in_force_again,
    making_way,
    takes_place,
    without,
)
from fateforger.session.knowledge import UNKNOWN, Memory, Taken

CHANGED = "That constraint has changed since this card was made, so I did nothing. This is how it is now."
TAKEN_BACK = "taken back"
AS_SAID = "as you said"
CHANGED_SINCE = "{} was changed since, so I left it as it is."


def revised(taken: Taken, uid: str, record: ConstraintRecord, seen: int | None) -> Taken:
    """Return the result of revising a constraint.

    Raises ``BadInput`` when it does not exist, when the person saw another version of it, or when it contains a
    secret.
    """
    before = _in_view(taken.memory, uid, seen)
    if holds_credentials(record):
        raise BadInput(REFUSED)
    record = record.with_uid(uid)
    if record == before.record:
        return taken.saying(f"{quoted(record.name)} stays as it is.")
    declined = record.status is Status.DECLINED
    event = Event(action=Action.DECLINE if declined else Action.UPDATE)
    said = f"{quoted(record.name)} is {'declined' if declined else 'changed'}."
    taken = taken.writing(taken.memory.next(uid, record, event), said)
    return giving_back(taken, uid) if declined else consistent(taken, uid)


def judged(taken: Taken, uid: str, verdict: Verdict, reason: str | None, seen: int | None) -> Taken:
    """Return the result of a verdict on a constraint.

    Raises ``BadInput`` as :func:`revised`.
    """
    version = _in_view(taken.memory, uid, seen)
    name = quoted(version.record.name)
    match verdict:
        case "accept":
            if version.record.status is Status.LOCKED:
                return taken.saying(f"{name} is confirmed already.")
            return _as(taken, version, Status.LOCKED, Event(action=Action.UPDATE, reason=reason or "confirmed"), name)
        case "restore":
            if not version.retired:
                return taken.saying(f"{name} is in force already.")
            event = Event(action=Action.UPDATE, reason=reason or "restored")
            # Constraints it had replaced may be in force again, so they are compared once more.
            bare = version.model_copy(update={"record": alone(version.record)})
            return consistent(_as(in_force_again(taken, uid), bare, Status.LOCKED, event, name), uid)
        case "decline" | "archive":
            if version.retired:
                return taken.saying(f"{name} is out of force already.")
            taken = _as(taken, version, Status.DECLINED, Event(action=Action(verdict), reason=reason or AS_SAID), name)
            return giving_back(taken, uid)
        case "set_aside":
            return replace(taken, put_aside=(uid,)).saying(f"{name} does not count for this day.")
        case "use_again":
            return replace(taken, taken_up=(uid,)).saying(COUNTS_AGAIN.format(name))
        case _:
            assert_never(verdict)


def settled(taken: Taken, uids: tuple[str, str], keep: str | None) -> Taken:
    """Return the result of the person's choice between two constraints.

    Raises ``BadInput`` when one is out of force, or when both cannot be kept because each replaces the other.
    """
    memory = taken.memory
    one, other = (memory.existing(uid) for uid in uids)
    if one.retired or other.retired:
        raise BadInput("One of the two is out of force already, so there is nothing left to decide.")
    circle = one.uid in other.flat.supersedes and other.uid in one.flat.supersedes
    if keep is None:
        if circle:
            raise BadInput("Each of the two replaces the other, so only one of them can count. Which one?")
        return taken.saying(f"Both stay: {quoted(one.record.name)} and {quoted(other.record.name)}.")
    kept, loser = (one, other) if keep == one.uid else (other, one)
    if keep != kept.uid:
        raise BadInput(UNKNOWN)
    if kept.flat.session_only and not loser.flat.session_only:
        line = f"For this day {quoted(kept.record.name)} counts instead of {quoted(loser.record.name)}."
        return replace(taken, put_aside=(loser.uid,)).saying(line)
    if circle or loser.flat.session_only or rule_key(kept.record) == rule_key(loser.record):
        gone = loser.record.model_copy(update={"status": Status.DECLINED})
        event = Event(action=Action.ARCHIVE, reason=f"the same as {kept.uid}")
        line = f"{quoted(kept.record.name)} stays, {quoted(loser.record.name)} is put away."
        return taken.writing(memory.next(loser.uid, without(gone, kept.uid), event), line)
    if kept.uid in loser.flat.supersedes:
        let_go = Event(action=Action.UPDATE, reason=f"no longer supersedes {kept.uid}")
        taken = taken.writing(memory.next(loser.uid, without(loser.record, kept.uid), let_go))
    event = Event(action=Action.UPDATE, reason=f"supersedes {loser.uid}")
    record = replacing(kept.record, loser)
    taken = taken.writing(taken.memory.next(kept.uid, record, event), takes_place(record, loser.record))
    return making_way(taken, kept.uid)


def undone(taken: Taken, wrote: Sequence[Version], before: Mapping[str, Version]) -> Taken:
    """Undo one command's writes by new versions.

    Each constraint is restored as it was ``before``, or archived where there was none. A constraint that was changed
    since stays as it is, which is reported.
    """
    last = {version.uid: version for version in wrote}
    for uid, version in last.items():
        memory = taken.memory
        now, was = memory.existing(uid), before.get(uid)
        if now.updated_at != version.updated_at:
            taken = taken.saying(CHANGED_SINCE.format(quoted(now.record.name)))
        elif was is None:
            gone = version.record.model_copy(update={"status": Status.DECLINED})
            taken = taken.writing(memory.next(uid, gone, Event(action=Action.ARCHIVE, reason=TAKEN_BACK)))
        else:
            stays = was.retired or is_narrowing(was.event.reason)
            event = was.event if stays else Event(action=Action.UPDATE, reason=TAKEN_BACK)
            taken = taken.writing(memory.next(uid, was.record, event))
    back = {version.uid for version in taken.versions}
    names = [quoted(version.record.name) for uid, version in last.items() if uid in back and not version.retired]
    again = [quoted(version.record.name) for uid, version in last.items() if uid in back and version.retired]
    lines = ((names, f"Taken back: {', '.join(names)}."), (again, COUNTS_AGAIN.format(listed(again or [""]))))
    return taken.saying(*(line for those, line in lines if those))


def _in_view(memory: Memory, uid: str, seen: int | None) -> Version:
    version = memory.existing(uid)
    if seen is not None and version.seq != seen:
        raise BadInput(CHANGED)
    return version


def _as(taken: Taken, version: Version, status: Status, event: Event, name: str) -> Taken:
    words = {
        Action.UPDATE: f"{name} is {'restored' if version.retired else 'confirmed'}.",
        Action.DECLINE: f"{name} is declined; I won't use it any more.",
        Action.ARCHIVE: f"{name} is put away; I won't use it any more.",
    }
    sure = 1.0 if status is Status.LOCKED and version.record.confidence is not None else version.record.confidence
    record = version.record.model_copy(update={"status": status, "confidence": sure})
    return taken.writing(taken.memory.next(version.uid, record, event), words[event.action])
