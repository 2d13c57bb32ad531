"""Stop: what only thought ends without a trace, what writes ends whole; and what a turn says of itself meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from tests.factories.words import wants
from tests.fakes.google_calendar import Answer
from tests.fakes.openai_server import KEY, MODEL, ModelServer, ScriptedAnswer, model_server
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Harness, Person

from fateforger.adapters.model.client import ChatModel
from fateforger.adapters.model.endpoint import Endpoint
from fateforger.calendar.ports import Rejected
from fateforger.conversation.running_turns import NOT_TORN, STOPPED
from fateforger.ports.model import Model
from fateforger.session.cards import Activity, Progress, ignore_progress
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.messages import Notice
from fateforger.session.model import Session
from fateforger.slack.phrases import describe_progress
from fateforger.values import replace


def reads_words(harness: Harness, model: Model | None) -> None:
    harness.model = model
    harness.coordinator = harness.build_coordinator(submitter=harness.submitter)


def message(anna: Person, text: str = "make it shorter") -> TimeboxingUserReply:
    at = anna.harness.clock.now()
    return TimeboxingUserReply(command_id=text, user_id=anna.user, at=at, session_id=anna.session_id, text=text)


def without_traces(session: Session) -> Session:
    """Return the session without the parts that any turn may change: its notice and its record."""
    return replace(session, touched_at=session.created_at, version=0).with_thread(notice=None, handled=())


@asynccontextmanager
async def speaking() -> AsyncIterator[tuple[ModelServer, Model]]:
    async with model_server(lambda _: ScriptedAnswer(slow=True)) as server:
        model = ChatModel(Endpoint(server.url, MODEL, KEY))
        yield server, model
        await model.aclose()


async def test_a_message_that_is_being_read_is_stopped_and_nothing_was_changed(harness: Harness, anna: Person) -> None:
    """The request ends at the model's server; the session is as before; pressing twice is pressing once."""
    await anna.to_refine("Report", "Mail")
    before = await anna.session()
    async with speaking() as (server, model):
        reads_words(harness, model)
        reply = message(anna)
        turn = asyncio.create_task(harness.coordinator.handle(reply))
        await asyncio.wait_for(server.arrived.wait(), 60)
        now = harness.clock.now()
        assert not harness.coordinator.stop(anna.session_id, now - timedelta(seconds=1))  # meant an earlier turn
        assert harness.coordinator.stop(anna.session_id, now)
        assert harness.coordinator.stop(anna.session_id, now)
        await asyncio.wait_for(turn, 60)
        await asyncio.wait_for(server.gone.wait(), 60)
        assert not harness.coordinator.stop(anna.session_id, now)
        await harness.coordinator.handle(reply)
    after = await anna.session()
    assert after.thread.notice == Notice(lines=(STOPPED,))
    assert without_traces(after) == without_traces(before)
    await anna.read()
    assert STOPPED in str(anna.arrived[-1].card)


FINISHING = " (I finish this rather than leave it half done)"


async def test_a_write_that_is_under_way_ends_whole_and_says_so(harness: Harness, anna: Person) -> None:
    """S478: at once, and on the card."""
    await anna.to_refine("Report", "Mail")
    wanted = len((await anna.session()).planning.plan.events)  # type: ignore[union-attr]  # there is a plan in Refine
    halted, go_on = await at_the_second_write(harness)
    told, handle = list[str](), harness.coordinator.handle

    async def watching(command: Any, tell: Any = None) -> None:
        await handle(command, tell or (lambda progress: told.append(describe_progress(progress))))

    harness.coordinator.handle = watching  # type: ignore[method-assign]
    turn = asyncio.create_task(anna.press("Commit to calendar"))
    await asyncio.wait_for(halted.wait(), 60)
    assert told[-1].startswith("writing to your calendar…")
    assert not told[-1].endswith(FINISHING)
    assert harness.coordinator.stop(anna.session_id, harness.clock.now())
    assert told[-1].endswith(FINISHING)
    go_on.set()
    await asyncio.wait_for(turn, 60)
    session = await anna.session()
    assert session.thread.notice is not None
    assert session.thread.notice.lines[-1] == NOT_TORN
    assert len(harness.on_calendar(whole=True)) == wanted


