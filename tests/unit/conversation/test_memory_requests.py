"""Operations on memory that a model names: their names and schema, what they change, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from tests.factories.wishes import rule, wish
from tests.unit.conversation.rules import CALLS, DEEP, LUNCH, QUIET
from tests.unit.conversation.sessions import make_command, plan_session

from fateforger.conversation.language.answers import MemoryWish, MemoryWords
from fateforger.conversation.language.memory_requests import memory_commands, patch_record
from fateforger.errors import BadInput
from fateforger.memory.documents import write_record
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Status
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.rules import JudgeConstraint, RememberConstraint, ReviseConstraint
from fateforger.session.stages import TimeboxingStage

LISTED = (CALLS, DEEP, LUNCH, QUIET)


def command(what: str, *numbers: int, listed: tuple[Version, ...] = LISTED, **more: Any) -> SessionCommand:
    words = MemoryWords.model_validate(wish(what, *numbers, **more))
    session = plan_session(TimeboxingStage.REFINE)
    (found,) = memory_commands(make_command("user_reply", text="…"), session, listed, words)
    return found


def test_s26_s118_five_operations_by_their_names() -> None:
    names = [each.value for each in MemoryWish if each.value.startswith("memory_")]
    verbs = ("list_constraints", "get_constraint", "update_constraint", "archive_constraint", "supersede_constraint")
    assert names == [f"memory_{verb}" for verb in verbs]
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz_") for name in names)


@pytest.mark.parametrize(
    "more", [{"mood": "fine"}, {"numbers": "many"}, {"wish": "memory_delete"}, {"rule": {"mood": 1}}]
)
def test_s26_the_schema_is_strict(more: dict[str, Any]) -> None:
    """Unknown fields and wrong types are refused."""
    assert MemoryWords.model_json_schema()["additionalProperties"] is False
    with pytest.raises(ValidationError):
        MemoryWords.model_validate({**wish("memory_get_constraint", 1), **more})


@pytest.mark.parametrize("what", ["get", "update", "archive", "supersede"])
def test_s28_a_row_that_is_not_there_is_a_sentence(what: str) -> None:
    with pytest.raises(BadInput):
        command(f"memory_{what}_constraint", 99, rule=rule(necessity="must"))


@pytest.mark.parametrize(
    "patch",
    [
        {"mood": "fine"},
        {"necessity": "maybe"},
        {"payload": {"windows": [{"kind": "avoid"}]}},
        {"applicability": {"start_date": "2026-02-30"}},
        {"name": ""},
        {"payload": "none"},
    ],
)
def test_s30_a_bad_patch_writes_nothing(patch: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        patch_record(CALLS.record, patch)


def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    found = command("memory_update_constraint", 1, rule=rule(necessity="should", days_of_week=["MO"], windows=[]))
    assert isinstance(found, ReviseConstraint)
    assert (found.uid, found.seen) == ("calls", 1)
    before, after = write_record(CALLS.record), write_record(found.record)
    before["necessity"], before["payload"]["windows"] = "should", []
    before["applicability"]["days_of_week"] = ["MO"]
    assert after == before


@pytest.mark.parametrize("uid", ["quiet", None])
def test_an_update_never_makes_it_another_one(uid: str | None) -> None:
    assert patch_record(CALLS.record, {"lifecycle": {"uid": uid}}) == CALLS.record


def test_s29_an_archive_keeps_the_row_with_its_reason() -> None:
    found = command("memory_archive_constraint", 3, reason="the café closed")
    assert isinstance(found, JudgeConstraint)
    assert (found.uid, found.verdict, found.reason, found.seen) == ("lunch", "archive", "the café closed", 4)
    assert LUNCH.record.status is Status.LOCKED


def test_s29_what_supersedes_is_a_new_record() -> None:
    found = command("memory_supersede_constraint", 1, rule=rule(name="No calls before nine"))
    assert isinstance(found, RememberConstraint)
    assert (found.supersedes, found.record.lifecycle.uid) == ("calls", None)
    assert found.record.name == "No calls before nine"


def test_the_row_that_was_looked_at_is_the_one_that_is_changed() -> None:
    """One that no store has yet has no number to be held against."""
    unsaved = DEEP.model_copy(update={"seq": 0})
    found = command("memory_archive_constraint", 1, listed=(unsaved, QUIET))
    assert isinstance(found, JudgeConstraint)
    assert found.seen is None
