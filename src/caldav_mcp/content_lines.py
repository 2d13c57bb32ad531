"""iCalendar text as a tree of content lines, for edits that leave everything else exactly as it was.

A parser that understands properties also rewrites them. Events of other programs carry properties unknown here,
so an update replaces lines by name and copies all other lines verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

_NAME = re.compile(r"[^;:]+")
_TEXT_ESCAPES = {"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Component:
    """`BEGIN:name` ... `END:name`; parts are unfolded lines and nested components, in order."""

    name: str
    parts: tuple[str | Component, ...]

    @property
    def components(self) -> tuple[Component, ...]:
        return tuple(part for part in self.parts if isinstance(part, Component))

    def lines(self, name: str) -> tuple[str, ...]:
        return tuple(part for part in self.parts if isinstance(part, str) and line_name(part) == name)

    def having(self, lines: Iterable[str]) -> Component:
        """Return the same with lines in place of all lines of the same names; new ones go before nested components."""
        added = tuple(lines)
        return self.lacking({line_name(line) for line in added}).adding(added)

    def lacking(self, names: Iterable[str]) -> Component:
        unwanted = frozenset(names)
        kept = tuple(p for p in self.parts if isinstance(p, Component) or line_name(p) not in unwanted)
        return replace(self, parts=kept)

    def adding(self, lines: Iterable[str]) -> Component:
        first = next((n for n, p in enumerate(self.parts) if isinstance(p, Component)), len(self.parts))
        return replace(self, parts=(*self.parts[:first], *lines, *self.parts[first:]))

    def with_components(self, change: Callable[[Component], Component | None]) -> Component:
        """Return the same with each nested component put through `change`; None drops it."""
        changed = (change(part) if isinstance(part, Component) else part for part in self.parts)
        return replace(self, parts=tuple(part for part in changed if part is not None))

    def with_component(self, component: Component) -> Component:
        return replace(self, parts=(*self.parts, component))


def read_lines(text: str) -> Component:
    """Parse iCalendar text; raises `ValueError` when BEGIN and END do not match."""
    stack: list[tuple[str, list[str | Component]]] = [("", [])]
    for line in unfold(text):
        upper = line.upper()
        if upper.startswith("BEGIN:"):
            stack.append((upper[6:].strip(), []))
        elif upper.startswith("END:"):
            name, parts = stack.pop()
            if not stack or name != upper[4:].strip():
                raise ValueError(f"unexpected {line}")
            stack[-1][1].append(Component(name, tuple(parts)))
        else:
            stack[-1][1].append(line)
    top = [part for part in stack[0][1] if isinstance(part, Component)]
    if len(stack) != 1 or len(top) != 1:
        raise ValueError("not one calendar object")
    return top[0]


def unfold(text: str) -> list[str]:
    """Return the content lines of iCalendar text, without folding and empty lines."""
    return [line for line in re.sub(r"\r?\n[ \t]", "", text).replace("\r\n", "\n").split("\n") if line]


def write_lines(component: Component) -> str:
    return "".join(f"{_fold(line)}\r\n" for line in _flat(component))


def _flat(component: Component) -> Iterable[str]:
    yield f"BEGIN:{component.name}"
    for part in component.parts:
        if isinstance(part, Component):
            yield from _flat(part)
        else:
            yield part
    yield f"END:{component.name}"


def line_name(line: str) -> str:
    match = _NAME.match(line)
    return match[0].upper() if match else ""


def text_line(name: str, value: str) -> str:
    """Return a property holding text; control characters that iCalendar cannot carry are left out."""
    whole = value.encode(errors="replace").decode()
    clean = _CONTROL.sub("", whole.replace("\r\n", "\n").replace("\r", "\n"))
    return f"{name}:" + "".join(_TEXT_ESCAPES.get(character, character) for character in clean)


def parameter(name: str, value: str) -> str:
    """Return a quoted parameter, `;NAME="value"`; what cannot stand in one is replaced."""
    whole = value.encode(errors="replace").decode()
    clean = _CONTROL.sub("", whole).replace("\n", " ").replace('"', "'")
    return f';{name}="{clean}"'


def _fold(line: str) -> str:
    """Fold at 75 octets without cutting a character."""
    if len(line.encode()) <= 75:
        return line
    pieces, piece, room = [], "", 75
    for character in line:
        size = len(character.encode())
        if size > room:
            pieces.append(piece)
            piece, room = "", 74
        piece += character
        room -= size
    return "\r\n ".join([*pieces, piece])
