"""The gate of a task's workflow: what may be done next, and whether the task may be done now (S136, S162).

Every entry point asks here; none of them judges by itself. The states at each step come from what was looked up; where
that is silent, from the steps that set and clear them; and where these are silent, from what the person states. A step
of an agent proves only what names no other judge (:attr:`Predicate.is_reportable`). What is still unknown is asked, and
blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fateforger.errors import BadInput
from fateforger.tasks.task import COARSE, IN_HAND, PROBE, Progress, QueuedTask, ReviewParts, TaskState
from fateforger.tasks.workflows import state_words
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message, quote_title
from fateforger.values import replace
from fateforger.workflow.conformance import CheckedRule, Verdict, check, explain_refusal, name_rules, word_name
from fateforger.workflow.definition import Workflow
from fateforger.workflow.rules import suggest_names
from fateforger.workflow.trace import Facts, KnownValues, NothingAllowed, Predicate, Step, build_step, evaluate

CLAIM, CLOSE = "claim_task", "close_task"
"""Actions that pulling a task and saying that it is done amount to, in a workflow that declares them."""
OF_THE_QUEUE = {"one_task_in_progress": True, "changes_tracked_in_task": True}
"""Facts that the queue guarantees: one claim at a time, and each step stored with its task."""
MOST_NAMED = 3
"""Rules that a refusal names; with those mended, the next ones are."""
Seen = Mapping[str, bool]
"""States that were looked up, by name."""
NOTHING_SEEN: Seen = {}
YOU_SAID = mark_message("You said that it is done.")


@dataclass(frozen=True, slots=True)
class Report:
    """The work done for a task, as its person or an agent reports it.

    ``steps`` are the actions of each step, in order. ``met`` are the positions of the criteria that are met.
    ``stated`` are states that the person says hold, or do not.
    """

    steps: tuple[tuple[str, ...], ...] = ()
    met: tuple[int, ...] = ()
    stated: Mapping[str, bool] = field(default_factory=dict)
    by_agent: bool = False


def read_steps(did: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return steps from the names of actions; ``a+b`` does two in one step."""
    steps = (tuple(name.strip() for name in step.split("+") if name.strip()) for step in did)
    return tuple(step for step in steps if step)


def spell_steps(lines: Sequence[str], workflow: Workflow) -> tuple[str, ...]:
    """Return written steps by the names of their actions. Case, spaces and underscores make no difference.

    Raises ``BadInput`` for a step that the workflow does not know.
    """
    known = {_simplify(name): name for name in workflow.actions}
    steps = []
    for line in lines:
        names = [known.get(_simplify(part)) for part in line.split("+")]
        if None in names:
            listed = ", ".join(map(word_name, list_steps(workflow)))
            raise BadInput(
                _("I do not know the step “{line}”. There are: {steps}.", line=line, steps=listed), where="order"
            )
        steps.append("+".join(filter(None, names)))
    return tuple(steps)


def _simplify(name: str) -> str:
    return " ".join(word_name(name).casefold().split())


@dataclass(frozen=True, slots=True)
class Judgment:
    """A task with a report, and what the rules say of it.

    ``broken`` are the rules that it breaks. ``open`` are those that depend on the states ``questions``, which nobody
    has determined. While there are any of these, the task is not done.
    """

    task: QueuedTask
    broken: tuple[CheckedRule, ...] = ()
    open: tuple[CheckedRule, ...] = ()
    questions: tuple[Predicate, ...] = ()


async def look_up(
    task: QueuedTask, workflow: Workflow | None, tasks: Sequence[QueuedTask], facts: Facts, *, at_once: bool = False
) -> Seen:
    """Return the states that can be determined now, by name.

    ``tasks`` are all of the person's. With ``at_once`` no file is read and no command is run.
    """
    if workflow is None:
        return NOTHING_SEEN
    named = {name for each in workflow.rules for name in each.rule.names}
    wanted = [_drop_forgeable(each, task) for name, each in workflow.predicates.items() if name in named]
    known = KnownValues(session=OF_THE_QUEUE, task=_describe(task, tasks))
    found = await evaluate(wanted, known, NothingAllowed() if at_once else facts)
    return {state.name: state.holds for state in found if state.holds is not None}


_WRITTEN = frozenset({"body", "title", "project", "tags"})
"""Fields of a task that whoever adds it writes."""


