"""The five memory tools: their names and schemas, what they find, and what they leave alone (S26-S31, S118)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.unit.conversation.rules import CALLS, DEEP, LUNCH, QUIET, RULES, knowing
from tests.unit.conversation.sessions import MORNING, planned

from fateforger.conversation.language.memory_tools import (
    CallOutcome,
    KnownConstraints,
    MemoryTool,
    MemoryToolResult,
    call_tool,
    declare_tool,
)
from fateforger.memory.documents import write_record
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Status
from fateforger.session.commands.rules import JudgeConstraint, RememberConstraint, ReviseConstraint
from fateforger.session.recall import followed_constraints
from fateforger.session.stages import TimeboxingStage

ENVELOPE = {"command_id": "c1", "user_id": "U1", "at": MORNING, "session_id": "s1"}
GONE = version_of("gone", status="declined", event={"action": "archive", "reason": "over"}, seq=9)


def shelf(*versions: Version) -> KnownConstraints:
    known = versions or (*RULES, GONE)
    return KnownConstraints(
        {v.uid: v for v in known}, followed_constraints(knowing(planned(TimeboxingStage.REFINE), *known))
    )


def called(tool: MemoryTool, **arguments: Any) -> CallOutcome:
    return call_tool(tool, arguments, shelf(), ENVELOPE)


def uids(result: MemoryToolResult) -> list[str]:
    return [item.uid for item in result.items]


def test_s26_s118_five_tools_by_their_names() -> None:
    names = [tool.value for tool in MemoryTool]
    verbs = ("list_constraints", "get_constraint", "update_constraint", "archive_constraint", "supersede_constraint")
    assert names == [f"memory_{verb}" for verb in verbs]
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz_") for name in names)


@pytest.mark.parametrize("tool", MemoryTool)
def test_s26_schemas_are_strict(tool: MemoryTool) -> None:
    """Nothing that is not named, and a wrong type is a typed error."""
    described = declare_tool(tool)
    assert (described["name"], described["strict"]) == (tool.value, True)
    assert described["parameters"]["additionalProperties"] is False
    for arguments in ({"uid": "calls", "mood": "fine"}, {"uid": 5}, {"limit": "many"}):
        result = called(tool, **arguments).result
        assert (result.ok, result.trouble and result.trouble.kind) == (False, "bad_arguments")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["quiet", "deep", "calls", "lunch"]),
        ({"text": "BEFORE 10"}, ["calls"]),
        ({"text": "nothing of the kind"}, []),
        ({"necessities": ["must"]}, ["quiet", "calls"]),
        ({"statuses": ["declined"]}, ["gone"]),
        ({"statuses": []}, ["quiet", "deep", "calls", "lunch", "gone"]),
        ({"scopes": ["session"]}, []),
        ({"tags": ["sleep"]}, []),
    ],
)
def test_s27_list_filters(filters: dict[str, Any], found: list[str]) -> None:
    """What the day follows comes first."""
    result = called(MemoryTool.LIST, **filters).result
    assert (result.ok, sorted(uids(result)), result.total) == (True, sorted(found), len(found))
    assert [item.used_this_session for item in result.items] == sorted(
        (item.used_this_session for item in result.items), reverse=True
    )


def test_s27_list_by_tag_and_limit() -> None:
    tagged = shelf(version_of("a", topics=["sleep"]), version_of("b", topics=["sleep", "home"]), CALLS)
    result = call_tool(MemoryTool.LIST, {"tags": ["sleep"], "limit": 1}, tagged, ENVELOPE).result
    assert (len(result.items), result.total) == (1, 2)


def test_s31_an_item_has_all_that_a_card_shows() -> None:
    (item,) = called(MemoryTool.GET, uid="deep").result.items
    assert item.model_dump(mode="json") == {
        "uid": "deep",
        "seq": 3,
        "name": "Deep work early",
        "description": "deep work belongs in the morning",
        "necessity": "prefer",
        "status": "proposed",
        "scope": "profile",
        "source": "user",
        "confidence": 0.5,
        "topics": [],
        "said_on": "2026-02-01",
        "when": "",
        "times": "prefer 09:00–12:00",
        "needs_confirmation": True,
        "used_this_session": True,
    }


@pytest.mark.parametrize("tool", [t for t in MemoryTool if t is not MemoryTool.LIST])
def test_s28_an_unknown_uid_is_a_typed_not_found(tool: MemoryTool) -> None:
    more = {MemoryTool.UPDATE: {"patch": "{}"}, MemoryTool.SUPERSEDE: {"record": "{}"}}.get(tool, {})
    for uid in ("nobody", "*", "calls ", "Calls"):
        found = called(tool, uid=uid, **more)
        assert (found.result.ok, found.result.items, found.command) == (False, (), None)
        assert found.result.trouble is not None
        assert found.result.trouble.kind == "not_found"


@pytest.mark.parametrize(
    "patch",
    [
        "{",
        "",
        "[]",
        "null",
        '"x"',
        '{"mood": "fine"}',
        '{"necessity": "maybe"}',
        '{"payload": {"windows": [{"kind": "avoid"}]}}',
        '{"applicability": {"start_date": "2026-02-30"}}',
        '{"name": ""}',
        "[" * 100_000,
    ],
)
def test_s30_a_bad_patch_writes_nothing(patch: str) -> None:
    found = called(MemoryTool.UPDATE, uid="calls", patch=patch[:99_000])
    assert (found.result.ok, found.command) == (False, None)
    assert found.result.trouble is not None
    assert found.result.trouble.kind == "bad_patch"


def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    patch = {"necessity": "should", "applicability": {"days_of_week": ["MO"]}, "payload": {"windows": []}}
    found = called(MemoryTool.UPDATE, uid="calls", patch=json.dumps(patch))
    assert found.result.ok
    assert isinstance(found.command, ReviseConstraint)
    assert (found.command.uid, found.command.seen) == ("calls", 1)
    before, after = write_record(CALLS.record), write_record(found.command.record)
    before["necessity"], before["payload"]["windows"] = "should", []
    before["applicability"]["days_of_week"] = ["MO"]
    assert after == before


@pytest.mark.parametrize("patch", ['{"lifecycle": {"uid": "quiet"}}', '{"lifecycle": {"uid": null}}'])
def test_an_update_never_makes_it_another_one(patch: str) -> None:
    found = called(MemoryTool.UPDATE, uid="calls", patch=patch)
    assert isinstance(found.command, ReviseConstraint)
    assert found.command.record == CALLS.record


def test_s29_an_archive_keeps_the_row_with_its_reason() -> None:
    found = called(MemoryTool.ARCHIVE, uid="lunch", reason="the café closed")
    assert [item.status for item in found.result.items] == [Status.DECLINED]
    command = found.command
    assert isinstance(command, JudgeConstraint)
    assert (command.uid, command.verdict, command.reason, command.seen) == ("lunch", "archive", "the café closed", 4)
    assert LUNCH.record.status is Status.LOCKED


def test_s29_what_supersedes_is_a_new_record() -> None:
    record = {"name": "No calls before nine", "scope": "profile", "lifecycle": {"uid": "calls"}}
    found = called(MemoryTool.SUPERSEDE, uid="calls", record=json.dumps(record))
    assert isinstance(found.command, RememberConstraint)
    assert (found.command.supersedes, found.command.record.lifecycle.uid) == ("calls", None)
    assert found.command.record.name == "No calls before nine"


def test_the_row_that_was_looked_at_is_the_one_that_is_changed() -> None:
    """One that no store has yet has no number to be held against."""
    unsaved = shelf(DEEP.model_copy(update={"seq": 0}), QUIET)
    command = call_tool(MemoryTool.ARCHIVE, {"uid": "deep"}, unsaved, ENVELOPE).command
    assert isinstance(command, JudgeConstraint)
    assert command.seen is None
