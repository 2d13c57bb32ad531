"""The usual lengths of a person's tasks, as App Home shows them."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.planning.grid import in_words
from fateforger.session.cards import Choice, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.queue_commands import CorrectDuration, ForgetDuration
from fateforger.tasks.durations import Estimate, format_ratio
from fateforger.text import gettext as _
from fateforger.text import ngettext

MOST_LISTED = 10
RATIOS = (50, 75, 100, 125, 150, 175, 200, 250, 300)
"""Choices for a correction, in percent of the planned length."""


def list_durations(estimates: Sequence[Estimate]) -> tuple[Part, ...]:
    """Return each known kind of task with its controls; nothing while no kind is known."""
    if not estimates:
        return ()
    rows = (part for each in estimates[:MOST_LISTED] for part in _build_row(each))
    more = len(estimates) - MOST_LISTED
    rest = ngettext(
        "{count} more is listed by `fateforger tasks durations`.",
        "{count} more are listed by `fateforger tasks durations`.",
        more,
    )
    hint = _("I propose these lengths, and never change yours without asking.")
    notes = (Note(text=rest),) if more > 0 else ()
    return (Divider(), Heading(text=_("How long things take you")), *rows, *notes, Note(text=hint))


def _build_row(each: Estimate) -> tuple[Part, ...]:
    spoken = _("Forget how long “{name}” takes", name=each.name)
    choices = tuple(Choice(label=_format_choice(percent), value=f"{percent} {each.kind}") for percent in RATIOS)
    correct = CorrectDuration.action.select(choices, placeholder=_("Correct…"))
    forget = ForgetDuration.action.button(each.kind, spoken=spoken)
    return Prose(text=describe_estimate(each)), Controls(items=(correct, forget))


def describe_estimate(each: Estimate) -> str:
    """Return a line about one kind of task."""
    depth = _("deep") if each.deep else _("shallow")
    ratio = _("as long as planned") if each.ratio == 1 else _("{ratio} times as long", ratio=format_ratio(each.ratio))
    known = ngettext("from one task", "from {count} tasks", each.count)
    usual = "" if each.minutes is None else _(", usually {minutes}", minutes=in_words(each.minutes))
    source = _("as you told me") if each.corrected else known
    return f"**{plain(each.name)}** ({depth}): {ratio}{usual}, {source}"


def _format_choice(percent: int) -> str:
    if percent == 100:
        return _("As long as planned")
    return _("{ratio} times as long", ratio=format_ratio(percent / 100))
