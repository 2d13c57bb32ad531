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

A choice is about what the calendar showed at the time. Once the calendar shows something else it expires, and the
person is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from fateforger.calendar.event import (
    MANAGED,
    Canon,
    EventFields,
)
from fateforger.values import Value

Topic = Literal["time", "summary", "description", "color_id", "deleted"]
"""The topic of one question. Start and end belong together; ``deleted`` is the block as a whole."""
Keep = Literal["calendar", "plan", "open"]
"""The side whose value stays; ``open``: undecided, so the calendar stays as it is and the person is asked."""

FIELDS: Mapping[Topic, tuple[str, ...]] = {
    "time": ("start", "end"),
    "summary": ("summary",),
    "description": ("description",),
    "color_id": ("color_id",),
    "deleted": (),
}
TOPICS: Mapping[str, Topic] = {
    "deleted": "deleted",
    **{name: topic for topic, names in FIELDS.items() for name in names},
}


def agrees_on(topic: Topic, one: Canon | None, other: Canon | None) -> bool:
    """Check whether two sides agree on a topic; ``None`` is a missing block."""
    if one is None or other is None:
        return one is other
    return all(getattr(one, name) == getattr(other, name) for name in FIELDS[topic])


class Answer(Value):
    """The person's answer on one topic of an event while the calendar showed ``calendar`` (``None``: deleted).

    ``keep`` is ``open`` for a question that is not answered yet.
    """

    event_id: str
    topic: Topic
    keep: Keep
    calendar: EventFields | None


class Choices(Value):
    """All choices that apply to one comparison.

    ``seen`` holds, by event id, what the person saw when the plan became what it is (``None``: deleted). If the
    calendar still shows that, the plan's value is their intention and wins. ``answers`` take precedence over it.
    ``otherwise`` applies if there is neither; ``deletions``, if set, replaces it for deleted blocks.
    """

    seen: Mapping[str, EventFields | None] = Field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    otherwise: Keep = "open"
    deletions: Keep | None = None

    def rules(self, event_id: str, theirs: Canon | None) -> Rules:
        """Return the choices about one event that shows ``theirs`` now."""
        said = {
            answer.topic: answer.keep
            for answer in self.answers
            if answer.event_id == event_id
            if agrees_on(answer.topic, None if answer.calendar is None else answer.calendar.canon, theirs)
        }
        seen = self.seen.get(event_id)
        rest = self.deletions if theirs is None and self.deletions is not None else self.otherwise
        return Rules(theirs, said, known=event_id in self.seen, seen=None if seen is None else seen.canon, rest=rest)


@dataclass(frozen=True, slots=True)
class Rules:
    """The choices about one event, by topic."""

    theirs: Canon | None = None
    said: Mapping[Topic, Keep] | None = None
    known: bool = False
    seen: Canon | None = None
    rest: Keep = "open"

    def answer(self, topic: Topic) -> Keep | None:
        """Return the person's answer, if any; ``open`` if they were asked and have not answered."""
        return None if self.said is None else self.said.get(topic)

    def winner(self, topic: Topic) -> Keep:
        """Return the winning side for a topic that both sides changed."""
        if (answer := self.answer(topic)) is not None:
            return answer
        return "plan" if self.known and agrees_on(topic, self.seen, self.theirs) else self.rest


NOTHING_SAID = Choices()


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
    if not conflicts:
        return FieldMerge(merged, frozenset(adopted))
    winners = {name: rules.winner(TOPICS[name]) for name in MANAGED if name in conflicts}
    merged = merged._replace(**{n: getattr(ours if who == "plan" else theirs, n) for n, who in winners.items()})
    return FieldMerge(merged, frozenset(adopted - conflicts), winners)
