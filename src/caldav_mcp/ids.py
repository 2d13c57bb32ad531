"""Event ids and the UIDs they stand for.

A legal event id is 5 to 1024 characters of `a-v0-9` (base32hex). A UID that is itself a legal id *is* the event's id,
so an event created here keeps the id it was asked for. Any other UID, as written by other CalDAV programs, becomes
`cdv` + base32hex of its UTF-8 bytes, lower case, unpadded: stable, legal and reversible without a table. A UID too
long for that becomes `cdh` + base32hex(SHA-256 of it), which is found again by looking through the calendar.

`id_of` and `uid_of` are inverse to each other, also for ids that look derived: `uid_of` decodes exactly what `id_of`
would have encoded. So asking for a new event under a derived id runs into the event that has it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from datetime import UTC, date, datetime

from caldav_mcp.errors import internal
from caldav_mcp.limits import MAX_EVENT_ID_CHARS

_LEGAL = re.compile(rf"[a-v0-9]{{5,{MAX_EVENT_ID_CHARS}}}")
_ENCODED, _HASHED = "cdv", "cdh"
_LONGEST_ENCODED = (MAX_EVENT_ID_CHARS - len(_ENCODED)) * 5 // 8
_INSTANCE = re.compile(r"(.+)_(\d{8}(?:T\d{6}Z)?)")


def is_legal(event_id: str) -> bool:
    return _LEGAL.fullmatch(event_id) is not None


def check_new_id(event_id: str) -> None:
    """Refuse an id that Google would refuse; raises `ToolError` with the reasons."""
    reasons = []
    if len(event_id) < 5:
        reasons.append("must be at least 5 characters long")
    if len(event_id) > MAX_EVENT_ID_CHARS:
        reasons.append(f"must not exceed {MAX_EVENT_ID_CHARS} characters")
    if re.fullmatch(r"[a-v0-9]+", event_id) is None:
        reasons.append("can only contain lowercase letters a-v and digits 0-9 (base32hex encoding)")
    if reasons:
        raise internal(f"Invalid event ID: {', '.join(reasons)}")


def new_id() -> str:
    return _base32hex(secrets.token_bytes(16))


def id_of(uid: str) -> str:
    """Return the event id of a calendar object's UID."""
    if is_legal(uid) and _decode(uid) is None:
        return uid
    data = uid.encode()
    if len(data) > _LONGEST_ENCODED:
        return _HASHED + _base32hex(hashlib.sha256(data).digest())
    return _ENCODED + _base32hex(data)


def uid_of(event_id: str) -> str:
    """Return the UID of an event id (for a hashed id: the id itself, see `is_hashed`)."""
    decoded = _decode(event_id)
    return event_id if decoded is None else decoded


def is_hashed(event_id: str) -> bool:
    """Check whether an id may be the one-way form, whose UID only a search of the calendar finds."""
    return event_id.startswith(_HASHED) and len(event_id) == len(_HASHED) + 52


def instance_id(series_id: str, original_start: datetime | date) -> str:
    """Return the id of one occurrence: `<series>_<UTC start>`, or `<series>_<date>` for an all-day one."""
    if isinstance(original_start, datetime):
        return f"{series_id}_{original_start.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return f"{series_id}_{original_start:%Y%m%d}"


def split_instance(event_id: str) -> tuple[str, str | None]:
    """Take an id apart into the series' id and the occurrence's stamp (None: not an occurrence)."""
    match = _INSTANCE.fullmatch(event_id)
    return (event_id, None) if match is None else (match[1], match[2])


def _decode(event_id: str) -> str | None:
    if not event_id.startswith(_ENCODED) or len(event_id) == len(_ENCODED):
        return None
    digits = event_id[len(_ENCODED) :]
    try:
        uid = base64.b32hexdecode(digits.upper() + "=" * (-len(digits) % 8)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    is_the_encoding = _base32hex(uid.encode()) == digits
    return uid if is_the_encoding and not (is_legal(uid) and _decode(uid) is None) else None


def _base32hex(data: bytes) -> str:
    return base64.b32hexencode(data).decode().rstrip("=").lower()
