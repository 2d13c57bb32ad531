"""A calendar server that fails, hangs up, refuses, or is gone: shown with its own words, never as an empty calendar."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.caldav_mcp.clients import PASSWORD, START, OpenRadicale, OtherProgram, ToolClient, creation, open_tools
from tests.caldav_mcp.wire import Fault, Wire, open_wire
from tests.fakes.asgi_server import serve_app

from caldav_mcp.dav import Dav
from caldav_mcp.embedded import EmbeddedRadicale
from caldav_mcp.errors import NoAnswer, ServiceError, TooMuch
from caldav_mcp.limits import MAX_ANSWER_BYTES
from caldav_mcp.multistatus import make_calendar
from caldav_mcp.rewrites import zone_object

NAMED = {"calendarId": "primary", "eventId": "planfocus00001"}
FULL: dict[Fault, str] = {
    500: "MCP error -32603: Google API server error: Backend Error",
    503: "MCP error -32603: Google API server error: Service Unavailable",
    507: "MCP error -32600: Access denied: Forbidden: the calendar server has no room left for it.",
    400: "MCP error -32600: Bad Request: Bad Request. Details: Bad Request",
    401: "MCP error -32600: Google API error: Invalid Credentials. Details: Invalid Credentials (Authorization)",
    403: "MCP error -32600: Access denied: You need to have writer access to this calendar.",
    429: "MCP error -32603: Rate limit exceeded. Please try again later. Rate Limit Exceeded",
    302: "MCP error -32603: Google API server error: The calendar server sends us elsewhere: /elsewhere/",
}
BARE: dict[Fault, str] = {
    500: "Backend Error",
    503: "Service Unavailable",
    507: "Forbidden: the calendar server has no room left for it.",
    401: "Invalid Credentials",
    403: "You need to have writer access to this calendar.",
    429: "Rate Limit Exceeded",
}


@pytest.fixture
async def radicale(tmp_path: Path) -> AsyncIterator[OpenRadicale]:
    server = OpenRadicale(tmp_path / "radicale")
    async with OtherProgram(server.calendar_url) as program:
        await program.request("PROPFIND", "/me/", "", Depth="0")
        zone = zone_object("Europe/Berlin", START)
        assert (await program.request("MKCALENDAR", "", make_calendar("My calendar", zone).decode())).status_code == 201
    yield server
    server.stop()


@pytest.fixture
async def wire(radicale: OpenRadicale) -> AsyncIterator[Wire]:
    async with open_wire(radicale.calendar_url) as wire:
        yield wire


@pytest.fixture
async def tools(wire: Wire, tmp_path: Path) -> AsyncIterator[ToolClient]:
    async with open_tools(tmp_path, caldav_url=wire.url, username="me") as tools:
        yield tools


@pytest.mark.parametrize("fault", FULL)
async def test_a_create_that_fails(tools: ToolClient, wire: Wire, fault: Fault) -> None:
    wire.meets("PUT", fault)
    assert await tools.expect_refusal("create-event", **creation()) == FULL[fault]
    assert await tools.titles() == []
    await tools.create()
    assert await tools.titles() == ["Plan work"]


@pytest.mark.parametrize("fault", BARE)
async def test_an_update_that_fails(tools: ToolClient, wire: Wire, fault: Fault) -> None:
    await tools.create()
    wire.meets("PUT", fault)
    assert await tools.expect_refusal("update-event", **NAMED, summary="Other") == BARE[fault]
    assert await tools.titles() == ["Plan work"]


@pytest.mark.parametrize("fault", [500, 403])
async def test_a_delete_that_fails(tools: ToolClient, wire: Wire, fault: Fault) -> None:
    await tools.create()
    wire.meets("DELETE", fault)
    assert await tools.expect_refusal("delete-event", **NAMED) == FULL[fault]
    assert (await tools.get())["status"] == "confirmed"
    await tools.delete()


@pytest.mark.parametrize("fault", [503, 401])
async def test_reads_that_fail(tools: ToolClient, wire: Wire, fault: Fault) -> None:
    await tools.create()
    wire.meets("REPORT", fault, fault, fault)
    assert await tools.expect_refusal("list-events", calendarId="primary") == FULL[fault]
    wire.faults.clear()
    wire.meets("GET", fault, fault, fault)
    assert await tools.expect_refusal("get-event", **NAMED) == FULL[fault]
    wire.faults.clear()
    wire.meets("GET", fault, fault, fault)
    assert await tools.expect_refusal("update-event", **NAMED, summary="x") == BARE[fault]


@pytest.mark.parametrize("fault", ["reset", 503])
async def test_reads_are_tried_again(tools: ToolClient, wire: Wire, fault: Fault) -> None:
    await tools.create()
    wire.meets("REPORT", fault, fault)
    assert await tools.titles() == ["Plan work"]
    wire.meets("GET", fault)
    assert (await tools.get())["summary"] == "Plan work"


async def test_a_lost_connection(tools: ToolClient, wire: Wire) -> None:
    await tools.create()
    at = f"request to {wire.url}planfocus00001.ics failed, reason: read ECONNRESET"
    wire.meets("PUT", "reset")
    assert await tools.expect_refusal("update-event", **NAMED, summary="Other") == at
    wire.meets("DELETE", "reset")
    assert await tools.expect_refusal("delete-event", **NAMED) == f"MCP error -32600: Google API error: {at}"
    wire.meets("PUT", "reset")
    refusal = await tools.expect_refusal("create-event", **creation("planfocus00002"))
    assert refusal == f"MCP error -32600: Google API error: {at}".replace("00001", "00002")
    assert await tools.titles() == ["Plan work"]


async def test_writes_are_sent_once(tools: ToolClient, wire: Wire) -> None:
    wire.meets("PUT", 503)
    await tools.expect_refusal("create-event", **creation())
    assert wire.sent.count("PUT") == 1


async def test_a_create_whose_answer_was_lost_happened(tools: ToolClient, wire: Wire) -> None:
    wire.meets("PUT", "reset after")
    assert (await tools.expect_refusal("create-event", **creation())).endswith("read ECONNRESET")
    assert await tools.expect_refusal("create-event", **creation()) == (
        "Event ID 'planfocus00001' already exists. Please use a different ID."
    )
    assert await tools.titles() == ["Plan work"]
    await tools.delete()
    assert (await tools.get())["status"] == "cancelled"


async def test_an_update_whose_answer_was_lost_happened(tools: ToolClient, wire: Wire) -> None:
    await tools.create()
    wire.meets("PUT", "reset after")
    await tools.expect_refusal("update-event", **NAMED, summary="Other")
    assert await tools.titles() == ["Other"]


async def test_a_delete_whose_answer_was_lost_happened(tools: ToolClient, wire: Wire) -> None:
    """S237: the register knows the event before it is deleted."""
    await tools.create()
    wire.meets("DELETE", "reset after")
    await tools.expect_refusal("delete-event", **NAMED)
    assert (await tools.get())["status"] == "cancelled"
    assert (await tools.expect_refusal("delete-event", **NAMED)).endswith("Resource has been deleted")


async def test_an_update_starts_again_when_somebody_was_faster(tools: ToolClient, wire: Wire) -> None:
    """S200"""
    before = await tools.create()
    wire.meets("PUT", 412, 412)
    after = await tools.update(summary="Other")
    assert (after["summary"], after["etag"] != before["etag"]) == ("Other", True)
    wire.meets("PUT", 412)
    refusal = await tools.expect_refusal("update-event", **NAMED, summary="x", ifMatch=after["etag"])
    assert refusal == "Precondition Failed"


async def test_but_not_for_ever(tools: ToolClient, wire: Wire) -> None:
    await tools.create()
    wire.meets("PUT", *[412] * 9)
    refusal = await tools.expect_refusal("update-event", **NAMED, summary="Other")
    assert refusal == "The event was changed by somebody else again and again"
    assert len(wire.faults) == 4


async def test_no_answer_in_time(wire: Wire) -> None:
    wire.meets("GET", "hang")
    async with Dav(username="me", on_this_machine=True, time_limit=0.5) as dav:
        with pytest.raises(NoAnswer) as silence:
            await dav.request("GET", wire.url)
    assert silence.value.bare == "The request timed out"
    assert silence.value.full == "MCP error -32600: Google API error: The request timed out"
    assert wire.sent.count("GET") == 1


async def test_an_answer_that_unpacks_to_too_much_is_not_taken_in() -> None:
    """No answer stops the program: 80 kB that unpack to more than a program can hold. A write may have happened."""
    packed = gzip.compress(bytes(MAX_ANSWER_BYTES + 1))

    async def answer(_: Request) -> Response:
        return Response(packed, headers={"Content-Encoding": "gzip"})

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["REPORT", "PUT"])])
    async with serve_app(app) as base, Dav(username="me", on_this_machine=True, time_limit=60) as dav:
        with pytest.raises(TooMuch) as refused:
            await dav.request("REPORT", base + "/")
        with pytest.raises(NoAnswer):
            await dav.request("PUT", f"{base}/one.ics", body=b"x")
    assert refused.value.full == (
        "MCP error -32600: Access denied: Forbidden: the calendar server answered with more than 50 MB, which I"
        " do not read; please name a calendar with fewer events, or clear this one out."
    )


async def test_a_packed_answer_is_unpacked_once() -> None:
    """An answer that is not too long arrives unchanged."""

    async def answer(_: Request) -> Response:
        return Response(gzip.compress("“Arbeit”".encode()), headers={"Content-Encoding": "gzip", "ETag": '"1"'})

    app = Starlette(routes=[Route("/{path:path}", answer)])
    async with serve_app(app) as base, Dav(username="me", on_this_machine=True, time_limit=60) as dav:
        said = await dav.request("GET", f"{base}/one.ics")
    assert (said.text, said.headers["ETag"], str(said.url)) == ("“Arbeit”", '"1"', f"{base}/one.ics")


async def test_a_calendar_that_is_gone_says_nothing_of_its_events(
    tools: ToolClient, wire: Wire, radicale: OpenRadicale
) -> None:
    await tools.create()
    async with Dav(username="me", on_this_machine=True, time_limit=60) as dav:
        await dav.request("DELETE", radicale.calendar_url)
    gone = "MCP error -32600: Resource not found: Not Found"
    assert await tools.expect_refusal("list-events", calendarId="primary") == gone
    assert await tools.expect_refusal("get-event", **NAMED) == gone
    assert await tools.expect_refusal("delete-event", **NAMED) == gone
    assert await tools.expect_refusal("create-event", **creation("planfocus00002")) == gone


async def test_radicale_stops_and_comes_back(tmp_path: Path) -> None:
    async with open_tools(tmp_path) as first:
        await first.create()
    radicale = OpenRadicale(tmp_path / "radicale")
    async with open_tools(tmp_path, caldav_url=radicale.calendar_url, username="me") as tools:
        assert await tools.titles() == ["Plan work"]
        radicale.stop()
        refused = f"request to {radicale.calendar_url} failed, reason: connect ECONNREFUSED"
        event = f"request to {radicale.calendar_url}planfocus00001.ics failed, reason: connect ECONNREFUSED"
        full = f"MCP error -32600: Google API error: {event}"
        assert (
            await tools.expect_refusal("list-events", calendarId="primary")
            == f"MCP error -32600: Google API error: {refused}"
        )
        assert await tools.expect_refusal("get-event", **NAMED) == full
        assert await tools.expect_refusal("delete-event", **NAMED) == full
        assert await tools.expect_refusal("update-event", **NAMED, summary="Other") == event
        assert (await tools.expect_refusal("create-event", **creation("planfocus00002"))).endswith(
            "connect ECONNREFUSED"
        )
        again = OpenRadicale(tmp_path / "radicale", radicale.port)
        assert await tools.titles() == ["Plan work"]
        again.stop()


async def test_a_server_that_is_not_there_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="connect ECONNREFUSED"):
        async with open_tools(tmp_path, caldav_url="http://me:secret@127.0.0.1:9/") as _:
            pass


async def test_an_address_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="missing an 'http://' or 'https://' protocol"):
        async with open_tools(tmp_path, caldav_url="calendar.example.com") as _:
            pass


async def test_passwords_in_addresses_are_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as trouble:
        async with open_tools(tmp_path, caldav_url="http://me:secret@127.0.0.1:9/") as _:
            pass
    assert "secret" not in str(trouble.value)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
async def test_foreign_web_pages_cannot_reach_the_embedded_server(tmp_path: Path, headers: dict[str, str]) -> None:
    server = EmbeddedRadicale(tmp_path, password=PASSWORD)
    async with OtherProgram(server.calendar_url) as program:
        assert (await program.request("PROPFIND", "/", "", Depth="0")).status_code == 207
        assert (await program.request("PROPFIND", "/", "", Depth="0", **headers)).status_code == 403
    server.stop()


async def test_a_register_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "events.sqlite").write_bytes(b"no database at all, but long enough to look at" * 30)
    with pytest.raises(ServiceError, match="register of ids cannot be used"):
        async with open_tools(tmp_path) as _:
            pass


async def test_an_address_that_is_no_calendar(tmp_path: Path, wire: Wire) -> None:
    wire.meets("PROPFIND", 404)
    with pytest.raises(ServiceError, match="There is nothing at"):
        async with open_tools(tmp_path, caldav_url=wire.url, username="me") as _:
            pass
