"""The program's source files, each read, parsed and walked once in a process, for tests that look at code."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

SOURCE = Path(__file__).resolve().parents[1] / "src"

Node = TypeVar("Node", bound=ast.AST)


class Module:
    """A source file, with the nodes of its syntax tree by their kind."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text()
        self.tree = ast.parse(self.text)
        self.nodes: dict[type[ast.AST], list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            self.nodes.setdefault(type(node), []).append(node)

    def find(self, kind: type[Node]) -> Iterator[Node]:
        return (node for node in self.nodes.get(kind, ()) if isinstance(node, kind))

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        yield from self.find(ast.FunctionDef)
        yield from self.find(ast.AsyncFunctionDef)

    def find_imports(self) -> Iterator[str]:
        """Yield the names of modules and of what is imported from them, except relative ones."""
        for node in self.find(ast.Import):
            yield from (alias.name for alias in node.names)
        for each in self.find(ast.ImportFrom):
            if each.module and not each.level:
                yield each.module
                yield from (f"{each.module}.{alias.name}" for alias in each.names)


@cache
def all_modules() -> dict[str, Module]:
    """Return every module by its path below ``src``.

    Their nodes stay until the end. They are most objects of the process, so no search for garbage looks at them.
    """
    gc.disable()
    try:
        return {path.relative_to(SOURCE).as_posix(): Module(path) for path in sorted(SOURCE.rglob("*.py"))}
    finally:
        gc.enable()
        gc.freeze()


@cache
def modules() -> dict[str, Module]:
    """Return the modules of the program by their path below ``fateforger``."""
    package = "fateforger/"
    return {name.removeprefix(package): each for name, each in all_modules().items() if name.startswith(package)}
