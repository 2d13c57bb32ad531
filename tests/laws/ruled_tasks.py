"""Random workflows for tasks, the world in which their work is done, and plans that their rules allow.

The world knows nothing of the gate: it says what is so at each step when the steps are really taken, and an independent
evaluator (``tests.laws.ltlf``) says whether the rules allow that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import yaml
from tests.factories import rules as draw
from tests.laws import ltlf

KINDS = ("plan", "command", "file", "tag", "session", "approval", "signed", "judged")
LOOKED_UP = frozenset({"command", "file"})
OF_THE_PERSON = frozenset({"session", "approval", "signed"})
"""Kinds that only the person can tell. The file of a signed one always says yes: it is forged."""
Steps = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Fact:
    """A state of a random workflow: how it is determined, and the actions that set and clear it."""

    name: str
    kind: str
    set_by: frozenset[str]
    cleared_by: frozenset[str]

    def check(self) -> dict[str, Any]:
        match self.kind:
            case "command":
                return {"check": {"command": self.name}}
            case "file":
                return {"check": {"file": f"{self.name}.txt", "contains": "yes"}}
            case "tag":
                return {"check": {"task": "tags", "contains": self.name}}
            case "session":
                return {"check": {"session": self.name}}
            case "approval":
                return {"check": {"task": "body", "contains": f"## {self.name}"}, "or": {"user_stated": self.name}}
            case "signed":
                return {"check": {"file": f"{self.name}.txt", "contains": "yes"}, "or": {"user_stated": self.name}}
            case "judged":
                return {"check": f"whether it is {self.name}"}
            case _:
                return {}

    @property
    def needs_person(self) -> bool:
        """True if an agent's steps prove nothing about it, and no look does."""
        return self.kind in OF_THE_PERSON


@dataclass(frozen=True)
class RuledTask:
    """A workflow, and what is so before anything is done. ``ends`` says whether pulling and ending are steps."""

    facts: tuple[Fact, ...]
    rules: tuple[draw.Rule, ...]
    ends: bool
    before: Mapping[str, bool]

    def text(self, name: str) -> str:
        ends = ["claim_task", "close_task"] if self.ends else []
        document: dict[str, Any] = {
            "workflow": name,
            "actions": [*draw.ACTIONS, *ends],
            "predicates": {
                fact.name: {
                    **fact.check(),
                    "set_by": sorted(fact.set_by),
                    "cleared_by": sorted(fact.cleared_by),
                }
                for fact in self.facts
            },
            "constraints": [{"rule": draw.text(*rule)} for rule in self.rules],
        }
        return str(yaml.safe_dump(document, sort_keys=False))

    def trace(self, steps: Steps) -> list[dict[str, list[str]]]:
        """Return the true facts and the actions of each step, including the steps of claiming and closing."""
        taken = [("claim_task",), *steps, ("close_task",)] if self.ends else list(steps) or [()]
        so, found = dict(self.before), list[dict[str, list[str]]]()
        for do in taken:
            found.append({"do": list(do), "true": [name for name, holds in so.items() if holds], "unknown": []})
            so = self.after(so, do)
        return found

    def after(self, so: Mapping[str, bool], do: Sequence[str]) -> dict[str, bool]:
        now = dict(so)
        for fact in self.facts:
            if not (fact.set_by | fact.cleared_by).isdisjoint(do):
                now[fact.name] = not fact.set_by.isdisjoint(do)
        return now

    def list_broken(self, trace: Sequence[Mapping[str, Sequence[str]]]) -> list[str]:
        """Return the rules that a trace breaks or may break when it ends."""
        found = [(rule, ltlf.judge_rule(*rule, trace, closed=True)[0]) for rule in self.rules]
        return [f"{verdict}: {draw.text(*rule)}" for rule, verdict in found if verdict in {"violated", "unknown"}]

    def forbids(self, taken: Steps, do: tuple[str, ...]) -> bool:
        """Check whether a step breaks a rule that the steps before it have not broken, whatever comes later."""
        before, after = (self._trace_begun(steps) for steps in (taken, (*taken, do)))
        return any(_find_violations(rule, after) - _find_violations(rule, before) != frozenset() for rule in self.rules)

    def _trace_begun(self, steps: Steps) -> list[dict[str, list[str]]]:
        return self.trace(steps)[:-1] if self.ends else self.trace(steps)[: len(steps)]

    def plans(self, random: Random, taken: Steps = (), tries: int = 60) -> Iterator[Steps]:
        """Yield continuations of the steps ``taken`` that the rules allow, the shortest first."""
        drawn = [tuple(draw_step(random) for _ in range(random.randint(0, 4))) for _ in range(tries)]
        for steps in sorted({*drawn, ()}, key=lambda each: (len(each), each)):
            if not self.list_broken(self.trace((*taken, *steps))):
                yield steps


def _find_violations(rule: draw.Rule, trace: Sequence[Mapping[str, Sequence[str]]]) -> frozenset[int]:
    verdict, at = ltlf.judge_rule(*rule, trace, closed=False)
    return frozenset(at if verdict == "violated" else ())


def draw_step(random: Random) -> tuple[str, ...]:
    """Return one or two actions."""
    return tuple(sorted(random.sample(draw.ACTIONS, random.choice((1, 1, 1, 2)))))


def ruled_task(random: Random) -> RuledTask:
    """Return a workflow with two or three rules that no step breaks by itself."""
    facts = tuple(_fact(random, name) for name in draw.STATES)
    before = {fact.name: random.random() < 0.5 and not fact.set_by for fact in facts}
    rules = tuple(
        {draw.text(*rule): rule for rule in (draw.rule(random) for _ in range(random.randint(2, 3)))}.values()
    )
    return RuledTask(facts, rules, ends=random.random() < 0.6, before=before)


def _fact(random: Random, name: str) -> Fact:
    kind = random.choice(KINDS)
    alone = kind in {"tag", "session", "judged"} or random.random() < 0.3
    touching = random.sample(draw.ACTIONS, 2)
    set_by = frozenset() if alone and kind != "plan" else frozenset(touching[:1])
    cleared_by = frozenset(touching[1:]) if set_by and random.random() < 0.5 else frozenset()
    return Fact(name, kind, set_by, cleared_by)
