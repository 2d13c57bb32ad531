"""Forms about the day: time zone, frame, blocks, and the progress so far."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time

from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_LATE_MINUTES,
    MAX_LUNCH_MINUTES,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_TITLE_CHARS,
    MAX_ZONE_CHARS,
)
from fateforger.planning.plan import Resolved
from fateforger.planning.task_details import KINDS, TaskKind
from fateforger.planning.timing import find_zone
from fateforger.session.cards import Choice
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.day import ChooseDate, SetFrame
from fateforger.session.commands.plan import AddBlock, EditBlock, RemoveBlock, Replan
from fateforger.session.day import frame_span, visible_start
from fateforger.session.forms import (
    ChoiceField,
    FlagField,
    Form,
    FormErrors,
    FormRequest,
    ManyField,
    NumberField,
    TextField,
    TextPart,
    TimeField,
)
from fateforger.session.frame import frame_in_force, hours_of, local_time
from fateforger.session.model import FrameFacts, Session
from fateforger.session.placement import find_first_free, resolved_block
from fateforger.text import format_day
from fateforger.text import gettext as _
from fateforger.ui.card_parts import MOST_CHOICES
from fateforger.ui.form_values import Filled, FormSpec, parse_task_line
from fateforger.ui.plan_cards import list_own_blocks, to_choice


def build_zone_form(session: Session, _request: FormRequest) -> Form:
    return Form(
        title=_("Time zone"),
        submit=_("Use it"),
        edits=True,
        fields=(
            TextField(
                name="tz",
                label=_("Time zone"),
                value=session.tz,
                placeholder="Europe/Amsterdam",
                hint=_("The city of your zone, such as New York, or its whole name, such as America/New_York."),
                max_length=MAX_ZONE_CHARS,
            ),
        ),
    )


def read_zone_form(_session: Session, filled: Filled) -> SessionCommand | FormErrors:
    name = filled.text("tz", MAX_ZONE_CHARS, needed=_("Please name a time zone, such as Europe/Amsterdam."))
    if not filled.errors:
        try:
            name = find_zone(name).key
        except ValueError as error:
            filled.errors["tz"] = f"{error}."
    return filled.or_errors(lambda: ChooseDate(**filled.envelope, tz=name))


def build_frame_form(session: Session, _request: FormRequest) -> Form:
    frame = frame_in_force(session)
    return Form(
        title=_("Hours of your day"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextPart(text=_("Times are local times on **{day}**.", day=format_day(session.date))),
            TimeField(name="day_start", label=_("Your day starts at"), value=visible_start(session)),
            TimeField(
                name="day_end",
                label=_("Your day ends at"),
                value=frame.day_end,
                hint=_("A time in the night that follows is fine."),
            ),
            TimeField(
                name="lunch_start",
                label=_("Lunch around"),
                optional=True,
                value=frame.lunch_start,
                hint=_("Lunch gives way to meetings."),
            ),
            NumberField(
                name="lunch_minutes",
                label=_("Minutes for lunch"),
                optional=True,
                value=frame.lunch_minutes,
                minimum=0,
                maximum=MAX_LUNCH_MINUTES,
                hint=_("0 means no lunch break."),
            ),
        ),
    )


def read_frame_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    start = filled.clock("day_start", needed=_("Please say when your day starts."))
    end = filled.clock("day_end", needed=_("Please say when your day ends."))
    lunch = filled.clock("lunch_start")
    minutes = filled.minutes("lunch_minutes", least=0, most=MAX_LUNCH_MINUTES)
    if start is None or end is None or filled.errors:
        return FormErrors(errors=filled.errors)
    shown = frame_in_force(session)
    if start == visible_start(session):
        # For a day in progress the form showed the clock, which is not a statement of the person.
        start = shown.day_start
    given = shown.lunch_given or (lunch, minutes or 0) != (shown.lunch_start, shown.lunch_minutes)
    frame = FrameFacts(day_start=start, day_end=end, lunch_start=lunch, lunch_minutes=minutes or 0, lunch_given=given)
    try:
        frame_span(session.date, session.tz, frame)
    except BadInput as error:
        filled.errors["day_end"] = error.message
    return filled.or_errors(lambda: SetFrame(**filled.envelope, frame=frame, base=shown))


USUAL_MINUTES = 30


def build_add_block_form(session: Session, request: FormRequest) -> Form:
    """Return the form, filled in with what a line of a list of tasks in the target says."""
    said = parse_task_line(request.target, hours=hours_of(session))
    minutes = said.minutes or USUAL_MINUTES
    return Form(
        title=_("Add a block"),
        submit=_("Add"),
        fields=(
            TextField(name="title", label=_("Title"), value=said.title, max_length=MAX_TITLE_CHARS),
            TimeField(
                name="start",
                label=_("Starts at"),
                value=said.at or said.from_time or find_first_free(session, minutes),
            ),
            NumberField(name="minutes", label=_("Minutes"), value=minutes, minimum=1, maximum=MAX_MINUTES),
            ChoiceField(
                name="kind",
                label=_("Kind"),
                choices=tuple(Choice(label=_(label), value=value) for value, label in KINDS.items()),
                value=(said.kind if request.target else TaskKind.DEEP).value,
            ),
            _notes_field(""),
        ),
    )


def read_added_block(_session: Session, filled: Filled) -> SessionCommand | FormErrors:
    title = filled.text("title", MAX_TITLE_CHARS, needed=_("A block needs a title."))
    start = filled.clock("start", needed=_("Please say when the block starts."))
    minutes = filled.minutes("minutes", needed=_("Please say how many minutes the block takes."))
    notes = filled.text("notes", MAX_NOTES_CHARS)
    kind = filled.choice("kind") or TaskKind.HABIT.value
    if kind not in KINDS:
        filled.errors["kind"] = _("Please choose the kind of the block.")
    if start is None or minutes is None or filled.errors:
        return FormErrors(errors=filled.errors)
    return AddBlock(**filled.envelope, title=title, start=start, minutes=minutes, task_kind=TaskKind(kind), notes=notes)


def build_edit_block_form(session: Session, request: FormRequest) -> Form:
    if session.planning.plan is None:
        raise BadInput(_("There is no plan to change yet."))
    block = resolved_block(session.planning.plan, request.target)
    return Form(
        target=block.key,
        title=_("Edit block"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextField(name="title", label=_("Title"), value=block.event.name, max_length=MAX_TITLE_CHARS),
            TimeField(name="start", label=_("Starts at"), value=_clock_of(session, block)),
            NumberField(name="minutes", label=_("Minutes"), value=block.minutes, minimum=1, maximum=MAX_MINUTES),
            _notes_field(block.event.description),
            FlagField(name="remove", label=_("Remove this block")),
        ),
    )


def read_edited_block(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command with only the fields that differ from the block."""
    if session.planning.plan is None:
        raise BadInput(_("There is no plan to change yet."))
    block = resolved_block(session.planning.plan, filled.submission.target)
    if filled.flag("remove"):
        return RemoveBlock(**filled.envelope, key=block.key)
    title = filled.text("title", MAX_TITLE_CHARS, needed=_("A block needs a title."))
    start = filled.clock("start", needed=_("Please say when the block starts."))
    minutes = filled.minutes("minutes", needed=_("Please say how many minutes the block takes."))
    notes = filled.text("notes", MAX_NOTES_CHARS)
    return filled.or_errors(
        lambda: EditBlock(
            **filled.envelope,
            key=block.key,
            title=None if title == block.event.name else title,
            notes=None if notes == block.event.description[:MAX_NOTES_CHARS].strip() else notes,
            start=None if start == _clock_of(session, block) else start,
            minutes=None if minutes == block.minutes else minutes,
        )
    )


