"""Answers of a model, one type for each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
)

from fateforger.conversation.language.answer_types import Clock, RuleLimits
from fateforger.limits import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_GOAL_CHARS,
    MAX_GOALS,
    MAX_LABEL_CHARS,
    MAX_LANGUAGE_CHARS,
    MAX_MEMORY_REASON_CHARS,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_NUMBERS,
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_READ_BLOCKS,
    MAX_READ_OPS,
    MAX_READ_WINDOWS,
    MAX_REPLY_CHARS,
    MAX_STEP_ACTIONS,
    MAX_TAG_CHARS,
    MAX_TITLE_CHARS,
    MAX_TOPICS,
    MAX_WISHES,
    MAX_WORDS_CHARS,
)
from fateforger.memory.record import DayRuleText
from fateforger.memory.retrieval import RuleFilter
from fateforger.memory.vocabulary import (
    Dimension,
    Domain,
    Necessity,
    RuleKind,
    Scope,
    Slot,
    Weekday,
    WindowKind,
)
from fateforger.planning.plan import ET
from fateforger.planning.task_details import BestTime
from fateforger.session.commands import SessionCommand
from fateforger.session.queue_commands import QueueCommand, RitualKind
from fateforger.tasks.transitions import HydratedMessage, Purpose, Urgency
from fateforger.values import Value

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE_CHARS)]
Spoken = Annotated[str, Field(max_length=MAX_REPLY_CHARS)]
"""Text for the person, in the language they write in."""


LanguageCode = Annotated[str, StringConstraints(max_length=MAX_LANGUAGE_CHARS)]
"""Language of a message, as a code such as ``nl``. One without a catalogue is ignored."""


class Intent(StrEnum):
    """What a message wants."""

    ANSWER = "answer"
    """Gives information for the current stage, or asks for a change there. Also anything unclear (S124)."""
    CHANGE = "change"
    """Asks for a change of single blocks of a draft or plan."""
    ACCEPT_PENDING = "accept_pending"
    """Agrees to something that the card asks or offers."""
    REFUSE_PENDING = "refuse_pending"
    """Refuses something that the card asks or offers."""
    PROCEED = "proceed"
    """Asks for the next step. Agreeing to what the card asks does not count."""
    DRAFT = "draft"
    """Asks for the draft of the day, through all steps before it."""
    COMMIT = "commit"
    """Wants the plan on the calendar, through all steps before it."""
    BACK = "back"
    REDO = "redo"
    UNDO = "undo"
    """Undo the last change."""
    REDO_CHANGE = "redo_change"
    """Make the change again that was undone last."""
    UNDO_ALL = "undo_all"
    """Remove everything of this plan from the calendar."""
    RETRY = "retry"
    CANCEL = "cancel"
    HISTORY = "history"
    """Show the writes to the calendar; also if one write is meant and the history is not open."""
    OLDER_HISTORY = "older_history"
    CLOSE_HISTORY = "close_history"
    UNDO_WRITE = "undo_write"
    """Undo one write of the history, and all later ones."""
    REDO_WRITE = "redo_write"
    """Undo one undo of the history."""
    PREVIEW = "preview"
    """Show what would be written now."""
    CLOSE_PREVIEW = "close_preview"
    WRITE_AT_ONCE = "write_at_once"
    """Write each change to the calendar at once from now on."""
    WRITE_ONCE_OKAY = "write_once_okay"
    """Write a plan to the calendar by itself once it is Okay, from now on."""
    WRITE_ON_COMMIT = "write_on_commit"
    """Write nothing to the calendar before the commit, from now on."""
    MEMORY = "memory"
    """Asks what is known about the person, or for a change of a rule; not about this plan."""
    CLOSE_MEMORY = "close_memory"
    FIX = "fix"
    """Accepts one of the changes that the card suggests."""
    KEEP_CALENDAR = "keep_calendar"
    KEEP_PLAN = "keep_plan"
    """Resolves a conflict in favor of the plan."""
    REPLAN = "replan"
    """Reports progress: late, something done already, or not today; the rest is then refitted."""
    ASK = "ask"
    """Asks a question, and wants no change."""
    WORK = "work"
    """Wants something of the queue, the week or another day."""


class Wish(Value):
    """One thing that a message wants.

    ``number`` is the row that it is about, of the history or of what is pending; ``None`` means none, or all. ``words``
    are the part of the message that says it, ``None`` for the whole message.
    """

    intent: Intent
    number: int | None = None
    words: Annotated[str, Field(max_length=MAX_WORDS_CHARS)] | None = None


class Decision(Value):
    """What a message wants, in the order in which it says so.

    ``rules`` is true if it says, too, how the person's days should be in general.
    """

    wishes: Annotated[tuple[Wish, ...], Field(min_length=1, max_length=MAX_WISHES)]
    rules: bool
    language: LanguageCode | None = None


Rest = Annotated[str, Field(max_length=MAX_WORDS_CHARS)]
"""Part of a message that is still to be read."""


class PlannedDateResult(Value):
    """Which day is to be planned (S94). Unclear stays null and is asked."""

    date: Date | None = None
    tz: str | None = None
    """IANA name; only if the person mentions another zone."""
    question: Spoken | None = None


class FrameWords(Value):
    """The frame of the day, as far as the message speaks of it."""

    day_start: Clock | None = None
    day_end: Clock | None = None
    lunch_start: Clock | None = None
    lunch_minutes: int | None = None
    no_lunch: bool = False
    fills: bool = False
    """They want the time that is usually kept free used as well."""


Criteria = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=MAX_CRITERION_CHARS)], ...], Field(max_length=MAX_CRITERIA)
]


class DetailWords(Value):
    """What else the message says about a task; null where it says nothing."""

    kind: Literal["habit", "errand", "meal", "family", "rest"] | None = None
    at: Clock | None = None
    due_day: Date | None = None
    due_time: Clock | None = None
    from_day: Date | None = None
    from_time: Clock | None = None
    best: BestTime | None = None
    priority: Annotated[int, Field(ge=0, le=4)] | None = None
    people: tuple[Title, ...] | None = None
    place: Title | None = None
    travel_minutes: int | None = None
    splittable: bool | None = None
    after: tuple[Title, ...] | None = None
    """Titles of tasks, on the list or in this message, that come before."""
    items: tuple[Title, ...] | None = None
    """Small tasks that are done together in this one."""


class TaskWords(Value):
    """Something to do. ``minutes`` stays null unless the person says how long."""

    title: Title
    minutes: int | None = None
    depth: Literal["deep", "shallow"] | None = None
    one_thing: bool = False
    notes: Annotated[str, Field(max_length=MAX_NOTES_CHARS)] = ""
    done_when: Criteria = ()
    details: DetailWords | None = None


class TaskChange(Value):
    """A change of the task with that number in the list; null leaves a part as it is."""

    number: int
    title: Title | None = None
    minutes: int | None = None
    depth: Literal["deep", "shallow"] | None = None
    one_thing: bool | None = None
    in_pieces: bool | None = None
    notes: Annotated[str, Field(max_length=MAX_NOTES_CHARS)] | None = None
    done_when: Criteria | None = None
    details: DetailWords | None = None


Goal = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_GOAL_CHARS)]


class InputWords(Value):
    """What is to be done, as far as the message speaks of it. ``remove`` and ``later`` are numbers of the list."""

    add: tuple[TaskWords, ...] = ()
    change: tuple[TaskChange, ...] = ()
    remove: tuple[int, ...] = ()
    later: tuple[int, ...] = ()
    """Tasks to defer to another day."""
    later_day: Date | None = None
    """The day to which those go, if the message names one."""
    bring: tuple[int, ...] = ()
    """Numbers of the tasks offered from earlier days."""
    together: tuple[int, ...] = ()
    """Small tasks to put together into one box, called ``box`` if the message names it."""
    box: Title | None = None
    apart: tuple[int, ...] = ()
    """Boxes to take apart."""
    goals: Annotated[tuple[Goal, ...], Field(max_length=MAX_GOALS)] | None = None
    """All that the day is for, with what was known before."""
    deep_blocks: int | None = None
    block_minutes: int | None = None


class DayWords(PlannedDateResult):
    """What a message says of the day: which one it is, its frame, and what is to be done."""

    frame: FrameWords | None = None
    inputs: InputWords | None = None


class WorkWords(Value):
    """Something to be done, as far as the message speaks of it."""

    kind: Literal["do", "remind", "plan_day", "block_time", "decompose", "review_rules"]
    title: Title
    context: Annotated[str, Field(max_length=MAX_NOTES_CHARS)] | None = None
    minutes: int | None = None
    date: Date | None = None
    start: Clock | None = None
    priority: Annotated[int, Field(ge=0, le=4)] | None = None
    project: Annotated[str, Field(max_length=MAX_LABEL_CHARS)] | None = None
    criteria: tuple[Annotated[str, Field(max_length=MAX_TITLE_CHARS)], ...] = ()
    files: tuple[Annotated[str, Field(max_length=MAX_TITLE_CHARS)], ...] = ()
    tags: tuple[Annotated[str, Field(max_length=MAX_TAG_CHARS)], ...] = ()
    workflow: Annotated[str, Field(max_length=MAX_LABEL_CHARS)] | None = None
    simple: bool = False
    haste: Urgency = "no"
    details: DetailWords | None = None


class _StartKind(BaseModel):
    """Fields that a model decides first."""

    plan: bool
    wants: Literal["queue", "thread", "memory", "conversation"] = "conversation"


class StartWords(DayWords, _StartKind):
    """A message outside of any session. ``plan`` is true when the person wants a day planned; else ``wants`` says what
    the message is about, ``number`` which plan, and ``answer`` is for them.

    With ``plan``, ``also`` is what they want besides, once the day is there. ``rules`` is as in :class:`Decision`.
    Without it, ``rest`` is the part of the message that wants something besides, and ``confidence`` says how sure the
    model is of what the message is about.
    """

    also: Annotated[tuple[Wish, ...], Field(max_length=MAX_WISHES)] = ()
    rules: bool = False
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    number: int | None = None
    answer: Spoken | None = None
    rest: Rest | None = None
    language: LanguageCode | None = None


class RitualWords(Value):
    """What a message says of the messages that the bot sends by itself. What it does not speak of stays as it is."""

    morning: Clock | None = None
    shutdown: Clock | None = None
    at_end: bool = False
    review: bool = False
    off: tuple[RitualKind, ...] = ()
    days: tuple[Weekday, ...] = ()
    quiet_from: Clock | None = None
    quiet_until: Clock | None = None


class QueueWords(Value):
    """What a message wants of the queue, the week or the last card, ``number`` of which task, row or button; ``answer``
    is for the person. ``rest`` is the part of the message that wants something besides.
    """

    wants: Purpose = Purpose.CONVERSATION
    changes: bool = False
    number: int | None = None
    work: WorkWords | None = None
    ritual: RitualWords | None = None
    complete: bool = False
    """All that the task needs to be done is so."""
    did: Annotated[tuple[int, ...], Field(max_length=MAX_STEP_ACTIONS)] = ()
    """Steps of the task that the person says they did, in order."""
    so: Annotated[tuple[int, ...], Field(max_length=MAX_STEP_ACTIONS)] = ()
    not_so: Annotated[tuple[int, ...], Field(max_length=MAX_STEP_ACTIONS)] = ()
    """Questions about the task that they answer with yes, and with no."""
    percent: int | None = None
    speak: LanguageCode | None = None
    answer: Spoken | None = None
    rest: Rest | None = None


Key = Annotated[str, StringConstraints(pattern=r"^b[0-9]{1,3}$")]
"""Name of a block as the table ``plan`` shows it. It stays the same whatever other ops do."""
Minutes = Annotated[int, Field(ge=-MAX_MINUTES, le=MAX_MINUTES)]
"""Minutes of a shift may be negative; the length of a block is checked where the block is built."""
Notes = Annotated[str, Field(max_length=MAX_NOTES_CHARS)]


class MoveOp(Value):
    """Move a block to another start, with its length."""

    op: Literal["move"]
    b: Key
    start: Clock


class ResizeOp(Value):
    """Give a block another length."""

    op: Literal["resize"]
    b: Key
    minutes: Minutes


class EditOp(Value):
    """Change the title, type or notes of a block; ``None`` leaves a part as it is."""

    op: Literal["edit"]
    b: Key
    title: Title | None = None
    type: ET | None = None
    notes: Notes | None = None


class RemoveOp(Value):
    """Remove a block."""

    op: Literal["remove"]
    b: Key


class AddOp(Value):
    """Add a block at ``start``, or directly after another one."""

    op: Literal["add"]
    title: Title
    type: ET
    minutes: Minutes
    start: Clock | None = None
    after: Key | None = None
    notes: Notes | None = None


class SwapOp(Value):
    """Swap two blocks."""

    op: Literal["swap"]
    a: Key
    b: Key


class ShiftOp(Value):
    """Move all blocks that begin at a time or later."""

    op: Literal["shift"]
    since: Clock
    minutes: Minutes


class ToDayOp(Value):
    """Move the whole plan to another day."""

    op: Literal["to_day"]
    day: Date


PlanOp = Annotated[
    MoveOp | ResizeOp | EditOp | RemoveOp | AddOp | SwapOp | ShiftOp | ToDayOp, Field(discriminator="op")
]


class PatchWords(Value):
    """A change of the plan. ``question`` says what of the message is no such change, or asks about it."""

    ops: Annotated[tuple[PlanOp, ...], Field(max_length=MAX_READ_OPS)]
    question: Spoken | None = None


class OpenWords(Value):
    """What is to become of something that found no place, by its number. ``minutes`` is what it may be shortened to."""

    number: int
    way: Literal["later", "drop", "pieces"] | None = None
    minutes: int | None = None


class ReplanWords(Value):
    """How the day goes. ``missed``, ``done`` and ``not_today`` are names of blocks of the plan; ``late`` is in
    minutes, 0 when what is on now begins only now; null unless the person is late.
    """

    late: int | None = None
    missed: tuple[Key, ...] = ()
    done: tuple[Key, ...] = ()
    not_today: tuple[Key, ...] = ()
    open: tuple[OpenWords, ...] = ()
    day: Date | None = None
    """The day on which they want to do what is not for today, if the message names one."""
    move_to: Date | None = None
    """The day to which they move the whole plan; ``join`` adds it to a plan that is there already."""
    join: bool = False
    ticked: tuple[int, ...] = ()
    """Numbers of the small tasks in boxes that they say are done."""
    unticked: tuple[int, ...] = ()
    """Those that are not done after all."""
    together: tuple[Key, ...] = ()
    """Names of blocks to put together into one box, called ``box`` if the message names it."""
    box: Title | None = None
    apart: tuple[Key, ...] = ()
    """Names of boxes to take apart."""
    day_end: Clock | None = None
    question: Spoken | None = None


class BlockWords(Value):
    """A block of a draft: for a task by its number, or of the model's own with a title. Local start, minutes."""

    task: int | None = None
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)] | None = None
    type: Literal["DW", "SW", "PR", "R", "BU"]
    start: Clock
    minutes: int


