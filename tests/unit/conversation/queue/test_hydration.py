"""A message outside of any plan: one question to a model, and then the way it goes (S147-S156, S163-S166)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from tests.factories.words import Answer, first, opening, outside, wanting, work
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, Harness, open_harness_at
from tests.unit.conversation.queue.person import DM, QueuePerson, labels

from fateforger.session.commands.thread import Opening
from fateforger.tasks.task import BlockTime, Decompose, TaskState
from fateforger.tasks.workflows import read_own

Begin = Callable[..., Awaitable["Talk"]]


class Talk(QueuePerson):
    """A person's first messages, with a model that says its lines."""

    model: ScriptedModel

    async def says(self, text: str, ts: str = "1.0") -> bool:
        command = Opening(
            command_id=f"m-{ts}", user_id=ANNA, at=self.harness.clock.now(), channel=DM, thread_ts=ts, tz=AMSTERDAM,
            text=text,
        )  # fmt: skip
        done = await self.harness.coordinator.on_opening(command)
        await self.read()
        return done


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Begin]:
    opened: list[Harness] = []

    async def begin(*lines: Answer) -> Talk:
        model = ScriptedModel(*(each for line in lines for each in first(line)))
        opened.append(await open_harness_at(tmp_path, model=model))
        talking = Talk(opened[-1])
        talking.model = model
        return talking

    yield begin
    for harness in opened:
        await harness.close()


@pytest.mark.parametrize(
    "text",
    [
        "Add a dark mode toggle to the settings",
        "Bitte einen Dunkelmodus in die Einstellungen einbauen",
        "設定にダークモードを追加して",
        "أضف وضعًا داكنًا إلى الإعدادات",
    ],
)
async def test_work_is_put_into_the_queue_by_two_questions(talk: Begin, text: str) -> None:
    """S153, S154: this works in any language; the body has the person's words, files, criteria and the workflow."""
    anna = await talk(
        work(
            "Dark mode", workflow="feature-dev", simple=False, files=["settings.tsx"], criteria=["It persists"],
            tags=["ui"], project="webapp", priority=1,
        )
    )  # fmt: skip
    assert await anna.says(text) is True
    (task,) = await anna.tasks()
    spec = task.spec
    assert (spec.title, spec.workflow, spec.project, spec.priority, spec.tags) == (
        "Dark mode", "feature-dev", "webapp", 1, ("ui",),
    )  # fmt: skip
    assert (spec.context, spec.relevant_files, spec.acceptance_criteria) == (text, ("settings.tsx",), ("It persists",))
    assert (task.state, task.mode, task.attempts) == (TaskState.ACTIVE, "dispositor", 0)
    assert anna.model.asked == ["start", "queue"]
    assert f"Run `/pull {task.id}` to start it" in anna.words
    assert anna.deliveries[-1]["thread_ts"] == "1.0"


async def test_a_repeated_message_makes_one_task_and_one_answer(talk: Begin) -> None:
    """K7: idempotent per message."""
    anna = await talk(work("Buy milk"), work("Buy milk"))
    await anna.says("milk!")
    await anna.says("milk!")
    assert len(await anna.tasks()) == 1
    assert len(anna.deliveries) == 1


async def test_a_question_changes_nothing_and_makes_no_task(talk: Begin) -> None:
    """S149, S156: answered at once, in the person's language."""
    anna = await talk(wanting("question", answer="Es wartet nichts."))
    assert await anna.says("Was wartet auf mich?") is True
    assert anna.words == "Es wartet nichts.\nIt did not go through your queue."
    assert await anna.tasks(ended=True) == ()


async def test_a_question_in_which_a_model_sees_work_is_still_a_question(talk: Begin) -> None:
    """S156: the rest of the model's answer is ignored."""
    asked = {**work("Delete everything"), "wants": "question", "answer": "No."}
    anna = await talk(asked)
    await anna.says("Would you delete everything?")
    assert await anna.tasks(ended=True) == ()


async def test_what_changes_nothing_is_not_put_into_the_queue(talk: Begin) -> None:
    """S152"""
    anna = await talk({**work("Think"), "changes": False})
    assert await anna.says("hm, thinking") is False
    assert await anna.tasks() == ()


async def test_conversation_is_answered_or_gets_the_welcome(talk: Begin) -> None:
    """S150, S223: what is unclear counts as conversation and stays here."""
    anna = await talk(outside("conversation", answer="Gern geschehen!"), outside("conversation"))
    assert await anna.says("Danke dir") is True
    assert anna.words.startswith("Gern geschehen!")
    assert await anna.says("hello", "2.0") is False


@pytest.mark.parametrize("wants", ["queue", "thread"])
async def test_a_hand_over_needs_enough_confidence(talk: Begin, wants: str) -> None:
    """S223: below it nothing is asked of the queue or a plan; the bot says what it can do, with buttons."""
    anna = await talk(outside(wants, number=1, confidence=0.5))
    task = await anna.adds("First")
    assert await anna.says("the first one, or so") is False
    assert len(anna.model.asked) == 1
    assert (await anna.task(task.id)).state is TaskState.ACTIVE


