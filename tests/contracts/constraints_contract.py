"""The contract of stores of constraints. A test module subclasses the suite and gives it two views of one store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import product

import pytest
from tests.factories.constraints import version_of

from fateforger.errors import BadInput, InternalError, VersionConflict
from fateforger.memory.applicability import decide_applicability
from fateforger.memory.documents import read_context
from fateforger.memory.ports import Constraints, IndexTask
from fateforger.memory.versions import Event, Version, list_history, select_newest
from fateforger.memory.vocabulary import Action

EARLIER, LATER = "2026-02-01T08:00:00+00:00", "2026-02-02T09:30:00.123456+01:00"
UNUSUAL = (
    "*", "%", "_", "U1", "u1", " U1", "U1 ", "U1\n", "U1\u200b", "Ü1", "U\u03081", "\uff351", "\u0421",
    "C", "U1' OR '1'='1", "'; DROP TABLE constraint_version; --", '"', "\\", "null", "None", "0", "[]", "{}", "$1", ":x",
    "?", "../U1", "U1/U2", "user_id", "\u202eU1", "💣", "x" * 200, "x" * 199 + "y",
)  # fmt: skip
"""Ids that look alike or have a meaning elsewhere. Each is the id of exactly one person."""
NO_IDS = ("", " ", "\t\n", "\u3000", "x" * 201, "U1\x00", "\x00", "U1\ud800")


def parts(tasks: Iterable[IndexTask]) -> list[tuple[str, str, int | None]]:
    return [(task.user_id, task.uid, None if task.version is None else task.version.seq) for task in tasks]


class ConstraintsContract:
    """``constraints`` is written to, ``other`` is what another part of the program (or another process) sees."""

    @pytest.fixture
    def constraints(self) -> Constraints:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Constraints:
        raise NotImplementedError

    async def test_versions_come_back_as_they_were(self, constraints: Constraints, other: Constraints) -> None:
        """S13: all versions come back in the order of their writing, at any instants."""
        assert await other.of("U1") == ()
        first = version_of("a", at=LATER, session="D1:1.1", name="Não às 9 \x00 \u2028 🌙", scope="session")
        second = version_of("a", at=EARLIER, event={"action": "archive", "reason": "no\nlonger"}, status="declined")
        saved = await constraints.write([first, second], cause="c1")
        assert saved == tuple(v.model_copy(update={"seq": s.seq}) for v, s in zip((first, second), saved, strict=True))
        assert 0 < saved[0].seq < saved[1].seq
        for _ in range(2):
            assert await other.of("U1") == await constraints.of("U1") == await other.readable("U1") == saved

    @pytest.mark.parametrize("action", list(Action))
    async def test_every_event_comes_back(self, constraints: Constraints, other: Constraints, action: Action) -> None:
        version = version_of("a", status="declined").model_copy(update={"event": Event(action=action, reason="why")})
        assert await constraints.write([version], cause="c1") == await other.of("U1")
        assert [saved.event for saved in await other.of("U1")] == [version.event]

    async def test_what_another_one_wrote_is_seen_at_once(self, constraints: Constraints, other: Constraints) -> None:
        """S2: also by who has just looked."""
        seen: tuple[Version, ...] = ()
        for n, writer in enumerate([constraints, other, constraints, constraints, other]):
            seen += await writer.write([version_of(f"c{n % 2}")], cause=f"c{n}")
            assert await constraints.of("U1") == await other.of("U1") == seen

    async def test_a_cause_writes_once(self, constraints: Constraints, other: Constraints) -> None:
        """S190, S192: a cause that is repeated writes once, even if its content has changed."""
        assert await constraints.find_written("U1", "c1") == ()
        saved = await constraints.write([version_of("a"), version_of("b")], cause="c1", expected={"a": 0})
        assert await other.write([version_of("x")], cause="c1", expected={"a": 0, "x": 77}) == saved
        assert await other.find_written("U1", "c1") == await constraints.of("U1") == saved
        assert await other.find_written("U2", "c1") == ()
        theirs = await other.write([version_of("a", user="U2")], cause="c1")
        assert (await constraints.of("U1"), await constraints.of("U2")) == (saved, theirs)

    async def test_nothing_to_write_is_no_cause(self, constraints: Constraints) -> None:
        assert await constraints.write([], cause="c1") == ()
        assert len(await constraints.write([version_of("a")], cause="c1")) == 1

    async def test_a_write_is_of_one_person_and_has_a_cause(self, constraints: Constraints) -> None:
        with pytest.raises(InternalError):
            await constraints.write([version_of("a"), version_of("a", user="U2")], cause="c1")
        with pytest.raises(InternalError):
            await constraints.write([version_of("a")], cause="")
        assert await constraints.people() == ()

    async def test_a_change_of_something_else_by_now_is_a_conflict(
        self, constraints: Constraints, other: Constraints
    ) -> None:
        """S186 (L-02): none of it is written."""
        (first,) = await constraints.write([version_of("a", at=EARLIER)], cause="c1", expected={"a": 0})
        (second,) = await other.write([version_of("a", at=LATER)], cause="c2", expected={"a": first.seq})
        for seq in (0, first.seq, second.seq + 1):
            with pytest.raises(VersionConflict):
                await constraints.write([version_of("b"), version_of("a")], cause="c3", expected={"a": seq, "b": 0})
        assert await other.of("U1") == (first, second)
        assert await other.find_written("U1", "c3") == ()
        await constraints.write([version_of("b")], cause="c3", expected={"a": second.seq, "b": 0})

    async def test_the_newest_is_the_one_that_counts(self, constraints: Constraints, other: Constraints) -> None:
        """A1: a late import of something older does not get in the way of a change."""
        (first,) = await constraints.write([version_of("a", at=LATER)], cause="c1")
        await constraints.write([version_of("a", at=EARLIER)], cause="c2")
        await other.write([version_of("a", at=LATER)], cause="c3", expected={"a": first.seq})

    async def test_a_change_is_newer_even_if_a_clock_is_behind(self, constraints: Constraints) -> None:
        """S186: what was acknowledged as a change is the constraint now."""
        (first,) = await constraints.write([version_of("a", at=LATER)], cause="c1")
        (second,) = await constraints.write(
            [version_of("a", at=EARLIER, name="Changed")], cause="c2", expected={"a": first.seq}
        )
        assert second.updated_at == first.updated_at
        assert select_newest(await constraints.of("U1"), "U1")["a"] == second
        assert [version.seq for version in list_history(await constraints.of("U1"), "U1", "a")] == [
            first.seq,
            second.seq,
        ]

    async def test_two_concurrent_revisions_give_one_winner(self, constraints: Constraints, other: Constraints) -> None:
        """S186 (L-02): no update is lost: the others get a conflict, and the winner's version is kept."""
        (first,) = await constraints.write([version_of("a")], cause="c0")
        tries = [
            store.write([version_of("a", at=LATER, name=f"{n}")], cause=f"c{n}", expected={"a": first.seq})
            for n, store in enumerate([constraints, other] * 5, 1)
        ]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        won = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        assert [type(lost) for lost in outcomes if not isinstance(lost, tuple)] == [VersionConflict] * 9
        assert await constraints.of("U1") == await other.of("U1") == (first, *won[0])

    async def test_of_one_cause_many_times_at_once_one_is_written(
        self, constraints: Constraints, other: Constraints
    ) -> None:
        tries = [store.write([version_of(f"a{n}")], cause="c") for n, store in enumerate([constraints, other] * 4)]
        answers = await asyncio.gather(*tries)
        assert answers == [await other.of("U1")] * 8
        assert len(answers[0]) == 1

    async def test_400_concurrent_writers_lose_nothing(self, constraints: Constraints, other: Constraints) -> None:
        """S186: each of 400 gets its place, and readers meanwhile see a beginning of what there will be."""
        seen: list[tuple[Version, ...]] = []

        async def write(n: int) -> tuple[Version, ...]:
            store = (constraints, other)[n % 2]
            saved = await store.write([version_of(f"c{n % 40}"), version_of(f"own{n}")], cause=f"c{n}")
            if n % 20 == 0:
                seen.append(await (other, constraints)[n % 2].of("U1"))
            return saved

        answers = await asyncio.gather(*map(write, range(400)))
        rows = await constraints.of("U1")
        assert rows == await other.of("U1") == tuple(sorted((v for a in answers for v in a), key=lambda v: v.seq))
        assert len(rows) == 800
        assert [rows[: len(part)] for part in seen] == seen
        assert {answer[1].seq - answer[0].seq for answer in answers} == {1}

    # --- the rows of other people stay private ---

    async def test_nobody_gets_a_row_of_anybody_else(self, constraints: Constraints, other: Constraints) -> None:
        """Ids are equal character by character or they are not. The same uid and cause everywhere."""
        for user in UNUSUAL:
            await constraints.write([version_of("c", user=user, name=f"Of {user!r}"[:300])], cause="c1")
        assert await other.people() == tuple(sorted(UNUSUAL))
        for user, store in product(UNUSUAL, (constraints, other)):
            rows = await store.of(user)
            assert [(row.user_id, row.record.name) for row in rows] == [(user, f"Of {user!r}"[:300])]
            assert await store.find_written(user, "c1") == await store.readable(user) == rows
            answer = decide_applicability(rows, read_context({"user_id": user, "as_of": "2026-03-03"}))
            assert [item.version.user_id for item in answer.applicable] == [user]
        tasks = await other.list_unindexed(limit=1_000)
        assert sorted(task.user_id for task in tasks) == sorted(UNUSUAL)
        assert all(task.version is not None and task.version.user_id == task.user_id for task in tasks)

    @pytest.mark.parametrize("user", ["U9", "*x", "U1%", "u"])
    async def test_who_has_nothing_gets_nothing(self, constraints: Constraints, user: str) -> None:
        for known in UNUSUAL:
            await constraints.write([version_of("c", user=known)], cause="c1")
        assert (await constraints.of(user), await constraints.find_written(user, "c1")) == ((), ())
        assert await constraints.reindex(user) == 0
        assert len(await constraints.people()) == len(UNUSUAL)

    @pytest.mark.parametrize("user", NO_IDS, ids=ascii)
    async def test_what_cannot_be_an_id_is_refused(self, constraints: Constraints, user: str) -> None:
        await constraints.write([version_of("c")], cause="c1")
        with pytest.raises(BadInput) as refused:
            await constraints.of(user)
        assert refused.value.where == "user_id"
        for call in (constraints.readable, constraints.reindex):
            with pytest.raises(BadInput):
                await call(user)
        with pytest.raises(BadInput):
            await constraints.find_written(user, "c1")
        with pytest.raises(BadInput):
            await constraints.write([version_of("c").model_copy(update={"user_id": user})], cause="c2")
        assert await constraints.people() == ("U1",)

    @pytest.mark.parametrize("text", ["a\x00b", "a\ud800"], ids=ascii)
    async def test_texts_that_some_store_would_change_are_refused(self, constraints: Constraints, text: str) -> None:
        version = version_of("c")
        for field, value in (("session_id", text), ("event", Event.model_construct(action=Action.UPSERT, reason=text))):
            with pytest.raises(BadInput):
                await constraints.write([version.model_copy(update={field: value})], cause="c1")
        assert await constraints.people() == ()

    # --- what the index does not show yet ---

    async def test_each_constraint_waits_for_the_index_once(self, constraints: Constraints, other: Constraints) -> None:
        assert await other.list_unindexed() == ()
        a, _ = await constraints.write([version_of("a"), version_of("b", at=EARLIER)], cause="c1")
        (newer,) = await constraints.write([version_of("b", at=LATER)], cause="c2")
        await constraints.write([version_of("b", at=EARLIER)], cause="c3")
        tasks = await other.list_unindexed()
        assert [(task.uid, task.version) for task in tasks] == [("a", a), ("b", newer)]
        assert [task.uid for task in await other.list_unindexed(limit=1)] == ["a"]
        assert await other.mark_indexed(tasks[:1]) == 1
        assert await other.mark_indexed([]) == 0
        assert [task.uid for task in await constraints.list_unindexed()] == ["b"]
        assert await constraints.mark_indexed(tasks) == 1  # the other one was taken off before
        assert await other.list_unindexed() == ()

    async def test_what_is_written_meanwhile_stays_on_the_list(
        self, constraints: Constraints, other: Constraints
    ) -> None:
        await constraints.write([version_of("a"), version_of("b")], cause="c1")
        tasks = await other.list_unindexed()
        (newer,) = await constraints.write([version_of("a", at=LATER)], cause="c2")
        await other.mark_indexed(tasks)
        assert parts(await other.list_unindexed()) == [("U1", "a", newer.seq)]

    async def test_everything_can_be_put_on_the_list_again(self, constraints: Constraints, other: Constraints) -> None:
        """This holds while a round works on the list, too: earlier work does not count."""
        (a,) = await constraints.write([version_of("a")], cause="c1")
        (b,) = await constraints.write([version_of("b", user="U2")], cause="c1")
        tasks = await other.list_unindexed()
        assert (await constraints.reindex(), await constraints.reindex("U2")) == (2, 1)
        await other.mark_indexed(tasks)
        assert parts(await other.list_unindexed()) == [("U1", "a", a.seq), ("U2", "b", b.seq)]
        await other.mark_indexed(await other.list_unindexed())
        assert await constraints.reindex("U2") == 1
        assert parts(await other.list_unindexed()) == [("U2", "b", b.seq)]
