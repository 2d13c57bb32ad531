"""The plan commands as programs see them: JSON in, JSON out, exit status (S63-S68, shapes of the documents)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_program

PLAN: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "events": [
        {"n": "Write", "d": "", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}, "key": "w"},
        {"n": "Read", "d": "", "t": "SW", "p": {"a": "ap", "dur": "PT30M"}, "key": "r"},
    ],
}


class CommandLine:
    """Runs the program as a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, content: Any) -> str:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        return run_program(*arguments, given=stdin)

    def json(self, *arguments: str, stdin: str = "") -> tuple[int, Any]:
        status, out, _ = self.run(*arguments, "--json", stdin=stdin)
        return status, json.loads(out)


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_resolve_gives_instants(cli: CommandLine) -> None:
    """S66: RFC 3339 with offset, keys, minutes; from a file or from stdin."""
    expected = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "events": [
            {
                "index": 0, "key": "w", "name": "Write", "type": "DW", "minutes": 60,
                "start": "2026-03-02T09:00:00+01:00", "end": "2026-03-02T10:00:00+01:00",
            },
            {
                "index": 1, "key": "r", "name": "Read", "type": "SW", "minutes": 30,
                "start": "2026-03-02T10:00:00+01:00", "end": "2026-03-02T10:30:00+01:00",
            },
        ],
    }  # fmt: skip
    assert cli.json("plan", "resolve", cli.file("p.json", PLAN)) == (0, expected)
    assert cli.json("plan", "resolve", "-", stdin=json.dumps(PLAN)) == (0, expected)


@pytest.mark.parametrize(("release", "offset"), [("2020a", "-07:00"), ("2099a", "-08:00")])
def test_zones_are_of_the_latest_release(tmp_path: Path, release: str, offset: str) -> None:
    """S493: of the system's, in which British Columbia has winter time, and those that are installed with the program."""
    system = tmp_path / "zoneinfo"
    (system / "America").mkdir(parents=True)
    (system / "tzdata.zi").write_text(f"# version {release}\n")
    winter = files("tzdata") / "zoneinfo" / "Etc" / "GMT+8"
    (system / "America" / "Vancouver").write_bytes(winter.read_bytes())
    plan = json.dumps({**PLAN, "date": "2026-12-07", "tz": "America/Vancouver"})
    command = [sys.executable, "-m", "fateforger", "plan", "resolve", "-", "--json"]
    environment = {**os.environ, "PYTHONTZPATH": str(system)}
    out = subprocess.run(command, input=plan, env=environment, capture_output=True, text=True, check=True).stdout
    assert json.loads(out)["events"][0]["start"] == f"2026-12-07T09:00:00{offset}"


def test_patch_gives_the_new_plan_and_the_way_back(cli: CommandLine) -> None:
    """S68: patching with the inverse gives the first plan again."""
    patch = {
        "ops": [
            {"op": "re", "i": 1},
            {"op": "ue", "i": 0, "n": "Draft", "p": {"a": "fs", "st": "08:00", "dur": "PT2H"}},
        ]
    }
    status, result = cli.json("plan", "patch", cli.file("p.json", PLAN), cli.file("patch.json", patch))
    assert (status, [e["n"] for e in result["plan"]["events"]]) == (0, ["Draft"])
    status, back = cli.json("plan", "patch", cli.file("q.json", result["plan"]), cli.file("i.json", result["inverse"]))
    assert (status, back["plan"]) == (0, PLAN)


def test_check_names_every_overlap(cli: CommandLine) -> None:
    """S67, S50"""
    overlapping = {
        **PLAN,
        "events": [*PLAN["events"], {"n": "Call", "t": "M", "p": {"a": "fw", "st": "09:30", "et": "10:15"}}],
    }
    status, result = cli.json("plan", "check", cli.file("p.json", overlapping))
    assert (status, result["ok"]) == (0, False)
    assert result["errors"] == [
        {"message": "“Call” starts at 09:30, but “Write” runs until 10:00.", "events": [0, 2]},
        {"message": "“Read” starts at 10:00, but “Call” runs until 10:15.", "events": [2, 1]},
    ]
    status, result = cli.json("plan", "check", cli.file("p.json", PLAN))
    assert (status, result["ok"], result["errors"]) == (0, True, [])
    assert sorted(result["quality"]) == ["label", "level", "next_step"]
    assert cli.run("plan", "check", cli.file("p.json", overlapping), "--exit-code")[0] == 1


