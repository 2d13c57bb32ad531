"""Read YAML with source positions, so that an error message can point to the line and column.

Every scalar is a string: ``on``, ``yes`` and ``3`` are not converted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NoReturn

import yaml

from fateforger.errors import BadInput
from fateforger.workflow.parsing import Place

MOST_BYTES = 1024 * 1024


def read_yaml(text: str) -> yaml.Node:
    """Parse YAML. Raises :class:`BadInput` with line and column."""
    if len(text) > MOST_BYTES:
        raise BadInput("This file is longer than a mebibyte, which no workflow is.")
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = None if mark is None else str(Place(mark.line + 1, mark.column + 1))
        raise BadInput(f"This is not YAML: {error.problem or error.context}.", where=where) from None
    except yaml.YAMLError as error:
        raise BadInput(f"This is not YAML: {error}.") from None
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
