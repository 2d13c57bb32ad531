"""A conversation as data: the person's actions, a model's understanding of them, and the record of the person's view.

``conversations/NAME.yaml`` holds the script: the person's messages, with a model's answers to each prompt.
``NAME.txt`` is the record. For each message it holds the prompts in order, with a limit on their tokens (characters /
4), the text shown while a slow model answered, the new lines that the person reads, and the calendar, where it has
changed.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.factories import told_rules, wishes, words
from tests.factories.prompts import TYPES
from tests.fakes.openai_server import ReceivedRequest, ScriptedAnswer

from fateforger.conversation.language.model_calls import system_text

Json = dict[str, Any]

FOLDER = Path(__file__).parent / "conversations"
TROUBLE = {
    "busy": ScriptedAnswer(status=429, text="Too many requests", headers={"retry-after": "900"}),
    "refusing": ScriptedAnswer(status=401, text="Incorrect API key provided"),
    "nonsense": ScriptedAnswer("I would rather not."),
    "slow": ScriptedAnswer(slow=True),
}


@dataclass(frozen=True)
class Turn:
    """A message, words after ``/timebox``, or a button that is pressed, and the model's answers by prompt.

    ``outside`` is a message outside of any thread; those after it are written in its thread, with ``newest`` in the newest one.
    ``choose`` is a language that is chosen on App Home. ``at`` starts the program again at another time. ``book`` puts an event into the calendar. ``model`` is
    what is wrong with the model. A turn that takes long is not over before the person reads ``until``. With ``slow`` the model
    answers only once the person has read that meanwhile.
    """

    say: str = ""
    timebox: str = ""
    press: str = ""
    choose: str = ""
    outside: bool = False
    newest: bool = False
    at: str = ""
    book: str = ""
    model: str = ""
    until: str = ""
    slow: str = ""
    answers: Mapping[str, list[Json]] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """Return the person's action as the record shows it."""
        pressed = self.press or self.choose
        said = self.say or (self.timebox and f"/timebox {self.timebox}")
        done = f"> {said}" if said else pressed and f"[{pressed}]"
        return " ".join(filter(None, (self.at and f"@ {self.at}", self.book and f"+ {self.book}", done)))


@dataclass(frozen=True)
class Talk:
    """A script. ``calendar`` is what others have put there, like ``2026-03-03 09:30-09:45 Standup``."""

    about: str
    language: str
    now: str
    turns: tuple[Turn, ...]
    calendar: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


def read_talk(path: Path) -> Talk:
    """Return the script in a file."""
    given = yaml.safe_load(path.read_text())
    turns = tuple(_read_turn(turn, given["language"]) for turn in given.pop("turns"))
    return Talk(turns=turns, **given)


def _read_turn(given: Json, language: str) -> Turn:
    said = {name: given.pop(name) for name in TYPES if name in given}
    language = given.pop("language", language)
    complete = {
        name: [_complete(name, each, language) for each in (answer if isinstance(answer, list) else [answer])]
        for name, answer in said.items()
    }
    return Turn(**given, answers=complete)


def _complete(name: str, said: Any, language: str) -> Json:
    """Return the answer to a prompt with the fields that the script leaves out."""
    match name:
        case "decide":
            given = said if isinstance(said, dict) else {"wishes": [said]}
            return {"rules": False, "language": language, **given, "wishes": [_wish(each) for each in given["wishes"]]}
        case "start":
            also = [_wish(each) for each in said.get("also", ())]
            return words.opening(**{"language": language, **_day(said), "also": also})
        case "queue" if "work" in said:
            return {**words.work(**said["work"]), **{key: value for key, value in said.items() if key != "work"}}
        case "date" | "facts":
            return words.day(**_day(said))
        case "replan":
            return {**words.course(), **said}
        case "memory":
            rule = None if "rule" not in said else wishes.rule(**said["rule"])
            return {**wishes.wish(""), **said, "rule": rule}
        case "rules" if said:
            rule = told_rules.rule(**{key: value for key, value in said.items() if key != "scope"})
            return told_rules.build_extraction(rule, scope=said.get("scope", "profile"))
        case "rules":
            return told_rules.NOTHING
        case _:
            return dict(said)


