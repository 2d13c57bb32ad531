"""Parts that several cards share: moves, boxes to tick, notices, the commitment (S209), and the picture of the day."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC

from fateforger.limits import MAX_CARRIED_CHARS
from fateforger.planning.plan import ET
from fateforger.planning.task_details import BoxItem, format_items, task_of
from fateforger.planning.timing import Busy, Stretch, busy_stretches, ceil, floor, gaps
from fateforger.quality.model import Criterion
from fateforger.session.boxes import find_small_tasks, list_boxes
from fateforger.session.cards import (
    Button,
    Choice,
    Control,
    Controls,
    DayView,
    Meeting,
    Note,
    Part,
    Picture,
    PlannedBlock,
    Prose,
    name_button,
    plain,
    planned_blocks,
)
from fateforger.session.commands.day import AddTasks, MarkOneThing, PutTogether, TakeApart, TakeBack, TickItems
from fateforger.session.commands.plan import AddBlock, ShowHistory
from fateforger.session.commands.thread import StageAction
from fateforger.session.day import busy_meetings, frame_mistake, frame_of, on_calendar, whole_frame
from fateforger.session.draft import grade_session
from fateforger.session.forms import ButtonStyle, CardAction
from fateforger.session.frame import describe_aims, describe_journeys, local_time, zone_changes, zone_suffix
from fateforger.session.gate import describe_stage, is_offered, move_token
from fateforger.session.messages import Notice
from fateforger.session.model import SentTask, Session, Task, Unplaced
from fateforger.session.overview import Commitment, collisions, commitments, tasks_without_criteria
from fateforger.session.pending import length_questions
from fateforger.session.placement import by_time
from fateforger.session.queue_commands import ShowTasks
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.session.tasks import find_usual, planned_minutes
from fateforger.tasks.task import Mode
from fateforger.text import (
    count_units,
    format_day,
    format_length,
    format_weekday,
    has_words,
    join_sentences,
    join_words,
    label_text,
    mark_message,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _
from fateforger.ui.form_values import split_task_list
from fateforger.values import replace

START = Button(label=mark_message("Plan my day"), action="start", style="primary")
"""Begins a plan, outside of any session."""
SHOW_HISTORY = ShowHistory.action.constant()
SHOW_QUEUE = ShowTasks.action.constant()
"""Opens the queue next to a plan, where Slack runs no slash commands."""
MODES: Mapping[Mode, str] = {
    "dispositor": mark_message("It waits in your queue. Nothing has started yet."),
    "executor": mark_message("It was pulled from your queue."),
    "direct": mark_message("It did not go through your queue."),
}
"""Words for how work was started (S146)."""


def free_minutes(session: Session) -> int | None:
    """Return the minutes without meetings in the rest of the frame; ``None`` if frame or calendar are not known."""
    if session.day.snapshot is None or frame_mistake(session) is not None:
        return None
    start, end = frame_of(session)
    frame = Stretch(ceil(start), floor(end))
    return sum(gap.minutes for gap in gaps(frame, busy_stretches(Busy(m.start, m.end) for m in busy_meetings(session))))


def offer_box(session: Session) -> tuple[Part, ...]:
    """Return the offer to put the small tasks of the day together, if there are some."""
    tasks = find_small_tasks(session)
    if not tasks:
        return ()
    minutes = sum(planned_minutes(session, task) or task.details.kind.usual_minutes for task in tasks)
    text = _(
        "{titles} are small. Together they are one box of {length}, each ticked off on its own.",
        titles=join_words([plain(task.title, 40) for task in tasks], 6),
        length=format_length(minutes),
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


KEEPS = mark_message("Close this plan? What is on your calendar stays there.")
_LONGEST = 2_800
"""Characters of one paragraph; Slack accepts 3,000."""
_MOST_NAMED = 3
MOST_CHOICES = 100
"""Choices that fit into a select."""


def move_button(session: Session, move: Move, label: str | None = None, *, primary: bool = False) -> Button:
    """Return the button of a move.

    It carries the version of its card, and asks for confirmation before it leaves written blocks behind.
    """
    confirm = _(KEEPS) if move is Move.CANCEL and session.sync.written is not None else None
    style: ButtonStyle = "primary" if primary else "danger" if move is Move.UNDO_SYNC else "default"
    label = None if label is None else _(label)
    return StageAction.moves[move].button(move_token(session, move), label=label, style=style, confirm=confirm)


def move_row(session: Session, order: Iterable[tuple[Move, str | None]], *extra: Control) -> Controls:
    """Return the moves that are possible now, in the given order, with Continue highlighted, and further controls."""
    moves = [
        move_button(session, move, label, primary=move is Move.PROCEED)
        for move, label in order
        if is_offered(session, move)
    ]
    return Controls(items=(*moves[:1], *extra, *moves[1:]) if moves else extra)


def show_notice(session: Session) -> tuple[Part, ...]:
    """Return the notice of the last turn. A refusal is marked with a warning sign."""
    notice = session.thread.notice
    if notice is None:
        return ()
    lines = tuple(plain(line, 600) for line in notice.lines)
    text = "\n".join(lines)
    return (Prose(text=f"⚠️ {text}" if notice.refused else text), *_offer_forms(session.stage, notice))


def _offer_forms(stage: TimeboxingStage, notice: Notice) -> tuple[Part, ...]:
    """Return buttons that put words which nothing could read into a form.

    Before Refine they become tasks, and later one line a block; at any step they can become a rule.
    """
    words = notice.unread or notice.unchecked
    if not can_carry(words):
        return advise_on_length(words)
    buttons: tuple[Button, ...] = ()
    if stage in AddTasks.accepted and notice.unread:
        buttons = (Button(label=_("Use it as my list of tasks"), action="form.tasks", target=notice.unread),)
    elif stage in AddBlock.accepted and len(split_task_list(notice.unread)) == 1:
        buttons = (Button(label=_("Add it as a block"), action="form.add_block", target=notice.unread),)
    return (Controls(items=(*buttons, build_said_rule_button(words))),)


def can_carry(words: str) -> bool:
    """Check whether a button can carry a person's words into a form: they are words, and not too many."""
    return has_words(words) and fits_button(words)


