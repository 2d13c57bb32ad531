"""Changes that a server makes to an event are distinguished from those of another program."""

from __future__ import annotations

import pytest

from caldav_mcp.later_changes import is_overtaken
from caldav_mcp.objects import Resource

SENT = (
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:abcde", "DTSTAMP:20260302T080000Z",
    "DTSTART;TZID=Europe/Berlin:20260302T090000", "DTEND;TZID=Europe/Berlin:20260302T100000", "SUMMARY:Write & think",
    r"DESCRIPTION:first\nsecond", "ATTENDEE:mailto:Anna@example.com", "END:VEVENT", "END:VCALENDAR",
)  # fmt: skip


def make_resource(*pairs: tuple[str, str]) -> Resource:
    text = "\n".join(SENT)
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return Resource("/a.ics", "", text)


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        (("DTSTAMP:20260302T080000Z", "DTSTAMP:20260302T080001Z\nLAST-MODIFIED:20260302T080001Z\nSEQUENCE:3"),),
        ((r"first\nsecond", "<p>first<br/>second</p>"), ("& think", "&amp; think")),
        ((";TZID=Europe/Berlin:20260302T090000", ":20260302T080000Z"),),
        (("END:VEVENT", "TRANSP:OPAQUE\nX-SERVER-SEEN:yes\nEND:VEVENT"),),
        (("mailto:Anna@", "MAILTO:anna@"), ("UID", "ORGANIZER:mailto:me@example.com\nUID")),
    ],
    ids=["as it was", "stamps", "html", "zone", "defaults", "guests"],
)
def test_what_a_server_does_is_no_change(pairs: tuple[tuple[str, str], ...]) -> None:
    assert not is_overtaken(make_resource(), make_resource(*pairs))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("& think", "& sleep"),
        ("second", "third"),
        ("T100000", "T103000"),
        ("mailto:Anna", "mailto:ben"),
        ("END:VEVENT", "LOCATION:Hall\nEND:VEVENT"),
        ("END:VEVENT", "RRULE:FREQ=DAILY\nEND:VEVENT"),
        ("END:VEVENT", "COLOR:gold\nEND:VEVENT"),
        ("END:VEVENT", "URL:https://example.com/1\nEND:VEVENT"),
        ("END:VEVENT", "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT5M\nEND:VALARM\nEND:VEVENT"),
    ],
)
def test_what_a_person_does_is_a_change(old: str, new: str) -> None:
    assert is_overtaken(make_resource(), make_resource((old, new)))
