"""The settings of these messages: in App Home, in a form, and as the answer to words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time

from fateforger.conversation.queue.cards import build_reply
from fateforger.conversation.queue.forms import build_envelope
from fateforger.conversation.rituals.schedule import (
    NUMBERS,
    QUIET_FROM,
    QUIET_UNTIL,
    USUAL_REVIEW,
    WORKDAYS,
    RitualSettings,
)
from fateforger.memory.vocabulary import WEEK, Weekday
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
    change = RitualChange(
        morning=times["morning"],
        shutdown=times["shutdown"],
        at_end=at_end or None,
        review=review or None,
        off=tuple(kind for kind in settings.kinds if not wanted[kind]),
        days=tuple(Weekday(day) for day in filled.many("days")) or WEEK,
        quiet_from=quiet["quiet_from"],
        quiet_until=quiet["quiet_until"],
    )
    after = settings.with_change(change, submission.at)
    errors = {
        name: _("That is in your quiet hours, between {quiet}. Change one of them.", quiet=_describe_quiet(after))
        for name in ("morning", "shutdown")
        if (clock := times[name]) is not None and after.is_quiet(clock)
    }
    return FormErrors(errors=errors) if errors else ChangeRituals(**build_envelope(submission), change=change)
