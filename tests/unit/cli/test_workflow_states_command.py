"""``workflow check --evaluate``: the states are looked up, as far as that is allowed (S136, S137)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fateforger.cli.workflow import workflow_command
from fateforger.errors import BadInput

SHIP = """\
workflow: ship
actions: [ship]
predicates:
  planned: {check: {file: "docs/*.md", contains: "## Approved"}}
  tested: {check: {command: tests}}
  agreed: {check: {user_stated: approval}}
  urgent: {check: {task: tags, contains: urgent}}
constraints:
  - BEFORE ship: planned AND tested
  - BEFORE ship: agreed OR urgent
    remedy: Ask first.
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a workflow, a trace, known facts, and an approved plan that may not be read."""
    (tmp_path / "docs").mkdir()
    for name, text in (
        ("ship.yaml", SHIP),
        ("trace.jsonl", '{"do":["ship"],"true":["planned","tested","agreed"]}\n'),
        ("known.json", '{"task": {"tags": ["urgent"]}}'),
        ("odd.json", '{"session": {"a": "yes"}}'),
        ("docs/plan.md", "## Approved"),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(workflow_command, ["check", "ship.yaml", *arguments], input=stdin)


def document(*arguments: str, stdin: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(check(*arguments, "--json", stdin=stdin).output)
    return found


def verdicts(report: dict[str, Any]) -> list[str]:
    return [rule["verdict"] for rule in report["rules"]]


@pytest.mark.usefixtures("files")
def test_without_leave_what_has_to_be_looked_at_is_unknown() -> None:
    """An unknown state does not hide the others; its reason names the setting that is missing."""
    report = document("--evaluate", "--do", "ship", "--known", "known.json")
    why = ["No files and commands may be looked at; FATEFORGER_FACTS names the file that allows some."]
    assert report["states"] == [
        {"state": "agreed", "holds": None, "why": ["Nobody read what the person stated."]},
        {"state": "planned", "holds": None, "why": why},
        {"state": "tested", "holds": None, "why": why},
        {"state": "urgent", "holds": True, "why": ["“tags” of the task holds “urgent”."]},
    ]
    assert verdicts(report) == ["unknown", "satisfied"]


@pytest.mark.parametrize(("program", "status", "verdict"), [("true", 0, "satisfied"), ("false", 1, "violated")])
def test_with_leave_it_is_looked_up(
    files: Path, monkeypatch: pytest.MonkeyPatch, program: str, status: int, verdict: str
) -> None:
    """For programs and for people."""
    text = f"folder: .\nfiles: [docs/*]\ncommands: {{tests: {{run: ['{program}']}}}}\n"
    (files / "facts.yaml").write_text(text)
    monkeypatch.setenv("FATEFORGER_FACTS", "facts.yaml")
    report = document("--evaluate", "--do", "ship", "--known", "-", stdin='{"stated": []}')
    states = {each["state"]: each["holds"] for each in report["states"]}
    assert states == {"agreed": False, "planned": True, "tested": status == 0, "urgent": None}
    assert verdicts(report) == [verdict, "unknown"]
    told = check("--evaluate", "--do", "ship", "--exit-code")
    assert told.exit_code == status
    assert "✓ planned: docs/plan.md holds “## Approved”.\n" in told.output
    assert f"{'✗' if status else '✓'} tested: “tests” ended with status {status}.\n" in told.output


@pytest.mark.usefixtures("files")
def test_the_step_comes_after_those_of_the_trace() -> None:
    assert verdicts(document("--evaluate", "--trace", "trace.jsonl")) == ["satisfied", "satisfied"]
    assert document("--evaluate", "--trace", "trace.jsonl", "--do", "ship")["rules"][0]["unknown"] == [1]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--evaluate", "--do", "shop"), "Nothing is declared with the name “shop”. Did you mean ship?"),
        (("--evaluate", "--known", "odd.json"), "“a” cannot be used: input should be a valid boolean."),
        (
            ("--evaluate", "--known", "-", "--trace", "-"),
            "Only one of the workflow, the trace, the plan and what is known can come from stdin.",
        ),
    ],
)
def test_what_makes_no_sense_is_said(arguments: tuple[str, ...], sentence: str) -> None:
    error = check(*arguments).exception
    assert isinstance(error, BadInput)
    assert error.message == sentence


@pytest.mark.usefixtures("files")
def test_its_options_belong_together() -> None:
    told = check("--do", "ship", "--trace", "trace.jsonl")
    assert (told.exit_code, "--do belongs to --evaluate, --known to --evaluate or --plan." in told.output) == (2, True)
