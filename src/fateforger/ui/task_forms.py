"""Forms of Stage 2: tasks, offered tasks, and everything that missed days left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby

from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_DAY_TASKS,
    MAX_FORM_TASKS,
    MAX_GOAL_CHARS,
    MAX_GOALS,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_TITLE_CHARS,
)
from fateforger.memory.settings import Hours
from fateforger.planning.task_details import KINDS, PLAIN, TaskDetails, TaskKind, usual_details
from fateforger.session.cards import Choice, plain
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.day import AddTasks, BringAlong, DeferTask, RemoveTask, SetGoals, UpdateTask
from fateforger.session.commands.plan import MovePlan
from fateforger.session.forms import (
    ChoiceField,
    DateField,
    FlagField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    ManyField,
    NumberField,
    TextField,
    TextPart,
)
from fateforger.session.frame import hours_of
from fateforger.session.model import BlockPlan, OfferedInput, Session, Task
from fateforger.session.open_work import open_work_of_missed
from fateforger.session.other_days import check_free, check_other_day, next_working_day, other_days
from fateforger.session.stages import TimeboxingStage
from fateforger.session.tasks import TOO_MANY_TASKS, find_task, find_usual
from fateforger.text import format_day, format_length, join_sentences, mark_message
from fateforger.text import gettext as _
from fateforger.ui.detail_forms import (
    build_detail_fields,
    build_kind_field,
    build_pieces_field,
    fold_fields,
    read_details,
)
from fateforger.ui.form_values import (
    Filled,
    FormSpec,
    TaskLine,
    format_task_line,
    parse_task_line,
    split_task_list,
)
from fateforger.values import replace

ROWS = 3
MOST_USUAL = 3
"""Kinds of tasks whose usual length the form mentions."""
EACH_TASK = mark_message("More: kind and minutes of each task")
TOO_MANY_FOR_ROWS = mark_message(
    "This form has rows for up to {most} tasks. Save your list as it is; Edit… on the card has the kind and the minutes"
    " of each task."
)
LISTS = {"deep": TaskKind.DEEP, "other": TaskKind.SHALLOW}
"""Fields with one task a line, and the kind of their tasks."""


def build_tasks_form(session: Session, request: FormRequest) -> Form:
    """Return the form for new tasks: two lists with one task a line or, when more is asked for, a row for each task.

    The request's target is the text of a message that nothing could read; each of its lines may be a task. Raises
    ``BadInput`` if all of these are on the list.
    """
    said = () if request.size else _list_new_lines(session, request.target)
    typed = len(_list_typed(session, request))
    many = typed > MAX_FORM_TASKS
    rows = 0 if many else request.size and min(max(request.size, ROWS, typed), MAX_FORM_TASKS)
    drafts = session.stage is TimeboxingStage.CAPTURE_INPUTS
    return Form(
        title=_("What to get done"),
        submit=_("Save"),
        size=rows,
        more=None if many or rows == MAX_FORM_TASKS else _("More rows") if rows else _(EACH_TASK),
        fields=(
            *([TextPart(text=_(TOO_MANY_FOR_ROWS, most=MAX_FORM_TASKS))] if many else ()),
            *(_build_rows(rows, session, request) if rows else _build_lists(session, said, request.chosen)),
            *([FlagField(name="proceed", label=_("Draft my day right away"), value=True)] if drafts else ()),
        ),
    )


def _list_new_lines(session: Session, said: str) -> list[str]:
    """Return the tasks of a message that are not on the list yet."""
    there, hours = {task.title for task in session.day.inputs.tasks}, hours_of(session)
    lines = split_task_list(said, hours)
    new = [line for line in lines if parse_task_line(line, hours=hours).title not in there]
    if lines and not new:
        raise BadInput(_("These tasks are on your list already."))
    return new


def _build_lists(session: Session, said: Sequence[str], typed: Mapping[str, str]) -> tuple[FormField, ...]:
    values: dict[str, list[str]] = {name: [] for name in LISTS}
    for line in said:
        values["deep" if parse_task_line(line, hours=hours_of(session)).kind is TaskKind.DEEP else "other"].append(line)
    lists = (
        (_("Deep work, one task a line"), _hint_length(session)),
        (_("Everything else, one task a line"), _("What can be done in between: mail, calls, errands, sport.")),
    )
    return (
        *(
            TextField(
                name=name,
                label=label,
                hint=hint,
                multiline=True,
                optional=True,
                max_length=MAX_NOTES_CHARS,
                value=typed.get(name) or "\n".join(values[name]),
            )
            for name, (label, hint) in zip(LISTS, lists, strict=True)
        ),
        FlagField(name="first", label=_("The first task is the one thing that matters")),
    )


def _build_rows(rows: int, session: Session, request: FormRequest) -> tuple[FormField, ...]:
    typed = dict(enumerate(_list_typed(session, request), start=1))
    return (
        *(field for row in range(1, rows + 1) for field in _row_fields(row, session, typed.get(row))),
        ChoiceField(
            name="one_thing",
            label=_("The one thing that matters"),
            optional=True,
            choices=tuple(Choice(label=_("Task {row}", row=row), value=str(row)) for row in range(1, rows + 1)),
            hint=_("It comes first, and early in the day."),
        ),
    )


def _list_typed(session: Session, request: FormRequest) -> tuple[tuple[TaskLine, TaskKind], ...]:
    """Return what was typed into the lists before each task got a row of its own."""
    typed = ((request.chosen.get(name, ""), kind) for name, kind in LISTS.items())
    lines = ((line, kind) for text, kind in typed for line in text.splitlines() if line.strip())
    return tuple((parse_task_line(line, hours=hours_of(session)), kind) for line, kind in lines)


def _row_fields(row: int, session: Session, typed: tuple[TaskLine, TaskKind] | None) -> tuple[FormField, ...]:
    line, kind = typed or (TaskLine(""), None)
    return (
        TextField(
            name=f"title_{row}",
            label=_("Task {row}", row=row),
            optional=True,
            value=format_task_line(line)[:MAX_TITLE_CHARS],
            max_length=MAX_TITLE_CHARS,
            placeholder=_("What do you want to get done on {day}?", day=format_day(session.date)) if row == 1 else "",
        ),
        NumberField(
            name=f"minutes_{row}",
            label=_("Minutes for task {row}", row=row),
            optional=True,
            value=line.minutes,
            minimum=1,
            maximum=MAX_MINUTES,
            hint=_hint_minutes(session) if row == 1 else "",
        ),
        ChoiceField(
            name=f"kind_{row}",
            label=_("Kind of task {row}", row=row),
            optional=True,
            choices=tuple(Choice(label=_(label), value=value) for value, label in KINDS.items()),
            value=kind,
        ),
    )


def _hint_length(session: Session) -> str:
    """Return the hint of the list of deep work: how to write a length, with the usual ones."""
    example = _("Add the length and the time if you know them: “Report, 2 h”, “Gym at 18:30”, “Slides before 14:00”.")
    return join_sentences(_("What needs your undisturbed attention."), example, _hint_usual_minutes(session))


def _hint_minutes(session: Session) -> str:
    """Return the hint of an open number of minutes."""
    return _hint_usual_minutes(session) or _("Leave it open if you do not know.")


def _hint_usual_minutes(session: Session) -> str:
    """Return a sentence about the usual minutes of the best known kinds of tasks; nothing if none are known."""
    known = sorted(session.day.estimates, key=lambda each: -each.count)
    usual = [f"{each.name} {format_length(each.minutes)}" for each in known if each.minutes is not None]
    if not usual:
        return ""
    return _("If you leave it open, I plan what you usually need: {usual}.", usual=", ".join(usual[:MOST_USUAL]))


def read_tasks_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    lists = filled.has("deep")
    hours = hours_of(session)
    tasks = _read_lists(filled, hours) if lists else _read_rows(filled, filled.submission.size, hours)
    only_other = filled.text("other", MAX_NOTES_CHARS) and not filled.text("deep", MAX_NOTES_CHARS)
    first_field = "title_1" if not lists else "other" if only_other else "deep"
    if not tasks and not filled.errors:
        filled.errors[first_field] = _("Write down at least one thing to do.")
    elif len(session.day.inputs.tasks) + len(tasks) > MAX_DAY_TASKS:
        filled.errors[first_field] = _(TOO_MANY_TASKS, max_tasks=MAX_DAY_TASKS)
    return filled.or_errors(lambda: AddTasks(**filled.envelope, tasks=tasks, proceed=filled.flag("proceed")))


def _read_lists(filled: Filled, hours: Hours) -> tuple[Task, ...]:
    read = {name: filled.lines(name, MAX_NOTES_CHARS) for name in LISTS}
    for name, lines in read.items():
        if long := next((line for line in lines if len(line) > MAX_TITLE_CHARS), None):
            filled.errors[name] = _(
                "“{start}…” is longer than {most} characters; put the rest into its notes later.",
                start=long[:30],
                most=MAX_TITLE_CHARS,
            )
    every = [(parse_task_line(line, hours=hours), kind) for name, kind in LISTS.items() for line in read[name]]
    if filled.errors:
        return ()
    return tuple(
        Task(
            id=mint_key("t", filled.submission.command_id, row),
            title=line.title,
            minutes=line.minutes,
            details=TaskDetails(kind=kind, **line.times),
            one_thing=row == 1 and filled.flag("first"),
        )
        for row, (line, kind) in enumerate(every, start=1)
    )


def _read_rows(filled: Filled, size: int, hours: Hours) -> tuple[Task, ...]:
    chosen = filled.choice("one_thing")
    rows = range(1, max(size, ROWS) + 1)
    tasks = tuple(task for row in rows if (task := _read_task(filled, row, hours, one_thing=chosen == str(row))))
    if chosen is not None and not filled.text(f"title_{chosen}", MAX_TITLE_CHARS):
        filled.errors["one_thing"] = _(
            "Task {chosen} has no title; choose one of the tasks you wrote down.", chosen=chosen
        )
    return tasks


def _read_task(filled: Filled, row: int, hours: Hours, *, one_thing: bool) -> Task | None:
    line = parse_task_line(filled.text(f"title_{row}", MAX_TITLE_CHARS), hours=hours)
    minutes = filled.minutes(f"minutes_{row}")
    if not line.title:
        if minutes is not None:
            filled.errors[f"title_{row}"] = _(
                "What are these {minutes} minutes for? Give the task a title.", minutes=minutes
            )
        return None
    minutes = minutes or line.minutes
    usual = PLAIN if one_thing else usual_details(minutes)
    details = TaskDetails(kind=TaskKind(filled.choice(f"kind_{row}") or usual.kind), **line.times)
    key = mint_key("t", filled.submission.command_id, row)
    return Task(id=key, title=line.title, minutes=minutes, details=details, one_thing=one_thing)


def build_goals_form(session: Session, _request: FormRequest) -> Form:
    """Return the form of what the day is for, and of its blocks of deep work."""
    inputs = session.day.inputs
    return Form(
        title=_("Goals and blocks"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextField(
                name="goals",
                label=_("What is this day for?"),
                optional=True,
                value="\n".join(inputs.goals),
                multiline=True,
                max_length=MAX_GOALS * (MAX_GOAL_CHARS + 1),
                placeholder=_("Up to five goals, one a line."),
            ),
            NumberField(
                name="deep_blocks",
                label=_("Most blocks of deep work"),
                optional=True,
                value=inputs.blocks.deep_blocks,
                minimum=1,
                maximum=12,
                hint=_("Left open, your usual number counts."),
            ),
            NumberField(
                name="block_minutes",
                label=_("Minutes of deep work at a time"),
                optional=True,
                value=inputs.blocks.minutes,
                minimum=30,
                maximum=240,
                hint=_("Longer work is cut into pieces with a break between them."),
            ),
        ),
    )


def read_goals_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    known = session.day.inputs
    goals = tuple(line.strip() for line in filled.text("goals", MAX_NOTES_CHARS).splitlines() if line.strip())
    if len(goals) > MAX_GOALS or any(len(goal) > MAX_GOAL_CHARS for goal in goals):
        filled.errors["goals"] = _(
            "Please keep it to {most} goals of {letters} characters each.", most=MAX_GOALS, letters=MAX_GOAL_CHARS
        )
    deep = filled.minutes("deep_blocks", most=12)
    minutes = filled.minutes("block_minutes", least=30, most=240)
    if filled.errors:
        return FormErrors(errors=filled.errors)
    blocks = BlockPlan(deep_blocks=deep, minutes=minutes)
    return SetGoals(
        **filled.envelope,
        goals=None if goals == known.goals else goals,
        blocks=None if blocks == known.blocks else blocks,
    )


def build_task_form(session: Session, request: FormRequest) -> Form:
    task = find_task(session.day.inputs, request.target)
    others = tuple(to_choice(each) for each in session.day.inputs.tasks if each.id != task.id)
    form = Form(
        target=task.id,
        title=_("Edit task"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextField(name="title", label=_("Task"), value=task.title, max_length=MAX_TITLE_CHARS),
            NumberField(
                name="minutes",
                label=_("Minutes"),
                optional=True,
                value=task.minutes,
                minimum=1,
                maximum=MAX_MINUTES,
                hint=_hint_usual(session, task),
            ),
            build_kind_field(task.details),
            FlagField(name="one_thing", label=_("This is the one thing that matters"), value=task.one_thing),
            TextField(
                name="done_when",
                label=_("Done when"),
                optional=True,
                value="\n".join(task.done_when),
                multiline=True,
                max_length=MAX_CRITERIA * (MAX_CRITERION_CHARS + 1),
                placeholder=_("What makes it a success? Two or three things, one a line."),
            ),
            build_pieces_field(task.details),
            TextField(
                name="notes",
                label=_("Notes"),
                optional=True,
                value=task.notes,
                multiline=True,
                max_length=MAX_NOTES_CHARS,
                hint=_("They go into the calendar event."),
            ),
            *build_detail_fields(task.details, others),
            FlagField(name="remove", label=_("Take it off the list")),
        ),
    )
    return fold_fields(form, request.size)


def _hint_usual(session: Session, task: Task) -> str:
    usual = find_usual(session, replace(task, minutes=None))
    if usual is None:
        return _("Leave it open if you do not know.")
    return _("Usually {minutes}; leave it open to plan that.", minutes=format_length(usual.minutes or 0))


def read_task_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    before = find_task(session.day.inputs, filled.submission.target)
    if filled.flag("remove"):
        return RemoveTask(**filled.envelope, task_id=before.id)
    title = filled.text("title", MAX_TITLE_CHARS, needed=_("A task needs a title."))
    minutes = filled.minutes("minutes")
    notes = filled.text("notes", MAX_NOTES_CHARS) if filled.has("notes") else before.notes
    done_when = _read_criteria(filled) if filled.has("done_when") else before.done_when
    details = before.details
    try:
        details = read_details(before.details, filled)
    except BadInput as error:
        filled.errors["kind"] = error.message
    if filled.errors:
        return FormErrors(errors=filled.errors)
    task = Task(
        id=before.id,
        title=title,
        minutes=minutes,
        details=details,
        one_thing=filled.flag("one_thing") if filled.has("one_thing") else before.one_thing,
        notes=notes,
        done_when=done_when,
        length_settled=before.length_settled,
    )
    return UpdateTask(**filled.envelope, task=task, base=before)


def to_choice(task: Task) -> Choice:
    return Choice(label=task.title[:_LABEL], value=task.id)


def _read_criteria(filled: Filled) -> tuple[str, ...]:
    """Return the criteria, one per line; empty lines are ignored."""
    lines = filled.lines("done_when", MAX_CRITERIA * (MAX_CRITERION_CHARS + 1))
    if len(lines) > MAX_CRITERIA:
        filled.errors["done_when"] = _(
            "Keep the {most_criteria} lines that matter most; the rest has room in the notes.",
            most_criteria=MAX_CRITERIA,
        )
    elif any(len(line) > MAX_CRITERION_CHARS for line in lines):
        filled.errors["done_when"] = _(
            "A line has room for {most_criterion} characters.", most_criterion=MAX_CRITERION_CHARS
        )
    return lines


SOME_DAY = "some_day"


def build_defer_form(session: Session, request: FormRequest) -> Form:
    task = _title_of(session, request.target)
    return Form(
        target=request.target,
        title=_("Another day"),
        submit=_("Put it there"),
        fields=(
            TextPart(text=_("When do you want to do “{title}”?", title=plain(task))),
            *day_fields(session, more=(Choice(label=_("Some day; offer it when I plan"), value=SOME_DAY),)),
        ),
    )


def _title_of(session: Session, task_id: str) -> str:
    """Return the title of a task of the list, or of what found no place. Raises ``BadInput``."""
    left = next((each.title for each in session.planning.unplaced if each.task_id == task_id), None)
    return find_task(session.day.inputs, task_id).title if left is None else left


def day_fields(session: Session, *, more: tuple[Choice, ...] = ()) -> tuple[FormField, ...]:
    """Return the fields that choose another day; the next working day is chosen already."""
    days = other_days(session)
    return (
        ChoiceField(
            name="day",
            label=_("Day"),
            choices=(*(Choice(label=format_day(day), value=day.isoformat()) for day in days), *more),
            value=next_working_day(days[0] - timedelta(days=1)).isoformat(),
        ),
        DateField(name="later", label=_("Or a later day"), optional=True),
    )


def read_day(filled: Filled) -> date | None:
    """Return the chosen day; ``None`` for some day."""
    chosen = filled.choice("day")
    return filled.day("later") or (None if chosen in {None, SOME_DAY} else date.fromisoformat(str(chosen)))


def read_defer_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    day = read_day(filled)
    try:
        if day is not None:
            check_other_day(session, day, filled.submission.at)
    except BadInput as error:
        return FormErrors(errors={"later" if filled.day("later") else "day": error.message})
    return DeferTask(**filled.envelope, task_id=filled.submission.target, day=day)


def build_move_form(session: Session, _request: FormRequest) -> Form:
    return Form(
        title=_("Move this plan"),
        submit=_("Move it"),
        fields=(
            TextPart(
                text=_("It is drafted there in its own thread, and taken away here. Undo last update puts it back.")
            ),
            *day_fields(session),
            FlagField(name="join", label=_("If that day has a plan already, add the tasks to it")),
        ),
    )


def read_move_form(session: Session, filled: Filled) -> SessionCommand | FormErrors:
    day, join = read_day(filled), filled.flag("join")
    if day is None:
        return FormErrors(errors={"day": _("Choose a day.")})
    try:
        check_other_day(session, day, filled.submission.at)
        check_free(session, day, join=join)
    except BadInput as error:
        return FormErrors(errors={"later" if filled.day("later") else "day": error.message})
    return MovePlan(**filled.envelope, day=day, join=join)


_LABEL = 75


def build_bring_form(session: Session, _request: FormRequest) -> Form:
    missed = open_work_of_missed(session)
    offered = [each for each in session.open_work.offered if each not in missed]
    if not offered:
        raise BadInput(_("Nothing of that is open any more."))
    choices = tuple(Choice(label=each.task.title[:_LABEL], value=each.task.id) for each in offered)
    return Form(
        title=_("What else there is"),
        submit=_("Bring along"),
        fields=(
            ManyField(
                name="tasks",
                label=_("What of it do you want to do on {day}?", day=format_day(session.date)),
                choices=choices,
                value=tuple(choice.value for choice in choices),
                placeholder=_("Choose some"),
                hint=_("What you leave out here is offered again."),
            ),
        ),
    )


def read_bring_form(_session: Session, filled: Filled) -> SessionCommand | FormErrors:
    chosen = filled.many("tasks")
    if not chosen:
        return FormErrors(errors={"tasks": _("Choose at least one, or close this.")})
    return BringAlong(**filled.envelope, task_ids=chosen)


MOST_AT_ONCE = 100
"""A day with more would not fit into one of Slack's menus, and what is not shown would count as settled."""
_SOURCES = {
    "deferred": mark_message("put off"),
    "unplaced": mark_message("did not fit"),
    "planned": mark_message("planned"),
}


