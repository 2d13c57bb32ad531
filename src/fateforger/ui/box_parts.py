"""Parts of cards about boxes: the offer to put small tasks together, and the buttons that tick off what is done."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.planning.block_times import task_of
from fateforger.planning.grid import in_words
from fateforger.planning.task_details import BoxItem, format_items
from fateforger.session.boxes import find_small_tasks, list_boxes
from fateforger.session.card_actions import CardAction
from fateforger.session.cards import Button, Controls, Part, PlannedBlock, Prose, plain
from fateforger.session.commands.day import PutTogether, TakeApart, TickItems
from fateforger.session.lengths import planned_minutes
from fateforger.session.model import Session, Task
from fateforger.text import gettext as _
from fateforger.text import join_words, label_text
from fateforger.values import replace


def offer_box(session: Session) -> tuple[Part, ...]:
    """Return the offer to put the small tasks of the day together, if there are some."""
    tasks = find_small_tasks(session)
    if not tasks:
        return ()
    minutes = sum(planned_minutes(session, task) or task.details.kind.usual_minutes for task in tasks)
    text = _(
        "{titles} are small. Together they are one box of {length}, each ticked off on its own.",
        titles=join_words([plain(task.title, 40) for task in tasks], 6),
        length=in_words(minutes),
    )
    return (Prose(text=text, control=PutTogether.action.button(" ".join(task.id for task in tasks))),)


def tick_boxes(session: Session, *, apart: bool = False) -> tuple[Part, ...]:
    """Return each box with a button for each small task in it; with ``apart`` also the one that takes it apart."""
    return tuple(part for box in list_boxes(session) for part in _tick_box(box, apart=apart))


def _tick_box(box: Task, *, apart: bool) -> tuple[Part, ...]:
    items = box.details.items
    text = label_text(f"**{plain(box.title)}**", plain(format_items(items, ", "), 600))
    more = (Controls(items=(TakeApart.action.button(box.id),)),) if apart else ()
    return (Prose(text=text), *tick_items(items, box.id, TickItems.tick, TickItems.untick), *more)


def tick_items(items: Sequence[BoxItem], box_id: str, tick: CardAction, untick: CardAction) -> tuple[Controls, ...]:
    """Return a button for each small task of a box, which ticks it off or opens it again."""
    if not items:
        return ()
    buttons = (_tick_button(item, f"{place} {box_id}", tick, untick) for place, item in enumerate(items))
    return (Controls(items=tuple(buttons)),)


def _tick_button(item: BoxItem, target: str, tick: CardAction, untick: CardAction) -> Button:
    title = item.title[:60]
    if item.done:
        return untick.button(target, label=f"☑ {title}", spoken=_("Open “{title}” again", title=title))
    return tick.button(target, label=f"☐ {title}", spoken=_("Tick off “{title}”", title=title))


def with_lists(session: Session, blocks: tuple[PlannedBlock, ...]) -> tuple[PlannedBlock, ...]:
    """Return the blocks for a picture, those of boxes with their lists in the title."""
    boxes = {box.id: box for box in list_boxes(session)}
    return tuple(_with_list(block, boxes.get(task_of(block.key, boxes) or "")) for block in blocks)


def _with_list(block: PlannedBlock, box: Task | None) -> PlannedBlock:
    if box is None:
        return block
    # In a word: the fonts of the picture have no check mark.
    titles = ", ".join(_("{title} (done)", title=item.title) if item.done else item.title for item in box.details.items)
    return replace(block, title=label_text(block.title, titles))
