"""Forms as a person sends them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fateforger.session.forms import Form, FormSubmission


def fill_in(shown: Form, user_id: str, at: datetime, /, *, command_id: str = "sent", **values: Any) -> FormSubmission:
    """Return the submission of a form in which a person changed these fields."""
    given = {field.name: field.value for field in shown.inputs}
    unknown = values.keys() - given.keys()
    assert not unknown, unknown
    return FormSubmission(
        form=shown.form,
        session_id=shown.session_id,
        user_id=user_id,
        command_id=command_id,
        at=at,
        target=shown.target,
        size=shown.size,
        values=given | values,
        untouched=frozenset(given.keys() - values.keys()) if shown.edits else frozenset(),
    )
