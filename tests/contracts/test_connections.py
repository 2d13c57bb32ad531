"""The contract of the store of connected calendars, on each database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from tests.contracts.journal_examples import transaction
from tests.contracts.session_examples import session

from fateforger.adapters.store.connections import LOST_KEY, SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store
from fateforger.calendar.connections import Connection, Connections, FollowUp, Provider
from fateforger.errors import BadInput
from fateforger.ports.jobs import NewJob
from fateforger.values import replace

OLD, NEW = new_key(), new_key()
PASSWORD = "correct horse battery staple"
ANNA = Connection(
    user_id="U1",
    provider=Provider.CALDAV,
    account="anna",
    calendar_id="work",
    connected_at=datetime(2026, 3, 2, 7, tzinfo=UTC),
    address="https://dav.example.org/anna/",
    reads=("Family", "Birthdays, 2026"),
    secret=PASSWORD,
)
Both = tuple[Store, Store]


def connections(store: Store, keys: str = OLD) -> Connections:
    return SqlConnections(store.database, Vault(keys))


async def test_each_person_has_their_own(both: Both) -> None:
    first, other = (connections(store) for store in both)
    assert await first.of("U1") is None
    await first.keep(ANNA)
    ben = replace(ANNA, user_id="U2", provider=Provider.GOOGLE, address="", account="ben@example.org", reads=())
    await other.keep(ben)
    assert [await first.of(user) for user in ("U1", "U2")] == [ANNA, ben]
    assert await other.list_people() == ("U1", "U2")
    assert ANNA.key != ben.key


async def test_people_who_share_a_calendar_have_a_record_each(both: Both) -> None:
    """S509: the first one keeps the name of the record, so that what they wrote can still be undone."""
    first, other = (connections(store) for store in both)
    await first.keep(ANNA)
    ben = replace(ANNA, user_id="U2", account="ben", address=ANNA.address.rstrip("/"))
    await other.keep(ben)
    for each, user_id, shared in ((first, "U1", False), (other, "U2", True)):
        found = await each.of(user_id)
        assert found is not None
        await each.keep(replace(found, secret=""))
        await each.keep(found)
        assert await each.of(user_id) == replace(found, shared=shared)
    keys = {found.key for user_id in ("U1", "U2") if (found := await first.of(user_id)) is not None}
    assert keys == {ANNA.key, f"{ANNA.key}@U2"}
    for apart in (
        replace(ANNA, user_id="U3", calendar_id="home"),
        replace(ANNA, user_id="U4", provider=Provider.GOOGLE, address=""),
        replace(ANNA, user_id="U5", provider=Provider.GOOGLE, address="", account="eve"),
    ):
        await first.keep(apart)
        assert await first.of(apart.user_id) == apart


async def test_a_calendar_on_which_another_person_wrote_is_shared(both: Both) -> None:
    """S509: also if that person has connected another calendar since."""
    one = connections(both[0])
    await one.keep(ANNA)
    await both[0].sessions.save(session("s1", user_id="U1"), expected=0)
    await both[0].journal.begin(transaction(calendar=ANNA.key, context={"session": "s1"}))
    await one.keep(replace(ANNA, calendar_id="home"))
    await one.keep(replace(ANNA, user_id="U2"))
    assert await one.of("U2") == replace(ANNA, user_id="U2", shared=True)
    await one.keep(ANNA)
    assert await one.of("U1") == ANNA


async def test_no_secret_is_stored_or_shown_in_clear(both: Both) -> None:
    await connections(both[0]).keep(ANNA)
    rows = await both[1].database.read(
        lambda connection: connection.execute(text("SELECT * FROM calendar_connection")).all()
    )
    assert PASSWORD not in str(rows)
    assert PASSWORD not in repr(ANNA)
    exported = await both[1].people.export("U1")
    (held,) = exported["connection"]
    assert held["account"] == "anna"
    assert "secret" not in held


async def test_erasing_a_person_erases_their_connection(both: Both) -> None:
    await connections(both[0]).keep(ANNA)
    await both[1].people.erase("U1", now=ANNA.connected_at)
    assert await connections(both[0]).of("U1") is None


async def test_keys_are_rotated(both: Both) -> None:
    """S308: a newer key in front encrypts, and what an older one encrypted is still read."""
    await connections(both[0]).keep(ANNA)
    rotated = connections(both[1], f"{NEW}, {OLD}")
    assert await rotated.of("U1") == ANNA
    await rotated.keep(ANNA)
    assert await connections(both[0], NEW).of("U1") == ANNA


async def test_logins_are_encrypted_with_the_newest_key_at_once(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """S308: then the old key can be taken away. One whose key is lost stays as it is, and is logged."""
    first = connections(both[0])
    await first.keep(ANNA)
    lost = SqlConnections(both[0].database, Vault(new_key()))
    await lost.keep(replace(ANNA, user_id="U2"))
    rotated = connections(both[1], f"{NEW}, {OLD}")
    assert await rotated.renew_encryption() == 1
    assert await rotated.renew_encryption() == 0
    assert "calendar logins that no key can decrypt: 1" in caplog.text
    assert await connections(both[0], NEW).of("U1") == ANNA
    assert await lost.of("U2") == replace(ANNA, user_id="U2", shared=True)
    assert await SqlConnections(both[0].database, Vault(None)).renew_encryption() == 0


async def test_a_lost_key_loses_the_login_and_nothing_else(both: Both) -> None:
    await connections(both[0]).keep(ANNA)
    found = await connections(both[1], NEW).of("U1")
    assert found == replace(ANNA, secret="", problem=LOST_KEY)
    assert found is not None
    assert not found.is_open


async def test_without_keys_nothing_new_is_kept(both: Both) -> None:
    """A database of one's own, for which no keys are set: what is there counts as lost, and the program runs."""
    await connections(both[0]).keep(ANNA)
    without = SqlConnections(both[1].database, Vault(None))
    assert await without.of("U1") == replace(ANNA, secret="", problem=LOST_KEY)
    with pytest.raises(BadInput, match="Make one with"):
        await without.keep(ANNA)
    assert await connections(both[0]).of("U1") == ANNA