def test_batch_answers_line_by_line(cli: CommandLine) -> None:
    lines = "\n".join([json.dumps(PLAN), "{not json", "", json.dumps({**PLAN, "tz": "Mars"})])
    status, out, _ = cli.run("plan", "resolve", "--batch", "-", "--json", stdin=lines)
    results = [json.loads(line) for line in out.splitlines()]
    assert (status, [sorted(r) for r in results]) == (0, [["date", "events", "tz"], ["error"], ["error"]])
    assert results[1]["error"]["where"] == "-, line 2, line 1, column 2"


@pytest.mark.parametrize(
    ("arguments", "stdin", "kind"),
    [
        (("plan", "resolve", "-"), "{", "bad_input"),
        (("plan", "resolve", "-"), "[]", "plan_invalid"),
        (("plan", "resolve", "/nowhere/plan.json"), "", "bad_input"),
        (("plan", "resolve"), "", "usage"),
        (("plan", "fly"), "", "usage"),
        (("plan", "patch", "-", "-"), "{}", "bad_input"),
        (("plan", "resolve", "-"), '{"date":"2026-03-02","tz":"Mars","events":[]}', "plan_invalid"),
        (("plan", "resolve", "-"), "[" * 100_000, "bad_input"),
    ],
)
def test_bad_input_is_status_two_and_one_sentence(
    cli: CommandLine, arguments: tuple[str, ...], stdin: str, kind: str
) -> None:
    status, result = cli.json(*arguments, stdin=stdin)
    assert (status, sorted(result), result["error"]["kind"]) == (2, ["error"], kind)
    assert sorted(result["error"]) == ["kind", "message", "where"]
    status, out, err = cli.run(*arguments, stdin=stdin)
    assert (status, out) == (2, "")
    assert result["error"]["message"] in err


def test_a_wrong_command_names_its_help_and_a_group_alone_shows_it(cli: CommandLine) -> None:
    assert cli.run("plan", "fly") == (2, "", "No such command 'fly'. See fateforger plan --help.\n")
    status, out, err = cli.run("plan")
    assert (status, out) == (2, "")
    assert err.startswith("Usage: fateforger plan")
    assert err.rstrip().splitlines()[-1].split()[0] == "resolve"


def test_draw_gives_the_picture_and_the_words(cli: CommandLine) -> None:
    """``{"svg","text"}``, or ``{"path","text"}`` with a file; before and after name what changed."""
    plan = cli.file("plan.json", PLAN)
    later = {**PLAN, "events": [{**PLAN["events"][0], "p": {"a": "fs", "st": "10:00", "dur": "PT1H"}}]}
    status, drawn = cli.json("plan", "draw", plan)
    words = "Monday 2 March: 2 blocks. 09:00 to 10:00 Write, deep work. 10:00 to 10:30 Read, shallow work."
    assert (status, sorted(drawn), drawn["text"]) == (0, ["svg", "text"], words)
    assert drawn["svg"].startswith("<svg ")
    for suffix, start in ((".svg", b"<svg "), (".png", b"\x89PNG")):
        out = cli.folder / f"day{suffix}"
        status, drawn = cli.json("plan", "draw", "-", "--out", str(out), "--before", plan, stdin=json.dumps(later))
        assert (status, drawn["path"]) == (0, str(out))
        assert drawn["text"].endswith("Write, deep work, moved, was 09:00. Removed: Read, was 10:00 to 10:30.")
        assert out.read_bytes().startswith(start)


def test_draw_says_what_it_cannot_do(cli: CommandLine) -> None:
    plan = cli.file("plan.json", PLAN)
    other = cli.file("other.json", {**PLAN, "date": "2026-03-03"})
    for arguments, words in (
        ([plan, "--out", str(cli.folder / "day.gif")], "I can write .svg and .png, and day.gif is neither."),
        ([plan, "--out", str(cli.folder / "none" / "day.svg")], "No such file or directory"),
        ([plan, "--before", other], "a picture shows one day"),
        ([plan, "--now", "noon"], "is no instant"),
    ):
        status, out, err = cli.run("plan", "draw", *arguments)
        assert (status, out) == (2, "")
        assert words in err
