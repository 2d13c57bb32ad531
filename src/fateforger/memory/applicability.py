"""Applicability of constraints: one function of the versions and a context, with a reason per exclusion.

The same function serves retrieval, the memory card and the explanation. All filters are exact; similarity decides
nothing.

The constraints that apply are ranked and cut to a budget. Relevance is ranked, applicability is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import date as Date  # noqa: N812  as elsewhere
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Annotated, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fateforger.memory.record import ConstraintRecord, EventType, Flat, Label, Stage, Uid, name_label
from fateforger.memory.versions import (
    Instant,
    Version,
    build_superseded_by,
    find_successors,
    select_newest,
    still_replaces,
)
from fateforger.memory.vocabulary import STAGE_HEADINGS, Action, Necessity, Status, Weekday, normalize_stage, occurs
from fateforger.planning.timing import zone
from fateforger.text import format_date, join_words, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.values import Value


def _default_to_empty(value: object) -> object:
    return () if value is None else value


class Context(Value):
    """The known facts when constraints are queried. A field left out does not filter.

    ``as_of`` is the planned day; without it, it is the day at ``now`` in ``timezone``. Versions written after ``now``
    do not exist yet. ``k`` is the number of constraints there is room for. ``situation`` names parts of the day
    (aspects, event types) for conditional constraints; a sentence is for people only and filters nothing. ``topics``
    only affect the rank. ``suppressed_uids`` are those the person set aside for this session.
    """

    user_id: str
    stage: Stage | None = None
    as_of: Date | None = None
    now: Instant | None = None
    timezone: Annotated[
        str, BeforeValidator(lambda v: "UTC" if v is None else v), AfterValidator(lambda n: zone(n).key)
    ] = "UTC"
    event_types: Annotated[tuple[EventType, ...], BeforeValidator(_default_to_empty)] = ()
    session_id: str | None = None
    type_ids: Annotated[tuple[Label, ...], BeforeValidator(_default_to_empty)] = ()
    k: int | None = Field(None, ge=0, strict=True)
    situation: str | tuple[Label, ...] | None = None
    topics: Annotated[tuple[Label, ...], BeforeValidator(_default_to_empty)] = ()
    suppressed_uids: Annotated[tuple[Uid, ...], BeforeValidator(_default_to_empty)] = ()

    @model_validator(mode="after")
    def _knows_its_day(self) -> Self:
        if self.as_of is None and self.now is None:
            raise ValueError("say which day it is about: as_of, or now with timezone")
        return self

    @cached_property
    def day(self) -> Date:
        """The planned day, as a calendar day without a zone."""
        return self.as_of or self.local_day(self.now or datetime.min.replace(tzinfo=UTC))

    @cached_property
    def asked_stage(self) -> str | None:
        """The stage by its usual name."""
        return None if self.stage is None else normalize_stage(self.stage)

    @cached_property
    def asked_types(self) -> frozenset[str]:
        """The event types asked about; if empty, they do not filter."""
        return frozenset(kind.value for kind in self.event_types)

    @property
    def present(self) -> frozenset[str]:
        """The labels known to be part of the day."""
        labels = () if self.situation is None or isinstance(self.situation, str) else self.situation
        return self.asked_types.union(labels)

    def local_day(self, instant: datetime) -> Date:
        """Return the calendar day of an instant in the person's zone."""
        return instant.astimezone(zone(self.timezone)).date()


class Why(StrEnum):
    """A reason that keeps a constraint from applying; the first one that holds is reported."""

    DECLINED = "declined"
    ARCHIVED = "archived"
    SET_ASIDE = "set_aside"
    OTHER_SESSION = "other_session"
    SUPERSEDED = "superseded"
    NOT_YET = "not_yet"
    OVER = "over"
    EXPIRED = "expired"
    OTHER_WEEKDAY = "other_weekday"
    NO_OCCURRENCE = "no_occurrence"
    OTHER_STAGE = "other_stage"
    OTHER_EVENT_TYPES = "other_event_types"
    OTHER_TYPE = "other_type"
    CONDITION = "condition"
    RULED_OUT = "ruled_out"
    CUT = "cut"


