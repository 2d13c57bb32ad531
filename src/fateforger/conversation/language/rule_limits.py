"""What else a message says about a rule: its moment, how long it is kept, and the days and steps it counts for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fateforger.conversation.language.answer_types import Clock
from fateforger.limits import MAX_KEPT_DAYS, MAX_TAG_CHARS, MAX_TOPICS
from fateforger.memory.record import fold_label
from fateforger.memory.vocabulary import Source, Status
from fateforger.values import Value

StageName = Literal["DATE", "COLLECT", "CAPTURE", "SKELETON", "REFINE", "REVIEW"]
Label = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)]


class RuleLimits(Value):
    """What else limits a rule, as far as the message says it; null leaves a part as it is."""

    at: Clock | None = None
    """Time of a slot that is a moment of the day."""
    kept_days: Annotated[int, Field(ge=1, le=MAX_KEPT_DAYS)] | None = None
    only_with: Annotated[tuple[Label, ...], Field(max_length=MAX_TOPICS)] | None = None
    only_without: Annotated[tuple[Label, ...], Field(max_length=MAX_TOPICS)] | None = None
    stages: Annotated[tuple[StageName, ...], Field(max_length=MAX_TOPICS)] | None = None
    source: Source | None = None
    unsure: bool | None = None
    """They are not sure of it themselves, so that they are asked again."""

    def to_fields(self) -> dict[str, Any]:
        """Return the fields of a record, by group, without the time of a slot."""
        conditions = {"conditional_on_present": self.only_with, "conditional_on_absent": self.only_without}
        aspect = {
            name: [fold_label(one) for one in labels] for name, labels in conditions.items() if labels is not None
        }
        life = {} if self.kept_days is None else {"ttl_days": self.kept_days}
        core = {"applies_stages": self.stages, "source": self.source, "needs_confirmation": self.unsure}
        groups = {"aspect_classification": aspect, "lifecycle": life}
        return {
            **{name: value for name, value in core.items() if value is not None},
            **({"status": Status.PROPOSED} if self.unsure else {}),
            **{name: group for name, group in groups.items() if group},
        }
