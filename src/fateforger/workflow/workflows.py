"""Workflow: rules, the names they use, and the situations they apply to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fateforger.workflow.checking import StatedRule
from fateforger.workflow.predicates import Predicate
from fateforger.workflow.vocabulary import Names


@dataclass(frozen=True, slots=True)
class Workflow:
    """Rules with the names they use.

    ``rules`` holds the inherited rules that are not disabled, followed by the workflow's own. Each predicate declares a
    state.
    """

    name: str
    description: str
    applies_when: tuple[str, ...] = ()
    not_when: tuple[str, ...] = ()
    actions: frozenset[str] = frozenset()
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    rules: tuple[StatedRule, ...] = ()

    @property
    def vocabulary(self) -> Names:
        """Names that the rules may use."""
        return Names(self.actions, frozenset(self.predicates))

    def applies(self, situation: Collection[str]) -> bool:
        """Check whether the workflow applies to a situation, given the sentences that are true of it."""
        return not set(self.applies_when).isdisjoint(situation) and set(self.not_when).isdisjoint(situation)