def fits_button(text: str) -> bool:
    """Check whether a button can carry a text, which is sent as JSON: quotes and line breaks take two characters."""
    return count_units(json.dumps(text, ensure_ascii=False)) <= MAX_CARRIED_CHARS


def advise_on_length(words: str) -> tuple[Note, ...]:
    """Return the advice on words that are too long for a button to carry; nothing for others."""
    if fits_button(words):
        return ()
    advice = _(
        "Your message is too long for a button to take along. Send it in parts of up to {count} characters,"
        " such as twenty tasks at a time; each part gets its buttons.",
        count=MAX_CARRIED_CHARS // 2,  # as much as fits whatever it is
    )
    return (Note(text=advice),)


def build_said_rule_button(words: str) -> Button:
    """Return the button that puts words into the form for a new rule."""
    return Button(label=_("Keep it as a rule"), action="form.rule_said", target=words)


def show_missing(session: Session) -> tuple[Part, ...]:
    """Return what the stage still needs (S61); nothing if a refusal already says so."""
    standing = describe_stage(session)
    if standing.ready or (session.thread.notice is not None and session.thread.notice.refused):
        return ()
    return tuple(Prose(text=plain(line, 600)) for line in standing.missing)


def paragraphs(text: str) -> tuple[Prose, ...]:
    """Split a long text between lines into paragraphs that fit."""
    chunks: list[str] = [""]
    for line in text.split("\n"):
        if chunks[-1] and len(chunks[-1]) + len(line) > _LONGEST:
            chunks.append("")
        chunks[-1] += f"\n{line}" if chunks[-1] else line
    return tuple(Prose(text=chunk) for chunk in chunks if chunk)


def warnings(session: Session) -> tuple[Part, ...]:
    """Return warnings for blocks that overlap meetings, or end after the day does; both is allowed."""
    hits = collisions(session)
    lines = [
        _(
            "⚠️ “{name}” runs into “{title}”, {start:%H:%M}–{end:%H:%M}.",
            name=plain(block.event.name),
            title=plain(meeting.title),
            start=meeting.start,
            end=meeting.end,
        )
        for block, meeting in hits[:5]
    ]
    if len(hits) > 5:
        lines.append(
            ngettext(
                "⚠️ {count} more block runs into meetings.", "⚠️ {count} more blocks run into meetings.", len(hits) - 5
            )
        )
    lines += _describe_late_ends(session)
    return (Prose(text="\n".join(lines)),) if lines else ()


