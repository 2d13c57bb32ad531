"""Values of a submitted form, by field name and type."""

from __future__ import annotations

from datetime import datetime

from fateforger.session.cards import FormSubmission, FormValue
from fateforger.slack.addresses import VALUE_ACTION, YES, FormAddress, field_name, unpack
from fateforger.slack.arrivals import FormSubmitted, Ignored, ShownForm
from fateforger.slack.shapes import Entry, View, ViewSubmission

NOT_A_NUMBER = "Please write a whole number here."


def parse_submission(payload: ViewSubmission, at: datetime, command_id: str) -> FormSubmitted | Ignored:
    """Parse a submission; return ``Ignored`` if the view is not one of this app's forms."""
    view = payload.view
    address = unpack(FormAddress, view.private_metadata)
    if address is None:
        return Ignored("a view that is not a form")
    values: dict[str, FormValue] = {}
    unreadable: dict[str, str] = {}
    blocks: dict[str, str] = {}
    for block_id, entries in view.state.values.items():
        entry, name = entries.get(VALUE_ACTION), field_name(block_id)
        if entry is None or name is None:
            continue
        blocks[name] = block_id
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
    return FormSubmitted(submission, address, list_forms_below(view, address), blocks, unreadable)


def list_forms_below(view: View, address: FormAddress) -> tuple[ShownForm, ...]:
    """Return the forms under an open one, nearest first. Slack names the nearest and the lowest of at most two."""
    found: list[ShownForm] = []
    under = address.below
    for view_id in (view.previous_view_id, view.root_view_id):
        if under is None or view_id is None or view_id in {view.id, *(shown.view_id for shown in found)}:
            continue
        found.append(ShownForm(view_id, under))
        under = under.below
    return tuple(found)


def read_chosen(view: View) -> dict[str, str]:
    """Return the values of an open form as text, by field name, without empty ones."""
    found: dict[str, str] = {}
    for block_id, entries in view.state.values.items():
        entry, name = entries.get(VALUE_ACTION), field_name(block_id)
        if entry is None or name is None:
            continue
        one = entry.selected_option.value if entry.selected_option else None
        many = " ".join(picked.value for picked in entry.selected_options)
        text = entry.value or one or many or entry.selected_date or entry.selected_time
        if text:
            found[name] = str(text)
    return found


def _value(entry: Entry) -> FormValue:
    """Return the value of a field; ``None`` if it is empty. Raises ``ValueError`` for an invalid number."""
    match entry.type:
        case "number_input":
            return int(entry.value) if entry.value else None
        case "checkboxes":
            ticked = tuple(picked.value for picked in entry.selected_options)
            return ticked if ticked and ticked != (YES,) else bool(ticked)
        case "multi_static_select":
            return tuple(picked.value for picked in entry.selected_options)
        case "datepicker":
            return entry.selected_date
        case "timepicker":
            return entry.selected_time
        case "radio_buttons" | "static_select":
            return entry.selected_option.value if entry.selected_option else None
        case _:
            return entry.value or None
