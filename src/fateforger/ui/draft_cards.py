"""Card of Stage 3: a first draft, tasks without room, and rules that cannot be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from fateforger.memory.applicability import Applicable
from fateforger.memory.violations import build_reminder
from fateforger.planning.patch import AddBlocks
from fateforger.session.cards import Button, Card, Controls, Heading, Part, Prose, name_button, plain
from fateforger.session.commands.day import AdjustFrame, RemoveTask, ResizeTask, SplitTask
from fateforger.session.draft import ALWAYS
from fateforger.session.gate import block_words
from fateforger.session.model import Offer, Session, Unplaced
from fateforger.session.pending import set_aside_button
from fateforger.session.recall import constraints_for_draft
from fateforger.session.stages import Move
from fateforger.text import format_day, format_length, join_words, label_text, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.ui.card_parts import (
    ask_about_lengths,
    list_sent,
    move_row,
    offer_one_thing,
    paragraphs,
    picture,
    quality_note,
    show_aims,
    show_left_out,
    show_missing,
    show_notice,
    show_usual_lengths,
    unread_note,
    warnings,
)
from fateforger.ui.rule_cards import rules, unkept_rules
from fateforger.values import replace

MOST_CHOICES = 5
"""Tasks with buttons of their own; the others are only named."""


def list_unplaced(session: Session) -> tuple[Part, ...]:
    """Return the tasks that did not fit, each with its options."""
    known = {item.uid: item for item in constraints_for_draft(session).applicable}
    parts: list[Part] = []
    plainly: list[Unplaced] = []
    for each in _list_as_now(session):
        offers = [(offer, button) for offer in each.offers if (button := _button(each, offer, known)) is not None]
        buttons = [button for __, button in offers]
        if not buttons or len(parts) >= 2 * MOST_CHOICES:
            plainly.append(each)
            continue
        heading = "" if parts else _("**Did not fit**") + "\n"
        lines = ["- " + label_text(plain(each.title), plain(each.reason, 200))]
        lines += [f"  {label_text(button.label, plain(offer.cost, 200))}." for offer, button in offers if offer.cost]
        parts.append(Prose(text=heading + "\n".join(lines)))
        parts.append(Controls(items=tuple(buttons)))
    return (*parts, *show_left_out(tuple(plainly), also=bool(parts)))


def _list_as_now(session: Session) -> Iterator[Unplaced]:
    """Return the tasks without a place; those that a suggestion of the card adds have room, whatever the draft said."""
    ops = [op for fix in session.planning.fixes for op in fix.patch.ops if isinstance(op, AddBlocks)]
    added = {event.name for op in ops for event in op.events}
    for each in session.planning.unplaced:
        if each.offers and each.title in added:
            yield replace(each, reason=_("there is room for it now"), offers=ALWAYS)
        else:
            yield each


def list_clashing_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules that contradict each other or the day, each with a button that sets it aside."""
    if session.planning.clash is None:
        return ()
    items = {item.uid: item for item in constraints_for_draft(session).applicable}
    members = [items[uid] for uid in session.planning.clash.uids if uid in items]
    if not members:
        return ()
    told = [f"- {plain(build_reminder(item).sentence, 300)}" for item in members]
    gone = [quote_title(items[uid].record.words) for uid in session.planning.clash.let_go if uid in items]
    if len(members) == 1:
        lines = [_("⚠️ **There is no way to keep this rule on that day, so the draft does without it.**"), *told]
    else:
        lines = [_("⚠️ **These rules cannot all be kept on that day.**"), *told]
        if gone:
            lines.append(
                _(
                    "For now the draft does without {gone}. Which one shall not count today?",
                    gone=plain(join_words(gone), 400),
                )
            )
    without = tuple(set_aside_button(item.version) for item in members)
    return (Prose(text="\n".join(lines)), Controls(items=without))


def _button(unplaced: Unplaced, offer: Offer, known: dict[str, Applicable]) -> Button | None:
    """Return the button of an option; ``None`` for a rule that no longer applies."""
    match offer.way:
        case "defer":
            label = _("Another day")
            spoken = name_button(label, unplaced.title)
            return Button(label=label, action="form.defer", target=unplaced.task_id, spoken=spoken)
        case "split":
            spoken = name_button(_(SplitTask.action.label), unplaced.title)
            return SplitTask.action.button(unplaced.task_id, spoken=spoken)
        case "drop":
            label = _("Drop it")
            spoken = name_button(label, unplaced.title)
            return RemoveTask.action.button(unplaced.task_id, label=label, spoken=spoken)
        case "shrink" if offer.minutes is not None:
            label = _("Make it {minutes}", minutes=format_length(offer.minutes))
            spoken = name_button(label, unplaced.title)
            return ResizeTask.action.button(f"{offer.minutes} {unplaced.task_id}", label=label, spoken=spoken)
        case "extend" if offer.until is not None:
            end = f"{offer.until:%H:%M}"
            label = _("End the day at {end}", end=end)
            spoken = name_button(label, unplaced.title)
            return AdjustFrame.until.button(end, label=label, spoken=spoken)
        case "fill":
            spoken = name_button(_(AdjustFrame.fill.label), unplaced.title)
            return AdjustFrame.fill.button("", spoken=spoken)
        case "set_aside":
            return set_aside_button(known[offer.uid].version) if offer.uid in known else None
        case "shrink" | "extend":
            return None
        case _:
            assert_never(offer.way)


ORDER = ((Move.PROCEED, mark_message("Refine")), (Move.BACK, None), (Move.REDO, None), (Move.CANCEL, None))


def draft_card(session: Session) -> Card:
    """Return the card: the day in time order, and what did not fit."""
    day = format_day(session.date)
    return Card(
        text=_("A first draft of {day}: {blocks}.", day=day, blocks=block_words(session)),
        parts=(
            Heading(text=_("A first draft of {day}", day=day)),
            *show_notice(session),
            *show_missing(session),
            *unread_note(session),
            *show_aims(session),
            *picture(session),
            *paragraphs(session.planning.overview or ""),
            *warnings(session),
            *unkept_rules(session),
            *list_clashing_rules(session),
            *ask_about_lengths(session),
            *show_usual_lengths(session),
            *list_unplaced(session),
            *list_sent(session),
            *quality_note(session),
            *offer_one_thing(session),
            *rules(session),
            move_row(session, ORDER),
        ),
    )
