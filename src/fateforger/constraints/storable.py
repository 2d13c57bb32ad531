"""What may be stored: ids and texts that every store keeps and compares character by character."""

from __future__ import annotations

import json

from fateforger.constraints.reading import write_record
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Version
from fateforger.errors import BadInput

MAX_PERSON = 200
"""Characters of a person's id."""


def check_person(user_id: str) -> str:
    """The id, as it is: no two ids are alike, and no character of one means anything. Raises :class:`BadInput`."""
    if not user_id.strip():
        raise BadInput("Say whose constraints: the id of a person is missing.", where="user_id")
    if len(user_id) > MAX_PERSON:
        raise BadInput(f"The id of a person has {MAX_PERSON} characters at most.", where="user_id")
    _check_text(user_id, "user_id")
    return user_id


def check_version(version: Version) -> Version:
    """The version, as it is. Raises :class:`BadInput` when some store could not give it back as it is."""
    check_person(version.user_id)
    for text, where in (
        (version.uid, "lifecycle.uid"),
        (version.session_id or "", "session_id"),
        (version.event.reason or "", "event.reason"),
    ):
        _check_text(text, where)
    if not _comes_back(version.record):
        sentence = "It holds something that JSON has not: half a character (a lone surrogate), or a number like NaN."
        raise BadInput(sentence, where="constraint_record")
    return version


def _comes_back(record: ConstraintRecord) -> bool:
    """Whether what is written can be read, and is the same then (S13)."""
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
