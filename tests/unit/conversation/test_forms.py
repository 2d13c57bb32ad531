"""Fields of forms, their accepted values, and one sentence per field that cannot be used."""

from __future__ import annotations

import re
from datetime import time
from typing import Any

import pytest
from tests.factories.forms import fill_in
from tests.unit.conversation.person import MORNING, Person

from fateforger.errors import BadInput, UserError
from fateforger.planning.task_details import TaskKind
from fateforger.session.cards import Button, Controls
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.forms import FormRequest, FormSubmission
from fateforger.session.frame import local_time
from fateforger.session.placement import by_time, find_first_free
from fateforger.session.rulebook import rules_in_force
from fateforger.text import speak
from fateforger.ui.form_values import TaskLine, format_task_line, parse_task_line, split_task_list
from fateforger.ui.session_cards import unheard_card


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({}, {"deep": "Write down at least one thing to do."}),
        ({"deep": " \n  "}, {"deep": "Write down at least one thing to do."}),
        (
            {"other": "x" * 301},
            {"other": "“" + "x" * 30 + "…” is longer than 300 characters; put the rest into its notes later."},
        ),
        (
            {"deep": "Read\n" * 52, "other": "Mail\n" * 9},
            {"deep": "That would be more than 60 tasks for one day; leave some for another day."},
        ),
        (
            {"deep": "", "other": "Mail\n" * 61},
            {"other": "That would be more than 60 tasks for one day; leave some for another day."},
        ),
        ({"title_1": "   "}, {"title_1": "Write down at least one thing to do."}),
        ({"minutes_2": 30}, {"title_2": "What are these 30 minutes for? Give the task a title."}),
        (
            {"title_1": "x" * 10_000},
            {"title_1": "This has 10,000 characters; please keep it to 300."},
        ),
        (
            {"title_1": "Report", "minutes_1": 2000},
            {"minutes_1": "Please choose between 1 and 1,440 minutes."},
        ),
        ({"title_1": "Report", "minutes_1": "ninety"}, {"minutes_1": "Please write a whole number of minutes."}),
        (
            {"title_1": "Report", "one_thing": "3"},
            {"one_thing": "Task 3 has no title; choose one of the tasks you wrote down."},
        ),
    ],
)
async def test_tasks_that_cannot_be_used(anna: Person, values: dict[str, Any], errors: dict[str, str]) -> None:
    """Issue: 10,000-character titles and the like: a clear sentence each."""
    await anna.to_tasks()
    answer = await anna.fill("tasks", **values)
    assert answer is not None
    assert answer.errors == errors
    assert (await anna.session()).day.inputs.tasks == ()


async def test_more_rows(anna: Person) -> None:
    await anna.to_tasks()

    async def rows(size: int) -> tuple[int, str | None]:
        form = await anna.coordinator.open_form(
            FormRequest(form="tasks", session_id=anna.session_id, user_id=anna.user, size=size)
        )
        return sum(f.name.startswith("title_") for f in form.fields if f.kind == "text"), form.more

    assert await rows(0) == (0, "More: kind and minutes of each task")
    assert await rows(1) == (3, "More rows")
    assert await rows(4) == (4, "More rows")
    assert await rows(20) == (20, None)
    assert await rows(50) == (20, None)


async def test_tasks_as_lists(anna: Person) -> None:
    """One task a line, with its length where the person wrote one; lists come in the order deep, other."""
    await anna.to_tasks()
    lists: dict[str, Any] = {
        "deep": "Quarterly report, 1 h 30\n\n  Read chapter 3",
        "other": "Mails (20 min)\nGym at 17:00, 45 min",
    }
    assert await anna.fill("tasks", **lists, first=True, proceed=False) is None
    tasks = (await anna.session()).day.inputs.tasks
    assert [(task.title, task.minutes, task.details.kind, task.one_thing) for task in tasks] == [
        ("Quarterly report", 90, TaskKind.DEEP, True),
        ("Read chapter 3", None, TaskKind.DEEP, False),
        ("Mails", 20, TaskKind.SHALLOW, False),
        ("Gym", 45, TaskKind.SHALLOW, False),
    ]
    assert "**Gym** · 45 min · shallow · at 17:00" in anna.words
    await anna.press("Continue")
    assert "**17:00–17:45** Gym" in anna.words


