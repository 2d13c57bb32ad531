"""Rules and predicates in YAML, read with source positions for error messages.

Every scalar is a string: ``on``, ``yes`` and ``3`` are not converted.

Predicates are written like this:

    predicates:
      plan_approved:
        check: {task: body, contains: "## Approved Plan"}
        or: {user_stated: approval}
        set_by: [approve_plan]
        title: The plan is approved

A check is ``{session: FACT}``, ``{task: FIELD, contains|equals: TEXT}``, ``{user_stated: KIND}``, ``{file: PATTERN,
contains: TEXT}``, ``{command: NAME, succeeds: true|false}``, or a sentence that a person or a model judges.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import NoReturn

import yaml

from fateforger.errors import BadInput
from fateforger.limits import MAX_WORKFLOW_CHARS
from fateforger.workflow.conformance import Necessity, StatedRule
from fateforger.workflow.parser import Place, PlaceOf, read_rule
from fateforger.workflow.rules import RuleKind, Vocabulary, is_name, write_rule
from fateforger.workflow.trace import Check, CheckKind, Predicate


def read_yaml(text: str) -> yaml.Node:
    """Parse YAML. Raises :class:`BadInput` with line and column."""
    if len(text) > MAX_WORKFLOW_CHARS:
        raise BadInput("This file is longer than a mebibyte, which no workflow is.")
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = None if mark is None else str(Place(mark.line + 1, mark.column + 1))
        raise BadInput(f"This is not YAML: {error.problem or error.context}.", where=where) from None
    except yaml.YAMLError as error:
        raise BadInput(f"This is not YAML: {str(error).splitlines()[0].rstrip('.')}.") from None
    except RecursionError:
        raise BadInput("This is nested too deeply to be a workflow.") from None
    if node is None:
        raise BadInput("This file is empty; a workflow has at least a name: “workflow: my-name”.", where="line 1")
    return node


def fields_of(node: yaml.Node, known: Collection[str], what: str) -> Mapping[str, yaml.Node]:
    """Return the values of a mapping by key. Raises :class:`BadInput` for an unknown or duplicate key."""
    if not isinstance(node, yaml.MappingNode):
        refuse(node, f"{what} is written as “key: value” lines.")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = text_of(key, "A key")
        if name not in known:
            refuse(key, f"{what} has no “{name}”; it has {', '.join(sorted(known))}.")
        if name in fields:
            refuse(key, f"“{name}” is here twice.")
        fields[name] = value
    return fields


def pairs_of(node: yaml.Node, what: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    """Return the keys and values of a mapping whose keys may have any name."""
    if not isinstance(node, yaml.MappingNode):
        refuse(node, f"{what} is written as “name: value” lines.")
    for key, _ in node.value:
        text_of(key, "A name")
    return list(node.value)


def items_of(node: yaml.Node, what: str) -> list[yaml.Node]:
    """Return the items of a list. An empty value is an empty list."""
    if isinstance(node, yaml.ScalarNode) and not node.value:
        return []
    if not isinstance(node, yaml.SequenceNode):
        refuse(node, f"{what} is a list: one “- …” a line.")
    return list(node.value)


def texts_of(node: yaml.Node, what: str) -> tuple[str, ...]:
    """Return the items of a list of texts."""
    return tuple(text_of(item, "An item of the list") for item in items_of(node, what))


def text_of(node: yaml.Node, what: str) -> str:
    """Return a nonempty text, stripped."""
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        refuse(node, f"{what} is a text, and there is none here.")
    value: str = node.value
    return value.strip()


def place_of(node: yaml.Node) -> Place:
    """Return the position at which a value begins."""
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def refuse(node: yaml.Node, sentence: str) -> NoReturn:
    """Raise :class:`BadInput` at the position of a value."""
    raise BadInput(sentence, where=str(place_of(node)))


_PREDICATE = frozenset({"check", "or", "set_by", "cleared_by", "title"})
_CHECK = frozenset({"session", "task", "user_stated", "file", "command", "contains", "equals", "succeeds"})
_FORMS: Mapping[CheckKind, tuple[frozenset[str], frozenset[str]]] = {
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
        return Predicate(name, (Check("judged", node.value.strip()),) if node.value.strip() else ())
    fields = fields_of(node, _PREDICATE, "A predicate")
    if "or" in fields and "check" not in fields:
        refuse(node, "A predicate with “or” has a “check” first.")
    checks = [check for key in ("check", "or") if key in fields for check in _checks(fields[key])]
    return Predicate(
        name,
        tuple(checks),
        set_by=_actions(fields.get("set_by"), actions),
        cleared_by=_actions(fields.get("cleared_by"), actions),
        title=text_of(fields["title"], "A title") if "title" in fields else None,
    )


def _actions(node: yaml.Node | None, actions: Collection[str]) -> frozenset[str]:
    names = set()
    for item in () if node is None else items_of(node, "What sets or clears a state"):
        name = text_of(item, "What sets or clears a state")
        if name not in actions:
            refuse(item, f"“{name}” is no declared action.")
        names.add(name)
    return frozenset(names)


def _checks(node: yaml.Node) -> list[Check]:
    return [_check(item) for item in (node.value if isinstance(node, yaml.SequenceNode) else [node])]


def _check(node: yaml.Node) -> Check:
    if isinstance(node, yaml.ScalarNode):
        return Check("judged", text_of(node, "A check"))
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
    kind, about, succeeds = asked[0], values[asked[0]], values.get("succeeds", "true")
    path = PurePosixPath(about)
    if kind == "file" and (path.is_absolute() or ".." in path.parts):
        refuse(node, "The pattern of a file is relative and stays inside its folder.")
    if kind == "command" and (not is_name(about) or succeeds not in {"true", "false"}):
        refuse(node, "A command is the name under which it was allowed; “succeeds” is true or false.")
    return Check(kind, about, values.get("contains"), values.get("equals"), succeeds=succeeds == "true")


_BESIDE = frozenset({"id", "title", "remedy", "necessity"})
_FORM = "A rule is its text; id, title, remedy and necessity may stand beside it."


def read_stated(node: yaml.Node, vocabulary: Vocabulary, *, triggers: bool = False) -> StatedRule:
    """Parse a rule of a list. Among ``triggers`` it must be an ON rule. Raises :class:`BadInput`."""
    beside: dict[str, yaml.Node] = {}
    rules: list[tuple[str, PlaceOf]] = []
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        name = text_of(key, "A key")
        if name in beside:
            refuse(key, f"“{name}” is here twice.")
        if name in _BESIDE:
            beside[name] = value
        elif name == "rule":
            rules.append(_text(value))
        else:
            rules.append(_pair(key, value))
    if not isinstance(node, yaml.MappingNode):
        rules.append(_text(node))
    if len(rules) != 1:
        refuse(
            node, _FORM if not rules else f"There are {len(rules)} rules in this item; begin each with its own “- ”."
        )
    text, where = rules[0]
    rule = read_rule(text, vocabulary, where)
    if triggers and rule.kind is not RuleKind.ON:
        refuse(node, "Among the triggers stand ON rules only; this one belongs to the constraints.")
    return StatedRule(
        id=text_of(beside["id"], "An id") if "id" in beside else write_rule(rule),
        rule=rule,
        text=text.strip(),
        title=text_of(beside["title"], "A title") if "title" in beside else None,
        remedy=text_of(beside["remedy"], "A remedy") if "remedy" in beside else None,
        necessity=_necessity(beside["necessity"]) if "necessity" in beside else "must",
    )


def _necessity(node: yaml.Node) -> Necessity:
    match text_of(node, "The necessity of a rule"):
        case "must":
            return "must"
        case "should":
            return "should"
        case text:
            refuse(node, f"A rule is a must or a should, not “{text}”.")


def _text(node: yaml.Node) -> tuple[str, PlaceOf]:
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        return _pair(*node.value[0])
    return text_of(node, "A rule"), lambda offset: _place(node, offset)


def _pair(key: yaml.Node, value: yaml.Node) -> tuple[str, PlaceOf]:
    """Rejoin a rule that YAML split at its colon into a key and a value."""
    if not isinstance(value, yaml.ScalarNode):
        refuse(value, "What a rule wants is a text.")
    beginning: str = key.value
    colon = len(beginning)

    def where(offset: int) -> Place:
        return _place(key, offset) if offset <= colon else _place(value, max(0, offset - colon - 2))

    return f"{beginning}: {value.value}", where


def _place(node: yaml.Node, offset: int) -> Place:
    """Return the position of a character; in a multi-line text, the position at which the text begins."""
    place = place_of(node)
    if node.start_mark.line != node.end_mark.line:
        return place
    return Place(place.line, place.column + offset + (1 if getattr(node, "style", None) in {"'", '"'} else 0))
