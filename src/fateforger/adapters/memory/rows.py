"""A constraint as a memory of Mem0: text to search, the whole record, and the flat filter fields (S13).

Stores read ``*`` in a filter as "any" and trim values. People and constraints are therefore named by a digest, which no
text can alter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from fateforger.errors import BadInput, RebuildNeeded
from fateforger.memory.documents import read_version, write_version
from fateforger.memory.record import ConstraintRecord, build_filter_fields
from fateforger.memory.versions import Version

OWNER, KEY = "user_id", "key"


def hash_owner(user_id: str) -> str:
    """Return the name of a person in the store."""
    return f"person-{_digest(user_id)}"


def hash_key(uid: str) -> str:
    """Return the name of a constraint in the store."""
    return _digest(uid)


def clean(text: str) -> str:
    """Replace lone surrogates and zero bytes, which some stores cannot keep."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def build_metadata(version: Version) -> dict[str, Any]:
    """Return the metadata of a version, always with all keys, since an update keeps the keys it does not name."""
    line = write_version(version)
    record = line.pop("constraint_record")
    return {
        **_clean_filter_fields(version.record),
        KEY: hash_key(version.uid),
        "constraint_record": _to_storable(record),
        "line": _to_storable({**line, "seq": version.seq}),
    }


def read_memory(memory: Mapping[str, Any], user_id: str | None = None) -> Version:
    """Return the version in a memory; it holds the whole of it.

    Raises :class:`RebuildNeeded` when it cannot be read, belongs to another person than its owner or ``user_id``, or
    its fields contradict its record.
    """
    try:
        kept = memory["metadata"]
        line = dict(_decode(kept["line"]))
        seq = line.pop("seq")
        version = read_version({**line, "constraint_record": _decode(kept["constraint_record"])}, seq=seq)
    except (BadInput, KeyError, TypeError, ValueError):
        raise RebuildNeeded("The index of constraints holds a row that I cannot read; it has to be rebuilt.") from None
    expected = {**_clean_filter_fields(version.record), KEY: hash_key(version.uid)}
    owner = memory.get(OWNER, kept.get(OWNER))
    is_theirs = user_id in {None, version.user_id} and owner == hash_owner(version.user_id)
    if not is_theirs or any(kept.get(name) != value for name, value in expected.items()):
        raise RebuildNeeded("The index of constraints contradicts itself; it has to be rebuilt.")
    return version


def _clean_filter_fields(record: ConstraintRecord) -> dict[str, Any]:
    fields = build_filter_fields(record)
    return {name: clean(value) if isinstance(value, str) else value for name, value in fields.items()}


def _to_storable(document: dict[str, Any]) -> dict[str, Any] | str:
    """Return the document, or its JSON text if it contains characters that PostgreSQL cannot keep in a document."""
    text = json.dumps(document, ensure_ascii=False)
    return document if text == clean(text) and "\\u0000" not in text else json.dumps(document)


def _decode(kept: Any) -> Any:
    return json.loads(kept) if isinstance(kept, str) else kept


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
