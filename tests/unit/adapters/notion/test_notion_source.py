"""Constraints out of Notion through the official client and real HTTP (S8-S12, S38)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.factories.notion import TbDatabases, prop, table
from tests.fakes.notion_server import TOKEN, Failure, NotionServer, notion_server, text_of

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.notion.client import NotionPages, parse_columns, parse_databases
from fateforger.adapters.notion.source import NotionConstraints
from fateforger.errors import BadInput, SourceUnavailable
from fateforger.memory.migration import StoredRow


@asynccontextmanager
async def source(
    server: NotionServer,
    *,
    token: str = TOKEN,
    databases: Iterable[tuple[str, str]] = (),
    columns: Iterable[tuple[str, str]] = (),
    pauses: list[float] | None = None,
) -> AsyncIterator[NotionConstraints]:
    async def pause(seconds: float) -> None:
        (pauses if pauses is not None else []).append(seconds)

    pages = NotionPages(token, url=server.url, clock=SystemClock(), sleep=pause)
    found = NotionConstraints(pages, databases=parse_databases(databases), columns=parse_columns(columns))
    try:
        yield found
    finally:
        await found.aclose()


async def read(server: NotionServer, **said: Any) -> list[StoredRow]:
    async with source(server, **said) as found:
        return [row async for row in found.rows()]


async def expect_refusal(server: NotionServer, **said: Any) -> str:
    with pytest.raises(BadInput) as caught:
        await read(server, **said)
    return caught.value.message


async def test_every_field_comes_across() -> None:
    """S8-S12, S38: each column, windows and topics from their own databases, both time stamps, the person's words."""
    tb = TbDatabases()
    topic, other = tb.topic("sleep"), tb.topic("startup_prefetch")
    later_id = "00000000-0000-0000-0000-000000a00001"
    stamps = {"created": "2025-12-02T08:00:00.000Z", "edited": "2026-02-03T09:01:00.000Z"}
    tb.constraint(
        "Bed by eleven",
        page=stamps,
        windows=[("prefer", "22:00", "23:00"), ("avoid", "23:00", "06:30")],
        **{
            "Description": "I want to be in bed by eleven", "UID": "tb_bed", "Necessity": "must", "Source": "feedback",
            "Confidence": 0.9, "Scope": "datespan", "Start Date": "2026-01-05", "End Date": "2026-03-01",
            "Days Of Week": ["MO", "TU"], "Timezone": "Europe/Amsterdam", "Recurrence": "FREQ=WEEKLY", "TTL Days": 90,
            "Applies Stages": ["Skeleton", "Refine"], "Applies Event Types": ["R"], "Topics": [topic, other],
            "Rule Kind": "fixed_bedtime", "Duration Min (min)": 30, "Duration Max (min)": 60, "Contiguity": "require",
            "Supersedes": [later_id],
        },
    )  # fmt: skip
    assert tb.constraint("Bed by twelve", UID="tb_old") == later_id
    tb.add(tb.events, **{"Extracted UID": "tb_bed", "User Utterance": "make it eleven", "Occurred At": "2026-02-03"})
    tb.add(tb.events, **{"Extracted UID": "tb_bed", "User Utterance": "bed at twelve", "Occurred At": "2026-01-02"})
    async with notion_server(*tb.tables) as server:
        bed, old = await read(server)
    assert bed == StoredRow(
        where="page 00000000000000000000000000a00000",
        name="Bed by eleven",
        rationale="make it eleven",
        fields={
            "name": "Bed by eleven", "description": "I want to be in bed by eleven", "uid": "tb_bed", "necessity": "must",
            "status": "locked", "source": "feedback", "confidence": 0.9, "scope": "datespan",
            "start_date": "2026-01-05", "end_date": "2026-03-01", "days_of_week": ["MO", "TU"],
            "timezone": "Europe/Amsterdam", "recurrence": "FREQ=WEEKLY", "ttl_days": 90,
            "applies_stages": ["Skeleton", "Refine"], "applies_event_types": ["R"],
            "topics": ["sleep", "startup_prefetch"], "rule_kind": "fixed_bedtime",
            "scalar_params": {"duration_min": 30, "duration_max": 60, "contiguity": "require"},
            "windows": [
                {"kind": "prefer", "start_time_local": "22:00", "end_time_local": "23:00"},
                {"kind": "avoid", "start_time_local": "23:00", "end_time_local": "06:30"},
            ],
            "supersedes_uids": ["tb_old"],
            "created_at": "2025-12-02T08:00:00.000Z", "updated_at": "2026-02-03T09:01:00.000Z",
        },
    )  # fmt: skip
    assert (old.name, old.rationale, old.trouble) == ("Bed by twelve", None, None)


