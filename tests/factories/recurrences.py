"""Events whose recurrence is a trap for any program that expands it."""

from __future__ import annotations

from datetime import date, timedelta

_HOURS = "BYHOUR=" + ",".join(map(str, range(24)))
_MINUTES = "BYMINUTE=" + ",".join(map(str, range(60)))
_SECONDS = "BYSECOND=" + ",".join(map(str, range(60)))
_DAYS = [f"{date(2020, 1, 1) + timedelta(days=n):%Y%m%d}" for n in range(139)]
_DATES = ",".join(f"{_DAYS[n // 1440]}T{n // 60 % 24:02}{n % 60:02}00Z" for n in range(200_000))
"""So many that a fast machine takes more than its second, too."""

EACH_MINUTE = f"RRULE:FREQ=DAILY;{_HOURS};{_MINUTES}"
"""Took 43 seconds of the event loop."""
NEVER = "RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"
"""Looks for the thirtieth of February until the year 9999, second by second."""
TRAPS = {
    "each minute": EACH_MINUTE,
    "each second": f"RRULE:FREQ=DAILY;{_HOURS};{_MINUTES};{_SECONDS}",
    "minutely": "RRULE:FREQ=MINUTELY",
    "never": NEVER,
    "never, hourly": "RRULE:FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
    "no step": "RRULE:FREQ=DAILY;INTERVAL=0",
    "dates": f"RDATE:{_DATES}",
    "many rules": "\r\n".join(f"RRULE:FREQ=MINUTELY;INTERVAL={n}" for n in range(1, 51)),
}
ZONE_OF_SECONDS = (
    "BEGIN:VTIMEZONE\r\nTZID:Trap\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\n"
    "TZOFFSETTO:+0200\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE"
)


def series(uid: str, title: str, *lines: str, start: str = ":20200101T080000Z", zone: str = "") -> str:
    """Return a calendar object of five minutes from 2020 on, as another program writes it."""
    whole = (
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//somebody else//EN", *([zone] if zone else []), "BEGIN:VEVENT",
        f"UID:{uid}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{title}", f"DTSTART{start}", "DURATION:PT5M", *lines,
        "END:VEVENT", "END:VCALENDAR",
    )  # fmt: skip
    return "\r\n".join(whole) + "\r\n"