async def test_a_task_is_done_between_the_times_that_its_line_gives(anna: Person) -> None:
    """S459"""
    await anna.to_tasks()
    lists: dict[str, Any] = {"deep": "Report, 2 h\nSlides before 11:00, 1 h", "other": "Call mum after 16:00, 15 min"}
    assert await anna.fill("tasks", **lists, first=True, proceed=False) is None
    assert "**Slides** · 1 h · deep · due at 11:00" in anna.words
    await anna.press("Continue")
    spans = {
        title: (start, end)
        for start, end, title in re.findall(r"\*\*(.{5})–(.{5})\*\* ([A-Z ]+)", anna.words, re.IGNORECASE)
    }
    assert spans["Slides "][1] <= "11:00"
    assert spans["Call mum "][0] >= "16:00"


async def test_lists_become_rows_with_what_was_typed(anna: Person) -> None:
    await anna.to_tasks()
    typed = {"deep": "Report 2h\nTalk at 10:30\nBook\nThesis", "other": "Mails, 20 min"}
    request = FormRequest(form="tasks", session_id=anna.session_id, user_id=anna.user, size=1, chosen=typed)
    shown = {field.name: field.value for field in (await anna.coordinator.open_form(request)).inputs}
    assert (shown["title_1"], shown["minutes_1"], shown["kind_1"]) == ("Report", 120, "deep")
    assert (shown["title_5"], shown["minutes_5"], shown["kind_5"]) == ("Mails", 20, "shallow")
    assert "title_6" not in shown
    rows: dict[str, Any] = {name: value for name, value in shown.items() if name.endswith(("_1", "_2"))}
    assert await anna.fill("tasks", **rows, size=1, proceed=False) is None
    talk = (await anna.session()).day.inputs.tasks[1]
    assert (talk.title, talk.details.at) == ("Talk", time(10, 30))


async def test_more_tasks_than_rows_stay_a_list(anna: Person) -> None:
    """S466: no line that was typed is lost when rows are asked for, and a day takes all that it holds."""
    await anna.to_tasks()
    typed: dict[str, Any] = {
        "deep": "Report 2h",
        "other": "\n".join(f"Errand {number}, 5 min" for number in range(1, 60)),
    }
    request = FormRequest(form="tasks", session_id=anna.session_id, user_id=anna.user, size=1, chosen=typed)
    form = await anna.coordinator.open_form(request)
    assert {field.name: field.value for field in form.inputs if field.name in typed} == typed
    assert form.more is None
    assert await anna.fill("tasks", **typed, proceed=False) is None
    assert len((await anna.session()).day.inputs.tasks) == 60
    answer = await anna.fill("tasks", title_1="One more", size=1, proceed=False)
    assert answer is not None
    assert answer.errors == {"title_1": "That would be more than 60 tasks for one day; leave some for another day."}


def beside(anna: Person) -> tuple[Button, ...]:
    """Return the buttons under the answer to the last message."""
    reply = anna.arrived[-1].reply
    assert reply is not None
    (row,) = [part for part in reply.parts if isinstance(part, Controls)]
    return tuple(each for each in row.items if isinstance(each, Button))


async def test_a_message_that_nothing_can_read_becomes_the_list(anna: Person) -> None:
    """S285: without a model, what was written at this step is offered as the list of tasks, and not lost."""
    await anna.to_tasks()
    await anna.says("Report 2h\nMails")
    assert "There is no language model connected" in anna.words
    offer, rule = beside(anna)
    assert (rule.label, rule.action, rule.target) == ("Keep it as a rule", "form.rule_said", offer.target)
    assert (offer.label, offer.action) == ("Use it as my list of tasks", "form.tasks")
    assert await anna.fill("tasks", target=offer.target, proceed=False) is None
    tasks = (await anna.session()).day.inputs.tasks
    assert [(task.title, task.minutes) for task in tasks] == [("Report", 120), ("Mails", None)]
    assert offer.label not in anna.labels()
    with pytest.raises(BadInput, match="on your list already"):
        await anna.look("tasks", target=offer.target)


