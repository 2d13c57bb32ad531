"""Findings that a thoughtful person would have about a drafted day.

Each judge looks at one point and returns findings in plain words. No findings mean that the day is good in this point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.judge.day import MINUTE, TASK, Day, Span, concerns, cover, runs
from tests.laws import drafting_checker

PAUSE = 10
"""Minutes that make a pause."""
MOST_FOCUS = 120
"""Most minutes of focus that a person can hold in one piece, under any policy."""
LUNCH_LEAST = 30
LUNCH_NEAR = 45
"""Lunch may move by this many minutes before a better place is asked for."""
SITTING = 45
"""A gap shorter than this is for shallow work."""
ENOUGH_DEEP = 180
"""Minutes of deep work after which shallow work may come before the rest of it."""
SPARE_SWITCHES = 2
"""Two batches of shallow work, before lunch and at the end, are a good day too."""
SLACK = 15
"""Percent of the free time that stays free."""
SHUTDOWN_NEAR = 60
DUE_SOON = 120
GRID = 5
SHORT_DAY = 120

Findings = Iterator[str]


def judge_frame(day: Day) -> Findings:
    for block in day.blocks:
        if block.type != "C" and not 0 <= block.start < block.end <= day.length:
            yield f"“{block.title}” ({day.describe(block)}) is outside the planned time"


def judge_required(day: Day) -> Findings:
    given_up = day.plan.get("relaxed", ())
    for task in day.tasks.values():
        if task["required"] and not day.pieces(task["id"]) and task["id"] not in given_up:
            yield f"“{task['title']}” is required and is left out"


def judge_musts(day: Day) -> Findings:
    """Ask the checker of the drafting laws, which shares no code with the solver either."""
    for rule in day.rules:
        if rule["necessity"] != "must":
            continue
        full = {"rule_kind": None, "scalar_params": {}, "windows": []} | rule["payload"]
        for fault in checker_of(day).find_breaches({**rule, "payload": full}, pieces_of(day, rule["tasks"])):
            yield f"must “{rule['words']}”: {fault}"
    for one, two in pairwise(sorted([*day.blocks, *day.events], key=lambda span: span.start)):
        if two.start < min(one.end, two.end) and {one, two} & set(day.blocks):
            yield f"“{one.title}” and “{two.title}” overlap at {day.clock(two.start)}"
    for task in day.tasks.values():
        pieces = day.pieces(task["id"])
        if (cover(pieces) & day.frame) - day.limits(task):
            yield f"“{task['title']}” is outside the limits that the person gave it"
        if pieces and sum(piece.minutes for piece in pieces) != task["minutes"]:
            yield f"“{task['title']}” gets {sum(p.minutes for p in pieces)} of {task['minutes']} minutes"


def checker_of(day: Day) -> drafting_checker.InstanceChecker:
    events = [{"busy": True, **event} for event in day.instance.get("immovables", ())]
    return drafting_checker.InstanceChecker({**day.instance, "immovables": events})


def pieces_of(day: Day, tasks: Sequence[str]) -> list[drafting_checker.PlacedPiece]:
    return [
        drafting_checker.PlacedPiece(
            block.task or "",
            f"“{block.title}”",
            block.type,
            *(day.begin + each * MINUTE for each in (block.start, block.end)),
        )
        for block in day.blocks
        if (not tasks and block.type != "C") or block.task in tasks  # travel to a meeting is next to it
    ]


def judge_one_thing(day: Day) -> Findings:
    for task in day.tasks.values():
        if not task["one_thing"]:
            continue
        title, pieces = task["title"], day.pieces(task["id"])
        usable = day.room(task) & day.free
        if not pieces:
            if day.fits(task, usable):
                yield f"“{title}” is the one thing and is left out"
            continue
        first = pieces[0].start
        best = usable & (day.best_hours(task) or usable)
        long_enough = sorted(
            m for run in runs(best) if len(run) >= min(task["min_chunk"], task["minutes"]) for m in run
        )
        if "start" not in task and 2 * sum(minute < first for minute in long_enough) > len(long_enough):
            yield f"“{title}” is the one thing and begins at {day.clock(first)}, in the second half of its time"
        yield from _deep_before(day, task, pieces, set(long_enough))
        for piece in pieces:
            if piece.minutes > longest_focus(day, task):
                yield f"“{title}” lasts {piece.minutes} minutes in one piece ({day.describe(piece)})"


def _deep_before(day: Day, task: Mapping[str, Any], pieces: Sequence[Span], usable: set[int]) -> Findings:
    """Find deep work before the one thing, in time that the one thing could have had."""
    for block in day.blocks:
        other = day.tasks.get(block.task or "")
        if other is None or block.type != "DW" or block.start >= pieces[0].start or other["one_thing"]:
            continue
        needed_first = other["id"] in day.chain(task) or "start" in other
        due_first = "deadline" in other and day.minute(other["deadline"]) <= pieces[-1].end
        if not needed_first and not due_first and len(cover([block]) & usable) >= task["min_chunk"]:
            yield f"“{block.title}” ({day.describe(block)}) comes before the one thing, “{task['title']}”"
            return


def longest_focus(day: Day, task: Mapping[str, Any] | None = None) -> int:
    """Return the minutes of focus that this person holds; work they do not want split may be as long as it is."""
    if task is not None and task["type"] == "DW" and not task["splittable"]:
        return int(task["minutes"])
    return min(day.policy["longest_focus"] or MOST_FOCUS, MOST_FOCUS)


def lunch_near(day: Day) -> int:
    """Return the minute at which lunch is wished for; in a night frame it may be the next day's."""
    near = day.minute((day.lunch or {})["start"])
    return near if near >= 0 else near + 24 * 60


