"""Convert a request about memory to the commands that the memory card and its forms make (S214).

List numbers become uids here, and code calls the tools: a model only states what is wanted (K3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from pydantic import ValidationError

from fateforger.constraints import ConstraintRecord, Version
from fateforger.constraints.kinds import Source, Status
from fateforger.errors import BadInput
from fateforger.plan.mistakes import first_mistake
from fateforger.session import commands
from fateforger.session.commands import ConstraintVerdict, SessionCommand, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.recall import followed_constraints
from fateforger.turn.memorytools import KnownConstraints, MemoryTool, call_tool, merge_document
from fateforger.turn.reading.meaning import envelope, get_numbered
from fateforger.turn.reading.rules import MemoryWish, MemoryWords, RuleWords, aspect_of

WHICH = "Which of them do you mean? Say it in its own words, or use the buttons beside it."
NO_WRITE = "Nothing was written into memory here that could be taken back."
NO_QUESTION = "There is no question open about that, so there is nothing to decide."
_VERDICTS: Mapping[MemoryWish, ConstraintVerdict] = {
    MemoryWish.ACCEPT: "accept",
    MemoryWish.DECLINE: "decline",
    MemoryWish.RESTORE: "restore",
    MemoryWish.SET_ASIDE: "set_aside",
    MemoryWish.USE_AGAIN: "use_again",
}


def memory_commands(
    reply: TimeboxingUserReply, session: Session, listed: Sequence[Version], words: MemoryWords
) -> tuple[SessionCommand, ...]:
    """Return the commands for a request about memory; none if the model only asks back.

    ``listed`` is the table that the request was read with. Raises ``BadInput`` for a row that does not exist and for an
    invalid rule.
    """
    head = envelope(reply)
    match words.wish:
        case MemoryWish.LIST | MemoryWish.GET:
            shown = tuple(get_numbered(listed, number).uid for number in words.numbers)
            return (commands.ShowMemory(**head, uids=shown, search=words.search),)
        case MemoryWish.REMEMBER:
            return (commands.RememberConstraint(**head, record=new_record(words.rule, session)),)
        case MemoryWish.UNDO:
            return (commands.UndoMemory(**head, write=_last_write(session)),)
        case MemoryWish.KEEP:
            return (_settle(session, _find_meant(listed, words), head),)
        case MemoryWish.UPDATE | MemoryWish.ARCHIVE | MemoryWish.SUPERSEDE:
            shelf = KnownConstraints({version.uid: version for version in listed}, followed_constraints(session))
            return tuple(_call_tool(words, version, shelf, head) for version in _find_meant(listed, words))
        case (
            MemoryWish.ACCEPT
            | MemoryWish.DECLINE
            | MemoryWish.RESTORE
            | MemoryWish.SET_ASIDE
            | MemoryWish.USE_AGAIN as wish
        ):
            verdict = _VERDICTS[wish]
            return tuple(
                commands.JudgeConstraint(**head, uid=v.uid, verdict=verdict, reason=words.reason, seen=v.seq or None)
                for v in _find_meant(listed, words)
            )
        case _:
            assert_never(words.wish)


def new_record(rule: RuleWords | None, session: Session) -> ConstraintRecord:
    """Return the record of a rule that was stated explicitly, and is therefore confirmed. Raises ``BadInput``."""
    if rule is None or rule.description is None:
        raise BadInput("I did not understand what to remember; please say the rule once more.")
    document = {
        "name": rule.description[:80],
        "necessity": "should",
        "scope": "profile",
        "status": Status.LOCKED,
        "source": Source.USER,
        "applicability": {"timezone": session.tz},
    }
    return _parse_record(merge_document(document, changes_of(rule)))


def changes_of(rule: RuleWords) -> dict[str, Any]:
    """Return the fields of a record that the words mention, by group."""
    scalars = _drop_missing(duration_min=rule.minutes_min, duration_max=rule.minutes_max)
    when = _drop_missing(start_date=rule.start_date, end_date=rule.end_date, days_of_week=rule.days_of_week)
    windows = None if rule.windows is None else [_window(window.model_dump(mode="json")) for window in rule.windows]
    payload = _drop_missing(
        rule_kind=rule.rule_kind, windows=windows, scalar_params=scalars or None, day_rule=rule.day_rule
    )
    core = _drop_missing(name=rule.name, description=rule.description, necessity=rule.necessity, scope=rule.scope)
    # A rule for the order of the day names its blocks itself.
    routing = _drop_missing(topics=rule.topics, applies_event_types=() if rule.day_rule else rule.event_types)
    aspect: dict[str, Any] = dict(aspect_of(rule.slot, rule.dimension, rule.domain, rule.rule_kind))
    groups = {"applicability": when, "payload": payload, "aspect_classification": aspect}
    return {**core, **routing, **{name: group for name, group in groups.items() if group}}


def _call_tool(
    words: MemoryWords, version: Version, shelf: KnownConstraints, head: Mapping[str, Any]
) -> SessionCommand:
    """Return the command that a tool call results in. Raises ``BadInput`` with the reason if it did nothing."""
    arguments: dict[str, Any] = {"uid": version.uid}
    if words.wish is MemoryWish.ARCHIVE:
        arguments["reason"] = words.reason
    else:
        if words.rule is None:
            raise BadInput("I did not understand how that rule shall be; please say it once more.")
        changes = changes_of(words.rule)
        if words.wish is MemoryWish.UPDATE:
            arguments["patch"] = json.dumps(changes)
        else:
            arguments["record"] = json.dumps(merge_document(_as_new(version.record), changes))
    called = call_tool(MemoryTool(words.wish.value), arguments, shelf, head)
    if called.command is None:
        trouble = called.result.trouble
        raise BadInput(WHICH if trouble is None else trouble.message)
    return called.command


def _find_meant(listed: Sequence[Version], words: MemoryWords) -> Sequence[Version]:
    if not words.numbers:
        raise BadInput(words.question or WHICH)
    return [get_numbered(listed, number) for number in dict.fromkeys(words.numbers)]


def _settle(session: Session, meant: Sequence[Version], head: Mapping[str, Any]) -> SessionCommand:
    """Return the answer to the question about these constraints; naming both of them keeps both."""
    uids = {version.uid for version in meant}
    question = next((each for each in session.memory_questions if uids <= set(each.uids)), None)
    if question is None:
        raise BadInput(NO_QUESTION)
    keep = None if uids == set(question.uids) else meant[0].uid
    return commands.SettleConstraints(**head, uids=question.uids, keep=keep)


def _last_write(session: Session) -> str:
    if not session.memory_writes:
        raise BadInput(NO_WRITE)
    return session.memory_writes[-1].cause


def _as_new(record: ConstraintRecord) -> dict[str, Any]:
    """Return the old record as the base of a new one, which is confirmed and has its own uid."""
    document = record.model_dump(mode="json", by_alias=True, exclude={"lifecycle", "confidence"})
    return {**document, "status": "locked", "source": "user"}


def _parse_record(document: Mapping[str, Any]) -> ConstraintRecord:
    try:
        return ConstraintRecord.model_validate(document)
    except ValidationError as error:
        raise BadInput(first_mistake(error).sentence) from None


def _window(window: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": window["kind"], "start_time_local": window["start"], "end_time_local": window["end"]}


def _drop_missing(**values: Any) -> dict[str, Any]:
    """Return the values that are given, as JSON."""
    given = {name: value for name, value in values.items() if value is not None}
    return {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in given.items()}