async def test_of_a_list_that_is_too_long_for_a_button_it_is_said_how_to_send_it(anna: Person) -> None:
    """S285"""
    await anna.to_tasks()
    await anna.says("\n".join(f"Answer letter {n}, 30 min" for n in range(100)))
    assert "Send it in parts of up to 925 characters" in str(anna.arrived[-1].reply)
    assert "Send it in parts of up to 925 characters" in str(unheard_card("x" * 1_850))
    assert "Send it in parts" not in str(unheard_card("x" * 1_800))


async def test_a_message_becomes_tasks_at_any_step_before_refine(anna: Person) -> None:
    """S285: also where the bot has not asked for tasks yet, or where a draft makes room for them."""
    await anna.start()
    for title, go_on in (
        ("Mails", "Plan this day"),
        ("Report", "Continue"),
        ("Books", "Continue"),
        ("Bills", "Refine"),
    ):
        await anna.says(title)
        offer, _ = beside(anna)
        assert (offer.label, offer.target) == ("Use it as my list of tasks", title)
        stay = {"proceed": False} if title == "Books" else {}
        assert await anna.fill("tasks", target=offer.target, **stay) is None
        await anna.press(go_on)
    plan = (await anna.session()).planning.plan
    assert plan is not None
    assert {"Mails", "Report", "Books", "Bills"} <= {block.name for block in plan.events}


async def test_a_message_in_refine_or_on_a_committed_day_becomes_a_block(anna: Person) -> None:
    """S479: the form has what the line says; words of several lines are no block."""
    await anna.to_refine()
    await anna.says("Call Ben 20m")
    offer, _ = beside(anna)
    assert (offer.label, offer.action, offer.target) == ("Add it as a block", "form.add_block", "Call Ben 20m")
    assert await anna.fill("add_block", target=offer.target) is None
    await anna.press("Commit to calendar")
    await anna.says("Invoices at 16:00, 45 min")
    offer, _ = beside(anna)
    assert await anna.fill("add_block", target=offer.target) is None
    plan = (await anna.session()).planning.plan
    assert plan is not None
    said = {block.event.name: (f"{block.start:%H:%M}", block.minutes, block.event.type) for block in by_time(plan)}
    assert said["Call Ben"][1:] == (20, TaskKind.SHALLOW.type)
    assert said["Invoices"] == ("16:00", 45, TaskKind.SHALLOW.type)
    await anna.says("Invoices\nMails")
    assert [each.label for each in beside(anna)] == ["Keep it as a rule"]


@pytest.mark.parametrize(
    ("said", "tasks"),
    [
        ("Buy milk, eggs and bread", ["Buy milk, eggs and bread"]),
        ("Buy milk, eggs and bread, 30 min", ["Buy milk, eggs and bread, 30 min"]),
        ("Report 2h, mails", ["Report 2h", "mails"]),
        ("Report, mails, gym", ["Report", "mails", "gym"]),
        ("Write report, mails, 30 min, gym", ["Write report", "mails, 30 min", "gym"]),
        ("Brood kopen, melk en eieren", ["Brood kopen, melk en eieren"]),
        ("Buy milk, eggs and bread; call Anna", ["Buy milk, eggs and bread", "call Anna"]),
        ("• Report 2h\n    ◦ mails\n\n* [ ] gym", ["Report 2h", "mails", "gym"]),
    ],
)
def test_commas_within_a_task_stay(said: str, tasks: list[str]) -> None:
    """S405"""
    assert list(split_task_list(said)) == tasks


