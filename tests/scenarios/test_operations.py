"""Those who operate the program see on a port of their own that it lives, and what it does, without anyone's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from tests.scenarios.day import STEPS
from tests.scenarios.program import Program
from tests.scenarios.radicale import free_port
from tests.scenarios.test_whole_day import MONDAY

pytestmark = [pytest.mark.process, pytest.mark.extra]


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Program]:
    settings = {"FATEFORGER_OPS_PORT": str(port), "FATEFORGER_LOG": "json", "FATEFORGER_LOG_LEVEL": "info"}
    settings["FATEFORGER_NOW"] = MONDAY  # in the afternoon, not all of the tasks would find a place
    program = Program(tmp_path_factory.mktemp("ops") / "data", settings).start()
    person = program.person()
    for _, step in STEPS:
        step(person)
    yield program
    program.stop()


def ask(port: int, path: str, host: str = "10.1.2.3") -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers={"Host": host}, trust_env=False)


def lines(program: Program) -> list[dict[str, str]]:
    return [json.loads(line) for line in program.log.read_text().splitlines() if line.startswith("{")]


def test_probes_are_answered_under_any_name(program: Program, port: int) -> None:
    """S317: an orchestrator asks by the address of a pod."""
    assert f"Operations: http://127.0.0.1:{port}" in program.log.read_text()
    assert ask(port, "/livez").text == "alive\n"
    ready = ask(port, "/readyz", "fateforger.svc")
    assert (ready.status_code, ready.json()["ok"]) == (200, True)
    assert ask(program.port, "/livez").status_code == 403, "the page of people answers to its own name only"


def test_figures_count_what_people_did_and_name_nobody(program: Program, port: int) -> None:
    """S221: a plan from the first click to the commit, in figures without ids, texts and titles."""
    text = ask(port, "/metrics").text
    figures = {name: float(value) for name, value in re.findall(r"^(fateforger_\S+) (\S+)$", text, re.MULTILINE)}
    assert figures["fateforger_ack_seconds_count"] >= len(STEPS)
    assert figures['fateforger_turn_seconds_count{outcome="done",stage="refine"}'] >= 1
    assert figures['fateforger_effect_seconds_count{kind="write_calendar",outcome="changed"}'] == 1
    assert figures['fateforger_calendar_calls_total{code="ok",operation="create-event",provider="caldav"}'] == 5
    assert figures['fateforger_lease_wait_seconds_count{outcome="taken"}'] >= 1
    assert figures['fateforger_draft_seconds_count{by="engine",outcome="found"}'] >= 1
    assert figures['fateforger_slack_calls_total{code="ok",method="chat.postMessage"}'] >= 2
    assert figures["fateforger_outbox_messages"] == 0
    assert "report" not in text.lower()
    assert not re.search(r"[UDC]0\w{6,}|\d{10}\.\d{6}", text)


def test_one_id_leads_from_a_click_to_the_calendar(program: Program) -> None:
    """S318: each line of the log is JSON and names the command that caused it, without any person's words."""
    said = lines(program)
    writing = next(line for line in said if line["message"].startswith("effect kind=write_calendar "))
    turn = next(line for line in said if line["message"].startswith("turn ") and line["cause"] == writing["cause"])
    assert f"command={writing['cause']}" in turn["message"]
    assert {"time", "level", "logger", "message"} <= set(turn)
    assert "Write report" not in program.log.read_text()
    assert {line["logger"].partition(".")[0] for line in said} == {"fateforger"}, "libraries log addresses of people"
