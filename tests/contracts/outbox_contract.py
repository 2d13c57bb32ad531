"""The contract of outboxes. A test module subclasses the suite and gives it two views of one store."""

from __future__ import annotations

import pytest
from tests.contracts.session_examples import later, message, session

from fateforger.ports.jobs import EVER_AFTER
from fateforger.session.store import Outbox, Sent, Sessions

HERE = Sent("D1", "1.1")


class OutboxContract:
    """``outbox`` is written to, ``other`` is what another part of the program (or another process) sees."""

    @pytest.fixture
    def outbox(self) -> Outbox:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Outbox:
        raise NotImplementedError

    @pytest.fixture
    def sessions(self) -> Sessions:
        """Return the sessions of the same store."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    async def _two_sessions(self, sessions: Sessions) -> None:
        await sessions.save(session("s1"), expected=0, outgoing=[message("a1", "root"), message("a2"), message("a3")])
        await sessions.save(session("s2"), expected=0, outgoing=[message(f"b{n}", session_id="s2") for n in (1, 2)])

    async def test_each_session_has_one_message_at_a_time(self, outbox: Outbox, other: Outbox) -> None:
        assert await outbox.pending(now=later(0)) == (message("a1", "root"), message("b1", session_id="s2"))
        await outbox.mark_sent("a1", HERE, now=later(0))
        assert await _pending(other) == ["a2", "b1"]
        await outbox.mark_sent("b1", HERE, now=later(0))
        await outbox.mark_sent("a2", HERE, now=later(0))
        assert await _pending(other) == ["a3", "b2"]
        assert [m.id for m in await other.pending(now=later(0), limit=1)] == ["a3"]

    async def test_what_is_not_known_to_have_arrived_is_given_again(self, outbox: Outbox, other: Outbox) -> None:
        assert await _pending(outbox) == ["a1", "b1"]
        assert await _pending(other) == ["a1", "b1"]

    async def test_messages_of_later_saves_come_after(self, outbox: Outbox, sessions: Sessions) -> None:
        await sessions.save(session("s1"), expected=1, outgoing=[message("a0")])
        order = []
        while pending := [m for m in await outbox.pending(now=later(0)) if m.session_id == "s1"]:
            order.append(pending[0].id)
            await outbox.mark_sent(pending[0].id, HERE, now=later(0))
        assert order == ["a1", "a2", "a3", "a0"]

    async def test_a_retry_waits_and_holds_back_its_session_only(self, outbox: Outbox, other: Outbox) -> None:
        await outbox.mark_failed("a1", "Slack is down", retry_at=later(10))
        assert await _pending(other, 9.9) == ["b1"]
        assert await _pending(other, 10) == ["a1", "b1"]

    async def test_a_clock_that_was_set_back_holds_nothing_back(self, outbox: Outbox, other: Outbox) -> None:
        """S390: a retry by another clock, an hour ahead, is due; one that waits for something else than time is not."""
        await outbox.mark_failed("a1", "Slack is down", retry_at=later(3600))
        assert await _pending(other, 0) == ["a1", "b1"]
        await outbox.mark_failed("a1", "not installed", retry_at=EVER_AFTER)
        assert await _pending(other, 0) == ["b1"]
        assert [m.id for m in await other.pending(now=EVER_AFTER)] == ["a1", "b1"]

    async def test_what_waits_for_another_try_can_be_made_due(self, outbox: Outbox, other: Outbox) -> None:
        """S403: but not what waits for something other than time."""
        await outbox.mark_failed("a1", "Slack is down", retry_at=later(60))
        await outbox.mark_failed("b1", "not installed", retry_at=EVER_AFTER)
        await other.release()
        assert await _pending(outbox, 0) == ["a1"]

    async def test_what_a_session_owes(self, outbox: Outbox, other: Outbox) -> None:
        """Until the last of its messages was sent or given up, also while one of them waits for a later try."""
        await outbox.mark_sent("b1", HERE, now=later(0))
        assert await other.owes("s2")
        await outbox.mark_failed("b2", "Slack is down", retry_at=later(1000))
        assert await other.owes("s2")
        await outbox.mark_failed("b2", "refused", retry_at=None)
        assert not await other.owes("s2")
        assert await other.owes("s1")
        assert not await other.owes("nobody")

    async def test_the_latest_card(self, outbox: Outbox, other: Outbox, sessions: Sessions) -> None:
        """The latest card is the newest one that everybody sees, in any slot; cards next to the plan do not count."""
        assert await other.latest("s1") is None
        beside = message("a4", "history").model_copy(update={"beside": True})
        whispered = message("a5", "aside").model_copy(update={"ephemeral_to": "U1"})
        await sessions.save(session("s1"), expected=1, outgoing=[beside, whispered])
        for outgoing_id in ("a1", "a2", "a3", "a4", "a5"):
            await outbox.mark_sent(outgoing_id, HERE, now=later(0))
        assert await other.latest("s1") == message("a3")

    async def test_a_message_is_kept_as_it_is_shown(self, outbox: Outbox, other: Outbox) -> None:
        """S267: a card leaves out what its reply says."""
        await outbox.mark_sent("a1", HERE, now=later(0))
        shown = message("a2").model_copy(update={"card": message("a3").card})
        await outbox.mark_sent("a2", HERE, now=later(0), shown=[shown])
        assert await other.find_shown("s1", "card") == shown

    async def test_a_message_that_a_later_one_retires_is_kept_as_it_is_shown(
        self, outbox: Outbox, other: Outbox
    ) -> None:
        """S217: so that nothing shows its controls again."""
        await outbox.mark_sent("a1", HERE, now=later(0))
        retired = message("a1", "root").model_copy(update={"card": message("gone").card})
        foreign = message("b1", session_id="s2").model_copy(update={"card": retired.card})
        await outbox.mark_sent("a2", Sent("D1", "2.2"), now=later(0), shown=[retired, foreign])
        assert await other.find_shown("s1", "root") == retired
        assert await other.slot("s1", "root") == HERE
        assert await other.latest("s1") == message("a2")
        assert (await other.pending(now=later(0)))[1] == message("b1", session_id="s2")

    async def test_a_message_given_up_lets_the_next_one_pass(self, outbox: Outbox, other: Outbox) -> None:
        await outbox.mark_failed("a1", "no such channel", retry_at=None)
        assert await _pending(other) == ["a2", "b1"]
        assert await _pending(other, 10**6) == ["a2", "b1"]
        assert await other.slot("s1", "root") is None

    async def test_sent_and_failed_are_final(self, outbox: Outbox) -> None:
        await outbox.mark_sent("a1", HERE, now=later(0))
        await outbox.mark_failed("a1", "late", retry_at=later(0))
        await outbox.mark_sent("a1", Sent("D1", "9.9"), now=later(0))
        assert await _pending(outbox) == ["a2", "b1"]
        assert await outbox.slot("s1", "root") == HERE
        await outbox.mark_failed("a2", "never", retry_at=None)
        await outbox.mark_failed("a2", "late", retry_at=later(0))
        assert await _pending(outbox) == ["a3", "b1"]

    async def test_a_message_that_was_lost_from_sight_changes_nothing(self, outbox: Outbox) -> None:
        await outbox.mark_sent("nope", HERE, now=later(0))
        await outbox.mark_failed("nope", "why", retry_at=None)
        assert await _pending(outbox) == ["a1", "b1"]

    async def test_a_slot_stands_where_its_last_message_was_sent(self, outbox: Outbox, other: Outbox) -> None:
        """S213"""
        assert await other.slot("s1", "card") is None
        assert await other.find_shown("s1", "card") is None
        await outbox.mark_sent("a1", HERE, now=later(0))
        await outbox.mark_sent("a2", Sent("D1", "2.2"), now=later(1))
        assert await other.slot("s1", "card") == Sent("D1", "2.2")
        assert await other.find_shown("s1", "card") == message("a2")
        await outbox.mark_sent("a3", Sent("D1", "3.3"), now=later(2))
        assert await other.slot("s1", "card") == Sent("D1", "3.3")
        assert await other.find_shown("s1", "card") == message("a3")
        assert await other.slot("s1", "root") == HERE
        assert await other.slot("s2", "card") is None

    async def test_what_one_person_sees_does_not_stand(self, outbox: Outbox, sessions: Sessions) -> None:
        await outbox.mark_sent("a1", HERE, now=later(0))
        await outbox.mark_sent("a2", Sent("D1", "2.2"), now=later(0))
        await outbox.mark_sent("a3", Sent("D1", "3.3"), now=later(0))
        await sessions.save(session("s1"), expected=1, outgoing=[message("a4", ephemeral_to="U2")])
        await outbox.mark_sent("a4", Sent("D1", "4.4"), now=later(0))
        assert await outbox.slot("s1", "card") == Sent("D1", "3.3")
        assert await outbox.find_shown("s1", "card") == message("a3")


async def _pending(outbox: Outbox, seconds: float = 0) -> list[str]:
    return [m.id for m in await outbox.pending(now=later(seconds))]