async def test_commas_separate_the_tasks_of_a_message(anna: Person) -> None:
    """S405: as people write in a chat, with lengths and times after each task."""
    await anna.to_tasks()
    await anna.says("report 2h, call Anna, 20 min, gym at 17:00, mails")
    target = beside(anna)[0].target
    shown = {field.name: field.value for field in (await anna.look("tasks", target=target)).inputs}
    assert (shown["deep"], shown["other"]) == ("report 2h\nmails", "call Anna, 20 min\ngym at 17:00")
    assert await anna.fill("tasks", target=target, proceed=False) is None
    tasks = (await anna.session()).day.inputs.tasks
    assert [(task.title, task.minutes) for task in tasks] == [
        ("report", 120),
        ("mails", None),
        ("call Anna", 20),
        ("gym", None),
    ]


async def test_a_message_that_nothing_can_read_becomes_a_rule(anna: Person) -> None:
    """S171: without a model, at any step, the sentence is put into the form for a rule, and kept on one click."""
    await anna.to_frame()
    words = "In bed by eleven, call Kim on 0171 2345678"
    await anna.says(words)
    reply = anna.arrived[-1].reply
    assert reply is not None
    (row,) = [part for part in reply.parts if isinstance(part, Controls)]
    _, offer = [each for each in row.items if isinstance(each, Button)]
    assert (offer.label, offer.action) == ("Keep it as a rule", "form.rule_said")
    assert await anna.fill("rule_said", target=offer.target, necessity="must") is None
    (item,) = rules_in_force(await anna.session()).applicable
    assert (item.record.words, item.record.necessity.value) == ("In bed by eleven, call Kim on [phone number]", "must")
    assert "I left out contact or account details: rules do not keep them." in anna.words
    assert "Keep it as a rule" not in anna.labels()


@pytest.mark.parametrize(
    ("line", "title", "minutes"),
    [
        ("Report, 2 h", "Report", 120),
        ("Report 1,5h", "Report", 90),
        ("Bericht – 2 Std.", "Bericht", 120),
        ("Rapport 1 uur 15", "Rapport", 75),
        ("Appeler Léa (45 minutes)", "Appeler Léa", 45),
        ("Informe: 2 horas", "Informe", 120),
        ("Read chapter 3", "Read chapter 3", None),
        ("Plan 2 1 h", "Plan 2", 60),
        ("Sleep 40 hours", "Sleep 40 hours", None),
        ("90 min", "90 min", None),
        ("Read for 20 min", "Read", 20),
        ("Call mum, half an hour", "Call mum", 30),
        ("Run for an hour and a half", "Run", 90),
        ("Half an hour", "Half an hour", None),
        ("Steuer, anderthalb Stunden", "Steuer", 90),
        ("Eine halbe Stunde Klavier", "Klavier", 30),
        ("Llamar a Ana, media hora", "Llamar a Ana", 30),
        ("Informe una hora y media", "Informe", 90),
        ("Lecture, une demi-heure", "Lecture", 30),
        ("Mama bellen een half uur", "Mama bellen", 30),
    ],
)
def test_a_line_of_a_list(line: str, title: str, minutes: int | None) -> None:
    """S424"""
    assert parse_task_line(line) == TaskLine(title, minutes)


