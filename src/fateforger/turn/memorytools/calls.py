"""Implementation of the memory tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from fateforger.constraints import Answer, ConstraintRecord, Version, read_record, write_record
from fateforger.constraints.kinds import Status
from fateforger.constraints.sections import describe_days, describe_times, needs_confirmation
from fateforger.errors import BadInput
from fateforger.plan.mistakes import first_mistake
from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.turn.memorytools.schemas import (
    ArchiveConstraint,
    GetConstraint,
    ListConstraints,
    MemoryConstraintItem,
    MemoryTool,
    MemoryToolResult,
    MemoryTrouble,
    SupersedeConstraint,
    UpdateConstraint,
)
from fateforger.values import replace


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
    tool: MemoryTool, arguments: Mapping[str, Any], shelf: KnownConstraints, envelope: Mapping[str, Any]
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
    return work(read, shelf, envelope)


def declare_tool(tool: MemoryTool) -> dict[str, Any]:
    """Return name, description and JSON schema of the arguments, in the form of a tool declaration."""
    schema, _ = _TOOLS[tool]
    described = schema.model_json_schema()
    return {"name": tool.value, "description": _SAID[tool], "strict": True, "parameters": described}


def _list(asked: ListConstraints, shelf: KnownConstraints, _: Mapping[str, Any]) -> CallOutcome:
    in_order = sorted(shelf.constraints.values(), key=lambda version: (-version.updated_at.timestamp(), version.uid))
    first = {item.uid: place for place, item in enumerate(shelf.followed.applicable)}
    found = sorted(
        (version for version in in_order if _fits(version.record, asked)),
        key=lambda version: first.get(version.uid, len(first)),
    )
    items = tuple(shelf.item(version) for version in found[: asked.limit])
    return CallOutcome(MemoryToolResult(tool=MemoryTool.LIST, ok=True, items=items, total=len(found)))


def _fits(record: ConstraintRecord, asked: ListConstraints) -> bool:
    return (
        record.status in asked.statuses
        and (not asked.scopes or record.scope in asked.scopes)
        and (not asked.necessities or record.necessity in asked.necessities)
        and (not asked.tags or not set(record.topics).isdisjoint(asked.tags))
        and (not asked.text or _mentions(record, asked.text))
    )


def _mentions(record: ConstraintRecord, words: str) -> bool:
    known = " ".join((record.name, record.words, *record.topics)).casefold()
    return words.strip().casefold() in known


def _get(asked: GetConstraint, shelf: KnownConstraints, _: Mapping[str, Any]) -> CallOutcome:
    version = shelf.constraints.get(asked.uid)
    return _report_missing(MemoryTool.GET) if version is None else _return_one(MemoryTool.GET, version, shelf)


def _update(asked: UpdateConstraint, shelf: KnownConstraints, envelope: Mapping[str, Any]) -> CallOutcome:
    version = shelf.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.UPDATE)
    try:
        record = patch_record(version.record, _json_object(asked.patch))
    except BadInput as error:
        return _report_trouble(MemoryTool.UPDATE, "bad_patch", error.message)
    command = commands.ReviseConstraint(**envelope, uid=asked.uid, record=record, seen=version.seq or None)
    return _return_one(MemoryTool.UPDATE, replace(version, record=record), shelf, command)


def _archive(asked: ArchiveConstraint, shelf: KnownConstraints, envelope: Mapping[str, Any]) -> CallOutcome:
    version = shelf.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.ARCHIVE)
    command = commands.JudgeConstraint(
        **envelope, uid=asked.uid, verdict="archive", reason=asked.reason, seen=version.seq or None
    )
    gone = replace(version.record, status=Status.DECLINED)
    return _return_one(MemoryTool.ARCHIVE, replace(version, record=gone), shelf, command)


def _supersede(asked: SupersedeConstraint, shelf: KnownConstraints, envelope: Mapping[str, Any]) -> CallOutcome:
    version = shelf.constraints.get(asked.uid)
    if version is None:
        return _report_missing(MemoryTool.SUPERSEDE)
    try:
        record = read_record(_json_object(asked.record))
    except BadInput as error:
        return _report_trouble(MemoryTool.SUPERSEDE, "bad_patch", error.message)
    record = replace(record, lifecycle=replace(record.lifecycle, uid=None))
    command = commands.RememberConstraint(**envelope, record=record, supersedes=asked.uid)
    return _return_one(MemoryTool.SUPERSEDE, version, shelf, command)


def patch_record(record: ConstraintRecord, patch: Mapping[str, Any]) -> ConstraintRecord:
    """Return the record with a patch applied. Groups keep the fields that the patch does not name, and the uid stays.

    Raises ``BadInput``, also for a field that no record has.
    """
    return read_record(merge_document(write_record(record), patch)).with_uid(record.uid)


def merge_document(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge changes into a document, group by group."""
    whole = dict(document)
    for name, value in changes.items():
        group = whole.get(name)
        whole[name] = merge_document(group, value) if isinstance(group, dict) and isinstance(value, Mapping) else value
    return whole


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise BadInput("That is no JSON, so nothing was changed.") from None
    if not isinstance(value, dict):
        raise BadInput("That is no JSON object, so nothing was changed.")
    return value


def _return_one(
    tool: MemoryTool, version: Version, shelf: KnownConstraints, command: SessionCommand | None = None
) -> CallOutcome:
    return CallOutcome(MemoryToolResult(tool=tool, ok=True, items=(shelf.item(version),), total=1), command)


def _report_missing(tool: MemoryTool) -> CallOutcome:
    return _report_trouble(tool, "not_found", "There is no such constraint (any more), so I did nothing.")


def _report_trouble(
    tool: MemoryTool, kind: Literal["not_found", "bad_arguments", "bad_patch"], message: str
) -> CallOutcome:
    return CallOutcome(MemoryToolResult(tool=tool, ok=False, trouble=MemoryTrouble(kind=kind, message=message)))


_TOOLS: Mapping[
    MemoryTool, tuple[type[BaseModel], Callable[[Any, KnownConstraints, Mapping[str, Any]], CallOutcome]]
] = {
    MemoryTool.LIST: (ListConstraints, _list),
    MemoryTool.GET: (GetConstraint, _get),
    MemoryTool.UPDATE: (UpdateConstraint, _update),
    MemoryTool.ARCHIVE: (ArchiveConstraint, _archive),
    MemoryTool.SUPERSEDE: (SupersedeConstraint, _supersede),
}
_SAID = {
    MemoryTool.LIST: "What is known of the person, filtered; what applies to the day at hand comes first.",
    MemoryTool.GET: "One constraint.",
    MemoryTool.UPDATE: "Change parts of a constraint; it stays the same constraint.",
    MemoryTool.ARCHIVE: "Put a constraint away. It is kept and can be brought back.",
    MemoryTool.SUPERSEDE: "Let a new constraint take the place of an old one.",
}