async def test_a_stop_while_nothing_is_written_claims_no_write(harness: Harness, anna: Person) -> None:
    """S475: the calendar is up to date, or refuses everything."""
    await anna.to_committed("Report", "Mail")
    handle, stopped = harness.coordinator.handle, list[bool]()

    async def stopping(command: Any, tell: Any = None) -> None:
        def stop(progress: Progress) -> None:
            if progress.doing is Activity.WRITING:
                stopped.append(harness.coordinator.stop(anna.session_id, harness.clock.now()))

        await handle(command, tell or stop)

    harness.coordinator.handle = stopping  # type: ignore[method-assign]
    await anna.press("Redo step")
    assert "Already up to date" in anna.words
    assert NOT_TORN not in anna.words
    await anna.press("Undo")
    assert NOT_TORN in anna.words
    harness.calendar.inject(Answer(Rejected("Forbidden.")), verb="create")
    await anna.press("Commit to calendar")
    assert "Not there yet" in anna.words
    assert NOT_TORN not in anna.words
    assert stopped[0]
    assert len(stopped) > 3


async def test_what_was_interrupted_while_it_wrote_is_not_stopped_when_it_is_tried_again(
    harness: Harness, anna: Person
) -> None:
    """A crash between two writes, the command comes again, and only then is Stop handed on: half a day would stay."""
    await anna.to_refine("Report", "Mail")
    wanted = len((await anna.session()).planning.plan.events)  # type: ignore[union-attr]  # there is a plan in Refine
    halted, _ = await at_the_second_write(harness)
    sent: list[Any] = []
    handle = harness.coordinator.handle

    async def remembering(command: Any, tell: Any = None) -> None:
        sent.append(command)
        await handle(command, tell or ignore_progress)

    harness.coordinator.handle = remembering  # type: ignore[method-assign]
    turn = asyncio.create_task(anna.press("Commit to calendar"))
    await asyncio.wait_for(halted.wait(), 60)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    harness.calendar.write = type(harness.calendar).write.__get__(harness.calendar)  # type: ignore[method-assign]  # the real one again
    harness.restart()
    again = asyncio.create_task(harness.coordinator.handle(sent[0]))
    for _ in range(1000):
        if harness.coordinator.stop(anna.session_id, harness.clock.now()):
            break
        await asyncio.sleep(0)
    await asyncio.wait_for(again, 60)
    assert len(harness.on_calendar(whole=True)) == wanted
    assert (await anna.session()).sync.last_sync is not None


async def test_a_turn_says_what_it_is_doing(harness: Harness, anna: Person) -> None:
    """Reading, then writing with a count that only grows, up to all of it."""
    await anna.to_refine("Report", "Mail")
    told: list[Progress] = []
    reads_words(harness, ScriptedModel(wants("proceed")))
    await harness.coordinator.handle(message(anna, "put it there"), told.append)
    blocks = len(harness.on_calendar(whole=True))
    assert list(dict.fromkeys(p.doing for p in told)) == [Activity.LOOKING, Activity.READING, Activity.WRITING]
    counts = [p.done for p in told if p.doing is Activity.WRITING]
    assert counts == sorted(counts)
    assert set(counts) == set(range(blocks + 1))
    assert {p.of for p in told if p.done} == {blocks}


async def at_the_second_write(harness: Harness) -> tuple[asyncio.Event, asyncio.Event]:
    """Halt the calendar there: the first event reports it, the second lets it go on."""
    halted, go_on = asyncio.Event(), asyncio.Event()
    write: Callable[..., Awaitable[Any]] = harness.calendar.write
    seen = 0

    async def halting(*given: Any, **more: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == 2:
            halted.set()
            await go_on.wait()
        return await write(*given, **more)

    harness.calendar.write = halting  # type: ignore[method-assign]  # a calendar that takes its time
    return halted, go_on
