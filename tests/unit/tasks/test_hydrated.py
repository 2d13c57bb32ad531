"""The routing of a message (S147-S152)."""

from __future__ import annotations

import pytest

from fateforger.tasks.transitions import Purpose, TypedCommand, parse_command, path_of


@pytest.mark.parametrize("intent", Purpose)
@pytest.mark.parametrize("slash", [True, False])
@pytest.mark.parametrize("changes", [True, False])
def test_only_work_that_changes_something_is_put_into_the_queue(intent: Purpose, *, slash: bool, changes: bool) -> None:
    """S152, in its order: slash, skill, question, conversation, nothing changed; everything else waits its turn."""
    waits = not slash and intent is Purpose.WORK and changes
    assert path_of(intent, slash=slash, changes=changes) is ("enqueue" if waits else "direct")


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("/pull ff-4k7w9c", TypedCommand("/pull", "ff-4k7w9c")),
        ("  /tasks ", TypedCommand("/tasks", "")),
        ("/", None),
        ("pull it", None),
        ("either/or", None),
    ],
)
def test_a_command_that_is_written_out_begins_with_a_slash(text: str, typed: TypedCommand | None) -> None:
    """S147"""
    assert parse_command(text) == typed
