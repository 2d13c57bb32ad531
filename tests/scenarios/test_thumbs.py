"""Thumbs under a card to which a model contributed, and suggested first messages, on the local workspace (S286)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from click.testing import CliRunner
from tests.scenarios.chat import Chat, Person, eventually

from fateforger.cli.command_line import root_command
from fateforger.session.store import Rating
from fateforger.slack.notices import FIRST_WORDS
from fateforger.slack.phrases import THANKS
from localslack import Fault

PROMPTS = ("decide/1", "patch/2")


async def wait_for_ratings(chat: Chat, count: int) -> tuple[Rating, ...]:
    async def look() -> tuple[Rating, ...] | None:
        found = await chat.store.feedbacks.all()
        return found if len(found) == count else None

    return await eventually(look, f"{count} ratings")


async def test_a_thumb_is_kept_with_the_turn_and_its_prompts(chat: Chat, alex: Person, tmp_path: Path) -> None:
    chat.coordinator.prompts = PROMPTS
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "Count")
    card = await alex.sees(ts, "1 steps")
    [thumbs] = [block for block in card["blocks"] if block["type"] == "context_actions"]
    [both] = thumbs["elements"]
    await alex.use(card, "feedback_buttons", value=both["positive_button"]["value"])
    [liked] = await wait_for_ratings(chat, 1)
    session = await chat.store.sessions.in_thread(alex.channel, ts)
    assert session is not None
    assert (liked.session_id, liked.turn) == (session.id, session.thread.handled[-1])
    assert (liked.helpful, liked.prompts, liked.user_id) == (True, PROMPTS, alex.user)
    assert (await alex.sees(ts, THANKS))["ephemeral"]
    await alex.use(card, "feedback_buttons", value=both["negative_button"]["value"])

    async def is_changed() -> bool:
        return [rating.helpful for rating in await chat.store.feedbacks.all()] == [False]

    await eventually(is_changed, "the last word counts")


def test_the_command_gives_every_rating(tmp_path: Path) -> None:
    """This holds for the JSON that programs read and the text that people read."""
    answer = CliRunner().invoke(root_command, ["feedback", "--json", "--data-dir", str(tmp_path)])
    assert (answer.exit_code, json.loads(answer.output)) == (0, {"feedback": []})
    answer = CliRunner().invoke(root_command, ["feedback", "--data-dir", str(tmp_path)])
    assert answer.output == "Nobody has said anything yet.\n"


async def test_where_slack_has_no_thumbs_two_plain_buttons_do(chat: Chat, alex: Person) -> None:
    chat.coordinator.prompts = PROMPTS
    chat.workspace.faults.plan("chat.postMessage", Fault(error="invalid_blocks"))
    ts = await alex.start()
    root = (await alex.thread(ts))[0]
    await alex.use(root, "👎")
    [disliked] = await wait_for_ratings(chat, 1)
    assert (disliked.helpful, disliked.prompts) == (False, PROMPTS)
    await alex.use(root, "Count")
    card = await alex.sees(ts, "1 steps")
    assert "context_actions" not in [block["type"] for block in card["blocks"]]


async def test_first_words_are_suggested_when_somebody_reads_them(chat: Chat, alex: Person) -> None:
    chat.coordinator.reader = True
    await alex.post("/ui/home_opened", tab="messages")

    async def is_suggested() -> bool:
        found = (await alex.get("/ui/state"))["app"]["suggested_prompts"]
        return [prompt["message"] for prompt in found] == list(FIRST_WORDS)

    await eventually(is_suggested, "suggestions beside the message box")
    await eventually(alex.roots, "a welcome")
    assert FIRST_WORDS[1] not in str(await alex.roots()), "they are at the message box already"


async def test_where_slack_suggests_nothing_the_welcome_does(chat: Chat, alex: Person) -> None:
    chat.coordinator.reader = True
    chat.workspace.faults.plan("assistant.threads.setSuggestedPrompts", Fault(error="unknown_method"), times=2)
    await alex.post("/ui/home_opened", tab="messages")
    heard: list[str] = []

    async def listens(command: object) -> None:
        heard.append(str(getattr(command, "text", "")))

    chat.coordinator.before_handling = listens

    async def welcome() -> SimpleNamespace | None:
        found = [message for message in await alex.roots() if FIRST_WORDS[1] in str(message)]
        return SimpleNamespace(message=found[0]) if found else None

    card = (await eventually(welcome, "a welcome with words")).message
    await alex.use(card, FIRST_WORDS[1])

    async def was_heard() -> bool:
        return heard == [FIRST_WORDS[1]]

    await eventually(was_heard, "the words, read")


async def test_nothing_to_say_is_suggested_without_a_reader(chat: Chat, alex: Person) -> None:
    await alex.post("/ui/home_opened", tab="messages")

    async def is_welcomed() -> bool:
        return len(await alex.roots()) == 1

    await eventually(is_welcomed, "a welcome")
    assert FIRST_WORDS[0] not in str(await alex.roots())
    assert (await alex.get("/ui/state"))["app"]["suggested_prompts"] == []