async def test_a_pull_in_words_names_its_task_by_its_row(talk: Begin) -> None:
    """S148, S151: a skill that is called for goes directly."""
    anna = await talk(wanting("pull", number=2), wanting("done", number=2), wanting("tasks"))
    await anna.adds("First")
    second = await anna.adds("Second")
    await anna.says("let's begin the second one")
    assert (await anna.task(second.id)).state is TaskState.WAITING
    await anna.says("c'est fait", "2.0")
    assert (await anna.task(second.id)).state is TaskState.DONE
    await anna.says("what is left?", "3.0")
    assert "1 task in your queue" in anna.words


async def test_a_week_is_planned_in_words(talk: Begin) -> None:
    """S251"""
    anna = await talk(wanting("week"), wanting("next_week"))
    await anna.adds("Tax return")
    await anna.says("plan my week")
    assert "Monday 2 March" in anna.words
    assert "Tax return" in anna.words
    await anna.says("et la semaine prochaine ?", "2.0")
    assert "Monday 9 March" in anna.words


@pytest.mark.parametrize("wants", ["pull", "done"])
async def test_what_names_no_task_that_is_there_starts_nothing(talk: Begin, wants: str) -> None:
    """S223: a hand-over needs its target; where that is not there the queue is shown, and all stays as it is."""
    anna = await talk(wanting(wants, number=7))
    task = await anna.adds("First")
    await anna.says("begin the seventh")
    assert (await anna.task(task.id)).state is TaskState.ACTIVE
    assert "1 task in your queue" in anna.words


@pytest.mark.parametrize(
    ("text", "words"), [("/tasks", "Your queue is empty."), ("/sing", "I don't know that command.")]
)
async def test_a_leading_slash_is_never_read_by_a_model(talk: Begin, text: str, words: str) -> None:
    """S147, S152: first in the order."""
    anna = await talk()
    assert await anna.says(text) is True
    assert words in anna.words
    assert anna.model.asked == []


async def test_a_pull_that_is_written_out_in_a_thread(talk: Begin) -> None:
    """S151: Slack takes no commands in threads."""
    anna = await talk()
    task = await anna.adds()
    await anna.says(f"/pull {task.id}")
    assert (await anna.task(task.id)).state is TaskState.WAITING


async def test_just_do_it_when_it_is_simple(talk: Begin) -> None:
    """S163, option A: at once, with the note; no task."""
    spec = work("Report", kind="block_time", date="2026-03-06", minutes=60, start="10:00", haste="asks")
    anna = await talk(spec)
    await anna.says("no task please, just block an hour on Friday at 10 for the report")
    assert "isn't tracked in your queue" in anna.words
    assert await anna.tasks(ended=True) == ()
    await anna.run_commands()
    (session,) = await anna.harness.store.sessions.of_user(ANNA)
    assert ([task.title for task in session.day.inputs.tasks], session.options.mode) == (["Report"], "direct")


async def test_just_do_it_for_a_day_the_rules_and_a_reminder(talk: Begin) -> None:
    """S163: each has its effect at once, and none is only claimed."""
    anna = await talk(
        work("My rules", kind="review_rules", haste="asks"),
        work("Call the tax office", kind="remind", start="16:00", haste="asks"),
        work("Friday", kind="plan_day", date="2026-03-06", haste="asks"),
    )
    await anna.says("just go through my rules, now")
    assert "No rule waits for your word." in anna.words
    await anna.says("and remind me to call the tax office at 4", "2.0")
    (task,) = await anna.tasks()
    assert f"{task.spec.remind_at}" == "2026-03-02 16:00:00+01:00"
    await anna.says("and plan Friday", "3.0")
    await anna.run_commands()
    (session,) = await anna.harness.store.sessions.of_user(ANNA)
    assert f"{session.date}" == "2026-03-06"


async def test_just_do_it_when_it_is_complex(talk: Begin) -> None:
    """S164, option B: queued, with a reason and the exact line."""
    anna = await talk(work("Thesis", kind="decompose", simple=False, haste="asks"))
    await anna.says("just break up my thesis now")
    (task,) = await anna.tasks()
    assert anna.words.startswith(
        "This has several parts, and somebody has to look at them before they are worked on. I keep “Thesis” there: run "
        f"`/pull {task.id}` to do it with all that."
    )
    assert labels(anna.card) == ["Pull it now", "Do it anyway"]


async def test_just_do_it_on_insistence(talk: Begin) -> None:
    """S165, option C: the loss is named, then the work is done; there is no task."""
    parts = {
        "goal": "A thesis",
        "assumptions": ["It stands"],
        "probes": ["Ask"],
        "parts": [{"title": "Outline", "tag": "", "minutes": None}],
    }
    anna = await talk(work("Thesis", kind="decompose", simple=False, haste="insists"), parts)
    await anna.says("I don't care, do it now")
    assert "no rule is checked, nobody can look up later what was done, and it cannot be paused" in anna.words
    assert "Outline" in anna.words
    assert await anna.tasks(ended=True) == ()


