"""Views and actions of an administrator, on each database: failed work, people, and checks of the tables."""

from __future__ import annotations

from datetime import date, timedelta

from tests.contracts.jobs_contract import NOON, names, put, take_job
from tests.contracts.session_examples import later, message, session
from tests.contracts.test_connections import ANNA, NEW, OLD

from fateforger.adapters.store.connections import SqlConnections, Vault
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.upkeep import SqlGivenUp, check_tables, find_unreadable_logins, list_links, list_planners
from fateforger.ports.jobs import NewJob
from fateforger.session.store import Sent
from fateforger.values import replace

Both = tuple[Store, Store]


async def bury(store: Store, *work: str) -> None:
    for name in work:
        await put(store.jobs, name, key=name)
        assert await store.jobs.bury(await take_job(store.jobs), f"{name} is impossible")


async def test_a_job_is_tried_again_as_if_it_were_new(both: Both) -> None:
    store, given_up = both[0], SqlGivenUp(both[1].database)
    await bury(store, "one", "two")
    first, second = await given_up.list_jobs(limit=10)
    assert (first.lane, first.attempts, first.reason, first.user_id) == ("turns", 1, "one is impossible", None)
    assert await given_up.list_jobs(limit=10, lane="other") == ()
    assert await given_up.retry_jobs([first.number, 99]) == (first.number,)
    assert await names(store.jobs) == ["one"], "and a worker of another program finds it"
    assert await given_up.drop_jobs([second.number]) == (second.number,)
    assert await given_up.list_jobs(limit=10) == ()
    assert await given_up.retry_jobs([second.number]) == ()


async def test_of_a_job_no_words_are_shown(both: Both) -> None:
    payload = {"kind": "reply", "user_id": "U1", "text": "a secret wish"}
    await both[0].jobs.enqueue(NewJob(lane="turns", key="k", dedupe="d", payload=payload), now=NOON)
    await both[0].jobs.bury(await take_job(both[0].jobs), "broken")
    (job,) = await SqlGivenUp(both[1].database).list_jobs(limit=10)
    assert (job.kind, job.user_id) == ("reply", "U1")
    assert "secret" not in repr(job)


async def test_a_message_is_sent_again_unless_a_later_one_took_its_place(both: Both) -> None:
    store, given_up = both[0], SqlGivenUp(both[1].database)
    queued = [message("a1", "root"), message("a2", "card"), message("a3", "card")]
    await store.sessions.save(session("s1"), expected=0, outgoing=queued)
    for each in ("a1", "a2"):
        await store.outbox.mark_failed(each, "channel_not_found", retry_at=None)
    await store.outbox.mark_sent("a3", Sent("D1", "1.1"), now=NOON)
    assert [(each.id, each.overtaken) for each in await given_up.list_messages(limit=10)] == [
        ("a1", False),
        ("a2", True),
    ]
    assert await given_up.retry_messages(["a1", "a2"]) == ("a1",)
    assert [each.id for each in await store.outbox.pending(now=later(0))] == ["a1"]
    assert await given_up.drop_messages(["a1", "a2"]) == ("a2",)


async def test_what_is_old_is_deleted(both: Both) -> None:
    store, given_up = both[0], SqlGivenUp(both[1].database)
    await bury(store, "old")
    await store.sessions.save(session("s1"), expected=0, outgoing=[message("a1")])
    await store.outbox.mark_failed("a1", "channel_not_found", retry_at=None)
    assert await given_up.prune(before=NOON) == (0, 0)
    assert await given_up.prune(before=NOON + timedelta(days=1)) == (1, 1)
    await store.database.vacuum()
    assert (await given_up.list_jobs(limit=10), await given_up.list_messages(limit=10)) == ((), ())


async def test_people_are_listed_page_by_page(both: Both) -> None:
    """Those who only connected a calendar, too; a connection is shown by its state."""
    store, other = both
    for number, user in enumerate(("U1", "U1", "U3")):
        await store.sessions.save(session(f"s{number}", user_id=user, date=date(2026, 3, 3 + number)), expected=0)
    connections = SqlConnections(store.database, Vault(OLD))
    await connections.keep(replace(ANNA, user_id="U2"))
    await connections.keep(replace(ANNA, user_id="U3", problem="refused"))
    first, second = await list_planners(other.database, limit=2)
    assert (first.user_id, first.days, first.first_day, first.last_day, first.active_at) == (
        "U1", 2, date(2026, 3, 3), date(2026, 3, 4), NOON,
    )  # fmt: skip
    assert first.link is None
    assert (second.user_id, second.days, second.link and second.link.state) == ("U2", 0, "connected")
    (third,) = await list_planners(other.database, after="U2", limit=2)
    assert (third.user_id, third.link and third.link.state, third.link and third.link.problem) == (
        "U3",
        "broken",
        "refused",
    )
    assert [link.user_id for link in await list_links(other.database, after="U2", limit=9)] == ["U3"]


async def test_a_login_without_its_key_is_found(both: Both) -> None:
    await SqlConnections(both[0].database, Vault(OLD)).keep(ANNA)
    assert await find_unreadable_logins(both[1].database, Vault(f"{NEW},{OLD}")) == ()
    assert await find_unreadable_logins(both[1].database, Vault(NEW)) == ("U1",)


async def test_a_row_without_its_session_is_damage(both: Both) -> None:
    assert await check_tables(both[1].database) == ()
    if both[0].database.engine.dialect.name != "sqlite":
        return  # PostgreSQL refuses such a row
    await both[0].sessions.save(session("s1"), expected=0, outgoing=[message("a1")])
    with both[0].database.engine.connect() as connection:
        connection.execution_options(fateforger_reading=True)
        raw = connection.connection.driver_connection
        assert raw is not None
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("DELETE FROM planning_session")
    (found,) = await check_tables(both[1].database)
    assert "outbox" in found
    assert "planning_session" in found