def _drop_forgeable(predicate: Predicate, task: QueuedTask) -> Predicate:
    """Return the predicate without checks that whoever does the work could pass alone, if it is an approval.

    These are checks of files, and of the text of a task that an agent has added.
    """
    if not predicate.is_approval:
        return predicate
    own_text = task.origin.door == "mcp"
    kept = (
        check
        for check in predicate.checks
        if check.kind != "file" and not (own_text and check.kind == "task" and check.about in _WRITTEN)
    )
    return replace(predicate, checks=tuple(kept))


def _describe(task: QueuedTask, everything: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return the fields of a task that checks may ask for."""
    spec = task.spec
    parts = [each for each in everything if each.goal == task.id]
    reviews = [each for each in parts if isinstance(each.spec.work, ReviewParts)]
    tags = [tag.casefold() for each in parts for tag in each.spec.tags]
    coarse = [each for each in parts if each not in reviews and PROBE not in each.spec.tags]
    body = (spec.context, *spec.relevant_files, *spec.acceptance_criteria)
    known: dict[str, Any] = {
        "body": "\n".join(body),
        "title": spec.title,
        "project": spec.project,
        "priority": str(spec.priority),
        "tags": list(spec.tags),
        "state": task.state.value,
        "status": task.state.value,
        "actionable": "true",
        "over_decomposed": "true" if len(coarse) > COARSE else "false",
    }
    if parts:
        known["children"] = [*tags, *(["review"] if reviews else [])]
    if reviews:
        known["review"] = "done" if any(each.state is TaskState.DONE for each in reviews) else reviews[0].state.value
    return known


def add_report(task: QueuedTask, workflow: Workflow, report: Report, seen: Seen) -> QueuedTask:
    """Return the task with the reported steps, and with the states as each began.

    What was ``seen`` holds since the last step that touches it; the text of a task, which steps do not change, says
    nothing about later steps than those. What is stated holds from now on; where it was unknown, as the steps say then.
    Raises ``BadInput`` for a name that the workflow does not know.
    """
    _check_names(workflow, report)
    reported = _begin_with_claim(task, workflow, report.steps)
    values = _begin(task, workflow, by_agent=report.by_agent)
    steps = list(task.steps)
    for do in reported:
        steps.append(build_step(values, do))
        values = _act(values, do, workflow, by_agent=report.by_agent)
    settled = set()
    for name, holds in seen.items():
        predicate = workflow.predicates[name]
        untouched = not any(predicate.touched_by(step.do) for step in steps)
        if predicate.looks or untouched or (holds and values[name] is None):
            values[name] = holds
            settled.add(name)
            _fill_back(steps, predicate, holds=holds, first=len(task.steps))
    for name in report.stated.keys() - settled:
        predicate, holds = workflow.predicates[name], report.stated[name]
        confirmed = _confirm(steps, predicate, holds=holds)
        if values[name] is None:
            values[name] = confirmed
        elif not any(predicate.touched_by(do) for do in reported):
            values[name] = holds
    return replace(task, steps=tuple(steps), standing=_drop_unknown(values))


def _begin_with_claim(
    task: QueuedTask, workflow: Workflow, steps: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], ...]:
    """Return the reported steps after that of claiming the task, if it was not pulled but came into hand otherwise."""
    if CLAIM not in workflow.actions or any(CLAIM in do for do in (*(step.do for step in task.steps), *steps)):
        return steps
    return ((CLAIM,), *steps) if steps else ()


def _check_names(workflow: Workflow, report: Report) -> None:
    for name in (name for do in report.steps for name in do):
        if name in workflow.predicates:
            raise BadInput(
                _("“{name}” is a state of “{workflow}”, and no step.", name=name, workflow=workflow.name), where="did"
            )
        if name not in workflow.actions:
            said = _("“{action}” is nothing that the workflow “{name}” knows.", action=name, name=workflow.name)
            raise BadInput(join_sentences(said, suggest_names(name, workflow.vocabulary).strip()), where="did")
    for name in report.stated:
        if name in workflow.actions:
            raise BadInput(
                _("“{name}” is a step of “{workflow}”, and no state.", name=name, workflow=workflow.name),
                where="stated",
            )
        if name not in workflow.predicates:
            said = _("“{state}” is nothing that the workflow “{name}” asks.", state=name, name=workflow.name)
            raise BadInput(join_sentences(said, suggest_names(name, workflow.vocabulary).strip()), where="stated")


def _begin(task: QueuedTask, workflow: Workflow, *, by_agent: bool) -> dict[str, bool | None]:
    """Return the states after the steps so far."""
    if task.standing is not None:
        return {name: task.standing.get(name) for name in workflow.predicates}
    values: dict[str, bool | None] = {
        name: False if each.set_by and not (by_agent and each.is_approval) else None
        for name, each in workflow.predicates.items()
    }
    for step in task.steps:
        values = _act(values, step.do, workflow, by_agent=False)
    return values


def _drop_unknown(values: Mapping[str, bool | None]) -> dict[str, bool]:
    return {name: holds for name, holds in values.items() if holds is not None}


def _act(
    values: Mapping[str, bool | None], do: Sequence[str], workflow: Workflow, *, by_agent: bool
) -> dict[str, bool | None]:
    """Return the states after a step."""
    after = dict(values)
    for name, predicate in workflow.predicates.items():
        if predicate.touched_by(do):
            told = not predicate.set_by.isdisjoint(do)
            believed = predicate.is_reportable or not by_agent or (predicate.is_approval and not told)
            after[name] = told if believed else None
    return after


def _fill_back(steps: list[Step], predicate: Predicate, *, holds: bool, first: int) -> None:
    """Give a state its value back to the last step that touches it; earlier reports keep what they knew."""
    for at in reversed(range(len(steps))):
        if predicate.touched_by(steps[at].do):
            return
        if at >= first or predicate.name in steps[at].unknown:
            steps[at] = _set_state(steps[at], predicate.name, holds=holds)


def _confirm(steps: list[Step], predicate: Predicate, *, holds: bool) -> bool:
    """Give a state its value where it is unknown, and return that after the last step.

    A state that holds does so from the step that sets it to the one that clears it. No step sets one that does not.
    """
    value = holds and all(predicate.set_by.isdisjoint(step.do) for step in steps)
    for at, step in enumerate(steps):
        if predicate.name in step.unknown:
            steps[at] = _set_state(step, predicate.name, holds=value)
        if predicate.touched_by(step.do):
            value = holds and not predicate.set_by.isdisjoint(step.do)
    return value


def _set_state(step: Step, name: str, *, holds: bool) -> Step:
    others = tuple(each for each in step.true if each != name)
    return replace(
        step,
        true=(*others, name) if holds else others,
        unknown=tuple(each for each in step.unknown if each != name),
    )


def judge_report(task: QueuedTask, workflow: Workflow, report: Report, seen: Seen, *, closes: bool) -> Judgment:
    """Return the task with the report, and the must-rules that object.

    With ``closes`` the task is over with it; without, it may go on, and only what the new steps break counts: they may
    also break what an earlier step called for.
    """
    after = add_report(task, workflow, report, seen)
    whole = _close(after, workflow, by_agent=report.by_agent) if closes else after
    checked = check(workflow.rules, whole.steps, workflow.vocabulary, closed=closes)
    stops = [each for each in checked if each.blocks]
    if not closes:
        before = check(workflow.rules, whole.steps[: len(task.steps)], workflow.vocabulary, closed=False)
        known = {each.stated.id: each for each in before}
        stops = [each for each in stops if _is_new(each, known[each.stated.id])]
    broken = tuple(each for each in stops if each.verdict is Verdict.VIOLATED)
    open_ = tuple(each for each in stops if each.verdict is Verdict.UNKNOWN)
    questions = _find_questions(open_, whole.steps, workflow)
    return Judgment(after if report.by_agent or not closes else whole, broken, open_, questions)


def _close(task: QueuedTask, workflow: Workflow, *, by_agent: bool) -> QueuedTask:
    """Return the task with the step of saying that it is done; without any step, the states are looked at once."""
    if CLOSE in workflow.actions and not (task.steps and CLOSE in task.steps[-1].do):
        return add_report(task, workflow, Report(((CLOSE,),), by_agent=by_agent), NOTHING_SEEN)
    if not task.steps:
        return replace(task, steps=(build_step(_begin(task, workflow, by_agent=by_agent)),))
    return task


def _is_new(checked: CheckedRule, before: CheckedRule) -> bool:
    """Check whether a rule is violated, or unknown, at other steps than before."""
    if checked.verdict is Verdict.VIOLATED:
        return not set(checked.violations) <= set(before.violations)
    return not set(checked.unknown) <= set(before.unknown)


def _find_questions(rules: Sequence[CheckedRule], steps: Sequence[Step], workflow: Workflow) -> tuple[Predicate, ...]:
    """Return the states that the open rules depend on, in the order in which the workflow declares them."""
    unknown = {name for step in steps for name in step.unknown}
    asked = {name for each in rules for name in each.stated.rule.names} & unknown
    return tuple(predicate for name, predicate in workflow.predicates.items() if name in asked)


def list_questions(task: QueuedTask, workflow: Workflow, seen: Seen) -> tuple[Predicate, ...]:
    """Return the states to ask a person for, together with what they did: no step determines them, or none did."""
    named = {name for each in workflow.rules for name in each.rule.names}
    left = {name for step in task.steps for name in step.unknown}
    return tuple(
        each
        for name, each in workflow.predicates.items()
        if name in named and name not in seen and (not each.set_by or name in left)
    )


def keep_progress(task: QueuedTask, progress: QueuedTask) -> QueuedTask:
    """Return the task with the steps of another version of it."""
    return replace(task, steps=progress.steps, standing=progress.standing)


def list_steps(workflow: Workflow) -> tuple[str, ...]:
    """Return the actions to report; pulling a task and saying that it is done are steps of their own."""
    return tuple(name for name in workflow.actions if name not in {CLAIM, CLOSE})


def begin_task(task: QueuedTask, workflow: Workflow | None, seen: Seen, *, by_agent: bool) -> QueuedTask:
    """Return a task that was pulled, with the step of claiming it. Raises ``BadInput`` if a rule forbids that."""
    if workflow is None or CLAIM not in workflow.actions:
        return task
    judged = judge_report(task, workflow, Report(((CLAIM,),), by_agent=by_agent), seen, closes=False)
    refuse_broken(judged)
    return judged.task


def record_steps(task: QueuedTask, workflow: Workflow, report: Report, seen: Seen, *, sure: bool = False) -> QueuedTask:
    """Return the task with the reported steps, to which more can follow.

    Raises ``BadInput`` with the remedy if a rule forbids them or, with ``sure``, if they depend on what is unknown.
    """
    judged = judge_report(task, workflow, report, seen, closes=False)
    refuse_broken(judged)
    if sure:
        refuse_open(judged)
    return judged.task


def note_steps(task: QueuedTask, workflow: Workflow, report: Report, seen: Seen) -> QueuedTask:
    """Return the task with the steps that the person notes; the note can be taken back.

    Raises ``BadInput`` with the remedy if a rule forbids them.
    """
    after = record_steps(task, workflow, report, seen)
    before = Progress(steps=task.steps, standing=task.standing, until=len(after.steps))
    return replace(after, noted=before)


def can_take_back(task: QueuedTask) -> bool:
    """Check whether the last note can be taken back: nothing was reported since."""
    return task.noted is not None and len(task.steps) == task.noted.until and task.state in IN_HAND


def take_back_note(task: QueuedTask) -> QueuedTask:
    """Return the task as it was before the last note. Raises ``BadInput`` if there is none, or more was reported."""
    if task.noted is None or not can_take_back(task):
        raise BadInput(_("There is no note about {title} to take back.", title=quote_title(task.spec.title)))
    return replace(task, steps=task.noted.steps, standing=task.noted.standing, noted=None)


def complete_task(
    task: QueuedTask,
    workflow: Workflow | None,
    report: Report,
    seen: Seen,
    outcome: str | None = None,
) -> QueuedTask:
    """Return the task as done, if every criterion is met and no rule objects.

    Raises ``BadInput`` with what is missing, and with the name of the field that can say it: ``met``, ``did`` or
    ``stated``.
    """
    missing = [text for place, text in enumerate(task.spec.acceptance_criteria) if place not in report.met]
    if missing:
        raise BadInput(_("It is not done yet. Still open: {missing}.", missing="; ".join(missing)), where="met")
    if workflow is None and (report.steps or report.stated):
        raise BadInput(_("No rules apply to this task, so it has no steps to name."), where="did")
    if workflow is not None:
        judged = judge_report(task, workflow, report, seen, closes=True)
        refuse_broken(judged)
        refuse_open(judged)
        task = judged.task
    return replace(task, state=TaskState.DONE, outcome=outcome or _(YOU_SAID))


def refuse_broken(judged: Judgment) -> None:
    """Refuse what breaks a rule. Raises ``BadInput`` with the remedies and the rules."""
    if judged.broken:
        raise BadInput(" ".join(explain_refusal(judged.broken[:MOST_NAMED])), where="did")


def refuse_open(judged: Judgment) -> None:
    """Refuse what depends on unknown states. Raises ``BadInput`` that asks for them."""
    if judged.open:
        rules = name_rules(judged.open[:MOST_NAMED])
        raise BadInput(join_sentences(ask_person(judged.questions), *rules), where="stated")


def ask_person(questions: Sequence[Predicate]) -> str:
    """Return the question whether states hold."""
    return _("I need your word on this first. Is it so: {states}?", states="; ".join(map(state_words, questions)))