def _describe_late_ends(session: Session) -> tuple[str, ...]:
    if session.planning.plan is None or frame_mistake(session) is not None:
        return ()
    end = whole_frame(session)[1]
    late = [
        _("{title} until {end:%H:%M}", title=plain(block.event.name), end=local_time(session, block.end))
        for block in by_time(session.planning.plan)
        if block.event.type is not ET.BACKGROUND and block.end.astimezone(UTC) > end.astimezone(UTC)
    ]
    if not late:
        return ()
    blocks = join_words(late, _MOST_NAMED)
    return (_("⚠️ After the end of your day, {end:%H:%M}: {blocks}.", end=end, blocks=blocks),)


def show_left_out(unplaced: tuple[Unplaced, ...], *, also: bool = False) -> tuple[Part, ...]:
    """Return the tasks that did not fit, with reasons; without a heading if ``also`` is true."""
    if not unplaced:
        return ()
    lines = "\n".join("- " + label_text(plain(u.title), plain(u.reason, 200)) for u in unplaced)
    return paragraphs(lines if also else f"{_('**Did not fit**')}\n{lines}")


def quality_note(session: Session) -> tuple[Part, ...]:
    """Return the level and the next step, as advice only (S50)."""
    quality = grade_session(session)
    if quality is None:
        return ()
    step = plain(quality.next_step, 200)
    level = _("Quality {level} of 4, {label}.", level=quality.level, label=quality.label)
    return (Note(text=join_sentences(level, step)),)


def offer_one_thing(session: Session) -> tuple[Part, ...]:
    """Return a list to choose the task that matters most from, if choosing it is the next step."""
    quality = grade_session(session)
    choices = tuple(Choice(label=t.title[:75], value=t.id) for t in session.day.inputs.tasks[:MOST_CHOICES])
    asked = quality is not None and [each.criterion for each in quality.findings[:1]] == [Criterion.ONE_THING]
    if not asked or not choices:
        return ()
    return (Controls(items=(MarkOneThing.action.select(choices, placeholder=_("The one thing that matters")),)),)


def unread_note(session: Session) -> tuple[Part, ...]:
    """Return a warning if the plan was made without the calendar, or without all of it."""
    if session.day.snapshot is not None and session.day.snapshot_error is None:
        return left_out_note(session)
    if session.day.snapshot_error is not None:
        text = _(
            "⚠️ I could not read your calendar just now: {error}",
            error=plain(session.day.snapshot_error, 300),
        )
    else:
        text = _("⚠️ Your calendar has not answered yet.")
    tail = (
        _("Meetings may be missing here; Redo step looks again.")
        if session.day.snapshot is None
        else _("This is as I last saw it.")
    )
    return (Prose(text=join_sentences(text, tail)),)


def left_out_note(session: Session) -> tuple[Part, ...]:
    """Return a warning that names calendar events that could not be expanded; the day is planned without them."""
    titles = () if session.day.snapshot is None else session.day.snapshot.left_out
    if not titles:
        return ()
    text = ngettext(
        "⚠️ I could not work out when {titles} takes place, so it is not in this plan. It may repeat too often, or hold"
        " something that I cannot read. Please check it on your calendar, and keep its time free yourself.",
        "⚠️ I could not work out when {titles} take place, so they are not in this plan. They may repeat too often, or"
        " hold something that I cannot read. Please check them on your calendar, and keep their times free yourself.",
        len(titles),
        titles=join_words((quote_title(plain(title, 80), 160) for title in titles), _MOST_NAMED),
    )
    return (Prose(text=text),)


MOST = 5
"""Big tasks that are listed one by one."""


def commitment(session: Session) -> tuple[Part, ...]:
    """Return the person's commitments, in the first person, with their success criteria."""
    kept = commitments(session)
    if not kept:
        return ()
    first, rest = kept[0], [each for each in kept[1:MOST] if each.task.done_when]
    lines = [
        _(
            "🤝 **I commit to this by {time}: {title}.**",
            title=plain(first.task.title),
            time=_by(session, first),
        )
        + _format_success(first)
    ]
    lines += [
        _("{title}, by {time}.", title=plain(each.task.title), time=_by(session, each)) + _format_success(each)
        for each in rest
    ]
    return (Prose(text="\n".join(lines)),)