@pytest.mark.parametrize(
    ("line", "title", "minutes", "at"),
    [
        ("30min mail", "mail", 30, None),
        ("2 h de sport", "sport", 120, None),
        ("100m sprint", "100m sprint", None, None),
        ("Gym at 17:00", "Gym", None, time(17)),
        ("Gym at 6 pm, 1h", "Gym", 60, time(18)),
        ("Sport um 7", "Sport", None, time(7)),
        ("Sport à 18h30, 45 min", "Sport", 45, time(18, 30)),
        ("Vergadering om 9 uur", "Vergadering", None, time(9)),
        ("Lunch with Anna, 12:30-13:15", "Lunch with Anna", 45, time(12, 30)),
        ("14:00 Dentist", "Dentist", None, time(14)),
        ("Call mom at 3", "Call mom at 3", None, None),
        ("Call mom at 3:30", "Call mom at 3:30", None, None),
        ("06:30 Run", "Run", None, time(6, 30)),
        ("Flight at 25:00", "Flight at 25:00", None, None),
        ("Ratio 16:9", "Ratio 16:9", None, None),
        ("18:30", "18:30", None, None),
        ("Rapport 18h30", "Rapport", None, time(18, 30)),
        ("Sport vers 18h", "Sport", None, time(18)),
        ("Rapport 2h30", "Rapport", 150, None),
        ("Report 12:00-11:00", "Report 12:00-11:00", None, None),
        ("• Report, 2 h", "Report", 120, None),
        ("- [ ] Gym at 18:30", "Gym", None, time(18, 30)),
        ("[x] Mail", "[x] Mail", None, None),
        ("-", "-", None, None),
        ("-5 degrees: salt the path", "-5 degrees: salt the path", None, None),
    ],
)
def test_a_line_says_its_length_and_its_time(line: str, title: str, minutes: int | None, at: time | None) -> None:
    """S405: before or after the title; an hour that could be morning or afternoon stays in the title."""
    assert parse_task_line(line) == TaskLine(title, minutes, at)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("Slides 45m before 14:00", TaskLine("Slides", 45, due_time=time(14))),
        ("Slides before 2 pm, 45 min", TaskLine("Slides", 45, due_time=time(14))),
        ("before 14:00: slides", TaskLine("slides", due_time=time(14))),
        ("Call Tom by 9.30", TaskLine("Call Tom", due_time=time(9, 30))),
        ("Post bis 16 Uhr", TaskLine("Post", due_time=time(16))),
        ("Folien vor 14:00 Uhr, 1 h", TaskLine("Folien", 60, due_time=time(14))),
        ("Courses avant 18h", TaskLine("Courses", due_time=time(18))),
        ("Llamar a Ana antes de las 14:00", TaskLine("Llamar a Ana", due_time=time(14))),
        ("Boodschappen voor 17 uur", TaskLine("Boodschappen", due_time=time(17))),
        ("Call mum after 17:00", TaskLine("Call mum", from_time=time(17))),
        ("Einkauf ab 17 Uhr", TaskLine("Einkauf", from_time=time(17))),
        ("Courses à partir de 17h30", TaskLine("Courses", from_time=time(17, 30))),
        ("Laundry between 10 and 12:00", TaskLine("Laundry", from_time=time(10), due_time=time(12))),
        ("Wäsche zwischen 10 und 12 Uhr", TaskLine("Wäsche", from_time=time(10), due_time=time(12))),
        ("Workshop from 14:00 to 15:30", TaskLine("Workshop", 90, time(14))),
        ("Workshop from 3 to 4 pm", TaskLine("Workshop", 60, time(15))),
        ("Brunch 11 to 1 pm", TaskLine("Brunch", 120, time(11))),
        ("Seminar von 14 bis 16 Uhr", TaskLine("Seminar", 120, time(14))),
        ("Réunion de 14h à 16h", TaskLine("Réunion", 120, time(14))),
        ("Laundry between 12:00 and 10:00", TaskLine("Laundry between 12:00 and 10:00")),
        ("Call Tom by 5:30", TaskLine("Call Tom by 5:30")),
        ("Count from 8 to 10", TaskLine("Count from 8 to 10")),
        ("Gym at 18:30 💪🏽", TaskLine("Gym 💪🏽", at=time(18, 30))),
        ("Run, 30 min 🏃‍♀️❤️", TaskLine("Run 🏃‍♀️❤️", 30)),
        ("Gym at 18:30.", TaskLine("Gym", at=time(18, 30))),
        ("Bake at 18° 🍞", TaskLine("Bake at 18° 🍞")),
        ("🍞", TaskLine("🍞")),
        ("Write the day after", TaskLine("Write the day after")),
        ("Read up to page 12", TaskLine("Read up to page 12")),
    ],
)
def test_a_line_says_by_when_and_from_when(line: str, read: TaskLine) -> None:
    """S459: what is due before a time does not start at it."""
    assert parse_task_line(line) == read


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "nl"])
@pytest.mark.parametrize(
    "line",
    [
        TaskLine("Slides", at=time(14)),
        TaskLine("Slides", due_time=time(14)),
        TaskLine("Slides", from_time=time(9, 30)),
        TaskLine("Slides", due_time=time(14), from_time=time(9, 30)),
    ],
)
def test_a_line_that_is_shown_again_says_the_same(language: str, line: TaskLine) -> None:
    """S459"""
    with speak(language):
        assert parse_task_line(format_task_line(line)) == line


