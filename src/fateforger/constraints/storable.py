"""Check ids and texts that every store has to keep and compare character by character."""

from __future__ import annotations

import json

from fateforger.constraints.reading import write_record
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Version
from fateforger.errors import BadInput

MAX_PERSON = 200
"""The most characters of a person's id."""


def check_person(user_id: str) -> str:
    """Return the id unchanged. No character of an id has a meaning. Raises :class:`BadInput`."""
    if not user_id.strip():
        raise BadInput("Say whose constraints: the id of a person is missing.", where="user_id")
    if len(user_id) > MAX_PERSON:
        raise BadInput(f"The id of a person has {MAX_PERSON} characters at most.", where="user_id")
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
