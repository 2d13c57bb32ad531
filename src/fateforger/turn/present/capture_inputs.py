"""Card of Stage 2: the tasks."""

from __future__ import annotations

from fateforger.drafting import in_words
from fateforger.drafting.naming import USUAL_DEEP, USUAL_SHALLOW
from fateforger.session.cards import Button, Card, Choice, Controls, Heading, Menu, Note, Part, Prose, Select, plain
from fateforger.session.days import day_words
from fateforger.session.gates import gate
from fateforger.session.model import Depth, Session, Task
from fateforger.stages import Move
from fateforger.turn.constants import MOST_ROWS
from fateforger.turn.present.catching_up import catch_up
from fateforger.turn.present.collect_constraints import free_minutes
from fateforger.turn.present.commitment import ask_for_criteria, format_criteria
from fateforger.turn.present.offering import from_outside, from_queue, list_deferred, list_left_over
from fateforger.turn.present.parts import move_row, show_notice
from fateforger.turn.present.rules import rules

EMPTY = "Nothing on your list yet. Leave the minutes open where you do not know them."


def card(session: Session) -> Card:
    """Return the card: the tasks, each with its menu."""
    tasks = session.inputs.tasks
    add = Button(label="Add tasks", action="form.tasks", style="default" if tasks else "primary")
    question = f"What do you want to get done on {day_words(session.date)}?"
    return Card(
        text=question,
        parts=(
            Heading(text=question),
            *show_notice(session),
            *(_row(task) for task in tasks[:MOST_ROWS]),
            *_more(tasks[MOST_ROWS:]),
            *ask_for_criteria(session),
            *catch_up(session),
            *list_left_over(session),
            *from_queue(session),
            *from_outside(session),
            *list_deferred(session),
            *((Note(text=_sum(session)),) if tasks else (Prose(text=EMPTY),)),
            *rules(session),
            _moves(session, add),
        ),
    )


def _moves(session: Session, add: Button) -> Controls:
    row = move_row(session, ((Move.PROCEED, None), (Move.BACK, None), (Move.REDO, None), (Move.CANCEL, None)), add)
    return row if gate(session).ready else Controls(items=(add, *(item for item in row.items if item != add)))


def _row(task: Task) -> Prose:
    star = "⭐ " if task.one_thing else ""
    choices = [Choice(label="Edit…", value="form.task")]
    if not task.one_thing:
        choices.append(Choice(label="Make it the one thing", value="task.one_thing"))
    choices.append(Choice(label="Leave it for another day", value="task.defer"))
    choices.append(Choice(label="Remove", value="task.remove"))
    success = f"\n{format_criteria(task.done_when)}" if task.done_when else ""
    return Prose(
        text=f"{star}**{plain(task.title)}** · {_length(task)} · {task.depth.value}{success}",
        control=Menu(choices=tuple(choices), target=task.id),
    )


def _length(task: Task) -> str:
    if task.minutes is not None:
        return in_words(task.minutes)
    usual = USUAL_DEEP if task.depth is Depth.DEEP else USUAL_SHALLOW
    return f"open, about {in_words(usual)}"


def _more(rest: tuple[Task, ...]) -> tuple[Part, ...]:
    if not rest:
        return ()
    choices = tuple(Choice(label=t.title[:75], value=t.id) for t in rest)
    picker = Select(action="form.task", placeholder=f"{len(rest)} more tasks", choices=choices)
    return (Controls(items=(picker,)),)


def _sum(session: Session) -> str:
    minutes = sum(t.minutes or (USUAL_DEEP if t.depth is Depth.DEEP else USUAL_SHALLOW) for t in session.inputs.tasks)
    count = len(session.inputs.tasks)
    line = f"{count} task{'' if count == 1 else 's'}, {in_words(minutes)} together"
    free = free_minutes(session)
    return f"{line}." if free is None else f"{line}; your day has {in_words(free)} without meetings."
