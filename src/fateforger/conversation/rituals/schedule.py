"""The choices of a person about these messages, how they are made, and the instants that follow from them.

A message belongs to a date of the person's calendar, so a day on which the clocks change has one of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime

from fateforger.conversation.queue.cards import build_reply
from fateforger.conversation.queue.forms import build_envelope
from fateforger.memory.vocabulary import WEEK, Weekday
from fateforger.planning.timing import instant_of, zone
from fateforger.ports.jobs import NewJob
from fateforger.session.cards import Button, Card, Choice, Controls, Divider, Part, Prose
from fateforger.session.forms import (
    FlagField,
    Form,
    FormErrors,
    FormRequest,
    FormSubmission,
    ManyField,
    TextPart,
    TimeField,
)
from fateforger.session.queue_commands import ChangeRituals, ReviewWeek, RitualChange, RitualKind
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message
from fateforger.ui.form_values import Filled
from fateforger.values import Value, replace

WORKDAYS = WEEK[:5]
NUMBERS: Mapping[Weekday, int] = {day: number for number, day in enumerate(WEEK)}
"""Days of the week as ``date.weekday()`` counts them."""
QUIET_FROM, QUIET_UNTIL = time(20, 0), time(7, 0)
MARGIN = timedelta(minutes=15)
"""Time between a message that closes the day and the quiet hours after it."""
USUAL_REVIEW = time(17, 0)
"""Time of the review for a person whose days are not closed at a chosen time."""
NOON = time(12, 0)
LATE_MORNING = timedelta(hours=2)
"""Time for which a morning message is useful that is due around noon."""
LOOK_BACK = timedelta(days=7)
"""Age up to which a message that was not sent is recorded as skipped."""


class RitualSettings(Value):
    """The choices of a person. Each kind is off until they turn it on.

    ``shutdown`` is a time; with ``at_end`` it is the end of the day's frame instead. A review comes on the last of the
    ``days`` of a week. In the quiet hours nothing is sent. ``since`` is the instant of the last change: what was due
    before is not sent any more. ``channel`` is that of their direct messages, ``tz`` their zone. ``version`` is counted
    by the store.
    """

    user_id: str
    morning: time | None = None
    shutdown: time | None = None
    at_end: bool = False
    review: bool = False
    days: tuple[Weekday, ...] = WORKDAYS
    quiet_from: time = QUIET_FROM
    quiet_until: time = QUIET_UNTIL
    channel: str
    tz: str
    since: AwareDatetime
    version: int = 0

    @property
    def kinds(self) -> tuple[RitualKind, ...]:
        """The kinds that are on."""
        on: Mapping[RitualKind, bool] = {
            "morning": self.morning is not None,
            "shutdown": self.shutdown is not None or self.at_end,
            "review": self.review,
        }
        return tuple(kind for kind, wanted in on.items() if wanted)

    def is_quiet(self, clock: time) -> bool:
        """Check whether a time of day is in the quiet hours."""
        if self.quiet_from <= self.quiet_until:
            return self.quiet_from <= clock < self.quiet_until
        return clock >= self.quiet_from or clock < self.quiet_until

    def with_change(self, change: RitualChange, now: datetime) -> RitualSettings:
        """Return the settings after a change that takes effect at an instant."""
        given = {name: value for name, value in change.model_dump(exclude={"off"}).items() if value is not None}
        if change.shutdown is not None:
            given["at_end"] = False
        if change.at_end:
            given["shutdown"] = None
        for kind in change.off:
            given |= _OFF[kind]
        return RitualSettings.model_validate({**self.model_dump(), **given, "since": now})

    def find_quiet_times(self) -> tuple[time, ...]:
        """Return the chosen times that are in the quiet hours."""
        chosen = (self.morning, self.shutdown)
        return tuple(clock for clock in chosen if clock is not None and self.is_quiet(clock))

    def make_room(self) -> RitualChange:
        """Return the change of the quiet hours that leaves out the chosen times."""
        change = RitualChange()
        if self.morning is not None and self.is_quiet(self.morning):
            change = replace(change, quiet_until=self.morning)
        if self.shutdown is not None and self.is_quiet(self.shutdown):
            change = replace(change, quiet_from=_shift(self.shutdown, MARGIN))
        return change


_OFF: Mapping[RitualKind, Mapping[str, object]] = {
    "morning": {"morning": None},
    "shutdown": {"shutdown": None, "at_end": False},
    "review": {"review": False},
}


@dataclass(frozen=True, slots=True)
class Due:
    """A message of a date, due at an instant. ``until`` is the instant from which on it is of no use."""

    kind: RitualKind
    day: date
    at: datetime
    until: datetime


def first_instant(day: date, clock: time, tz: ZoneInfo) -> datetime:
    """Return the instant of a local time, in UTC.

    A time that happens twice means the first one; one that the clocks skip, the next moment that exists.
    """
    local = datetime.combine(day, clock)
    at = instant_of(local, tz)
    if at.replace(tzinfo=None, fold=0) == local:
        return at.astimezone(UTC)
    after = at.utcoffset()
    first, last = local.replace(tzinfo=tz, fold=1).astimezone(UTC), at.astimezone(UTC)
    while last - first > timedelta(seconds=1):
        middle = first + (last - first) / 2
        first, last = (first, middle) if middle.astimezone(tz).utcoffset() == after else (middle, last)
    return last.replace(microsecond=0)


def list_due(settings: RitualSettings, ends: Mapping[date, datetime], now: datetime) -> Iterator[Due]:
    """Yield what was due up to an instant, the earliest day first, as far back as it is recorded.

    ``ends`` are the instants at which the frames of planned days end.
    """
    tz, start = zone(settings.tz), max(settings.since, now - LOOK_BACK)
    day, last = start.astimezone(tz).date() - timedelta(days=1), now.astimezone(tz).date() + timedelta(days=1)
    while day <= last:
        found = (_find_due(settings, kind, day, ends.get(day), tz) for kind in settings.kinds)
        yield from (due for due in found if due is not None and start < due.at <= now)
        day += timedelta(days=1)


def find_next(settings: RitualSettings, ends: Mapping[date, datetime], now: datetime) -> datetime:
    """Return when something may be due next, a day from now at the latest. ``ends`` are as in :func:`list_due`."""
    tz, found = zone(settings.tz), [now + timedelta(days=1)]
    today = now.astimezone(tz).date()
    for day in (today + timedelta(days=n) for n in (-1, 0, 1, 2)):
        due = (_find_due(settings, kind, day, ends.get(day), tz) for kind in settings.kinds)
        found += [each.at for each in due if each is not None and each.at > now]
    return min(found)


def _find_due(settings: RitualSettings, kind: RitualKind, day: date, end: datetime | None, tz: ZoneInfo) -> Due | None:
    """Return the message of a kind for a date, if the person wants one then."""
    chosen = [NUMBERS[each] for each in settings.days]
    if day.weekday() not in chosen or (kind == "review" and day.weekday() != max(chosen)):
        return None
    if kind == "morning":
        if settings.morning is None:
            return None
        at = first_instant(day, settings.morning, tz)
        return Due(kind, day, at, max(first_instant(day, NOON, tz), at + LATE_MORNING))
    next_day = first_instant(day + timedelta(days=1), time(0), tz)
    if settings.at_end and end is not None:
        at = min(end.astimezone(UTC), _last_before_quiet(settings, day, tz))
    elif settings.at_end and kind == "shutdown":
        return None
    else:
        at = first_instant(day, settings.shutdown or USUAL_REVIEW, tz)
    return Due(kind, day, at, next_day) if at < next_day else None


def _last_before_quiet(settings: RitualSettings, day: date, tz: ZoneInfo) -> datetime:
    """Return the latest instant for a message at the end of a day."""
    if settings.quiet_from == settings.quiet_until:
        return first_instant(day + timedelta(days=1), time(0), tz) - MARGIN
    begins = day if settings.quiet_from > NOON else day + timedelta(days=1)
    return (
        min(first_instant(begins, settings.quiet_from, tz), first_instant(day + timedelta(days=1), time(0), tz))
        - MARGIN
    )


def _shift(clock: time, by: timedelta) -> time:
    return (datetime.combine(date.min, clock) + by).time()


Outcome = Literal["sent", "late", "quiet", "begun", "nothing"]
"""Outcome of a message: sent, or not sent because it was too late, the hours were quiet, or there was no use."""


@dataclass(frozen=True, slots=True)
class DueSettings:
    """The choices of a person, and the instant from which on a round is to look at them."""

    settings: RitualSettings
    look_at: datetime


class Rituals(Protocol):
    """The choices of people, and a mark for each message that is over. Each call is one commit.

    Raises :class:`~fateforger.errors.StoreError`.
    """

    async def list_due(self, now: datetime, *, limit: int) -> tuple[DueSettings, ...]:
        """Return the settings of which something may be due, those that have waited longest first.

        Left out are people whom Slack cannot reach: where the app was removed, and deactivated accounts.
        """
        ...

    async def look_again(self, due: DueSettings, at: datetime) -> None:
        """Leave a person alone until an instant, unless their settings or one of their plans have changed since."""
        ...

    async def of(self, user_id: str) -> RitualSettings | None:
        """Return the settings of a person, if they made a choice."""
        ...

    async def change(self, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]) -> RitualSettings:
        """Store what ``change`` returns for the settings as they are, with their new version, and return it."""
        ...

    async def find_marks(self, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
        """Return the messages of a person that are over, from a date on."""
        ...

    async def mark(
        self, settings: RitualSettings, due: Due, outcome: Outcome, *, now: datetime, job: NewJob | None = None
    ) -> bool:
        """Record what became of a message, together with the job that sends it.

        Returns ``False`` and changes nothing if that is recorded already, or if the settings have changed.
        """
        ...


FORM = "rituals"
CHANGE = Button(label=mark_message("Choose messages"), action=f"form.{FORM}")
NONE = mark_message(
    "I send you nothing on my own. If you like, I begin your days, close them, or look back on your week with you."
)
NOT_BOTH = mark_message("Choose a time, or the end of the day; not both.")


def build_home_parts(settings: RitualSettings | None) -> tuple[Part, ...]:
    """Return the settings for App Home."""
    controls = Controls(items=(CHANGE.localize(), ReviewWeek.action.button()))
    return Divider(), Prose(text="\n".join(describe(settings))), controls


STOPPED: Mapping[RitualKind, str] = {
    "morning": mark_message("I no longer begin your days."),
    "shutdown": mark_message("I no longer close your days."),
    "review": mark_message("I no longer look back on your weeks."),
}


def build_settings_card(settings: RitualSettings | None, stopped: Sequence[RitualKind] = ()) -> Card:
    """Return the answer to a change: what was stopped, and what is set now."""
    lines = [*(_(STOPPED[kind]) for kind in stopped), *describe(settings)]
    if settings is not None:
        lines += [
            _("Nothing comes at {time:%H:%M}, because that is in your quiet hours.", time=clock)
            for clock in settings.find_quiet_times()
        ]
    return build_reply("\n".join(lines), CHANGE.localize())


def build_quiet_question(wanted: RitualSettings, change: RitualChange) -> Card:
    """Return the question whether the quiet hours give way to a time that was chosen in them."""
    (clock, *_others) = wanted.find_quiet_times()
    text = _(
        "{time:%H:%M} is in your quiet hours, between {quiet}, so nothing would come then."
        " Shall I write to you all the same?",
        time=clock,
        quiet=_describe_quiet(wanted),
    )
    room = wanted.make_room()
    widened = RitualChange.model_validate({**change.model_dump(), **room.model_dump(exclude_none=True)})
    anyway = ChangeRituals.anyway.button(widened.model_dump_json(exclude_none=True, exclude_defaults=True))
    return build_reply(text, anyway, CHANGE.localize())


def describe(settings: RitualSettings | None) -> tuple[str, ...]:
    """Return what is sent by itself, one line each."""
    if settings is None or not settings.kinds:
        return (_(NONE),)
    lines = [_("**What I send you on my own**, {days}:", days=describe_days(settings.days))]
    if settings.morning is not None:
        lines.append(_("- {time:%H:%M}: the day as I know it, to begin its plan", time=settings.morning))
    if settings.shutdown is not None:
        lines.append(_("- {time:%H:%M}: how the day went, to close it", time=settings.shutdown))
    if settings.at_end:
        lines.append(_("- when a planned day ends: how it went, to close it"))
    if settings.review:
        day = max(settings.days, key=NUMBERS.__getitem__).words
        at = settings.shutdown or USUAL_REVIEW
        lines.append(
            _("- when {day} ends: a look back on the week", day=day)
            if settings.at_end
            else _("- {day}, {time:%H:%M}: a look back on the week", day=day, time=at)
        )
    if settings.quiet_from != settings.quiet_until:
        lines.append(_("Nothing comes between {quiet}.", quiet=_describe_quiet(settings)))
    return tuple(lines)


def describe_days(days: tuple[Weekday, ...]) -> str:
    """Return days of the week in words."""
    if len(set(days)) == len(WEEK):
        return _("every day")
    if set(days) == set(WORKDAYS):
        return _("Monday to Friday")
    return join_words(day.words for day in sorted(days, key=NUMBERS.__getitem__))


def _describe_quiet(settings: RitualSettings) -> str:
    return _("{start:%H:%M} and {end:%H:%M}", start=settings.quiet_from, end=settings.quiet_until)


def build_form(settings: RitualSettings | None, request: FormRequest) -> Form:
    shown = settings
    return Form(
        form=FORM,
        session_id=request.session_id,
        title=_("Messages I send you"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextPart(text=_("I send these only if you want them. Leave a field empty for no message.")),
            TimeField(
                name="morning",
                label=_("Begin my day at"),
                optional=True,
                value=None if shown is None else shown.morning,
                hint=_("With your hours, your meetings and what is due; one tap begins the plan."),
            ),
            TimeField(
                name="shutdown",
                label=_("Close my day at"),
                optional=True,
                value=None if shown is None else shown.shutdown,
                hint=_("With what of the plan is done, to tick off."),
            ),
            FlagField(
                name="at_end",
                label=_("Close it when the planned day ends"),
                value=shown is not None and shown.at_end,
            ),
            FlagField(
                name="review",
                label=_("Look back on my week, on the last of these days"),
                value=shown is not None and shown.review,
            ),
            ManyField(
                name="days",
                label=_("On these days"),
                choices=tuple(Choice(label=day.words, value=day.value) for day in Weekday),
                value=tuple(day.value for day in (WORKDAYS if shown is None else shown.days)),
                placeholder=_("Every day"),
                boxes=True,
            ),
            TimeField(
                name="quiet_from",
                label=_("Send nothing from"),
                value=QUIET_FROM if shown is None else shown.quiet_from,
            ),
            TimeField(
                name="quiet_until",
                label=_("Send nothing until"),
                value=QUIET_UNTIL if shown is None else shown.quiet_until,
            ),
        ),
    )


def read_form(settings: RitualSettings, submission: FormSubmission) -> ChangeRituals | FormErrors:
    """Return the command of a filled form; ``settings`` are those that it changes."""
    filled = Filled(submission)
    times: dict[str, time | None] = {name: filled.clock(name) for name in ("morning", "shutdown")}
    quiet = {name: filled.clock(name, needed=_("Please choose a time.")) for name in ("quiet_from", "quiet_until")}
    at_end, review = filled.flag("at_end"), filled.flag("review")
    if at_end and times["shutdown"] is not None:
        filled.errors["shutdown"] = _(NOT_BOTH)
    if filled.errors:
        return FormErrors(errors=filled.errors)
    wanted: dict[RitualKind, bool] = {
        "morning": times["morning"] is not None,
        "shutdown": at_end or times["shutdown"] is not None,
        "review": review,
    }
    days = tuple(Weekday(day) for day in filled.many("days")) or WEEK
    given = {**times, **quiet, "at_end": at_end or None, "review": review or None, "days": days}
    change = RitualChange(
        off=tuple(kind for kind in settings.kinds if not wanted[kind]),
        **{name: value for name, value in given.items() if value != getattr(settings, name)},
    )
    after = settings.with_change(change, submission.at)
    errors = {
        name: _("That is in your quiet hours, between {quiet}. Change one of them.", quiet=_describe_quiet(after))
        for name in ("morning", "shutdown")
        if (clock := times[name]) is not None and after.is_quiet(clock)
    }
    return FormErrors(errors=errors) if errors else ChangeRituals(**build_envelope(submission), change=change)
