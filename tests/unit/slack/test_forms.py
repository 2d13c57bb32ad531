"""Forms as modals, and what comes back from them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from tests.factories.listeners import dispatch

from fateforger.session.cards import Button, Choice, Prose
from fateforger.session.forms import (
    ChoiceField,
    DateField,
    FlagField,
    Form,
    FormField,
    FormSubmission,
    FormValue,
    ManyField,
    NumberField,
    TextField,
    TextPart,
    TimeField,
)
from fateforger.slack.blocks import option
from fateforger.slack.forms import modal
from fateforger.slack.ids import FormAddress
from fateforger.slack.payloads import NOT_A_NUMBER, OpenForm, parse_form
from fateforger.values import replace
from localslack.blocks.surfaces import check_view
from localslack.form_state import state_values

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)

DEEP = (Choice(label="Deep", value="deep"), Choice(label="Shallow", value="shallow"))
ZONES = tuple(Choice(label=f"Zone {n}", value=f"z{n}") for n in range(9))

EVERY_FIELD: tuple[FormField, ...] = (
    TextField(name="title", label="Title", value="Write", placeholder="What?", hint="A few words", max_length=80),
    TextField(name="notes", label="Notes", optional=True, multiline=True, max_length=9000),
    NumberField(name="minutes", label="Minutes", value=90, minimum=5, maximum=600),
    ChoiceField(name="depth", label="Depth", choices=DEEP, value="shallow"),
    ChoiceField(name="zone", label="Zone", choices=ZONES, value="z3"),
    DateField(name="day", label="Day", value=date(2026, 3, 5)),
    TimeField(name="start", label="Start", value=time(9, 30), optional=True),
    FlagField(name="one", label="The one thing", value=True),
    ManyField(name="zones", label="Zones", choices=ZONES, value=("z1", "z8"), placeholder="Everywhere"),
    TextPart(text="That is **all**."),
)


def form(*fields: FormField, **changes: Any) -> Form:
    given = {"form": "task", "session_id": "s1", "target": "t1", "title": "Task", "submit": "Save", "fields": fields}
    return Form(**(given | changes))


def build_view(made: Form) -> dict[str, Any]:
    view = modal(made)
    check_view(view, "modal")
    return view


def dispatch_view(view: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a submission's handler."""
    call = dispatch({"type": "view_submission", "user": {"id": "U1"}, "view": view}, AT)
    assert call is not None
    assert call.name == "FormHandler.submit"
    return call.given