class DraftWords(Value):
    """A day, block by block."""

    blocks: Annotated[tuple[BlockWords, ...], Field(max_length=MAX_READ_BLOCKS)]


class AnswerWords(Value):
    """An answer to a question of the person, from what is known here and nothing else. ``block`` is the name of the
    block of the plan, if they ask why that is where it is; then code answers.
    """

    answer: Spoken
    block: Key | None = None


Words = Annotated[str, Field(min_length=1, max_length=MAX_WORDS_CHARS)]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
Topic = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)]


class MemoryWish(StrEnum):
    """What is wanted of memory: the five tools by their names (S26), and what only a conversation knows."""

    LIST = "memory_list_constraints"
    GET = "memory_get_constraint"
    UPDATE = "memory_update_constraint"
    ARCHIVE = "memory_archive_constraint"
    SUPERSEDE = "memory_supersede_constraint"
    REMEMBER = "remember"
    ACCEPT = "accept"
    DECLINE = "decline"
    RESTORE = "restore"
    SET_ASIDE = "set_aside"
    USE_AGAIN = "use_again"
    KEEP = "keep"
    """Answer to which of two contradicting constraints counts, or that both do."""
    UNDO = "undo"
    """Undo the last write into memory."""


class WindowSaid(Value):
    """A time of day that is wanted or not."""

    kind: WindowKind
    start: Clock
    end: Clock


