"""Sessions with changed fields, in any group."""

from __future__ import annotations

from typing import Any

from fateforger.session.model import Session
from fateforger.values import replace

GROUPS = ("options", "day", "open_work", "planning", "sync", "rules", "thread")


def with_fields(session: Session, **fields: Any) -> Session:
    """Return the session with changed fields; those of a group are named without it."""
    for group in GROUPS:
        value = getattr(session, group)
        own = {name: fields.pop(name) for name in type(value).model_fields if name in fields}
        session = replace(session, **{group: replace(value, **own)})
    return replace(session, **fields)


def fields_of(session: Session) -> dict[str, Any]:
    """Return the fields of the session and of its groups in one level."""
    own = {name: getattr(session, name) for name in Session.model_fields if name not in GROUPS}
    for group in GROUPS:
        value = getattr(session, group)
        own |= {name: getattr(value, name) for name in type(value).model_fields}
    return own