@pytest.mark.parametrize("haste", ["asks", "insists"])
async def test_just_do_it_when_nobody_here_can(talk: Begin, haste: str) -> None:
    """S163, S165: the refusal comes at once, and offers a task or time in a day, by a button or in words."""
    spec = work("Move the office", simple=haste == "asks", haste=haste, priority=1, context="To the second floor.")
    anna = await talk(spec, spec, wanting("button", number=1))
    await anna.says("just move the office now")
    assert anna.words.startswith("I cannot do “Move the office” myself.")
    assert "Shall I keep it as a task, or find time for it?" in anna.words
    assert labels(anna.card) == ["Keep it as a task", "Find time for it"]
    assert await anna.tasks(ended=True) == ()
    await anna.press("Find time for it")
    assert anna.words.startswith("I put “Move the office” into your queue. When shall it get its time?")
    assert labels(anna.card) == ["Block time", "Show my queue"]
    (task,) = await anna.tasks()
    assert (task.spec.priority, task.spec.context, task.state) == (1, "To the second floor.", TaskState.ACTIVE)
    await anna.says("and do it now!", "2.0")
    await anna.says("keep it then", "3.0")
    assert len(await anna.tasks()) == 2


async def test_much_that_nobody_here_can_do_is_kept_with_its_beginning(talk: Begin) -> None:
    """S163: a button of Slack carries 2,000 characters."""
    anna = await talk(work("Move the office", haste="asks", context="To the second floor. " * 140))
    await anna.says("just move the office now")
    await anna.press("Keep it as a task")
    (task,) = await anna.tasks()
    assert task.spec.context.startswith("To the second floor. To the")
    assert (len(task.spec.context) > 1_000, task.spec.context[-1]) == (True, "…")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (work("Thesis", kind="decompose", workflow="tdd-cycle"), Decompose()),
        (work("Gym", kind="block_time", date="2026-03-06", minutes=45), BlockTime.model_validate(
            {"date": "2026-03-06", "minutes": 45})),
    ],
    ids=["decompose", "block time"],
)  # fmt: skip
async def test_what_kind_of_work_it_is(talk: Begin, said: Line, kind: object) -> None:
    anna = await talk(said)
    await anna.says("…")
    assert (await anna.tasks())[0].spec.work == kind


async def test_what_cannot_be_used_is_left_out(talk: Begin) -> None:
    """A hostile or careless answer makes a plain task at most."""
    anna = await talk(work("Nap", kind="block_time", minutes=-5, workflow="timeboxing", tags=["", "x"], files=[""]))
    await anna.says("nap")
    spec = (await anna.tasks())[0].spec
    assert (spec.work.kind, spec.workflow, spec.tags, spec.relevant_files) == ("do", "", ("x",), ())


async def test_a_day_is_still_planned_by_the_same_question(talk: Begin) -> None:
    anna = await talk(opening(date="2026-03-03"))
    assert await anna.says("plan tomorrow") is True
    assert (len(await anna.harness.store.sessions.of_user(ANNA)), await anna.tasks()) == (1, ())


async def test_a_task_under_rules_is_done_in_words(talk: Begin) -> None:
    """S136, S162: the steps and answers that the words name count; without them it is asked, and stays open."""
    plan = ("write_test", "see_test_fail", "implement", "run_test", "refactor", "verify_tests", "commit")
    anna = await talk(
        wanting("done", number=1),
        wanting("note", number=1, did=[3]),
        wanting("note", number=1, did=[1, 2]),
        wanting("done", number=1, did=[3, 4, 7]),
    )
    task = await anna.adds("Toggle", workflow="tdd-cycle")
    await anna.pulls()
    await anna.says("the toggle is done")
    assert "Rule: The work is committed before it counts as done." in anna.words
    await anna.says("I implemented it", "2.0")
    assert "Rule: A test exists and fails before implementation begins." in anna.words
    await anna.says("I wrote the test and saw it fail", "3.0")
    assert "I noted that. Go on when you like." in anna.words
    await anna.says("implemented, the test passes, committed: done", "4.0")
    after = await anna.task(task.id)
    done = ("claim_task", *plan[:4], "commit", "close_task")
    assert (after.state, tuple(name for step in after.steps for name in step.do)) == (TaskState.DONE, done)
    assert "steps[7]{number,step,of}:" in anna.model.prompts[1].user


async def test_a_workflow_is_chosen_by_its_context(talk: Begin) -> None:
    """S135: a model reads what each workflow is, is for and is not for, one's own among them; no other name counts."""
    anna = await talk(work("Launch", workflow="launch", simple=False), work("Nap", workflow="sleeping"))
    own = "workflow: launch\ndescription: Out it goes\ncontext: {applies_when: [releasing], not_when: [drafts]}\n"
    anna.harness.workflows = read_own({"launch": own})
    anna.harness.restart()
    await anna.says("launch it")
    await anna.says("nap", "2.0")
    assert [task.spec.workflow for task in await anna.tasks()] == ["launch", ""]
    shown = anna.model.prompts[1].user
    assert "workflows[4]{name,is,for,not_for}:" in shown
    assert "launch,Out it goes,releasing,drafts" in shown
