"""Installations of the app: the first workspace, tokens that are renewed once, and states that are used once."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update
from tests.contracts import session_examples as sessions
from tests.emulators.slack.teams import SlackTeams
from tests.factories.people import SamplePerson, tell
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock
from tests.unit.conversation.person import MORNING

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.homes import WORKSPACE
from fateforger.adapters.store.installations import SqlInstallations
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.tasks import TASK
from fateforger.errors import BadInput
from fateforger.ports.jobs import EVER_AFTER, NewJob
from fateforger.session.store import HeadFilter
from fateforger.slack.client import NotInstalled, OAuthApp, SlackLogin, new_session
from fateforger.slack.installations import NOT_INSTALLED, Installation
from fateforger.slack.workspaces import KEPT, RENEW_BEFORE, Workspaces
from fateforger.values import replace

KEY = new_key()
NOW = MORNING
ONE = Installation("T1", "Anna's", "T1", NOW, token="xoxb-one")
TWO = Installation("T2", "Ben's", "T2", NOW, token="xoxb-two", refresh_token="xoxe-two", expires_at=NOW)


def open_installations(store: Store, *keys: str) -> SqlInstallations:
    return SqlInstallations(store.database, Vault(",".join(keys or (KEY,))))


async def test_the_first_workspace_is_the_first_for_good(stores: tuple[Store, Store]) -> None:
    """S340: also when two programs begin at once, and when the first one removes the app."""
    one, other = map(open_installations, stores)
    kept = await asyncio.gather(one.keep(ONE), other.keep(TWO))
    assert sorted(each.is_first for each in kept) == [False, True]
    first = next(each for each in kept if each.is_first)
    assert (first.key, {each.key for each in kept}) == ("", {"", *({"T1", "T2"} - {first.tenant})})
    assert await one.end(first.tenant, at=NOW + timedelta(hours=1))
    await other.keep(replace(ONE, tenant="T3"))
    found = await one.find_first()
    assert found is not None
    assert (found.tenant, found.token) == (first.tenant, "")
    assert not (await other.keep(replace(TWO, tenant="T4"))).is_first


async def test_plans_from_before_belong_to_no_workspace_that_installs_first(stores: tuple[Store, Store]) -> None:
    """S340"""
    one, other = map(open_installations, stores)
    await one.check_first()
    await stores[0].sessions.save(sessions.session("s1"), expected=0)
    with pytest.raises(BadInput, match="start once with its SLACK_BOT_TOKEN"):
        await other.check_first()
    await one.keep(replace(ONE, token=""))
    await other.check_first()


async def test_tokens_are_encrypted_and_follow_the_newest_key(stores: tuple[Store, Store]) -> None:
    """S341"""
    store, newer = stores[0], new_key()
    await open_installations(store).keep(TWO)

    async def read() -> str:
        return repr(await store.database.read(lambda connection: connection.execute(select(WORKSPACE)).all()))

    before = await read()
    assert "xox" not in before
    rotated = open_installations(store, newer, KEY)
    assert (await rotated.renew_encryption(), await rotated.renew_encryption()) == (1, 0)
    assert await read() != before
    found = await open_installations(store, newer).get("T2")
    assert found is not None
    assert (found.token, found.refresh_token, found.expires_at) == ("xoxb-two", "xoxe-two", NOW)
    lost = await open_installations(store, new_key()).get("T2")
    assert lost is not None
    assert lost.token == ""
    with pytest.raises(BadInput):
        await SqlInstallations(store.database, Vault(None)).keep(ONE)


async def test_a_removal_deletes_the_tokens_but_not_those_of_a_later_install(stores: tuple[Store, Store]) -> None:
    """S343: Slack may tell of a removal when the app is back already."""
    one, other = map(open_installations, stores)
    await one.keep(replace(ONE, installed_at=NOW))
    assert not await other.end("T1", at=NOW - timedelta(seconds=1))
    assert await other.end("T1", at=NOW + timedelta(seconds=1))
    found = await one.get("T1")
    assert found is not None
    assert (found.token, found.ended_at) == ("", NOW + timedelta(seconds=1))
    assert not await one.end("T1", at=NOW + timedelta(seconds=2)), "it has ended already"


async def test_no_round_works_for_people_of_a_workspace_that_removed_the_app(stores: tuple[Store, Store]) -> None:
    """S393: in any program, until the app is back; the other workspace notices nothing."""
    store, other = stores
    installations = open_installations(store)
    await installations.keep(replace(ONE, tenant="T1"))
    await installations.keep(TWO)
    here, there = SamplePerson("bilby"), SamplePerson("numbat", tenant="T2")
    for who in (here, there):
        await tell(store, who)
        await store.database.write(
            lambda connection, who=who: connection.execute(  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                update(TASK).where(TASK.c.user_id == who.id).values(state="waiting")
            )
        )

    async def find_people() -> dict[str, set[str]]:
        heads = await other.sessions.list_heads(HeadFilter(since=NOW - timedelta(days=99)))
        follow_ups = await SqlConnections(other.database, Vault(KEY)).list_due()
        homes = await other.homes.claim_due(NOW, until=NOW)
        rituals = await other.rituals.list_due(NOW + timedelta(days=9), limit=99)
        return {
            "sessions": {head.user_id for head in heads},
            "tasks": {task.user_id for task in await other.tasks.waiting()},
            "connections": {user_id for user_id, _ in follow_ups},
            "homes": {state.user_id for state in homes},
            "rules": set(await other.constraints.people(reachable=True)),
            "rituals": {due.settings.user_id for due in rituals},
        }

    both = {name: {here.id, there.id} for name in await find_people()}
    assert await find_people() == both
    await installations.end("T2", at=NOW + timedelta(hours=1))
    assert await find_people() == {name: {here.id} for name in both}
    await installations.keep(replace(TWO, installed_at=NOW + timedelta(hours=2)))
    assert await find_people() == both


async def test_a_job_that_was_put_aside_is_tried_once_the_app_is_back(stores: tuple[Store, Store]) -> None:
    """S393: however long that takes, and as if it had not been tried."""
    store, installations = stores[0], open_installations(stores[1])
    await installations.keep(ONE)
    await store.jobs.enqueue(NewJob("turn", "k", "j", {}), now=NOW)
    job = await store.jobs.claim("turn", "w", now=NOW, lease_seconds=1)
    assert job is not None
    await store.jobs.retry(job, NOT_INSTALLED, run_at=EVER_AFTER, now=NOW)
    await installations.end("T1", at=NOW)
    assert await store.jobs.claim("turn", "w", now=NOW + timedelta(days=30), lease_seconds=1) is None
    await installations.keep(replace(ONE, installed_at=NOW + timedelta(days=30)))
    again = await store.jobs.claim("turn", "w", now=NOW + timedelta(days=30), lease_seconds=1)
    assert again is not None
    assert again.attempts == 1


async def test_any_program_learns_from_the_database_that_an_app_was_removed(stores: tuple[Store, Store]) -> None:
    """S393: soon, and without a refusal by Slack; the token of the settings is not used any more."""
    slack, clock = SlackTeams("xapp-1"), ManualClock()
    slack.tokens["xoxb-one"] = "T1"
    async with serve_app(slack.app()) as url:
        session = new_session()
        login = SlackLogin("xoxb-one", "xapp-1", f"{url}/api/")
        slack.add("T1", url, "xoxb-one")
        one, other = (Workspaces(login, session, open_installations(store), clock) for store in stores)
        for each in (one, other):
            each._configured = replace(ONE, is_first=True)  # as after the login
        await open_installations(stores[0]).keep(replace(ONE, token=""))
        assert not await other.is_gone("")
        clock.at += timedelta(minutes=1)
        await one.end("T1", at=clock.at)
        clock.at += KEPT
        assert await other.is_gone("")
        with pytest.raises(NotInstalled):
            await other.client_of("")
        await one.install(replace(ONE, token="xoxb-new", installed_at=clock.at))
        clock.at += KEPT
        assert [(await each.client_of("")).token for each in (one, other)] == ["xoxb-new"] * 2
        assert slack.refused == []
        await session.close()


async def test_what_waited_for_the_app_is_due_once_it_is_back(stores: tuple[Store, Store]) -> None:
    """S343"""
    store, installations = stores[0], open_installations(stores[1])
    await installations.keep(ONE)
    waits = sessions.message("m", "card", "s1")
    await store.sessions.save(sessions.session("s1"), expected=0, outgoing=[waits])
    await store.outbox.mark_failed("m", NOT_INSTALLED, retry_at=datetime(9999, 1, 1, tzinfo=NOW.tzinfo))
    await store.jobs.enqueue(NewJob("turn", "k", "j", {}), now=NOW)
    job = await store.jobs.claim("turn", "w", now=NOW, lease_seconds=1)
    assert job is not None
    await store.jobs.retry(job, f"Slack does not say: {NOT_INSTALLED}", run_at=NOW + timedelta(days=9), now=NOW)
    await installations.end("T1", at=NOW)
    assert await store.outbox.pending(now=NOW) == ()
    await installations.keep(replace(ONE, installed_at=NOW + timedelta(days=1)))
    assert [each.id for each in await store.outbox.pending(now=NOW)] == ["m"]
    again = await store.jobs.claim("turn", "w", now=NOW, lease_seconds=1)
    assert again is not None
    assert again.attempts == 1


async def test_a_state_is_good_once_and_for_its_time(stores: tuple[Store, Store]) -> None:
    """S341: the browser may come back to any replica."""
    one, other = map(open_installations, stores)
    for state in ("a", "b"):
        await one.add_state(state, expires_at=NOW + timedelta(minutes=10))
    assert await other.take_state("a", now=NOW)
    assert not await one.take_state("a", now=NOW)
    assert not await other.take_state("b", now=NOW + timedelta(minutes=10))
    assert not await other.take_state("never", now=NOW)


async def test_two_replicas_renew_a_token_once(stores: tuple[Store, Store]) -> None:
    """S341: the old token is good meanwhile; both have the new one afterwards."""
    slack, clock = SlackTeams("xapp-1", lasts=43_200), ManualClock()
    slack.add("T2", "http://127.0.0.1:9", "xoxb-local")
    granted = slack.grant("T2")
    async with serve_app(slack.app()) as at_slack:
        login = SlackLogin(None, "xapp-1", f"{at_slack}/api/", oauth=OAuthApp(slack.client_id, slack.client_secret))
        http = new_session()
        replicas = [Workspaces(login, http, open_installations(store), clock) for store in stores]
        expires_at = clock.now() + timedelta(hours=12)
        tokens = {"token": granted["access_token"], "refresh_token": granted["refresh_token"]}
        await replicas[0].install(replace(TWO, installed_at=clock.now(), expires_at=expires_at, **tokens))

        async def read_tokens() -> set[str | None]:
            clients = await asyncio.gather(*(each.client_of("") for each in replicas * 3))
            return {client.token for client in clients}

        assert await read_tokens() == {granted["access_token"]}
        clock.at = expires_at - RENEW_BEFORE
        await read_tokens()
        assert slack.calls == [("", "refresh")]
        clock.at += timedelta(minutes=1)  # until an installation is no longer believed
        (renewed,) = await read_tokens()
        assert renewed != granted["access_token"]
        clock.at = expires_at + timedelta(days=3)  # without a plan in between; the token has ended
        (later,) = await read_tokens()
        assert later not in {renewed, granted["access_token"]}
        assert slack.calls == [("", "refresh")] * 2
        await http.close()


async def test_a_workspace_without_the_app_has_no_client(stores: tuple[Store, Store]) -> None:
    http = new_session()
    workspaces = Workspaces(SlackLogin(None, "xapp-1"), http, open_installations(stores[0]), ManualClock())
    for key in ("", "T2"):
        with pytest.raises(NotInstalled):
            await workspaces.client_of(key)
    await http.close()