async def test_what_notion_cuts_short_is_asked_for() -> None:
    """More than 25 links, a text of more than 25 runs, more than 100 rows, more than a query gives."""
    tb = TbDatabases()
    topics = [tb.topic(f"topic {number}") for number in range(130)]
    words = "".join(f"word{number:04} " for number in range(60)).strip()
    runs = {"type": "rich_text", "rich_text": text_of(words, run=9)}
    tb.constraint("Long", Description=runs, Topics=topics)
    for number in range(260):
        stamp = f"2026-01-02T{8 + number // 60:02}:{number % 60 // 3 * 3:02}:00.000Z"  # three rows in each such minute
        tb.constraint(f"Rule {number}", page={"created": stamp, "edited": stamp})
    async with notion_server(*tb.tables) as server:
        server.longest_query = 140
        rows = await read(server)
        assert [row.name for row in rows] == ["Long", *(f"Rule {number}" for number in range(260))]
        assert rows[0].fields["description"] == words
        assert rows[0].fields["topics"] == [f"topic {number}" for number in range(130)]
        assert server.versions == {"2026-03-11"}
        server.longest_query = 2
        with pytest.raises(SourceUnavailable) as caught:
            await read(server)
    assert caught.value.message == "Notion gives no more than 10,000 rows that were made in the same minute."


async def test_columns_of_other_types() -> None:
    """A formula, a rollup, a status, a range of dates, a text where there was a list: what they show is what counts."""
    tb = TbDatabases()
    schema = tb.constraints.schema
    schema |= {
        "Necessity": "formula", "Status": "status", "Days Of Week": "rich_text", "Timezone": "rollup", "TTL Days": "formula",
        "Applies Stages": "rollup", "Source": "rollup",
    }  # fmt: skip
    array = [prop("select", "Skeleton"), prop("select", None), *(prop("select", "Refine") for _ in range(30))]
    page_id = tb.constraint(
        "Odd",
        **{
            "Necessity": {"type": "formula", "formula": {"type": "string", "string": "must"}},
            "Status": "proposed",
            "Days Of Week": "MO, WE",
            "Timezone": {"type": "rollup", "rollup": {"type": "array", "array": [prop("rich_text", "Europe/Paris")]}},
            "TTL Days": {"type": "formula", "formula": {"type": "number", "number": 7}},
            "Applies Stages": {"type": "rollup", "rollup": {"type": "array", "array": array}},
            "Source": {
                "type": "rollup",
                "rollup": {"type": "array", "array": [prop("select", "user"), prop("select", "system")]},
            },
            "Start Date": {"start": "2026-01-05", "end": "2026-01-09", "time_zone": None},
        },
    )
    async with notion_server(*tb.tables) as server:
        [row] = await read(server)
    asked = {
        name: row.fields.get(name)
        for name in ("necessity", "status", "days_of_week", "timezone", "ttl_days", "end_date")
    }
    assert asked == {
        "necessity": "must", "status": "proposed", "days_of_week": ["MO", "WE"], "timezone": "Europe/Paris", "ttl_days": 7,
        "end_date": "2026-01-09",
    }  # fmt: skip
    assert row.fields["applies_stages"] == ["Skeleton", *["Refine"] * 30]
    assert row.trouble == "source cannot be read: it holds 2 values, and one is needed."
    assert row.where == f"page {page_id.replace('-', '')}"


