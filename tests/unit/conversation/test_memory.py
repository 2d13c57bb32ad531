"""Rules of a person, by form and in words: they count at once and are written in spite of failures.

No reply waits for any of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.factories.told_rules import NOTHING, build_extraction, rule
from tests.factories.words import frame, wants
from tests.fakes.memory_constraints import MemoryConstraints
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, Harness, Person, open_harness_at

from fateforger.conversation.language.message_reader import NOTHING as NOTHING_FOR_THE_PLAN
from fateforger.conversation.memory_service import MOST_WAITING, WRITTEN_LATER, WRITTEN_WITH_EARLIER
from fateforger.errors import ModelAuthFailed, ModelUnreachable, StoreUnavailable
from fateforger.memory.credentials import REFUSED, SECRET_LEFT_OUT
from fateforger.memory.documents import read_record
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version, select_newest
from fateforger.ports.model import Prompt
from fateforger.session.cards import Button
from fateforger.session.commands.rules import JudgeConstraint, RememberConstraint, UndoMemory
from fateforger.session.model import Session
from fateforger.session.rulebook import rules_in_force, unsaved_versions
from fateforger.text import gettext as _
from fateforger.workers.memory import UNREAD

BUSY = wants("ask", rules=True)
ANSWER = {"answer": "I see."}


class FailingConstraints(MemoryConstraints):
    """A store that can fail, or hang, when it is asked or written to."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.hung = False
        self.dies = False

    async def of(self, user_id: str) -> tuple[Version, ...]:
        await self._trouble()
        return await super().of(user_id)

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        await self._trouble()
        written = await super().write(versions, cause=cause, expected=expected)
        if self.dies:
            raise KeyboardInterrupt
        return written

    async def _trouble(self) -> None:
        if self.hung:
            await asyncio.Event().wait()
        if self.down:
            raise StoreUnavailable("The store is away.")


@pytest.fixture
async def troubled(tmp_path: Path) -> AsyncIterator[tuple[Harness, Person, FailingConstraints]]:
    store = FailingConstraints()
    harness = await open_harness_at(tmp_path)
    harness.constraints, harness.patience = store, 1.0
    harness.restart()
    yield harness, Person(harness), store
    await harness.close()


def talking(*rules: Line) -> ScriptedModel:
    """Return the conversation's own model, which finds a question in everything."""
    return ScriptedModel(by=lambda prompt: BUSY if prompt.name.startswith("decide") else ANSWER)


def extracting(**by_text: Line) -> ScriptedModel:
    """Return a model that answers by words in the message, and finds nothing in any other message."""

    def say(prompt: Prompt) -> Line:
        return next((line for words, line in by_text.items() if words in prompt.user), NOTHING)

    return ScriptedModel(by=say)


async def open_session(
    path: Path,
    extractor: ScriptedModel,
    *,
    constraints: FailingConstraints | None = None,
    model: ScriptedModel | None = None,
) -> tuple[Harness, Person]:
    """Open a program that reads words, with a person in a running session."""
    harness = await open_harness_at(path, model=model or talking())
    harness.extractor, harness.constraints = extractor, constraints
    harness.restart()
    person = Person(harness)
    await person.to_tasks()
    return harness, person


def bed(clock: str, **more: Any) -> dict[str, Any]:
    window = {"kind": "prefer", "start": clock, "end": "06:00"}
    return rule(f"Bed at {clock}", f"in bed by {clock}", rule_kind="fixed_bedtime", windows=[window], **more)


async def remember(person: Person, name: str, clock: str, **fields: Any) -> str:
    """Remember a rule by the form's command, and return its id."""
    command = RememberConstraint(**envelope(person), record=rule_of(name, clock, **fields))
    await person.send(command)
    return command.command_id


def rule_of(name: str, clock: str, **fields: Any) -> ConstraintRecord:
    return read_record(
        {
            "name": name,
            "description": name,
            "status": "locked",
            "scope": "profile",
            "payload": {"rule_kind": "fixed_bedtime", "windows": [{"kind": "prefer", "start": clock, "end": "06:00"}]},
            "applicability": {"timezone": AMSTERDAM},
            **fields,
        }
    )


def envelope(person: Person) -> dict[str, Any]:
    return {
        "command_id": person._id(),
        "user_id": person.user,
        "at": person.harness.clock.now(),
        "session_id": person.session_id,
    }


def counting(session: Session) -> list[str]:
    return [item.record.name for item in rules_in_force(session).applicable]


