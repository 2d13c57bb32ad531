"""Cards about the queue and its tasks, and the queue in App Home."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date as Date  # noqa: N812  as in the commands
from typing import assert_never

from fateforger.planning.task_details import PLAIN, TaskDetails
from fateforger.planning.task_details import list_facts as list_details
from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Control,
    Controls,
    Divider,
    Heading,
    Menu,
    Note,
    Part,
    Prose,
    Select,
    name_button,
    plain,
)
from fateforger.session.queue_commands import (
    ChangeTask,
    DoTaskNow,
    MoveTask,
    PlanWeek,
    PullTask,
    RefineTasks,
    SettleTask,
    ShowTasks,
    TickTask,
    TurnQueue,
)
from fateforger.tasks.gate import can_take_back
from fateforger.tasks.queue import blockers, describe_facts, ready_tasks
from fateforger.tasks.task import (
    ENDED,
    PRIORITIES,
    STATES,
    BlockTime,
    Decompose,
    Do,
    Mode,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
    Work,
    describe_reminder,
    find_gaps,
    name_priority,
)
from fateforger.tasks.transitions import possible_actions
from fateforger.tasks.workflows import list_rules
from fateforger.text import (
    count_tasks,
    format_day,
    format_length,
    join_sentences,
    join_words,
    label_text,
    mark_message,
    name_commands,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _
from fateforger.ui.card_parts import MODES, START, tick_items
from fateforger.values import replace
from fateforger.workflow.definition import Workflow

LISTED = 15
LONGEST = 600
EMPTY = mark_message("Your queue is empty.")
PULL_IT = mark_message("Run `{pull} {id}` to start it, or just go on; I keep it for you.")
ADD = Button(label=mark_message("Add a task"), action="form.queue_add")
SHOW = ShowTasks.action.constant()
REVIEW_RULES = Button(
    label=mark_message("Review all"), action="form.rules", target='{"status":"confirm"}', style="primary"
)


def build_reply(sentence: str, *controls: Control, mode: Mode | None = None) -> Card:
    """Return a card with a sentence and optional controls."""
    parts: list[Part] = [Prose(text=sentence)]
    if controls:
        parts.append(Controls(items=controls))
    if mode is not None:
        parts.append(Note(text=_(MODES[mode])))
    return Card(text=sentence, parts=tuple(parts))


def build_missing_reply(task_id: str) -> Card:
    """Return the card about a task that does not exist."""
    return build_reply(_("There is no task `{task_id}` in your queue.", task_id=task_id), SHOW.localize())


def build_acknowledgment(task: QueuedTask, workflow: Workflow | None) -> Card:
    """Return the card for a task that was put into the queue: its name, its rules, and the next step (S155)."""
    title = format_title(task)
    text = _("I put {title} into your queue.", title=title)
    ours = not isinstance(task.spec.work, Do | ReviewParts)
    now = DoTaskNow.action.button(task.id) if ours else build_time_button(task)
    parts: list[Part] = [
        Prose(text=text),
        Note(text=" · ".join(list_facts(task.id, task.spec, workflow))),
        *build_rules(workflow),
        Prose(text=name_commands(PULL_IT, id=task.id)),
        Controls(items=(build_pull_button(task, _("Pull it now")), now, build_remind_button(task), SHOW.localize())),
        Note(text=_(MODES[task.mode])),
    ]
    return Card(text=text, parts=tuple(parts))


def list_facts(task_id: str, spec: TaskSpec, workflow: Workflow | None) -> tuple[str, ...]:
    """Return a task's id, kind, priority, details and workflow, in a few words each."""
    priority = _("Priority: {priority}", priority=_(PRIORITIES[spec.priority]))
    lines = [f"`{task_id}`", describe_kind(spec.work), priority]
    if spec.remind_at is not None:
        lines.append(_("Reminder: {when}", when=describe_reminder(spec.remind_at)))
    if spec.details != PLAIN:
        lines.append(_("Details: {details}", details=describe_details(spec.details)))
    if spec.project:
        lines.append(_("Project: {project}", project=plain(spec.project)))
    if workflow is None:
        return (*lines, _("No rules apply to it"))
    return (*lines, _("Rules: {workflow}", workflow=plain(spec.workflow)))


