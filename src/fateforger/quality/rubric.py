"""Rubric: the demands of each level on a plan (S50, S206-S208), and the level of a plan.

Levels build on each other.

- 1 *Minimal*: there is work.
- 2 *Okay*: nothing overlaps or runs into a meeting, every must is kept, everything has a place, the one thing is
early.
- 3 *Detailed*: breaks after deep work, a meal, and every should is kept.
- 4 *Ultra*: the one thing is named, deep work comes in two or three blocks of a good length, or in no more than it
needs, shallow work takes at most 30 % or keeps out no deep work that matters more, there is room before deep work and
after a meal, the day has an end, and every preference is kept.

A declined part of the policy demands nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from itertools import pairwise
from operator import or_

from fateforger.drafting.axis import longest_run, slot_range
from fateforger.drafting.context import DraftContext, Occupied, build_context
from fateforger.drafting.instance import Instance, Policy, Task
from fateforger.drafting.model import UnplacedItem, Violation, find_violations
from fateforger.drafting.problem import REST, SHORT_DAY
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, WORK, Resolved, TBPlan, overlaps, resolve
from fateforger.planning.task_details import LUNCH, SHUTDOWN, task_of
from fateforger.planning.timing import GRID
from fateforger.quality.model import LABELS, Criterion, Finding, Quality
from fateforger.text import format_length, format_percent, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

LONGEST_TITLE = 300
MEAL = timedelta(minutes=20)
"""Shortest pause that counts as a meal."""
_LONG_DAY = timedelta(hours=6)


@dataclass(frozen=True)
class View:
    """A plan and the day it is for.

    ``context`` is the day without any plan. ``left`` lists the tasks that found no place when the day was drafted.
    """

    context: DraftContext
    plan: TBPlan
    left: Sequence[UnplacedItem]

    @property
    def instance(self) -> Instance:
        return self.context.instance

    @property
    def policy(self) -> Policy:
        return self.instance.policy

    @property
    def start(self) -> datetime:
        return self.context.days[0].start.astimezone(UTC)

    @property
    def end(self) -> datetime:
        return self.context.days[0].end.astimezone(UTC)

    @cached_property
    def middle(self) -> datetime:
        """End of the first half of the time that the one thing could have; of the day, when none is named."""
        late = 0 if self.one is None else self.context.late_starts(self.one)
        if not late:
            return self.start + (self.end - self.start) / 2
        return self.context.axis.when((late & -late).bit_length() - 1) - timedelta(minutes=1)

    @cached_property
    def taken(self) -> int:
        """Slots that blocks cover."""
        return reduce(or_, map(self.slots_of, self.blocks), 0)

    def slots_of(self, block: Resolved) -> int:
        return self.context.axis.slots_touching(block.start, block.end)

    @property
    def has_time_for_lunch(self) -> bool:
        """True when meetings and musts leave the shortest lunch free around its time."""
        lunch = self.policy.lunch
        if lunch is None:
            return False
        wish = self.context.axis.slot(self.context.instant(lunch.start))
        drift = lunch.drift // GRID
        near = slot_range(wish - drift, wish + drift + -(-lunch.minutes // GRID))
        return longest_run(near & self.context.open_to(ET.REGENERATION)) * GRID >= lunch.shortest

    @property
    def has_time_to_shut_down(self) -> bool:
        """True when there is time after the last meeting, apart from what outranks the end of work."""
        meetings = (event.mask for event in self.context.events if event.kind is ET.MEETING)
        end = max((mask.bit_length() for mask in meetings), default=0)
        kept = (b for b in self.blocks if b.event.type in REST or self._is_one(b))
        left = self.context.open_to(ET.PLAN_REVIEW) & ~slot_range(0, end)
        return longest_run(left & ~reduce(or_, map(self.slots_of, kept), 0)) * GRID >= self.policy.shutdown

    @property
    def ends_with_given_work(self) -> bool:
        """True when the day ends with work at a given time, and there is no time to shut down after it."""
        starts = {t.id: begins for t in self.instance.tasks if t.start and (begins := self.context.instant(t.start))}
        given = [b for b in self.work if starts.get(task_of(b.key, list(starts)) or "") == begin(b) < self.end]
        last = max((self.slots_of(block).bit_length() for block in given), default=0)
        left = self.context.open_to(ET.PLAN_REVIEW) & ~slot_range(0, last)
        return bool(given) and longest_run(left) * GRID < self.policy.shutdown

    def _is_one(self, block: Resolved) -> bool:
        return self.one is not None and task_of(block.key, (self.one.id,)) is not None

    def is_left_for_slack(self, left: UnplacedItem) -> bool:
        """Check whether a task has no place because time should stay free."""
        task = next((t for t in self.instance.tasks if t.id == left.id), None)
        free = self.context.free
        if task is None or task.required or not self.policy.slack_percent or free.bit_count() <= SHORT_DAY:
            return False
        spare = (free & ~self.taken).bit_count() - -(-task.length(self.policy) // GRID)
        return spare * 100 < self.policy.slack_percent * free.bit_count()

    @property
    def has_more_important_deep_work(self) -> bool:
        """True when deep work has no place, and not for slack, though less important shallow work has."""
        tasks = self.instance.tasks
        waiting = {left.id for left in self.still_unplaced if not self.is_left_for_slack(left)}
        least = max((t.priority for t in tasks if t.type is ET.SHALLOW_WORK and self.first_of(t.id)), default=0)
        return any(t.type is ET.DEEP_WORK and t.id in waiting and t.priority < least for t in tasks)

    @property
    def fewest_deep_blocks(self) -> int:
        """Blocks that the deep work of the plan takes at least, each no longer than the person holds."""
        longest = self.policy.longest_focus or 24 * 60
        tasks = (t for t in self.instance.tasks if t.type is ET.DEEP_WORK and self.first_of(t.id) is not None)
        return sum(1 if t.splittable is False else -(-t.length(self.policy) // longest) for t in tasks)

    @property
    def is_long(self) -> bool:
        """True when the day is long enough for a meal and a shutdown."""
        return self.end - self.start >= _LONG_DAY

    @cached_property
    def resolved_blocks(self) -> tuple[Resolved, ...]:
        return tuple(sorted(resolve(self.plan), key=lambda block: (begin(block), block.index)))

    @cached_property
    def blocks(self) -> tuple[Resolved, ...]:
        """Blocks in time order, without background."""
        return tuple(block for block in self.resolved_blocks if block.event.type is not ET.BACKGROUND)

    @cached_property
    def work(self) -> tuple[Resolved, ...]:
        return tuple(block for block in self.blocks if block.event.type in WORK)

    @cached_property
    def deep(self) -> tuple[Resolved, ...]:
        return tuple(block for block in self.blocks if block.event.type is ET.DEEP_WORK)

    @cached_property
    def meals(self) -> tuple[Resolved, ...]:
        return tuple(b for b in self.blocks if b.event.type is ET.REGENERATION and b.duration >= MEAL)

    @cached_property
    def overlaps(self) -> tuple[tuple[Resolved, Resolved], ...]:
        return overlaps(resolve(self.plan))

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        return find_violations(self.context, self.blocks)

    @cached_property
    def still_unplaced(self) -> tuple[UnplacedItem, ...]:
        """Tasks that still have no place.

        The person may have added a block of that name to the plan since.
        """
        named = {block.event.name.casefold() for block in self.blocks}
        return tuple(e for e in self.left if e.title.casefold() not in named and self.first_of(e.id) is None)

    @property
    def one(self) -> Task | None:
        """The task marked as the one thing."""
        return next((task for task in self.instance.tasks if task.one_thing), None)

    def first_of(self, task: str) -> Resolved | None:
        """Return the earliest block for a task."""
        return next((b for b in self.blocks if task_of(b.key, (task,)) is not None), None)

    def hit_by(self, block: Resolved) -> Occupied | None:
        """Return the event that a block runs into, if any."""
        start, stop = begin(block), finish(block)
        events = (e for e in self.context.events if e.start.astimezone(UTC) < e.end.astimezone(UTC))
        return next((e for e in events if e.start.astimezone(UTC) < stop and start < e.end.astimezone(UTC)), None)


def build_view(instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = ()) -> View:
    """Return the view of a plan.

    Raises ``BadInput`` for an instance that makes no day. A plan whose blocks cannot be resolved raises
    ``PlanInvalid`` when its blocks are first read.
    """
    return View(build_context(replace(instance, previous=None)), plan, left)


def begin(block: Resolved) -> datetime:
    return block.start.astimezone(UTC)


def finish(block: Resolved) -> datetime:
    return block.end.astimezone(UTC)


Findings = Iterator[Finding]
_LEVELS = {
    Necessity.MUST: (Criterion.MUST, 2),
    Necessity.SHOULD: (Criterion.SHOULD, 3),
    Necessity.PREFER: (Criterion.WISH, 4),
}
_NUMBERS = {5: mark_message("five minutes"), 10: mark_message("ten minutes")}


def collect_findings(view: View) -> tuple[Finding, ...]:
    """Return every finding, those of the lowest level first."""
    return tuple(finding for look in _LOOKS for finding in look(view))


# --- 1 and 2: a plan that can be followed ---


def _check_work(view: View) -> Findings:
    if not view.work:
        yield Finding(criterion=Criterion.WORK, level=1, text=_("Add at least one block of work."))


def _check_overlaps(view: View) -> Findings:
    for one, two in view.overlaps:
        text = _(
            "{one} and {two} overlap; give each a time of its own.",
            one=quote_title(one.event.name, LONGEST_TITLE),
            two=quote_title(two.event.name, LONGEST_TITLE),
        )
        yield Finding(criterion=Criterion.OVERLAP, level=2, text=text, keys=(one.key, two.key))


def _check_meetings(view: View) -> Findings:
    for block in view.blocks:
        if view.hit_by(block) is not None:
            text = _("Move {title} away from the meeting it runs into.", title=_quote(block))
            yield Finding(criterion=Criterion.MEETING, level=2, text=text, keys=(block.key,))


def _check_necessity(necessity: Necessity) -> Callable[[View], Findings]:
    criterion, level = _LEVELS[necessity]

    def look(view: View) -> Findings:
        for each in view.violations:
            if each.necessity is necessity:
                yield Finding(criterion=criterion, level=level, text=each.text, keys=each.keys, cause=each.rule)

    return look


def _check_unplaced(view: View) -> Findings:
    for left in view.still_unplaced:
        if left.id.startswith((f"{LUNCH}-", f"{SHUTDOWN}-")) or view.is_left_for_slack(left):
            continue
        text = _("Find a place for {title}, or take it off today's list.", title=quote_title(left.title, LONGEST_TITLE))
        yield Finding(criterion=Criterion.UNPLACED, level=2, text=text, cause=left.id)


def _check_one_thing_early(view: View) -> Findings:
    one = view.one
    if one is None or not view.policy.one_thing_early:
        return
    block = view.first_of(one.id)
    if block is None:
        text = _("Give {title} a block: it is the one thing that matters.", title=quote_title(one.title, LONGEST_TITLE))
        yield Finding(criterion=Criterion.ONE_THING_EARLY, level=2, text=text, cause=one.id)
    elif begin(block) > view.middle:
        text = _("Start {title} in the first half of the day.", title=quote_title(one.title, LONGEST_TITLE))
        yield Finding(criterion=Criterion.ONE_THING_EARLY, level=2, text=text, keys=(block.key,), cause=one.id)


# --- 3: breaks ---


def _check_after_deep(view: View) -> Findings:
    for deep in view.deep:
        yield from _check_gap(view, Criterion.AFTER_DEEP, 3, deep, view.policy.after_deep)


def _check_meal(view: View) -> Findings:
    if view.is_long and not view.meals and view.has_time_for_lunch:
        yield Finding(criterion=Criterion.MEAL, level=3, text=_("Put a meal or a real pause into the day."))


# --- 4: the shape of a good day ---


def _check_one_thing_named(view: View) -> Findings:
    if view.one is None and view.policy.one_thing_early:
        text = _("Say which task is the one thing that matters.")
        yield Finding(criterion=Criterion.ONE_THING, level=4, text=text)


def _check_focus_length(view: View) -> Findings:
    longest = view.policy.longest_focus
    whole = [task.id for task in view.instance.tasks if task.splittable is False]
    for deep in view.deep:
        if longest and deep.duration > timedelta(minutes=longest) and task_of(deep.key, whole) is None:
            text = _(
                "Split {title}: {length} is about as long as anyone can focus.",
                title=_quote(deep),
                length=format_length(longest),
            )
            yield Finding(criterion=Criterion.FOCUS, level=4, text=text, keys=(deep.key,))


def _check_shallow_share(view: View) -> Findings:
    percent = view.policy.shallow_percent
    total = sum((block.duration for block in view.work), timedelta())
    shallow = [block for block in view.work if block.event.type is ET.SHALLOW_WORK]
    ids = [task.id for task in view.instance.tasks]
    as_listed = all(task_of(block.key, ids) for block in shallow)
    if percent is None or (as_listed and not view.has_more_important_deep_work):
        return
    if sum((b.duration for b in shallow), timedelta()) * 100 > total * percent:
        text = _(
            "Shallow work takes more than {share} of your working time; give deep work more room.",
            share=format_percent(percent),
        )
        yield Finding(criterion=Criterion.SHALLOW, level=4, text=text, keys=tuple(block.key for block in shallow))


def _check_deep_blocks(view: View) -> Findings:
    most = view.policy.deep_blocks
    if most is not None and not view.still_unplaced and len(view.deep) > max(most, view.fewest_deep_blocks):
        text = _(
            "There are {count} blocks of deep work. Two or three of about 90 minutes are enough for a day.",
            count=len(view.deep),
        )
        yield Finding(criterion=Criterion.DEEP_BLOCKS, level=4, text=text, keys=tuple(b.key for b in view.deep))


def _check_before_deep(view: View) -> Findings:
    """Check for room before deep work that is not the day's first.

    Room after deep work or a meal is checked elsewhere.
    """
    room = timedelta(minutes=view.policy.before_deep)
    for before, deep in pairwise(view.blocks):
        if deep not in view.deep[1:] or before in view.deep or before.event.type in REST:
            continue
        if timedelta() <= begin(deep) - finish(before) < room:
            text = _(
                "Leave {length} before {title}, your next deep work.",
                length=_minutes(view.policy.before_deep),
                title=_quote(deep),
            )
            yield Finding(criterion=Criterion.BEFORE_DEEP, level=4, text=text, keys=(before.key, deep.key))


def _check_after_meal(view: View) -> Findings:
    tasks = [task.id for task in view.instance.tasks]
    for meal in (meal for meal in view.meals if task_of(meal.key, tasks) is None):
        yield from _check_gap(view, Criterion.AFTER_MEAL, 4, meal, view.policy.after_meal)


def _check_shutdown(view: View) -> Findings:
    if not view.policy.shutdown or not view.is_long or not view.work or view.ends_with_given_work:
        return
    # Work after hours does not end the day, as in a draft.
    last = max((finish(block) for block in view.work if begin(block) < view.end), default=view.start)
    done = any(b.event.type is ET.PLAN_REVIEW and begin(b) >= last for b in view.blocks)
    if not done and view.has_time_to_shut_down:
        text = _("End the day with half an hour to look back and shut down.")
        if view.policy.shutdown != 30:
            text = _(
                "End the day with {length} to look back and shut down.", length=format_length(view.policy.shutdown)
            )
        yield Finding(criterion=Criterion.SHUTDOWN, level=4, text=text)


def _check_gap(view: View, criterion: Criterion, level: int, block: Resolved, minutes: int) -> Findings:
    """Report work that begins too soon after a block."""
    after = next((other for other in view.work if begin(other) >= finish(block)), None)
    if after is not None and begin(after) - finish(block) < timedelta(minutes=minutes):
        text = _(
            "Leave {length} between {one} and {two}.", length=_minutes(minutes), one=_quote(block), two=_quote(after)
        )
        yield Finding(criterion=criterion, level=level, text=text, keys=(block.key, after.key))


def _minutes(minutes: int) -> str:
    if minutes in _NUMBERS:
        return _(_NUMBERS[minutes])
    return ngettext("{count} minute", "{count} minutes", minutes)


def _quote(block: Resolved) -> str:
    return quote_title(block.event.name, LONGEST_TITLE)


_LOOKS: tuple[Callable[[View], Findings], ...] = (
    _check_work,
    _check_overlaps,
    _check_meetings,
    _check_necessity(Necessity.MUST),
    _check_unplaced,
    _check_one_thing_early,
    _check_after_deep,
    _check_meal,
    _check_necessity(Necessity.SHOULD),
    _check_one_thing_named,
    _check_focus_length,
    _check_shallow_share,
    _check_deep_blocks,
    _check_before_deep,
    _check_after_meal,
    _check_shutdown,
    _check_necessity(Necessity.PREFER),
)


BEST = 4
NOTHING_TO_IMPROVE = mark_message("There is nothing to improve.")


def grade_plan(instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = ()) -> Quality:
    """Grade ``plan`` for the instance's day: its frame, events, tasks, constraints, and policy.

    ``left`` lists the tasks that found no place.

    Raises ``BadInput`` for an instance that makes no day, and ``PlanInvalid`` for a plan whose blocks cannot be
    resolved to instants.
    """
    return grade_view(build_view(instance, plan, left))


def grade_view(seen: View) -> Quality:
    found = collect_findings(seen)
    level = min((finding.level - 1 for finding in found), default=BEST)
    next_step = found[0].text if found else _(NOTHING_TO_IMPROVE)
    return Quality(level=level, label=_(LABELS[level]), next_step=next_step, findings=found)
