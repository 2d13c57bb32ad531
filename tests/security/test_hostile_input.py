"""S379: oversized, deep and hostile input at each way in: one sentence, time that grows with the input, bounded memory."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import pytest
from tests.factories.recurrences import TRAPS, series
from tests.security.checks import PLAIN, grows_linearly, peak_of, refusal

from caldav_mcp.multistatus import read_multistatus
from caldav_mcp.objects import Resource
from caldav_mcp.recurrence import has_plain_zones, is_plain, repeats
from fateforger.cli.documents import parse_json
from fateforger.cli.plan import check_plan
from fateforger.conversation.language.model_calls import extract_json
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.limits import MAX_ANSWER_CHARS, MAX_MESSAGE_CHARS, MAX_PATCH_OPS
from fateforger.memory.credentials import remove_credentials
from fateforger.memory.documents import read_record
from fateforger.memory.vocabulary import _list_days, _Rule, check_rule, occurs
from fateforger.planning.wire import apply_tb_ops, read_patch, read_plan
from fateforger.slack.mrkdwn import parse_typed, split, to_mrkdwn
from fateforger.ui.form_values import parse_clock, parse_minutes, parse_task_line, parse_windows
from fateforger.workflow.definition import read_workflow

MEGABYTE = 1_000_000
BLOCK = {"n": "Call", "t": "M", "p": {"a": "fs", "st": "09:00", "dur": "PT1M"}}
PLAN: dict[str, Any] = {"date": "2026-03-02", "tz": "Europe/Amsterdam", "events": [BLOCK]}


def nest_lists(depth: int) -> Any:
    """Return nested lists, as deep as Python's own parser makes them."""
    return json.loads("[" * depth + "]" * depth)


def build_plan(**changes: Any) -> dict[str, Any]:
    return PLAN | {"events": [BLOCK | {"p": BLOCK["p"] | changes}]}  # type: ignore[operator]


# Texts

UNITS = (
    "a",
    "*a",
    "_a_ ",
    "<@U1> ",
    "<",
    "&lt;",
    "`",
    "```\n",
    "[a](",
    "https://a.b/",
    "> ",
    "\\",
    "~*_",
    "\u202e",
    "a\n",
)


@pytest.mark.attack("Slack messages", "markup that is opened and never closed, in texts of any length", "4", "held")
@pytest.mark.parametrize("unit", UNITS)
def test_texts_of_slack_take_time_by_their_length(unit: str) -> None:
    for read in (
        to_mrkdwn,
        lambda text: parse_typed(text, without_mentions_of={"U1"}),
        lambda text: split(text, 3_000),
    ):
        assert grows_linearly(read, lambda size: (unit * size)[:size], 5_000), read


