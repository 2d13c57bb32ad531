"""A command declares itself: its stages, the actions of its controls, and how a click becomes its fields."""

from __future__ import annotations

import ast
from typing import get_args

import pytest
from tests.sources import modules

from fateforger.session.commands import ACTIONS, FORM_COMMANDS, SessionCommand
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.commands.plan import BlockCommand
from fateforger.session.forms import list_actions
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.stages import Move
from fateforger.ui.forms import RULES, SESSION_FORMS

COMMANDS = (*get_args(SessionCommand), *get_args(QueueCommand))
ELSEWHERE = {"start": "begins a session", "proposal.undo": "undoes a rule outside any session"}
"""Actions that give no command of a session or the queue."""
PREFIXES = ("form.", "turn.", "person.", "calendar.")
"""Actions that open a form, turn its page, or ask about the person's data."""
CONTROLS = {"Button", "Select", "DatePick", "TimePick"}


@pytest.mark.parametrize("kind", get_args(SessionCommand))
def test_every_command_declares_its_stages(kind: type[SessionCommandBase]) -> None:
    assert kind.accepted
    assert kind.home is None or kind.home in kind.accepted


def test_every_action_belongs_to_one_command() -> None:
    declared = [action.id for kind in COMMANDS for action in list_actions(kind)]
    assert sorted(declared) == sorted(ACTIONS)


@pytest.mark.core
def test_no_card_writes_an_action_of_a_command_itself() -> None:
    """Cards make these controls from the declaration, so that neither the id nor the label is written twice."""
    literal = {
        (path, keyword.value.value)
        for path, module in modules().items()
        if path.startswith(("ui/", "conversation/", "session/"))
        for node in module.find(ast.Call)
        if getattr(node.func, "id", None) in CONTROLS
        for keyword in node.keywords
        if keyword.arg == "action" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    assert literal
    assert [each for each in literal if not (each[1].startswith(PREFIXES) or each[1] in ELSEWHERE)] == []


def test_no_action_of_a_command_is_named_outside_its_declaration() -> None:
    """There is no second table of actions."""
    ids = ACTIONS.keys() - SHARED
    named = {
        (path, node.value)
        for path, module in modules().items()
        if path.startswith(("ui/", "conversation/", "session/", "slack/")) and not path.startswith(HOMES)
        for node in module.find(ast.Constant)
        if node.value in ids
    }
    assert named == set()


HOMES = ("session/commands/", "session/queue_commands.py")
SHARED = {*Move, "plan_day", *(kind.model_fields["kind"].default for kind in COMMANDS)}
"""Words that are also names of moves, of a kind of task, or of stored commands."""


def test_every_form_of_a_session_belongs_to_the_command_that_declares_it() -> None:
    assert SESSION_FORMS.keys() == FORM_COMMANDS.keys() - RULES.keys()
    assert RULES.keys() - FORM_COMMANDS.keys() == {"rules"}  # the list of rules, whose rows have forms of their own
    declared = [form for kind in get_args(SessionCommand) for form in kind.forms]
    assert len(declared) == len(set(declared))


def test_the_engine_of_edits_asks_each_command_for_its_patch() -> None:
    """A change of blocks is carried out by its class, so that no module matches all of them."""
    changes = [kind for kind in get_args(SessionCommand) if issubclass(kind, BlockCommand)]
    assert len(changes) == 7
    assert all("to_patch" in vars(kind) for kind in changes)