def submit_view(view: dict[str, Any], entered: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what the handler gets when a person sends the view after changing some entries."""
    values = state_values(view["blocks"], {f"field.{name}": {"value": e} for name, e in (entered or {}).items()})
    sent = view | {"id": "V1", "hash": "h1", "state": {"values": values}}
    return dispatch_view(sent)


def test_a_form_comes_back_with_what_it_was_opened_with() -> None:
    filled = submit_view(build_view(form(*EVERY_FIELD, size=2)))
    values: dict[str, FormValue] = {
        "title": "Write",
        "notes": None,
        "minutes": 90,
        "depth": "shallow",
        "zone": "z3",
        "day": date(2026, 3, 5),
        "start": time(9, 30),
        "one": True,
        "zones": ("z1", "z8"),
    }
    expected = FormSubmission(
        form="task",
        session_id="s1",
        user_id="U1",
        command_id=filled["submission"].command_id,
        at=AT,
        target="t1",
        size=2,
        values=values,
    )
    address = FormAddress(form="task", session="s1", target="t1", size=2)
    assert filled == {
        "submission": expected,
        "shown": OpenForm(address, "V1"),
        "blocks": {name: f"field.{name}" for name in values},
        "unreadable": {},
    }


def test_what_a_person_changed_comes_back() -> None:
    entered = {
        "title": {"type": "plain_text_input", "value": "Read  "},
        "minutes": {"type": "number_input", "value": None},
        "depth": {"type": "radio_buttons", "selected_option": {"value": "deep"}},
        "start": {"type": "timepicker", "selected_time": None},
        "one": {"type": "checkboxes", "selected_options": []},
        "zones": {"type": "multi_static_select", "selected_options": []},
    }
    values = submit_view(build_view(form(*EVERY_FIELD)), entered)["submission"].values
    assert [values[name] for name in entered] == ["Read  ", None, "deep", None, False, ()]


def test_fields_that_come_back_as_they_were_shown_are_untouched() -> None:
    """S513: also a text of which only the beginning fits; a form that is not about known values has none of these."""
    long = TextField(name="long", label="Long", value="x" * 4000, max_length=9000)
    shown = form(*EVERY_FIELD, long)
    names = {field.name for field in shown.inputs}
    entered = {
        "title": {"type": "plain_text_input", "value": "Read"},
        "start": {"type": "timepicker", "selected_time": None},
        "one": {"type": "checkboxes", "selected_options": []},
    }
    assert submit_view(build_view(replace(shown, edits=True)))["submission"].untouched == names
    sent = submit_view(build_view(replace(shown, edits=True)), entered)["submission"]
    assert sent.untouched == names - entered.keys()
    assert submit_view(build_view(shown))["submission"].untouched == frozenset()


def test_a_form_that_is_shown_again_says_what_it_showed_first() -> None:
    """S513: Slack keeps what a field has, and it would seem to be changed if its value was another one by now."""
    full = form(*EVERY_FIELD, edits=True)
    empty = full.with_values(dict.fromkeys(field.name for field in full.inputs))
    for first, now in ((full, empty), (empty, full)):
        opened = parse_form(build_view(first) | {"id": "V1"})
        assert opened is not None
        assert modal(now.with_values(opened.initial))["blocks"] == modal(first)["blocks"]


@pytest.mark.parametrize(("choices", "kind"), [(1, "checkboxes"), (10, "checkboxes"), (11, "multi_static_select")])
def test_few_boxes_are_ticked_and_many_are_a_select(choices: int, kind: str) -> None:
    """Ticked choices come back for any number of them; a flag's one box is still a yes or no."""
    things = tuple(Choice(label=f"Thing {n}", value=f"t{n}") for n in range(choices))
    field = ManyField(name="things", label="Monday", choices=things, value=("t0",), placeholder="None", boxes=True)
    view = build_view(form(field, FlagField(name="one", label="One", value=True)))
    assert view["blocks"][0]["element"]["type"] == kind
    ticked = {"things": {"type": kind, "selected_options": [{"value": "t0"}]}}
    flag = {"one": {"type": "checkboxes", "selected_options": [{"value": "yes"}]}}
    values = submit_view(view, ticked | flag)["submission"].values
    assert (values["things"], values["one"]) == (("t0",), True)


def test_the_same_submit_has_the_same_id_and_another_one_another() -> None:
    view = build_view(form(*EVERY_FIELD))
    sent = view | {"id": "V1", "hash": "h1"}
    ids = [dispatch_view(sent | {"hash": h})["submission"].command_id for h in ("h1", "h1", "h2")]
    assert ids[0] == ids[1] != ids[2]


def test_a_number_that_is_none_is_asked_for_again() -> None:
    filled = submit_view(build_view(form(*EVERY_FIELD)), {"minutes": {"type": "number_input", "value": "1.5"}})
    assert filled["unreadable"] == {"minutes": NOT_A_NUMBER}
    assert filled["submission"].values["minutes"] is None


@pytest.mark.parametrize(("choices", "kind"), [(1, "radio_buttons"), (4, "radio_buttons"), (5, "static_select")])
def test_few_choices_are_buttons_and_many_a_select(choices: int, kind: str) -> None:
    (block,) = build_view(form(ChoiceField(name="zone", label="Zone", choices=ZONES[:choices])))["blocks"]
    assert block["element"]["type"] == kind


def test_more_choices_than_slack_lists_are_mentioned() -> None:
    choices = tuple(Choice(label=str(n), value=str(n)) for n in range(130))
    (block,) = build_view(form(ChoiceField(name="zone", label="Zone", choices=choices)))["blocks"]
    assert len(block["element"]["options"]) == 100
    assert block["hint"]["text"] == "These are the first 100 of 130 choices."


def test_what_is_chosen_is_kept_among_more_choices_than_slack_lists() -> None:
    """S489: a task that waits for the hundred and twentieth one still does when its form was sent."""
    choices = tuple(Choice(label=str(n), value=str(n)) for n in range(130))
    many = ManyField(name="after", label="After", choices=choices, value=("3", "120"), placeholder="None")
    (block,) = build_view(form(many))["blocks"]
    assert block["element"]["initial_options"] == [option(choices[3]), option(choices[120])]
    assert len(block["element"]["options"]) == 100
    assert block["hint"]["text"] == "These are the first 100 of 130 choices."


def test_a_long_title_is_whole_in_the_form_itself() -> None:
    title = "Change “Write the *quarterly* report & send it”"
    view = build_view(form(TextField(name="title", label="Title"), title=title))
    assert view["title"]["text"] == "Change “Write the *quar…"
    assert view["blocks"][0]["text"]["text"] == "*Change “Write the *quarterly* report &amp; send it”*"


def test_a_value_longer_than_its_field_is_said_to_be_short() -> None:
    (block,) = build_view(form(TextField(name="title", label="Title", value="x" * 10_000, max_length=300)))["blocks"]
    assert block["element"]["initial_value"] == "x" * 300
    assert block["hint"]["text"] == "This is longer than fits here; only its beginning is shown."


def test_more_rows_are_offered_until_there_is_no_room() -> None:
    rows = [TextField(name=f"t{n}", label="Title", optional=True) for n in range(120)]
    few = build_view(form(*rows[:98], more="One more"))
    assert (len(few["blocks"]), few["blocks"][-1]["block_id"]) == (99, "more")
    many = build_view(form(*rows, more="One more"))
    assert len(many["blocks"]) == 99
    assert (
        many["blocks"][-1]["text"]["text"] == "There is no room for more fields here. Send these, then open it again."
    )


def test_a_form_only_to_look_at_and_press() -> None:
    row = Prose(
        text="**No calls**", control=Button(label="Edit", action="form.rule", target="u1", spoken="Edit no calls")
    )
    view = build_view(form(row, submit=None, close="Close"))
    assert "submit" not in view
    assert view["close"]["text"] == "Close"
    assert view["blocks"][0]["accessory"]["accessibility_label"] == "Edit no calls"


def test_another_edition_of_a_field_starts_anew() -> None:
    """A typed text survives only where the block stays the same."""
    fields = [TextField(name="words", label="Words", value="gym", edition=n) for n in (0, 1)]
    views = [build_view(form(field)) for field in fields]
    assert [view["blocks"][0]["block_id"] for view in views] == ["field.words", "field.words~1"]
    assert [submit_view(view)["submission"].values for view in views] == [{"words": "gym"}] * 2


def test_other_views_are_ignored() -> None:
    view = {"id": "V1", "type": "modal", "callback_id": "theirs", "hash": "h", "private_metadata": "someone else's"}
    assert dispatch({"type": "view_submission", "user": {"id": "U1"}, "view": view}, AT) is None
