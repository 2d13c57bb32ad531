from __future__ import annotations

import icalendar
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caldav_mcp.content_lines import Component, read_lines, text_line, unfold, write_lines
from caldav_mcp.private_values import PRIVATE, merge_properties, read_properties

EVENT = Component("VEVENT", ("UID:x", "SUMMARY:Old", Component("VALARM", ("TRIGGER:-PT5M",))))
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]))


def parse_event(event: Component) -> icalendar.Component:
    text = write_lines(Component("VCALENDAR", ("VERSION:2.0", event)))
    return icalendar.Calendar.from_ical(text).walk("VEVENT")[0]


@given(PRINTABLE)
def test_text_is_read_back_as_it_was(text: str) -> None:
    event = EVENT.having([text_line("SUMMARY", f"{text}\nend")])
    assert str(parse_event(event)["SUMMARY"]) == f"{text}\nend"


@given(PRINTABLE)
def test_lines_are_folded_at_75_octets_and_unfolded_again(text: str) -> None:
    event = Component("VEVENT", (f"X-LONG:{text.replace(chr(10), '')}",))
    written = write_lines(event)
    assert max(len(line.encode()) for line in written.split("\r\n")) <= 75
    assert read_lines(written) == event


def test_control_characters_are_left_out_of_text() -> None:
    assert text_line("SUMMARY", "a\x00b\x1bc\td\r\ne\rf\ud800") == "SUMMARY:abc\td\\ne\\nf?"


def test_other_lines_stay_in_their_places() -> None:
    odd = ("UID:x", 'X-ODD;P="a;b:c":v\\,;w', "SUMMARY:Old", "x-lower:kept", EVENT.components[0])
    changed = Component("VEVENT", odd).having(["SUMMARY:New"])
    assert changed.parts == ("UID:x", 'X-ODD;P="a;b:c":v\\,;w', "x-lower:kept", "SUMMARY:New", EVENT.components[0])


def test_names_are_matched_whatever_their_case() -> None:
    assert Component("VEVENT", ("summary;LANGUAGE=de:Alt",)).having(["SUMMARY:Neu"]).parts == ("SUMMARY:Neu",)


def test_bare_newlines_and_tabs_fold_too() -> None:
    assert unfold("A:1\n 2\n\t3\r\nB:4\n") == ["A:123", "B:4"]


@pytest.mark.parametrize("text", ["BEGIN:VEVENT\nEND:VALARM", "BEGIN:VEVENT", "END:VEVENT", "UID:x", ""])
def test_what_is_not_one_calendar_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unexpected|not one"):
        read_lines(text)


KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=44)
VALUES = st.text(st.characters(codec="utf-8"), max_size=1024)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.dictionaries(KEYS, VALUES, max_size=5))
def test_private_properties_hold_anything_and_merge_key_by_key(one: dict[str, str], other: dict[str, str]) -> None:
    event = merge_properties(merge_properties(EVENT, PRIVATE, one), PRIVATE, other)
    assert read_properties(parse_event(event), PRIVATE) == one | other


def test_keys_over_44_characters_are_dropped_and_values_cut_at_1024() -> None:
    event = merge_properties(EVENT, PRIVATE, {"k" * 44: "v" * 1025, "k" * 45: "v"})
    assert read_properties(parse_event(event), PRIVATE) == {"k" * 44: "v" * 1024}
