"""The chat side against the local workspace, over real HTTP and WebSocket, with a scripted coordinator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.chat import (
    IN_HTTP_MODE,
    Chat,
    Person,
    build_services,
    build_supervisor,
    chat_at,
    control,
    eventually,
    login,
    steps,
    workspace_at,
)
from tests.scenarios.person import texts
from tests.scenarios.scripted_coordinator import ENDED, WELCOME_TEXT, ScriptedCoordinator, failing, slowly
from tests.scenarios.store_faults import Failing

from fateforger.adapters.store.upkeep import measure_backlog
from fateforger.app.slack import SlackApp, run_slack_app
from fateforger.errors import BadInput, StoreUnavailable, WorldError
from fateforger.session.cards import Card, Prose
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.thread import StartTimeboxing, TimeboxingUserReply
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session
from fateforger.slack import limits, phrases
from fateforger.slack.manifest import app_manifest
from fateforger.slack.progress import Timing
from fateforger.text import name_commands
from fateforger.workers.lanes import SENDING
from fateforger.workers.turns import APOLOGY
from localslack import RATE_LIMITED, Fault, Workspace, interactions

GENERAL = "C0000GENERAL"
ALEX, ROBIN = "U0000ALEX", "U0000ROBIN"
Json = dict[str, Any]


@pytest.fixture
async def alex(workspace: Workspace) -> AsyncIterator[Person]:
    person = Person(workspace, ALEX)
    yield person
    await person.http.aclose()


@pytest.fixture
async def robin(workspace: Workspace) -> AsyncIterator[Person]:
    person = Person(workspace, ROBIN, channel=GENERAL)
    yield person
    await person.http.aclose()


async def wait_settled(chat: Chat) -> None:
    """Wait until no job and no message waits."""

    async def nothing_waits() -> bool:
        backlog = await measure_backlog(chat.store.database, datetime.now(UTC))
        return not backlog.messages and backlog.jobs.keys() <= {SENDING.name}

    await eventually(nothing_waits, "everything settled")


def replies(thread: list[Json]) -> list[Json]:
    return thread[1:]


async def forge(chat: Chat, user: str, channel: str, message: Json, label: str) -> None:
    """Deliver a click of a person who could not have seen the button."""
    workspace = chat.workspace
    block_id, element = control(message["blocks"], label)
    (person,) = (one for one in workspace.config.users if one.id == user)
    payload = {
        **interactions.common("block_actions", person, workspace.triggers.issue(user)),
        "container": {"type": "message", "message_ts": message["ts"], "channel_id": channel},
        "channel": {"id": channel, "name": "directmessage"},
        "actions": [{key: element[key] for key in ("type", "action_id", "value")} | {"block_id": block_id}],
    }
    await workspace.interactivity.ask("interactive", payload)


# --- the way of one plan --------------------------------------------------------------------------------------


async def test_a_plan_starts_in_its_thread_and_its_card_is_kept_up_to_date(chat: Chat, alex: Person) -> None:
    """S213: one state card is updated, not posted again."""
    ts = await alex.start()
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    assert (session.user_id, session.tz) == (ALEX, "Europe/Amsterdam")
    root = (await alex.thread(ts))[0]
    assert (await alex.use(root, "Count"))["ok"]
    first = await alex.sees(ts, "1 steps")
    assert (await alex.use(first, "Count"))["ok"]
    second = await alex.sees(ts, "2 steps")
    assert (second["ts"], steps(second)) == (first["ts"], ["count one", "count one"])
    root, *others = await alex.thread(ts)
    assert [m["ts"] for m in others] == [first["ts"]]
    with pytest.raises(AssertionError, match="no control"):
        control(root["blocks"], "Count")


async def test_after_a_word_of_the_person_the_card_comes_anew_below_it(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    first = await alex.sees(ts, "1 steps")
    await alex.say("please *move* lunch", ts)
    second = await alex.sees(ts, "2 steps")
    await wait_settled(chat)
    old, said, new = replies(await alex.thread(ts))
    assert (old["ts"], said["user"], new["ts"]) == (first["ts"], ALEX, second["ts"])
    assert steps(new) == ["count one", "please ∗move∗ lunch"]
    assert steps(old) == ["count one"]
    with pytest.raises(AssertionError, match="no control"):
        control(old["blocks"], "Count")


async def test_a_day_can_be_named_with_the_command(chat: Chat, alex: Person) -> None:
    """S447: as a date. Without a model, other words are answered with their uses, and begin nothing by themselves."""
    assert (await alex.slash("2026-03-06"))["ok"]
    await wait_settled(chat)
    (session,) = await chat.store.sessions.of_user(ALEX)
    assert session.date == date(2026, 3, 6)
    assert (await alex.slash("the day after tomorrow"))["ok"]
    answer = (await alex.roots())[-1]
    assert answer["text"] == WELCOME_TEXT
    assert len(await chat.store.sessions.of_user(ALEX)) == 1


async def test_a_picked_date_and_a_menu_entry_reach_their_command(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "datepicker", selected_date="2026-03-09")
    card = await alex.sees(ts, "date 2026-03-09")
    _, menu = control(card["blocks"], "overflow")
    await alex.use(card, "overflow", selected_option=menu["options"][0])
    await alex.sees(ts, "remove row-1")


# --- once, and in order ---------------------------------------------------------------------------------------


async def test_a_double_click_counts_once(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    answers = await asyncio.gather(*(alex.use(root, "Count") for _ in range(4)))
    assert [a["ok"] for a in answers] == [True] * 4
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == ["count one"]


async def test_twenty_quick_choices_are_carried_out_in_order_one_at_a_time(chat: Chat, alex: Person) -> None:
    """S115: all twenty are made before the first is carried out."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    all_made = asyncio.Event()

    async def before(command: Any) -> None:
        await all_made.wait()
        await slowly(command)

    chat.coordinator.before_handling = before
    days = [(date(2026, 3, 1) + timedelta(days=n)).isoformat() for n in range(20)]
    for day in days:
        assert (await alex.use(root, "datepicker", selected_date=day))["ok"]
    all_made.set()
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == [f"date {day}" for day in days]
    assert chat.coordinator.most_running == 1