def build_rules(workflow: Workflow | None) -> tuple[Part, ...]:
    """Return the list of all rules that will apply to a task, in plain words (S155); nothing if there are none."""
    if workflow is None:
        return ()
    rules = (f"- {plain(rule, 200)}" for rule in list_rules(workflow))
    return (Prose(text="\n".join((_("Rules that will apply:"), *rules))),)


def build_remind_button(task: QueuedTask) -> Button:
    """Return the button that opens the form of a reminder."""
    label = _("Remind me…") if task.spec.remind_at is None else _("Another time…")
    return Button(label=label, action="form.queue_remind", target=task.id)


def describe_details(details: TaskDetails) -> str:
    """Return the kind and all that is said of a task, in one line."""
    return ", ".join((details.kind.words, *map(plain, list_details(details))))


def build_queue_card(tasks: Sequence[QueuedTask], today: Date) -> Card:
    """Return the card of a person's queue in order (S157, S160).

    ``tasks`` is the result of :func:`~fateforger.conversation.queue.dispatch.read_queue`, ``today`` the person's day.
    """
    queue = [task for task in tasks if task.state not in ENDED]
    if not queue:
        return build_reply(_("{empty} Write me what there is to do, or add it here.", empty=_(EMPTY)), ADD.localize())
    can = ready_tasks(tasks, today)
    text = ngettext(
        "{tasks} in your queue, {count} ready to be pulled.",
        "{tasks} in your queue, {count} ready to be pulled.",
        len(can),
        tasks=count_tasks(len(queue)),
    )
    rows = [
        Prose(text=_format_row(task, tasks, today), control=build_row_control(task, tasks)) for task in queue[:LISTED]
    ]
    more = len(queue) - len(rows)
    parts: list[Part] = [Prose(text=f"**{text}**"), *rows]
    if more > 0:
        rest = ngettext(
            "{count} more is not shown here; App Home lists them all.",
            "{count} more are not shown here; App Home lists them all.",
            more,
        )
        parts.append(Note(text=rest))
    pull = (PullTask.action.button(label=_("Pull the next"), style="primary"),) if can else ()
    plan = Button(label=_(START.label), action=START.action)
    more_actions = (ADD.localize(), plan, PlanWeek.action.button(), *_build_refine(queue))
    return Card(text=text, parts=(*parts, Controls(items=(*pull, *more_actions))))


def _build_refine(queue: Sequence[QueuedTask]) -> tuple[Button, ...]:
    return (RefineTasks.action.button(),) if any(map(find_gaps, queue)) else ()


def _format_row(task: QueuedTask, tasks: Sequence[QueuedTask], today: Date) -> str:
    """Return one line of the queue, and what a task waits for."""
    line = f"{format_task(task)} {', '.join(_list_facts(task, tasks, today))}"
    return f"{line}\n_{plain(task.outcome, LONGEST_OUTCOME)}_" if task.outcome else line


def _list_facts(task: QueuedTask, tasks: Sequence[QueuedTask], today: Date) -> tuple[str, ...]:
    facts = describe_facts(task, tasks, today, _format_blocker)
    return tuple(filter(None, (name_priority(task.spec.priority), *facts)))


def format_task(task: QueuedTask) -> str:
    """Return a task's tags, title and id."""
    tags = "".join(f"[{plain(tag, 20)}] " for tag in task.spec.tags)
    return f"{tags}**{plain(task.spec.title)}** `{task.id}`"


