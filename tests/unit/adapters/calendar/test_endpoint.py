"""The address of a server, and the names that it may have."""

from __future__ import annotations

import pytest

from fateforger.adapters.calendar.calendars import open_mcp_calendar
from fateforger.adapters.calendar.connection import CommandEndpoint, HttpEndpoint, read_endpoint
from fateforger.errors import BadInput


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/mcp"),
        (" https://Calendar.example.com/mcp ", "https://calendar.example.com/mcp"),
        ("https://me:secret@example.com/mcp?token=secret#x", "https://example.com/mcp"),
    ],
)
def test_a_url_and_its_name(text: str, name: str) -> None:
    endpoint = read_endpoint(text)
    assert endpoint == HttpEndpoint(text.strip())
    assert (endpoint.name, endpoint.describe()) == (name, f"the calendar server at {name}")


def test_a_command_line_and_its_name() -> None:
    endpoint = read_endpoint("/usr/bin/npx -y '@cocal/google-calendar-mcp' --token secret")
    assert endpoint == CommandEndpoint("/usr/bin/npx", ("-y", "@cocal/google-calendar-mcp", "--token", "secret"))
    assert endpoint.describe() == "the calendar server “npx”"
    assert "secret" not in endpoint.name
    assert endpoint.name != read_endpoint("/usr/bin/npx -y another-server").name
    assert endpoint.name == read_endpoint("/usr/bin/npx -y '@cocal/google-calendar-mcp' --token secret").name


@pytest.mark.parametrize(
    "text",
    ["", "   ", "ftp://example.com/mcp", "http:///mcp", "http://example.com:port/mcp", "http://[::1/mcp", "npx 'x"],
)
def test_what_is_neither(text: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_endpoint(text)
    assert raised.value.where == "calendar_url"


URL = "http://127.0.0.1:3000/mcp"


def test_the_key_of_a_calendar() -> None:
    keys = [
        open_mcp_calendar(URL, time_zone="UTC").key,
        open_mcp_calendar(URL, time_zone="UTC", account="work").key,
        open_mcp_calendar(URL, time_zone="UTC", calendar_id="team@example.com", account="work").key,
        open_mcp_calendar(URL, time_zone="UTC", key="local").key,
        open_mcp_calendar(URL, time_zone="UTC", key="local").for_calendar("team@example.com").key,
    ]
    assert keys == [
        f"{URL}#primary",
        f"{URL}#work:primary",
        f"{URL}#work:team@example.com",
        "local",
        f"{URL}#team@example.com",
    ]


def test_bad_settings() -> None:
    with pytest.raises(BadInput, match="Moon/Sea") as raised:
        open_mcp_calendar(URL, time_zone="Moon/Sea")
    assert raised.value.where == "time_zone"
    with pytest.raises(BadInput) as raised:
        open_mcp_calendar(URL, time_zone="UTC", calendar_id=" ")
    assert raised.value.where == "calendar_id"
