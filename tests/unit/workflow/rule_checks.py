"""A rule and a trace, written as briefly as a table allows."""

from __future__ import annotations

from typing import Any

from fateforger.workflow.conformance import check_case

ACTIONS, STATES = ("x", "y", "other"), ("on", "p", "q")
"""Of the cases here: x and y are done; on, p and q hold."""


def steps(line: str) -> list[dict[str, list[str]]]:
    """Return the steps of a line.

    ``x . y+on q?`` has three steps: x done, nothing, y done while ``on`` holds, and q unknown; ``.`` is nothing.
    """
    trace = []
    for part in line.split():
        step: dict[str, list[str]] = {"do": [], "true": [], "unknown": []}
        for name in part.split("+") if part != "." else ():
            if name.endswith("?"):
                step["unknown"].append(name[:-1])
            else:
                step["do" if name in ACTIONS else "true"].append(name)
        trace.append(step)
    return trace


def ask_engine(rule: str, line: str, *, closed: bool = True) -> dict[str, Any]:
    """Return the engine's verdict on a rule."""
    document = {"rules": [rule], "closed": closed, "trace": steps(line)}
    [result] = check_case({**document, "actions": list(ACTIONS), "states": list(STATES)})["rules"]
    return dict(result)


def verdict(rule: str, line: str, *, closed: bool = True) -> str:
    return str(ask_engine(rule, line, closed=closed)["verdict"])