@pytest.mark.attack("Slack messages", "a text that the search for passwords reads again and again", "4", "mended")
@pytest.mark.parametrize("unit", ["a", "eyJ", "a.", "-----BEGIN PRIVATE KEY-----", "a://b:"])
def test_the_search_for_passwords_ends(unit: str) -> None:
    assert grows_linearly(remove_credentials, lambda size: (unit * size)[:size], MAX_MESSAGE_CHARS // 4)
    assert peak_of(lambda: remove_credentials(unit * MEGABYTE)) < 20 * MAX_MESSAGE_CHARS + len(unit) * MEGABYTE


@pytest.mark.attack("forms", "invalid times, lengths and lists of tasks, of any length", "-", "held")
@pytest.mark.parametrize("unit", ["9", "9:", "9-", "9,", "h", " ", "1h", "٣", "½", "(", "9-5,"])
def test_what_is_typed_into_forms_is_read_in_time(unit: str) -> None:
    for read in (parse_clock, parse_windows, parse_minutes, parse_task_line):
        assert grows_linearly(read, lambda size: (unit * size)[:size], 1_500), read  # a field holds 3,000 characters


# Plans and patches

PLANS: Mapping[str, Any] = {
    "no object": [],
    "a zone of two megabytes": PLAN | {"tz": "x" * 2 * MEGABYTE},
    "a zone that is a path": PLAN | {"tz": "../../../etc/passwd"},
    "a zone with half a character": PLAN | {"tz": "\ud800"},
    "a zone with NUL": PLAN | {"tz": "a\x00b"},
    "a zone that is a directory": PLAN | {"tz": "Europe"},
    "the last day of the calendar": PLAN | {"date": "9999-12-31"},
    "the first one": PLAN | {"date": "0001-01-01"},
    "a hundred thousand blocks": PLAN | {"events": [BLOCK] * 100_000},
    "a title of two megabytes": PLAN | {"events": [BLOCK | {"n": "x" * 2 * MEGABYTE}]},
    "a duration of a megabyte": build_plan(dur="P" + "1D" * (MEGABYTE // 2)),
    "a length that is none": build_plan(dur="PT" + "9" * 4_000 + "H"),
    "a clock of a megabyte": build_plan(st="0" * MEGABYTE),
    "a clock in the year 1": build_plan(st="0001-01-01T00:00"),
    "a number in place of a clock": build_plan(st=10**4_000),
    "no number": build_plan(st=float("nan")),
    "something deep": PLAN | {"events": [BLOCK | {"p": nest_lists(900)}]},
    "a field with a name of a megabyte": PLAN | {"k" * MEGABYTE: 1},
}


@pytest.mark.attack(
    "plans", "time zones, days, times, titles and numbers that are huge, deeply nested or invalid", "-", "mended"
)
@pytest.mark.parametrize("document", PLANS.values(), ids=PLANS.keys())
def test_a_plan_that_is_none_is_refused_in_a_sentence(document: Any) -> None:
    assert isinstance(refusal(lambda: read_plan(document)), PlanInvalid)
    refusal(lambda: check_plan(document))


@pytest.mark.attack("plans", "as many blocks as a plan may have", "-", "held")
def test_a_plan_takes_time_by_its_blocks() -> None:
    def make(size: int) -> dict[str, Any]:
        after = [BLOCK | {"p": {"a": "ap", "dur": "PT1M"}}] * (size - 1)
        return PLAN | {"events": [BLOCK, *after]}

    assert grows_linearly(check_plan, make, 100)


PATCHES: Mapping[str, Any] = {
    "no object": "x" * MEGABYTE,
    "a position that is huge": {"ops": [{"op": "re", "i": 10**30}]},
    "a position before the first": {"ops": [{"op": "re", "i": -1}]},
    "ops without end": {"ops": [{"op": "me", "fr": 0, "to": 0}] * (MAX_PATCH_OPS + 1)},
    "an op of a megabyte": {"ops": [{"op": "x" * MEGABYTE}]},
    "something deep": {"ops": nest_lists(900)},
    "no ops": {"ops": None},
}


@pytest.mark.attack("patches", "invalid positions and kinds, and any number of changes", "-", "mended")
@pytest.mark.parametrize("document", PATCHES.values(), ids=PATCHES.keys())
def test_a_patch_that_is_none_is_refused_in_a_sentence(document: Any) -> None:
    plan = read_plan(PLAN)
    assert isinstance(refusal(lambda: apply_tb_ops(plan, read_patch(document))), PatchInvalid)


# Documents and workflows

DOCUMENTS = {
    "deep": "[" * 100_000,
    "a number of 5,000 digits": "9" * 5_000,
    "no number": "NaN",
    "half a character": '{"tz": "\\ud800"}',
    "cut off": '{"a": "' + "x" * MEGABYTE,
}


@pytest.mark.attack(
    "files on the command line",
    "JSON that is deeply nested, cut off, or contains invalid text or numbers",
    "-",
    "mended",
)
@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_document_that_is_none_is_refused_in_a_sentence(text: str) -> None:
    assert isinstance(refusal(lambda: parse_json(text, "plan.json")), BadInput)


def bomb() -> str:
    """Return nine times nine times nine ... texts: each line repeats the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    return "\n".join(lines)


WORKFLOWS: Mapping[str, str] = {
    "a bomb of aliases": bomb(),
    "an alias of itself": "workflow: &a [*a]\nactions: *a",
    "lists within lists": "workflow: " + "[" * 400_000,
    "dashes within dashes": "- " * 300_000,
    "mappings by indentation": "\n".join(" " * depth + "a:" for depth in range(1_300)),
    "longer than a file can be": "x" * (2 * MEGABYTE),
    "a name without end": "workflow: " + "x" * 900_000,
    "a name of several lines": "workflow: |\n" + "  x\n" * 100_000,
    "parentheses in a rule": "workflow: w\nactions: [a]\nconstraints:\n  - 'ALWAYS: " + "(" * 3_000 + "a'",
    "a rule of a megabyte": "workflow: w\nactions: [a]\nconstraints:\n  - 'ALWAYS: "
    + " OR ".join(["a"] * 150_000)
    + "'",
    "a tag of Python": "workflow: !!python/object/apply:os.system ['true']",
}


@pytest.mark.attack(
    "workflows", "YAML bombs, aliases of themselves, deep nesting, endless names and rules", "-", "mended"
)
@pytest.mark.parametrize("text", WORKFLOWS.values(), ids=WORKFLOWS.keys())
def test_a_workflow_that_is_none_is_refused_in_a_sentence(text: str) -> None:
    assert isinstance(refusal(lambda: read_workflow(text)), BadInput)


@pytest.mark.attack("workflows", "as many actions, rules and aliases as a file may have", "-", "held")
@pytest.mark.parametrize("item", ["a{n}", '"a{n}"', "&x{n} a{n}"])
def test_a_workflow_takes_time_by_its_length(item: str) -> None:
    def make(size: int) -> str:
        return f"workflow: w\nactions: [{', '.join(item.format(n=n) for n in range(size))}]"

    assert grows_linearly(read_workflow, make, 1_000)


def test_a_bomb_takes_no_memory() -> None:
    assert peak_of(lambda: read_workflow(bomb())) < 5 * MEGABYTE


# Rules of a person

NEVER = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"
"""Before, the search went on until the year 9999, for 8,000 years."""


@pytest.mark.attack("rules of a person", "a recurrence that matches no day, also with a count", "1", "mended")
@pytest.mark.parametrize("rule", [NEVER, f"{NEVER};COUNT=10000", "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=7"])
def test_a_rule_that_matches_no_day_is_searched_for_400_years_at_most(rule: str) -> None:
    check_rule(rule)
    assert not occurs(rule, None, date(2026, 2, 28))

    def search(years: int) -> float:
        begun = time.process_time()
        low, high = (datetime(2026 + years, month, 1) for month in (2, 3))  # noqa: DTZ001  days have no zone
        found = _Rule(rule).from_start(date(1970, 1, 5), years=years).between(low, high)
        assert found == []
        return time.process_time() - begun

    def look_up() -> float:
        begun = time.process_time()
        assert _list_days.__wrapped__(rule, date(1970, 1, 5), 2026, 2) == frozenset()
        return time.process_time() - begun

    assert any(look_up() < search(0) / 4 for _ in range(3))


RULES: Mapping[str, Any] = {
    "a recurrence of a megabyte": {"recurrence": "FREQ=DAILY;BYDAY=" + "MO," * MEGABYTE},
    "every second": {"recurrence": "FREQ=SECONDLY"},
    "an interval without end": {"recurrence": "FREQ=DAILY;INTERVAL=" + "9" * 300},
    "an end that is none": {"recurrence": "FREQ=DAILY;UNTIL=00000000"},
    "a zone that is a path": {"timezone": "/etc/passwd"},
    "something deep": {"recurrence": nest_lists(900)},
}


@pytest.mark.attack(
    "rules of a person", "recurrences, time zones and texts that are huge, endless or invalid", "-", "held"
)
@pytest.mark.parametrize("applies", RULES.values(), ids=RULES.keys())
def test_a_rule_that_is_none_is_refused_in_a_sentence(applies: Any) -> None:
    assert isinstance(refusal(lambda: read_record({"name": "No calls", "applicability": applies})), BadInput)


# Calendars


@pytest.mark.attack(
    "calendar objects",
    "BY lists, RDATE lists and many rules: each trap of the audit",
    "1",
    "mended",
)
@pytest.mark.parametrize("rule", TRAPS.values(), ids=TRAPS.keys())
def test_no_trap_counts_as_plain(rule: str) -> None:
    """A rule that is not plain is computed in a process that is killed after a second (``tests/caldav_mcp/test_expansion.py``)."""
    assert not is_plain(series("x", "Trap", rule))


@pytest.mark.attack("calendar objects", "endless lines, folds and dates", "1, 7i", "held")
@pytest.mark.parametrize(
    "unit", ["X:a\r\n", " a\r\n", "RDATE:20260302T090000Z\r\n", "BEGIN:VEVENT\r\n", ",", ";", "\r\n "]
)
def test_the_cost_of_an_object_is_estimated_in_time(unit: str) -> None:
    def look(text: str) -> object:
        return is_plain(text), has_plain_zones(text), repeats(text), Resource("x", "1", text).may_be_parsed

    assert grows_linearly(look, lambda size: f"BEGIN:VCALENDAR\r\nRRULE:{unit * size}", 5_000)


XML = '<?xml version="1.0"?>{before}<D:multistatus xmlns:D="DAV:">{inside}</D:multistatus>'
ENTITIES = "<!DOCTYPE x [<!ENTITY a0 'xxxxxxxxxx'>{more}]>".format(
    more="".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
)
ANSWERS: Mapping[str, str] = {
    "a bomb of entities": XML.format(before=ENTITIES, inside="<D:response>&a11;</D:response>"),
    "a file of the machine": XML.format(
        before="<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>", inside="<D:response>&f;</D:response>"
    ),
    "cut off": XML.format(before="", inside="<D:response>")[:-20],
    "another answer": "<a/>",
}


@pytest.mark.attack("CalDAV answers", "entity bombs, local files, invalid answers", "7h", "held")
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_that_is_none_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match=r"^not (XML|a multistatus): .{1,200}$"):
        read_multistatus(answer.encode(), "http://dav.example/")


@pytest.mark.attack("CalDAV answers", "nested elements, long tokens, many responses", "7h", "held")
@pytest.mark.parametrize(
    "make",
    [
        lambda size: "<a>" * size + "</a>" * size,
        lambda size: f"<D:response a='{'x' * size * 20}'/>",
        lambda size: "<D:response><D:href>/a</D:href></D:response>" * size,
        lambda size: f"<!--{'x' * size * 20}-->",
    ],
    ids=["deep", "a long token", "many", "a long comment"],
)
def test_an_answer_takes_time_by_its_length(make: Callable[[int], str]) -> None:
    def read(text: str) -> object:
        return read_multistatus(XML.format(before="", inside=text).encode(), "http://dav.example/")

    assert grows_linearly(read, make, 3_000)


# Models

REPLIES: Mapping[str, str] = {
    "nothing": "",
    "longer than any": "x" * (MAX_ANSWER_CHARS + 1),
    "lists within lists": "[" * 100_000,
    "objects within objects": '{"a":' * 30_000 + "1" + "}" * 30_000,
    "a number without end": '{"a": ' + "9" * 5_000 + "}",
    "two objects": "{} {}",
    "no number": '{"a": NaN}',
    "cut off": '{"a": "' + "x" * 100_000,
}


@pytest.mark.attack(
    "model answers", "answers that are huge, deeply nested, cut off, doubled, or contain endless numbers", "-", "held"
)
@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
def test_an_answer_of_a_model_that_is_none_gets_one_sentence(reply: str) -> None:
    """The sentence goes back to the model, which may try again."""
    with pytest.raises(ValueError) as refused:
        extract_json(reply)
    assert PLAIN.fullmatch(str(refused.value))


@pytest.mark.attack("model answers", "fences, braces and quotes that are opened and never closed", "-", "held")
@pytest.mark.parametrize("unit", ["```", "{", '"', "\\u", "[1,", '{"a":"b"},', " ", "\u202e"])
def test_an_answer_of_a_model_takes_time_by_its_length(unit: str) -> None:
    def read(text: str) -> None:
        with contextlib.suppress(ValueError):
            extract_json(text)

    assert grows_linearly(read, lambda size: f'{{"x": "{(unit * size)[:size]}', MAX_ANSWER_CHARS // 5)