def lunch_window(day: Day) -> range:
    wish = day.lunch or {}
    near = lunch_near(day)
    return range(near - wish["drift"], near + wish["minutes"] + wish["drift"])


def judge_lunch(day: Day) -> Findings:
    if day.lunch is None:
        return
    asked, near, window = day.lunch["minutes"], lunch_near(day), lunch_window(day)
    allowed = day.room({"id": "lunch", "type": "R", "after": []})
    stretches = runs(set(window) & day.free & allowed)
    longest = max(stretches, key=len, default=range(0))
    eaten = next((block for block in day.blocks if (block.task or "").startswith("lunch-")), None)
    least = min(LUNCH_LEAST, asked)
    if eaten is None:
        if len(longest) >= least:
            yield f"there is no lunch, although meetings leave {day.describe(longest)} free"
        return
    if not cover([eaten]) <= set(window):
        yield f"lunch is at {day.describe(eaten)}, outside its window"
    around = next((run for run in stretches if eaten.start in run), range(eaten.start, eaten.end))
    if eaten.minutes < min(asked, max(least, len(around))) and len(longest) >= least:
        yield f"lunch is cut to {eaten.minutes} minutes, although meetings leave {day.describe(longest)} free"
    starts = [max(run.start, min(near, run.stop - eaten.minutes)) for run in stretches if len(run) >= eaten.minutes]
    off = abs(eaten.start - near)
    if off > LUNCH_NEAR and min((abs(start - near) for start in starts), default=off) <= off - 30:
        yield f"lunch is at {day.clock(eaten.start)} instead of {day.clock(near)}, and no meeting moved it"


def judge_pauses(day: Day) -> Findings:
    focus: list[Span] = []
    told = False
    end = 0
    for entry in day.entries:
        if entry.is_rest or entry.start - end >= PAUSE:
            focus, told = [], False
        end = max(end, entry.end)
        if entry.type != "DW" or entry.task is None:
            continue
        focus.append(entry)
        total = sum(each.minutes for each in focus)
        longest = max(longest_focus(day), *(longest_focus(day, day.tasks.get(each.task or "")) for each in focus))
        single = day.tasks.get(entry.task, {}).get("one_thing") and len(focus) == 1
        if total > longest and not told and not single:
            told = True
            yield f"{total} minutes of focus without a pause ({day.clock(focus[0].start)}–{day.clock(entry.end)})"


def judge_meetings(day: Day) -> Findings:
    row: list[Span] = []
    for entry in day.entries:
        if row and entry.start - max(each.end for each in row) >= PAUSE:
            row = []
        if entry.task is None and entry.type == "M":
            row.append(entry)
            continue
        if len(row) > 1 and not entry.is_rest and entry.type != "PR" and _fits_with_pauses(day, entry):
            yield f"“{entry.title}” begins at {day.clock(entry.start)} without a pause after {len(row)} meetings in a row"
        row = []


