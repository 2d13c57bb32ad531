"""Drafts that beat another draft of the same day: they keep all that it keeps, and one thing more.

A rival is drafted with the same objective, but everything that the draft keeps is required, and one thing more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.judge.day import Day, cover
from tests.judge.findings import find_all, lunch_near

from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import build_context
from fateforger.drafting.instance import Instance, read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.placement import Placement
from fateforger.drafting.routines import with_routines
from fateforger.drafting.solver import STEPS, solve_context, to_draft
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.task_details import LUNCH
from fateforger.quality.model import Criterion
from fateforger.quality.rubric import grade_plan
from fateforger.values import replace

RULES = {Criterion.SHOULD, Criterion.WISH}


@dataclass(frozen=True)
class Comparison:
    """The things that a draft misses by its card, by the judge and by the policy of the day.

    ``missed`` counts blocks against a rule, and minutes where something lacks minutes. ``broken`` are the rules that
    are not kept, and ``left`` the tasks without a place.
    """

    missed: Counter[str]
    broken: frozenset[str]
    left: frozenset[str]

    def is_beaten_by(self, other: Comparison) -> bool:
        return self.missed > other.missed


def find_rivals(document: dict[str, object]) -> list[str]:
    """Return what other drafts of a day keep in addition to all that its own draft keeps."""
    instance = with_routines(read_instance(document))
    mine = _draft(instance, instance)
    assert mine is not None
    rivals = ((what, _draft(other, instance)) for what, other in _stricter(instance, mine))
    return [f"{what}: {mine.missed - rival.missed}" for what, rival in rivals if rival and mine.is_beaten_by(rival)]


def _stricter(instance: Instance, mine: Comparison) -> Iterator[tuple[str, Instance]]:
    """Yield the day with all that a draft keeps required, and one more task or rule at a time."""
    for more in (*sorted(mine.left), *sorted(mine.broken)):
        tasks = (replace(t, required=t.id not in mine.left or t.id == more) for t in instance.tasks)
        rules = (
            each
            if each.id in mine.broken and each.id != more
            else replace(each, constraint_record=replace(each.constraint_record, necessity=Necessity.MUST))
            for each in instance.constraints
        )
        yield more, replace(instance, tasks=tuple(tasks), constraints=tuple(rules))


def _draft(drafted: Instance, asked: Instance) -> Comparison | None:
    """Judge the draft of a day by what was asked for; return ``None`` if a stricter day cannot keep every must."""
    result = solve_context(build_context(drafted), steps=STEPS)
    if result.relaxed and drafted is not asked:
        return None
    draft = to_draft(result)
    day = Day(json.loads(asked.model_dump_json(exclude_none=True)), json.loads(json.dumps(write_draft(draft))))
    missed: Counter[str] = Counter()
    broken = set()
    for found in grade_plan(asked, draft.plan, draft.unplaced).findings:
        if found.criterion not in {Criterion.UNPLACED, Criterion.ONE_THING}:
            missed[f"{found.criterion}-{found.cause}"] += len(found.keys) or 1
        if found.criterion in RULES and found.cause:
            broken.add(found.cause)
    missed.update(f"left-{each.id}" for each in draft.unplaced)
    missed.update(f"judge-{finding.partition(':')[0]}" for finding in find_all(day))
    missed.update(_measure(day))
    problem = compile_problem(build_context(asked))
    taken = Placement(problem, result.placed).taken
    missed["free time"] += sum(max(0, (taken & opened).bit_count() - most) for opened, most in problem.slack)
    tasks = {task.id for task in asked.tasks}
    return Comparison(missed, frozenset(broken), frozenset(each.id for each in draft.unplaced if each.id in tasks))


def _measure(day: Day) -> dict[str, int]:
    """Return the minutes by which lunch is too short or off its hour, and those of rest outside its hours."""
    lunch = next((block for block in day.blocks if (block.task or "").startswith(f"{LUNCH}-")), None)
    rest = [task for task in day.tasks.values() if task["type"] not in {"DW", "SW"} and task["energy"]]
    away = sum(len(cover(day.pieces(task["id"])) - (day.best_hours(task) or set())) for task in rest)
    found = {
        "minutes-of-lunch": 45 - (0 if lunch is None else lunch.minutes),
        "minutes-to-the-hour-of-lunch": 0 if lunch is None else abs(lunch.start - lunch_near(day)),
        "minutes-of-rest-outside-its-hours": away,
    }
    return {name: minutes for name, minutes in found.items() if minutes}
