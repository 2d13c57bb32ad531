"""The five memory tools, and the commands of a request about memory (S26-S31, S118, S214).

Each tool takes arguments of a strict schema and the person's constraints, and returns a typed result. The tools have no
side effects: a change is returned as a command, like that of a form, for the executor to carry out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  as elsewhere
from enum import StrEnum
from typing import Annotated, Any, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fateforger.conversation.language.answers import MemoryWish, MemoryWords, RuleWords, aspect_of
from fateforger.conversation.language.message_commands import command_fields, get_numbered
from fateforger.errors import BadInput
from fateforger.memory.applicability import Answer
from fateforger.memory.day_ends import with_said_moment
from fateforger.memory.documents import merge_document, read_record, write_record
from fateforger.memory.record import ConstraintRecord, Uid
from fateforger.memory.reminders import describe_days, describe_times, needs_confirmation
from fateforger.memory.retrieval import RuleFilter
from fateforger.memory.settings import (
    SPECS,
    build_setting,
    change_number,
    get_setting_slot,
    read_setting,
    with_standard_form,
)
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity, Scope, Source, Status
from fateforger.planning.validation import first_mistake
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.rules import (
    ConstraintVerdict,
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    SetPolicy,
    SettleConstraints,
    ShowMemory,
    UndoMemory,
)
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.recall import followed_constraints
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

_CLOSED = ConfigDict(frozen=True, extra="forbid")
LISTED = 20
"""Default length of a list."""


class MemoryTool(StrEnum):
    """Names of the tools."""

    LIST = "memory_list_constraints"
    GET = "memory_get_constraint"
    UPDATE = "memory_update_constraint"
    ARCHIVE = "memory_archive_constraint"
    SUPERSEDE = "memory_supersede_constraint"


class MemoryConstraintItem(BaseModel):
    """Constraint as returned by a tool.

    ``description`` holds the person's own words, said on ``said_on``; ``seq`` is the version that was read; ``when``
    and ``times`` are empty if the constraint always applies.
    """

    model_config = _CLOSED
    uid: str
    seq: int
    name: str
    description: str
    necessity: Necessity
    status: Status
    scope: Scope
    source: Source
    confidence: float | None
    topics: tuple[str, ...]
    said_on: Date
    when: str
    times: str
    needs_confirmation: bool
    used_this_session: bool


class MemoryTrouble(BaseModel):
    """Reason why a tool did nothing, with a sentence for the person."""

    model_config = _CLOSED
    kind: Literal["not_found", "bad_arguments", "bad_patch"]
    message: str


class MemoryToolResult(BaseModel):
    """Result of a tool.

    ``total`` counts all matches of a list. If not ``ok``, nothing was changed and ``trouble`` says why.
    """

    model_config = _CLOSED
    tool: MemoryTool
    ok: bool
    items: tuple[MemoryConstraintItem, ...] = ()
    total: int = 0
    trouble: MemoryTrouble | None = None


class ListConstraints(RuleFilter):
    """List the matching constraints; empty filters match everything.

    ``text`` is searched in name, words and topics, ignoring case. ``statuses`` can include retired constraints.
    """

    text: Annotated[str, Field(max_length=400)] | None = None
    statuses: tuple[Status, ...] = (Status.LOCKED, Status.PROPOSED)
    limit: int = Field(LISTED, ge=1, le=500)


class GetConstraint(BaseModel):
    model_config = _CLOSED
    uid: Uid


class UpdateConstraint(BaseModel):
    """Change a constraint. ``patch`` is a JSON object with the changed fields of the record, by group."""

    model_config = _CLOSED
    uid: Uid
    patch: Annotated[str, Field(max_length=100_000)]


class ArchiveConstraint(BaseModel):
    model_config = _CLOSED
    uid: Uid
    reason: Annotated[str, Field(max_length=2_000)] | None = None


class SupersedeConstraint(BaseModel):
    """Replace a constraint. ``record`` is a JSON object: the whole record that replaces the old one."""

    model_config = _CLOSED
    uid: Uid
    record: Annotated[str, Field(max_length=100_000)]


@dataclass(frozen=True, slots=True)
class KnownConstraints:
    """A person's constraints by uid, each in its newest version, and those that the session follows."""

    constraints: Mapping[str, Version]
    followed: Answer

    def item(self, version: Version) -> MemoryConstraintItem:
        """Return a constraint in the form that the tools return."""
        record = version.record
        return MemoryConstraintItem(
            uid=version.uid,
            seq=version.seq,
            name=record.name,
            description=record.words,
            necessity=record.necessity,
            status=record.status,
            scope=record.scope,
            source=record.source,
            confidence=record.confidence,
            topics=record.topics,
            said_on=self.followed.context.local_day(version.created_at),
            when=describe_days(record),
            times=describe_times(record),
            needs_confirmation=needs_confirmation(record),
            used_this_session=version.uid in {item.uid for item in self.followed.applicable},
        )


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a call: the result, and the command that makes the change, if any."""

    result: MemoryToolResult
    command: SessionCommand | None = None


def call_tool(
    tool: MemoryTool, arguments: Mapping[str, Any], known: KnownConstraints, envelope: Mapping[str, Any]
) -> CallOutcome:
    """Call a tool by name. Bad arguments raise nothing; they are reported in the result.

    ``envelope`` holds the fields that every command carries.
    """
    schema, work = _TOOLS[tool]
    try:
        read = schema.model_validate(dict(arguments))
    except ValidationError as error:
        mistake = first_mistake(error)
        return _report_trouble(tool, "bad_arguments", f"{mistake.sentence} (at {mistake.where or 'the top'})")
    return work(read, known, envelope)


def declare_tool(tool: MemoryTool) -> dict[str, Any]:
    """Return name, description and JSON schema of the arguments, in the form of a tool declaration."""
    schema, _ = _TOOLS[tool]
    described = schema.model_json_schema()
    return {"name": tool.value, "description": _SAID[tool], "strict": True, "parameters": described}


def _list_constraints(asked: ListConstraints, known: KnownConstraints, _: Mapping[str, Any]) -> CallOutcome:
    in_order = sorted(known.constraints.values(), key=lambda version: (-version.updated_at.timestamp(), version.uid))
    first = {item.uid: place for place, item in enumerate(known.followed.applicable)}
    found = sorted(
        (version for version in in_order if _fits(version.record, asked)),
        key=lambda version: first.get(version.uid, len(first)),
    )
    items = tuple(known.item(version) for version in found[: asked.limit])
    return CallOutcome(MemoryToolResult(tool=MemoryTool.LIST, ok=True, items=items, total=len(found)))


def _fits(record: ConstraintRecord, asked: ListConstraints) -> bool:
    return asked.admits(record) and (not asked.text or _mentions(record, asked.text))


def _mentions(record: ConstraintRecord, words: str) -> bool:
    known = " ".join((record.name, record.words, *record.topics)).casefold()
    return words.strip().casefold() in known


def _get_constraint(asked: GetConstraint, known: KnownConstraints, _: Mapping[str, Any]) -> CallOutcome:
    version = known.constraints.get(asked.uid)
    return _report_missing(MemoryTool.GET) if version is None else _return_one(MemoryTool.GET, version, known)


def _update_constraint(asked: UpdateConstraint, known: KnownConstraints, envelope: Mapping[str, Any]) -> CallOutcome:
    version = known.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.UPDATE)
    try:
        record = patch_record(version.record, _json_object(asked.patch))
    except BadInput as error:
        return _report_trouble(MemoryTool.UPDATE, "bad_patch", error.message)
    command = ReviseConstraint(**envelope, uid=asked.uid, record=record, seen=version.seq or None)
    return _return_one(MemoryTool.UPDATE, replace(version, record=record), known, command)


def _archive_constraint(asked: ArchiveConstraint, known: KnownConstraints, envelope: Mapping[str, Any]) -> CallOutcome:
    version = known.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.ARCHIVE)
    command = JudgeConstraint(
        **envelope, uid=asked.uid, verdict="archive", reason=asked.reason, seen=version.seq or None
    )
    gone = replace(version.record, status=Status.DECLINED)
    return _return_one(MemoryTool.ARCHIVE, replace(version, record=gone), known, command)


def _supersede_constraint(
    asked: SupersedeConstraint, known: KnownConstraints, envelope: Mapping[str, Any]
) -> CallOutcome:
    version = known.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.SUPERSEDE)
    try:
        record = read_record(_json_object(asked.record))
    except BadInput as error:
        return _report_trouble(MemoryTool.SUPERSEDE, "bad_patch", error.message)
    record = replace(record, lifecycle=replace(record.lifecycle, uid=None))
    command = RememberConstraint(**envelope, record=record, supersedes=asked.uid)
    return _return_one(MemoryTool.SUPERSEDE, version, known, command)


def patch_record(record: ConstraintRecord, patch: Mapping[str, Any]) -> ConstraintRecord:
    """Return the record with a patch applied. Groups keep the fields that the patch does not name, and the uid stays.

    Raises ``BadInput``, also for a field that no record has.
    """
    return read_record(merge_document(write_record(record), patch)).with_uid(record.uid)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise BadInput(_("That is no JSON, so nothing was changed.")) from None
    if not isinstance(value, dict):
        raise BadInput(_("That is no JSON object, so nothing was changed."))
    return value


def _return_one(
    tool: MemoryTool, version: Version, known: KnownConstraints, command: SessionCommand | None = None
) -> CallOutcome:
    return CallOutcome(MemoryToolResult(tool=tool, ok=True, items=(known.item(version),), total=1), command)


def _report_missing(tool: MemoryTool) -> CallOutcome:
    return _report_trouble(tool, "not_found", _("There is no such constraint (any more), so I did nothing."))


def _report_trouble(
    tool: MemoryTool, kind: Literal["not_found", "bad_arguments", "bad_patch"], message: str
) -> CallOutcome:
    return CallOutcome(MemoryToolResult(tool=tool, ok=False, trouble=MemoryTrouble(kind=kind, message=message)))


_TOOLS: Mapping[
    MemoryTool, tuple[type[BaseModel], Callable[[Any, KnownConstraints, Mapping[str, Any]], CallOutcome]]
] = {
    MemoryTool.LIST: (ListConstraints, _list_constraints),
    MemoryTool.GET: (GetConstraint, _get_constraint),
    MemoryTool.UPDATE: (UpdateConstraint, _update_constraint),
    MemoryTool.ARCHIVE: (ArchiveConstraint, _archive_constraint),
    MemoryTool.SUPERSEDE: (SupersedeConstraint, _supersede_constraint),
}
_SAID = {
    MemoryTool.LIST: "What is known of the person, filtered; what applies to the day at hand comes first.",
    MemoryTool.GET: "One constraint.",
    MemoryTool.UPDATE: "Change parts of a constraint; it stays the same constraint.",
    MemoryTool.ARCHIVE: "Put a constraint away. It is kept and can be brought back.",
    MemoryTool.SUPERSEDE: "Let a new constraint take the place of an old one.",
}


WHICH = mark_message("Which of them do you mean? Say it in its own words, or use the buttons beside it.")
NO_WRITE = mark_message("Nothing was written into memory here that could be taken back.")
NO_QUESTION = mark_message("There is no question open about that, so there is nothing to decide.")
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
    head = command_fields(reply)
    if words.instead and session.rules.memory_writes and words.wish is not MemoryWish.UNDO:
        corrected = memory_commands(reply, session, listed, replace(words, instead=False))
        return (UndoMemory(**head, write=_last_write(session)), *corrected)
    match words.wish:
        case MemoryWish.LIST | MemoryWish.GET:
            shown = tuple(get_numbered(listed, number).uid for number in words.numbers)
            return (ShowMemory(**head, uids=shown, search=words.search, filter=words.only),)
        case MemoryWish.REMEMBER:
            lasting = [v.record for v in listed if not v.retired and v.record.scope is Scope.PROFILE]
            return (_remember(head, lasting, new_record(_take_step(words.rule, lasting), session)),)
        case MemoryWish.UNDO:
            return (UndoMemory(**head, write=_last_write(session)),)
        case MemoryWish.KEEP:
            return (_settle(session, _find_meant(listed, words), head),)
        case MemoryWish.UPDATE | MemoryWish.ARCHIVE | MemoryWish.SUPERSEDE:
            known = KnownConstraints({version.uid: version for version in listed}, followed_constraints(session))
            return tuple(_call_tool(words, version, known, head) for version in _find_meant(listed, words))
        case (
            MemoryWish.ACCEPT
            | MemoryWish.DECLINE
            | MemoryWish.RESTORE
            | MemoryWish.SET_ASIDE
            | MemoryWish.USE_AGAIN as wish
        ):
            verdict = _VERDICTS[wish]
            return tuple(
                JudgeConstraint(**head, uid=v.uid, verdict=verdict, reason=words.reason, seen=v.seq or None)
                for v in _find_meant(listed, words)
            )
        case _:
            assert_never(words.wish)


def _remember(head: Mapping[str, Any], known: Sequence[ConstraintRecord], record: ConstraintRecord) -> SessionCommand:
    """Return the command that keeps a new rule. A setting for always is set as the form sets it."""
    setting = read_setting(record)
    if setting is None or setting.at is not None or not _holds_always(record):
        return RememberConstraint(**head, record=with_standard_form(record))
    same = [each for each in known if get_setting_slot(each) is setting.slot and not each.applicability.days_of_week]
    base = same[0] if same else None
    return SetPolicy(**head, records=(build_setting(setting, record.applicability.timezone, base),))


def _holds_always(record: ConstraintRecord) -> bool:
    when = record.applicability
    limited = when.days_of_week or when.start_date or when.end_date or record.lifecycle.ttl_days is not None
    depends = record.aspect is not None and record.aspect.depends
    return record.scope is Scope.PROFILE and not (limited or depends or record.applies_stages)


def _take_step(rule: RuleWords | None, known: Sequence[ConstraintRecord]) -> RuleWords | None:
    """Return the rule with the number that “more” or “less” of a setting comes to."""
    if rule is None or rule.change is None or rule.slot is None or rule.slot not in SPECS:
        return rule
    settings = (read_setting(each) for each in known if not each.applicability.days_of_week)
    now = next((each for each in settings if each is not None and each.slot is rule.slot), None)
    return replace(rule, minutes_min=change_number(rule.slot, now, more=rule.change == "more"))


def new_record(rule: RuleWords | None, session: Session) -> ConstraintRecord:
    """Return the record of a rule that was stated explicitly, and is therefore confirmed. Raises ``BadInput``."""
    if rule is None or rule.description is None:
        raise BadInput(_("I did not understand what to remember; please say the rule once more."))
    document = {
        "name": rule.description[:80],
        "necessity": "should",
        "scope": "profile",
        "status": Status.LOCKED,
        "source": Source.USER,
        "applicability": {"timezone": session.tz},
    }
    record = _parse_record(merge_document(document, changes_of(rule)))
    return with_said_moment(record, rule.slot, None if rule.limits is None else rule.limits.at)


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
    said = {**core, **routing, **{name: group for name, group in groups.items() if group}}
    return said if rule.limits is None else merge_document(said, rule.limits.to_fields())


def _call_tool(
    words: MemoryWords, version: Version, known: KnownConstraints, head: Mapping[str, Any]
) -> SessionCommand:
    """Return the command that a tool call results in. Raises ``BadInput`` with the reason if it did nothing."""
    arguments: dict[str, Any] = {"uid": version.uid}
    if words.wish is MemoryWish.ARCHIVE:
        arguments["reason"] = words.reason
    else:
        if words.rule is None:
            raise BadInput(_("I did not understand how that rule shall be; please say it once more."))
        setting = read_setting(version.record)
        rule = words.rule if setting is None else _take_step(replace(words.rule, slot=setting.slot), [version.record])
        if setting is not None and rule is not None and rule.minutes_min is not None and not rule.windows:
            record = build_setting(replace(setting, number=rule.minutes_min), None, version.record)
            return SetPolicy(**head, records=(record,))
        at = None if words.rule.limits is None else words.rule.limits.at
        if setting is not None and setting.at is not None and at is not None:
            return SetPolicy(**head, records=(build_setting(replace(setting, at=at), None, version.record),))
        changes = changes_of(words.rule)
        if words.wish is MemoryWish.UPDATE:
            arguments["patch"] = json.dumps(changes)
        else:
            arguments["record"] = json.dumps(merge_document(_as_new(version.record), changes))
    called = call_tool(MemoryTool(words.wish.value), arguments, known, head)
    if called.command is None:
        trouble = called.result.trouble
        raise BadInput(_(WHICH) if trouble is None else trouble.message)
    return called.command


def _find_meant(listed: Sequence[Version], words: MemoryWords) -> Sequence[Version]:
    if not words.numbers:
        raise BadInput(words.question or _(WHICH))
    return [get_numbered(listed, number) for number in dict.fromkeys(words.numbers)]


def _settle(session: Session, meant: Sequence[Version], head: Mapping[str, Any]) -> SessionCommand:
    """Return the answer to the question about these constraints; naming both of them keeps both."""
    uids = {version.uid for version in meant}
    question = next((each for each in session.rules.memory_questions if uids <= set(each.uids)), None)
    if question is None:
        raise BadInput(_(NO_QUESTION))
    keep = None if uids == set(question.uids) else meant[0].uid
    return SettleConstraints(**head, uids=question.uids, keep=keep)


def _last_write(session: Session) -> str:
    if not session.rules.memory_writes:
        raise BadInput(_(NO_WRITE))
    return session.rules.memory_writes[-1].cause


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