class Excluded(NamedTuple):
    """A constraint that does not apply. ``by`` is the constraint that replaces or excludes it."""

    version: Version
    why: Why
    context: Context
    by: Version | None = None

    @property
    def uid(self) -> str:
        return self.version.uid

    @property
    def reason(self) -> str:
        """The sentence for a person."""
        return _SENTENCES[self.why](self)


def _describe_archived(excluded: Excluded) -> str:
    version = excluded.version
    if version.event.action is Action.SUPERSEDE:
        return _("Another one takes its place.")
    reason = version.event.reason.strip() if version.event.reason else ""
    if reason in _ARCHIVED:
        return _(_ARCHIVED[reason])
    if reason.startswith((DUPLICATE, SAME)):
        return _("Another one says the same.")
    return _("It was archived: “{reason}”.", reason=reason) if reason else _("It was archived.")


AS_SAID, TAKEN_BACK = "as you said", "taken back"
EXPIRED, NEVER_CONFIRMED = "expired", "never confirmed"
DUPLICATE, SAME = "duplicate of", "the same as"
"""Stored reasons of archiving; the uid of the other one follows these two."""
_ARCHIVED: Mapping[str, str] = {
    AS_SAID: mark_message("You archived it."),
    TAKEN_BACK: mark_message("You took it back."),
    EXPIRED: mark_message("Its time is over."),
    NEVER_CONFIRMED: mark_message("You never confirmed it."),
}


def _describe_condition(excluded: Excluded) -> str:
    aspect = excluded.version.record.aspect
    present, absent = ((), ()) if aspect is None else (aspect.conditional_on_present, aspect.conditional_on_absent)
    wanted = [_("with {title}", title=name_label(label)) for label in present]
    unwanted = [_("without {title}", title=name_label(label)) for label in absent]
    return _("It is for days {conditions} only.", conditions=join_words([*wanted, *unwanted]))


def compute_last_day(version: Version, context: Context) -> date | None:
    """Return the last day of its time to live, or ``None`` if it has none."""
    return version.record.lifecycle.count_from(context.local_day(version.updated_at))


def has_ended(version: Version, today: date, tz: str) -> bool:
    """Check whether its dates or its time to live are over, on a day in a zone."""
    last = version.record.find_last_day(version.updated_at.astimezone(zone(tz)).date())
    return last is not None and last < today


def _format_date(day: date | None) -> str:
    return _("a day I do not know") if day is None else format_date(day)


def _name_replacement(excluded: Excluded) -> str:
    return _("Another one") if excluded.by is None else quote_title(excluded.by.record.name)


def _list_weekdays(excluded: Excluded) -> str:
    return join_words([day.words for day in Weekday if day in excluded.version.record.applicability.days_of_week])


def _list_stages(excluded: Excluded) -> str:
    stages = (STAGE_HEADINGS[normalize_stage(stage)] for stage in excluded.version.record.applies_stages)
    return join_words([quote_title(_(heading)) for heading in stages])


def _list_types(excluded: Excluded) -> str:
    return join_words([kind.words for kind in excluded.version.record.applies_event_types])