def _fits_with_pauses(day: Day, block: Span) -> bool:
    """Check whether all of a block's task fits with a pause after each row of meetings; only the one thing outranks it."""
    task = day.tasks.get(block.task or "")
    if task is None or not task["one_thing"]:
        return True
    meetings = [event for event in day.events if event.type == "M"]
    after = {
        minute
        for one, two in pairwise(meetings)
        if two.start - one.end < PAUSE
        for minute in range(two.end, two.end + PAUSE)
    }
    meals = cover(each for each in day.blocks if each.type == "R")
    return day.fits(task, (day.room(task) & day.free) - after - meals)


def judge_order(day: Day) -> Findings:
    """Find shallow work that takes time which deep work could have had earlier."""
    morning = runs(day.free - cover(block for block in day.blocks if block.type == "R"))
    for batch in batches(day):
        start, end = batch[0].start, batch[-1].end
        done = sum(block.minutes for block in day.blocks if block.type == "DW" and block.end <= start)
        movable = [block for block in batch if not (_belongs_here(day, block) or _is_one(day, block))]
        if done >= ENOUGH_DEEP or not movable:
            continue
        stretch = next((run for run in morning if start in run), range(0))
        later = (block for block in day.blocks if block.type == "DW" and block.start >= end)
        deep = next((block for block in later if _could_swap(day, movable, block, stretch)), None)
        if deep is not None:
            names = ", ".join(f"“{block.title}”" for block in movable)
            yield f"{names} ({day.describe(range(start, end))}) comes before the deep work “{deep.title}”"


def _could_swap(day: Day, movable: Sequence[Span], deep: Span, stretch: range) -> bool:
    """Check whether deep work could have the time of shallow blocks before it, and is no worse off there."""
    task = day.tasks.get(deep.task or "")
    if task is None or {block.task for block in movable} & day.chain(task):
        return False
    if any(_is_one(day, block) for block in day.blocks if movable[-1].end <= block.start < deep.start):
        return False
    gained = sum(block.minutes for block in movable)
    least = longest_focus(day, task)  # a sitting is not cut in two
    room = gained - _missing_pause(day, movable[0])
    if deep.start in stretch:
        possible = _has_room_for_pauses(day, stretch)
    else:
        possible = room >= min(least, deep.minutes) and (deep.minutes >= gained or _has_pause_after(day, movable[-1]))
    if not possible:
        return False
    best = day.best_hours(task)
    if best is not None and cover([deep]) <= best and not cover(movable) <= best:
        return False
    return set(range(movable[0].start, movable[0].start + gained)) <= day.room(task)


def _is_one(day: Day, block: Span) -> bool:
    return bool(day.tasks.get(block.task or "", TASK)["one_thing"])


def _has_room_for_pauses(day: Day, stretch: range) -> bool:
    """Check whether a pause fits after each piece of deep work in a stretch: one more when shallow work comes last."""
    inside = [block for block in day.blocks if block.start in stretch]
    pauses = PAUSE * sum(block.type == "DW" for block in inside)
    return sum(block.minutes for block in inside) + pauses <= len(stretch)


def _has_pause_after(day: Day, block: Span) -> bool:
    """Check whether what is left of a batch could begin a pause later, behind the deep work."""
    return not set(range(block.end, block.end + PAUSE)) & (day.frame - day.unplanned)


def _missing_pause(day: Day, block: Span) -> int:
    """Return the minutes that a pause lacks between deep work and a block that other deep work would replace."""
    before = max((each.end for each in day.blocks if each.type == "DW" and each.end <= block.start), default=-PAUSE)
    return max(0, PAUSE - (block.start - before))


def batches(day: Day) -> list[list[Span]]:
    """Return runs of shallow work with nothing but short gaps between."""
    found: list[list[Span]] = []
    for previous, entry in pairwise([None, *day.entries]):
        if entry is None or entry.type != "SW" or entry.task is None:
            continue
        if previous is not None and found and found[-1][-1] == previous and entry.start - previous.end <= PAUSE:
            found[-1].append(entry)
        else:
            found.append([entry])
    return found


