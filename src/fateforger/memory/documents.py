"""JSON documents of constraints, with one sentence per mistake, and checks of ids and texts that a store keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fateforger.errors import BadInput, validate
from fateforger.limits import MAX_PERSON_CHARS
from fateforger.memory.applicability import Answer, Context
from fateforger.memory.record import ConstraintRecord, compute_uid
from fateforger.memory.versions import RETIRING, SUPERSEDED, Event, Instant, Version, is_superseded_reason
from fateforger.memory.vocabulary import Action, Status
from fateforger.values import Value, replace
from fateforger.workflow.day_rules import read_new_day_rule


class _Line(Value):
    user_id: str
    constraint_record: ConstraintRecord
    created_at: Instant | None = None
    updated_at: Instant
    event: Event | None = None
    session_id: str | None = None


def read_version(document: object, *, seq: int = 0) -> Version:
    """Parse a version: user_id, constraint_record, created_at, updated_at, event {action, reason}, session_id.

    A record that its event archives or declines gets the status declined. A record without a uid gets the computed one.
    Raises :class:`BadInput` with the first mistake and its place.
    """
    if not isinstance(document, Mapping):
        raise BadInput("A constraint is a JSON object with user_id, constraint_record and updated_at.")
    line = validate(_Line, document)
    event = line.event or Event()
    record = line.constraint_record
    if event.action in RETIRING and record.status is not Status.DECLINED:
        record = replace(record, status=Status.DECLINED)
    if record.lifecycle.uid is None:
        record = record.with_uid(compute_uid(record, line.user_id, line.session_id))
    return Version(
        user_id=line.user_id,
        record=record,
        created_at=line.created_at or line.updated_at,
        updated_at=line.updated_at,
        event=event,
        session_id=line.session_id,
        seq=seq,
    )


def write_version(version: Version) -> dict[str, Any]:
    """Return a line that :func:`read_version` turns back into the same version, ready for ``json.dumps``.

    A ``supersede`` is written in the actions that every reader knows: archived because superseded, or updated if it
    stays in force on other days.
    """
    return {
        "user_id": version.user_id,
        "constraint_record": write_record(version.record),
        "created_at": version.created_at.isoformat(),
        "updated_at": version.updated_at.isoformat(),
        "event": _write_event(version),
        "session_id": version.session_id,
    }


def _write_event(version: Version) -> dict[str, str | None]:
    action, reason = version.event.action, version.event.reason
    if action is not Action.SUPERSEDE:
        return {"action": action.value, "reason": reason}
    if not is_superseded_reason(reason):
        reason = f"{SUPERSEDED}: {reason.strip()}" if reason and reason.strip() else SUPERSEDED
    return {"action": (Action.ARCHIVE if version.retired else Action.UPDATE).value, "reason": reason}


def read_record(document: object) -> ConstraintRecord:
    """Parse a record that is stated now. Raises :class:`BadInput` with the first mistake and its place."""
    if not isinstance(document, Mapping):
        raise BadInput("A constraint_record is a JSON object with at least a name.")
    record = validate(ConstraintRecord, document)
    if record.payload.day_rule is not None:
        try:
            read_new_day_rule(record.payload.day_rule)
        except BadInput as error:
            raise BadInput(f"At {error.where}: {error.message}", where="payload.day_rule") from None
    return record


def write_record(record: ConstraintRecord) -> dict[str, Any]:
    """Return the record as JSON with only the fields that were set, so that it comes back without loss."""
    return record.model_dump(mode="json", by_alias=True, exclude_unset=True)


def merge_document(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge changes into a document, group by group."""
    whole = dict(document)
    for name, value in changes.items():
        group = whole.get(name)
        whole[name] = merge_document(group, value) if isinstance(group, dict) and isinstance(value, Mapping) else value
    return whole


def read_context(document: object) -> Context:
    """Parse a context. Raises :class:`BadInput` with the first mistake and its place."""
    if not isinstance(document, Mapping):
        raise BadInput("A context is a JSON object with at least user_id, and as_of or now.")
    return validate(Context, document)


def write_answer(answer: Answer) -> dict[str, Any]:
    """Return ``{"constraints":[{"uid","constraint_record","reasons"}],"excluded":[{"uid","reason","why"}]}``."""
    return {
        "constraints": [
            {"uid": item.uid, "constraint_record": write_record(item.record), "reasons": list(item.reasons)}
            for item in answer.applicable
        ],
        "excluded": [{"uid": item.uid, "reason": item.reason, "why": item.why.value} for item in answer.excluded],
    }


def check_person(user_id: str) -> str:
    """Return the id unchanged. No character of an id has a meaning. Raises :class:`BadInput`."""
    if not user_id.strip():
        raise BadInput("Say whose: the id of a person is missing.", where="user_id")
    if len(user_id) > MAX_PERSON_CHARS:
        raise BadInput(f"The id of a person has {MAX_PERSON_CHARS} characters at most.", where="user_id")
    _check_text(user_id, "user_id")
    return user_id


def check_version(version: Version) -> Version:
    """Return the version unchanged. Raises :class:`BadInput` if some store could not return it unchanged."""
    check_person(version.user_id)
    for text, where in (
        (version.uid, "lifecycle.uid"),
        (version.session_id or "", "session_id"),
        (version.event.reason or "", "event.reason"),
    ):
        _check_text(text, where)
    if not _survives_json(version.record):
        sentence = "It holds something that JSON has not: half a character (a lone surrogate), or a number like NaN."
        raise BadInput(sentence, where="constraint_record")
    return version


def _survives_json(record: ConstraintRecord) -> bool:
    """Check whether the written record can be read back and is equal (S13)."""
    try:
        return ConstraintRecord.model_validate_json(json.dumps(write_record(record), allow_nan=False)) == record
    except ValueError:
        return False


def _check_text(text: str, where: str) -> None:
    if "\x00" in text:
        raise BadInput(f"“{where}” holds a NUL character, which no database keeps.", where=where)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"“{where}” holds half a character (a lone surrogate).", where=where) from None
