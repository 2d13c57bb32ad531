"""The program is asked to end, by Ctrl-C or by whatever runs it, in the middle of something."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.command_line import COMMAND_LINE, programs
from tests.factories.words import wants
from tests.fakes.openai_server import ScriptedAnswer
from tests.scenarios.person import eventually
from tests.scenarios.program import Program
from tests.scenarios.test_whole_day import MONDAY
from tests.scenarios.understanding_server import Listener, speaking

pytestmark = pytest.mark.process


@pytest.fixture
def listener() -> Listener:
    return Listener({"go on": [wants("proceed")]})


@pytest.fixture
def program(tmp_path: Path, listener: Listener) -> Iterator[Program]:
    with speaking(listener) as settings:
        program = Program(tmp_path / "data", {"FATEFORGER_NOW": MONDAY, **settings}).start()
        yield program
        if program.process is not None:
            program.kill()


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_asked_to_end_while_a_message_is_read(program: Program, listener: Listener, again: bool) -> None:  # noqa: FBT001  a case
    """S491: a second time ends it at once. Nothing is logged, and the message is answered after the next start, once."""
    person = program.person()
    person.slash("/timebox")
    person.reads("Plan this day")
    listener.says = ScriptedAnswer(slow=True)
    person.write("go on")
    eventually(lambda: "Reading your message" in str(person.thread()), "the message is read")
    process = program.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    eventually(lambda: "Stopping." in program.log.read_text(), "the program was asked to end")
    began = time.monotonic()
    if again:
        process.send_signal(signal.SIGINT)
    assert process.wait(60) == (128 + signal.SIGINT if again else 0)
    assert time.monotonic() - began < (5 if again else 30)
    said = program.log.read_text().rpartition("Stopping. Ctrl-C again stops at once; nothing is lost.\n")[2]
    assert said == ("Stopped.\n" if again else "")
    listener.says = None
    person = program.start().person()
    thread = person.reads("the hours of your day")
    assert thread.count("the hours of your day") == 1
    eventually(lambda: "Reading your message" not in str(person.thread()), "the thread without its steps")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_while_it_starts(tmp_path: Path, number: signal.Signals) -> None:
    """S491: here it waits for a database whose server does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"postgresql://me@127.0.0.1:{server.getsockname()[1]}/plans"
        log = tmp_path / "log"
        words = ("up", "--port", "0", "--data-dir", str(tmp_path / "data"))
        starting = programs().start(
            COMMAND_LINE, *words, environment={**os.environ, "FATEFORGER_DATABASE_URL": url}, output=log
        )
        server.settimeout(60)
        connection, _ = server.accept()
        with connection:
            starting.send_signal(number)
            assert starting.wait(9) == 128 + number
    assert log.read_text() == "Stopped.\n"
