"""Workflows: rules with their names, loaded from YAML, inherited, or shipped in ``workflows/*.yaml``.

    workflow: framework-feature
    description: A feature of the framework itself.
    extends: feature-dev
    context: {applies_when: [...], not_when: [...]}
    actions: [read_frameworks]
    predicates:
      frameworks_read: {check: {session: frameworks_read}, set_by: [read_frameworks]}
    additional_constraints:
      - BEFORE implement: frameworks_read
    disable: [the-id-of-an-inherited-rule]

A workflow that extends no other uses ``constraints``. A rule is a text, or a mapping with ``rule`` and optionally
``id``, ``title``, ``remedy`` and ``necessity``. Without an id, the canonical text of the rule is its id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import IO

import yaml

from fateforger.errors import BadInput
from fateforger.limits import MAX_WORKFLOW_ANCESTORS, MAX_WORKFLOW_RULES
from fateforger.workflow.conformance import StatedRule
from fateforger.workflow.documents import (
    fields_of,
    items_of,
    read_predicates,
    read_stated,
    read_yaml,
    refuse,
    text_of,
    texts_of,
)
from fateforger.workflow.rules import Names, declare_names, find_conflicts, is_name
from fateforger.workflow.trace import Predicate


@dataclass(frozen=True, slots=True)
class Workflow:
    """Rules with the names they use.

    ``rules`` holds the inherited rules that are not disabled, followed by the workflow's own. Each predicate declares a
    state. ``actions`` are in the order in which they are declared, inherited ones first.
    """

    name: str
    description: str
    applies_when: tuple[str, ...] = ()
    not_when: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    rules: tuple[StatedRule, ...] = ()

    @property
    def vocabulary(self) -> Names:
        """Names that the rules may use."""
        return Names(frozenset(self.actions), frozenset(self.predicates))

    @property
    def looks(self) -> bool:
        """True if some state depends on a file or a command."""
        return any(each.looks for each in self.predicates.values())


_ROOT = frozenset({"workflow", "description", "context", "actions", "predicates", "constraints", "triggers"})
_CHILD = (_ROOT - {"constraints"}) | {"extends", "additional_constraints", "disable"}
_CONTEXT = frozenset({"applies_when", "not_when"})

Parents = Callable[[str], str | None]
"""Returns the text of the workflow with the given name, or ``None`` if there is none."""


def extract_messages(
    file: IO[bytes], keywords: object, tags: object, options: object
) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield what people read of a workflow, for the message catalogue: the titles and remedies of its rules.

    Babel calls this, and gives the same to every kind of file.
    """
    del keywords, tags, options
    for number, line in enumerate(file.read().decode().splitlines(), 1):
        name, colon, text = line.strip().partition(": ")
        if colon and name in {"title", "remedy"}:
            yield number, "", text, []


def no_parents(name: str) -> None:
    """Return ``None``: for workflows that extend no other."""
    del name


def read_workflow(text: str, parents: Parents = no_parents) -> Workflow:
    """Parse a workflow.

    Raises :class:`BadInput` with one sentence, line and column; also if two of its rules contradict each other.
    """
    return _load_workflow(text, parents, ())


OwnRules = tuple[tuple[StatedRule, yaml.Node], ...]
"""Rules of the file itself, without inherited ones, each with its place."""


def _load_workflow(text: str, parents: Parents, children: tuple[str, ...]) -> Workflow:
    document = read_yaml(text)
    fields = fields_of(document, _ROOT | _CHILD, "A workflow")
    if "workflow" not in fields:
        refuse(document, "A workflow has a name: “workflow: my-name”.")
    name = text_of(fields["workflow"], "The name of a workflow")
    if not is_name(name):
        refuse(fields["workflow"], f"“{name}” cannot be the name of a workflow.")
    _refuse_misplaced(fields)
    parent = _parent(fields["extends"], parents, (*children, name)) if "extends" in fields else Workflow(name, "")
    actions = tuple(dict.fromkeys((*parent.actions, *_actions(fields))))
    predicates = {**parent.predicates}
    if "predicates" in fields:
        predicates |= read_predicates(fields["predicates"], actions)
    names = _declare_names(fields, actions, predicates)
    own = _read_rules(fields, names)
    kept = _inherit_rules(fields, parent)
    _refuse_doubles(kept, own)
    context = fields_of(fields["context"], _CONTEXT, "A context") if "context" in fields else {}
    workflow = Workflow(
        name=name,
        description=text_of(fields["description"], "A description") if "description" in fields else parent.description,
        applies_when=_read_context(context, "applies_when", parent.applies_when),
        not_when=_read_context(context, "not_when", parent.not_when),
        actions=actions,
        predicates=predicates,
        rules=(*kept, *(rule for rule, _ in own)),
    )
    _refuse_conflicts(workflow, own, fields["workflow"])
    return workflow


