"""``workflow check`` as programs see it: YAML and JSON lines in, one JSON document out, exit status (S134, S138, S139)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_plan_commands import CommandLine

RULES = """\
workflow: ship
actions: [write, test, ship]
predicates: {green: , careful: }
constraints:
  - BEFORE ship: green
    remedy: Run the tests first.
  - AFTER write: test
  - NEVER: ship AND careful
"""
TRACE = '{"do":["write"]}\n\n{"do":["ship"],"true":["green"]}\n{"do":["ship","write"],"unknown":["careful"]}\n'


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def rows(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [tuple(each[name] for name in ("verdict", "violations", "unknown", "pending")) for each in document["rules"]]


def test_check_gives_verdict_steps_and_remedies(cli: CommandLine) -> None:
    """The shape is a contract; steps are counted from 0 and empty lines are none."""
    file, trace = cli.file("ship.yaml", RULES), cli.file("trace.jsonl", TRACE)
    status, document = cli.json("workflow", "check", file, "--trace", trace)
    assert (status, document["verdict"], document["rules"][0]) == (
        0,
        "violated",
        {
            "rule": "BEFORE ship: green",
            "verdict": "violated",
            "violations": [2],
            "remedy": "Run the tests first.",
            "id": "BEFORE ship: green",
            "type": "BEFORE",
            "necessity": "must",
            "unknown": [],
            "pending": [],
        },
    )
    assert rows(document)[1:] == [("violated", [0, 2], [], []), ("unknown", [], [2], [])]
    status, document = cli.json("workflow", "check", file, "--trace", "-", "--open", "--exit-code", stdin=TRACE)
    assert (status, rows(document)[1]) == (1, ("pending", [], [], [0, 2]))


def test_people_read_the_same(cli: CommandLine) -> None:
    file, trace = cli.file("ship.yaml", RULES), cli.file("trace.jsonl", TRACE)
    status, text, _ = cli.run("workflow", "check", file, "--trace", trace)
    assert (status, text.splitlines()) == (
        0,
        [
            "✗ BEFORE ship: green: violated, at step 2",
            "  → Run the tests first.",
            "✗ AFTER write: test: violated, at step 0, 2",
            "  → See to “test” after “write”.",
            "? NEVER: ship AND careful: unknown, unknown at step 2",
            "  → Leave out “ship” and “careful”.",
            "Together: violated.",
        ],
    )


def test_a_workflow_that_ships_is_called_by_its_name_and_extended(cli: CommandLine) -> None:
    """S140: a parent is a file in the same folder, or comes with the program."""
    cli.file("ship.yaml", RULES)
    child = cli.file("child.yaml", "workflow: child\nextends: ship\ndisable: [AFTER write: test]\n")
    trace = cli.file("trace.jsonl", '{"do":["write"]}\n')
    assert [each["rule"] for each in cli.json("workflow", "check", child, "--trace", trace)[1]["rules"]] == [
        "BEFORE ship: green",
        "NEVER: ship AND careful",
    ]
    more = cli.file("more.yaml", "workflow: more\nextends: tdd-cycle\nadditional_constraints: [NEVER: refactor]\n")
    trace = cli.file("cycle.jsonl", '{"do":["implement"]}\n')
    here = cli.json("workflow", "check", more, "--trace", trace)[1]["rules"]
    there = cli.json("workflow", "check", "tdd-cycle", "--trace", trace)[1]["rules"]
    assert (here[:-1], here[-1]["rule"]) == (there, "NEVER: refactor")


def test_batch_answers_line_by_line(cli: CommandLine) -> None:
    """Line n of the output answers line n of the input; a bad line gets its error document in its place."""
    cases = [
        {"rules": ["AFTER a: b"], "actions": ["a", "b"], "states": [], "closed": False, "trace": [{"do": ["a"]}]},
        {"rules": ["AFTER a: c"], "actions": ["a", "b"], "states": [], "closed": True, "trace": []},
        {
            "rules": ["ALWAYS: s", "NEVER: s"],
            "actions": None,
            "states": ["s"],
            "closed": None,
            "trace": [{"true": ["s"]}],
        },
        {"rules": ["NEVER: s"], "states": ["s"], "trace": [{"do": ["s"]}]},
        {"rules": ["NEVER: s"], "states": ["s"]},
        {"rules": [], "trace": [{"true": None}]},
    ]
    batch = cli.file("cases.jsonl", "".join(f"{json.dumps(case)}\n" for case in cases))
    status, out, _ = cli.run("workflow", "check", "--batch", batch, "--json")
    pending, undeclared, both, wrong, missing, empty = (json.loads(line) for line in out.splitlines())
    assert (status, pending["verdict"], pending["rules"][0]["pending"]) == (0, "pending", [0])
    assert undeclared["error"] == {
        "kind": "bad_input",
        "message": "Nothing is declared with the name “c”.",
        "where": f"{batch}, line 2, rule 0, line 1, column 10",
    }
    assert ([each["verdict"] for each in both["rules"]], both["conflicts"]) == (["satisfied", "violated"], [[0, 1]])
    assert wrong["error"]["message"] == "“s” is declared as a state, and stands here as an action."
    assert missing["error"]["message"] == "“trace” is missing."
    assert empty == {"verdict": "vacuous", "rules": [], "conflicts": []}


@pytest.mark.parametrize(
    ("rules", "trace", "message", "where"),
    [
        (
            RULES.replace("green\n", "gren\n"),
            TRACE,
            "Nothing is declared with the name “gren”. Did you mean green?",
            "{file}, line 5, column 18",
        ),
        (
            RULES.replace("NEVER: ship AND careful", "IF careful THEN test AND green"),
            TRACE,
            "After THEN come only states or only actions, and “green” is a state; please make it two rules.",
            "{file}, line 8, column 30",
        ),
        (
            f"{RULES}triggers: [{{ON test: INVOKE green}}]\n",
            TRACE,
            "INVOKE needs an action, and “green” is a state.",
            "{file}, line 9, column 29",
        ),
        (
            f"{RULES}extra: 1\n",
            TRACE,
            "A workflow has no “extra”; it has actions, additional_constraints, constraints, context, description, disable, extends, predicates, triggers, workflow.",
            "{file}, line 9, column 1",
        ),
        (
            RULES,
            '{"do":["write"]}\n{"do":["shipp"]}\n',
            "Nothing is declared with the name “shipp”. Did you mean ship?",
            "{trace}, line 2, do",
        ),
        (
            RULES,
            '{"true":["ship"]}\n',
            "“ship” is declared as an action, and stands here as a state.",
            "{trace}, line 1, true",
        ),
        (
            RULES,
            '{"true":["green"],"unknown":["green"]}\n',
            "“green” is both true and unknown here; it can be one of them.",
            "{trace}, line 1",
        ),
        (RULES, '{"done":["ship"]}\n', "“done” is not a field I know here.", "{trace}, line 1, done"),
        (RULES, "[]\n", "A step is a JSON object with do, true and unknown.", "{trace}, line 1"),
        (RULES, '{"do":[1]}\n', "“do[0]” cannot be used: input should be a valid string.", "{trace}, line 1, do[0]"),
        (
            RULES,
            "{\n",
            "This is not JSON: expecting property name enclosed in double quotes.",
            "{trace}, line 1, line 2, column 1",
        ),
    ],
)
def test_bad_input(cli: CommandLine, rules: str, trace: str, message: str, where: str) -> None:
    """Exit status 2 and one clear sentence with its place."""
    files = {"file": cli.file("w.yaml", rules), "trace": cli.file("t.jsonl", trace)}
    status, document = cli.json("workflow", "check", files["file"], "--trace", files["trace"])
    error = {"kind": "bad_input", "message": message, "where": where.format(**files)}
    assert (status, document) == (2, {"error": error})


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "tdd-cycle"),
        ("check", "--batch", "x", "--open"),
        ("check", "-", "--trace", "-"),
        ("check", "nowhere.yaml", "--trace", "-"),
    ],
)
def test_what_is_not_a_question(cli: CommandLine, arguments: tuple[str, ...]) -> None:
    status, document = cli.json("workflow", *arguments)
    assert (status, [*document]) == (2, ["error"])
