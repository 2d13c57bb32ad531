"""Choices between the plan and the person's own change, given by the person or implied by what they saw.

A choice is about what the calendar showed at the time. Once the calendar shows something else it expires, and the
person is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.sync.canonical import Canon, canonicalize
from fateforger.sync.model import EventFields

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


class Answer(BaseModel):
    """The person's answer on one topic of an event while the calendar showed ``calendar`` (``None``: deleted).

    ``keep`` is ``open`` for a question that is not answered yet.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    event_id: str
    topic: Topic
    keep: Keep
    calendar: EventFields | None


class Choices(BaseModel):
    """All choices that apply to one comparison.

    ``seen`` holds, by event id, what the person saw when the plan became what it is (``None``: deleted). If the
    calendar still shows that, the plan's value is their intention and wins. ``answers`` take precedence over it.
    ``otherwise`` applies if there is neither; ``deletions``, if set, replaces it for deleted blocks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
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
            if agrees_on(answer.topic, None if answer.calendar is None else canonicalize(answer.calendar), theirs)
        }
        seen = self.seen.get(event_id)
        rest = self.deletions if theirs is None and self.deletions is not None else self.otherwise
        return Rules(
            theirs, said, known=event_id in self.seen, seen=None if seen is None else canonicalize(seen), rest=rest
        )


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
