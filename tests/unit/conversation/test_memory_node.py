"""Statements of a person about their constraints, at any stage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.factories.constraints import record_of, version_of
from tests.factories.sessions import fields_of
from tests.unit.conversation.sessions import MORNING, make_command, plan_session, session

from fateforger.conversation.memory_node import apply_understood
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import MemoryReading, StageInput, StageOutput, WriteMemory, with_memory
from fateforger.memory.documents import read_record
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Action, Status
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.draft import draft_day
from fateforger.session.model import Session
from fateforger.session.rulebook import rules_in_force, unsaved_versions
from fateforger.session.stages import Move, TimeboxingStage

BED = {"rule_kind": "fixed_bedtime", "applies_event_types": ["R"]}


def bed(clock: str, uid: str | None = None, **fields: Any) -> dict[str, Any]:
    windows = [{"kind": "prefer", "start": clock, "end": "06:00"}]
    return record_of(uid, name=f"Bed at {clock}", description=f"in bed by {clock}", windows=windows, **BED, **fields)


def record(**fields: Any) -> ConstraintRecord:
    return read_record(bed("23:00", **fields))


def make_version(document: dict[str, Any], seq: int = 1, **fields: Any) -> Version:
    return version_of(document["lifecycle"]["uid"], seq=seq, **fields).model_copy(
        update={"record": read_record(document)}
    )


def do(now: Session, kind: str, *versions: Version, wrote: tuple[Version, ...] = (), **values: Any) -> StageOutput:
    """Run a command with these versions in the store."""
    reading = MemoryReading(versions=versions, wrote=wrote)
    command = make_command(kind, **values)
    begun = with_memory(now, reading, command.at)
    return run_stage(
        StageInput(
            session=begun, asked=Move.STAY, command=command, cause=command.command_id, now=command.at, memory=reading
        )
    )


def lines(out: StageOutput) -> tuple[str, ...]:
    notice = () if out.session.thread.notice is None else out.session.thread.notice.lines
    return (*notice, *(line for write in out.session.rules.memory_writes[-1:] if write.fresh for line in write.lines))


def write_memory(out: StageOutput, *versions: Version) -> tuple[Version, ...]:
    """Return the store after the writes of a turn."""
    (effect,) = out.effects
    assert isinstance(effect, WriteMemory)
    seq = max((version.seq for version in versions), default=0)
    return (*versions, *(v.model_copy(update={"seq": seq + n}) for n, v in enumerate(effect.versions, 1)))


@pytest.mark.parametrize("stage", list(TimeboxingStage))
def test_a_new_rule_counts_at_once_and_leaves_plan_and_stage_alone(stage: TimeboxingStage) -> None:
    """S2, S24: at every stage. A draft that the rule leaves as it is stays, too."""
    before = draft_day(plan_session(stage)) if stage is TimeboxingStage.SKELETON else plan_session(stage)
    out = do(before, "remember_constraint", record=bed("23:00"))
    assert [item.record.name for item in rules_in_force(out.session).applicable] == ["Bed at 23:00"]
    (effect,) = out.effects
    assert isinstance(effect, WriteMemory)
    assert effect.versions == out.session.rules.said == unsaved_versions(out.session)
    assert effect.expected == {effect.versions[0].uid: 0}
    assert lines(out) == ("I'll remember “Bed at 23:00”.",)
    kept = {"plan", "stage", "inputs", "frame", "refine_undo"}
    was, now = fields_of(before), fields_of(out.session)
    assert {name: now[name] for name in kept} == {name: was[name] for name in kept}
    assert out.move is Move.STAY


def test_what_is_for_the_day_is_never_written() -> None:
    """S3: scope session lives in the session only."""
    out = do(session(), "remember_constraint", record=bed("23:00", scope="session"))
    assert out.effects == ()
    assert [item.record.name for item in rules_in_force(out.session).applicable] == ["Bed at 23:00"]
    assert lines(out) == ("Noted for this day: “Bed at 23:00”.",)


def test_what_is_for_the_day_goes_before_what_lasts() -> None:
    """S22: the lasting one does not count in this session, and only there; Undo brings it back."""
    old = make_version(bed("22:00", "old"))
    out = do(session(), "remember_constraint", old, record=bed("23:00", scope="session"))
    assert out.session.rules.set_aside == ("old",)
    assert out.effects == ()
    assert [item.record.name for item in rules_in_force(out.session).applicable] == ["Bed at 23:00"]
    assert lines(out)[1:] == ("For this day it takes the place of “Bed at 22:00”.",)
    back = do(out.session, "undo_memory", old, write="c1")
    assert [item.record.name for item in rules_in_force(back.session).applicable] == ["Bed at 22:00"]


def test_a_contradicting_rule_takes_the_place_and_can_be_taken_back() -> None:
    """S179: visibly, by new versions each way, and back again."""
    old = make_version(bed("22:00", "old"))
    out = do(session(), "remember_constraint", old, record=bed("23:00"))
    assert lines(out)[1:] == ("“Bed at 23:00” takes the place of “Bed at 22:00” from now on.",)
    store = write_memory(out, old)
    assert len(store) == 4
    gone = select_newest(store, "U1")["old"]
    reason = f"superseded by {new_uid(store)}"
    assert (gone.retired, gone.event.action, gone.event.reason) == (True, Action.SUPERSEDE, reason)
    assert [
        item.record.name
        for item in rules_in_force(with_memory(out.session, MemoryReading(versions=store), MORNING)).applicable
    ] == ["Bed at 23:00"]
    back = do(out.session, "undo_memory", *store, write="c1")
    assert lines(back) == ("Taken back: “Bed at 23:00”.", "“Bed at 22:00” counts again.")
    store = write_memory(back, *store)
    assert {version.event.reason for version in store[-2:]} == {"taken back"}
    shown = with_memory(back.session, MemoryReading(versions=store), MORNING)
    assert [item.record.name for item in rules_in_force(shown).applicable] == ["Bed at 22:00"]
    assert shown.rules.said == ()
    forth = do(shown, "undo_memory", *store, write="c1")
    names = [item.record.name for item in rules_in_force(forth.session).applicable]
    assert names == ["Bed at 23:00"]


def replace_bedtime() -> tuple[Session, tuple[Version, ...]]:
    """Return a session and a store in which a bedtime replaced another one."""
    old = make_version(bed("22:00", "old"))
    out = do(session(), "remember_constraint", old, record=bed("23:00"))
    store = write_memory(out, old)
    return with_memory(out.session, MemoryReading(versions=store), MORNING), store


def new_uid(store: Sequence[Version]) -> str:
    (uid,) = {version.uid for version in store} - {"old"}
    return uid


def counting(out: StageOutput, *store: Version) -> list[str]:
    shown = with_memory(out.session, MemoryReading(versions=write_memory(out, *store)), MORNING)
    return [item.record.name for item in rules_in_force(shown).applicable]


@pytest.mark.parametrize("verdict", ["decline", "archive"])
def test_what_was_replaced_counts_again_when_its_successor_is_put_away(verdict: str) -> None:
    """S29, A4: not only by Undo."""
    at, store = replace_bedtime()
    out = do(at, "judge_constraint", *store, uid=new_uid(store), verdict=verdict)
    assert lines(out)[-1] == "“Bed at 22:00” counts again."
    assert counting(out, *store) == ["Bed at 22:00"]
    again = select_newest(write_memory(out, *store), "U1")["old"]
    assert (again.retired, again.record) == (False, store[0].record)


def test_what_was_replaced_can_be_brought_back_itself() -> None:
    """Then it takes the place of its successor in turn, and neither is lost."""
    at, store = replace_bedtime()
    out = do(at, "judge_constraint", *store, uid="old", verdict="restore")
    assert counting(out, *store) == ["Bed at 22:00"]
    after = select_newest(write_memory(out, *store), "U1")
    assert {uid: version.retired for uid, version in after.items()} == {"old": False, new_uid(store): True}


def test_what_begins_later_leaves_the_old_one_in_force_until_then() -> None:
    old = make_version(bed("22:00", "old"))
    later = bed("23:00", start_date="2026-03-09")
    out = do(session(), "remember_constraint", old, record=later)
    assert counting(out, old) == ["Bed at 22:00"]
    assert not select_newest(write_memory(out, old), "U1")["old"].retired


def test_a_write_of_another_conversation_is_taken_back_by_what_the_store_knows() -> None:
    """The writing command may belong to another session."""
    old = make_version(bed("22:00", "old"))
    gone = old.model_copy(
        update={
            "record": old.record.model_copy(update={"status": Status.DECLINED}),
            "event": old.event.model_copy(update={"action": Action.ARCHIVE, "reason": "expired"}),
            "updated_at": old.updated_at + timedelta(days=1),
            "seq": 2,
        }
    )
    out = do(session(), "undo_memory", old, gone, wrote=(gone,), write="tidy")
    assert [item.uid for item in rules_in_force(out.session).applicable] == ["old"]


def test_what_was_changed_since_is_not_taken_back() -> None:
    out = do(session(), "remember_constraint", record=bed("23:00"))
    (new,) = write_memory(out)
    store = write_memory(do(out.session, "judge_constraint", new, uid=new.uid, verdict="decline"), new)
    late = do(out.session, "undo_memory", *store, write="c1")
    assert lines(late) == ("“Bed at 23:00” was changed since, so I left it as it is.",)
    assert late.effects == ()


def test_nothing_to_take_back() -> None:
    out = do(session(), "undo_memory", write="x")
    assert out.session.thread.notice is not None
    assert out.session.thread.notice.refused


def test_less_binding_is_asked_and_settled() -> None:
    """A weaker rule replaces nothing by itself; the answer does, either way."""
    old = make_version(bed("22:00", "old", necessity="must"))
    out = do(session(), "remember_constraint", old, record=bed("23:00", necessity="prefer"))
    (question,) = out.session.rules.memory_questions
    assert question.names == ("Bed at 23:00", "Bed at 22:00")
    store = write_memory(out, old)
    for keep, left in zip(question.uids, ("Bed at 23:00", "Bed at 22:00"), strict=True):
        chosen = do(out.session, "settle_constraints", *store, uids=question.uids, keep=keep)
        assert [item.record.name for item in rules_in_force(chosen.session).applicable] == [left]
        assert chosen.session.rules.memory_questions == ()
    both = do(out.session, "settle_constraints", *store, uids=question.uids, keep=None)
    assert len(rules_in_force(both.session).applicable) == 2
    assert both.session.rules.memory_questions == ()


def test_saying_it_again() -> None:
    """S6: the same rule keeps its uid, and is written once."""
    first = do(session(), "remember_constraint", record=bed("23:00"))
    store = write_memory(first)
    again = do(first.session, "remember_constraint", *store, record=bed("23:00"))
    assert again.effects == ()
    assert lines(again)[0] == "I know that already: “Bed at 23:00”."
    reworded = do(
        first.session, "remember_constraint", *store, record=bed("23:00") | {"description": "lights out at 11"}
    )
    (effect,) = reworded.effects
    assert isinstance(effect, WriteMemory)
    assert [version.uid for version in effect.versions] == [store[0].uid]


def test_going_back_to_an_older_rule() -> None:
    """No circle: what took its place lets go of it, and is replaced in turn."""
    one = do(session(), "remember_constraint", record=bed("22:00"))
    store = write_memory(one)
    two = do(one.session, "remember_constraint", *store, record=bed("23:00"))
    store = write_memory(two, *store)
    three = do(two.session, "remember_constraint", *store, record=bed("22:00"))
    shown = with_memory(three.session, MemoryReading(versions=write_memory(three, *store)), MORNING)
    assert [item.record.name for item in rules_in_force(shown).applicable] == ["Bed at 22:00"]


@pytest.mark.parametrize(
    ("verdict", "status", "applies"),
    [("accept", "locked", True), ("decline", "declined", False), ("archive", "declined", False)],
)
def test_verdicts(verdict: str, status: str, applies: bool) -> None:  # noqa: FBT001  a table of cases
    """S29, S35: a decline and an archive keep the row; accepting locks it."""
    old = make_version(bed("22:00", "old", status="proposed", confidence=0.4))
    out = do(session(), "judge_constraint", old, uid="old", verdict=verdict, reason="because", seen=1)
    (effect,) = out.effects
    assert isinstance(effect, WriteMemory)
    (version,) = effect.versions
    assert (version.record.status.value, version.event.reason, effect.expected) == (status, "because", {"old": 1})
    assert bool(rules_in_force(out.session).applicable) is applies
    if not applies:
        back = do(out.session, "judge_constraint", *write_memory(out, old), uid="old", verdict="restore")
        assert [item.uid for item in rules_in_force(back.session).applicable] == ["old"]


def test_setting_aside_is_for_the_session_and_writes_nothing() -> None:
    """S22"""
    old = make_version(bed("22:00", "old"))
    out = do(session(), "judge_constraint", old, uid="old", verdict="set_aside")
    assert (out.effects, out.session.rules.set_aside, rules_in_force(out.session).applicable) == ((), ("old",), ())
    again = do(out.session, "judge_constraint", old, uid="old", verdict="use_again")
    assert (again.effects, again.session.rules.set_aside) == ((), ())


def test_a_card_that_is_out_of_date_changes_nothing() -> None:
    """S186: of two revisions one wins."""
    old = make_version(bed("22:00", "old"), seq=5)
    for command in ("judge_constraint", "revise_constraint"):
        more: dict[str, Any] = (
            {"verdict": "archive"} if command == "judge_constraint" else {"record": bed("21:00", "old")}
        )
        out = do(session(), command, old, uid="old", seen=4, **more)
        assert out.effects == ()
        assert out.session.thread.notice is not None
        assert out.session.thread.notice.refused


def test_a_constraint_nobody_knows() -> None:
    """S28"""
    out = do(session(), "judge_constraint", uid="x", verdict="archive")
    assert out.session.thread.notice is not None
    assert out.session.thread.notice.refused


def test_revising() -> None:
    """S35: the uid stays, even if all else changes."""
    old = make_version(bed("22:00", "old"))
    out = do(session(), "revise_constraint", old, uid="old", seen=1, record=bed("21:30", "old"))
    assert [(item.uid, item.record.name) for item in rules_in_force(out.session).applicable] == [
        ("old", "Bed at 21:30")
    ]
    assert lines(out) == ("“Bed at 21:30” is changed.",)


def test_the_card_lists_what_is_known() -> None:
    """S31, S32, S36: what applies first, with what the buttons need to know; it follows each change."""
    one, other = (
        make_version(bed("22:00", "one", confidence=0.5)),
        make_version(bed("23:00", "two", days_of_week=["SU"]), seq=2),
    )
    out = do(session(), "show_memory", one, other)
    view = out.session.thread.memory
    assert view is not None
    assert [(row.uid, row.seq, row.used, row.unsure) for row in view.rows] == [
        ("one", 1, True, True),
        ("two", 2, False, False),
    ]
    assert view.rows[1].why_not == "It is for Sunday only."
    after = do(out.session, "judge_constraint", one, other, uid="one", verdict="decline").session.thread.memory
    assert after is not None
    assert ([row.uid for row in after.rows], after.total, after.lines[0][:6]) == (["two"], 1, "“Bed a")
    assert do(out.session, "hide_memory").session.thread.memory is None


# --- what is understood in the background ---


def make_extracted(*records: ConstraintRecord, of: str = "r1", **more: Any) -> AddExtracted:
    return AddExtracted(command_id="u1", session_id="s1", of=of, at=MORNING, records=records, **more)


def make_record(clock: str, **fields: Any) -> ConstraintRecord:
    from fateforger.memory.record import compute_uid

    plain = read_record(bed(clock, status="proposed", **fields))
    return plain.with_uid(compute_uid(plain, "U1", "s1"))


def test_what_was_understood_counts() -> None:
    """S2: lasting ones are to be written, with what they replace."""
    old = make_version(bed("22:00", "old"))
    reading = MemoryReading(versions=(old,))
    now = with_memory(session(), reading, MORNING)
    after, (effect,) = apply_understood(now, reading, make_extracted(make_record("23:00")))
    assert isinstance(effect, WriteMemory)
    assert [item.record.name for item in rules_in_force(after).applicable] == ["Bed at 23:00"]
    assert after.rules.memory_writes[-1].cause == "u1"


def test_what_the_message_wrote_itself_is_not_written_twice() -> None:
    """S6: the command of the same message gave it another name."""
    out = do(session(), "remember_constraint", record=bed("23:00"))
    store = MemoryReading(versions=write_memory(out))
    renamed = make_record("23:00").model_copy(update={"name": "Sleep early"})
    after, effects = apply_understood(out.session, store, make_extracted(renamed, of="c1"))
    assert (after, effects) == (out.session, ())


def test_what_the_person_did_not_want_is_not_proposed_again() -> None:
    record = make_record("23:00")
    first, (effect,) = apply_understood(session(), MemoryReading(), make_extracted(record))
    assert isinstance(effect, WriteMemory)
    back = do(first, "judge_constraint", *effect.versions, uid=record.uid, verdict="decline")
    after, effects = apply_understood(back.session, MemoryReading(), make_extracted(record, of="r2"))
    assert effects == ()
    assert rules_in_force(after).applicable == ()


def test_a_question_and_a_trouble_are_said() -> None:
    """S94"""
    after, effects = apply_understood(session(), None, make_extracted(question="Which Tuesday?"))
    assert effects == ()
    assert after.thread.notice is not None
    assert after.thread.notice.lines == ("Which Tuesday?",)


# --- what follows for others ---


def week(name: str, clock: str, **fields: Any) -> dict[str, Any]:
    return bed(clock, **fields) | {"name": name}


def in_force(*versions: Version) -> list[str]:
    return sorted(v.record.name for v in select_newest(versions, "U1").values() if not v.retired)


def test_an_exception_that_is_put_away_leaves_the_rule_as_it_was() -> None:
    rule = make_version(bed("22:00", "old"))
    store = write_memory(do(session(), "remember_constraint", rule, record=bed("23:30", days_of_week=["FR"])), rule)
    exception = next(version for version in store if version.record.name == "Bed at 23:30")
    assert len(store[-1].record.applicability.days_of_week) == 6
    store = write_memory(do(session(), "judge_constraint", *store, uid=exception.uid, verdict="archive"), *store)
    assert store[-1].record.applicability.days_of_week == ()
    assert in_force(*store) == ["Bed at 22:00"]


def test_what_comes_back_leaves_out_what_was_said_since() -> None:
    """The Fridays that were excepted from the later rule are excepted from the earlier one, too."""
    at, store = replace_bedtime()
    out = do(at, "remember_constraint", *store, record=bed("23:30", days_of_week=["FR"]))
    store = write_memory(out, *store)
    later = next(version for version in store if version.record.name == "Bed at 23:00")
    store = write_memory(do(out.session, "judge_constraint", *store, uid=later.uid, verdict="archive"), *store)
    assert in_force(*store) == ["Bed at 22:00", "Bed at 23:30"]
    assert len(select_newest(store, "U1")["old"].record.applicability.days_of_week) == 6


def test_a_rule_for_a_week_gives_the_days_after_it_back() -> None:
    """A4: and at once, when it is put away before its time."""
    old = make_version(bed("22:00", "old"))
    limited = bed("23:00", scope="datespan", start_date="2026-03-02", end_date="2026-03-08")
    out = do(session(), "remember_constraint", old, record=limited)
    store = write_memory(out, old)
    shown = with_memory(out.session, MemoryReading(versions=store), MORNING)
    assert [item.record.name for item in rules_in_force(shown).applicable] == ["Bed at 23:00"]
    gone = do(shown, "judge_constraint", *store, uid=store[1].uid, verdict="archive")
    assert [item.record.name for item in rules_in_force(gone.session).applicable] == ["Bed at 22:00"]


def test_the_same_in_another_language_is_the_same() -> None:
    """S6: all that it asks for is in its fields. A wish that is in the words only is not taken for another one."""
    old = make_version(bed("22:00", "old"))
    reading = MemoryReading(versions=(old,))
    german = make_record("22:00").model_copy(update={"name": "Um zehn ins Bett", "description": "um zehn ins Bett"})
    german = german.with_uid("tb_german")
    after, effects = apply_understood(with_memory(session(), reading, MORNING), reading, make_extracted(german))
    assert (effects, len(rules_in_force(after).applicable)) == ((), 1)
    gym, yoga = (
        read_record(
            record_of(
                uid, name=uid, rule_kind="prefer_window", windows=[{"kind": "prefer", "start": "18:00", "end": "19:00"}]
            )
        )
        for uid in ("Gym", "Yoga")
    )
    after, _ = apply_understood(session(), MemoryReading(), make_extracted(gym, yoga))
    assert sorted(item.record.name for item in rules_in_force(after).applicable) == ["Gym", "Yoga"]


def test_a_secret_is_refused_by_every_command() -> None:
    old = make_version(bed("22:00", "old"))
    secret = bed("22:00", "old") | {"description": "token ghp_16C7e42F292c6912E7710c838347Ae178B4a"}
    for out in (
        do(session(), "remember_constraint", old, record=secret),
        do(session(), "revise_constraint", old, uid="old", record=secret),
    ):
        assert out.effects == ()
        assert out.session.thread.notice is not None
        assert out.session.thread.notice.refused
        assert "ghp" not in out.session.model_dump_json()
    after, effects = apply_understood(session(), MemoryReading(), make_extracted(read_record(secret)))
    assert effects == ()
    assert "ghp" not in after.model_dump_json()
