"""A workflow: rules, the names they speak of, and when they apply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fateforger.workflow.checking import StatedRule
from fateforger.workflow.predicates import Predicate
from fateforger.workflow.vocabulary import Names


@dataclass(frozen=True, slots=True)
class Workflow:
    """``rules`` are those it inherits, as far as it did not disable them, and then its own. Each predicate declares a
    state."""

    name: str
    description: str
    applies_when: tuple[str, ...] = ()
    not_when: tuple[str, ...] = ()
    actions: frozenset[str] = frozenset()
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    rules: tuple[StatedRule, ...] = ()

    @property
    def vocabulary(self) -> Names:
        """The names that its rules may use."""
        return Names(self.actions, frozenset(self.predicates))

    def applies(self, situation: Collection[str]) -> bool:
        """Whether it is for a situation, of which those of its sentences are given that are true of it."""
        return not set(self.applies_when).isdisjoint(situation) and set(self.not_when).isdisjoint(situation)