def _belongs_here(day: Day, block: Span) -> bool:
    """Check whether the person said that this block should lie about here."""
    task = day.tasks.get(block.task or "")
    if task is None or "start" in task:
        return True
    best = day.best_hours(task)
    due_soon = "deadline" in task and day.minute(task["deadline"]) <= block.end + 120
    return due_soon or (best is not None and cover([block]) <= best)


def judge_best_hours(day: Day) -> Findings:
    """Find work outside the hours that the person named for it while these hours go to something else."""
    for task in day.tasks.values():
        best, pieces = day.best_hours(task), day.pieces(task["id"])
        if best is None or not pieces or "start" in task:
            continue
        rivals = [
            block
            for block in day.blocks
            if block.task == task["id"]
            or (block.type == "R" and block.task not in day.tasks)
            or block.type == "C"
            or (
                (other := day.tasks.get(block.task or "")) is not None
                and (day.best_hours(other) or set()) & cover([block])
            )
            or (other is not None and ("start" in other or other["one_thing"]))
        ]
        taken = {minute for rival in rivals for minute in range(rival.start - PAUSE, rival.end + PAUSE)}
        open_ = (best & day.free & day.room(task)) - taken
        wrong = next((piece for piece in pieces if cover([piece]) - best), None)
        if wrong is None:
            continue
        spot = next((run for run in runs(open_) if len(run) >= wrong.minutes), None)  # a piece is not cut any further
        if spot is not None:
            yield (
                f"“{wrong.title}” is at {day.describe(wrong)}, outside its best hours, "
                f"although there is room at {day.describe(spot)}"
            )


def judge_kinds(day: Day) -> Findings:
    """Compare the switches between deep and shallow work with the fewest that the meetings allow."""
    work = [block for block in day.blocks if block.type in {"DW", "SW"}]
    made = sum(one.type != two.type for one, two in pairwise(work))
    least = fewest_switches(day, work)
    if made > least + SPARE_SWITCHES:
        yield f"the day switches {made} times between deep and shallow work, where {least} would do"


def fewest_switches(day: Day, work: Sequence[Span]) -> int:
    """Return the fewest switches if each free stretch keeps its amount of work and the whole day its mixture.

    Blocks with a time of their own, and those in stretches under half an hour, stay.
    """
    deep = sum(block.minutes for block in work if block.type == "DW")
    states = {("", 0): 0}
    for stretch in runs(day.free):
        inside = [block for block in work if block.start in stretch]
        if not inside:
            continue
        used = sum(block.minutes for block in inside)
        stay = [block for block in inside if _belongs_here(day, block)] if len(stretch) >= 30 else inside
        least = sum(block.minutes for block in stay if block.type == "DW")
        most = used - sum(block.minutes for block in stay if block.type == "SW")
        reached: dict[tuple[str, int], int] = {}
        for (last, before), switches in states.items():
            for here in range(least, most + 1, 5):
                orders = ["DW"] if here == used else ["SW"] if here == 0 else ["DW SW", "SW DW"]
                for order in map(str.split, orders):
                    kinds = [last, *order] if last else order
                    count = switches + sum(one != two for one, two in pairwise(kinds))
                    state = order[-1], before + here
                    reached[state] = min(count, reached.get(state, count))
        states = reached
    return min((count for (_, minutes), count in states.items() if minutes == deep), default=0)


def judge_slack(day: Day) -> Findings:
    """Yield findings about slack.

    The one thing outranks slack, a grid step is no difference, and two hours are too short to keep some of them.
    """
    free, spare = len(day.free), len(day.unplanned)
    needed = sum(block.minutes for block in day.blocks if _is_needed(day, block))
    if free > SHORT_DAY and (spare + GRID) * 100 < SLACK * free and needed * 100 <= (100 - SLACK) * free:
        yield f"{spare} of {free} free minutes stay free ({spare * 100 // free} %)"


def _is_needed(day: Day, block: Span) -> bool:
    task = day.tasks.get(block.task or "")
    return block.type != "C" and (task is None or bool(task["required"] or task["one_thing"]))


