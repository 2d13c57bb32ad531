"""Read rules from YAML, keeping the position of every character."""

from __future__ import annotations

import yaml

from fateforger.workflow.checking import Necessity, StatedRule
from fateforger.workflow.documents import place_of, refuse, text_of
from fateforger.workflow.parsing import Place, PlaceOf, read_rule
from fateforger.workflow.rules import RuleKind, write_rule
from fateforger.workflow.vocabulary import Vocabulary

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
        necessity=_necessity(beside["necessity"]) if "necessity" in beside else Necessity.MUST,
    )


def _necessity(node: yaml.Node) -> Necessity:
    text = text_of(node, "The necessity of a rule")
    if text not in set(Necessity):
        refuse(node, f"A rule is a must or a should, not “{text}”.")
    return Necessity(text)


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
