"""Who wins where the plan and the person changed the same: the person, by what they said or by what they had in view.

A choice is about what the calendar showed when it was made. As soon as the calendar shows something else it says
nothing any more, and the person is asked anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.sync.canonical import Canon, canon
from fateforger.sync.model import EventFields

Topic = Literal["time", "summary", "description", "color_id", "deleted"]
"""What one question is about. Start and end belong together; ``deleted`` is the block as a whole."""
Keep = Literal["calendar", "plan", "open"]
"""Whose value stays; ``open``: nobody chose, so the calendar stays as it is and the person is asked."""

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


def same_in(topic: Topic, one: Canon | None, other: Canon | None) -> bool:
    """Whether two sides agree about a topic; ``None`` is a block that is not there."""
    if one is None or other is None:
        return one is other
    return all(getattr(one, name) == getattr(other, name) for name in FIELDS[topic])


class Answer(BaseModel):
    """What the person said about one topic of an event while the calendar showed ``calendar`` (``None``: deleted).
    ``keep`` is ``open`` for a question that was not answered yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    event_id: str
    topic: Topic
    keep: Keep
    calendar: EventFields | None


class Choices(BaseModel):
    """All choices that count for one comparison.

    ``seen`` is what the person had in view when the plan became what it is, by event id (``None``: deleted): where the
    calendar still shows that, the plan's value is a wish of theirs and wins. ``answers`` go before that. ``otherwise``
    is what happens where there is neither, ``deletions`` the same for blocks that are gone, where that is another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    seen: Mapping[str, EventFields | None] = Field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    otherwise: Keep = "open"
    deletions: Keep | None = None

    def rules(self, event_id: str, theirs: Canon | None) -> Rules:
        """The choices about one event that shows ``theirs`` now."""
        said = {
            answer.topic: answer.keep
            for answer in self.answers
            if answer.event_id == event_id
            if same_in(answer.topic, None if answer.calendar is None else canon(answer.calendar), theirs)
        }
        seen = self.seen.get(event_id)
        rest = self.deletions if theirs is None and self.deletions is not None else self.otherwise
        return Rules(theirs, said, known=event_id in self.seen, seen=None if seen is None else canon(seen), rest=rest)


@dataclass(frozen=True, slots=True)
class Rules:
    """Who wins each topic of one event."""

    theirs: Canon | None = None
    said: Mapping[Topic, Keep] | None = None
    known: bool = False
    seen: Canon | None = None
    rest: Keep = "open"

    def answer(self, topic: Topic) -> Keep | None:
        """What the person said, if they said anything; ``open`` when they were asked and have not answered."""
        return None if self.said is None else self.said.get(topic)

    def winner(self, topic: Topic) -> Keep:
        """Who wins when both sides changed the topic."""
        if (answer := self.answer(topic)) is not None:
            return answer
        return "plan" if self.known and same_in(topic, self.seen, self.theirs) else self.rest


NOTHING_SAID = Choices()