def describe_state(task: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Return the state of a task in a few words."""
    first = blockers(task, tasks)
    if task.state is TaskState.ACTIVE and first:
        return _("after {names}", names=join_words(map(_format_blocker, first), 1))
    return _(STATES[task.state])


def build_row_control(task: QueuedTask, tasks: Sequence[QueuedTask]) -> Button | None:
    """Return the button next to a line of the queue, if there is one."""
    title = task.spec.title
    if task.state is TaskState.ACTIVE and not blockers(task, tasks):
        return PullTask.action.button(task.id, spoken=name_button(_("Pull"), title))
    if task.state is TaskState.WAITING:
        return SettleTask.open.button(task.id, spoken=name_button(_("Open"), title))
    if task.state in {TaskState.FAILED, TaskState.STOPPED}:
        return SettleTask.retry.button(task.id, label=_("Retry"), spoken=name_button(_("Retry"), title))
    return None


def build_task_card(task: QueuedTask, tasks: Sequence[QueuedTask], today: Date) -> Card:
    """Return the card of a task that was pulled; ``tasks`` and ``today`` as for :func:`build_queue_card`."""
    head = label_text(f"**{plain(task.spec.title, 200)}** `{task.id}`", describe_state(task, tasks))
    parts: list[Part] = [Prose(text=head)]
    if task.outcome:
        parts.append(Prose(text=plain(task.outcome, LONGEST)))
    parts += _build_body(task, tasks)
    if task.state is not TaskState.STOPPED:
        parts += tick_items(task.spec.details.items, task.id, TickTask.tick, TickTask.untick)
    controls = _build_controls(task, tasks, today)
    if controls:
        parts.append(Controls(items=controls))
    over = task.state in {TaskState.DONE, TaskState.STOPPED}
    if task.state is not TaskState.ACTIVE and not (over and task.mode == "dispositor"):
        parts.append(Note(text=_(MODES[task.mode])))
    text = label_text(task.spec.title, f"{describe_state(task, tasks)}.")
    return Card(text=join_sentences(text, task.outcome), parts=tuple(parts))


def _build_body(task: QueuedTask, tasks: Sequence[QueuedTask]) -> list[Part]:
    if task.state in {TaskState.DONE, TaskState.STOPPED}:
        return []
    spec, found = task.spec, list[Part]()
    parts = [f"- {format_task(each)}" for each in tasks if each.goal == (task.goal or task.id) and each.id != task.id]
    if spec.context and not (isinstance(spec.work, Decompose) and parts):
        found.append(Prose(text=plain(spec.context, LONGEST)))
    if spec.acceptance_criteria:
        wanted = "\n".join(f"- {plain(each, 200)}" for each in spec.acceptance_criteria)
        found.append(Prose(text=_("It is done when:\n{wanted}", wanted=wanted)))
    if isinstance(spec.work, ReviewParts | Decompose) and parts:
        found.append(Prose(text="\n".join((_("The parts:"), *parts))))
    if spec.relevant_files:
        found.append(Note(text=_("Files: {files}", files=", ".join(map(plain, spec.relevant_files)))))
    if task.origin.reference:
        found.append(Note(text=_("From {reference}", reference=plain(task.origin.reference, 300))))
    return found


def _build_controls(task: QueuedTask, tasks: Sequence[QueuedTask], today: Date) -> tuple[Control, ...]:
    match task.state:
        case TaskState.WAITING:
            return (*_build_waiting_controls(task, tasks), SettleTask.put_back.button(task.id), SHOW.localize())
        case TaskState.FAILED | TaskState.STOPPED:
            return (SettleTask.retry.button(task.id), SHOW.localize())
        case TaskState.DONE:
            following = next((each for each in ready_tasks(tasks, today) if each.id != task.id), None)
            again = (SettleTask.retry.button(task.id, label=_("Not done")),) if isinstance(task.spec.work, Do) else ()
            if following is None:
                return (*again, SHOW.localize())
            pull_next = PullTask.action.button(following.id, label=_("Pull the next"), style="primary")
            return (pull_next, *again, SHOW.localize())
        case TaskState.ACTIVE:
            pull = () if blockers(task, tasks) else (build_pull_button(task, _("Pull it now")),)
            return (*pull, SHOW.localize())
        case TaskState.RUNNING | TaskState.PAUSED:
            notes = _build_note_buttons(task) if task.state is TaskState.RUNNING else ()
            return (*notes, SHOW.localize())
        case _:
            assert_never(task.state)


def _build_waiting_controls(task: QueuedTask, tasks: Sequence[QueuedTask]) -> tuple[Control, ...]:
    match task.spec.work:
        case Do():
            asks = bool(task.spec.acceptance_criteria or task.spec.workflow)
            return (
                build_done_button(task) if asks else SettleTask.done.button(task.id, style="primary"),
                *_build_note_buttons(task),
                build_time_button(task),
            )
        case ReviewConstraints():
            return (REVIEW_RULES.localize(),)
        case ReviewParts():
            return (SettleTask.approve.button(task.id, style="primary"),)
        case Decompose():
            reviews = (each for each in tasks if each.goal == task.id and isinstance(each.spec.work, ReviewParts))
            review = next(reviews, None)
            if review is not None:
                return (build_pull_button(review, _("Pull the review")),)
            return (
                Button(label=_("Write down the parts"), action="form.queue_parts", target=task.id, style="primary"),
            )
        case PlanDay() | BlockTime():
            return ()
        case _:
            assert_never(task.spec.work)


def build_done_button(task: QueuedTask) -> Button:
    """Return the button that opens the form in which the person says what was done for a task, and that it is done."""
    return Button(label=_(SettleTask.done.label), action="form.queue_done", target=task.id, style="primary")


def build_time_button(task: QueuedTask) -> Button:
    """Return the button that opens the form that gives a task time in the plan of a day."""
    return Button(label=_("Block time"), action="form.queue_time", target=task.id)


def build_wanted_time(task: QueuedTask) -> Card:
    """Return the card of a task that was kept and is to get time in a day."""
    sentence = _("I put {title} into your queue. When shall it get its time?", title=format_title(task))
    return build_reply(sentence, replace(build_time_button(task), style="primary"), SHOW.localize())


def _build_note_buttons(task: QueuedTask) -> tuple[Button, ...]:
    """Return the buttons that note a step, and that take the last note back."""
    back = (SettleTask.take_back.button(task.id),) if can_take_back(task) else ()
    return (build_note_button(task), *back) if task.spec.workflow else ()


def build_note_button(task: QueuedTask) -> Button:
    """Return the button that opens the form in which the person notes what was done so far."""
    return Button(label=_("Note a step"), action="form.queue_note", target=task.id)


def describe_kind(work: Work) -> str:
    """Return the kind of work in a few words."""
    match work:
        case PlanDay(date=day):
            return _("plan {day}", day=format_day(day))
        case ReviewConstraints():
            return _("look through the rules that wait for your word")
        case Decompose():
            return _("break it into parts")
        case ReviewParts():
            return _("look through the parts of a goal")
        case BlockTime(date=day, minutes=minutes, start=start):
            length = format_length(minutes)
            if start is None:
                return _("block {length} on {day}", length=length, day=format_day(day))
            clock = f"{start:%H:%M}"
            return _("block {length} on {day} at {clock}", length=length, day=format_day(day), clock=clock)
        case Do(minutes=minutes):
            if minutes is None:
                return _("something that you do")
            return _("something that you do, about {length}", length=format_length(minutes))
        case _:
            assert_never(work)


def format_title(task: QueuedTask) -> str:
    """Return the title for use in a sentence."""
    return quote_title(plain(task.spec.title, 120), 240)


def build_pull_button(task: QueuedTask, label: str) -> Button:
    return PullTask.action.button(task.id, label=label, style="primary")


PAGE = 20
"""Tasks per page; each takes one of the hundred blocks of App Home."""
LONGEST_OUTCOME = 160
EMPTY_HOME = mark_message("Your queue is empty. Tasks that have no day yet wait here.")
NOT_NOW = mark_message("I cannot look up your queue just now; open this page again in a moment.")


def build_queue_parts(
    everything: Sequence[QueuedTask], *, today: Date, page: int = 1, said: str = ""
) -> tuple[Part, ...]:
    """Return the queue, the next task first.

    ``everything`` are all tasks of the person that have not ended, in order, and those that they wait for. ``said`` is
    the result of the person's last action.
    """
    tasks = [task for task in everything if task.state not in ENDED]
    head: tuple[Part, ...] = (Divider(), Heading(text=_("Your queue")))
    word = (Prose(text=said),) if said else ()
    if not tasks:
        return (*head, *word, Prose(text=_(EMPTY_HOME)), Controls(items=(ADD.localize(),)))
    pages = -(-len(tasks) // PAGE)
    page = min(max(page, 1), pages)
    first = (page - 1) * PAGE
    shown = tasks[first : first + PAGE]
    ready, can = ready_tasks(everything), ready_tasks(everything, today)
    rows = [
        Prose(
            text=_format_home_row(n, task, everything, today),
            control=_build_menu(n, task, last=n == len(tasks), can_be_pulled=task in ready),
        )
        for n, task in enumerate(shown, first + 1)
    ]
    pull = (PullTask.action.button(task.id, label=_("Pull the next")) for task in can[:1])
    above = (
        Prose(text=_count_words(tasks, can, ready)),
        Controls(items=(*pull, ADD.localize(), PlanWeek.action.button())),
    )
    choices = tuple(Choice(label=f"{task.spec.title} ({task.id})", value=task.id) for task in shown)
    edit = Controls(items=(Select(action="form.queue_edit", placeholder=_("Edit a task…"), choices=choices),))
    return (*head, *word, *above, *rows, *_build_pages(page, pages, tasks), edit)


def build_unknown_queue() -> tuple[Part, ...]:
    """Return the parts to show while the queue cannot be read."""
    return (Divider(), Heading(text=_("Your queue")), Note(text=_(NOT_NOW)))


def _count_words(tasks: Sequence[QueuedTask], can: Sequence[QueuedTask], ready: Sequence[QueuedTask]) -> str:
    waiting = sum(task.state is TaskState.WAITING for task in tasks)
    yours = ngettext("{count} waits for you.", "{count} wait for you.", waiting) if waiting else ""
    later = _("The next ones are for a later day.") if ready else _("None can be pulled just now.")
    following = _("Next: **{title}**.", title=plain(can[0].spec.title)) if can else later
    counted = ngettext("{tasks}, {count} ready.", "{tasks}, {count} ready.", len(can), tasks=count_tasks(len(tasks)))
    return join_sentences(counted, yours, following)


def _format_blocker(task: QueuedTask) -> str:
    title = quote_title(plain(task.spec.title, 60), 120)
    return _("{title} (which was stopped)", title=title) if task.state is TaskState.STOPPED else title


def _format_home_row(number: int, task: QueuedTask, everything: Sequence[QueuedTask], today: Date) -> str:
    """Return the title, priority and state of a task, and the task that blocks it."""
    tags = "".join(f"\\[{plain(tag, 20)}\\] " for tag in task.spec.tags)
    facts = list(_list_facts(task, everything, today))
    if task.spec.project:
        facts.append(plain(task.spec.project, 40))
    outcome = f"\n  _{plain(task.outcome, LONGEST_OUTCOME)}_" if task.outcome else ""
    return f"{number}. {tags}**{plain(task.spec.title, 120)}** `{task.id}`\n  {' · '.join(facts)}{outcome}"


def _build_menu(number: int, task: QueuedTask, *, last: bool, can_be_pulled: bool) -> Control:
    """Return the actions that make sense in the task's state; Slack's overflow menu takes five at most."""
    choices = []
    if can_be_pulled:
        choices.append(PullTask.action.menu_entry())
    if task.state is TaskState.WAITING:
        choices.append(SettleTask.open.menu_entry())
    if number > 1:
        choices.append(MoveTask.up.menu_entry())
    if not last:
        choices.append(MoveTask.down.menu_entry())
    choices += [ChangeTask.actions[deed].menu_entry() for deed in possible_actions(task)]
    return Menu(choices=tuple(choices), target=task.id)


def _build_pages(page: int, pages: int, tasks: Sequence[QueuedTask]) -> tuple[Part, ...]:
    if pages == 1:
        return ()
    spans = [(n * PAGE + 1, min((n + 1) * PAGE, len(tasks))) for n in range(pages)]
    first, last = spans[page - 1]
    ways: list[Control] = []
    if page > 1:
        ways.append(TurnQueue.action.button(str(page - 1), label=_("Previous page")))
    if page < pages:
        ways.append(TurnQueue.action.button(str(page + 1), label=_("Next page")))
    if pages > 2:
        choices = tuple(Choice(label=f"{start}–{end}", value=str(n)) for n, (start, end) in enumerate(spans, 1))
        ways.append(TurnQueue.action.select(choices, placeholder=_("Another page"), selected=str(page)))
    return (
        Note(text=_("Tasks {first} to {last} of {count}.", first=first, last=last, count=len(tasks))),
        Controls(items=tuple(ways)),
    )