@pytest.mark.parametrize(
    ("form", "values", "errors"),
    [
        ("add_block", {"start": time(9)}, {"title": "A block needs a title."}),
        (
            "add_block",
            {"title": "Gym", "start": None, "minutes": None},
            {
                "start": "Please say when the block starts.",
                "minutes": "Please say how many minutes the block takes.",
            },
        ),
        (
            "add_block",
            {"title": "y" * 301, "notes": "z" * 3001},
            {
                "title": "This has 301 characters; please keep it to 300.",
                "notes": "This has 3,001 characters; please keep it to 3,000.",
            },
        ),
        ("add_block", {"title": "Gym", "start": "noonish"}, {"start": "Please choose a time like 09:30."}),
    ],
)
async def test_blocks_that_cannot_be_used(
    anna: Person, form: str, values: dict[str, Any], errors: dict[str, str]
) -> None:
    await anna.to_refine("Report")
    answer = await anna.fill(form, **values)
    assert answer is not None
    assert answer.errors == errors


async def test_a_task_without_a_title(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", proceed=False)
    answer = await anna.fill_row("Report", "task", title="")
    assert answer is not None
    assert answer.errors == {"title": "A task needs a title."}


async def test_a_frame_without_ends(anna: Person) -> None:
    await anna.to_frame()
    answer = await anna.fill("frame", day_start=None, day_end=None, lunch_minutes=500)
    assert answer is not None
    assert answer.errors == {
        "day_start": "Please say when your day starts.",
        "day_end": "Please say when your day ends.",
        "lunch_minutes": "Please choose between 0 and 240 minutes.",
    }


async def test_a_new_block_starts_where_there_is_room(anna: Person) -> None:
    await anna.to_refine("Report", "Mail")
    form = await anna.coordinator.open_form(
        FormRequest(form="add_block", session_id=anna.session_id, user_id=anna.user)
    )
    assert [f.value for f in form.fields if f.kind == "time"] == [time(11, 20)]  # ten minutes after the mail
    session = await anna.session()
    longest = max(minutes for minutes in range(5, 600, 5) if find_first_free(session, minutes))
    plan = session.planning.plan
    assert plan is not None
    ends = {local_time(session, block.end).time() for block in by_time(plan)}
    assert find_first_free(session, longest) in ends  # no room for a pause
    assert find_first_free(session, longest - 10) not in ends


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ("add_block", "That form belongs to another step; please use the newest card in this thread."),
        ("poem", "I don't know that form any more; please use the newest card in this thread."),
    ],
)
async def test_a_form_that_makes_no_sense_now(anna: Person, form: str, sentence: str) -> None:
    await anna.to_frame()
    with pytest.raises(UserError) as caught:
        await anna.fill(form)
    assert caught.value.message == sentence


async def test_a_form_after_the_end(anna: Person) -> None:
    """S57"""
    await anna.to_frame()
    await anna.press("Cancel")
    with pytest.raises(UserError) as caught:
        await anna.fill("frame")
    assert caught.value.message == "The plan for Monday 2 March is closed, so there is nothing to change here."


async def test_a_form_about_something_that_is_gone(anna: Person) -> None:
    await anna.to_refine("Report")
    with pytest.raises(UserError) as caught:
        await anna.fill("edit_block", target="nothing")
    assert caught.value.message == "That block is not in the plan any more."
    submission = FormSubmission(
        form="tasks", session_id="s-unknown", user_id=anna.user, command_id="c", at=MORNING, values={}
    )
    with pytest.raises(UserError) as lost:
        await anna.coordinator.read_form(submission)
    assert lost.value.message == "I can't find that plan any more. Start a new one with /timebox."


