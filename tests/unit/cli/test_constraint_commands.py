"""``constraints query`` as programs see it: JSON lines in, JSON lines out, exit status (A11, A12, S19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import line_of
from tests.factories.inside import run_inside
from tests.unit.cli.test_plan_commands import CommandLine


class InProcessCommandLine(CommandLine):
    """The same without a process for each run."""

    def run(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        assert not stdin
        return run_inside(*arguments)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return InProcessCommandLine(tmp_path)


def lines(*documents: Any) -> str:
    return "".join(f"{json.dumps(document, ensure_ascii=False)}\n" for document in documents)


RULES = lines(
    line_of("gym", description="gym on\u2028Tuesdays", days_of_week=["TU"], applies_event_types=["H"]),
    line_of("bed", necessity="must", rule_kind="fixed_bedtime", at="2026-02-02T10:00:00+01:00"),
    line_of("bed", necessity="must", rule_kind="fixed_bedtime", at="2026-02-02T10:30:00+02:00", name="Too old"),
    line_of("foreign", user="U2"),
)


def uids(document: dict[str, Any]) -> list[str]:
    return [item["uid"] for item in document["constraints"]]


def test_query_answers_with_reasons(tmp_path: Path) -> None:
    """S198: in a process of its own, as programs call it."""
    cli = CommandLine(tmp_path)
    source = cli.file("rules.jsonl", RULES)
    query = ("constraints", "query", "--from", source, "--user", "U1", "--date", "2026-03-04", "--stage", "REFINE")
    status, answer = cli.json(*query, "--event-types", "H,DW", "--explain")
    assert (status, uids(answer)) == (0, ["bed"])
    assert answer["constraints"][0]["constraint_record"]["name"] == "Rule bed"
    assert answer["constraints"][0]["reasons"] == ["It has to be kept; you confirmed it.", "It holds on 4 March 2026."]
    assert answer["excluded"] == [{"uid": "gym", "reason": "It is for Tuesday only.", "why": "other_weekday"}]
    assert cli.json(*query)[1]["excluded"][-1]["uid"] == "gym", "without --explain, too"
    status, text, _ = cli.run(*query, "--explain")
    assert (status, text.splitlines()) == (
        0,
        [
            "must   Rule bed  [bed]",
            "       It has to be kept; you confirmed it. It holds on 4 March 2026.",
            "not    Rule gym  [gym]",
            "       It is for Tuesday only.",
        ],
    )


def test_batch_answers_line_by_line(cli: CommandLine) -> None:
    """Line n of the output answers line n of the input; a bad line gets its error document in its place."""
    contexts = [
        {"user_id": "U1", "as_of": "2026-03-03", "type_ids": None, "k": None, "situation": "anything"},
        {"user_id": "U1", "as_of": "2026-03-32"},
        {"user_id": "*", "as_of": "2026-03-03"},
        {"user_id": "U1", "now": "2026-02-02T01:00:00Z", "timezone": "Pacific/Kiritimati", "event_types": []},
        {"user_id": "U1", "as_of": "2026-03-03", "k": 0},
    ]
    source, batch = cli.file("rules.jsonl", RULES), cli.file("contexts.jsonl", lines(*contexts))
    status, out, _ = cli.run("constraints", "query", "--from", source, "--batch", batch, "--explain")
    first, bad, nobody, early, tight = (json.loads(line) for line in out.splitlines())
    assert status == 0
    assert [uids(first), uids(nobody), uids(early), uids(tight)] == [["bed", "gym"], [], [], ["bed"]]
    assert (bad["error"]["kind"], bad["error"]["where"]) == ("bad_input", f"{batch}, line 2, as_of")
    assert tight["excluded"] == [
        {"uid": "gym", "reason": "There was room for 0 only, and others come first.", "why": "cut"}
    ]


def test_the_clock_of_the_command_counts_where_a_context_names_none(cli: CommandLine) -> None:
    """A11: ``--now`` sets the clock; without it a context with a day knows all versions."""
    source = cli.file("rules.jsonl", RULES)
    query = ("constraints", "query", "--from", source, "--user", "U1")
    assert uids(cli.json(*query, "--date", "2026-03-03", "--now", "2026-02-01T12:00:00Z")[1]) == ["gym"]
    assert uids(cli.json(*query, "--now", "2026-03-03T12:00:00Z")[1]) == ["bed", "gym"]
    assert uids(cli.json(*query, "--date", "1999-01-04")[1]) == ["bed"]


@pytest.mark.parametrize(
    ("content", "message", "where"),
    [
        (lines(line_of(), {**line_of(), "updated_at": "today"}), "“updated_at” cannot be used", "line 2, updated_at"),
        (lines(line_of(necessity="shall")), "“necessity” cannot be used", "line 1, constraint_record.necessity"),
        ("{", "This is not JSON", "line 1"),
        (b"\xff\n", "This line is not UTF-8 text.", "line 1"),
    ],
)
def test_a_mistake_says_which_line(cli: CommandLine, content: str | bytes, message: str, where: str) -> None:
    path = cli.folder / "rules.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, answer = cli.json("constraints", "query", "--from", str(path), "--user", "U1", "--date", "2026-03-03")
    assert (status, answer["error"]["kind"]) == (2, "bad_input")
    assert answer["error"]["message"].startswith(message)
    assert where in answer["error"]["where"]


def test_what_is_missing_is_said(cli: CommandLine) -> None:
    source = cli.file("rules.jsonl", RULES)
    assert cli.run("constraints", "query", "--from", source)[0] == 2
    assert cli.run("constraints", "query", "--from", source, "--user", "U1", "--batch", source)[0] == 2
    assert cli.run("constraints", "query", "--from", "-", "--batch", "-")[0] == 2
    assert cli.run("constraints", "query", "--from", str(cli.folder / "none"), "--user", "U1")[0] == 2