class RuleWords(Value):
    """A rule as it shall be, as far as the message says it; null leaves a part as it is."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)] | None = None
    description: Words | None = None
    necessity: Necessity | None = None
    scope: Scope | None = None
    rule_kind: RuleKind | None = None
    slot: Slot | None = None
    dimension: Dimension | None = None
    domain: Domain | None = None
    windows: Annotated[tuple[WindowSaid, ...], Field(max_length=MAX_READ_WINDOWS)] | None = None
    minutes_min: int | None = None
    minutes_max: int | None = None
    change: Literal["more", "less"] | None = None
    day_rule: DayRuleText | None = None
    start_date: Date | None = None
    end_date: Date | None = None
    days_of_week: tuple[Weekday, ...] | None = None
    event_types: tuple[ET, ...] | None = None
    topics: Annotated[tuple[Topic, ...], Field(max_length=MAX_TOPICS)] | None = None
    limits: RuleLimits | None = None


def aspect_of(
    slot: Slot | None, dimension: Dimension | None, domain: Domain | None, rule_kind: RuleKind | None
) -> dict[str, str]:
    """Return the given fields of an aspect. A fixed bedtime without a slot gets the bedtime slot."""
    if slot is None and rule_kind is RuleKind.FIXED_BEDTIME:
        slot = Slot.BEDTIME
    said = {"aspect_id": slot, "frame_slot": slot, "dimension": dimension, "category": domain}
    return {name: value.value for name, value in said.items() if value is not None}


class MemoryWords(Value):
    """What a message wants of memory. ``numbers`` are rows of the table; ``rule`` is what a changed or new one shall
    be, ``reason`` why one is put away; ``search`` finds what the table does not show (S95). What cannot be understood
    is asked.
    """

    wish: MemoryWish
    numbers: Annotated[tuple[int, ...], Field(max_length=MAX_NUMBERS)] = ()
    search: Annotated[tuple[Query, ...], Field(max_length=MAX_QUERIES)] = ()
    reason: Annotated[str, Field(max_length=MAX_MEMORY_REASON_CHARS)] | None = None
    rule: RuleWords | None = None
    only: RuleFilter | None = None
    """Which of all rules they want to see, if they say a kind of them."""
    question: Spoken | None = None
    instead: bool = False
    """It corrects what was last done there, which is taken back first."""


@dataclass(frozen=True, slots=True)
class OpeningReading:
    """Result of a first message: commands for the session that it begins, and lines for the person.

    If the message does not ask for a plan, ``plan`` is false, and ``hydrated`` the request it makes instead, if any,
    ``command`` the command it gives, or ``thread`` the session whose plan it is about; ``rest`` is still to be read.
    ``language`` is that of the message, if it is another one than that of the session.
    """

    commands: Sequence[SessionCommand] = ()
    lines: tuple[str, ...] = ()
    hydrated: HydratedMessage | None = None
    command: SessionCommand | QueueCommand | None = None
    thread: str | None = None
    rest: str | None = None
    plan: bool = True
    unread: bool = False
    """True if no model could read the message."""
    language: str | None = None
    moves: tuple[SessionCommand, ...] = ()
    """Steps that the message has settled, so that they need no confirmation."""
    further: tuple[Wish, ...] = ()
    """What the message wants once the session has begun, in order."""
    rules: bool = False
    """True if the message says how the person's days should be in general."""

    @property
    def answers(self) -> bool:
        """True if there is something to answer."""
        requests = (self.hydrated, self.command, self.thread)
        return self.plan or self.unread or bool(self.lines) or any(each is not None for each in requests)
