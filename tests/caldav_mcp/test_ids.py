from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caldav_mcp.errors import ToolError
from caldav_mcp.ids import (
    check_new_id,
    id_of,
    instance_id,
    is_hashed,
    is_legal,
    new_id,
    split_instance,
    uid_of,
)

LEGAL = st.text("abcdefghijklmnopqrstuv0123456789", min_size=5, max_size=60)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=80))
def test_every_uid_has_a_legal_id_that_leads_back_to_it(uid: str) -> None:
    assert is_legal(id_of(uid))
    assert uid_of(id_of(uid)) == uid


@given(LEGAL)
def test_every_legal_id_stands_for_a_uid_that_has_it(event_id: str) -> None:
    assert id_of(uid_of(event_id)) == event_id


@given(LEGAL.map("cdv".__add__))
def test_so_do_ids_that_look_derived(event_id: str) -> None:
    assert id_of(uid_of(event_id)) == event_id


@given(LEGAL)
def test_ids_derived_from_derived_ids_stay_apart(event_id: str) -> None:
    derived = id_of(f"{event_id}-")
    assert id_of(derived) != derived
    assert uid_of(id_of(derived)) == derived


def test_the_derivation_is_what_the_documentation_says() -> None:
    assert id_of("planfocus00001") == "planfocus00001"
    assert id_of("5D1C3A4E-1") == "cdv6l232gpj84q4ab9h"
    assert id_of("ABC") == "cdv85146"


def test_a_uid_too_long_to_encode_is_hashed() -> None:
    longest, longer = "U" * 638, "U" * 639
    assert len(id_of(longest)) == 1024
    assert uid_of(id_of(longest)) == longest
    assert len(id_of(longer)) == 55
    assert (is_hashed(id_of(longer)), is_hashed(id_of(longest))) == (True, False)
    assert id_of(id_of(longer)) == id_of(longer)


def test_new_ids_are_legal_and_different() -> None:
    assert is_legal(new_id())
    assert new_id() != new_id()


@pytest.mark.parametrize(
    ("event_id", "reasons"),
    [
        ("abcd", "must be at least 5 characters long"),
        ("a" * 1025, "must not exceed 1024 characters"),
        ("Plan-work", "can only contain lowercase letters a-v and digits 0-9 (base32hex encoding)"),
        (
            "wxy",
            "must be at least 5 characters long, can only contain lowercase letters a-v and digits 0-9 (base32hex encoding)",
        ),
    ],
)
def test_illegal_ids_are_refused_with_the_reasons(event_id: str, reasons: str) -> None:
    with pytest.raises(ToolError) as refusal:
        check_new_id(event_id)
    assert str(refusal.value) == f"MCP error -32603: Internal error: Invalid event ID: {reasons}"


def test_ids_at_the_limits_are_fine() -> None:
    check_new_id("abcde")
    check_new_id("v" * 1024)


def test_an_occurrence_is_named_by_its_series_and_its_start() -> None:
    assert instance_id("standup", datetime(2027, 3, 8, 8, tzinfo=UTC)) == "standup_20270308T080000Z"
    assert instance_id("holiday", date(2027, 3, 8)) == "holiday_20270308"
    assert split_instance("standup_20270308T080000Z") == ("standup", "20270308T080000Z")
    assert split_instance("holiday_20270308") == ("holiday", "20270308")
    assert split_instance("standup") == ("standup", None)
