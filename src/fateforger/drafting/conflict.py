"""Find a minimal set of conflicting musts, in the person's words, and the easiest one to give up.

The set is found by QuickXplain: its members cannot all be kept, but without any one of them the rest can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fateforger.constraints.wording import format_day, join_words, quote_name
from fateforger.drafting.compile import compile_problem
from fateforger.drafting.feasible import NODES, Feasibility, check_feasibility
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.minutes import in_words
from fateforger.drafting.model import Member, MustConflict
from fateforger.drafting.naming import minutes_of, must_ids

_QUICK = 1_200
"""Steps per feasibility check while the set is narrowed down."""
_ASSUMED, _TASK, _SAID, _PINNED = range(4)


def find_conflict(
    ground: DraftContext, relaxed: frozenset[str] = frozenset(), nodes: int = NODES
) -> MustConflict | None:
    """Return a minimal set of conflicting musts.

    Returns ``None`` when there is none, or none that ``nodes`` steps per check can prove.
    """
    musts = [must for must in must_ids(ground) if must not in relaxed]

    def can_keep(some: Sequence[str], steps: int = _QUICK) -> bool:
        left_out = frozenset(musts).difference(some) | relaxed
        return check_feasibility(compile_problem(ground, left_out), steps)[0] is not Feasibility.NO

    if can_keep(musts, nodes):
        return None
    members = _minimize(can_keep, [], [], musts)
    # An undecided quick check may leave too much in the set: check the few members for longer.
    for member in tuple(members):
        fewer = [other for other in members if other != member]
        if not can_keep(fewer, nodes):
            members = fewer
    told = [_member(ground, each) for each in members]
    least = min(told, key=lambda m: _cost(ground, m.id))
    return MustConflict(tuple(told), least.id, _sentence(told, least))


def _minimize(
    can_keep: Callable[[Sequence[str]], bool], ground: Sequence[str], added: Sequence[str], rest: list[str]
) -> list[str]:
    """Return the part of ``rest`` that is needed for the conflict with ``ground``.

    ``added`` is the newest part of ``ground``.
    """
    if added and not can_keep(ground):
        return []
    if len(rest) == 1:
        return rest
    one, other = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    second = _minimize(can_keep, [*ground, *one], one, other)
    first = _minimize(can_keep, [*ground, *second], second, one)
    return [*first, *second]


def _member(ground: DraftContext, must: str) -> Member:
    rule = next((r for r in ground.rules if r.id == must and r.must), None)
    if rule is not None:
        when = "" if rule.said_on is None else f" (you said so on {format_day(rule.said_on)})"
        return Member(must, rule.words, f"{quote_name(rule.words)}{when}", "let this rule go for the day")
    task = next((t for t in ground.instance.tasks if t.id == must and t.required), None)
    if task is not None:
        long = in_words(minutes_of(task, ground.instance.policy.block))
        due = "" if task.deadline is None else f", due by {task.deadline:%H:%M}"
        return Member(must, task.title, f"{quote_name(task.title)} has to be done ({long}{due})", "let it wait")
    pin = next(p for p in ground.instance.pinned if p.key == must)
    title = pin.title or next((b.event.name for b in ground.previous if b.key == pin.key), pin.key)
    return Member(must, title, f"{quote_name(title)} stays where it is", "let it move")


def _cost(ground: DraftContext, must: str) -> tuple[int, int, float]:
    """Return a sort key: first assumed rules, then the least important task, stated rules, and pins."""
    rule = next((r for r in ground.rules if r.id == must and r.must), None)
    if rule is not None:
        return (_ASSUMED if rule.assumed else _SAID), 0, rule.confidence
    task = next((t for t in ground.instance.tasks if t.id == must and t.required), None)
    if task is not None:
        return _TASK, -task.priority, 0.0
    return _PINNED, 0, 0.0


def _sentence(members: Sequence[Member], least: Member) -> str:
    if len(members) == 1:
        return f"There is no way to keep this on that day: {members[0].said}."
    what = join_words([member.said for member in members])
    return f"These cannot all be kept: {what}. The easiest to give up is {quote_name(least.words)}: {least.remedy}."