async def test_what_is_not_whole_is_told() -> None:
    """A window without an end, two pages with one UID, no scope, two last days: trouble, never a part of the row. A link
    to what is gone is a note."""
    tb = TbDatabases()
    tb.constraint("Half a window", windows=[("avoid", "09:00", "")])
    for name in ("One", "Two"):
        tb.constraint(name, UID="tb_same")
    tb.constraint("Nowhere", Scope=None)
    tb.constraint("Two ends", **{"Start Date": {"start": "2026-01-01", "end": "2026-01-31"}, "End Date": "2026-02-28"})
    gone = "00000000-0000-0000-0000-00000000dead"
    tb.constraint("Links", Supersedes=[gone], Topics=[gone])
    tb.constraint("Thrown away", page={"in_trash": True})
    async with notion_server(*tb.tables) as server:
        server.shows_trash = True
        async with source(server) as found:
            rows = [row async for row in found.rows()]
            assert await found.list_omissions() == ("1 of the constraints were in Notion's trash and stay there.",)
    window = "page 00000000000000000000000000a10000"
    assert {row.name: row.trouble for row in rows} == {
        "Half a window": f"A window of it ({window}) has no end.",
        "One": "2 pages have the UID “tb_same”; each needs its own, or none.",
        "Two": "2 pages have the UID “tb_same”; each needs its own, or none.",
        "Nowhere": "It does not say how far it reaches; choose profile, datespan or session as its scope.",
        "Two ends": "It has two last days, 2026-01-31 and 2026-02-28.",
        "Links": None,
    }
    links = rows[-1]
    assert links.notes == (
        "A topic of it is not there any more.",
        "It takes the place of 1 that are not there any more.",
    )
    assert (links.fields["topics"], links.fields["supersedes_uids"]) == (
        [],
        ["notion_0000000000000000000000000000dead"],
    )
    assert links.fields["uid"] == f"notion_{links.where.removeprefix('page ')}"


async def test_patient_with_limits_and_failures() -> None:
    """After 429 the client waits as requested, in seconds or until a date; 5xx and broken connections are retried."""
    tb = TbDatabases()
    tb.constraint("Gym")
    limited = Failure(429, "rate_limited", (("retry-after", "7"),))
    dated = Failure(429, "rate_limited", (("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"),))
    bad = [
        limited,
        dated,
        Failure(503, "service_unavailable"),
        None,
        Failure(cut=True),
        Failure(502, body="<html>"),
        None,
    ]
    async with notion_server(*tb.tables) as server:
        server.failures = iter(bad)
        pauses: list[float] = []
        rows = await read(server, pauses=pauses)
        assert ([row.name for row in rows], pauses) == (["Gym"], [7.0, 0.0, 4.0, 1.0, 2.0])
        server.failures = iter([limited] * 50)
        with pytest.raises(SourceUnavailable) as caught:
            await read(server)
        assert (caught.value.message, caught.value.retry_after) == ("Notion asks for fewer requests; try later.", 7.0)
        server.failures = iter([Failure(200, body="[]")])
        with pytest.raises(SourceUnavailable) as caught:
            await read(server)
        assert caught.value.message == "What answered is not Notion."
    with pytest.raises(SourceUnavailable) as caught:
        await read(server)
    assert caught.value.message == "I cannot reach Notion just now. Run it again in a while; nothing is moved twice."


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (Failure(400, "validation_error"), "Notion refused the request (status 400)."),
        (Failure(403, "restricted_resource"), "This integration may not read content; allow it in the integration's settings."),
        (Failure(200, body="<html>"), "What answered is not Notion; look at FATEFORGER_NOTION_URL."),
    ],
)  # fmt: skip
async def test_refusals_are_not_repeated(failure: Failure, message: str) -> None:
    async with notion_server(*TbDatabases().tables) as server:
        server.failures = iter([failure])
        with pytest.raises((BadInput, SourceUnavailable)) as caught:
            await read(server)
        assert (caught.value.message, len(server.asked)) == (message, 1)