def judge_shutdown(day: Day) -> Findings:
    length = day.policy["shutdown"]
    work = [entry for entry in day.entries if entry.type in {"M", "DW", "SW"}]
    if not length or not work:
        return
    shutdown = next((b for b in day.blocks if (b.task or "").startswith("shutdown-")), None)
    meetings = [event.end for event in day.events if event.type == "M"]
    given = [b for b in work if "start" in day.tasks.get(b.task or "", TASK) and b.start < day.length]
    if day.length - max((b.end for b in given), default=0) < length:  # like meetings at the end of the day
        meetings += [block.end for block in given]
        work = [block for block in work if block not in given]
    allowed = day.free & day.room({"id": "shutdown", "type": "PR", "after": []}) - _find_promised(day)
    room = [run for run in runs(allowed) if len(run) >= length and run.stop - length >= max(meetings, default=0)]
    if shutdown is None:
        if room:
            yield f"the work has no end: there is no shutdown, although {day.describe(room[-1])} is free of meetings"
        return
    later = next((entry for entry in work if entry.start >= shutdown.start), None)
    if later is not None and (later.task is not None or room):
        yield f"“{later.title}” comes at {day.clock(later.start)}, after the shutdown"
        return
    last = max((entry.end for entry in work if entry.start < shutdown.start), default=shutdown.start)
    open_ = runs(minute for minute in allowed if minute >= last)
    first = next((run.start for run in open_ if len(run) >= length), last)
    if shutdown.start - max(first, last) > SHUTDOWN_NEAR:
        yield f"the shutdown is at {day.clock(shutdown.start)}, and the work ends at {day.clock(last)}"


def _find_promised(day: Day) -> set[int]:
    """Return the time of blocks that outrank the end of work: the one thing, and meals at the hour they are for."""
    found: set[int] = set()
    for block in day.blocks:
        task = day.tasks.get(block.task or "")
        best = None if task is None else day.best_hours(task)
        if task is not None and (task["one_thing"] or (task["type"] == "R" and cover([block]) <= (best or set()))):
            found |= cover([block])
    return found


def judge_left_out(day: Day) -> Findings:
    """Find less important work in a place that more important work of its kind was left out for."""
    gone = [day.tasks[left["id"]] for left in day.plan["unplaced"] if left["id"] in day.tasks]
    for task in gone:
        if any(not day.pieces(each) for each in day.chain(task)) or _is_due_today(day, task):
            continue
        for other in day.tasks.values():
            pieces = day.pieces(other["id"])
            if not pieces or not _can_wait(other):
                continue
            if other["type"] != task["type"] or other["priority"] <= task["priority"]:
                continue
            if day.fits(task, cover(pieces) & day.room(task, shoulds=True)):
                yield f"“{task['title']}” is left out, and the less important “{other['title']}” has a place for it"
                break


def judge_due_today(day: Day) -> Findings:
    """Find work that is due today and left out for free time, or for work that can wait."""
    waiting = [piece for task in day.tasks.values() if _can_wait(task) for piece in day.pieces(task["id"])]
    for left in day.plan["unplaced"]:
        task = day.tasks.get(left["id"])
        if task is None or not _is_due_today(day, task) or any(not day.pieces(each) for each in day.chain(task)):
            continue
        if day.fits(task, (day.unplanned | cover(waiting)) & day.room(task, shoulds=True)):
            yield f"“{task['title']}” is due today and left out, although it has a place without work that can wait"


def _can_wait(task: Mapping[str, Any]) -> bool:
    return not (task["required"] or task["one_thing"] or "deadline" in task or "start" in task)


def _is_due_today(day: Day, task: Mapping[str, Any]) -> bool:
    return "deadline" in task and day.minute(task["deadline"]) <= day.length


def judge_due(day: Day) -> Findings:
    """Find work that can wait in the last two hours before required work is due, and ahead of it."""
    for task in day.tasks.values():
        pieces = day.pieces(task["id"])
        if not task["required"] or "deadline" not in task or "start" in task or not pieces:
            continue
        due = day.minute(task["deadline"])
        for block in day.blocks:
            other = day.tasks.get(block.task or "")
            if other is None or other["required"] or other["one_thing"] or block.type not in {"DW", "SW"}:
                continue
            ahead = due - DUE_SOON <= block.start < pieces[-1].start and other["priority"] > task["priority"]
            if ahead and "deadline" not in other and day.fits(task, cover([block]) & day.room(task)):
                yield f"“{block.title}” ({day.describe(block)}) comes before “{task['title']}”, which is due soon after"
                break


