"""Fields of forms about the details of a task, the same for a task of the day and for one of the queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fateforger.limits import MAX_NOTES_CHARS, MAX_QUERY_CHARS, MAX_TITLE_CHARS
from fateforger.planning.task_details import BEST_TIMES, KINDS, TaskDetails, TaskKind, change_details
from fateforger.session.cards import Choice
from fateforger.session.forms import (
    ChoiceField,
    DateField,
    FlagField,
    Form,
    FormField,
    Input,
    ManyField,
    NumberField,
    TextField,
    TimeField,
)
from fateforger.tasks.task import NORMAL, PRIORITIES
from fateforger.text import capitalize
from fateforger.text import gettext as _
from fateforger.ui.form_values import Filled, fold_form

FIRST = frozenset({"title", "minutes", "remove"})
"""Fields that a form about a task always shows."""
USUAL_VALUES: Mapping[str, frozenset[str | None]] = {
    "kind": frozenset({TaskKind.DEEP, "do"}),
    "nature": frozenset({TaskKind.DEEP}),
    "priority": frozenset({None, str(NORMAL)}),
}
"""Values that most tasks have, by field; a field with one of them counts as empty."""


def fold_fields(form: Form, size: int) -> Form:
    """Return a form about a task without its empty fields, and with a button that shows them; all of it if asked for.

    ``size`` is that of the request. A reader only reads the fields that a submission has.
    """
    rare = {each.name for each in form.inputs if not _is_filled(each)}
    return fold_form(form, size, rare, _("More: kind, times, people, place"))


def _is_filled(part: Input) -> bool:
    """Check whether a field is always shown: one that has to be filled in, or is."""
    if part.name in FIRST:
        return True
    if isinstance(part, ChoiceField) and part.name in USUAL_VALUES:
        return part.value not in USUAL_VALUES[part.name]
    return bool(part.value) or not (isinstance(part, FlagField | ManyField) or part.optional)


def build_kind_field(details: TaskDetails, name: str = "kind", label: str = "") -> ChoiceField:
    return ChoiceField(
        name=name,
        label=label or _("Kind"),
        choices=tuple(Choice(label=_(label), value=value) for value, label in KINDS.items()),
        value=details.kind.value,
    )


def build_pieces_field(details: TaskDetails) -> FlagField:
    """Return the box to tick for a task that may be done in pieces."""
    return FlagField(name="splittable", label=_("It may be done in pieces"), value=details.splittable is True)


def build_detail_fields(
    details: TaskDetails, others: tuple[Choice, ...], *, priority: bool = True
) -> tuple[FormField, ...]:
    """Return the fields of all details besides the kind and the pieces.

    ``others`` are the tasks that it may come after. A task of the queue has its ``priority`` outside of the details.
    """
    return (
        TimeField(name="at", label=_("Starts at"), optional=True, value=details.at),
        DateField(name="due_day", label=_("Due on"), optional=True, value=details.due_day),
        TimeField(name="due_time", label=_("Due at"), optional=True, value=details.due_time),
        DateField(name="from_day", label=_("Not before (day)"), optional=True, value=details.from_day),
        TimeField(name="from_time", label=_("Not before (time)"), optional=True, value=details.from_time),
        ChoiceField(
            name="best",
            label=_("Best done"),
            optional=True,
            choices=tuple(Choice(label=_(label), value=value) for value, label in BEST_TIMES.items()),
            value=None if details.best is None else details.best.value,
        ),
        *((_build_priority(details),) if priority else ()),
        TextField(
            name="people",
            label=_("People to be with"),
            optional=True,
            value=", ".join(details.people),
            placeholder=_("Names, with commas between them"),
        ),
        TextField(
            name="place",
            label=_("Place"),
            optional=True,
            value=details.travel.place if details.travel else "",
            max_length=MAX_QUERY_CHARS,
        ),
        NumberField(
            name="travel_minutes",
            label=_("Minutes to get there"),
            optional=True,
            value=(details.travel.minutes or None) if details.travel else None,
            minimum=0,
            maximum=240,
            hint=_("The way back takes as long."),
        ),
        *(
            (
                ManyField(
                    name="after",
                    label=_("Comes after"),
                    choices=others,
                    value=tuple(each for each in details.after if any(each == o.value for o in others)),
                    placeholder=_("No other task"),
                ),
            )
            if others
            else ()
        ),
        TextField(
            name="items",
            label=_("Small tasks in it"),
            optional=True,
            multiline=True,
            max_length=MAX_NOTES_CHARS,
            value="\n".join(item.title for item in details.items),
            placeholder=_("One a line; each is ticked off on its own."),
        ),
    )


def _build_priority(details: TaskDetails) -> ChoiceField:
    return ChoiceField(
        name="priority",
        label=_("Priority"),
        optional=True,
        choices=tuple(Choice(label=capitalize(_(name)), value=str(n)) for n, name in PRIORITIES.items()),
        value=None if details.priority is None else str(details.priority),
        hint=_("If you leave it open, the order of the list decides."),
    )


def read_details(before: TaskDetails, filled: Filled, *, kind: str = "kind", priority: bool = True) -> TaskDetails:
    """Return the details as filled in; those that were folded away stay as they were. Raises ``BadInput``.

    ``kind`` is the name of the field of the kind; ``priority`` is as in :func:`build_detail_fields`.
    """
    readers: dict[str, Callable[[str], object]] = {
        **dict.fromkeys(("at", "due_time", "from_time"), filled.clock),
        **dict.fromkeys(("due_day", "from_day"), filled.day),
        "best": filled.choice,
        "people": lambda name: _split(filled.text(name, MAX_TITLE_CHARS), ","),
        "place": lambda name: filled.text(name, 200),
        "travel_minutes": lambda name: filled.minutes(name, least=0, most=240),
        "items": lambda name: _split(filled.text(name, MAX_NOTES_CHARS), "\n"),
        "after": filled.many,
        # An empty box leaves open whether a task may be done in pieces, unless the person said that it may not.
        "splittable": lambda name: filled.flag(name) or (None if before.splittable is not False else False),
    }
    if priority:
        readers["priority"] = lambda name: None if (chosen := filled.choice(name)) is None else int(chosen)
    said: dict[str, Any] = {name: read(name) for name, read in readers.items() if filled.has(name)}
    if (chosen := filled.choice(kind)) is not None:
        said["kind"] = chosen
    return change_details(said, before)


def _split(text: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())
