"""The contract of stores of sessions. A test module subclasses the suite and gives it two views of one store."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest
from tests.contracts.session_examples import later, message, session

from fateforger.errors import InternalError, VersionConflict
from fateforger.session.model import ReturnedWork, Session, SessionStatus, WriteCounts
from fateforger.session.store import HeadFilter, Outbox, Sent, SessionHead, Sessions
from fateforger.values import replace


async def list_ids(sessions: Sessions, **wanted: Any) -> list[str]:
    return [head.id for head in await sessions.list_heads(HeadFilter(**wanted))]


class SessionsContract:
    """``sessions`` is written to, ``other`` is what another part of the program (or another process) sees."""

    @pytest.fixture
    def sessions(self) -> Sessions:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Sessions:
        raise NotImplementedError

    @pytest.fixture
    def outbox(self) -> Outbox:
        """Return the outbox of the same store."""
        raise NotImplementedError

    async def test_a_session_comes_back_as_it_was(self, sessions: Sessions, other: Sessions) -> None:
        """S62, S241"""
        saved = await sessions.save(session(), expected=0)
        assert saved == session(version=1)
        assert await other.load("s1") == saved

    async def test_an_unknown_session_is_none(self, sessions: Sessions) -> None:
        assert await sessions.load("nope") is None
        assert await sessions.in_thread("D1", "1.1") is None
        assert await sessions.of_user("nope") == ()

    async def test_each_save_counts_the_version(self, sessions: Sessions, other: Sessions) -> None:
        first = await sessions.save(session(), expected=0)
        second = await other.save(first.after_command("c1", later(1)), expected=1)
        assert (second.version, second.thread.handled) == (2, ("c1",))
        assert await sessions.load("s1") == second

    @pytest.mark.parametrize("expected", [0, 1, 3])
    async def test_the_first_save_of_a_version_wins(self, sessions: Sessions, other: Sessions, expected: int) -> None:
        """S186"""
        await sessions.save(session(), expected=0)
        kept = await other.save(session(tz="UTC"), expected=1)
        with pytest.raises(VersionConflict):
            await sessions.save(session(tz="Asia/Tokyo"), expected=expected)
        assert await sessions.load("s1") == kept

    async def test_a_session_that_is_not_there_has_no_version(self, sessions: Sessions) -> None:
        with pytest.raises(VersionConflict):
            await sessions.save(session(), expected=1)
        assert await sessions.load("s1") is None

    @pytest.mark.parametrize("version", [0, 1])
    async def test_of_many_at_once_one_wins(self, sessions: Sessions, other: Sessions, version: int) -> None:
        """S228"""
        for expected in range(version):
            await sessions.save(session(), expected=expected)
        tries = [
            store.save(session(root_line=f"{n}"), expected=version) for n, store in enumerate([sessions, other] * 5)
        ]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        won = [outcome for outcome in outcomes if isinstance(outcome, Session)]
        assert [type(lost) for lost in outcomes if not isinstance(lost, Session)] == [VersionConflict] * 9
        assert [await sessions.load("s1")] == won

    async def test_a_session_is_unanswered_until_its_first_message_is_there(
        self, sessions: Sessions, other: Sessions, outbox: Outbox
    ) -> None:
        """S228"""
        assert not await other.is_unanswered("s1", later(0))
        await sessions.save(session(), expected=0, outgoing=[message("m1", "root"), message("m2")])
        assert await other.is_unanswered("s1", later(99))
        await outbox.mark_sent("m1", Sent("D1", "1.1"), now=later(5))
        await outbox.mark_sent("m2", Sent("D1", "2.2"), now=later(6))
        assert [await other.is_unanswered("s1", later(at)) for at in (4, 5, 7)] == [True, False, False]
        await sessions.save(session("s2"), expected=0, outgoing=[message("m3", session_id="s2")])
        await outbox.mark_failed("m3", "no such channel", retry_at=None)
        assert not await other.is_unanswered("s2", later(9)), "what will never come is not waited for"

    async def test_the_heads_of_those_touched_since_a_moment(self, sessions: Sessions, other: Sessions) -> None:
        """The last touched first; the moment itself counts."""
        for n in range(4):
            await sessions.save(session(id=f"s{n}", user_id=f"U{n}", touched_at=later(n)), expected=0)
        assert await list_ids(other, since=later(2)) == ["s3", "s2"]
        assert await list_ids(other, since=later(1), until=later(2)) == ["s2", "s1"]
        assert await list_ids(other, since=later(4)) == []
        assert await list_ids(other, since=later(0), user_id="U1") == ["s1"]
        assert await list_ids(other, since=later(2), user_id="U1") == []
        (head,) = await other.list_heads(HeadFilter(since=later(0)), limit=1)
        kept = await sessions.load("s3")
        assert kept is not None
        same = (kept.id, kept.version, kept.user_id, kept.channel, kept.thread_ts, kept.touched_at, kept.date, kept.tz)
        assert head == SessionHead(*same, kept.status, kept.stage, "no")

    async def test_pages_of_heads_miss_and_repeat_none(self, sessions: Sessions, other: Sessions) -> None:
        """Also among sessions that were touched at the same instant."""
        for n in range(5):
            await sessions.save(session(id=f"s{n}", touched_at=later(n // 3)), expected=0)
        wanted, found, after = HeadFilter(since=later(0)), list[str](), None
        while page := await other.list_heads(wanted, after=after, limit=2):
            found, after = [*found, *(head.id for head in page)], page[-1]
        assert found == ["s4", "s3", "s2", "s1", "s0"]

    async def test_a_round_sees_only_what_it_is_for(self, sessions: Sessions, other: Sessions) -> None:
        """Search columns follow the latest document, not the one that was saved first."""
        await sessions.save(session("open"), expected=0)
        ended = await sessions.save(session("ended"), expected=0)
        await sessions.save(replace(ended, status=SessionStatus.CANCELLED), expected=1)
        written = await sessions.save(session("written").with_sync(written=WriteCounts(created=1)), expected=0)
        await sessions.save(session("later", date=date(2026, 3, 9)), expected=0)
        every = later(0)
        assert await list_ids(other, since=every, active=True) == ["written", "open", "later"]
        assert await list_ids(other, since=every, last=date(2026, 3, 8), active=True) == ["written", "open"]
        assert await list_ids(other, since=every, first=date(2026, 3, 9)) == ["later"]
        assert await list_ids(other, since=every, unreturned=True) == ["written"]
        await sessions.save(written.with_open_work(returned=ReturnedWork()), expected=1)
        assert await list_ids(other, since=every, unreturned=True) == []
        assert await list_ids(other, since=every, written=True) == ["written"]

    async def test_a_version_is_judged_once(self, sessions: Sessions, other: Sessions) -> None:
        kept = await sessions.save(session(), expected=0)
        (head,) = await other.list_heads(HeadFilter(since=later(0), unjudged=True))
        await other.mark_judged(head)
        assert await list_ids(sessions, since=later(0), unjudged=True) == []
        await sessions.save(kept.after_command("c1", later(1)), expected=1)
        assert await list_ids(other, since=later(0), unjudged=True) == ["s1"]
        await other.mark_judged(head)
        assert await list_ids(other, since=later(0), unjudged=True) == ["s1"], "that was the version before"

    async def test_session_and_messages_are_one_commit(
        self, sessions: Sessions, other: Sessions, outbox: Outbox
    ) -> None:
        await sessions.save(session(), expected=0, outgoing=[message("m1"), message("m2")])
        assert await outbox.pending(now=later(0)) == (message("m1"),)
        with pytest.raises(VersionConflict):
            await other.save(session("s2"), expected=4, outgoing=[message("m3", session_id="s2")])
        with pytest.raises(VersionConflict):
            await other.save(session(), expected=0, outgoing=[message("m4")])
        assert await outbox.pending(now=later(0)) == (message("m1"),)

    async def test_a_refused_message_refuses_the_save(self, sessions: Sessions, outbox: Outbox) -> None:
        kept = await sessions.save(session(), expected=0, outgoing=[message("m1")])
        with pytest.raises(InternalError):
            await sessions.save(session(tz="UTC"), expected=1, outgoing=[message("m2"), message("m1")])
        with pytest.raises(InternalError):
            await sessions.save(session(tz="UTC"), expected=1, outgoing=[message("m3", session_id="s2")])
        assert await sessions.load("s1") == kept
        assert await outbox.pending(now=later(0)) == (message("m1"),)

    async def test_the_thread_is_remembered(self, sessions: Sessions, other: Sessions) -> None:
        saved = await sessions.save(session(), expected=0)
        await sessions.attach_thread("s1", "D9", "17.5")
        there = replace(saved, channel="D9", thread_ts="17.5")
        assert await other.load("s1") == there
        assert await other.in_thread("D9", "17.5") == there
        assert await other.in_thread("D1", "17.5") is None

    async def test_attaching_does_not_disturb_a_turn(self, sessions: Sessions, other: Sessions) -> None:
        """The first message is posted while the next turn is under way already."""
        turn = await sessions.save(session(), expected=0)
        await other.attach_thread("s1", "D9", "17.5")
        saved = await sessions.save(turn.after_command("c1", later(1)), expected=1)
        assert (saved.version, saved.channel, saved.thread_ts) == (2, "D9", "17.5")
        assert await other.in_thread("D9", "17.5") == saved

    async def test_a_session_may_begin_in_a_thread(self, sessions: Sessions) -> None:
        saved = await sessions.save(session(thread_ts="3.3"), expected=0)
        assert await sessions.in_thread("D1", "3.3") == saved

    async def test_attaching_to_nothing_is_a_bug(self, sessions: Sessions) -> None:
        with pytest.raises(InternalError):
            await sessions.attach_thread("nope", "D1", "1.1")

    async def test_of_a_user_the_last_touched_first(self, sessions: Sessions) -> None:
        for n, touched in enumerate([5, 9, 1]):
            await sessions.save(session(f"s{n}", touched_at=later(touched)), expected=0)
        await sessions.save(session("s3", user_id="U2"), expected=0)
        assert [found.id for found in await sessions.of_user("U1")] == ["s1", "s0", "s2"]
        assert [found.id for found in await sessions.of_user("U1", limit=2)] == ["s1", "s0"]
        assert [found.id for found in await sessions.of_user("U2")] == ["s3"]
        latest = await sessions.load("s2")
        assert latest is not None
        await sessions.save(latest.after_command("c", later(20)), expected=1)
        assert [found.id for found in await sessions.of_user("U1")] == ["s2", "s1", "s0"]

    async def test_of_some_days_the_last_touched_first(self, sessions: Sessions, other: Sessions) -> None:
        days = [date(2026, 3, day) for day in (2, 3, 3, 4)]
        for n, day in enumerate(days):
            await sessions.save(session(f"s{n}", date=day, touched_at=later(n)), expected=0)
        await sessions.save(session("s9", user_id="U2", date=days[1]), expected=0)
        assert [found.id for found in await other.on_days("U1", days[1], days[1])] == ["s2", "s1"]
        assert [found.id for found in await other.on_days("U1", days[1])] == ["s3", "s2", "s1"]
        assert [found.id for found in await other.on_days("U1", days[0], days[1])] == ["s2", "s1", "s0"]
        assert await other.on_days("U1", date(2026, 3, 5)) == ()

    async def test_a_session_that_is_moved_is_found_on_its_new_day(self, sessions: Sessions, other: Sessions) -> None:
        saved = await sessions.save(session(date=date(2026, 3, 2)), expected=0)
        await sessions.save(replace(saved, date=date(2026, 3, 4)), expected=1)
        assert await other.on_days("U1", date(2026, 3, 2), date(2026, 3, 3)) == ()
        assert [found.id for found in await other.on_days("U1", date(2026, 3, 4))] == ["s1"]

    async def test_days_are_found_however_many_sessions_there_are(self, sessions: Sessions) -> None:
        for n in range(15):
            await sessions.save(session(f"s{n}", date=date(2026, 3, 1 + n), touched_at=later(n)), expected=0)
        assert [found.id for found in await sessions.on_days("U1", date(2026, 3, 1), date(2026, 3, 1))] == ["s0"]