_SENTENCES: Mapping[Why, Callable[[Excluded], str]] = {
    Why.DECLINED: lambda _excluded: _("You declined it."),
    Why.ARCHIVED: _describe_archived,
    Why.SET_ASIDE: lambda _excluded: _("You set it aside for this plan."),
    Why.OTHER_SESSION: lambda _excluded: _("It was meant for another plan only."),
    Why.SUPERSEDED: lambda x: _("{name} takes its place on that day.", name=_name_replacement(x)),
    Why.NOT_YET: lambda x: _("It begins on {day}.", day=_format_date(x.version.record.applicability.start_date)),
    Why.OVER: lambda x: _("It ended on {day}.", day=_format_date(x.version.record.applicability.end_date)),
    Why.EXPIRED: lambda x: _(
        "It was kept until {day} and not confirmed since.", day=_format_date(compute_last_day(x.version, x.context))
    ),
    Why.OTHER_WEEKDAY: lambda x: _("It is for {days} only.", days=_list_weekdays(x)),
    Why.NO_OCCURRENCE: lambda x: _(
        "That day is not one of its days ({rule}).", rule=x.version.record.applicability.recurrence
    ),
    Why.OTHER_STAGE: lambda x: _("It is for the stage {stages} only.", stages=_list_stages(x)),
    Why.OTHER_EVENT_TYPES: lambda x: _("It is about {types} only.", types=_list_types(x)),
    Why.OTHER_TYPE: lambda x: _("Its type is {type}, which was not asked for.", type=x.version.record.type_id),
    Why.CONDITION: _describe_condition,
    Why.RULED_OUT: lambda x: _("{name} rules it out on that day.", name=_name_replacement(x)),
    Why.CUT: lambda x: _("There was room for {count} only, and others come first.", count=x.context.k),
}


