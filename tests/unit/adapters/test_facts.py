"""Predicates may look only at files and commands that were allowed (S136, S143)."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from fateforger.adapters.facts import (
    AllowedCommand,
    AllowList,
    LocalFacts,
    iter_regular_files,
    matches_pattern,
    read_allow_file,
    read_allow_list,
    read_file_bytes,
)
from fateforger.errors import BadInput
from fateforger.limits import MAX_CHECKED_BYTES
from fateforger.workflow.trace import CheckAnswer, NothingAllowed

PYTHON = sys.executable


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with two documents and a test, and a secret next to them."""
    folder = tmp_path / "project"
    for path, text in (
        ("docs/plan.md", "# Plan\n## Approved Plan\n"),
        ("docs/deep/notes.md", "nothing yet"),
        ("tests/test_a.py", "def test_a(): ..."),
        (".env", "TOKEN=1"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (tmp_path / "secret.md").write_text("## Approved Plan")
    return folder


def facts(folder: Path, *files: str, **commands: AllowedCommand) -> LocalFacts:
    return LocalFacts(AllowList(folder.resolve(), files, commands))


def command(folder: Path, *words: str, seconds: float = 60) -> AllowedCommand:
    return AllowedCommand(words or ("true",), folder, seconds)


# --- files ---


@pytest.mark.parametrize(
    ("pattern", "text", "told"),
    [
        ("docs/*.md", "## Approved Plan", CheckAnswer(holds=True, why="docs/plan.md holds “## Approved Plan”.")),
        ("docs/*.md", "## Rejected", CheckAnswer(holds=False, why="No file like “docs/*.md” holds “## Rejected”.")),
        ("docs/**/*.md", "nothing yet", CheckAnswer(holds=True, why="docs/deep/notes.md holds “nothing yet”.")),
        ("docs/*.md", "nothing yet", CheckAnswer(holds=False, why="No file like “docs/*.md” holds “nothing yet”.")),
        ("docs/*.rst", "x", CheckAnswer(None, "There is no file like “docs/*.rst”.")),
        ("tests/*.py", "def test_", CheckAnswer(None, "Some files like “tests/*.py” may not be looked at.")),
        ("**", "TOKEN", CheckAnswer(None, "Some files like “**” may not be looked at.")),
        (".env", "TOKEN", CheckAnswer(None, "Some files like “.env” may not be looked at.")),
    ],
)
async def test_a_file_is_looked_at_as_far_as_it_was_allowed(
    project: Path, pattern: str, text: str, told: CheckAnswer
) -> None:
    """There are three answers: the file holds the text, no such file does, or unknown with the reason."""
    assert await facts(project, "docs/**/*.md").contains(pattern, text) == told


@pytest.mark.parametrize("pattern", ["../secret.md", "docs/../../secret.md", "/etc/passwd", "docs/\x00.md", ""])
async def test_a_pattern_never_leaves_its_folder(project: Path, pattern: str) -> None:
    """This holds for any allowed paths: the pattern of a check is not trusted either."""
    for allowed in ("**", "../*.md", pattern or "**"):
        told = await facts(project, allowed).contains(pattern, "## Approved Plan")
        assert told == CheckAnswer(None, f"Files like “{pattern}” may not be looked at.")


@pytest.mark.parametrize("link", ["file", "folder", "inside", "loop"])
async def test_links_are_passed_by(project: Path, link: str) -> None:
    """A link is no way out, nor a way around what was allowed."""
    target = {
        "file": project.parent / "secret.md",
        "folder": project.parent,
        "inside": project / "docs",
        "loop": project,
    }[link]
    (project / "docs" / "plan.md").unlink()
    (project / "docs" / ("link.md" if link == "file" else "link")).symlink_to(target)
    told = await facts(project, "**").contains("docs/**/*.md", "## Approved Plan")
    assert told == CheckAnswer(holds=False, why="No file like “docs/**/*.md” holds “## Approved Plan”.")


def test_a_link_that_takes_a_files_place_in_between_is_refused(project: Path) -> None:
    """After the file was found, before it is opened; on the way to it, too."""
    assert "docs/plan.md" in list(iter_regular_files(project))
    (project / "docs" / "plan.md").unlink()
    (project / "docs" / "plan.md").symlink_to(project.parent / "secret.md")
    with pytest.raises(OSError):
        read_file_bytes(project, "docs/plan.md")
    (project / "docs").rename(project.parent / "docs")
    (project / "docs").symlink_to(project.parent / "docs")
    with pytest.raises(OSError):
        read_file_bytes(project, "docs/deep/notes.md")


async def test_what_is_no_plain_file_is_never_opened(project: Path) -> None:
    """A pipe would wait for a writer for ever."""
    os.mkfifo(project / "docs" / "pipe.md")
    assert "docs/pipe.md" not in list(iter_regular_files(project))
    assert read_file_bytes(project, "docs/pipe.md") is None


async def test_a_file_that_is_too_large_or_not_ours_to_read_is_unknown(project: Path) -> None:
    (project / "docs" / "plan.md").write_bytes(b"x" * (MAX_CHECKED_BYTES + 1))
    told = await facts(project, "**").contains("docs/*.md", "## Approved Plan")
    assert told == CheckAnswer(None, "docs/plan.md cannot be read, or is too large.")


async def test_a_look_ends(project: Path) -> None:
    slow = LocalFacts(AllowList(project, ("**",)), seconds=0)
    assert await slow.contains("**", "x") == CheckAnswer(None, "There are too many files to look for “**” among them.")
    gone = LocalFacts(AllowList(project / "gone", ("**",)))
    assert await gone.contains("**", "x") == CheckAnswer(
        None, "The files cannot be looked at: No such file or directory."
    )


@pytest.mark.parametrize(
    ("path", "pattern", "so"),
    [
        ("a/b.md", "a/*.md", True),
        ("a/b/c.md", "a/*.md", False),
        ("a/b/c.md", "a/**/*.md", True),
        ("a/c.md", "a/**/*.md", True),
        ("a/b/c.md", "**", True),
        ("b/c.md", "a/**", False),
        ("a", "a/**", True),
        ("a/b", "**/**/**/b", True),
    ],
)
def test_a_star_stays_within_a_name(path: str, pattern: str, *, so: bool) -> None:
    assert matches_pattern(path, pattern) is so


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert matches_pattern("/".join("a" * 200), "/".join(["**", "a"] * 100) + "/b") is False


# --- commands ---


async def test_a_command_is_known_by_its_name_only(project: Path) -> None:
    allowed = facts(project, good=command(project, "true"), bad=command(project, "false"))
    assert await allowed.succeeds("good") == CheckAnswer(holds=True, why="“good” ended with status 0.")
    assert await allowed.succeeds("bad") == CheckAnswer(holds=False, why="“bad” ended with status 1.")
    for name in ("true", "good; touch x", "good && bad", "../good", ""):
        assert await allowed.succeeds(name) == CheckAnswer(None, f"“{name}” may not be run.")


async def test_there_is_no_shell(project: Path) -> None:
    """Its words are what they are: nothing in them is read as anything else."""
    strange = "; touch hacked $(touch hacked) `touch hacked` | touch hacked && touch hacked > hacked *"
    script = "import sys; sys.exit(0 if sys.argv[1] == sys.argv[2] else 3)"
    allowed = facts(project, echo=command(project, PYTHON, "-c", script, strange, strange))
    assert (await allowed.succeeds("echo")).holds is True
    assert not (project / "hacked").exists()


async def test_it_runs_in_its_folder_without_our_keys(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command gets neither the program's settings from the environment nor any input."""
    monkeypatch.setenv("FATEFORGER_MODEL_KEY", "sk-secret")
    script = (
        "import os, sys; "
        "ok = 'FATEFORGER_MODEL_KEY' not in os.environ and os.path.exists('plan.md') and sys.stdin.read() == ''; "
        "sys.exit(not ok)"
    )
    allowed = facts(project, look=command(project / "docs", PYTHON, "-c", script))
    assert await allowed.succeeds("look") == CheckAnswer(holds=True, why="“look” ended with status 0.")


async def test_one_that_takes_too_long_is_ended_with_all_that_it_started(project: Path) -> None:
    """A timeout is no failure of the command: the result is unknown."""
    script = "sleep 60 & echo $! > child; wait"
    slow = facts(project, slow=command(project, "sh", "-c", script, seconds=2))
    assert await slow.succeeds("slow") == CheckAnswer(None, "“slow” took longer than 2 seconds, so it was ended.")
    pid = int((project / "child").read_text())
    async with asyncio.timeout(60):
        while _alive(pid):  # noqa: ASYNC110  no event tells of the end of another program's child
            await asyncio.sleep(0.01)


def _alive(pid: int) -> bool:
    """Check whether a process is alive; a dead child that is not yet reaped is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_one_that_says_a_lot_fills_nothing(project: Path) -> None:
    script = "import sys\nfor _ in range(200): sys.stdout.write('x' * 100_000); sys.stderr.write('y' * 100_000)"
    allowed = facts(project, loud=command(project, PYTHON, "-c", script))
    assert (await allowed.succeeds("loud")).holds is True


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("no-such-program-here",), "“odd” cannot be started: No such file or directory."),
        (("/",), "“odd” cannot be started: Permission denied."),
        ((PYTHON, "-c", "import os; os.kill(os.getpid(), 15)"), "“odd” was ended by signal 15."),
    ],
)
async def test_one_that_cannot_tell_is_unknown(project: Path, words: tuple[str, ...], why: str) -> None:
    assert await facts(project, odd=command(project, *words)).succeeds("odd") == CheckAnswer(None, why)


# --- what is allowed ---


async def test_by_default_nothing_is_allowed() -> None:
    nothing = LocalFacts(AllowList())
    assert await nothing.contains("*", "x") == CheckAnswer(None, NothingAllowed.why)
    assert await nothing.succeeds("true") == CheckAnswer(None, NothingAllowed.why)


def test_a_list_says_all_of_it(project: Path) -> None:
    text = """\
folder: ../project
files: ["docs/*.md"]
commands:
  tests_pass: {run: [pytest, "-q", "a b; c"], seconds: 1.5, in: tests}
  clean: {run: [git, diff, --quiet]}
"""
    file = project / "facts.yaml"
    file.write_text(text)
    assert read_allow_file(file) == AllowList(
        project.resolve(),
        ("docs/*.md",),
        {
            "tests_pass": AllowedCommand(("pytest", "-q", "a b; c"), project.resolve() / "tests", 1.5),
            "clean": AllowedCommand(("git", "diff", "--quiet"), project.resolve()),
        },
    )


@pytest.mark.parametrize(
    ("text", "where", "sentence"),
    [
        ("files: [a]", "line 1, column 1", "Say in which folder all of it lies: “folder: ../my-project”."),
        ("folder: ./no", "line 1, column 9", "no is no folder."),
        ("folder: .\nfiles: [docs/*, ../*]", "line 2, column 17", "The pattern of a file is relative"),
        ("folder: .\nfiles: [/etc/*]", "line 2, column 9", "The pattern of a file is relative"),
        ("folder: .\nshell: yes", "line 2, column 1", "A list of what is allowed has no “shell”"),
        (
            "folder: .\ncommands: {a: {run: pytest -q}}",
            "line 2, column 15",
            "A command says what it runs, word by word",
        ),
        ("folder: .\ncommands: {a: {run: []}}", "line 2, column 21", "A command has between 1 and 100 words."),
        ("folder: .\ncommands: {a b: {run: [x]}}", "line 2, column 12", "“a b” cannot be the name of a command"),
        ("folder: .\ncommands: {a: {run: [x], in: ..}}", "line 2, column 30", "A command runs inside the folder"),
        (
            "folder: .\ncommands: {a: {run: [x], in: out}}",
            "line 2, column 30",
            "no folder inside the one that is allowed.",
        ),
        ("folder: .\ncommands: {a: {run: [x], seconds: soon}}", "line 2, column 35", "“soon” is no number"),
        ("folder: .\ncommands: {a: {run: [x], seconds: 1e9}}", "line 2, column 35", "A command has between 0 and 3600"),
    ],
)
def test_a_list_that_allows_more_than_it_may_is_refused(project: Path, text: str, where: str, sentence: str) -> None:
    """With its place; a link out of the folder counts as what it leads to."""
    (project / "out").symlink_to(project.parent)
    with pytest.raises(BadInput) as refused:
        read_allow_list(text, project)
    assert refused.value.where == where
    assert sentence in refused.value.message


def test_a_list_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="which says what may be looked at"):
        read_allow_file(tmp_path / "none.yaml")
    (tmp_path / "facts.yaml").write_text("folder: [")
    with pytest.raises(BadInput) as refused:
        read_allow_file(tmp_path / "facts.yaml")
    assert refused.value.where is not None
    assert refused.value.where.startswith(str(tmp_path / "facts.yaml"))