async def test_quick_words_are_heard_in_the_order_they_were_written(chat: Chat, alex: Person) -> None:
    """S115, S228."""
    chat.coordinator.before_handling = slowly
    ts = await alex.start()
    for n in range(20):
        await alex.say(f"word {n}", ts)
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == [f"word {n}" for n in range(20)]


async def test_two_plans_do_not_wait_for_each_other(chat: Chat, alex: Person) -> None:
    one, other = await alex.start(), await alex.start()
    gate = asyncio.Event()

    async def before(command: Any) -> None:
        if getattr(command, "text", "") == "slow":
            await gate.wait()

    chat.coordinator.before_handling = before
    await alex.say("slow", one)
    await alex.say("quick", other)
    await alex.sees(other, "• quick")
    assert replies(await alex.thread(one))[1:] == []
    gate.set()
    await alex.sees(one, "• slow")


# --- people ---------------------------------------------------------------------------------------------------


async def test_only_the_owner_of_a_plan_can_change_it(chat: Chat, alex: Person, robin: Person) -> None:
    """K14: another person cannot even see it; forged payloads with its ids change nothing."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    for label in ("Count", "Add tasks"):
        await forge(chat, ROBIN, alex.channel, root, label)
    await wait_settled(chat)
    assert await robin.modal() is None
    assert replies(await alex.thread(ts)) == []
    assert (await chat.store.sessions.in_thread(alex.channel, ts)).planning.overview == ""  # type: ignore[union-attr]  # it is there


async def test_a_mention_is_welcomed_once_and_the_welcome_starts_a_plan(chat: Chat, robin: Person) -> None:
    """One post, two events; any other talk in the channel is left alone."""
    await robin.say("nothing to do with planning")
    said = await robin.say("<@U00000BOT> good morning")
    ts = said["message"]["ts"]
    welcome = await robin.sees(ts, WELCOME_TEXT)
    await wait_settled(chat)
    assert [m["text"] for m in replies(await robin.thread(ts))] == [WELCOME_TEXT]
    await robin.use(welcome, "Plan my day")
    own = Person(chat.workspace, ROBIN)

    async def find_plan() -> Json | None:
        return next((m for m in await own.roots() if "0 steps" in m["text"]), None)

    root = await eventually(find_plan, "the plan in their direct messages")
    await robin.sees(ts, phrases.PLANNED_ELSEWHERE)

    async def without_button() -> bool:
        return len((await robin.thread(ts))[1]["blocks"]) == 1

    await eventually(without_button, "the welcome without its button")
    assert await chat.store.sessions.in_thread(GENERAL, ts) is None
    session = await chat.store.sessions.in_thread(own.channel, root["ts"])
    await own.http.aclose()
    assert session is not None
    assert (session.user_id, session.tz) == (ROBIN, "America/New_York")
    assert len(await robin.roots()) == 2


async def test_a_direct_message_is_welcomed_in_its_thread(chat: Chat, alex: Person) -> None:
    said = await alex.say("good morning")
    await alex.sees(said["message"]["ts"], WELCOME_TEXT)
    await alex.say("hello?", said["message"]["ts"])

    async def welcomed_again() -> bool:
        texts = [m["text"] for m in replies(await alex.thread(said["message"]["ts"]))]
        return texts == [WELCOME_TEXT, "hello?", WELCOME_TEXT]

    await eventually(welcomed_again, "a second welcome")


async def test_the_first_look_at_the_messages_is_welcomed_once_ever(chat: Chat, alex: Person) -> None:
    for _ in range(3):
        await alex.post("/ui/home_opened", tab="messages")

    async def find_welcomes() -> list[Json]:
        return [m for m in await alex.roots() if m["text"] == WELCOME_TEXT]

    (welcome,) = await eventually(find_welcomes, "a welcome")
    await alex.use(welcome, "Plan my day")
    await alex.sees(welcome["ts"], "0 steps")
    await wait_settled(chat)
    assert len(await alex.roots()) == 1


async def test_app_home_shows_plans_and_starts_one(chat: Chat, alex: Person) -> None:
    await alex.post("/ui/home_opened", tab="home")

    async def home() -> Json | None:
        return (await alex.get("/ui/home"))["view"]  # type: ignore[no-any-return]  # JSON

    view = await eventually(home, "the home tab")
    assert view["blocks"][0]["text"]["text"] == "0 plans"
    assert (await alex.use_in(view, "Plan my day", {}))["ok"]
    await eventually(alex.roots, "a plan in the direct messages")
    await wait_settled(chat)
    (session,) = await chat.store.sessions.of_user(ALEX)
    assert (session.channel, session.thread_ts) == (alex.channel, (await alex.roots())[0]["ts"])


async def test_the_shortcut_starts_a_plan(chat: Chat, alex: Person) -> None:
    assert (await alex.post("/ui/shortcut", callback_id="start"))["ok"]
    (root,) = await eventually(alex.roots, "a plan in the direct messages")
    assert root["text"] == "0 steps"


# --- forms ----------------------------------------------------------------------------------------------------


async def test_a_form_with_more_rows_an_error_and_then_success(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Add tasks")
    small = await eventually(alex.modal, "the form")
    state = {"field.title0": {"value": {"type": "plain_text_input", "value": "nothing"}}}
    await alex.use_in(small, "One more row", state)

    async def find_longer_form() -> Json | None:
        view = await alex.modal()
        return view if view and len(view["blocks"]) > len(small["blocks"]) else None

    view = await eventually(find_longer_form, "one more row")
    assert view["state"]["values"]["field.title0"]["value"]["value"] == "nothing"
    state |= {"field.title1": {"value": {"type": "plain_text_input", "value": "Read"}}}
    refused = await alex.submit(view, state)
    assert refused["errors"] == {"field.title0": "That is not something to do."}
    state |= {"field.title0": {"value": {"type": "plain_text_input", "value": "Write"}}}
    assert (await alex.submit(view, state)) == {"ok": True, "errors": None, "stack": []}
    await alex.sees(ts, "tasks Write, Read")
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == ["tasks Write, Read"]


async def test_a_form_sent_twice_counts_once(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Add tasks")
    view = await eventually(alex.modal, "the form")
    state = {"field.title0": {"value": {"type": "plain_text_input", "value": "Write"}}}
    await asyncio.gather(alex.submit(view, state), alex.submit(view, state))
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == ["tasks Write"]


async def test_a_form_or_button_that_makes_no_sense_now_says_so(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Gone")
    assert (await alex.sees(ts, ENDED))["text"] == ENDED
    await alex.use(root, "Unknown")
    await alex.sees(ts, "I don't know the button mystery.")
    assert await alex.modal() is None


async def test_a_list_is_searched_and_a_row_of_it_opened_and_pressed(chat: Chat, alex: Person) -> None:
    """S34, S35: a form over a form; what a control in it does is seen in both as soon as it is done."""
    ts = await alex.start()
    for said in ("walk", "write"):
        await alex.say(said, ts)
        await alex.sees(ts, said)
    await alex.use(await alex.sees(ts, "2 steps"), "All steps")
    view = await eventually(alex.modal, "the list")
    assert [t for t in texts(view["blocks"]) if t in {"walk", "write"}] == ["walk", "write"]
    state = {"field.words~1": {"value": {"type": "plain_text_input", "value": "wa"}}}
    assert (await alex.submit(view, state))["errors"] is None

    async def find_list() -> Json | None:
        top = await alex.modal()
        shown = [] if top is None else [t for t in texts(top["blocks"]) if t in {"walk", "write"}]
        return top if shown == ["walk"] else None

    view = await eventually(find_list, "what was looked for")
    await alex.use_in(view, "Look", {})

    async def find_step() -> Json | None:
        top = await alex.modal()
        return top if top and top["title"]["text"] == "Step" else None

    row = await eventually(find_step, "the step")
    assert row["previous_view_id"] == view["id"]
    await alex.use_in(row, "Count here", {})

    async def find_count() -> Json | None:
        top = await alex.modal()
        return top if top and "walk, 3 steps. Done." in texts(top["blocks"]) else None

    row = await eventually(find_count, "the step as it is now")
    await alex.close(row)
    below = await eventually(find_list, "the list as it was")
    await alex.use_in(below, "Everything", {})

    async def everything() -> Json | None:
        top = await alex.modal()
        return top if top and "count deep" in texts(top["blocks"]) else None

    await eventually(everything, "all of the list")


async def form_says(person: Person, words: str) -> Json:
    """Return the form on top once one of its texts contains the words."""

    async def look() -> Json | None:
        top = await person.modal()
        return top if top and any(words in text for text in texts(top["blocks"])) else None

    return await eventually(look, words)


async def test_a_form_says_that_what_was_pressed_in_it_waits(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    go_on = asyncio.Event()

    async def when_told(command: InboxCommand) -> None:
        if not isinstance(command, StartTimeboxing):
            await go_on.wait()

    def busy(coordinator: ScriptedCoordinator) -> None:
        coordinator.before_handling = when_told

    async with chat_at(workspace, tmp_path, prepare=busy, timing=Timing(form=0.1)):
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "All steps")
        await alex.use_in(await form_says(alex, "Everything"), "Look at a step", {})
        await alex.use_in(await form_says(alex, "Count here"), "Count here", {})
        assert "0 steps" in str(await form_says(alex, phrases.FORM_WAITS))
        go_on.set()
        assert phrases.FORM_WAITS not in str(await form_says(alex, "1 steps. Done."))


async def test_what_is_asked_last_in_a_form_stays_when_an_earlier_press_in_it_is_done(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S498: a refresh for a command that was slow shows what the person has asked to see since."""
    go_on = asyncio.Event()

    def busy(coordinator: ScriptedCoordinator) -> None:
        async def when_told(command: InboxCommand) -> None:
            if isinstance(command, TimeboxingUserReply) and command.text == "count deep":
                await go_on.wait()

        coordinator.before_handling = when_told

    async def list_says(*lines: str) -> Json:
        async def look() -> Json | None:
            top = await alex.modal()
            told = [text for text in texts(top["blocks"]) if text in {"walk", "write", "count deep"}] if top else []
            return top if told == list(lines) else None

        return await eventually(look, f"the list with {lines}")

    async with chat_at(workspace, tmp_path, prepare=busy, timing=Timing(form=0.1)):
        ts = await alex.start()
        for said in ("walk", "write"):
            await alex.say(said, ts)
            await alex.sees(ts, said)
        await alex.use(await alex.sees(ts, "2 steps"), "All steps")
        view = await list_says("walk", "write")
        searched = {"field.words~1": {"value": {"type": "plain_text_input", "value": "wa"}}}
        assert (await alex.submit(view, searched))["errors"] is None
        await alex.use_in(await list_says("walk"), "Look", {})
        await alex.use_in(await form_says(alex, "Count here"), "Count here", {})
        await alex.close(await form_says(alex, phrases.FORM_WAITS))
        await alex.use_in(await list_says("walk"), "Everything", {})
        await list_says("walk", "write")
        go_on.set()
        await list_says("walk", "write", "count deep")


