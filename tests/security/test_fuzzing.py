"""S380: fuzzing of everything that reads a text or a document: each input is read, or refused with one of our own errors.

``HYPOTHESIS_PROFILE=long pytest tests/security/test_fuzzing.py`` looks for longer.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.recurrences import series
from tests.security.checks import refusal

from caldav_mcp.objects import Resource
from caldav_mcp.recurrence import is_plain
from fateforger.cli.documents import parse_json
from fateforger.cli.plan import check_plan
from fateforger.conversation.language.model_calls import extract_json
from fateforger.drafting.instance import read_instance
from fateforger.memory.documents import read_record
from fateforger.planning.wire import apply_tb_ops, read_patch, read_plan, to_wire, write_patch, write_plan
from fateforger.slack.mrkdwn import parse_typed, split, to_mrkdwn
from fateforger.ui.form_values import parse_clock, parse_minutes, parse_task_line, parse_windows
from fateforger.workflow.definition import read_workflow
from fateforger.workflow.parser import read_rule
from fateforger.workflow.rules import declare_names

FEW = examples(60)
ODD = st.sampled_from(
    [
        "\x00",
        "\u202e",
        "\ufeff",
        "٣",
        "½",
        "9" * 400,
        "-1",
        "1e999",
        "2026-02-30",
        "9999-12-31",
        "24:00",
        "PT25H",
        "[",
        "*a",
        "&a",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | ODD
ANYTHING = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=6) | ODD, part, max_size=4), max_leaves=8
)  # fmt: skip
DOCUMENTS: dict[str, Any] = {
    "plan": {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "events": [
            {"n": "Call", "d": "", "t": "M", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}, "key": "k1"},
            {"n": "Work", "t": "DW", "p": {"a": "ap", "dur": "PT1H"}},
            {"n": "Walk", "t": "H", "p": {"a": "fw", "st": "18:00", "et": "2026-03-02T19:00"}},
        ],
    },
    "patch": {
        "ops": [
            {"op": "ae", "after": 0, "events": [{"n": "x", "t": "SW", "p": {"a": "ap", "dur": "PT5M"}}]},
            {"op": "re", "i": 1},
            {"op": "ue", "i": 0, "n": "y", "p": {"a": "fs", "st": "10:00", "dur": "PT1H"}},
            {"op": "me", "fr": 0, "to": 1},
        ]
    },
    "instance": {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "18:00"},
        "tasks": [{"id": "a", "title": "Report", "minutes": 60, "after": ["b"], "deadline": "17:00"}, {"id": "b", "title": "Mail"}],
        "immovables": [{"title": "Standup", "start": "09:30", "end": "10:00"}],
    },
    "record": {
        "name": "No calls",
        "necessity": "must",
        "applicability": {"days_of_week": ["MO"], "timezone": "Europe/Amsterdam", "recurrence": "FREQ=WEEKLY;BYDAY=MO"},
        "payload": {"windows": [{"kind": "avoid", "start": "09:00", "end": "10:00"}], "day_rule": "BEFORE deep_work: admin"},
    },
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a JSON value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


@st.composite
def draw_spoiled(draw: st.DrawFn, name: str) -> Any:
    """Return the document with one or two of its parts replaced by anything."""
    document = copy.deepcopy(DOCUMENTS[name])
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(list(places(document))))
        part = document
        for step in way:
            part = part[step]
        part[last] = draw(ANYTHING)
    return document


@pytest.mark.attack("plans", "fuzzing of the wire form", "-", "mended")
@FEW
@given(draw_spoiled("plan") | ANYTHING)
def test_plans(document: Any) -> None:
    """A plan that was read is the same after it is written and read again."""
    refusal(lambda: check_plan(document))
    if refusal(lambda: read_plan(document)) is None:
        plan = read_plan(document)
        assert read_plan(json.loads(json.dumps(write_plan(plan)))) == plan


@pytest.mark.attack("patches", "fuzzing of the wire form", "-", "held")
@FEW
@given(draw_spoiled("patch") | ANYTHING)
def test_patches(document: Any) -> None:
    """An applied patch can be undone."""
    plan = read_plan(DOCUMENTS["plan"])

    def apply() -> None:
        result = apply_tb_ops(plan, read_patch(document))
        back = write_patch(to_wire(result.plan, result.inverse))
        assert apply_tb_ops(result.plan, read_patch(back)).plan == plan

    refusal(apply)


@pytest.mark.attack("files on the command line", "fuzzing of instances and of rules", "-", "held")
@FEW
@given(draw_spoiled("instance") | ANYTHING, draw_spoiled("record") | ANYTHING)
def test_instances_and_records(instance: Any, record: Any) -> None:
    refusal(lambda: read_instance(instance))
    refusal(lambda: read_record(record))


@pytest.mark.attack("files on the command line", "fuzzing of JSON", "-", "mended")
@FEW
@given(st.text(alphabet='[]{},:"\\udUD89aNInfity-+.eE019 \n', max_size=60) | st.text())
@example('"\\ud800"')
@example("9" * 5_000)
def test_json(text: str) -> None:
    refusal(lambda: parse_json(text, "-"))
    with contextlib.suppress(ValueError):
        extract_json(text)


NAMES = declare_names(("draft",), ("approved",))
WORDS = st.sampled_from(["BEFORE", "AFTER", "ALWAYS", "NEVER", "IF", "THEN", "ON", "INVOKE", "NOT", "AND", "OR", "(", ")", ":", "draft", "approved", "if", "x", "“"])  # fmt: skip


@pytest.mark.attack("workflows", "fuzzing of the rule language", "-", "held")
@FEW
@given(st.lists(WORDS | st.text(max_size=3), max_size=40).map(" ".join))
def test_the_rule_language(text: str) -> None:
    refusal(lambda: read_rule(text, NAMES))


YAML = st.sampled_from(["workflow: w", "actions: [a, b]", "constraints:", "  - 'BEFORE a: b'", "  - ", "&a ", "*a", "? ", ": ", "- ", "[", "{", "|\n", ">\n", "!!python/name:x ", "---\n", "%", "\t", "# ", "'", '"', "\n", "predicates:\n", "  p: {check: x}\n", "extends: w\n"])  # fmt: skip


@pytest.mark.attack("workflows", "fuzzing of YAML", "-", "held")
@FEW
@given(st.lists(YAML | st.text(max_size=4), max_size=25).map("".join))
def test_yaml(text: str) -> None:
    refusal(lambda: read_workflow(text))


@pytest.mark.attack("forms", "fuzzing of times, lengths and lines", "-", "mended")
@FEW
@given(st.text(max_size=40) | st.text(alphabet="0123456789:.,-–hmin pa()٣½²", max_size=40))
@example("9" * 400)
def test_what_is_typed(text: str) -> None:
    for read in (parse_clock, parse_windows, parse_minutes, parse_task_line):
        refusal(lambda read=read: read(text))  # type: ignore[misc]


@pytest.mark.attack("Slack messages", "fuzzing of markup", "-", "held")
@FEW
@given(st.text(max_size=80) | st.text(alphabet="*_~`<>@#!|&;[]()\\\n a", max_size=80))
def test_marks_of_slack(text: str) -> None:
    assert len(parse_typed(text, without_mentions_of=set())) <= len(text) + 1
    assert all(len(part) <= 20 for part in split(to_mrkdwn(text), 20))


LINES = st.sampled_from(["RRULE:FREQ=DAILY", "RRULE:", "DTSTART:20260302", "DTEND;TZID=X:2", "BEGIN:VTIMEZONE", "END:VEVENT", "BEGIN:VEVENT", "RDATE:", "RECURRENCE-ID:1", "DURATION:P9999999999D", 'SUMMARY;LANGUAGE="', " folded", "EXDATE;VALUE=DATE:20260302", "TZID:Home"])  # fmt: skip


@pytest.mark.attack("calendar objects", "fuzzing of iCalendar", "-", "held")
@FEW
@given(st.lists(LINES | st.text(max_size=12), max_size=8))
def test_calendar_objects(lines: list[str]) -> None:
    """An object can be read, or counts as unreadable."""
    text = series("x", "Fuzz", *lines)
    is_plain(text)
    resource = Resource("x.ics", "1", text)
    if resource.is_readable:
        assert resource.events