@dataclass(frozen=True, slots=True)
class Applicable:
    """A constraint that applies in a context."""

    version: Version
    context: Context

    @property
    def uid(self) -> str:
        return self.version.uid

    @property
    def record(self) -> ConstraintRecord:
        return self.version.record

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons it applies and ranks where it does, as sentences for a person."""
        return (self._binding(), self._days(), *self._routing(), *self._life())

    def _binding(self) -> str:
        confirmed = self.record.status is Status.LOCKED
        return _(_BINDING[self.record.necessity.value][confirmed])

    def _days(self) -> str:
        when, day = self.record.applicability, format_date(self.context.day)
        if when.recurrence is not None:
            text = _("It holds on {day}, one of its occurrences ({rule})", day=day, rule=when.recurrence)
        elif when.days_of_week:
            days = join_words([each.words for each in Weekday if each in when.days_of_week])
            text = _("It holds on {day}, as on each {days}", day=day, days=days)
        else:
            text = _("It holds on {day}", day=day)
        start, end = (None if each is None else format_date(each) for each in (when.start_date, when.end_date))
        if start is not None and end is not None:
            return _("{what}, between {start} and {end}.", what=text, start=start, end=end)
        if start is not None:
            return _("{what}, since {day}.", what=text, day=start)
        return f"{text}." if end is None else _("{what}, until {day}.", what=text, day=end)

    def _routing(self) -> tuple[str, ...]:
        touched = [kind for kind in self.record.applies_event_types if kind in self.context.event_types]
        return (_("It concerns {types}.", types=join_words([kind.words for kind in touched])),) if touched else ()

    def _life(self) -> tuple[str, ...]:
        last = compute_last_day(self.version, self.context)
        if last is None:
            return ()
        return (_("It is kept until {day} unless you confirm it again.", day=format_date(last)),)


_BINDING = {
    "must": (
        mark_message("It has to be kept; it is assumed, not confirmed yet."),
        mark_message("It has to be kept; you confirmed it."),
    ),
    "should": (
        mark_message("It should be kept; it is assumed, not confirmed yet."),
        mark_message("It should be kept; you confirmed it."),
    ),
    "prefer": (
        mark_message("You prefer it; it is assumed, not confirmed yet."),
        mark_message("You prefer it; you confirmed it."),
    ),
}
"""The force of a constraint: while it is assumed, and once it is confirmed."""


def find_unmet(in_order: Sequence[Version], context: Context) -> dict[str, Version]:
    """Return the constraints whose condition does not hold.

    The day contains what the context says, and the aspect of each unconditional constraint that applies. Anything else
    counts as absent.
    """
    conditional = [version for version in in_order if version.record.aspect and version.record.aspect.depends]
    if not conditional:
        return {}
    present = context.present | {
        version.record.aspect.aspect_id
        for version in in_order
        if version.record.aspect and version.record.aspect.aspect_id and not version.record.aspect.depends
    }
    return {version.uid: version for version in conditional if not _holds(version, present)}


def _holds(version: Version, present: frozenset[str]) -> bool:
    aspect = version.record.aspect
    if aspect is None:
        return True
    return present.issuperset(aspect.conditional_on_present) and present.isdisjoint(aspect.conditional_on_absent)


def find_ruled_out(in_order: Sequence[Version]) -> dict[str, Version]:
    """Return, by uid, the constraints that another one excludes, with that one.

    A constraint never excludes a more binding one. If two exclude each other, the first in order stays.
    """
    excluding = [version for version in in_order if version.record.aspect and version.record.aspect.excludes_aspect_ids]
    out: dict[str, Version] = {}
    for strong in excluding:
        aspect = strong.record.aspect
        if aspect is None or strong.uid in out:
            continue
        for version in in_order:
            theirs = version.record.aspect
            if theirs is None or theirs.aspect_id not in aspect.excludes_aspect_ids or version.uid == strong.uid:
                continue
            if version.record.necessity.weakness >= strong.record.necessity.weakness:
                out.setdefault(version.uid, strong)
    return out


def rank_versions(versions: Iterable[Version], context: Context) -> list[Version]:
    """Sort constraints, best first.

    The criteria are necessity, a match with the event types and then the topics asked about, confirmed before proposed,
    and confidence. Ties are broken by recency, then by uid, so the order of the rows never matters.
    """
    topics = frozenset(context.topics)

    def precedence(version: Version) -> tuple[int, bool, bool, bool, float, float, str]:
        flat = version.flat
        weakness, assumed, doubt = flat.merit
        off_topic = bool(topics) and _is_off_topic(version.record, topics)
        misfit = flat.event_types.isdisjoint(context.asked_types)
        return weakness, misfit, off_topic, assumed, doubt, -version.updated_at.timestamp(), version.uid

    return sorted(versions, key=precedence)


def _is_off_topic(record: ConstraintRecord, topics: frozenset[str]) -> bool:
    domain = None if record.aspect is None else record.aspect.category
    return domain not in topics and topics.isdisjoint(record.topics)


def cut_to_budget(in_order: Sequence[Version], k: int | None) -> tuple[list[Version], list[Version]]:
    """Return the constraints there is room for, and the others. A must is never cut."""
    if k is None:
        return list(in_order), []
    musts = sum(version.record.necessity is Necessity.MUST for version in in_order)
    room = max(k, musts)
    return list(in_order[:room]), list(in_order[room:])


_ARCHIVING = frozenset({Action.ARCHIVE, Action.SUPERSEDE})


@dataclass(frozen=True, slots=True)
class Answer:
    """The constraints that apply, best first, and all others of the person with a reason, by uid."""

    context: Context
    applicable: tuple[Applicable, ...]
    excluded: tuple[Excluded, ...]

    @property
    def cut(self) -> tuple[Excluded, ...]:
        """The constraints that would apply if there were room."""
        return tuple(item for item in self.excluded if item.why is Why.CUT)


def decide_applicability(versions: Iterable[Version], context: Context) -> Answer:
    """Return the constraints of ``context.user_id`` that apply on the context's day, ranked and within its budget.

    ``versions`` may hold any rows in any order, including older versions and those of other people and sessions. The
    newest version of a uid is selected first and filtered afterwards.
    """
    mine = select_newest(versions, context.user_id, context.now)
    replaced = _find_replaced(mine, context)
    excluded: list[Excluded] = []
    candidates: list[Version] = []
    for version in mine.values():
        why = _find_exclusion(version, context, replaced)
        if why is None:
            candidates.append(version)
        else:
            excluded.append(Excluded(version, why, context, replaced.get(version.uid)))
    in_order = rank_versions(candidates, context)
    failed = find_unmet(in_order, context)
    excluded += [Excluded(version, Why.CONDITION, context) for version in failed.values()]
    in_order = [version for version in in_order if version.uid not in failed]
    out = find_ruled_out(in_order)
    excluded += [
        Excluded(version, Why.RULED_OUT, context, out[version.uid]) for version in in_order if version.uid in out
    ]
    kept, cut = cut_to_budget([version for version in in_order if version.uid not in out], context.k)
    excluded += [Excluded(version, Why.CUT, context) for version in cut]
    applicable = tuple(Applicable(version, context) for version in kept)
    return Answer(context, applicable, tuple(sorted(excluded, key=attrgetter("version.uid"))))


def _find_replaced(mine: Mapping[str, Version], context: Context) -> dict[str, Version]:
    """Return, by uid, the newest constraint that replaces it on the day.

    Only the dates of the replacement count: one for Tuesdays leaves nothing of the old one on other days. A constraint
    of a session replaces only within that session.
    """
    replaced: dict[str, Version] = {}
    named = find_successors(mine)
    for uid, ones in named.items():
        for version in ones:
            record = version.record
            if uid not in mine or not record.applicability.within_dates(context.day):
                continue
            if _is_other_session(version, context) or not still_replaces(version, named):
                continue
            before = replaced.get(uid)
            if before is None or (version.updated_at, version.uid) > (before.updated_at, before.uid):
                replaced[uid] = version
    return replaced


def _is_other_session(version: Version, context: Context) -> bool:
    if not version.flat.session_only:
        return False
    return version.session_id is None or version.session_id != context.session_id


def _find_exclusion(version: Version, context: Context, replaced: Mapping[str, Version]) -> Why | None:
    """Return the first reason a constraint does not apply, other constraints' effects aside."""
    flat = version.flat
    if (
        flat.declined
        and version.uid in replaced
        and version.event.reason == build_superseded_by(replaced[version.uid].uid)
    ):
        return Why.SUPERSEDED
    if flat.declined:
        return Why.ARCHIVED if version.event.action in _ARCHIVING else Why.DECLINED
    if version.uid in context.suppressed_uids:
        return Why.SET_ASIDE
    if flat.session_only and _is_other_session(version, context):
        return Why.OTHER_SESSION
    if version.uid in replaced:
        return Why.SUPERSEDED
    return _check_day(version, flat, context) or _check_routing(flat, context)


