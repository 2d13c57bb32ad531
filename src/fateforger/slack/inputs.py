"""What was filled into a form, by field name and type."""

from __future__ import annotations

from datetime import datetime

from fateforger.session.cards import FormSubmission, FormValue
from fateforger.slack.addresses import FIELD_PREFIX, VALUE_ACTION, FormAddress, unpacked
from fateforger.slack.arrivals import FormFilled, Ignored
from fateforger.slack.shapes import Entry, ViewSubmission

NOT_A_NUMBER = "Please write a whole number here."


def filled(payload: ViewSubmission, at: datetime, command_id: str) -> FormFilled | Ignored:
    """The submission in a payload; ``Ignored`` when the view is not a form of ours."""
    view = payload.view
    address = unpacked(FormAddress, view.private_metadata)
    if address is None:
        return Ignored("a view that is not a form")
    values: dict[str, FormValue] = {}
    unreadable: dict[str, str] = {}
    for block_id, entries in view.state.values.items():
        entry = entries.get(VALUE_ACTION)
        if entry is None or not block_id.startswith(FIELD_PREFIX):
            continue
        name = block_id.removeprefix(FIELD_PREFIX)
        try:
            values[name] = _value(entry)
        except ValueError:
            values[name] = None
            unreadable[name] = NOT_A_NUMBER
    submission = FormSubmission(
        form=address.form,
        session_id=address.session,
        user_id=payload.user.id,
        command_id=command_id,
        at=at,
        target=address.target,
        size=address.size,
        values=values,
    )
    return FormFilled(submission, tuple(values), unreadable)


def _value(entry: Entry) -> FormValue:
    """What stands in a field; ``None`` when it is empty. Raises ``ValueError`` for a number that is none."""
    match entry.type:
        case "number_input":
            return int(entry.value) if entry.value else None
        case "checkboxes":
            return bool(entry.selected_options)
        case "datepicker":
            return entry.selected_date
        case "timepicker":
            return entry.selected_time
        case "radio_buttons" | "static_select":
            return entry.selected_option.value if entry.selected_option else None
        case _:
            return entry.value or None
