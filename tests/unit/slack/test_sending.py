"""The small parts of sending: pace, the newest message of a thread, order, people, failures of calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.memory_languages import languages
from tests.fakes.memory_zones import MemoryZones

from fateforger.slack.access import KEPT, People
from fateforger.slack.client import (
    CallRefused,
    MessageGone,
    MessageTooLong,
    SlackCallError,
    SlackLogin,
    SlackLoginError,
    TransientSlackError,
    call_slack,
    new_client,
    new_session,
)
from fateforger.slack.delivery import KeyedLocks
from fateforger.slack.limits import Pace
from fateforger.slack.mrkdwn import split

Json = dict[str, Any]
Answers = Callable[[web.Request], web.Response]


# --- pace -----------------------------------------------------------------------------------------------------


class Time:
    """A clock that moves only in sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def test_a_burst_goes_out_at_once_and_then_one_a_second() -> None:
    time = Time()
    pace = Pace(per_second=1.0, burst=3, timer=lambda: time.now, sleep=time.sleep)
    for _ in range(5):
        await pace.wait("C1")
    await pace.wait("C2")
    assert time.slept == [1.0, 1.0]
    time.now += 10
    for _ in range(3):
        await pace.wait("C1")
    assert time.slept == [1.0, 1.0]


async def test_a_channel_that_slack_holds_is_left_alone_for_so_long() -> None:
    time = Time()
    pace = Pace(per_second=1.0, burst=3, timer=lambda: time.now, sleep=time.sleep)
    pace.hold("C1", 30)
    await pace.wait("C2")
    assert time.slept == []
    await pace.wait("C1")
    assert time.slept == [31.0]


# --- the newest message, and order ----------------------------------------------------------------------------


async def test_one_key_goes_through_one_at_a_time_in_order() -> None:
    turnstile = KeyedLocks()
    passed: list[str] = []

    async def go(key: str, name: str) -> None:
        async with turnstile.turn(key):
            passed.append(f"+{name}")
            await asyncio.sleep(0)
            passed.append(f"-{name}")

    await asyncio.gather(*(go("a", f"a{n}") for n in range(3)), go("b", "b"))
    assert [p for p in passed if "a" in p] == ["+a0", "-a0", "+a1", "-a1", "+a2", "-a2"]
    assert passed.index("+b") < passed.index("-a0")


