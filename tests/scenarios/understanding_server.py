"""A model server for the real program, which understands certain messages."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.factories.told_rules import NOTHING
from tests.fakes.openai_server import KEY, MODEL, ModelServer, ReceivedRequest, ScriptedAnswer, model_server

Answers = Mapping[str, Sequence[dict[str, Any]]]


@dataclass
class Listener:
    """A model that answers each question about a message with the message's meaning.

    ``says`` replaces every answer while it is set. ``rules`` are the rules in a message. ``asked`` are the questions
    so far, by message, without those for rules, which run in the background.
    """

    answers: Answers
    rules: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    reads_rules: bool = True
    """If false, it never answers a question for rules."""
    rules_asked: int = 0
    says: ScriptedAnswer | None = None
    asked: dict[str, list[ReceivedRequest]] = field(default_factory=dict)

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if self.says is not None:
            return self.says
        if "The message:" not in asked.last:
            return ScriptedAnswer(status=404, text="This one only reads.")  # a draft: then the program makes its own
        said = asked.last.rsplit("The message:", 1)[1].strip().splitlines()[1]
        if "should_extract" in asked.system:
            self.rules_asked += 1
            return ScriptedAnswer(json.dumps(self.rules.get(said, NOTHING)), slow=not self.reads_rules)
        before = self.asked.setdefault(said, [])
        before.append(asked)
        return ScriptedAnswer(json.dumps(self.answers[said][len(before) - 1]))


class RequestScript(Protocol):
    """A script for the requests of a program."""

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer: ...


@contextmanager
def speaking(listener: RequestScript) -> Iterator[dict[str, str]]:
    """Run the server in a thread of its own and yield the settings of a program that uses it."""
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    ready = threading.Event()
    servers: list[ModelServer] = []

    async def serve() -> None:
        async with model_server(listener.script) as server:
            servers.append(server)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield {"FATEFORGER_MODEL": MODEL, "FATEFORGER_MODEL_URL": servers[0].url, "FATEFORGER_MODEL_KEY": KEY}
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