async def test_the_token_is_in_no_text(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The token is neither in the refusal nor in any log, even when the server repeats it."""
    caplog.set_level("DEBUG")
    async with notion_server(*TbDatabases().tables) as server:
        said = [await expect_refusal(server, token="ntn_wrong_0123456789abcdefghij")]
        server.failures = iter([Failure(400, "validation_error")])
        with pytest.raises(SourceUnavailable) as caught:
            await read(server)
    said += [caught.value.message, caplog.text, *capsys.readouterr()]
    assert [text for text in said if "ntn_" in text] == []
    assert said[0] == "Notion does not accept this token; copy it again into NOTION_TOKEN."


async def test_databases_are_found_or_named() -> None:
    """By title; by id or address of a database or a data source; never one of two."""
    tb = TbDatabases()
    tb.constraint("Gym")
    twin = table(9, "TB Constraints", tb.constraints.schema)
    own = "https://www.notion.so/me/Rules-" + tb.constraints.database_id.replace("-", "") + "?v=" + "a" * 32
    async with notion_server(*tb.tables) as server:
        tb.events.shared = False
        assert [row.name for row in await read(server)] == ["Gym"]
        tb.windows.shared = False
        assert await expect_refusal(server) == (
            "I do not find the database “TB Constraint Windows” in Notion. Share it with the integration (in Notion: ••• on"
            " its page, Connections), or name it with --database windows=ADDRESS; if you never had one, --database windows=none."
        )
        without = ("windows", "none")
        assert [row.name for row in await read(server, databases=[without])] == ["Gym"]
        server.tables.append(twin)
        assert await expect_refusal(server, databases=[without]) == (
            "There are 2 databases called “TB Constraints”; say which one: --database constraints=ID, with one of"
            f" {tb.constraints.source_id}, {twin.source_id}."
        )
        for given in (own, tb.constraints.source_id):
            assert [row.name for row in await read(server, databases=[without, ("constraints", given)])] == ["Gym"]
        tb.constraints.more_sources = [{"id": twin.source_id, "name": "Old rules"}]
        assert [row.name for row in await read(server, databases=[without, ("constraints", own)])] == ["Gym"]
        tb.constraints.more_sources = [{"id": twin.source_id, "name": "TB Constraints"}]
        assert (await expect_refusal(server, databases=[without, ("constraints", own)])).startswith(
            "That database has several"
        )
        assert await expect_refusal(server, databases=[("rules", own)]) == (
            "“rules” is no database I read; use one of constraints, windows, topics, events."
        )
        assert await expect_refusal(server, databases=[("windows", "my notes")]) == (
            "“my notes” is no id or address of a Notion database."
        )


def rename_property(tb: TbDatabases, old: str, new: str) -> None:
    tb.constraints.schema = {new if title == old else title: kind for title, kind in tb.constraints.schema.items()}
    for page in tb.constraints.pages:
        page.properties = {new if title == old else title: value for title, value in page.properties.items()}


def _as_it_is(_: TbDatabases) -> None: ...


def _other_case(tb: TbDatabases) -> None:
    rename_property(tb, "TTL Days", "ttl days")


def _own_title(tb: TbDatabases) -> None:
    rename_property(tb, "Name", "Regel")


@pytest.mark.parametrize("change", [_as_it_is, _other_case, _own_title])
async def test_columns_that_are_recognised(change: Callable[[TbDatabases], None]) -> None:
    """The spelling of a column may differ in case, and the title column may have any name."""
    tb = TbDatabases()
    tb.constraint("Gym", **{"TTL Days": 7})
    change(tb)
    async with notion_server(*tb.tables) as server:
        [row] = await read(server)
    assert (row.name, row.fields["ttl_days"]) == ("Gym", 7)


async def test_a_renamed_column_is_named() -> None:
    """The message gives the column, the option for its new name, the candidates, and the columns that do not exist."""
    tb = TbDatabases()
    tb.constraint("Gym", **{"TTL Days": 7})
    rename_property(tb, "TTL Days", "Lives")
    tb.topics.schema.pop("Description")
    async with notion_server(*tb.tables) as server:
        assert await expect_refusal(server) == (
            "“TB Constraints” has no column “TTL Days”. If it goes by another name, say so: --column ttl_days=NAME; if there"
            " is none, --column ttl_days= leaves it out. I do not know “Lives”."
        )
        assert (await read(server, columns=[("ttl_days", "lives")]))[0].fields["ttl_days"] == 7
        assert "ttl_days" not in (await read(server, columns=[("ttl_days", "")]))[0].fields
        said = await expect_refusal(server, columns=[("ttl_days", "Life")])
        assert said.startswith("“TB Constraints” has no column “Life”; it has “Applies Event Types”, ")
        assert (await expect_refusal(server, columns=[("ttl", "Lives")])).startswith(
            "“ttl” is nothing I look for; use one of name,"
        )
        tb.windows.schema["From"] = tb.windows.schema.pop("Start Time (local)")
        said = await expect_refusal(server, columns=[("ttl_days", "Lives")])
        assert said.startswith("“TB Constraint Windows” has no column “Start Time (local)”.")
        assert "--column windows.start=NAME" in said
        found = await read(server, columns=[("ttl_days", "Lives"), ("windows.start", "From")])
        assert [row.name for row in found] == ["Gym"]


async def test_a_broken_log_of_events_stops_nobody() -> None:
    """It only explains."""
    tb = TbDatabases()
    tb.constraint("Gym")
    tb.events.schema.pop("User Utterance")
    async with notion_server(*tb.tables) as server, source(server) as found:
        assert [row.name async for row in found.rows()] == ["Gym"]
        [sentence] = await found.list_omissions()
    assert sentence.startswith("The log of events was left out: “TB Constraint Events” has no column “User Utterance”.")