def _refuse_misplaced(fields: Mapping[str, yaml.Node]) -> None:
    inherits = "extends" in fields
    for key in sorted(fields.keys() - (_CHILD if inherits else _ROOT)):
        if inherits:
            refuse(fields[key], "A workflow that extends another one adds to its rules: say “additional_constraints”.")
        refuse(fields[key], f"“{key}” is for a workflow that extends another one; this one does not.")


def _parent(node: yaml.Node, parents: Parents, children: tuple[str, ...]) -> Workflow:
    name = text_of(node, "The workflow that is extended")
    if name in children:
        refuse(node, f"{' extends '.join((*children, name))}: a workflow cannot extend itself.")
    if len(children) > MAX_WORKFLOW_ANCESTORS:
        refuse(node, f"More than {MAX_WORKFLOW_ANCESTORS} workflows extend each other here.")
    text = parents(name) if is_name(name) else None
    if text is None:
        refuse(node, f"I know no workflow “{name}” that could be extended.")
    try:
        return _load_workflow(text, parents, children)
    except BadInput as error:
        raise BadInput(error.message, where=f"{name}, {error.where}" if error.where else name) from None


def _read_context(context: Mapping[str, yaml.Node], key: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    return texts_of(context[key], f"“{key}”") if key in context else otherwise


def _actions(fields: Mapping[str, yaml.Node]) -> tuple[str, ...]:
    found: list[str] = []
    for item in items_of(fields["actions"], "“actions”") if "actions" in fields else ():
        name = text_of(item, "An action")
        if not is_name(name):
            refuse(item, f"“{name}” cannot be the name of an action.")
        found.append(name)
    return tuple(found)


def _declare_names(
    fields: Mapping[str, yaml.Node], actions: Collection[str], predicates: Mapping[str, Predicate]
) -> Names:
    try:
        return declare_names(actions, predicates)
    except BadInput as error:
        refuse(fields["predicates" if "predicates" in fields else "workflow"], error.message)


def _read_rules(fields: Mapping[str, yaml.Node], names: Names) -> OwnRules:
    lists = [(key, fields[key]) for key in ("constraints", "additional_constraints", "triggers") if key in fields]
    items = [(item, key == "triggers") for key, node in lists for item in items_of(node, f"“{key}”")]
    if len(items) > MAX_WORKFLOW_RULES:
        refuse(items[MAX_WORKFLOW_RULES][0], f"A workflow may have at most {MAX_WORKFLOW_RULES} rules.")
    return tuple((read_stated(item, names, triggers=triggers), item) for item, triggers in items)


def _inherit_rules(fields: Mapping[str, yaml.Node], parent: Workflow) -> tuple[StatedRule, ...]:
    disabled: set[str] = set()
    for item in items_of(fields["disable"], "“disable”") if "disable" in fields else ():
        rule_id = _rule_id(item)
        if rule_id not in {rule.id for rule in parent.rules}:
            refuse(item, f"“{parent.name}” has no rule with the id “{rule_id}” that could be disabled.")
        disabled.add(rule_id)
    return tuple(rule for rule in parent.rules if rule.id not in disabled)


def _rule_id(node: yaml.Node) -> str:
    """Return the id of a rule. YAML parses an id that contains a colon as a mapping."""
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        key, value = node.value[0]
        return f"{text_of(key, 'An id')}: {text_of(value, 'An id')}"
    return text_of(node, "An id")


def _refuse_doubles(kept: tuple[StatedRule, ...], own: OwnRules) -> None:
    known = {rule.id: "inherited" for rule in kept}
    for rule, node in own:
        if known.get(rule.id) == "inherited":
            refuse(node, f"A rule “{rule.id}” is inherited already; disable that one if this one takes its place.")
        if rule.id in known:
            refuse(node, f"There is a rule “{rule.id}” already; each needs an id of its own.")
        known[rule.id] = "own"


def _refuse_conflicts(workflow: Workflow, own: OwnRules, name: yaml.Node) -> None:
    places = {rule.id: node for rule, node in own}
    for first, second in find_conflicts([rule.rule for rule in workflow.rules]):
        one, other = workflow.rules[first], workflow.rules[second]
        node = places.get(other.id) or places.get(one.id) or name
        if first == second:
            refuse(node, f"No step can keep “{one.text}”.")
        refuse(node, f"“{one.text}” and “{other.text}” cannot both be kept; change one of them, or disable it.")


_FOLDER = files("fateforger.workflow") / "workflows"


@cache
def list_shipped() -> tuple[str, ...]:
    """Return the names of the shipped workflows, sorted."""
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")))


def read_shipped(name: str) -> str | None:
    """Return the YAML of a shipped workflow, or ``None`` if none has that name."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in list_shipped() else None


@cache
def load_shipped(name: str) -> Workflow:
    """Return a shipped workflow. Raises :class:`KeyError` if none has that name."""
    text = read_shipped(name)
    if text is None:
        raise KeyError(name)
    return read_workflow(text, read_shipped)
