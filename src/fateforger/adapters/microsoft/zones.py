"""Time zones of Windows and of IANA. Graph writes the former and accepts both.

The table comes from CLDR; the head of ``windows_zones.txt`` names the release.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@cache
def _load_table() -> tuple[dict[str, str], dict[str, str]]:
    """Return the IANA zone of each Windows zone, and the Windows zone of each IANA zone."""
    text = (files("fateforger.adapters.microsoft") / "windows_zones.txt").read_text(encoding="utf-8")
    rows = [line.split(": ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    members = [(windows, names.split()) for windows, names in rows]
    return (
        {windows: names[0] for windows, names in members},
        {name: windows for windows, names in members for name in names},
    )


def to_windows(name: str) -> str | None:
    """Return the Windows zone of an IANA zone, if there is one."""
    return _load_table()[1].get(name)


def to_iana(name: str) -> str | None:
    """Return the IANA zone of a name as Graph writes it; ``None`` for a custom zone of an old Outlook."""
    if (found := _load_table()[0].get(name)) is not None:
        return found
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def format_moment(moment: datetime, time_zone: str) -> dict[str, str]:
    """Return an instant as Graph takes it: as a clock shows it in the person's zone, or in UTC.

    It is UTC where Windows has no such zone, and for a time that a clock shows twice, which would be ambiguous.
    """
    windows = to_windows(time_zone)
    local = moment.astimezone(ZoneInfo(time_zone)).replace(microsecond=0)
    if windows is None or local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset():
        windows, local = "UTC", moment.astimezone(UTC).replace(microsecond=0)
    return {"dateTime": local.replace(tzinfo=None, fold=0).isoformat(), "timeZone": windows}


def parse_moment(written: str, time_zone: str) -> datetime:
    """Return the instant of a time as Graph writes it. Raises ``ValueError``."""
    zone = to_iana(time_zone)
    if zone is None:
        raise ValueError(f"the time zone {time_zone[:60]!r} is unknown")
    moment = datetime.fromisoformat(written)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