def _check_day(version: Version, flat: Flat, context: Context) -> Why | None:
    day = context.day
    if day < flat.start:
        return Why.NOT_YET
    if day > flat.end:
        return Why.OVER
    if flat.ttl_days is not None and _is_expired(version, flat.ttl_days, context):
        return Why.EXPIRED
    if day.weekday() not in flat.weekdays:
        return Why.OTHER_WEEKDAY
    if flat.recurrence is not None and not occurs(flat.recurrence, version.record.applicability.start_date, day):
        return Why.NO_OCCURRENCE
    return None


def _is_expired(version: Version, days: int, context: Context) -> bool:
    """Check whether a constraint has outlived its days.

    A local day differs from that of UTC by at most one, so the zone matters only when the end is that close.
    """
    left = version.updated_at.toordinal() + days - context.day.toordinal()
    if abs(left) > 1:
        return left < 0
    last = compute_last_day(version, context)
    return last is not None and context.day > last


def _check_routing(flat: Flat, context: Context) -> Why | None:
    if context.asked_stage is not None and flat.stages and context.asked_stage not in flat.stages:
        return Why.OTHER_STAGE
    if context.asked_types and flat.event_types and context.asked_types.isdisjoint(flat.event_types):
        return Why.OTHER_EVENT_TYPES
    if context.type_ids and flat.type_id not in context.type_ids:
        return Why.OTHER_TYPE
    return None
