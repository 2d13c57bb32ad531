#!/usr/bin/env python3
"""Measure the structure of ``src/fateforger``: size, names, docstrings, imports, and how far one click travels.

    python scripts/measure_structure.py            everything that can be read off the code
    python scripts/measure_structure.py --trace    also what a click, a message and an Undo run, in the real program

Prints one line a figure, with its target; ``--json`` prints one document. Never fails a build.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fateforger"
sys.path.insert(0, str(ROOT))

NOW = "2026-03-02T07:00:00+01:00"
RELATIVE = re.compile(r"(What|Whether|Which|Who|Whoever|Whose|Where|How|That)\b")
IRREGULAR = frozenset({
    "told", "said", "made", "shown", "written", "taken", "given", "held", "kept", "known", "seen", "done", "found",
    "left",
    "put", "set", "sent", "drawn", "spoken", "begun", "gone", "heard", "understood", "owed", "met", "read",
})  # fmt: skip
TARGETS: dict[str, str] = {
    "files": "<= 380",
    "lines": "<= 58,000",
    "classes": "<= 650",
    "longest import chain": "<= 25",
    "relative-clause docstrings": "<= 2 %",
    "participle names": "<= 2 %",
    "session fields": "<= 20",
    "string-keyed updates": "0",
    "click: files": "<= 60",
    "click: lines of function bodies": "<= 1,500",
    "click: package changes": "<= 60",
    "undo: files": "<= 70",
    "README words": "<= 700",
    "ARCHITECTURE bytes": "<= 10,240",
    "glossary terms": "<= 90",
}
Functions = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def functions() -> Iterator[Functions]:
    for tree in modules().values():
        yield from (node for node in ast.walk(tree) if isinstance(node, Functions))


def measure_size() -> dict[str, Any]:
    lengths = [len(path.read_text().splitlines()) for path in modules()]
    bodies = [node.end_lineno - node.lineno + 1 for node in functions() if node.end_lineno is not None]
    return {
        "files": len(lengths),
        "lines": sum(lengths),
        "median file": statistics.median(lengths),
        "longest file": max(lengths),
        "classes": sum(isinstance(n, ast.ClassDef) for tree in modules().values() for n in ast.walk(tree)),
        "functions": len(bodies),
        "longest function": max(bodies),
    }


def measure_prose() -> dict[str, Any]:
    found = list(functions())
    relative = sum(bool(RELATIVE.match(ast.get_docstring(node) or "")) for node in found)
    participles = sum(is_participle(node.name) for node in found)
    return {
        "relative-clause docstrings": f"{100 * relative / len(found):.1f} % ({relative})",
        "participle names": f"{100 * participles / len(found):.1f} % ({participles})",
        "README words": len((ROOT / "README.md").read_text().split()),
        "ARCHITECTURE bytes": (ROOT / "ARCHITECTURE.md").stat().st_size,
        "glossary terms": len(glossary_terms()),
    }


def glossary_terms() -> list[str]:
    """Return every term that the glossary defines: all words in bold, and each of several that share one definition."""
    bold = re.findall(r"\*\*(.+?)\*\*", (ROOT / "GLOSSARY.md").read_text(), re.DOTALL)
    return [term.strip() for words in bold for term in re.split(r",|/|\band\b|\bor\b", words) if term.strip()]


def is_participle(name: str) -> bool:
    """Check whether a function's name is nothing but a past participle."""
    bare = name.strip("_")
    return "_" not in bare and (bare in IRREGULAR or (bare.endswith("ed") and len(bare) > 4))


def measure_state() -> dict[str, Any]:
    from fateforger.session.model import Session

    updates = sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "model_copy"
        and any(k.arg == "update" for k in node.keywords)
        for path, tree in modules().items()
        if path.name != "values.py"  # the typed helper
        for node in ast.walk(tree)
    )
    return {"session fields": len(Session.model_fields), "string-keyed updates": updates}


# --- imports ---


def measure_imports() -> dict[str, Any]:
    graph = {name: targets - {name} for name, targets in _imports().items()}
    return {"longest import chain": _longest(graph)}


