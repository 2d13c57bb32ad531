"""A thread in which a person writes a lot: one card, one picture, and a short answer to each message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import also, build_move, frame, inputs_of, new, opening, patch, wants
from tests.scenarios import chat as slack
from tests.scenarios.chat import Chat, chat_at, steps
from tests.scenarios.person import Person, controls, eventually
from tests.scenarios.program import Program
from tests.scenarios.scripted_coordinator import state_card
from tests.scenarios.store_faults import Failing
from tests.scenarios.understanding_server import Answers, Listener, speaking

from fateforger.session.cards import Card, Note, Prose
from fateforger.session.messages import MOST_LATER, Outgoing
from fateforger.slack.phrases import CHANGE_UNREAD, STILL_COUNTS
from fateforger.values import replace
from localslack import Fault, Workspace

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
TASKS = [new("Write report", 90), new("Answer mail", 30, depth="shallow"), new("Prepare talk", 60, one_thing=True)]
Line = tuple[str, str, list[dict[str, Any]]]
BEGINNING: tuple[Line, ...] = (
    ("Please plan my day", "Plan this day", [opening()]),
    ("Yes", "the hours of your day", [wants("proceed")]),
    ("I start at half past eight", "Noted: your day 08:30–18:00.", [wants("answer"), frame(day_start="08:30")]),
    (
        "Report 90 min, mail 30 min and the talk, the main thing, an hour; on you go",
        "What do you want to get done",
        [wants("answer", also("proceed")), {**frame(), "frame": None, "inputs": inputs_of(add=TASKS)}],
    ),
    ("Draft it", "A first draft of", [wants("proceed")]),
    ("Fine", "Commit to calendar", [wants("proceed")]),
)
TIMES = ("13:45", "14:00", "14:15", "14:30", "14:45", "15:00", "15:15", "15:30", "15:45", "16:00", "16:15")
CHANGES: tuple[Line, ...] = tuple(
    (
        f"The mail at {at}",
        f"“Answer mail” is now {at}–",
        [wants("answer"), patch(build_move(2 if n == 0 else 3, at, 30))],
    )
    for n, at in enumerate(TIMES)
)
QUESTIONS: tuple[Line, ...] = tuple(
    (
        f"When is the {what}?",
        f"The {what} is early.",
        [wants("ask"), {"answer": f"The {what} is early.", "block": None}],
    )
    for what in ("talk", "report")
)
TALK = (
    *BEGINNING,
    *CHANGES,
    *QUESTIONS,
    ("Now put it on my calendar", "Monday 2 March is on your calendar", [wants("proceed")]),
)


@pytest.mark.process
def test_a_thread_of_twenty_messages_has_one_card_and_one_picture(tmp_path: Path) -> None:
    """S267: each message is answered by one line; the cards of steps that are over, or moved on, are one line, too."""
    meanings: Answers = {text: answers for text, _, answers in TALK}
    with speaking(Listener(meanings)) as settings:
        running = Program(tmp_path / "data", environment={**NOW, **settings})
        running.start()
        try:
            person = running.person()
            for number, (text, expected, _) in enumerate(TALK):
                person.write(text, thread=number > 0)
                person.reads(expected)
            # A card that moved on becomes one line after the answer below it is there.
            eventually(
                lambda: len(find_cards(person)) == 1 and find_pictures(person) == find_cards(person),
                "one card with a picture",
            )
            ours = [message for message in person.thread() if message["user"] != person.user]
        finally:
            running.kill()
    assert len(TALK) == 20
    assert len(ours) == 21, "one answer to each message, and the line of the day"
    assert [any(controls(each["blocks"])) for each in ours].index(True) == 20
    assert max(len(each["blocks"]) for each in ours[:-1]) <= 2


@pytest.mark.process
def test_a_message_that_is_edited_or_deleted_later_is_not_read_again(tmp_path: Path) -> None:
    """S449: a plan follows the sent message; a note after a correction says so, and how to take the change back."""
    first, (asked, later) = CHANGES[0], QUESTIONS
    talk = (*BEGINNING, first)
    meanings: Answers = {text: answers for text, _, answers in (*talk, asked, later)}
    with speaking(Listener(meanings)) as settings:
        running = Program(tmp_path / "data", environment={**NOW, **settings})
        running.start()
        try:
            person = running.person()
            for number, (text, expected, _) in enumerate(talk):
                person.write(text, thread=number > 0)
                person.reads(expected)
            mail = find_ts(person, first[0])
            person.post("/ui/edit", channel=person.channel, ts=mail, text="The mail at 17:00")
            person.reads(CHANGE_UNREAD)
            person.post("/ui/delete", channel=person.channel, ts=mail)
            person.reads(STILL_COUNTS)
            person.write(asked[0])
            person.reads(asked[1])
            person.post("/ui/delete", channel=person.channel, ts=find_ts(person, asked[0]))
            person.post(
                "/ui/edit", channel=person.channel, ts=find_ts(person, "Please plan"), text="Please plan tomorrow"
            )
            eventually(lambda: person.says().count(CHANGE_UNREAD) == 2, "a second answer")
            person.post("/ui/delete", channel=person.channel, ts=find_ts(person, "Please plan tomorrow"))
            person.write(later[0])
            person.reads(later[1])
            said = person.says()
        finally:
            running.kill()
    assert (said.count(CHANGE_UNREAD), said.count(STILL_COUNTS)) == (2, 1)
    assert "17:00" not in said


def find_ts(person: Person, words: str) -> str:
    """Return the time stamp of a message of the person."""
    return next(str(each["ts"]) for each in person.thread() if each["text"].startswith(words))


def find_cards(person: Person) -> list[Any]:
    return [each for each in person.thread() if any(controls(each["blocks"]))]


def find_pictures(person: Person) -> list[Any]:
    return [each for each in person.thread() if any(block["type"] == "image" for block in each["blocks"])]


ALEX, BOT = "U0000ALEX", "U00000BOT"


@pytest.fixture
async def alex(workspace: Workspace) -> AsyncIterator[slack.Person]:
    person = slack.Person(workspace, ALEX)
    yield person
    await person.http.aclose()


async def begin(chat: Chat, alex: slack.Person) -> tuple[str, str]:
    """Begin a thread with its card and return both timestamps."""
    chat.coordinator.replies = True
    ts = await alex.start()
    await alex.use((await alex.thread(ts))[0], "Count")
    return ts, (await alex.sees(ts, "1 steps"))["ts"]


async def settle(chat: Chat) -> None:
    async def nothing_waits() -> bool:
        queued = "SELECT count(*) FROM outbox WHERE state = 'queued'"
        return await chat.store.database.read(lambda c: c.exec_driver_sql(queued).scalar()) == 0

    await slack.eventually(nothing_waits, "everything is sent")


async def test_words_are_answered_below_and_the_card_stays(
    workspace: Workspace, tmp_path: Path, alex: slack.Person
) -> None:
    """S267: the card leaves out what the reply says. A click posts nothing. After a restart it is the same."""
    async with chat_at(workspace, tmp_path) as chat:
        ts, card = await begin(chat, alex)
        await alex.say("one", ts)
        await alex.sees(ts, "Heard: one")
        await settle(chat)
    async with chat_at(workspace, tmp_path) as chat:
        chat.coordinator.replies = True
        await alex.say("two", ts)
        await alex.sees(ts, "Heard: two")
        await settle(chat)
        shown, *others = (await alex.thread(ts))[1:]
        assert (shown["ts"], steps(shown)) == (card, ["count one", "one", "two"])
        assert "Heard" not in str(shown["blocks"])
        assert [each["text"] for each in others] == ["one", "Heard: one", "two", "Heard: two"]


async def test_a_card_that_is_too_far_up_moves_to_the_end(
    workspace: Workspace, tmp_path: Path, alex: slack.Person
) -> None:
    """S267: with the answer on it, and one line where it was."""
    async with chat_at(workspace, tmp_path) as chat:
        ts, card = await begin(chat, alex)
        exchanges = MOST_LATER // 2
        for number in range(exchanges + 1):
            await alex.say(f"word {number}", ts)
            await alex.sees(ts, f"Heard: word {number}")
        await settle(chat)
        old, *said, new = (await alex.thread(ts))[1:]
        assert (old["ts"], old["text"]) == (card, "further down")
        assert [each["user"] for each in said] == [*[ALEX, BOT] * exchanges, ALEX]
        assert f"Heard: word {exchanges}" in str(new["blocks"])
        assert f"• word {exchanges}" in str(new["blocks"])


async def update(chat: Chat, number: int, *, stays: bool = False) -> None:
    """Let background work update the card of the only session, with the text of the reply to the last message."""
    ((session,), said) = await chat.store.sessions.of_user(ALEX), Prose(text="Heard: one")
    card = state_card(session.with_planning(overview=f"update {number}"))
    message = Outgoing(
        id=f"update-{number}",
        session_id=session.id,
        channel=session.channel,
        slot="state",
        card=replace(card, parts=(said, *card.parts)),
        retire=("state",),
        farewell=Card(text="further down", parts=(Note(text="further down"),)),
        stays=stays,
        replied=Card(text="Heard: one", parts=(said,)),
    )
    await chat.store.sessions.save(session, expected=session.version, outgoing=(message,))
    await settle(chat)


@pytest.mark.parametrize("stays", [True, False])
async def test_what_a_reply_said_is_not_said_again_by_a_later_update(
    workspace: Workspace, tmp_path: Path, alex: slack.Person, *, stays: bool
) -> None:
    """S267: neither in place nor at the end."""
    async with chat_at(workspace, tmp_path) as chat:
        ts, card = await begin(chat, alex)
        await alex.say("one", ts)
        await alex.sees(ts, "Heard: one")
        await settle(chat)
        for number in (1, 2):
            await update(chat, number, stays=stays)
        shown = (await alex.thread(ts))[1:]
        assert str(shown).count("'Heard: one'") == str(shown[2]).count("'Heard: one'")
        (at,) = [at for at, each in enumerate(shown) if "update 2" in str(each["blocks"])]
        assert (at, shown[at]["ts"] == card) == ((0, True) if stays else (3, False))


async def test_what_the_card_itself_says_stays_when_it_is_updated(
    workspace: Workspace, tmp_path: Path, alex: slack.Person
) -> None:
    async with chat_at(workspace, tmp_path) as chat:
        ts, _card = await begin(chat, alex)
        for number in range(MOST_LATER // 2):
            await alex.say(f"word {number}", ts)
            await alex.sees(ts, f"Heard: word {number}")
        await alex.say("one", ts)
        await alex.sees(ts, "Heard: one")
        await settle(chat)
        await update(chat, 1)
        newest = (await alex.thread(ts))[-1]
        assert "update 1" in str(newest["blocks"])
        assert "Heard: one" in str(newest["blocks"])


async def test_a_crash_after_the_reply_posts_it_once(workspace: Workspace, tmp_path: Path, alex: slack.Person) -> None:
    faults = Failing()
    async with chat_at(workspace, tmp_path, outbox=faults.outbox) as chat:
        ts, _card = await begin(chat, alex)
        await settle(chat)
        faults.sent = True
        await alex.say("one", ts)
        await alex.sees(ts, "Heard: one")

        async def was_refused() -> bool:
            return faults.refused > 0

        await slack.eventually(was_refused, "the recording failed")
    async with chat_at(workspace, tmp_path) as chat:
        await settle(chat)
        assert [each["text"] for each in (await alex.thread(ts))[2:]] == ["one", "Heard: one"]


@pytest.mark.parametrize(
    "fault", [Fault(status=503), Fault(status=500, after_effect=True)], ids=["away", "answer lost"]
)
async def test_a_reply_that_fails_is_posted_again_until_it_is_there_once(
    workspace: Workspace, tmp_path: Path, alex: slack.Person, fault: Fault
) -> None:
    async with chat_at(workspace, tmp_path) as chat:
        ts, _card = await begin(chat, alex)
        await settle(chat)
        chat.workspace.faults.plan("chat.postMessage", fault)
        await alex.say("one", ts)
        await alex.sees(ts, "Heard: one")
        await settle(chat)
        assert [each["text"] for each in (await alex.thread(ts))[2:]] == ["one", "Heard: one"]
