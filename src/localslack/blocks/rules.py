"""The small language that block shapes are written in: a rule looks at a value and notes what is wrong with it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from localslack.text import count_characters


class Findings:
    """Mistakes in a payload, each with a JSON pointer to its place."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def add(self, message: str, pointer: str) -> None:
        self.messages.append(f"{message} [json-pointer:{pointer}]")


Rule = Callable[[Any, str, Findings], None]
"""Check of the value at a JSON pointer, which adds the mistakes that it finds."""


def string(maximum: int | None = None, *, minimum: int = 1, pattern: str | None = None) -> Rule:
    compiled = None if pattern is None else re.compile(pattern)

    def rule(value: Any, at: str, findings: Findings) -> None:
        if not isinstance(value, str):
            findings.add("must provide a string", at)
        elif maximum is not None and count_characters(value) > maximum:
            findings.add(f"must be less than {maximum + 1} characters", at)
        elif len(value) < minimum:
            findings.add(f"must be more than {minimum - 1} characters", at)
        elif compiled is not None and not compiled.fullmatch(value):
            findings.add(f"does not match the format {compiled.pattern}", at)

    return rule


def anything(_value: Any, _at: str, _findings: Findings) -> None:
    """Asks nothing: the field is looked at elsewhere."""


def boolean(value: Any, at: str, findings: Findings) -> None:
    if not isinstance(value, bool):
        findings.add("must provide a boolean", at)


def number(value: Any, at: str, findings: Findings) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        findings.add("must provide a number", at)


def integer(minimum: int, maximum: int | None = None) -> Rule:
    def rule(value: Any, at: str, findings: Findings) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            findings.add("must provide an integer", at)
        elif value < minimum:
            findings.add(f"must be at least {minimum}", at)
        elif maximum is not None and value > maximum:
            findings.add(f"must be at most {maximum}", at)

    return rule


def choice(*allowed: str | int) -> Rule:
    def rule(value: Any, at: str, findings: Findings) -> None:
        if value not in allowed:
            findings.add(f"must be a valid enum value ({', '.join(str(one) for one in allowed)})", at)

    return rule


def array(item: Rule, maximum: int | None = None, *, minimum: int = 1) -> Rule:
    def rule(value: Any, at: str, findings: Findings) -> None:
        if not isinstance(value, list):
            findings.add("must provide an array", at)
            return
        if maximum is not None and len(value) > maximum:
            findings.add(f"no more than {maximum} items allowed", at)
        elif len(value) < minimum:
            findings.add(f"no fewer than {minimum} items allowed", at)
        for index, one in enumerate(value):
            item(one, f"{at}/{index}", findings)

    return rule


def shape(
    required: Mapping[str, Rule] | None = None,
    optional: Mapping[str, Rule] | None = None,
    *more: Rule,
) -> Rule:
    """Return the rule for an object with these fields and no others besides `type`; `more` are rules for all of it."""
    needed = required or {}
    known = {**needed, **(optional or {})}

    def rule(value: Any, at: str, findings: Findings) -> None:
        if not isinstance(value, dict):
            findings.add("must provide an object", at)
            return
        for name in needed:
            if name not in value:
                findings.add(f"missing required field: {name}", at)
        for name, field in value.items():
            if name in known:
                known[name](field, f"{at}/{name}", findings)
            elif name != "type":
                findings.add(f"invalid additional property: {name}", at)
        for whole in more:
            whole(value, at, findings)

    return rule


def one_of(shapes: Mapping[str, Rule]) -> Rule:
    """Return the rule for an object whose `type` chooses its rule."""

    def rule(value: Any, at: str, findings: Findings) -> None:
        if not isinstance(value, dict):
            findings.add("must provide an object", at)
        elif "type" not in value:
            findings.add("missing required field: type", at)
        elif not isinstance(value["type"], str) or value["type"] not in shapes:
            findings.add(f"unsupported type: {value['type']}", f"{at}/type")
        else:
            shapes[value["type"]](value, at, findings)

    return rule


def any_field(*names: str) -> Rule:
    """At least one of these fields is there."""

    def rule(value: Any, at: str, findings: Findings) -> None:
        if not any(name in value for name in names):
            findings.add(f"missing required field: {' or '.join(names)}", at)

    return rule


def one_field(*names: str) -> Rule:
    """Exactly one of these fields is there."""

    def rule(value: Any, at: str, findings: Findings) -> None:
        if sum(name in value for name in names) != 1:
            findings.add(f"must have exactly one of: {', '.join(names)}", at)

    return rule
