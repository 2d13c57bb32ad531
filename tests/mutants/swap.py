"""A bug in a module that is loaded already: its functions get the code of the broken source, wherever they are known.

A function keeps its identity, so what imported it, wraps it or overrides it is broken too. What a module works out while it
is imported stays, so a bug outside of functions cannot be put in like this, and is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any


class NotInFunctions(AssertionError):
    """The two sources differ in more than what functions do, or in a function that cannot be found."""


def break_module(module: ModuleType, broken: str) -> list[str]:
    """Give the functions of a module the code that they have in another source; the names of those that differ, one at
    least. Raises :class:`NotInFunctions`."""
    source, path = inspect.getsource(module), str(module.__file__)
    now, then = (compile(text, path, "exec", dont_inherit=True) for text in (source, broken))
    swaps = {_place(old): new for old, new in _pairs(now, then) if _meaning(old) != _meaning(new)}
    found = [function for function in _functions(module) if _place(function.__code__) in swaps]
    if not swaps or {_place(function.__code__) for function in found} != set(swaps):
        raise NotInFunctions(f"{module.__name__}: {sorted(swaps)} differ, {found} were found")
    for function in found:
        function.__code__ = swaps[_place(function.__code__)]
    return sorted(name for name, _ in swaps)


def _pairs(now: CodeType, then: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the functions of a module or class in two versions. A function includes those within it."""
    (before, inner), (after, other) = (_taken_apart(code) for code in (now, then))
    if before != after or len(inner) != len(other):
        raise NotInFunctions(f"{now.co_qualname} differs by itself")
    for old, new in zip(inner, other, strict=True):
        if old.co_flags & inspect.CO_NEWLOCALS and old.co_flags & inspect.CO_OPTIMIZED:
            yield old, new
        else:
            yield from _pairs(old, new)


def _taken_apart(code: CodeType) -> tuple[object, list[CodeType]]:
    """Return the parts of some code without its line numbers, and the code objects in it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    others = [(type(one), repr(one)) for one in code.co_consts if not isinstance(one, CodeType)]
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (
        code.co_code,
        code.co_exceptiontable,
        code.co_flags,
        code.co_argcount,
        code.co_kwonlyargcount,
        names,
        others,
    ), inner


def _meaning(code: CodeType) -> object:
    itself, inner = _taken_apart(code)
    return itself, [_meaning(each) for each in inner]


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions that are defined in a module, without their wrappers."""
    todo: list[Any] = list(vars(module).values())
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, type) and one.__module__ == module.__name__:
            todo += vars(one).values()
        elif isinstance(one, property):
            todo += [one.fget, one.fset]
        elif isinstance(one, FunctionType) and one.__code__.co_filename == module.__file__:
            yield one
        todo += [getattr(one, name) for name in ("__wrapped__", "func") if name in getattr(one, "__dict__", ())]
        if isinstance(one, staticmethod | classmethod):
            todo.append(one.__func__)