async def test_a_press_in_a_form_counts_even_if_the_form_was_refreshed_just_before(chat: Chat, alex: Person) -> None:
    """S498: a press may come from a form as it was before the bot refreshed it."""
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "All steps")
    before = await form_says(alex, "Everything")
    await alex.say("walk", ts)
    await alex.sees(ts, "1 steps")
    shown = {key: before[key] for key in ("type", "title", "submit", "close", "private_metadata", "blocks")}
    refreshed = chat.workspace.modals.update(before["id"], shown, None)
    assert refreshed["hash"] != before["hash"]
    block_id, button = control(before["blocks"], "Everything")
    (person,) = (one for one in chat.workspace.config.users if one.id == ALEX)
    await chat.workspace.interactivity.ask(
        "interactive",
        {
            **interactions.common("block_actions", person, chat.workspace.triggers.issue(ALEX)),
            **interactions.on_view(before),
            "actions": [{key: button[key] for key in ("type", "action_id", "value")} | {"block_id": block_id}],
        },
    )
    await form_says(alex, "walk")


async def test_a_form_that_slack_does_not_open_is_said_to_be_tried_again(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    chat.workspace.faults.plan("views.open", Fault(error="expired_trigger_id"))
    await alex.use((await alex.thread(ts))[0], "Add tasks")
    assert (await alex.sees(ts, phrases.FORM_FAILED))["text"] == phrases.FORM_FAILED


async def test_what_slack_does_not_take_at_once_is_said_a_moment_later(chat: Chat, alex: Person) -> None:
    """S391: the limit that a form met is often met by the sentence about it, too; no click ends in silence."""
    ts = await alex.start()
    chat.workspace.faults.plan("views.open", Fault(status=429, error="ratelimited", retry_after=1))
    chat.workspace.faults.plan("chat.postEphemeral", Fault(status=429, error="ratelimited", retry_after=1))
    chat.workspace.faults.plan("chat.postEphemeral", Fault(status=500))
    await alex.use((await alex.thread(ts))[0], "Add tasks")
    assert (await alex.sees(ts, phrases.FORM_FAILED))["text"] == phrases.FORM_FAILED


async def test_a_sentence_is_said_by_the_next_program_if_this_one_ends(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S391: a form did not open, and the program ended before it reported this: the click had no answer."""
    async with chat_at(workspace, tmp_path):
        ts = await alex.start()
        workspace.faults.plan("views.open", Fault(status=500))
        workspace.faults.plan("chat.postEphemeral", Fault(status=500), times=2)
        assert (await alex.use((await alex.thread(ts))[0], "Add tasks"))["ok"]
    async with chat_at(workspace, tmp_path):
        assert (await alex.sees(ts, phrases.FORM_FAILED))["text"] == phrases.FORM_FAILED


async def test_a_button_of_a_plan_that_is_gone_says_so(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await wait_settled(chat)
    await chat.store.database.write(lambda c: c.exec_driver_sql("DELETE FROM outbox"))
    await chat.store.database.write(lambda c: c.exec_driver_sql("DELETE FROM planning_session"))
    await alex.use((await alex.thread(ts))[0], "Count")
    await alex.sees(ts, "I can't find this plan any more.")


# --- when things fail -----------------------------------------------------------------------------------------


async def test_without_the_database_nothing_is_acknowledged(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """The person sees that a click failed; Slack sends an event again, and it is handled once."""
    workspace.delivery.ack_seconds = workspace.interactivity.ack_seconds = 0.3
    faults = Failing()
    async with chat_at(workspace, tmp_path, jobs=faults.jobs) as chat:
        ts = await alex.start()
        root = (await alex.thread(ts))[0]
        faults.enqueue = ["before"] * 2
        assert (await alex.use(root, "Count"))["ok"] is False
        await alex.say("said while it was down", ts)
        await alex.sees(ts, "• said while it was down")
        await wait_settled(chat)
        assert steps(replies(await alex.thread(ts))[-1]) == ["said while it was down"]


async def test_an_event_that_is_sent_again_is_handled_once(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """The row was written, but the acknowledgement was lost."""
    workspace.delivery.ack_seconds = 0.3
    faults = Failing()
    async with chat_at(workspace, tmp_path, jobs=faults.jobs) as chat:
        ts = await alex.start()
        faults.enqueue = ["after"]
        await alex.say("once", ts)
        await eventually(lambda: _is(not workspace.delivery.waiting()), "the event was acknowledged")
        assert faults.enqueued.count("message") == 2
        await wait_settled(chat)
        assert steps(replies(await alex.thread(ts))[-1]) == ["once"]


@pytest.mark.parametrize("step", ["root", "state"])
async def test_a_crash_between_posting_and_recording_posts_nothing_twice(
    workspace: Workspace, tmp_path: Path, alex: Person, step: str
) -> None:
    """The message is in Slack, but the outbox never heard of it; the next process finds it there."""
    faults = Failing()
    async with chat_at(workspace, tmp_path, outbox=faults.outbox):
        if step == "root":
            faults.sent = True
        ts = await alex.start()
        if step == "state":
            await eventually(lambda: _is(faults.recorded == 1), "the root is recorded")
            faults.sent = True
            await alex.use((await alex.thread(ts))[0], "Count")
            await alex.sees(ts, "1 steps")
        await eventually(lambda: _is(faults.refused > 0), "the recording failed")
    async with chat_at(workspace, tmp_path) as chat:
        await wait_settled(chat)
        assert len(await alex.roots()) == 1
        await alex.say("go on", ts)
        await alex.sees(ts, "• go on")
        await wait_settled(chat)
        expected = [ALEX, "U00000BOT"] if step == "root" else ["U00000BOT", ALEX, "U00000BOT"]
        assert [m["user"] for m in replies(await alex.thread(ts))] == expected


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
@pytest.mark.parametrize(
    "fault",
    [
        RATE_LIMITED,
        Fault(status=503),
        Fault(status=500, after_effect=True),
        Fault(error="internal_error"),
        Fault(error="message_limit_exceeded"),
        Fault(error="messages_tab_disabled"),
    ],
    ids=["limited", "unavailable", "answer lost", "internal", "too many", "switched off"],
)
async def test_a_call_that_fails_is_made_again_until_the_message_is_there_once(
    chat: Chat, alex: Person, method: str, fault: Fault
) -> None:
    """S431, among others."""
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    first = await alex.sees(ts, "1 steps")
    await wait_settled(chat)
    chat.workspace.faults.plan(method, fault)
    if method == "chat.postMessage":
        await alex.say("again", ts)
    else:
        await alex.use(first, "Count")
    await alex.sees(ts, "2 steps")
    await wait_settled(chat)
    expected = ["U00000BOT", ALEX, "U00000BOT"] if method == "chat.postMessage" else ["U00000BOT"]
    assert [m["user"] for m in replies(await alex.thread(ts))] == expected


async def test_a_message_that_is_too_long_is_compacted_and_sent_again(chat: Chat, alex: Person) -> None:
    """S226."""
    ts = await alex.start()
    for n in range(30):
        await alex.say(f"word {n} " + "x" * 160, ts)
    await wait_settled(chat)
    chat.workspace.faults.plan("chat.postMessage", Fault(error="msg_blocks_too_long"))
    await alex.say("the last word", ts)
    card = await alex.sees(ts, "left out here")
    assert "31 steps" in card["blocks"][0]["text"]["text"]
    assert control(card["blocks"], "Count")


async def test_a_card_that_was_deleted_is_posted_anew(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    first = await alex.sees(ts, "1 steps")
    await wait_settled(chat)
    chat.workspace.faults.plan("chat.update", Fault(error="message_not_found"))
    await alex.use(first, "Count")
    second = await alex.sees(ts, "2 steps")
    assert second["ts"] != first["ts"]


async def test_while_slack_limits_leave_no_room_a_card_is_posted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S319: no one waits a minute for a change of a message; an outdated message is changed once there is room."""
    monkeypatch.setattr(limits, "CALLS_PER_WINDOW", {"chat.update": 4})
    monkeypatch.setattr(limits, "WINDOW", 2.0)
    limited = {"unlimited": frozenset[str]()}
    async with workspace_at(tmp_path) as workspace, chat_at(workspace, tmp_path, changes=limited) as chat:
        alex = Person(workspace)
        ts = await alex.start()
        for count in range(1, 9):
            newest = (await alex.thread(ts))[-1]
            await alex.use(newest, "Count")
            await alex.sees(ts, f"{count} steps")
        await wait_settled(chat)

        async def only_the_newest_has_buttons() -> bool:
            posted = replies(await alex.thread(ts))
            return len(posted) > 1 and [m["ts"] for m in posted if "Count" in str(m)] == [posted[-1]["ts"]]

        await eventually(only_the_newest_has_buttons, "the old cards without buttons")
        await alex.http.aclose()


async def test_a_plan_that_slack_does_not_take_is_said_in_direct_messages(chat: Chat, alex: Person) -> None:
    chat.workspace.faults.plan("chat.postMessage", Fault(error="restricted_action"))
    await alex.slash()

    async def is_told() -> bool:
        return [m["text"] for m in await alex.roots()] == [name_commands(phrases.CANNOT_POST)]

    await eventually(is_told, "a direct message about the plan")


async def test_a_plan_starts_once_slack_tells_the_time_zone(chat: Chat, alex: Person) -> None:
    """S319: what only Slack knows delays no acknowledgement, and nothing has to be typed again."""
    chat.workspace.faults.plan("users.info", Fault(status=503))
    chat.workspace.faults.plan("conversations.open", Fault(status=429, error="ratelimited", retry_after=1))
    await alex.start()
    assert len(await alex.roots()) == 1


async def test_a_plan_that_cannot_begin_is_not_forgotten_in_silence(chat: Chat, alex: Person) -> None:
    """S319: after all tries the person gets an apology and can try again."""
    chat.workspace.faults.plan("users.info", Fault(status=503), times=3)
    assert (await alex.slash())["ok"]

    async def is_told() -> bool:
        return [m["text"] for m in await alex.roots()] == [APOLOGY]

    await eventually(is_told, "an apology in direct messages")
    await alex.start()


async def test_a_turn_that_keeps_failing_ends_in_an_apology_and_the_next_works(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    chat.coordinator.before_handling = failing(3, StoreUnavailable("The disk is full."))
    await alex.say("first", ts)
    await alex.sees(ts, APOLOGY)
    await alex.say("second", ts)
    await alex.sees(ts, "• second")
    await wait_settled(chat)
    assert steps(replies(await alex.thread(ts))[-1]) == ["second"]


async def test_a_click_that_was_given_up_works_when_it_is_repeated(chat: Chat, alex: Person) -> None:
    """S403: the apology asks for that, and the button is still the same."""
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    chat.coordinator.before_handling = failing(3, StoreUnavailable("The disk is full."))
    await alex.use(root, "Count")
    await alex.sees(ts, APOLOGY)
    assert (await alex.use(root, "Count"))["ok"]
    assert steps(await alex.sees(ts, "1 steps")) == ["count one"]


async def test_a_turn_that_fails_for_a_moment_is_handled_all_the_same(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    chat.coordinator.before_handling = failing(2, StoreUnavailable("The disk is full."))
    await alex.say("patience", ts)
    await alex.sees(ts, "• patience")
    await wait_settled(chat)
    assert len(replies(await alex.thread(ts))) == 2


# --- stopping and starting ------------------------------------------------------------------------------------


async def test_two_programs_on_one_database_answer_once(workspace: Workspace, postgres: str, alex: Person) -> None:
    """S161: this holds for any receiver of a payload, and any sender."""
    async with chat_at(workspace, postgres) as chat, chat_at(workspace, postgres, replica="two"):
        plans = [await alex.start() for _ in range(3)]
        for ts in plans:
            for word in ("one", "two", "three"):
                await alex.say(word, ts)
        for ts in plans:
            await alex.sees(ts, "3 steps")
        await wait_settled(chat)
        for ts in plans:
            thread = await alex.thread(ts)
            posted = [str(m["metadata"]["event_payload"]["id"]) for m in thread if m.get("metadata")]
            assert len(posted) == len(set(posted))
            newest = steps([m for m in thread if m["user"] != ALEX][-1])
            assert sorted(newest) == ["one", "three", "two"]
    assert len(await alex.roots()) == 3


async def test_two_programs_answer_below_the_question(workspace: Workspace, postgres: str, alex: Person) -> None:
    """S345: one of them hears it, the other one may be the sender."""
    async with chat_at(workspace, postgres), chat_at(workspace, postgres, replica="two"):
        ts = await alex.start()
        for n in range(12):
            await alex.say(f"word {n}", ts)
            await alex.sees(ts, f"• word {n}")
            newest = (await alex.thread(ts))[-1]
            assert (newest["user"] != ALEX, f"• word {n}" in str(newest)) == (True, True), n


async def test_a_restart_goes_on_in_the_same_thread(workspace: Workspace, tmp_path: Path, alex: Person) -> None:
    """S241: the state card of the earlier process is still updated in place."""
    async with chat_at(workspace, tmp_path):
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        first = await alex.sees(ts, "1 steps")
    async with chat_at(workspace, tmp_path) as chat:
        await alex.use(first, "Count")
        second = await alex.sees(ts, "2 steps")
        assert second["ts"] == first["ts"]
    async with chat_at(workspace, tmp_path) as chat:
        await alex.say("below", ts)
        await alex.sees(ts, "3 steps")
        await wait_settled(chat)
        assert [m["user"] for m in replies(await alex.thread(ts))] == ["U00000BOT", ALEX, "U00000BOT"]


async def test_what_waits_for_another_try_is_tried_by_the_next_program_at_once(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S403: the retry time comes from another program's clock, which may have been ahead."""
    async with chat_at(workspace, tmp_path) as chat:
        ts = await alex.start()
        await wait_settled(chat)
        workspace.faults.plan("chat.postMessage", Fault(status=429, error="ratelimited", retry_after=600))
        await alex.say("patience", ts)
        session = await chat.store.sessions.in_thread(alex.channel, ts)
        assert session is not None

        async def waits() -> bool:
            due = await chat.store.outbox.pending(now=datetime.now(UTC))
            return not due and await chat.store.outbox.owes(session.id)

        await eventually(waits, "a message that waits")
    async with chat_at(workspace, tmp_path):
        await alex.sees(ts, "• patience")


def beside(session: Session, number: int, *, stays: bool) -> Outgoing:
    """Return a message next to the plan, opened by a click or kept up to date in place."""
    return Outgoing(
        id=f"beside-{number}",
        session_id=session.id,
        channel=session.channel,
        slot="history",
        card=Card(text=f"list {number}", parts=(Prose(text=f"list {number}"),)),
        retire=() if stays else ("history",),
        farewell=None if stays else Card(text="further down", parts=(Prose(text="further down"),)),
        stays=stays,
        beside=True,
    )


async def test_what_stands_beside_the_plan_keeps_its_place_and_the_card_its_own(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    """S213: also after a restart; only a click that opens it again brings it to the end of the thread."""

    async def owe(chat: Chat, number: int, *, stays: bool) -> None:
        session = await chat.store.sessions.in_thread(alex.channel, ts)
        assert session is not None
        outgoing = beside(session, number, stays=stays)
        await chat.store.sessions.save(session, expected=session.version, outgoing=(outgoing,))
        await alex.sees(ts, f"list {number}")

    async with chat_at(workspace, tmp_path) as chat:
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        card = await alex.sees(ts, "1 steps")
        await owe(chat, 1, stays=False)
        await alex.use(card, "Count")
        assert (await alex.sees(ts, "2 steps"))["ts"] == card["ts"]
    async with chat_at(workspace, tmp_path) as chat:
        await alex.use(await alex.sees(ts, "2 steps"), "Count")
        assert (await alex.sees(ts, "3 steps"))["ts"] == card["ts"]
        await alex.say("below", ts)
        await alex.sees(ts, "4 steps")
        await owe(chat, 2, stays=True)
        await wait_settled(chat)
        assert [m["text"] for m in replies(await alex.thread(ts))][1:3] == ["list 2", "below"]
        await owe(chat, 3, stays=False)
        await wait_settled(chat)
        said = [m["text"] for m in replies(await alex.thread(ts))]
        assert (said[1], said[-1]) == ("further down", "list 3")


async def test_what_is_said_while_nobody_is_there_is_answered_afterwards(
    workspace: Workspace, tmp_path: Path, alex: Person
) -> None:
    async with chat_at(workspace, tmp_path):
        ts = await alex.start()
    workspace.delivery.retry_seconds = (0.0, *[0.5] * 120)  # in HTTP mode, where it does not see who comes back
    await alex.say("anybody there?", ts)
    assert (await alex.slash())["ok"] is False
    async with chat_at(workspace, tmp_path):
        await alex.sees(ts, "• anybody there?")


@pytest.mark.skipif(IN_HTTP_MODE, reason="there are no connections")
async def test_slack_may_renew_the_connections_at_any_time(chat: Chat, alex: Person) -> None:
    ts = await alex.start()
    chat.workspace.hub.disconnect("refresh_requested")
    await eventually(lambda: _is(chat.workspace.hub.connections == 2), "two connections again")
    await alex.say("still there?", ts)
    await alex.sees(ts, "• still there?")


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"bot_token": "xoxb-wrong"}, BadInput, "Slack does not accept the bot token"),
        ({"app_token": "xapp-wrong"}, BadInput, "Slack does not accept the app-level token"),
        ({"base_url": "http://127.0.0.1:9/api/"}, WorldError, "Slack cannot be reached at http://127.0.0.1:9/api/"),
    ],
)
async def test_a_login_that_does_not_work_ends_in_one_sentence(
    workspace: Workspace, tmp_path: Path, changes: Json, error: type[Exception], sentence: str
) -> None:
    async with chat_at(workspace, tmp_path) as chat:
        services = build_services(chat.store, chat.coordinator, jobs=chat.store.jobs, outbox=chat.store.outbox)
        room = SlackApp(login(workspace, **changes), services)
        with pytest.raises(error, match=sentence):
            async with run_slack_app(room, build_supervisor(room, services, "two")):
                raise AssertionError("not reached")


async def test_settings_of_other_slack_apps_in_the_environment_change_nothing(
    workspace: Workspace, tmp_path: Path, alex: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With SLACK_CLIENT_ID alone Bolt would become an OAuth app and forget its token; a proxy would be used."""
    names = ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN")
    for name in names:
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with chat_at(workspace, tmp_path) as chat:
        ts = await alex.start()
        await alex.use((await alex.thread(ts))[0], "Count")
        await alex.sees(ts, "1 steps")
        assert chat.room._app.oauth_flow is None
    import os

    assert [os.environ[name] for name in names] == ["theirs"] * 5


async def _is(value: bool) -> bool:  # noqa: FBT001  a condition to wait for
    return value


async def test_without_the_optional_scopes_a_plan_goes_on(tmp_path: Path) -> None:
    """S336: an administrator refused all that may be refused."""
    manifest = app_manifest()
    del manifest["oauth_config"]["scopes"]["bot_optional"]
    async with workspace_at(tmp_path, manifest) as workspace, chat_at(workspace, tmp_path):
        alex = Person(workspace)
        async with alex.http:
            ts = await alex.start()
            await alex.use((await alex.thread(ts))[0], "Count")
            await alex.sees(ts, "1 steps")
            await alex.say("and words", ts)
            assert steps(await alex.sees(ts, "2 steps")) == ["count one", "and words"]