NO_ROOM = re.compile(
    r"leaves? (it )?no |the longest |the (whole )?day has|not that much time|is full|take the time|is left"
)
BLAMED = re.compile(r"leaves? (it )?no |the (whole )?day has|free stretch of the day|not that much time")
"""Reasons that say that the day, meetings, rules or the task's own times leave no room, for any other plan."""
TASKS = re.compile(r"take the time")
"""This reason says that other tasks take the room."""
ROUNDED = 3 * GRID
"""Minutes by which time on a grid of five minutes may differ from time by the minute."""
KEPT_FREE = re.compile(r"(\d+)% of the day stays free")
QUOTED = re.compile(r"“([^”]+)”")


def judge_reasons(day: Day) -> Findings:
    """Find reasons that say there is no room although there is, and those that name a must that changes nothing."""
    for left in day.plan["unplaced"]:
        reason = left["reason"]
        task = day.tasks.get(left["id"]) or policy_task(day, left)
        if task is None or _is_counted(day, task):
            continue
        if (percent := KEPT_FREE.match(reason)) and (
            (len(day.unplanned) - task["minutes"] - ROUNDED) * 100 >= int(percent[1]) * len(day.free)
            and day.fits(task, day.unplanned & day.room(task))
        ):
            yield f"“{left['title']}”: {reason}; yet {len(day.unplanned)} minutes are free"
        if not NO_ROOM.search(reason):
            continue
        said = f"“{left['title']}”: {reason}; yet"
        room = day.on_grid(day.free & day.room(task))
        if day.fits(task, room & day.unplanned):
            yield f"{said} the plan leaves {_describe_room(day, task, room & day.unplanned)} free"
        elif BLAMED.search(reason) and day.fits(task, room):
            yield f"{said} without other tasks it has {_describe_room(day, task, room)}"
        elif TASKS.search(reason) and not day.fits(task, room):
            yield f"{said} without other tasks it would have no room either"
        named = [rule["words"] for rule in day.rules if rule["words"] in QUOTED.findall(reason)]
        if named and not day.fits(task, day.on_grid(day.free & day.room(task, without=named))):
            yield f"{said} without that rule it would have no room either"


def policy_task(day: Day, left: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return lunch or the shutdown as a task within its limits."""
    base = {"id": left["id"], "after": [], "splittable": False}
    if left["id"].startswith("shutdown-"):
        meetings = [event.end for event in day.events if event.type == "M"]
        end = (day.begin + max(meetings, default=0) * MINUTE).isoformat()
        return {**base, "type": "PR", "minutes": day.policy["shutdown"], "not_before": end}
    if left["id"].startswith("lunch-") and day.lunch is not None:
        window = lunch_window(day)
        limits = {"not_before": window.start, "deadline": window.stop}
        instants = {name: (day.begin + minute * MINUTE).isoformat() for name, minute in limits.items()}
        return {**base, "type": "R", "minutes": day.lunch["shortest"], **instants}
    return None


def _describe_room(day: Day, task: Mapping[str, Any], minutes: set[int]) -> str:
    least = task["min_chunk"] if task["splittable"] else task["minutes"]
    return ", ".join(day.describe(run) for run in runs(minutes) if len(run) >= least)


def _is_counted(day: Day, task: Mapping[str, Any]) -> bool:
    """Check whether a must other than a window limits a task, so that free minutes alone say nothing."""
    return any(
        rule["necessity"] == "must"
        and (concerns(rule, task) or "M" in rule["applies_event_types"])
        and not rule["payload"].get("windows")
        for rule in day.rules
    )


JUDGES: dict[str, Callable[[Day], Findings]] = {
    "frame": judge_frame,
    "required": judge_required,
    "musts": judge_musts,
    "one thing": judge_one_thing,
    "lunch": judge_lunch,
    "pauses": judge_pauses,
    "meetings": judge_meetings,
    "order": judge_order,
    "best hours": judge_best_hours,
    "switches": judge_kinds,
    "slack": judge_slack,
    "shutdown": judge_shutdown,
    "left out": judge_left_out,
    "due": judge_due,
    "due today": judge_due_today,
    "reasons": judge_reasons,
}


def find_all(day: Day) -> list[str]:
    """Return all findings, each after the name of its point."""
    return [f"{point}: {finding}" for point, judge in JUDGES.items() for finding in judge(day)]
