"""Statements of Google's documentation, checked against the emulator over HTTP."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import HOUR, NINE
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore

pytestmark = pytest.mark.asyncio
SCOPE = "https://www.googleapis.com/auth/calendar.events"
EVENTS = "/calendar/v3/calendars/primary/events"
BODY = {
    "id": "abcde00001",
    "summary": "Deep work",
    "start": {"dateTime": "2026-03-02T08:00:00Z"},
    "end": {"dateTime": "2026-03-02T09:00:00Z"},
}


@pytest.fixture
def google() -> GoogleEmulator:
    return GoogleEmulator(check_tokens=False)


@pytest.fixture
def store(google: GoogleEmulator) -> GoogleStore:
    return google.calendars["primary"]


@pytest_asyncio.fixture
async def http(google: GoogleEmulator) -> AsyncIterator[httpx.AsyncClient]:
    async with serve_app(google.app()) as base, httpx.AsyncClient(base_url=base, trust_env=False) as client:
        yield client


def consent_url(google: GoogleEmulator, **other: str) -> str:
    client = google.accounts.client
    asked = {
        "client_id": client.id,
        "redirect_uri": client.redirects[0],
        "response_type": "code",
        "scope": SCOPE,
        "state": "s",
    }
    return f"/o/oauth2/v2/auth?{urlencode(asked | other)}"


@pytest.mark.parametrize(("allow", "answer"), [("yes", "code"), ("", "error")])
async def test_a_person_decides_on_the_page(
    google: GoogleEmulator, http: httpx.AsyncClient, allow: str, answer: str
) -> None:
    page = (await http.get(consent_url(google))).text
    request = re.search(r'name="request" value="([^"]*)"', page)
    assert request is not None
    form = {"request": request[1].replace("&amp;", "&"), "account": "owner@example.com", "scope": SCOPE, "allow": allow}
    back = await http.post("/o/oauth2/v2/auth", data=form)
    came = parse_qs(urlsplit(back.headers["location"]).query)
    assert (back.status_code, came["state"], answer in came) == (302, ["s"], True)


async def test_a_stranger_gets_no_page(google: GoogleEmulator, http: httpx.AsyncClient) -> None:
    for other in ({"redirect_uri": "https://evil.example"}, {"client_id": "other"}):
        assert (await http.get(consent_url(google, **other))).status_code == 400


async def test_nothing_without_a_token(google: GoogleEmulator, http: httpx.AsyncClient) -> None:
    google.check_tokens = True
    refused = await http.get(EVENTS, headers={"Authorization": "Bearer guess"})
    assert (refused.status_code, refused.json()["error"]["errors"][0]["reason"]) == (401, "authError")


async def test_an_event_lives_once(http: httpx.AsyncClient) -> None:
    """Etags fit or nothing is written; a deleted id stays taken, and is shown as cancelled."""
    made = (await http.post(EVENTS, json=BODY)).json()
    assert (await http.post(EVENTS, json=BODY)).status_code == 409
    where, stale = f"{EVENTS}/{BODY['id']}", {"If-Match": '"old"'}
    assert [(await http.request(m, where, headers=stale, json={})).status_code for m in ("PATCH", "DELETE")] == [
        412
    ] * 2
    changed = await http.patch(where, headers={"If-Match": made["etag"]}, json={"summary": "Other"})
    assert (changed.json()["summary"], changed.json()["etag"] != made["etag"]) == ("Other", True)
    assert [(await http.delete(where)).status_code for _ in range(2)] == [204, 410]
    assert (await http.get(where)).json()["status"] == "cancelled"
    assert (await http.post(EVENTS, json=BODY)).status_code == 409
    assert (await http.get(EVENTS)).json()["items"] == []


async def test_a_sync_token_tells_what_changed_and_of_the_deleted_only_the_id(
    google: GoogleEmulator, http: httpx.AsyncClient, store: GoogleStore
) -> None:
    kept = store.user_create("Kept", start=NINE, end=NINE + HOUR)
    gone = store.user_create("Gone", start=NINE, end=NINE + HOUR)
    first = (await http.get(EVENTS, params={"maxResults": 1})).json()
    assert "nextSyncToken" not in first
    last = (await http.get(EVENTS, params={"maxResults": 1, "pageToken": first["nextPageToken"]})).json()
    token = {"syncToken": last["nextSyncToken"]}
    store.user_edit(kept.id, summary="Changed")
    store.user_delete(gone.id)
    items = (await http.get(EVENTS, params=token)).json()["items"]
    assert [(item["id"], item.get("summary")) for item in items] == [(kept.id, "Changed"), (gone.id, None)]
    assert (await http.get(EVENTS, params={**token, "timeMin": "2026-03-02T00:00:00Z"})).status_code == 400
    google.api.expire_sync_tokens()
    expired = await http.get(EVENTS, params=token)
    assert (expired.status_code, expired.json()["error"]["errors"][0]["reason"]) == (410, "fullSyncRequired")


async def test_too_many_requests_in_a_minute(google: GoogleEmulator, http: httpx.AsyncClient) -> None:
    google.quota = 2
    answers = [await http.get(EVENTS) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 403]
    assert 0 < float(answers[-1].headers["retry-after"]) <= 60


@pytest.mark.process
async def test_one_command_runs_it() -> None:
    command = (sys.executable, "-u", "-m", "tests.emulators.google", "--port", "0")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        said = (await process.stdout.readline()).decode()
        base = said.split()[-1]
        async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
            assert (await client.get(EVENTS)).status_code == 401
    finally:
        process.terminate()
        await process.wait()
