"""Calendars that an administrator has opened: people of the domain need no consent of their own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey
from tests.emulators.google.accounts import GoogleAccounts, Robot
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.google.client import SCOPES
from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.calendars import OF_ADMINISTRATOR, Access
from fateforger.app.health import check_delegations
from fateforger.app.logins import NOT_ALLOWED, Organization, build_delegations
from fateforger.calendar.connections import Connection, Provider
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput, CalendarError
from fateforger.values import replace

ROBOT = "robot@project.iam.gserviceaccount.com"
KEY = RSAKey.generate_key(2048, private=True)


@dataclass
class DelegationHarness:
    """A domain at Google, and a directory at Microsoft, whose administrators have let the program in."""

    google: GoogleEmulator
    microsoft: MicrosoftEmulator
    settings: Settings
    store: Store
    connections: SqlConnections
    clock: ManualClock

    def open(self, settings: Settings | None = None) -> Organization:
        delegations = build_delegations(settings or self.settings, self.connections, self.clock, self.store)
        return Organization(delegations, self.connections, self.clock)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[DelegationHarness]:
    robot = Robot(ROBOT, RSAKey.import_key(KEY.as_pem(private=False)), "example.com", SCOPES)
    google = GoogleEmulator(accounts=GoogleAccounts(robots=[robot]))
    microsoft = MicrosoftEmulator()
    microsoft.sign_in.apps["the-client"].consented.add("contoso.example")
    clock = ManualClock(datetime.now(UTC))
    async with AsyncExitStack() as stack:
        store = open_store(tmp_path / "fateforger.db")
        stack.push_async_callback(store.aclose)
        key = {"client_email": ROBOT, "private_key": KEY.as_pem(private=True).decode(), "token_uri": "https://x/token"}
        settings = read_settings(
            data_dir=tmp_path,
            google_service_account=json.dumps(key),
            google_domains="example.com, other.example",
            google_url=await stack.enter_async_context(serve_app(google.app())),
            microsoft_client_id="the-client",
            microsoft_client_secret="the-secret",
            microsoft_tenant="contoso.example",
            microsoft_domains="contoso.example",
            microsoft_url=await stack.enter_async_context(serve_app(microsoft.app())),
        )
        yield DelegationHarness(
            google, microsoft, settings, store, SqlConnections(store.database, Vault(new_key())), clock
        )


@pytest.mark.parametrize(
    ("address", "provider"), [("owner@example.com", Provider.GOOGLE), ("ann@contoso.example", Provider.MICROSOFT)]
)
async def test_one_tap_connects_a_person_of_the_domain(
    office: DelegationHarness, address: str, provider: Provider
) -> None:
    """S305, S311: without a consent of theirs, and without a secret of theirs."""
    organization = office.open()
    words = await organization.join("U1", address)
    assert words.startswith("I plan on your calendar from now on. I read ")
    found = await office.connections.of("U1")
    assert found is not None
    assert (found.provider, found.account, found.secret, found.delegated) == (provider, address, "", True)
    assert found.is_open
    async with organization.delegations[provider].open(found) as calendar:
        now = office.clock.now()
        assert await calendar.window(now, now + timedelta(hours=1)) == ()


async def test_an_old_button_replaces_no_other_calendar(office: DelegationHarness) -> None:
    own = Connection("U1", Provider.CALDAV, "anna", "work", office.clock.now(), secret="any", names={"work": "Work"})
    await office.connections.keep(own)
    words = await office.open().join("U1", "owner@example.com")
    assert words == "Your calendar is connected. I read “Work”, and write only the blocks of your plan to it."
    assert await office.connections.of("U1") == own


@pytest.mark.parametrize("address", ["someone@elsewhere.org", "owner@notexample.com", "owner@example.com.evil.org", ""])
async def test_nobody_outside_the_domains(office: DelegationHarness, address: str) -> None:
    """S305: the domain is compared as a whole."""
    organization = office.open()
    assert organization.find(address) is None
    assert await organization.join("U1", address) == NOT_ALLOWED
    assert await office.connections.of("U1") is None


async def test_what_the_administrator_does_not_allow_is_said_and_not_kept(office: DelegationHarness) -> None:
    """S305, S311: a person who is not in the directory; a directory that has not consented."""
    office.microsoft.sign_in.apps["the-client"].consented.clear()
    for address in ("nobody@example.com", "ann@contoso.example"):
        assert (await office.open().join("U1", address)).startswith(("Google", "Microsoft", "I cannot"))
    assert await office.connections.of("U1") is None


async def test_a_domain_that_the_settings_have_no_more_is_closed(office: DelegationHarness) -> None:
    """S305: at once, also for people who are connected."""
    await office.open().join("U1", "owner@example.com")
    found = await office.connections.of("U1")
    assert found is not None
    later = office.open(replace(office.settings, google_domains="other.example"))
    with pytest.raises(CalendarError, match="No administrator"):
        async with later.delegations[Provider.GOOGLE].open(found):
            pass


async def test_disconnecting_uses_it_no_more(office: DelegationHarness) -> None:
    """S325: only the administrator can take the access itself away."""
    await office.open().join("U1", "owner@example.com")
    words = await Access(office.connections, {}).disconnect("U1")
    assert OF_ADMINISTRATOR in words
    found = await office.connections.of("U1")
    assert found is not None
    assert found.has_ended


async def test_settings_that_do_not_fit_are_refused(office: DelegationHarness, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="FATEFORGER_MICROSOFT_TENANT has to name"):
        read_settings(data_dir=tmp_path, microsoft_domains="contoso.example", microsoft_client_id="x")
    nowhere = read_settings(data_dir=tmp_path, google_service_account="/nowhere/key.json", google_domains="example.com")
    with pytest.raises(BadInput, match="cannot read the key file"):
        office.open(nowhere)
    with pytest.raises(BadInput, match="FATEFORGER_GOOGLE_DOMAINS is missing"):
        office.open(replace(nowhere, google_domains=""))


async def test_doctor_tries_it_with_a_person_who_uses_it(office: DelegationHarness) -> None:
    """S305: without one it only says what is set up; afterwards a consent that was taken away is seen."""
    words = [(check.state, check.message) for check in await check_delegations(office.settings)]
    assert words == [
        ("missing", "Google for example.com and other.example is set up; nobody uses it yet."),
        ("missing", "Microsoft for contoso.example is set up; nobody uses it yet."),
    ]
    await office.open().join("U1", "owner@example.com")
    await office.open().join("U2", "ann@contoso.example")
    assert [check.state for check in await check_delegations(office.settings)] == ["real", "real"]
    office.microsoft.sign_in.apps["the-client"].consented.clear()
    google, microsoft = await check_delegations(office.settings)
    assert (google.state, microsoft.state) == ("real", "broken")
    assert microsoft.message.startswith("Microsoft for ann@contoso.example: ")
    (broken,) = await check_delegations(replace(office.settings, google_domains="", microsoft_domains=""))
    assert (broken.state, "FATEFORGER_GOOGLE_DOMAINS is missing" in broken.message) == ("broken", True)