@given(st.text(alphabet="ab &;\n", max_size=400), st.integers(min_value=8, max_value=60))
def test_a_split_text_loses_nothing_but_white_space(text: str, limit: int) -> None:
    pieces = split(text, limit)
    assert all(0 < len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_split_never_breaks_an_entity() -> None:
    assert split("&amp;" * 10, 12) == ["&amp;&amp;"] * 5


# --- calls ----------------------------------------------------------------------------------------------------


@pytest.fixture
async def served() -> AsyncIterator[Callable[[Answers], Any]]:
    """Yield a function that starts a server of Slack's Web API, which answers by one function, and a client for it."""
    runners: list[web.AppRunner] = []
    sessions = []

    async def serve(answers: Answers) -> Any:
        async def handler(request: web.Request) -> web.Response:
            return answers(request)

        app = web.Application()
        app.router.add_route("*", "/api/{method}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        runners.append(runner)
        session = new_session()
        sessions.append(session)
        port = runner.addresses[0][1]
        return new_client(SlackLogin("xoxb-1", "xapp-1", f"http://127.0.0.1:{port}/api/"), session)

    yield serve
    for session in sessions:
        await session.close()
    for runner in runners:
        await runner.cleanup()


def says(body: Json, status: int = 200, **headers: str) -> Answers:
    return lambda _request: web.json_response(body, status=status, headers=headers)


def error(code: str) -> Answers:
    return says({"ok": False, "error": code})


@pytest.mark.parametrize(
    ("answers", "kind", "retry_after", "unsure"),
    [
        (says({"ok": False, "error": "ratelimited"}, 429, **{"Retry-After": "30"}), TransientSlackError, 30.0, False),
        (says({"ok": False, "error": "ratelimited"}, 429, **{"Retry-After": "soon"}), TransientSlackError, 1.0, False),
        (says({"ok": False, "error": "x"}, 503), TransientSlackError, None, True),
        (says({}, 500), TransientSlackError, None, True),
        (lambda _r: web.Response(text="<html>", content_type="text/html"), TransientSlackError, None, True),
        (lambda _r: web.Response(text="{broken", content_type="application/json"), TransientSlackError, None, True),
        (error("internal_error"), TransientSlackError, None, True),
        (error("ratelimited"), TransientSlackError, None, False),
        (error("message_limit_exceeded"), TransientSlackError, None, False),
        (error("messages_tab_disabled"), SlackLoginError, None, False),
        (error("token_revoked"), SlackLoginError, None, False),
        (error("missing_scope"), SlackLoginError, None, False),
        (error("msg_too_long"), MessageTooLong, None, False),
        (error("invalid_blocks"), MessageTooLong, None, False),
        (error("message_not_found"), MessageGone, None, False),
        (error("channel_not_found"), CallRefused, None, False),
    ],
)
async def test_every_way_a_call_can_fail_has_a_kind(
    served: Callable[[Answers], Any],
    answers: Answers,
    kind: type[SlackCallError],
    retry_after: float | None,
    unsure: bool,  # noqa: FBT001  a column of the table
) -> None:
    client = await served(answers)
    with pytest.raises(SlackCallError) as raised:
        await call_slack(client.chat_postMessage(channel="C1", text="hi"))
    trouble = raised.value
    assert type(trouble) is kind
    if isinstance(trouble, TransientSlackError):
        assert (trouble.retry_after, trouble.unsure) == (retry_after, unsure)


async def test_a_call_that_reaches_nobody_may_have_reached_somebody() -> None:
    session = new_session()
    client = new_client(SlackLogin("xoxb-1", "xapp-1", "http://127.0.0.1:9/api/"), session)
    with pytest.raises(TransientSlackError) as raised:
        await call_slack(client.chat_postMessage(channel="C1", text="hi"))
    assert raised.value.unsure
    await session.close()


async def test_a_refusal_for_haste_parks_the_method(served: Callable[[Answers], Any]) -> None:
    """S319: for as long as Slack asks, and no other method."""
    client = await served(says({"ok": False, "error": "ratelimited"}, 429, **{"Retry-After": "30"}))
    with pytest.raises(TransientSlackError):
        await call_slack(client.chat_update(channel="C1", ts="1.0", text="hi"))
    assert client.limits.of("chat.update").pause > 29
    assert client.limits.of("chat.delete").is_free


async def test_a_call_is_made_once(served: Callable[[Answers], Any]) -> None:
    """The SDK's own retries would post a second message."""
    calls: list[str] = []

    def drop(request: web.Request) -> web.Response:
        calls.append(request.match_info["method"])
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    client = await served(drop)
    with pytest.raises(TransientSlackError):
        await call_slack(client.chat_postMessage(channel="C1", text="hi"))
    assert calls == ["chat.postMessage"]


class Watch:
    def __init__(self) -> None:
        self.at = datetime(2026, 3, 5, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


async def test_a_zone_is_remembered_for_a_while_and_longer_when_slack_is_away(served: Callable[[Answers], Any]) -> None:
    zones: list[Json] = [{"tz": "Europe/Paris"}, {"tz": "Asia/Tokyo"}]

    def answers(_request: web.Request) -> web.Response:
        if not zones:
            return web.json_response({"ok": False, "error": "internal_error"})
        return web.json_response({"ok": True, "user": zones.pop(0)})

    watch = Watch()
    zones_kept = MemoryZones()
    people = People(await served(answers), watch, languages(), zones_kept)
    assert [await people.zone("U1") for _ in range(2)] == ["Europe/Paris"] * 2
    watch.at += KEPT + timedelta(seconds=1)
    assert await people.zone("U1") == "Asia/Tokyo"
    watch.at += KEPT + timedelta(seconds=1)
    assert await people.zone("U1") == "Asia/Tokyo"
    assert await people.zone("U2") is None
    other = People(await served(answers), watch, languages(), zones_kept)
    await other.note_user("U1", {"tz": "Asia/Seoul"})
    assert await people.zone("U1") == "Asia/Seoul", "any program is told when a person changes it"
