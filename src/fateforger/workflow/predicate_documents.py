"""Read predicates from YAML.

    predicates:
      plan_approved:
        check: {task: body, contains: "## Approved Plan"}
        or: {user_stated: approval}
        set_by: [approve_plan]

A check is ``{session: FACT}``, ``{task: FIELD, contains|equals: TEXT}``, ``{user_stated: KIND}``, ``{file: PATTERN,
contains: TEXT}``, ``{command: NAME, succeeds: true|false}``, or a sentence that a person or a model judges.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

import yaml

from fateforger.workflow.documents import fields_of, pairs_of, refuse, text_of, texts_of
from fateforger.workflow.predicates import (
    Check,
    CommandOutput,
    Described,
    FileContent,
    Predicate,
    SessionState,
    TaskState,
    UserStatement,
)
from fateforger.workflow.vocabulary import is_name

_PREDICATE = frozenset({"check", "or", "set_by", "cleared_by"})
_CHECK = frozenset({"session", "task", "user_stated", "file", "command", "contains", "equals", "succeeds"})
_FORMS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "session": (frozenset(), frozenset()),
    "task": (frozenset(), frozenset({"contains", "equals"})),
    "user_stated": (frozenset(), frozenset()),
    "file": (frozenset({"contains"}), frozenset()),
    "command": (frozenset(), frozenset({"succeeds"})),
}
"""Required and optional keys of each kind of check."""


def read_predicates(node: yaml.Node, actions: Collection[str]) -> dict[str, Predicate]:
    """Return the predicates by name. Raises :class:`BadInput`."""
    found: dict[str, Predicate] = {}
    for key, value in pairs_of(node, "“predicates”"):
        name: str = key.value.strip()
        if not is_name(name):
            refuse(key, f"“{name}” cannot be the name of a state.")
        if name in found:
            refuse(key, f"“{name}” is declared twice.")
        found[name] = _predicate(name, value, actions)
    return found


def _predicate(name: str, node: yaml.Node, actions: Collection[str]) -> Predicate:
    if isinstance(node, yaml.ScalarNode):
        return Predicate(name, (Described(node.value.strip()),) if node.value.strip() else ())
    fields = fields_of(node, _PREDICATE, "A predicate")
    if "or" in fields and "check" not in fields:
        refuse(node, "A predicate with “or” has a “check” first.")
    checks = [check for key in ("check", "or") if key in fields for check in _checks(fields[key])]
    return Predicate(
        name,
        tuple(checks),
        set_by=_actions(fields.get("set_by"), actions),
        cleared_by=_actions(fields.get("cleared_by"), actions),
    )


def _actions(node: yaml.Node | None, actions: Collection[str]) -> frozenset[str]:
    names = () if node is None else texts_of(node, "What sets or clears a state")
    for name in names:
        if node is not None and name not in actions:
            refuse(node, f"“{name}” is no declared action.")
    return frozenset(names)


def _checks(node: yaml.Node) -> list[Check]:
    return [_check(item) for item in (node.value if isinstance(node, yaml.SequenceNode) else [node])]


def _check(node: yaml.Node) -> Check:
    if isinstance(node, yaml.ScalarNode):
        return Described(text_of(node, "A check"))
    fields = fields_of(node, _CHECK, "A check")
    asked = [key for key in _FORMS if key in fields]
    if len(asked) != 1:
        refuse(node, f"A check asks one thing: {', '.join(_FORMS)}, or a sentence.")
    needed, allowed = _FORMS[asked[0]]
    beside = fields.keys() - {asked[0]}
    if needed - beside or beside - needed - allowed or len(beside) > 1:
        wanted = " or ".join(sorted(needed | allowed)) or "nothing"
        refuse(node, f"Beside “{asked[0]}” stands {wanted}.")
    values = {key: text_of(value, f"“{key}”") for key, value in fields.items()}
    return _build_check(asked[0], values, node)


def _build_check(asked: str, values: Mapping[str, str], node: yaml.Node) -> Check:
    value = values[asked]
    match asked:
        case "session":
            return SessionState(value)
        case "task":
            return TaskState(value, values.get("contains"), values.get("equals"))
        case "user_stated":
            return UserStatement(value)
        case "file":
            path = PurePosixPath(value)
            if path.is_absolute() or ".." in path.parts:
                refuse(node, "The pattern of a file is relative and stays inside its folder.")
            return FileContent(value, values["contains"])
        case _:
            succeeds = values.get("succeeds", "true")
            if not is_name(value) or succeeds not in {"true", "false"}:
                refuse(node, "A command is the name under which it was allowed; “succeeds” is true or false.")
            return CommandOutput(value, succeeds == "true")
