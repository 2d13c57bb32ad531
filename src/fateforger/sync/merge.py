"""Three-way merge of one event, field by field: our last write, the calendar, and the plan.

    plan changed | person changed | result
    -------------+----------------+------------------------------------------------------
    no           | no             | stays
    yes          | no             | the plan's value
    no           | yes            | the person's value, to be adopted by the plan
    yes          | yes, the same  | stays
    yes          | yes            | a conflict: the side the person chose; if undecided, it stays, and they are asked

The person's answers take precedence over the table: a side they chose stays chosen, and a field they were asked about
is not written before they answer. The two ends of a block belong together: if they disagree at either end, or the
mixture would end before it starts, the winning side gives both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fateforger.sync.canonical import Canon
from fateforger.sync.choices import FIELDS, TOPICS, Keep, Rules
from fateforger.sync.model import MANAGED

_ASK = Rules()


@dataclass(frozen=True, slots=True)
class FieldMerge:
    """The result of a merge.

    ``result`` is what the event shall show. ``adopted`` are the fields that keep the person's value although the plan
    has another, ``conflicts`` those that both sides changed, with the winner of each.
    """

    result: Canon
    adopted: frozenset[str] = frozenset()
    conflicts: Mapping[str, Keep] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Check whether a question remains."""
        return "open" in self.conflicts.values()


def merge(*, wanted: Canon, base: Canon, theirs: Canon, ours: Canon, rules: Rules = _ASK) -> FieldMerge:
    """Merge one event.

    ``wanted`` and ``base`` are the two sides at our last write: what the plan asked for and what the calendar showed.
    """
    if ours == theirs:
        return FieldMerge(theirs)
    result = list(theirs)
    adopted: set[str] = set()
    conflicts: set[str] = set()
    for place, name in enumerate(MANAGED):
        if ours[place] == theirs[place]:
            continue
        plan_changed, person_changed = ours[place] != wanted[place], theirs[place] != base[place]
        said = rules.answer(TOPICS[name])
        if (plan_changed and person_changed) or said in {"plan", "calendar"} or (said == "open" and plan_changed):
            conflicts.add(name)
        elif plan_changed:
            result[place] = ours[place]
        elif person_changed:
            adopted.add(name)
    merged = Canon(*result)  # type: ignore[arg-type]  # each place keeps its own type
    if conflicts & {*FIELDS["time"]} or merged.end <= merged.start:
        conflicts.update(FIELDS["time"])
    winners = {name: rules.winner(TOPICS[name]) for name in MANAGED if name in conflicts}
    merged = merged._replace(**{n: getattr(ours if who == "plan" else theirs, n) for n, who in winners.items()})
    return FieldMerge(merged, frozenset(adopted - conflicts), winners)