async def list_stored(harness: Harness, person: Person) -> list[str]:
    """Return the names of the active rules in the store."""
    mine = select_newest(await harness.remembered.of(person.user), person.user)
    return sorted(version.record.name for version in mine.values() if not version.retired)


# --- by form ---


async def test_a_rule_is_written_and_counts_in_the_next_session_too(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    assert counting(await anna.session()) == await list_stored(harness, anna) == ["Bed at ten"]
    later = Person(harness)
    await later.to_tasks()
    assert counting(await later.session()) == ["Bed at ten"]


async def test_a_contradiction_is_settled_and_taken_back(anna: Person, harness: Harness) -> None:
    """S179"""
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    cause = await remember(anna, "Bed at eleven", "23:00")
    assert counting(await anna.session()) == ["Bed at eleven"]
    await anna.send(UndoMemory(**envelope(anna), write=cause))
    assert counting(await anna.session()) == ["Bed at ten"]
    versions = await harness.remembered.of(anna.user)
    assert [version.event.action.value for version in versions] == [
        "upsert", "upsert", "update", "supersede", "archive", "update",
    ]  # fmt: skip


async def test_a_command_that_is_repeated_writes_once(troubled: tuple[Harness, Person, FailingConstraints]) -> None:
    """This also holds when the program died between writing and saving: the result is the same, with its Undo."""
    _, anna, store = troubled
    await anna.to_tasks()
    command = RememberConstraint(**envelope(anna), record=rule_of("Bed at ten", "22:00"))
    store.dies = True
    with pytest.raises(KeyboardInterrupt):
        await anna.send(command)
    assert (await anna.session()).rules.memory_writes == ()
    versions = await store.of(anna.user)
    store.dies = False
    await anna.send(command)
    session = await anna.session()
    assert await store.of(anna.user) == versions
    assert [write.versions[0].uid for write in session.rules.memory_writes] == [versions[0].uid]
    assert (counting(session), unsaved_versions(session)) == (["Bed at ten"], ())
    await anna.send(command)
    assert await anna.session() == session


async def test_a_secret_is_refused(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await remember(anna, "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a", "22:00")
    session = await anna.session()
    assert session.thread.notice is not None
    assert session.thread.notice.lines == (REFUSED,)
    assert (session.rules.said, await harness.remembered.of(anna.user)) == ((), ())


# --- the store in trouble ---


async def test_what_cannot_be_written_now_is_written_later(
    troubled: tuple[Harness, Person, FailingConstraints],
) -> None:
    """S2, S117: it counts at once, the thread says so, and it lands once the store is back."""
    harness, anna, store = troubled
    await anna.to_tasks()
    store.down = True
    await remember(anna, "Bed at ten", "22:00")
    session = await anna.session()
    assert counting(session) == ["Bed at ten"]
    assert session.thread.notice is not None
    assert session.thread.notice.lines == (WRITTEN_LATER,)
    assert len(unsaved_versions(session)) == await harness.waiting() == 1
    store.down = False
    await harness.work()
    assert await list_stored(harness, anna) == ["Bed at ten"]
    session = await anna.session()
    assert (unsaved_versions(session), counting(session)) == ((), ["Bed at ten"])


async def test_what_waits_is_limited_and_nothing_is_lost(troubled: tuple[Harness, Person, FailingConstraints]) -> None:
    """S117: beyond ten writes only the session holds the rule; one of the ten writes it along with its own."""
    harness, anna, store = troubled
    await anna.to_tasks()
    store.down = True
    names = [f"Rule {number}" for number in range(MOST_WAITING + 2)]
    for name in names:
        await remember(anna, name, "", payload={})
    session = await anna.session()
    assert await harness.waiting() == MOST_WAITING
    assert _(WRITTEN_WITH_EARLIER) in anna.words
    assert sorted(counting(session)) == sorted(names)
    store.down = False
    await harness.work()
    assert await list_stored(harness, anna) == sorted(names)
    assert unsaved_versions(await anna.session()) == ()
    assert len(await harness.remembered.of(anna.user)) == len(names), "each was written once"


async def test_a_newer_word_stays_newer_than_what_lands_late(
    troubled: tuple[Harness, Person, FailingConstraints],
) -> None:
    harness, anna, store = troubled
    await anna.to_tasks()
    store.down = True
    await remember(anna, "Bed at ten", "22:00")
    store.down = False
    (version,) = unsaved_versions(await anna.session())
    await anna.send(JudgeConstraint(**envelope(anna), uid=version.uid, verdict="archive"))
    await harness.work()
    assert await list_stored(harness, anna) == []
    assert counting(await anna.session()) == []


async def test_no_reply_waits_for_a_hung_store(troubled: tuple[Harness, Person, FailingConstraints]) -> None:
    """S4: planning goes on with what is known, and says why."""
    harness, anna, store = troubled
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    store.hung = True
    async with asyncio.timeout(60):
        await remember(anna, "Bed at eleven", "23:00")
    session = await anna.session()
    assert counting(session) == ["Bed at eleven"]
    assert session.rules.recalled is not None
    assert session.rules.recalled.trouble is not None
    store.hung = False
    await harness.work()
    assert await list_stored(harness, anna) == ["Bed at eleven"]
    assert counting(await anna.session()) == ["Bed at eleven"]


# --- in words ---


async def test_rules_said_in_words_count_for_good(tmp_path: Path) -> None:
    """S1, S2: each reply is read once, in the background; its rules are noted and written."""
    extractor = extracting(elf=build_extraction(bed("23:00")))
    harness, anna = await open_session(tmp_path, extractor)
    await anna.says("um elf ins Bett")
    assert counting(await anna.session()) == []
    await harness.work()
    assert counting(await anna.session()) == await list_stored(harness, anna) == ["Bed at 23:00"]
    await harness.work()
    assert extractor.asked == ["rules"]
    await harness.close()


async def test_a_reply_that_only_tells_a_rule_was_no_nonsense(tmp_path: Path) -> None:
    """S2: the first reply finds nothing for the plan; once the rule is found, that note is taken back."""
    extractor = extracting(elf=build_extraction(bed("23:00")))
    harness, anna = await open_session(
        tmp_path,
        extractor,
        model=ScriptedModel(by=lambda p: wants("answer", rules=True) if p.name.startswith("decide") else frame()),
    )
    await anna.says("um elf ins Bett")
    assert NOTHING_FOR_THE_PLAN in anna.words
    await harness.work()
    await anna.read()
    assert (NOTHING_FOR_THE_PLAN in anna.words, "I'll remember “Bed at 23:00”." in anna.words) == (False, True)
    await harness.close()


async def test_a_rule_that_is_found_later_is_said_without_the_earlier_reply(tmp_path: Path) -> None:
    """S267: the card moves to the end for it, and leaves out the reply to the message."""
    harness, anna = await open_session(
        tmp_path,
        extracting(elf=build_extraction(bed("23:00"))),
        model=ScriptedModel(
            by=lambda p: wants("answer", rules=True) if p.name.startswith("decide") else frame(day_start="08:00")
        ),
    )
    await anna.says("from 8, and bed at elf")
    answered = anna.arrived[-1]
    assert answered.reply is not None
    assert "Noted: your day 08:00–18:00." in answered.reply.text
    await harness.work()
    await anna.read()
    later = anna.arrived[-1]
    assert "I'll remember “Bed at 23:00”." in anna.words
    assert (later.reply, later.stays, later.replied) == (None, False, answered.reply)
    await harness.close()


async def test_no_reply_waits_for_a_hung_model(tmp_path: Path) -> None:
    """S4, S100: the failure is noted once in the end, and nothing else is lost."""
    harness, anna = await open_session(tmp_path, ScriptedModel(by=lambda _: None))
    harness.patience = 600.0
    async with harness.working(), asyncio.timeout(60):
        await anna.says("um elf ins Bett")
    harness.patience = 0.01
    await harness.work()
    session = await anna.session()
    assert session.thread.notice is not None
    assert session.thread.notice.lines.count(UNREAD) == 1
    await harness.close()


@pytest.mark.parametrize("trouble", [ModelUnreachable("Down."), ModelAuthFailed("No.")])
async def test_a_model_that_fails_for_good_is_said(tmp_path: Path, trouble: Exception) -> None:
    harness, anna = await open_session(tmp_path, ScriptedModel(by=lambda _: trouble))
    await anna.says("um elf ins Bett")
    await harness.work()
    assert UNREAD in ((await anna.session()).thread.notice or pytest.fail("nothing said")).lines
    await anna.read()
    (offer,) = (each for each in anna.controls() if isinstance(each, Button) and each.action == "form.rule_said")
    assert (offer.label, offer.target) == ("Keep it as a rule", "um elf ins Bett"), "S171: by form it is kept after all"
    await harness.close()


async def test_the_model_that_looks_for_rules_sees_no_private_data(tmp_path: Path) -> None:
    """S322: contact details are taken out before, and of what a model makes up nothing is kept either."""
    answer = build_extraction(rule("Call a@b.example", "Call me on +31 6 12345678 before ten"))
    harness, anna = await open_session(tmp_path, extractor := ScriptedModel(by=lambda _: answer))
    await anna.says("Call a@b.example on Mondays, or on 0171 2345678")
    await harness.work()
    (prompt,) = extractor.prompts
    assert "Call [e-mail address] on Mondays, or on [phone number]" in prompt.user
    (version,) = await harness.remembered.of(anna.user)
    assert (version.record.name, version.record.words) == (
        "Call [e-mail address]",
        "Call me on [phone number] before ten",
    )
    await harness.close()


async def test_without_a_model_nothing_is_queued(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await anna.says("in bed by eleven")
    assert await harness.waiting() == 0


async def test_what_says_nothing_changes_nothing(tmp_path: Path) -> None:
    """S1: greetings; not even the session is saved."""
    harness, anna = await open_session(tmp_path, extracting())
    await anna.says("Hi!")
    before = await anna.session()
    await harness.work()
    assert await anna.session() == before
    await harness.close()


async def test_a_program_that_dies_while_it_reads_reads_again(tmp_path: Path) -> None:
    """Idempotent per reply: the job is claimed again, what it found is taken in once."""
    extractor = extracting(elf=build_extraction(bed("23:00")))
    harness, anna = await open_session(tmp_path, extractor)
    await anna.says("um elf ins Bett")
    job = await harness.store.jobs.claim("extract", "dead", now=harness.clock.now(), lease_seconds=60)
    assert job is not None
    await harness.store.take_back("dead")
    await harness.work()
    assert len(await harness.remembered.of(anna.user)) == 1
    assert counting(await anna.session()) == ["Bed at 23:00"]
    await harness.close()


async def test_a_secret_in_words_is_kept_nowhere(tmp_path: Path) -> None:
    """The model recognizes this secret; those with a known form were removed earlier."""
    told = build_extraction(rule("Wifi", "the password is hunter2")) | {"holds_secret": True, "question": "hunter2?"}
    harness, anna = await open_session(tmp_path, extracting(hunter2=told))
    await anna.says("the password is hunter2")
    await harness.work()
    session = await anna.session()
    assert session.thread.notice is not None
    assert session.thread.notice.lines[-1] == REFUSED
    assert "hunter2" not in session.model_dump_json()
    assert await harness.remembered.of(anna.user) == ()
    dump = await harness.store.database.read(
        lambda connection: "".join(str(row) for row in connection.exec_driver_sql("SELECT payload FROM job"))
    )
    assert "hunter2" not in dump
    await harness.close()


async def test_a_message_with_something_taken_out_is_not_read_for_rules(tmp_path: Path) -> None:
    from fateforger.session.commands.thread import TimeboxingUserReply

    extractor = extracting()
    harness, anna = await open_session(tmp_path, extractor)
    await anna.send(TimeboxingUserReply(**envelope(anna), text="use [withheld]", withheld=True))
    assert SECRET_LEFT_OUT in anna.words
    await harness.work()
    assert extractor.prompts == []
    await harness.close()


async def test_a_contradiction_said_in_words_is_said_with_its_sentence(tmp_path: Path) -> None:
    """S179, in two languages."""
    harness, anna = await open_session(
        tmp_path, extracting(zehn=build_extraction(bed("22:00")), elf=build_extraction(bed("23:00")))
    )
    await anna.says("um zehn ins Bett")
    await harness.work()
    await anna.says("doch lieber um elf")
    await harness.work()
    session = await anna.session()
    assert counting(session) == ["Bed at 23:00"]
    write = session.rules.memory_writes[-1]
    assert write.lines[-1] == "“Bed at 23:00” takes the place of “Bed at 22:00” from now on."
    await anna.send(UndoMemory(**envelope(anna), write=write.cause))
    assert counting(await anna.session()) == ["Bed at 22:00"]
    await anna.says("doch lieber um elf")
    await harness.work()
    assert counting(await anna.session()) == ["Bed at 22:00"]
    await harness.close()


async def test_a_secret_in_a_form_is_said_beside_its_field(anna: Person, harness: Harness) -> None:
    """It becomes no command, so no queue and no recording ever holds it."""
    await anna.to_frame()
    errors = await anna.fill("rule_new", words="deploy with ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    assert errors is not None
    assert errors.errors == {"words": REFUSED}
    assert await harness.waiting() == 0
