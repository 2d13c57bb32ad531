"""Zones of Windows and of IANA, both ways."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest
from babel.core import get_global
from tests.emulators.microsoft.mailbox import WINDOWS

from fateforger.adapters.microsoft.wire import format_moment, parse_moment, to_iana, to_windows

NOT_IN_WINDOWS = {"Antarctica/Troll", "Factory", "localtime"}


def test_every_zone_of_windows_has_one_of_iana() -> None:
    """The same as in Babel, which has the main zones of CLDR, too, though some by an older name."""
    for windows, iana in get_global("windows_zone_mapping").items():
        assert to_windows(str(to_iana(windows))) == windows
        assert to_windows(iana) == windows


def test_a_zone_newer_than_the_table_is_read() -> None:
    """S314: Outlook may give an event the zones that three provinces got in 2026."""
    at = datetime(2026, 7, 1, 16, tzinfo=UTC)
    assert parse_moment("2026-07-01T10:00:00", "Alberta Standard Time") == at
    assert parse_moment("2026-07-01T11:00:00", "Manitoba Standard Time") == at
    assert parse_moment("2026-07-01T09:00:00", "British Columbia Standard Time") == at


def test_every_zone_of_iana_has_one_of_windows() -> None:
    assert {name for name in available_timezones() if to_windows(name) is None} <= NOT_IN_WINDOWS


@pytest.mark.parametrize(("windows", "iana"), WINDOWS.items())
def test_zones_go_there_and_back(windows: str, iana: str) -> None:
    assert to_windows(iana) == windows
    assert to_windows(str(to_iana(windows))) == windows


def test_names_that_graph_also_writes() -> None:
    assert to_iana("Europe/Amsterdam") == "Europe/Amsterdam"
    assert to_iana("tzone://Microsoft/Custom") is None
    with pytest.raises(ValueError, match="Custom"):
        parse_moment("2026-03-02T09:00:00.0000000", "tzone://Microsoft/Custom")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Antarctica/Troll", "Australia/Lord_Howe", "UTC", "Asia/Kolkata"])
@pytest.mark.parametrize("hour", range(0, 24, 3))
@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25", "2026-04-05", "2026-07-01"])
def test_instants_go_there_and_back(zone: str, day: str, hour: int) -> None:
    """S231"""
    moment = datetime.fromisoformat(f"{day}T{hour:02d}:30:00Z")
    written = format_moment(moment, zone)
    assert parse_moment(written["dateTime"], written["timeZone"]) == moment.astimezone(UTC)
