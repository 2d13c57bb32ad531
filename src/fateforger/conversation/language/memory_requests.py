"""The commands of a request about memory (S26-S31, S118, S214).

A model names the operation and the rows; it is given no tools. A change is a command like that of a form, for the
executor to carry out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from pydantic import ValidationError

from fateforger.conversation.language.answers import MemoryWish, MemoryWords, RuleWords, aspect_of
from fateforger.conversation.language.message_commands import command_fields, get_numbered
from fateforger.errors import BadInput, first_mistake
from fateforger.memory.documents import merge_document, read_record, write_record
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.settings import (
    SPECS,
    build_setting,
    change_number,
    get_setting_slot,
    read_setting,
    with_said_moment,
    with_standard_form,
)
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Scope, Source, Status
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
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace


def patch_record(record: ConstraintRecord, patch: Mapping[str, Any]) -> ConstraintRecord:
    """Return the record with a patch applied. Groups keep the fields that the patch does not name, and the uid stays.

    Raises ``BadInput``, also for a field that no record has.
    """
    return read_record(merge_document(write_record(record), patch)).with_uid(record.uid)


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
            return (_remember(head, lasting, new_record(_take_step(words.rule, lasting))),)
        case MemoryWish.UNDO:
            return (UndoMemory(**head, write=_last_write(session)),)
        case MemoryWish.KEEP:
            return (_settle(session, _find_meant(listed, words), head),)
        case MemoryWish.UPDATE | MemoryWish.ARCHIVE | MemoryWish.SUPERSEDE:
            return tuple(_change_rule(words, version, head) for version in _find_meant(listed, words))
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
    return SetPolicy(**head, records=(build_setting(setting, base),))


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


def new_record(rule: RuleWords | None) -> ConstraintRecord:
    """Return the record of a rule that was stated explicitly, and is therefore confirmed. Raises ``BadInput``."""
    if rule is None or rule.description is None:
        raise BadInput(_("I did not understand what to remember; please say the rule once more."))
    document = {
        "name": rule.description[:80],
        "necessity": "should",
        "scope": "profile",
        "status": Status.LOCKED,
        "source": Source.USER,
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


def _limits_of(rule: RuleWords) -> dict[str, Any]:
    """Return the fields that limit a rule to the days or steps that the words name, by group."""
    limits = {} if rule.limits is None else rule.limits.to_fields()
    said = {**limits, "applicability": changes_of(rule).get("applicability")}
    groups = ("applicability", "lifecycle", "aspect_classification", "applies_stages")
    return {name: said[name] for name in groups if said.get(name)}


def _change_rule(words: MemoryWords, version: Version, head: Mapping[str, Any]) -> SessionCommand:
    """Return the command that archives, updates or supersedes a rule. Raises ``BadInput`` if it cannot be read."""
    seen = version.seq or None
    if words.wish is MemoryWish.ARCHIVE:
        return JudgeConstraint(**head, uid=version.uid, verdict="archive", reason=words.reason, seen=seen)
    if words.rule is None:
        raise BadInput(_("I did not understand how that rule shall be; please say it once more."))
    setting, changes = _change_setting(words.rule, version), changes_of(words.rule)
    if setting is not None:
        limits = _limits_of(words.rule)
        if not limits:
            return SetPolicy(**head, records=(setting,))
        # The usual setting is kept, and counts again once the limited one has ended.
        return RememberConstraint(**head, record=read_record(merge_document(_as_new(setting), limits)))
    if words.rule.windows is not None:
        changes = merge_document(changes, {"applicability": {"timezone": None}})
    if words.wish is MemoryWish.UPDATE:
        record, renewed = patch_record(version.record, changes), "lifecycle" in changes
        return ReviseConstraint(**head, uid=version.uid, record=record, seen=seen, renewed=renewed)
    record = read_record(merge_document(_as_new(version.record), changes))
    return RememberConstraint(**head, record=record, supersedes=version.uid)


def _change_setting(changed: RuleWords, version: Version) -> ConstraintRecord | None:
    """Return the setting that a changed number or time gives; ``None`` if the rule is none, or is not changed so."""
    setting = read_setting(version.record)
    if setting is None:
        return None
    rule = _take_step(replace(changed, slot=setting.slot), [version.record])
    if rule is not None and rule.minutes_min is not None and not rule.windows:
        return build_setting(replace(setting, number=rule.minutes_min), version.record)
    at = None if changed.limits is None else changed.limits.at
    if setting.at is not None and at is not None:
        return build_setting(replace(setting, at=at), version.record)
    return None


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