def _imports() -> dict[str, set[str]]:
    names = {_module_name(path): path for path in modules()}
    graph: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in modules()[path].body:
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names if alias.name in names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found = {f"{node.module}.{alias.name}" for alias in node.names} & names.keys()
                graph[name] |= found or ({node.module} & names.keys())
    return graph


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _longest(graph: dict[str, set[str]]) -> int:
    """Return the number of modules on the longest chain of imports; a cycle ends one."""
    sys.setrecursionlimit(10_000)
    known: dict[str, int] = {}

    def depth(name: str, above: frozenset[str]) -> int:
        if name not in known:
            below = (depth(other, above | {name}) for other in graph[name] if other not in above)
            known[name] = 1 + max(below, default=0)
        return known[name]

    return max(depth(name, frozenset()) for name in graph)


# --- how far one click travels ---


def measure_clicks() -> dict[str, Any]:
    """Run a day in the real program and trace its clicks."""
    from tests.scenarios.day import STEPS

    with tempfile.TemporaryDirectory() as folder:
        traced = Traced(Path(folder))
        try:
            for _, step in STEPS[:-1]:
                step(traced.person)
            found = traced.figures("click", lambda p: p.choose("Answer mail", "15 min later"), "is now 12:05")
            found |= traced.figures("commit", lambda p: p.press("Commit to calendar"), "is on your calendar")
            found |= traced.figures("undo", lambda p: p.press("Undo"), "Taken back")
        finally:
            traced.close()
    return found


class Traced:
    """The program under ``trace_calls.py``, and a person at its page."""

    def __init__(self, folder: Path) -> None:
        from tests.scenarios.person import Person, eventually

        self._out = folder / "trace.json"
        log = folder / "log"
        environment = {
            **os.environ,
            "FATEFORGER_TRACE": str(self._out),
            "FATEFORGER_CALDAV_PORT": "0",
            "FATEFORGER_NOW": NOW,
            "PYTHONUNBUFFERED": "1",
        }
        command = [
            sys.executable,
            str(ROOT / "scripts" / "trace_calls.py"),
            "up",
            "--port",
            "0",
            "--data-dir",
            str(folder / "data"),
        ]
        with log.open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        ready = eventually(lambda: re.search(r"Ready: (http://\S+)\s", log.read_text()), "the program's address")
        self.person = Person(ready.group(1))
        self.person.wait_connected()

    def close(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(timeout=60)

    def figures(self, name: str, act: Callable[[Any], object], reads: str) -> dict[str, Any]:
        """Trace the code that runs because of an act, without code that runs anyway."""
        self._take()
        time.sleep(6)  # what runs by itself within this time is not the act's
        idle = {(f["file"], f["name"], f["line"]) for f in self._take()}
        act(self.person)
        self.person.reads(reads)
        time.sleep(2)  # until what follows from it has ended
        mine = [f for f in self._take() if (f["file"], f["name"], f["line"]) not in idle]
        named = [f for f in mine if not f["name"].rpartition(".")[2].startswith("<")]
        return {
            f"{name}: functions": len(named),
            f"{name}: files": len({f["file"] for f in named}),
            f"{name}: lines of function bodies": sum(_body(f["file"], f["line"]) for f in named),
            f"{name}: package changes": sum(f["crossings"] for f in named),
        }

    def _take(self) -> list[dict[str, Any]]:
        """Return the calls since the last time."""
        from tests.scenarios.person import eventually

        self._out.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        eventually(self._out.exists, "the trace")
        found: list[dict[str, Any]] = json.loads(self._out.read_text())
        return found


@cache
def _bodies(file: str) -> dict[int, int]:
    """Return the length of each function of a file, by the line of its ``def`` and of its first decorator."""
    lengths: dict[int, int] = {}
    for node in ast.walk(modules()[SOURCE / file]):
        if isinstance(node, Functions) and node.end_lineno is not None:
            for line in (node.lineno, *(d.lineno for d in node.decorator_list)):
                lengths[line] = node.end_lineno - node.body[0].lineno + 1
    return lengths


def _body(file: str, line: int) -> int:
    return _bodies(file).get(line, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", action="store_true", help="also trace clicks in the running program")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    given = parser.parse_args()
    found = {**measure_size(), **measure_prose(), **measure_state(), **measure_imports()}
    if given.trace:
        found |= measure_clicks()
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:36} {value!s:>16}   {TARGETS.get(name, '')}")


if __name__ == "__main__":
    main()