def build_catch_up_form(session: Session, _request: FormRequest) -> Form:
    things = open_work_of_missed(session)[:MOST_AT_ONCE]
    if not things:
        raise BadInput(_("Nothing of that is open any more."))
    ask = _("What is ticked goes on your list for {day}.", day=format_day(session.date))
    settle = _("Untick what you did, or do not want any more; I will not ask about that again.")
    days = [(day, list(each)) for day, each in groupby(things, key=lambda each: each.day)]
    return Form(
        # An unticked item is settled, so the form has to record which items it showed.
        target=" ".join(each.task.id for each in things),
        title=_("Catch up"),
        submit=_("Catch up"),
        fields=(
            TextPart(text=f"{ask} {settle}"),
            *(_day_field(f"day_{n}", format_day(day), each) for n, (day, each) in enumerate(days, 1)),
        ),
    )


def read_catch_up_form(_session: Session, filled: Filled) -> SessionCommand | FormErrors:
    shown = filled.submission.target.split()
    ticked = {task_id for name in filled.submission.values for task_id in filled.many(name)}
    return BringAlong(
        **filled.envelope,
        task_ids=tuple(task_id for task_id in shown if task_id in ticked),
        settled=tuple(task_id for task_id in shown if task_id not in ticked),
    )


def _day_field(name: str, label: str, things: list[OfferedInput]) -> ManyField:
    choices = tuple(Choice(label=_format_label(each), value=each.task.id) for each in things)
    return ManyField(
        name=name,
        label=label,
        choices=choices,
        value=tuple(choice.value for choice in choices),
        placeholder=_("None of it"),
        boxes=True,
    )


def _format_label(each: OfferedInput) -> str:
    length = "" if each.task.minutes is None else f"{format_length(each.task.minutes)}, "
    told = f" ({length}{_(_SOURCES[each.source])})"
    return f"{each.task.title[: _LABEL - len(told)]}{told}"


TASK_FORMS: Mapping[str, FormSpec[Session]] = {
    "tasks": FormSpec(build_tasks_form, read_tasks_form),
    "goals": FormSpec(build_goals_form, read_goals_form),
    "bring": FormSpec(build_bring_form, read_bring_form),
    "catch_up": FormSpec(build_catch_up_form, read_catch_up_form),
    "move_plan": FormSpec(build_move_form, read_move_form),
    "defer": FormSpec(build_defer_form, read_defer_form),
    "task": FormSpec(build_task_form, read_task_form),
}
