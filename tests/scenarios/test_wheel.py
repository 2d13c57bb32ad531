"""The wheel as a person gets it: built, installed into an environment of its own, and used from an empty folder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import httpx
import pytest
from tests.scenarios.person import Person, eventually

from fateforger import __version__

ROOT = Path(__file__).resolve().parents[2]
INSTALLING = re.compile(r"^(make|pip) ")
"""Commands of the README that install; the fixture does the same without a registry."""

pytestmark = [pytest.mark.process, pytest.mark.extra]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds nothing but ``.venv`` with the wheel.

    Its dependencies are those of the tests, whose site-packages come last on the path, so that they need no download.
    """
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", ".venv", cwd=folder)
    python = str(folder / ".venv" / "bin" / "python")
    pip = ("-m", "pip", "--python", python, "--disable-pip-version-check")
    run(sys.executable, *pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheel), cwd=folder)
    (site,) = folder.glob(".venv/lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder


def run(*command: str, cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Return the output of a command. A command that fails raises an error with its output."""
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def bare_environment(folder: Path) -> dict[str, str]:
    """Return an environment without any settings but for free ports; another program may have the usual ones."""
    ports = {"FATEFORGER_PORT": "0", "FATEFORGER_CALDAV_PORT": "0"}
    return {"PATH": os.defpath, "HOME": str(folder), "PYTHONUNBUFFERED": "1", **ports}


def wrap_in_shell(line: str) -> tuple[str, ...]:
    """Return the program that types a line into a shell, after the line that puts the command on the path."""
    return ("sh", "-ec", f". .venv/bin/activate; exec {line}" if line.startswith("fateforger") else line)


def readme_lines() -> list[str]:
    """Return each line of the README's code blocks that a person types."""
    blocks = re.findall(r"^```shell\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if not INSTALLING.match(line)]


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    """Migrations, workflows, pages and typefaces as well."""
    listed = run("git", "ls-files", "src", cwd=ROOT).splitlines()
    packed = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(packed) == sorted(name.removeprefix("src/") for name in listed if (ROOT / name).is_file())


def test_the_commands_of_the_readme_work_from_an_empty_folder(folder: Path) -> None:
    environment = bare_environment(folder)
    assert [path.name for path in folder.iterdir()] == [".venv"]
    lines = readme_lines()
    assert "fateforger up" in lines
    with (folder / "log").open("wb") as log:
        program = subprocess.Popen(
            wrap_in_shell("fateforger up"), cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        for line in lines:
            if line != "fateforger up":
                run(*wrap_in_shell(line), cwd=folder, environment=environment)
        assert (
            run(*wrap_in_shell("fateforger --version"), cwd=folder, environment=environment).split()[-1] == __version__
        )
        checks = json.loads(run(*wrap_in_shell("fateforger doctor --json"), cwd=folder, environment=environment))
        assert checks["ok"] is True
        address = eventually(lambda: ready(program, folder / "log"), "the program's address")
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(address)
            parts = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
            assert parts
            found = {part: browser.get(page.url.join(part)).status_code for part in parts}
        assert found == dict.fromkeys(parts, 200)
    finally:
        program.send_signal(signal.SIGINT)
        status = program.wait(timeout=60)
    assert status == 0
    assert (folder / ".local" / "share" / "fateforger" / "fateforger.db").is_file()


def ready(program: subprocess.Popen[bytes], log: Path) -> str | None:
    """Return the address that the program prints once it is ready."""
    said = log.read_text()
    assert program.poll() is None, said
    found = re.search(r"Ready: (http://\S+)\n", said)
    return found.group(1) if found else None


def test_what_runs_is_the_wheel(folder: Path) -> None:
    place = run(str(folder / ".venv/bin/python"), "-c", "import fateforger; print(fateforger.__file__)", cwd=folder)
    assert Path(place.strip()).is_relative_to(folder)


def test_the_program_speaks_the_language_of_a_catalogue(folder: Path) -> None:
    environment = {**bare_environment(folder), "FATEFORGER_LANGUAGE": "de"}
    command = wrap_in_shell(f"fateforger up --data-dir {folder / 'german'}")
    with (folder / "german.log").open("wb") as log:
        program = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        person = Person(eventually(lambda: ready(program, folder / "german.log"), "the program's address"))
        person.wait_connected()
        assert person.slash("/timebox") == {"ok": True}
        person.reads("Welchen Tag planen wir?", "Diesen Tag planen")
    finally:
        program.send_signal(signal.SIGINT)
        status = program.wait(timeout=60)
    assert status == 0