def ask_for_criteria(session: Session) -> tuple[Part, ...]:
    """Return a note that a big task has no success criteria yet."""
    tasks = tasks_without_criteria(session)
    if not tasks:
        return ()
    title, more = plain(tasks[0].title, 80), len(tasks) - 1
    one = _("What would make “{title}” a success? You can say it under Edit… in its menu.", title=title)
    several = ngettext(
        "What would make “{title}” (and {count} more) a success? You can say it under Edit… in the menu of each.",
        "What would make “{title}” (and {count} more) a success? You can say it under Edit… in the menu of each.",
        more,
        title=title,
    )
    return (Note(text=several if more else one),)


def ask_about_lengths(session: Session) -> tuple[Part, ...]:
    """Return the questions about tasks whose minutes are probably too few, each with its answers."""
    return tuple(
        part
        for question in length_questions(session)
        for part in (Prose(text=plain(question.sentence, 400)), Controls(items=question.answers))
    )


def show_usual_lengths(session: Session) -> tuple[Part, ...]:
    """Return a note on the tasks that are planned with the length that the person usually needs."""
    usual = [(task, found) for task in session.day.inputs.tasks if (found := find_usual(session, task)) is not None]
    if not usual:
        return ()
    named = join_words([f"{plain(task.title, 80)}, {format_length(found.minutes or 0)}" for task, found in usual], 5)
    return (Note(text=_("As long as you usually need: {tasks}.", tasks=named)),)


def format_criteria(criteria: tuple[str, ...]) -> str:
    """Format success criteria, such as ``Done when: the figures are checked; the draft is sent``."""
    return _("Done when: {criteria}", criteria="; ".join(plain(each, 200) for each in criteria))


def _format_success(promise: Commitment) -> str:
    return f"\n{format_criteria(promise.task.done_when)}." if promise.task.done_when else ""


def journey_notes(session: Session) -> tuple[Part, ...]:
    """Return a note on the clock after each journey, and on the meetings that fall into it."""
    return tuple(Note(text=f"✈️ {plain(line, 600)}") for line in describe_journeys(session))


def _by(session: Session, promise: Commitment) -> str:
    by = local_time(session, promise.by)
    if by.date() == session.date:
        return f"{by:%H:%M}{zone_suffix(session, by, by)}"
    return _("{time:%H:%M} on {weekday}", time=by, weekday=format_weekday(by.date())) + zone_suffix(session, by, by)


def picture(session: Session, *, changed: bool = False) -> tuple[Picture, ...]:
    """Return the picture, once there is a plan.

    With ``changed`` it shows the changes of the turn that was just carried out.
    """
    if session.planning.plan is None:
        return ()
    blocks = with_lists(session, planned_blocks(session.planning.plan))
    start, end = (None, None) if frame_mistake(session) is not None else frame_of(session)
    seen = on_calendar(session)
    before = _before(session) if changed else None
    day = DayView(
        date=session.date,
        tz=session.tz,
        start=start,
        end=end,
        blocks=blocks,
        meetings=tuple(
            Meeting(title=m.title, start=m.start, end=m.end, busy=m.busy, calendar=m.calendar) for m in seen.timed
        ),
        all_day=seen.all_day,
        zones=tuple((change.at, change.tz) for change in zone_changes(session)),
        before=None if before == blocks else before,
    )
    return (Picture(day=day),)


def _before(session: Session) -> tuple[PlannedBlock, ...] | None:
    """Return the blocks before the last change, while the card still reports it."""
    if not session.reports_change:
        return None
    return with_lists(session, planned_blocks(session.sync.refine_undo[-1].plan_before))


def show_aims(session: Session) -> tuple[Part, ...]:
    """Return what the day is for and its blocks of deep work, if the person said so."""
    aims = describe_aims(session)
    return (Note(text=_("**This day is for:** {aims}.", aims=plain(join_words(aims), 900))),) if aims else ()


def list_sent(session: Session) -> tuple[Part, ...]:
    """Return the tasks given to other days, each with its Undo while it can be taken back."""
    return tuple(_build_sent(each) for each in session.open_work.sent if not each.plan)


def _build_sent(sent: SentTask) -> Prose:
    text = _("On {day}: {task}", day=format_day(sent.day), task=plain(sent.task.title))
    spoken = name_button(_("Undo"), sent.task.title)
    return Prose(text=text, control=None if sent.settled else TakeBack.action.button(sent.task.id, spoken=spoken))
