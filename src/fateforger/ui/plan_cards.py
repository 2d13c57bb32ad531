"""Cards of Stages 4 and 5: the plan, block by block, and the committed plan."""

from __future__ import annotations

from fateforger.planning.plan import ET, Resolved
from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Controls,
    Heading,
    Menu,
    Note,
    Part,
    Prose,
    Select,
    plain,
)
from fateforger.session.commands.plan import (
    ExplainBlock,
    RemoveBlock,
    Replan,
    RestoreChange,
    SetCalendarWrite,
    ShiftBlock,
    SwapBlock,
)
from fateforger.session.conflicts import intended_fields, open_questions
from fateforger.session.day import find_report, on_calendar
from fateforger.session.draft import grade_session
from fateforger.session.edits import writes_at_once
from fateforger.session.gate import block_words
from fateforger.session.messages import SyncReport, format_writes
from fateforger.session.model import Session
from fateforger.session.open_work import list_unplaced_tasks
from fateforger.session.overview import block_span, block_title, clip_span, local_meeting, overview
from fateforger.session.pending import GO_AHEAD, fix_button, held_question, refit_question, write_question
from fateforger.session.placement import by_time
from fateforger.session.stages import MOST_ROWS, Move
from fateforger.session.undone import find_undone
from fateforger.text import (
    count_more,
    count_rest,
    format_day,
    format_length,
    join_sentences,
    join_words,
    limit_items,
    mark_message,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _
from fateforger.ui.calendar_cards import SHOW_PREVIEW, is_preview_offered, questions, questions_words
from fateforger.ui.card_parts import (
    MOST_CHOICES,
    SHOW_HISTORY,
    SHOW_QUEUE,
    commitment,
    journey_notes,
    move_button,
    move_row,
    offer_box,
    offer_one_thing,
    paragraphs,
    picture,
    quality_note,
    show_missing,
    show_notice,
    tick_boxes,
    unread_note,
    warnings,
)
from fateforger.ui.draft_cards import list_unplaced
from fateforger.ui.rule_cards import build_add_button, rules, unkept_rules

_MOST_UNPLACED = 5
MOST_FINDINGS = 3
"""Findings listed after the next step; the others are only counted."""


def list_suggestions(session: Session) -> tuple[Part, ...]:
    """Return the findings after the first, which is the next step, and buttons for the fixes that were tried."""
    return (*_findings(session), *_buttons(session))


def _findings(session: Session) -> tuple[Part, ...]:
    quality = grade_session(session)
    others = [] if quality is None else [found.text for found in quality.findings[1:]]
    if not others:
        return ()
    lines = [f"- {plain(text, 300)}" for text in others[:MOST_FINDINGS]]
    if len(others) > MOST_FINDINGS:
        lines.append("- " + count_rest(len(others) - MOST_FINDINGS))
    return (Note(text="\n".join((_("What would make it even better:"), *lines))),)


def _buttons(session: Session) -> tuple[Part, ...]:
    buttons = tuple(fix_button(fix) for fix in session.planning.fixes)
    return (Controls(items=buttons),) if buttons else ()


LATE = (
    (0, mark_message("The current block begins only now")),
    (15, mark_message("15 min")),
    (30, mark_message("30 min")),
    (45, mark_message("45 min")),
    (60, mark_message("1 h")),
)


def build_progress_controls(session: Session) -> tuple[Part, ...]:
    """Return the controls, once the day is under way or its plan is on the calendar: running late, done, not today."""
    mine = list_own_blocks(session)[:MOST_CHOICES]
    if not mine or not (session.sync.written or session.touched_at >= mine[0].start):
        return ()
    choices = tuple(to_choice(session, block) for block in mine)
    late = tuple(Choice(label=_(label), value=str(minutes)) for minutes, label in LATE)
    return (
        Controls(
            items=(
                Replan.running_late.select(late),
                Replan.done_already.select(choices),
                Replan.put_off.select(choices),
                Button(label=_("How is it going?"), action="form.replan"),
            )
        ),
    )


def offer_refit(session: Session) -> tuple[Part, ...]:
    """Return a button to make room if upcoming blocks overlap meetings."""
    question = refit_question(session)
    return () if question is None else (Controls(items=question.answers),)


def list_own_blocks(session: Session) -> tuple[Resolved, ...]:
    """Return the blocks that can be late, done or dropped."""
    chain = by_time(session.planning.plan) if session.planning.plan else ()
    return tuple(block for block in chain if block.event.type not in {ET.BACKGROUND, ET.MEETING})


def to_choice(session: Session, block: Resolved) -> Choice:
    return Choice(label=f"{block_span(session, block)} {block.event.name}"[:75], value=block.key)


MOST_MEETINGS = 12
MOST_EXPLAINED = 100
"""Choices that fit into a select."""
ORDER = (
    (Move.UNDO_LAST_UPDATE, None),
    (Move.PROCEED, mark_message("Commit to calendar")),
    (Move.BACK, None),
    (Move.REDO, None),
    (Move.UNDO_SYNC, mark_message("Take all of it off the calendar")),
    (Move.CANCEL, None),
)


def plan_card(session: Session) -> Card:
    """Return the card: blocks with their menus, meetings, and the state of plan and calendar."""
    day = format_day(session.date)
    chain = by_time(session.planning.plan) if session.planning.plan else ()
    rows = tuple(
        _row(session, block, first=at == 0, only=len(chain) == 1) for at, block in enumerate(chain[:MOST_ROWS])
    )
    return Card(
        text=join_sentences(
            _("Refine {day}: {blocks}.", day=day, blocks=block_words(session)), questions_words(session)
        ),
        parts=(
            Heading(text=_("Refine {day}", day=day)),
            *show_notice(session),
            *_build_held(session),
            *_trouble(session),
            *questions(session),
            *(unread_note(session) if session.sync.problem is None else ()),
            *show_missing(session),
            *warnings(session),
            *offer_refit(session),
            *rows,
            *_more(session, chain[MOST_ROWS:]),
            Controls(
                items=(
                    Button(label=_("Add block"), action="form.add_block"),
                    *((SHOW_PREVIEW.localize(),) if is_preview_offered(session) else ()),
                    SHOW_HISTORY.localize(),
                    SHOW_QUEUE.localize(),
                    *offer_move(session),
                    *build_add_button(session),
                    *_build_explanation_select(session, chain),
                )
            ),
            *build_progress_controls(session),
            *tick_boxes(session, apart=True),
            *offer_box(session),
            *picture(session, changed=True),
            *_meetings(session),
            *unkept_rules(session),
            *list_unplaced(session),
            *quality_note(session),
            *offer_one_thing(session),
            *list_suggestions(session),
            *rules(session),
            *_when_written(session),
            move_row(session, ORDER, *offer_restore(session)),
        ),
    )


def offer_restore(session: Session) -> tuple[Button, ...]:
    """Return the button that makes the change again that was undone last, while that is possible."""
    return () if find_undone(session) is None else (RestoreChange.action.button(),)


def _when_written(session: Session) -> tuple[Part, ...]:
    """Return the setting for when changes are written, with its effect, so that no write is a surprise (K1)."""
    if session.sync.problem is not None:
        return ()
    return (Prose(text=_when_words(session), control=_when_choice(session)),)


def _when_words(session: Session) -> str:
    if session.options.calendar_write == "commit":
        if is_preview_offered(session):
            return _("Nothing goes to your calendar before you commit; Preview shows what would.")
        return _("Nothing goes to your calendar before you commit.")
    if not writes_at_once(session):
        if session.sync.written is not None:
            return _("Nothing more goes to your calendar until this plan is at level 2 of 4 (Okay) again.")
        return _(
            "Nothing goes to your calendar yet: once this plan is at level 2 of 4 (Okay), it goes there by itself."
        )
    if session.sync.written is None:
        return _("Your first change puts the plan on your calendar. From then on, each change goes there at once.")
    if any(not (step.transactions or step.local) for step in session.sync.refine_undo) or _has_way_to_move(session):
        return _("Your next change puts all of this on your calendar. From then on, each change goes there at once.")
    if open_questions(session):
        return _(
            "Your calendar matches this plan, except for the open questions above. Each change goes there at once."
        )
    return _("Your calendar matches this plan. Each change goes there at once.")


def _has_way_to_move(session: Session) -> bool:
    """Check whether a block has another time on the calendar: the way to a task that the person dragged there."""
    if session.planning.plan is None or session.day.snapshot is None or open_questions(session):
        return False
    there = {(each.start, each.end) for each in session.day.snapshot.own_fields.values() if each is not None}
    return any((each.start, each.end) not in there for each in intended_fields(session.planning.plan).values())


def _when_choice(session: Session) -> Select:
    choices = (
        Choice(label=_("With each change"), value="refine"),
        Choice(label=_("Once the plan is Okay"), value="okay"),
        Choice(label=_("Only on Commit"), value="commit"),
    )
    return SetCalendarWrite.action.select(choices, selected=session.options.calendar_write)


def _row(session: Session, block: Resolved, *, first: bool, only: bool) -> Prose:
    """Return the row of a block.

    Slack's small menu has room for five choices; swapping with the block before covers every pair.
    """
    choices = [
        Choice(label=_("Edit…"), value="form.edit_block"),
        ShiftBlock.earlier.menu_entry(),
        ShiftBlock.later.menu_entry(),
        (SwapBlock.down if first else SwapBlock.up).menu_entry(),
        RemoveBlock.action.menu_entry(),
    ]
    if only:
        del choices[3]
    notes = f"\n{plain(block.event.description, 160)}" if block.event.description.strip() else ""
    return Prose(
        text=f"{block_title(session, block)} · {format_length(block.minutes)}{notes}",
        control=Menu(choices=tuple(choices), target=block.key),
    )


def _more(session: Session, rest: tuple[Resolved, ...]) -> tuple[Part, ...]:
    if not rest:
        return ()
    choices = tuple(to_choice(session, block) for block in rest)
    picker = Select(
        action="form.edit_block",
        placeholder=ngettext("{count} more block", "{count} more blocks", len(rest)),
        choices=choices,
    )
    return (Controls(items=(picker,)),)


def _build_held(session: Session) -> tuple[Part, ...]:
    """Return the buttons to confirm or drop the held change.

    Confirming sets the rule that blocks it aside for this day. The question is repeated on every card after the first.
    """
    question = held_question(session)
    if session.sync.held is None or question is None:
        return ()
    first = session.thread.handled[-1:] == (session.sync.held.asked,)
    buttons = Controls(items=question.answers)
    return (buttons,) if first else (Prose(text=plain(question.sentence, 600)), buttons)


def _build_explanation_select(session: Session, chain: tuple[Resolved, ...]) -> tuple[Select, ...]:
    """Return a select that explains the position of a block; the menus of the blocks have no room for it."""
    choices = tuple(to_choice(session, block) for block in chain[:MOST_EXPLAINED])
    return (ExplainBlock.action.select(choices),) if choices else ()


def _meetings(session: Session) -> tuple[Part, ...]:
    timed = on_calendar(session).timed
    if not timed:
        return ()
    named = [f"{clip_span(m, session.date)} {plain(m.title, 40)}" for m in (local_meeting(session, m) for m in timed)]
    named = limit_items(named, MOST_MEETINGS, count_more)
    return (Note(text=_("Meetings: {named}", named=" · ".join(named))), *journey_notes(session))


def _trouble(session: Session) -> tuple[Part, ...]:
    if session.sync.problem is None:
        return ()
    text = f"⚠️ {plain(session.sync.problem, 900)}"
    question = write_question(session)
    if question is None:
        return (Prose(text=text),)
    if not question.awaits_yes:
        return (Prose(text=text, control=move_button(session, Move.RETRY)),)
    return (Prose(text=text), Controls(items=question.answers))


UNWRITTEN = mark_message("None of it has been written, and your plan is safe here.")
STILL_THERE = mark_message(
    "Nothing was written this time; what is there from before is still there, and your plan is safe here."
)


def committed_card(session: Session) -> Card:
    """Return the card: summary, day, and possible moves, or exactly what went wrong."""
    report = find_report(session)
    day = format_day(session.date)
    title = {
        "changed": _("{day} is on your calendar", day=day),
        "unchanged": _("{day} is on your calendar", day=day),
        "partial": _("I do not know yet how much of {day} is on your calendar", day=day)
        if report.unsure
        else _("Only part of {day} is on your calendar", day=day),
        "failed": _("{day} is not on your calendar yet", day=day)
        if session.sync.written is None
        else _("{day} was not committed", day=day),
        "undone": _("{day} is off your calendar again", day=day),
    }[report.status]
    done, off = report.status in {"changed", "unchanged"}, report.status == "undone"
    order = (
        *(() if done else ((Move.RETRY, _(GO_AHEAD) if session.sync.brakes else None),)),
        (Move.UNDO_SYNC, None),
        (Move.BACK, _("Back to refine")),
        (Move.REDO, None),
        (Move.CANCEL, _("Close") if done or off else None),
    )
    return Card(
        text=join_sentences(f"{title}.", questions_words(session)),
        parts=(
            Heading(text=title),
            *show_notice(session),
            *(() if off else _report(session, report)),
            *(commitment(session) if done else ()),
            *questions(session),
            *((*warnings(session), *offer_refit(session)) if done else ()),
            *(() if off else _since(session, report)),
            *picture(session),
            *paragraphs(overview(session)),
            *journey_notes(session),
            *(_name_unplaced(session) if done else ()),
            *((*build_progress_controls(session), *tick_boxes(session)) if done else ()),
            *(quality_note(session) if done else ()),
            *rules(session),
            Controls(
                items=(
                    *move_row(session, order, *_build_refusal(session)).items,
                    SHOW_HISTORY.localize(),
                    SHOW_QUEUE.localize(),
                    *(offer_move(session) if done else ()),
                )
            ),
        ),
    )


def _name_unplaced(session: Session) -> tuple[Part, ...]:
    """Return a sentence about the tasks that have no place on the calendar, and when they come back."""
    titles = [quote_title(plain(task.title, 80), 160) for task in list_unplaced_tasks(session)]
    if not titles:
        return ()
    text = ngettext(
        "{titles} did not fit. I'll offer it again when you plan your next day.",
        "{titles} did not fit. I'll offer them again when you plan your next day.",
        len(titles),
        titles=join_words(titles, _MOST_UNPLACED),
    )
    return (Prose(text=text),)


def offer_move(session: Session) -> tuple[Button, ...]:
    """Return the button that moves the plan to another day, if there is a plan."""
    if session.planning.plan is None or not session.planning.plan.events:
        return ()
    return (Button(label=_("Move this plan…"), action="form.move_plan"),)


def _build_refusal(session: Session) -> tuple[Button, ...]:
    """Return the no to a write that stopped for confirmation."""
    question = write_question(session)
    return () if question is None or question.no is None else (question.no,)


def _report(session: Session, report: SyncReport) -> tuple[Part, ...]:
    """Return the counts, then sentences worth knowing (S51, S85)."""
    if report.status == "failed":
        head = f"⚠️ {_(UNWRITTEN) if session.sync.written is None else _(STILL_THERE)}"
    elif report.status == "partial":
        counts = counts_words(report)
        if report.unsure:
            counts = _("{counts}, as far as I know", counts=counts)
        head = f"**{counts}**"
    else:
        head = f"**{counts_words(report)}**"
    return tuple(paragraphs("\n".join((head, *(f"- {plain(s, 400)}" for s in report.details)))))


def _since(session: Session, report: SyncReport) -> tuple[Part, ...]:
    """Return what earlier changes wrote if this commit was not the first write; Undo covers all of it."""
    written = session.sync.written
    if written is None or (written.created, written.updated, written.deleted) == _counts(report):
        return ()
    words = format_writes(written.created, written.updated, written.deleted)
    return (Note(text=_("Since you began: {words}. Undo takes all of it back.", words=words)),)


def _counts(report: SyncReport) -> tuple[int, int, int]:
    return report.created, report.updated, report.deleted


def counts_words(report: SyncReport) -> str:
    """Format the counts that are not zero, such as ``4 created, 1 updated, 2 unchanged``."""
    counts = format_writes(report.created, report.updated, report.deleted, report.unchanged)
    return _("Already up to date: {counts}", counts=counts) if report.status == "unchanged" else counts
