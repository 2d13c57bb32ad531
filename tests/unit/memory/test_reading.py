"""Documents in and out: lossless, strict, one sentence a mistake (S8-S13, S30)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.factories.constraints import context_of, line_of, record_of, version_of

from fateforger.errors import BadInput
from fateforger.memory.applicability import decide_applicability
from fateforger.memory.documents import (
    read_context,
    read_record,
    read_version,
    write_answer,
    write_record,
    write_version,
)

WHOLE = record_of(
    "tb_1",
    name="Buiten vergaderen 🌳",
    description="Vergaderingen het liefst na 10 uur\u2028en nooit op vrijdag",
    necessity="must",
    status="proposed",
    source="feedback",
    scope="datespan",
    confidence=0.75,
    topics=["meetings", "work"],
    start_date="2026-01-01",
    end_date="2026-12-31",
    days_of_week=["MO", "TH"],
    timezone="Europe/Amsterdam",
    recurrence="FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
    rule_kind="avoid_window",
    scalar_params={"duration_min": 30, "duration_max": 90, "contiguity": "prefer", "unknown_yet": 3},
    windows=[{"kind": "avoid", "start_time_local": "00:00", "end_time_local": "10:00"}],
    supersedes_uids=["tb_0"],
    ttl_days=30,
    applies_stages=["SKELETON", "Refine"],
    applies_event_types=["M", "C"],
    aspect_classification={
        "aspect_id": "meetings",
        "category": "work",
        "conditional_on_absent": ["holiday"],
        "schedule_start": "10:00",
    },
)


def test_a_whole_record_comes_back_as_it_was() -> None:
    """S8-S13: every field of the shape, and nothing added."""
    text = json.dumps(WHOLE)
    assert write_record(read_record(json.loads(text))) == WHOLE
    assert read_record(write_record(read_record(WHOLE))) == read_record(WHOLE)


def test_a_short_record_comes_back_short() -> None:
    """S3: missing fields have their defaults (scope session) and are not written."""
    short: dict[str, Any] = {"name": "No calls", "lifecycle": {"uid": "x"}}
    record = read_record(short)
    assert (record.scope, record.necessity, record.status, record.source) == ("session", "should", "proposed", "user")
    assert write_record(record) == short


def test_other_spellings_are_understood() -> None:
    """Programs write other forms besides the usual one."""
    record = read_record(
        {
            "name": "Gym",
            "applicability": {"days_of_week": ["tu", "TU"]},
            "payload": {"windows": [{"kind": "prefer", "start": "22:30", "end": "24:00"}]},
            "routing": {"applies_stages": ["REFINE"], "applies_event_types": ["dw"]},
        }
    )
    assert write_record(record) == {
        "name": "Gym",
        "applicability": {"days_of_week": ["TU"]},
        "payload": {"windows": [{"kind": "prefer", "start_time_local": "22:30", "end_time_local": "00:00"}]},
        "applies_stages": ["REFINE"],
        "applies_event_types": ["DW"],
    }


def test_a_record_without_uid_gets_the_one_that_follows_from_it() -> None:
    """S5, S6."""
    line = line_of(None, name="No calls", rule_kind="avoid_window")
    assert read_version(line).uid == read_version(line).uid
    assert read_version(line).uid.startswith("tb_")


def test_a_line_needs_little() -> None:
    version = read_version({"user_id": "U1", "constraint_record": WHOLE, "updated_at": "2026-01-01T10:00:00+01:00"})
    assert write_version(version) == {
        "user_id": "U1",
        "constraint_record": WHOLE,
        "created_at": "2026-01-01T09:00:00+00:00",
        "updated_at": "2026-01-01T09:00:00+00:00",
        "event": {"action": "upsert", "reason": None},
        "session_id": None,
    }


@pytest.mark.parametrize(
    ("change", "message", "where"),
    [
        ({"necessity": "shall"}, "“necessity” cannot be used: input should be 'must', 'should' or 'prefer'.", "necessity"),
        ({"confidence": 1.2}, "“confidence” has to be 1 or less.", "confidence"),
        ({"applies_stages": ["NEXT"]}, "“NEXT” is not a stage; use one of DATE, COLLECT, CAPTURE, SKELETON, REFINE, REVIEW.", "applies_stages[0]"),
        ({"start_date": "2026-02-02", "end_date": "2026-02-01"}, "It would end on 2026-02-01, before it begins on 2026-02-02.", "applicability"),
        ({"timezone": "Mars/Base"}, "“Mars/Base” is not a time zone I know; use an IANA name such as Europe/Amsterdam.", "applicability.timezone"),
        ({"recurrence": "FREQ=HOURLY"}, "A recurrence says how often: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY.", "applicability.recurrence"),
        ({"ttl_days": -1}, "“ttl_days” has to be 0 or more.", "lifecycle.ttl_days"),
        ({"scalar_params": {"duration_min": 60, "duration_max": 30}}, "At least 60 and at most 30 minutes cannot both be met.", "payload.scalar_params"),
        ({"windows": [{"kind": "avoid", "start": "25:00", "end": "10:00"}]}, "“25:00” is not a time of day; write it like 09:30.", "payload.windows[0].start"),
        ({"windows": [{"kind": "avoid", "start": "09:00+01:00", "end": "10:00"}]}, "“09:00+01:00” has an offset; the zone of a window is applicability.timezone.", "payload.windows[0].start"),
        ({"rational": "x"}, "“rational” is not a field I know here.", "rational"),
        ({"name": ""}, "“name” is empty.", "name"),
    ],
)  # fmt: skip
def test_each_mistake_gets_one_sentence_and_its_place(change: dict[str, Any], message: str, where: str) -> None:
    line = line_of(**change)
    with pytest.raises(BadInput) as caught:
        read_version(line)
    assert (caught.value.message, caught.value.where) == (message, f"constraint_record.{where}")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "A constraint is a JSON object with user_id, constraint_record and updated_at."),
        ({"user_id": "U1", "constraint_record": WHOLE}, "“updated_at” is missing."),
        ({**line_of(), "updated_at": "2026-01-01T10:00:00"}, "An instant needs an offset, like 2026-03-02T09:00:00Z."),
        ({**line_of(), "user_id": None}, "“user_id” cannot be used: input should be a valid string."),
        ({**line_of(), "event": {"action": "erase"}}, "“action” cannot be used: input should be 'upsert', 'update', 'decline', 'archive' or 'supersede'."),
    ],
)  # fmt: skip
def test_a_line_that_is_none(document: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_version(document)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("U1", "A context is a JSON object with at least user_id, and as_of or now."),
        ({"user_id": "U1"}, "Say which day it is about: as_of, or now with timezone."),
        ({"user_id": "U1", "as_of": "2026-03-03", "k": -1}, "“k” has to be 0 or more."),
        ({"user_id": "U1", "as_of": "2026-03-03", "event_types": ["DEEP"]}, "“event_types[0]” cannot be used: input should be 'M', 'C', 'DW', 'SW', 'PR', 'H', 'R', 'BU' or 'BG'."),
        ({"user_id": "U1", "as_of": "2026-03-03", "untill": 1}, "“untill” is not a field I know here."),
    ],
)  # fmt: skip
def test_a_context_that_is_none(document: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_context(document)
    assert caught.value.message == message


def test_null_means_not_given() -> None:
    absent = dict.fromkeys(
        (
            "stage",
            "now",
            "timezone",
            "event_types",
            "session_id",
            "type_ids",
            "k",
            "situation",
            "topics",
            "suppressed_uids",
        )
    )
    assert read_context({"user_id": "U1", "as_of": "2026-03-03", **absent}) == context_of()


def test_the_result_document() -> None:
    """The contract of ``constraints query``."""
    answer = decide_applicability([version_of("a"), version_of("b", end_date="2026-01-01")], context_of())
    applies = {
        "constraints": [
            {
                "uid": "a",
                "constraint_record": record_of("a"),
                "reasons": ["It should be kept; you confirmed it.", "It holds on 3 March 2026."],
            }
        ]
    }
    excluded = [{"uid": "b", "reason": "It ended on 1 January 2026.", "why": "over"}]
    assert write_answer(answer) == {**applies, "excluded": excluded}


@pytest.mark.parametrize(
    ("status", "reason", "event"),
    [
        ("declined", "superseded by new", {"action": "archive", "reason": "superseded by new"}),
        ("declined", "by new", {"action": "archive", "reason": "superseded: by new"}),
        ("declined", None, {"action": "archive", "reason": "superseded"}),
        ("locked", " ", {"action": "update", "reason": "superseded"}),
    ],
)
def test_superseding_is_told_in_words_that_every_reader_knows(status: str, reason: str | None, event: Any) -> None:
    """An import knows upsert, update, decline and archive; what applies is the same, chains included (A4)."""
    b = version_of("b", supersedes_uids=["a"], status=status, event={"action": "supersede", "reason": reason})
    line = write_version(b)
    assert (line["event"], write_version(read_version(line))) == (event, line)
    rest = [version_of("a"), version_of("c", supersedes_uids=["b"], start_date="2099-01-01")]
    answers = [decide_applicability([*rest, version], context_of()) for version in (b, read_version(line))]
    assert [[item.uid for item in answer.applicable] for answer in answers] == [["b"] if status == "locked" else []] * 2
    one, other = ([(out.uid, out.why) for out in answer.excluded] for answer in answers)
    assert one == other