async def test_a_form_about_a_block_leaves_it_where_it_has_moved_meanwhile(anna: Person) -> None:
    """S513"""
    await anna.to_refine("Report")
    shown = await anna.look("edit_block", target=anna.menu("Report").target)
    await anna.choose("Report", "15 min later")
    await anna.choose("Report", "15 min later")
    assert await anna.submit(shown, title="Annual report", minutes=45) is None
    assert "**09:30–10:15** Annual report" in anna.words


async def test_a_form_of_a_day_keeps_what_has_changed_since_it_was_opened(anna: Person) -> None:
    """S513: by another form, a message or a button; a field that the person changed is set all the same."""
    await anna.start()
    shown = await anna.look("zone")
    await anna.fill("zone", tz="Europe/London")
    assert await anna.submit(shown) is None
    assert (await anna.session()).tz == "Europe/London"
    await anna.press("Plan this day")
    shown = await anna.look("frame")
    await anna.fill("frame", day_end=time(16, 30), lunch_start=time(13, 0))
    assert await anna.submit(shown, day_start=time(8, 0), lunch_minutes=20) is None
    frame = (await anna.session()).day.frame
    assert (frame.day_start, frame.day_end, frame.lunch_start, frame.lunch_minutes) == (
        time(8),
        time(16, 30),
        time(13),
        20,
    )
    await anna.press("Continue")
    await anna.fill("tasks", title_1="Report", title_2="Mail", size=1, proceed=False)
    shown = await anna.look("goals")
    await anna.fill("goals", goals="Ship it", block_minutes=50)
    assert await anna.submit(shown, deep_blocks=3) is None
    inputs = (await anna.session()).day.inputs
    assert (inputs.goals, inputs.blocks.deep_blocks, inputs.blocks.minutes) == (("Ship it",), 3, 50)
    report, mail = inputs.tasks
    shown = await anna.coordinator.open_form(
        FormRequest(form="task", session_id=anna.session_id, user_id=anna.user, target=report.id, size=1)
    )
    await anna.fill("task", target=report.id, title="The report", people="Ben", after=(mail.id,))
    await anna.fill("task", target=mail.id, remove=True)
    assert await anna.submit(shown, minutes=120, due_time=time(15)) is None
    (task,) = (await anna.session()).day.inputs.tasks
    assert (task.title, task.minutes, task.details.people, task.details.due_time) == (
        "The report",
        120,
        ("Ben",),
        time(15),
    )


async def send_form(person: Person, form: str, target: str = "", **values: Any) -> SessionCommand:
    """Fill in a form, and return its command, which is not carried out yet."""
    shown = await person.look(form, target=target)
    now = person.harness.clock.now()
    sent = await person.coordinator.read_form(fill_in(shown, person.user, now, command_id=f"sent-{form}", **values))
    assert isinstance(sent, SessionCommandBase)
    return sent


async def test_a_form_keeps_what_a_command_before_it_changes(anna: Person) -> None:
    """S502: the form is sent while that command, such as a message that a model reads, is not carried out yet."""
    await anna.to_frame()
    sent = await send_form(anna, "frame", day_start=time(8, 0))
    await anna.fill("frame", day_end=time(16, 30), lunch_start=time(13, 0))
    await anna.send(sent)
    frame = (await anna.session()).day.frame
    assert (frame.day_start, frame.day_end, frame.lunch_start) == (time(8, 0), time(16, 30), time(13, 0))
    await anna.press("Continue")
    sent = await send_form(anna, "goals", block_minutes=50)
    await anna.fill("goals", goals="Ship it")
    await anna.send(sent)
    inputs = (await anna.session()).day.inputs
    assert (inputs.goals, inputs.blocks.minutes) == (("Ship it",), 50)
    await anna.fill("tasks", title_1="Report", minutes_1=60)
    await anna.press("Back")
    (task,) = (await anna.session()).day.inputs.tasks
    sent = await send_form(anna, "task", task.id, title="The report")
    await anna.fill("task", target=task.id, minutes=120)
    await anna.send(sent)
    (task,) = (await anna.session()).day.inputs.tasks
    assert (task.title, task.minutes) == ("The report", 120)