def _day(said: Json) -> Json:
    given = dict(said)
    if "frame" in given:
        given["frame"] = words.frame_of(**given["frame"])
    if "inputs" in given:
        inputs = dict(given["inputs"])
        inputs["add"] = [words.new(**each) for each in inputs.get("add", ())]
        inputs["change"] = [words.change(**each) for each in inputs.get("change", ())]
        given["inputs"] = words.inputs_of(**inputs)
    return given


def _wish(said: str | Json) -> Json:
    """Return one wish: ``undo``, ``accept_pending 1``, or ``{change: swap report and mails}``."""
    if isinstance(said, dict):
        ((intent, part),) = said.items()
        return words.also(intent, part)
    intent, _, number = said.partition(" ")
    return words.also(intent, number=int(number) if number else None)


class Reader:
    """A model that has understood the message of the current turn, and drafts nothing unless the script says how."""

    def __init__(self) -> None:
        self.begin(Turn())

    def begin(self, turn: Turn) -> None:
        """Begin a turn."""
        self.turn = turn
        self.left = {name: list(answers) for name, answers in turn.answers.items() if name != "draft"}
        self.asked: list[tuple[str, int]] = []
        self.unexpected: list[str] = []
        self.told = threading.Event()
        """Set once the person has been told that it takes longer."""
        if not turn.slow:
            self.told.set()

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        """Answer a request."""
        name = next(name for name, kind in TYPES.items() if system_text(name, kind) == asked.system)
        if name == "draft":
            # Drafts are made ahead, so how often one is asked for is chance.
            drafts = self.turn.answers.get(name)
            return (
                ScriptedAnswer(json.dumps(drafts[0]))
                if drafts
                else ScriptedAnswer(status=404, text="It drafts nothing.")
            )
        self.asked.append((name, sum(len(str(message["content"])) for message in asked.messages)))
        if self.turn.model:
            return TROUBLE[self.turn.model]
        if not self.left.get(name):
            self.unexpected.append(f"{name}\n{asked.last}")
            return ScriptedAnswer(status=404, text="The script holds no answer to that.")
        return ScriptedAnswer(json.dumps(self.left[name].pop(0), default=str), until=self.told)

    @property
    def is_done(self) -> bool:
        """True once all answers of the script were asked for."""
        return not any(self.left.values())

    @property
    def prompts(self) -> str:
        """The prompts of this turn, in order; what reads and compares rules does so meanwhile, and comes last."""
        names = [name for name, _ in self.asked]
        return ", ".join(sorted(names, key=lambda name: name in {"rules", "compare"}))

    @property
    def tokens(self) -> int:
        """The tokens of all prompts of this turn."""
        return math.ceil(sum(size for _, size in self.asked) / 4)


STEP = 50
"""Limits are multiples of this, so that a word more or less changes none."""


@dataclass
class TurnRecord:
    """The record of a turn."""

    headline: str
    prompts: str
    tokens: int
    lines: list[str]
    calendar: list[str] | None
    meanwhile: str = ""

    def format(self, limit: int | None) -> str:
        """Return the turn as the record holds it. ``limit`` is the recorded one; it is kept while it holds."""
        holds = limit is not None and self.tokens <= limit
        budget = limit if holds else math.ceil(self.tokens / STEP) * STEP
        asked = f"  ({self.prompts}: {budget})" if self.prompts else "  (no model)"
        meanwhile = [f"  ~ {self.meanwhile}"] if self.meanwhile else []
        lines = [f"    {line}" for line in self.lines]
        calendar = [] if self.calendar is None else [f"  = {each}" for each in self.calendar or ["nothing of the bot"]]
        return "\n".join([self.headline, asked, *meanwhile, *lines, *calendar])


def read_limits(record: str) -> list[int | None]:
    """Return the limit of tokens of each turn of a record."""
    asked = [line for line in record.splitlines() if line.startswith("  (") and line.endswith(")")]
    return [int(line.rpartition(": ")[2][:-1]) if ": " in line else None for line in asked]


def new_lines(before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the lines that were not there before."""
    known = list(before)
    for line in after:
        if line in known:
            known.remove(line)
        else:
            yield line
