"""A constraint as Mem0 keeps it: words to search, the whole record, and the flat fields beside it (S13).

A store reads ``*`` in a filter as "any", and trims what it is given; so people and constraints are named in it by a
digest, which no text can turn into anything else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fateforger.constraints import ConstraintRecord, Version, filter_fields, read_version, write_version
from fateforger.errors import BadInput, RebuildNeeded

OWNER, KEY = "user_id", "key"


def owner_of(user_id: str) -> str:
    """What a person is called in the store."""
    return f"person-{_digest(user_id)}"


def key_of(uid: str) -> str:
    """What a constraint is called in the store."""
    return _digest(uid)


def words_of(record: ConstraintRecord) -> str:
    """What a search looks at: what it is called, what was said, and what it is about."""
    aspect = record.aspect
    about = (aspect.aspect_label, aspect.category) if aspect is not None else ()
    parts = (record.name, record.description, *record.topics, *about)
    return clean(". ".join(part.strip() for part in parts if part and part.strip())) or "?"


def clean(text: str) -> str:
    """The text without what some stores cannot keep: halves of characters, and zero bytes."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def metadata_of(version: Version) -> dict[str, Any]:
    """Everything of a version, always all of the keys, since an update leaves in place what it does not name."""
    line = write_version(version)
    record = line.pop("constraint_record")
    return {
        **_flat(version.record),
        KEY: key_of(version.uid),
        "constraint_record": _storable(record),
        "line": _storable({**line, "seq": version.seq}),
    }


def read_memory(memory: Mapping[str, Any], user_id: str) -> Version:
    """The version that a memory shows. Raises :class:`RebuildNeeded` when it cannot be read, is of somebody else, or
    its fields do not agree with its record."""
    try:
        kept = memory["metadata"]
        line = dict(_read(kept["line"]))
        seq = line.pop("seq")
        version = read_version({**line, "constraint_record": _read(kept["constraint_record"])}, seq=seq)
    except (BadInput, KeyError, TypeError, ValueError):
        raise RebuildNeeded(
            "The index of constraints holds a row that I cannot read; it has to be made anew."
        ) from None
    expected = {**_flat(version.record), KEY: key_of(version.uid)}
    if version.user_id != user_id or any(kept.get(name) != value for name, value in expected.items()):
        raise RebuildNeeded("The index of constraints contradicts itself; it has to be made anew.")
    return version


def _flat(record: ConstraintRecord) -> dict[str, Any]:
    fields = filter_fields(record)
    return {name: clean(value) if isinstance(value, str) else value for name, value in fields.items()}


def _storable(document: dict[str, Any]) -> dict[str, Any] | str:
    """As it is; as JSON text where it holds what PostgreSQL cannot keep in a document."""
    text = json.dumps(document, ensure_ascii=False)
    return document if text == clean(text) and "\\u0000" not in text else json.dumps(document)


def _read(kept: Any) -> Any:
    return json.loads(kept) if isinstance(kept, str) else kept


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