def _clock_of(session: Session, block: Resolved) -> time:
    """Return the start of a block, as the card shows it."""
    return local_time(session, block.start).time().replace(second=0, microsecond=0)


def _notes_field(value: str) -> TextField:
    return TextField(
        name="notes",
        label=_("Notes"),
        optional=True,
        value=value[:MAX_NOTES_CHARS],
        multiline=True,
        max_length=MAX_NOTES_CHARS,
        hint=_("They go into the calendar event."),
    )


def build_replan_form(session: Session, _request: FormRequest) -> Form:
    choices = tuple(to_choice(session, block) for block in list_own_blocks(session)[:MOST_CHOICES])
    if not choices:
        raise BadInput(_("There is no block on the plan that this could be about."))
    return Form(
        title=_("How is it going?"),
        submit=_("Refit the rest"),
        fields=(
            NumberField(
                name="late",
                label=_("Minutes late"),
                optional=True,
                minimum=0,
                maximum=MAX_LATE_MINUTES,
                hint=_(
                    "How much longer the current block takes, or how much later the next one begins. 0: it begins now."
                ),
            ),
            _blocks("missed", _("Should be done by now, and is not"), choices),
            _blocks("done", _("Done already"), choices),
            _blocks("not_today", _("Not today; I'll offer it again when you plan another day"), choices),
        ),
    )


def read_replan_form(_session: Session, filled: Filled) -> SessionCommand | FormErrors:
    late = filled.minutes("late", least=0, most=MAX_LATE_MINUTES)
    chosen = {name: filled.many(name) for name in ("missed", "done", "not_today")}
    taken: set[str] = set()
    for name, keys in chosen.items():
        if not taken.isdisjoint(keys):
            filled.errors[name] = _("A block can be only one of these; take it out here or above.")
        taken.update(keys)
    return filled.or_errors(lambda: Replan(**filled.envelope, late=late, **chosen))


def _blocks(name: str, label: str, choices: tuple[Choice, ...]) -> ManyField:
    return ManyField(name=name, label=label, choices=choices, placeholder=_("None"))


PLAN_FORMS: Mapping[str, FormSpec[Session]] = {
    "zone": FormSpec(build_zone_form, read_zone_form),
    "frame": FormSpec(build_frame_form, read_frame_form),
    "add_block": FormSpec(build_add_block_form, read_added_block),
    "edit_block": FormSpec(build_edit_block_form, read_edited_block),
    "replan": FormSpec(build_replan_form, read_replan_form),
}
