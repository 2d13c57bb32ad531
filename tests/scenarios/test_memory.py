"""The real program and the index of constraints: damaged files are one sentence, planning goes on, the index comes back."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import line_of
from tests.factories.inside import run_inside
from tests.scenarios.person import eventually
from tests.scenarios.program import Program

pytestmark = pytest.mark.process

DAMAGED = "The files of the index of constraints are damaged; it has to be rebuilt."


def run_json(data: Path, *arguments: str) -> Any:
    status, out, err = run_inside(*arguments, "--data-dir", str(data), "--json")
    assert status == 0, err
    return json.loads(out)


def operations(program: Program) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{program.url}/health", timeout=60) as answer:
        said: dict[str, Any] = json.load(answer)
    return said


def test_a_damaged_index_comes_back_while_planning_goes_on(tmp_path: Path) -> None:
    data, lines = tmp_path / "data", tmp_path / "lines.jsonl"
    lines.write_text("".join(f"{json.dumps(line_of(f'c{number}'))}\n" for number in range(20)))
    run_json(data, "constraints", "import", str(lines))
    qdrant = data / "memory" / "qdrant"
    qdrant.mkdir(parents=True)
    (qdrant / "meta.json").write_bytes(b"garbage")
    program = Program(data).start()
    try:
        person = program.person()
        person.slash("/timebox")
        eventually(person.thread, "an answer")
        eventually(lambda: DAMAGED in program.log.read_text(), "the sentence")
        eventually((qdrant / "collection").exists, "an index made anew")
        eventually(lambda: operations(program)["memory"], "an index that works")
        well = {
            "ok": True,
            "database": True,
            "slack": True,
            "slack_mode": "socket",
            "memory": True,
            "constraints": True,
        }
        assert operations(program) == {**well, "memory_trouble": None, "constraints_trouble": None}
        assert program.log.read_text().count(DAMAGED) == 1
        told = run_json(data, "constraints", "reindex")
        assert (told["constraints"], told["done"]) == (20, False)
    finally:
        program.kill()
    assert run_json(data, "constraints", "reindex")["done"]
    checks = {check["name"]: check for check in run_json(data, "doctor")["checks"]}
    assert checks["memory"]["message"] == "20 constraints in embedded Qdrant, found by local-meaning-1."
