"""The recording of a turn: it can be run again, and holds no private data (S60, S215, S221)."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from tests.factories.told_day import LINES, SECRET_WORDS, speaking, told_day
from tests.factories.words import inputs_of, new, wants
from tests.factories.words import opening as begins
from tests.fakes.openai_server import KEY, MODEL, ScriptedAnswer, model_server
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, MORNING, Harness, Person, open_harness_at

from fateforger import __version__
from fateforger.adapters.model.client import ChatModel
from fateforger.adapters.model.endpoint import Endpoint
from fateforger.adapters.recordings import RecordingFiles
from fateforger.conversation.recordings import DraftRun, OpeningRun, RecordedTurn, Run, parse_recorded_turn
from fateforger.conversation.redaction import SECRET, Redaction
from fateforger.conversation.turn_runs import RecordingSink, replay
from fateforger.errors import ModelUnreachable
from fateforger.session.commands.thread import Opening

HIDING = b"only for this test"
Open = Callable[..., Awaitable[Harness]]


@pytest.fixture
async def opening(tmp_path: Path) -> AsyncIterator[Open]:
    """Yield a function that opens a program which records into ``tmp_path / "turns"``."""
    opened: list[Harness] = []

    async def open_(model: ScriptedModel, cleaning: Redaction, folder: Path | None = None) -> Harness:
        kept = RecordingSink(RecordingFiles(folder or tmp_path / "turns"), cleaning)
        opened.append(await open_harness_at(tmp_path, model=model, kept=kept))
        return opened[-1]

    yield open_
    for harness in opened:
        await harness.close()


def texts(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.glob("*.json")]


async def read_turns(harness: Harness, folder: Path) -> list[RecordedTurn]:
    """Return the turns in the order in which they began, without drafts made in the background."""
    await harness.coordinator.aclose()
    known = [parse_recorded_turn(json.loads(text), "a recording") for text in texts(folder)]
    turns = [
        (len(run.input.session.thread.handled), turn) for turn in known for run in turn.runs if isinstance(run, Run)
    ]
    return [turn for _, turn in sorted(turns, key=lambda each: each[0])]


@pytest.mark.parametrize("key", [None, HIDING], ids=["kept", "redacted"])
async def test_a_whole_day_is_recorded_and_goes_the_same_way_again(
    opening: Open, tmp_path: Path, key: bytes | None
) -> None:
    """S60: it holds every turn of the day, words and clicks, a repaired answer, a question and a commit.

    With pseudonyms it holds no word of a person: not in titles, notes, messages, meetings, prompts or answers (S221).
    """
    harness = await opening(speaking(), Redaction(key=key))
    anna = await told_day(harness)
    assert (await anna.session()).stage.number == 5
    turns = await read_turns(harness, tmp_path / "turns")
    assert [await replay(turn) for turn in turns] == [()] * 11
    said = "".join(texts(tmp_path / "turns")).lower()
    assert [word.lower() in said for word in SECRET_WORDS] == [key is None] * len(SECRET_WORDS)
    assert [turn.alike for turn in turns] == [True] * 11
    assert {turn.titles for turn in turns} == {"kept" if key is None else "redacted"}
    assert {turn.program for turn in turns} == {__version__}
    assert [[e.name.partition("/")[0] for e in turn.runs[0].exchanges] for turn in turns] == [
        [],
        ["decide", "facts"],
        ["decide", "decide", "facts"],
        ["decide", "facts"],
        ["decide"],
        ["decide"],
        ["decide", "patch", "patch"],
        [],
        ["decide", "ask"],
        ["decide"],
        [],
    ]
    commit = turns[-1].effects[-1]
    assert (commit.kind, commit.status, commit.trouble) == ("write_calendar", "unchanged", False)
    assert sum(effect.created for turn in turns for effect in turn.effects) == 6


async def test_files_are_for_their_owner_only(opening: Open, tmp_path: Path) -> None:
    harness = await opening(ScriptedModel(), Redaction())
    await Person(harness).to_tasks()
    await harness.coordinator.aclose()
    folder = tmp_path / "turns"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()] == [0o600] * 2


async def test_secrets_are_in_no_recording(opening: Open, tmp_path: Path) -> None:
    """Not even when the person says one, and the turn can still be replayed."""
    token, password = "xoxb-0123456789-abcdef", "hunter2"
    harness = await opening(ScriptedModel(wants("answer"), {"n": token}, "?"), Redaction(secrets=(token, password)))
    anna = Person(harness)
    await anna.to_frame()
    await anna.says(f"my token is {token} and {password}")
    turns = await read_turns(harness, tmp_path / "turns")
    said = "".join(texts(tmp_path / "turns"))
    assert (token in said, password in said, SECRET in said) == (False, False, True)
    assert [await replay(turn) for turn in turns] == [(), ()]


async def test_a_model_that_fails_is_recorded_as_failing(opening: Open, tmp_path: Path) -> None:
    harness = await opening(ScriptedModel(ModelUnreachable("Away.")), Redaction(key=HIDING))
    anna = Person(harness)
    await anna.to_frame()
    await anna.says("weiter")
    turn = (await read_turns(harness, tmp_path / "turns"))[-1]
    assert [e.failure.kind for e in turn.runs[0].exchanges if e.failure] == ["model_unreachable"]
    assert await replay(turn) == ()


@pytest.mark.parametrize("key", [None, HIDING], ids=["kept", "redacted"])
async def test_a_first_message_and_a_draft_are_recorded_as_well(
    opening: Open, tmp_path: Path, key: bytes | None
) -> None:
    """S44: a draft is asked for in the background, by no turn; it has a recording of its own."""
    draft = {"blocks": [{"task": 1, "title": None, "type": "DW", "start": "09:00", "minutes": 60}]}
    first = begins(inputs=inputs_of(add=[new("Zwetschgendatschi", 60)]))
    harness = await opening(ScriptedModel(first, wants("proceed"), wants("proceed"), draft), Redaction(key=key))
    about = {"command_id": "m1", "user_id": ANNA, "channel": CHANNEL, "thread_ts": "1.0", "tz": AMSTERDAM}
    await harness.coordinator.on_opening(Opening(**about, at=MORNING, text="Zwetschgendatschi today"))
    anna = Person(harness)
    await anna.read()
    for text in ("ja", "weiter"):
        await anna.says(text)
    await anna.press("Continue")  # waits for the draft
    await harness.coordinator.aclose()
    turns = [parse_recorded_turn(json.loads(text), "a recording") for text in texts(tmp_path / "turns")]
    (read,) = [turn for turn in turns if isinstance(turn.runs[0], OpeningRun)]
    (drawn,) = [turn for turn in turns if isinstance(turn.runs[0], DraftRun)]
    assert [run.kind for run in read.runs] == ["opening", "turn"]
    assert [[e.name.partition("/")[0] for e in run.exchanges] for run in (read.runs[0], drawn.runs[0])] == [
        ["start"],
        ["draft"],
    ]
    assert [(await replay(turn), turn.alike) for turn in turns] == [((), True)] * 5
    said = "".join(texts(tmp_path / "turns"))
    assert ("Zwetschgendatschi" in said) == (key is None)


async def test_a_full_disk_harms_no_turn_and_is_said_once(
    opening: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no directory")
    harness = await opening(speaking(), Redaction(), tmp_path / "file" / "turns")
    anna = await told_day(harness)
    assert (await anna.session()).stage.number == 5
    await harness.coordinator.aclose()
    said = [r.getMessage() for r in caplog.records if r.name == "fateforger.conversation.turn_runs"]
    assert len(said) == 1
    assert said[0].startswith("turns cannot be recorded for now: I cannot write to")


async def test_one_line_of_facts_for_each_turn(opening: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """S61, S215: session, intent and its source, ops, mode, proposal; tokens, cost and time; the facts of the stage."""
    caplog.set_level(logging.INFO, "fateforger")
    harness = await opening(speaking(), Redaction())
    anna = await told_day(harness)
    logged = [r.getMessage() for r in caplog.records if r.name == "fateforger.conversation.turn_runs"]
    lines = [line for line in logged if line.startswith("turn ")]
    noted = [dict(part.split("=", 1) for part in line.split()[1:]) for line in lines]
    facts = [fact for fact in noted if fact["source"] != "background"]
    assert [(f["source"], f["intent"], f["ops"], f["model_calls"]) for f in facts] == [
        ("control", "commit_date", "0", "0"),
        ("words", "adjust_frame+proceed", "0", "2"),
        ("words", "add_tasks", "0", "3"),
        ("words", "update_task", "0", "2"),
        ("words", "proceed", "0", "1"),
        ("words", "proceed", "0", "1"),
        ("words", "apply_patch", "6", "3"),
        ("control", "shift_block", "1", "0"),
        ("words", "user_reply", "0", "2"),
        ("words", "proceed", "0", "1"),
        ("control", "proceed", "0", "0"),
    ]
    assert {f["session"] for f in facts} == {anna.session_id}
    assert {f["proposal"] for f in facts} == {"-"}
    assert (facts[0]["ready"], facts[0]["facts"]) == ("yes", "session_active+date_confirmed+frame_valid")
    assert (facts[-2]["ready"], "plan_valid" in facts[-2]["facts"].split("+")) == ("yes", True)
    assert {f["mode"] for f in facts} == {"refine"}
    assert facts[2]["tokens"] == "3/3"
    assert {f["ended"] for f in facts} == {"done"}


async def test_prompts_and_titles_are_never_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """S221: at no level, over a day of words, through the real client of a model and the real database."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "fateforger")
    lines = (ScriptedAnswer(line if isinstance(line, str) else json.dumps(line)) for line in LINES)
    async with model_server(lambda asked: ScriptedAnswer("") if "You draft" in asked.system else next(lines)) as server:
        model = ChatModel(Endpoint(server.url, MODEL, KEY))
        harness = await open_harness_at(tmp_path, model=model)
        await told_day(harness)
        await harness.close()
        await model.aclose()
    said = "\n".join(f"{r.getMessage()} {r.exc_text or ''}" for r in caplog.records).lower()
    assert "turn session=" in said
    assert [word for word in (*SECRET_WORDS, KEY) if word.lower() in said] == []
