"""The page of a person's connection: its contents and actions, over emulators of Google and Microsoft."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from tests.contracts.journal_examples import create, make_applied, transaction
from tests.contracts.session_examples import session as any_session
from tests.emulators.google.accounts import Client, GoogleAccounts
from tests.emulators.google.emulator import CUT, Fault, GoogleEmulator
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.caldav_login import PRIVATE, CalDavServers
from fateforger.app.calendars import Access
from fateforger.app.connect_page import ConnectPage
from fateforger.app.logins import Delegations, Logins, build_logins
from fateforger.app.oauth_login import ConnectLinks
from fateforger.calendar.connections import Connection, FollowUp, Provider
from fateforger.calendar.transactions import TxState
from fateforger.config import read_settings
from fateforger.errors import CalendarBusy
from fateforger.slack.admission import Standing
from fateforger.workers.people import LanguageService, Ownership, PersonalData

BASE = "http://page.example"
ANNA, BEN = "U_ANNA", "U_BEN"
FAMILY, OFFICE = "family@group.calendar.google.com", "office@group.calendar.google.com"


@dataclass
class Site:
    """The page and its providers; ``sent`` are the people who were sent a new link."""

    google: GoogleEmulator
    microsoft: MicrosoftEmulator
    store: Store
    connections: SqlConnections
    logins: Logins
    clock: ManualClock
    servers: CalDavServers
    delegations: Delegations = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.links = ConnectLinks(self.connections.vault, BASE, self.clock)
        access = Access(self.connections, self.logins)
        languages = LanguageService(self.store.languages, "en")
        page = ConnectPage(
            self.links,
            self.store.standings.is_reachable,
            access,
            self.servers,
            self.delegations,
            languages,
            self._send,
            local=True,
        )
        self.http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=Starlette(routes=page.routes)), base_url=BASE, timeout=30
        )

    async def _send(self, user_id: str) -> None:
        self.sent.append(user_id)

    async def consent(self, user_id: str, provider: str) -> ShownPage:
        """Sign in at a provider, as a browser does, and return the page that follows."""
        away = (await self.http.get(f"{self.links.build(user_id)}/{provider}")).headers["location"]
        if provider == "google":
            back = self.google.accounts.consent(away, self.google.accounts.people[0])
        else:
            async with httpx.AsyncClient(trust_env=False) as browser:
                back = (await browser.get(away)).headers["location"]
        return ShownPage(await self.http.get(back))

    async def send(self, page: ShownPage, /, **fields: str | list[str]) -> ShownPage:
        return ShownPage(await self.http.post(page.action, data=fields))

    async def open(self, user_id: str) -> ShownPage:
        return ShownPage(await self.http.get(self.links.build(user_id)))

    async def of(self, user_id: str) -> Connection:
        found = await self.connections.of(user_id)
        assert found is not None
        return found


@dataclass
class ShownPage:
    """A page that was answered with."""

    answer: httpx.Response

    @property
    def words(self) -> str:
        text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", self.answer.text, flags=re.DOTALL)
        return " ".join(unescape(text).split())

    @property
    def action(self) -> str:
        return str(re.findall(r'<form method="post" action="([^"]+)"', self.answer.text)[0])

    @property
    def kept(self) -> str:
        return str(re.findall(r'name="kept" value="([^"]*)"', self.answer.text)[0])

    def offers(self, name: str) -> list[str]:
        """Return the values of the boxes of one name; those that are ticked end in ``*``."""
        found = re.findall(rf'name="{name}"(?: required)? value="([^"]+)"( checked)?', self.answer.text)
        return [f"{value}{'*' if ticked else ''}" for value, ticked in found]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    back = f"{BASE}/connect"
    google = GoogleEmulator(accounts=GoogleAccounts(client=Client(redirects=(f"{back}/google/callback",))))
    microsoft = MicrosoftEmulator()
    microsoft.sign_in.apps["the-client"].redirects = (f"{back}/microsoft/callback",)
    clock = ManualClock(datetime.now(UTC))
    async with AsyncExitStack() as stack:
        store = open_store(tmp_path / "state.db")
        stack.push_async_callback(store.aclose)
        connections = SqlConnections(store.database, Vault(new_key()))
        settings = read_settings(
            data_dir=tmp_path,
            google_client_id=google.accounts.client.id,
            google_client_secret=google.accounts.client.secret,
            google_url=await stack.enter_async_context(serve_app(google.app())),
            microsoft_client_id="the-client",
            microsoft_client_secret="the-secret",
            microsoft_url=await stack.enter_async_context(serve_app(microsoft.app())),
        )
        logins = build_logins(settings, connections, clock, back, store)
        servers = CalDavServers("Europe/Berlin", public_only=True)
        made = Site(google, microsoft, store, connections, logins, clock, servers)
        stack.push_async_callback(made.http.aclose)
        yield made


def add_calendars(site: Site) -> None:
    site.google.calendars |= {FAMILY: GoogleStore(), OFFICE: GoogleStore()}
    site.google.api.names |= {"primary": "Anna", FAMILY: "Family", OFFICE: "Office"}
    site.google.api.roles[OFFICE] = "writer"
    site.microsoft.mailbox.calendars["C2"] = {"name": "Sports", "canEdit": True, "isDefaultCalendar": False}


async def test_an_account_with_several_calendars_asks_which_to_read_and_which_to_write_to(site: Site) -> None:
    """S306: the main one is preselected, and nothing is kept before the person has chosen."""
    add_calendars(site)
    page = await site.consent(ANNA, "google")
    assert await site.connections.of(ANNA) is None
    owner = site.google.accounts.people[0]
    assert page.offers("read") == [f"{owner}*", FAMILY, OFFICE]
    assert page.offers("write") == [f"{owner}*", FAMILY], "one that somebody else shares is only read"
    assert "I write only the blocks of your plan, only to this calendar" in page.words
    done = await site.send(page, do="save", kept=page.kept, read=[OFFICE, FAMILY], write=FAMILY)
    assert "I read “Family” and “Office”, and write only the blocks of your plan, only to “Family”." in done.words
    found = await site.of(ANNA)
    assert (found.calendar_id, found.reads, found.account) == (FAMILY, (OFFICE,), owner)
    assert found.is_open


async def test_the_choice_is_changed_later_without_signing_in_again(site: Site) -> None:
    """S204"""
    add_calendars(site)
    page = await site.consent(ANNA, "microsoft")
    main, sports = page.offers("write")
    assert sports == "C2"
    await site.send(page, do="save", kept=page.kept, read=[main.rstrip("*")], write=main.rstrip("*"))
    before = await site.of(ANNA)
    site.clock.at += timedelta(minutes=10)
    again = await site.send(await site.open(ANNA), do="choose")
    assert again.offers("read") == [main, "C2"]
    await site.send(again, do="save", kept="", read=["C2"], write=main.rstrip("*"))
    after = await site.of(ANNA)
    assert (after.reads, after.name_of("C2")) == (("C2",), "Sports")
    assert (after.connected_at, after.key) == (before.connected_at, before.key)


async def test_a_calendar_that_cannot_be_read_is_not_kept(site: Site) -> None:
    """S306: each is tried, and the form stays filled in."""
    add_calendars(site)
    page = await site.consent(ANNA, "google")
    site.google.inject(Fault(CUT), path=f"/calendars/{FAMILY.replace('@', '%40')}/", times=5)
    site.google.inject(Fault(CUT), path=f"/calendars/{FAMILY}/", times=5)
    refused = await site.send(page, do="save", kept=page.kept, read=[FAMILY], write="owner@example.com")
    assert (refused.answer.status_code, "I cannot read your calendar “Family”" in refused.words) == (422, True)
    assert await site.connections.of(ANNA) is None
    nothing = await site.send(page, do="save", kept=page.kept, read=[FAMILY], write=OFFICE)
    assert "“Office” can only be read." in nothing.words


async def test_what_was_chosen_by_one_person_cannot_be_saved_by_another(site: Site) -> None:
    """S327: nor half an hour later."""
    add_calendars(site)
    page = await site.consent(ANNA, "google")
    theirs = await site.send(await site.open(BEN), do="save", kept=page.kept, write="owner@example.com")
    assert "Please begin again." in theirs.words
    assert await site.connections.of(BEN) is None
    site.clock.at += timedelta(minutes=31)
    late = await site.send(await site.open(ANNA), do="save", kept=page.kept, write="owner@example.com")
    assert "Please begin again." in late.words
    assert await site.connections.of(ANNA) is None


async def test_an_old_link_gives_nothing_but_a_new_one_in_slack(site: Site) -> None:
    """S309"""
    link = site.links.build(ANNA)
    await site.connections.keep(Connection(ANNA, Provider.CALDAV, "anna", "work", site.clock.at, secret="any"))
    site.clock.at += timedelta(minutes=31)
    old = ShownPage(await site.http.get(link))
    assert (old.answer.status_code, "anna" in old.words) == (410, False)
    for do in ("disconnect-now", "choose", "save"):
        assert (await site.http.post(link, data={"do": do})).status_code == 410
    assert (await site.of(ANNA)).is_open
    assert site.sent == []
    sent = await site.send(old, do="link")
    assert "I have sent you a new link" in sent.words
    assert (site.sent, "/connect/" in sent.answer.text.split("</style>")[1]) == ([ANNA], False)
    assert (await site.http.post(f"{BASE}/connect/made-up", data={"do": "link"})).status_code == 410
    assert site.sent == [ANNA]


async def test_the_link_of_somebody_who_left_opens_nothing(site: Site) -> None:
    """S417: in none of its steps, and no new one is sent."""
    link, back = site.links.build(ANNA), site.google.accounts
    away = (await site.http.get(f"{link}/google")).headers["location"]
    await site.store.standings.keep(ANNA, Standing.DEACTIVATED)
    answers = [
        await site.http.get(link),
        await site.http.get(f"{link}/google"),
        await site.http.get(back.consent(away, back.people[0])),
        await site.http.post(link, data={"do": "save", "read": "any"}),
    ]
    site.clock.at += timedelta(minutes=31)
    answers.append(await site.http.post(link, data={"do": "link"}))
    assert [answer.status_code for answer in answers] == [410] * 5
    assert not site.sent
    assert await site.connections.of(ANNA) is None


async def test_disconnecting_says_what_stays_and_ends_the_access(site: Site) -> None:
    """S325"""
    await site.consent(ANNA, "google")
    asked = await site.send(await site.open(ANNA), do="disconnect")
    assert "What I put on your calendar stays there" in asked.words
    assert (await site.of(ANNA)).is_open
    await site.send(asked, do="disconnect-now")
    assert (await site.of(ANNA)).has_ended
    assert all(grant.ended for grant in site.google.accounts.grants)


async def test_a_provider_that_does_not_answer_is_named_with_the_page_to_end_the_access_on(site: Site) -> None:
    """S325: Microsoft offers no program to end its access, and Google may be down."""
    await site.consent(ANNA, "google")
    site.google.inject(Fault(503), path="/revoke", times=5)
    gone = await site.send(await site.open(ANNA), do="disconnect-now")
    assert "I could not reach Google" in gone.words
    assert "https://myaccount.google.com/connections" in gone.words
    assert (await site.of(ANNA)).has_ended
    await site.consent(ANNA, "microsoft")
    gone = await site.send(await site.open(ANNA), do="disconnect-now")
    assert "https://myapps.microsoft.com" in gone.words


async def test_another_account_takes_the_place_of_the_first_whose_access_ends(site: Site) -> None:
    await site.consent(ANNA, "google")
    await site.consent(ANNA, "microsoft")
    assert (await site.of(ANNA)).provider is Provider.MICROSOFT
    assert all(grant.ended for grant in site.google.accounts.grants)


async def test_what_broke_shows_why_and_how_to_connect_it_again(site: Site) -> None:
    """S326: the same account keeps its choice, and what waited goes on."""
    add_calendars(site)
    page = await site.consent(ANNA, "google")
    await site.send(page, do="save", kept=page.kept, read=[FAMILY], write="owner@example.com")
    await site.connections.finish(ANNA, FollowUp.RESUME, now=site.clock.at)
    site.google.accounts.withdraw("owner@example.com")
    site.google.accounts.expire_access()
    site.clock.at += timedelta(hours=2)
    broken = await site.send(await site.open(ANNA), do="choose")
    assert "Google has ended my access to your account." in broken.words
    assert "Reconnect" in broken.words
    assert await site.connections.list_due() == ((ANNA, FollowUp.TELL),)
    again = await site.consent(ANNA, "google")
    assert again.offers("read") == ["owner@example.com*", f"{FAMILY}*", OFFICE]
    await site.send(again, do="save", kept=again.kept, read=[FAMILY], write="owner@example.com")
    assert (await site.of(ANNA)).is_open
    assert await site.connections.list_due() == ((ANNA, FollowUp.RESUME),)


async def test_an_address_in_the_programs_own_network_is_refused(site: Site) -> None:
    """S323"""
    page = await site.open(ANNA)
    for address in ("http://127.0.0.1:9/me/", "http://169.254.169.254/latest/", "http://localhost/dav/"):
        refused = await site.send(page, address=address, account="me", password="any")
        assert (refused.answer.status_code, PRIVATE in refused.words) == (422, True)
    assert await site.connections.of(ANNA) is None


async def test_what_a_calendar_is_called_cannot_change_the_page(site: Site) -> None:
    add_calendars(site)
    site.google.api.names[FAMILY] = "<script>alert(1)</script>"
    page = await site.consent(ANNA, "google")
    assert "<script>" not in page.answer.text
    done = await site.send(page, do="save", kept=page.kept, write=FAMILY)
    assert "<script>" not in done.answer.text
    assert (await site.of(ANNA)).name_of(FAMILY) == "<script>alert(1)</script>"


async def test_erasing_a_person_ends_their_access(site: Site) -> None:
    """S325: while the token is known; and not while a write is unfinished, which would then stay half done."""
    await site.consent(ANNA, "google")
    ownership = Ownership(site.store.owners, site.clock, named=None, page=(), real_slack=True)
    access = Access(site.connections, site.logins)
    data = PersonalData(site.store.people, None, site.clock, ownership, end_access=access.end_for)
    key = (await site.of(ANNA)).key
    await site.store.sessions.save(any_session("s1", user_id=ANNA), expected=0)
    begun = transaction("t1", [create(7, tx="t1")], calendar=key, context={"session": "s1"})
    await site.store.journal.begin(begun)
    with pytest.raises(CalendarBusy):
        await data.erase(ANNA)
    assert not any(grant.ended for grant in site.google.accounts.grants)
    await site.store.journal.settle("t1", make_applied(create(7, tx="t1")))
    await site.store.journal.close("t1", TxState.COMMITTED, site.clock.at)
    erased = await data.erase(ANNA)
    assert (erased.counts["connection"], erased.remains) == (1, "")
    assert all(grant.ended for grant in site.google.accounts.grants)
    assert await site.connections.of(ANNA) is None