async def test_a_refreshed_token_replaces_only_the_one_it_came_from(both: Both) -> None:
    first, other = (connections(store) for store in both)
    await first.keep(ANNA)
    assert await first.replace_secret("U1", PASSWORD, "second")
    assert not await other.replace_secret("U1", PASSWORD, "third")
    found = await other.of("U1")
    assert found is not None
    assert found.secret == "second"


async def test_a_problem_is_news_once(both: Both) -> None:
    first, other = (connections(store) for store in both)
    assert not await first.note_problem("U1", "Your password was refused.")
    await first.keep(ANNA)
    assert await first.note_problem("U1", "Your password was refused.")
    assert not await other.note_problem("U1", "Your password was refused.")
    found = await other.of("U1")
    assert found is not None
    assert (found.problem, found.is_open) == ("Your password was refused.", False)


async def test_what_is_left_to_do_is_done_by_one_program(both: Both) -> None:
    """S326: with the message that says it, in one commit; and what is old by now is not done."""
    first, other = (connections(store) for store in both)
    now = ANNA.connected_at
    await first.keep(ANNA)
    assert await other.list_due() == (("U1", FollowUp.RESUME),)
    await first.note_problem("U1", "Your password was refused.")
    assert await other.list_due() == (("U1", FollowUp.TELL),)
    assert not await other.finish("U1", FollowUp.RESUME, now=now), "it broke meanwhile"
    jobs = [NewJob("connection", "U1", f"told by {name}", {"user_id": "U1", "do": "tell"}) for name in ("a", "b")]
    done = [
        await each.finish("U1", FollowUp.TELL, now=now, job=job) for each, job in zip((first, other), jobs, strict=True)
    ]
    assert done == [True, False]
    waiting = [await both[0].jobs.find_unfinished("connection", job.dedupe) is not None for job in jobs]
    assert waiting == [True, False]
    assert await first.list_due() == ()


async def test_a_connection_that_works_again_by_itself_goes_on(both: Both) -> None:
    """Another program renewed its token just when this one saw it refused."""
    first, other = (connections(store) for store in both)
    await first.keep(ANNA)
    await first.note_problem("U1", "Your password was refused.")
    assert await other.replace_secret("U1", PASSWORD, "second")
    found = await first.of("U1")
    assert found is not None
    assert found.is_open
    assert await first.list_due() == (("U1", FollowUp.RESUME),)


@pytest.mark.parametrize("keys", ["", " , ", "not a key", f"{OLD},short"], ids=["empty", "blank", "text", "one of two"])
def test_what_is_no_key_is_refused_with_the_way_to_make_one(keys: str) -> None:
    with pytest.raises(BadInput, match="Make one with"):
        Vault(keys)
