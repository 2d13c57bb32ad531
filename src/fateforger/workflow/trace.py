"""Traces (the states and actions of each step), and predicates, which decide from facts whether a state holds.

A formula has one of three truth values at each step, and all steps are computed at once. A set of steps is an integer:
of n steps, step i is bit n - 1 - i, so the first step is the highest bit. Knowledge about later steps flows from low
bits to high bits, as carries do in an addition, and each operator of temporal logic takes a few integer operations.
Kleene's logic takes two integers: the steps at which something is certainly true, and those at which it may be.

An adapter reads files and runs commands, and only those that are allowed. No check is ever derived from chat text. Each
answer carries its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Literal, NamedTuple, Protocol, assert_never

from pydantic import BaseModel, ConfigDict

from fateforger.errors import BadInput, validate
from fateforger.values import Value
from fateforger.workflow.rules import KIND_WORDS, And, Atom, AtomKind, Expression, Not, Or, Vocabulary, suggest_names


class Truth(NamedTuple):
    """Truth of a name. ``maybe`` includes all steps of ``sure``, and those at which it is unknown."""

    sure: int
    maybe: int


NOWHERE = Truth(0, 0)


def truth_of(expression: Expression, values: Mapping[str, Truth], full: int) -> Truth:
    """Evaluate an expression in each step from the values of its names.

    A name without a value holds nowhere. ``full`` has the bits of all steps.
    """
    match expression:
        case Atom(name):
            return values.get(name, NOWHERE)
        case Not(of):
            return negate(truth_of(of, values, full), full)
        case And(parts):
            sure = maybe = full
            for part in parts:
                value = truth_of(part, values, full)
                sure, maybe = sure & value.sure, maybe & value.maybe
            return Truth(sure, maybe)
        case Or(parts):
            sure = maybe = 0
            for part in parts:
                value = truth_of(part, values, full)
                sure, maybe = sure | value.sure, maybe | value.maybe
            return Truth(sure, maybe)
        case _:
            assert_never(expression)


def negate(value: Truth, full: int) -> Truth:
    return Truth(full & ~value.maybe, full & ~value.sure)


def mark_once(steps: int) -> int:
    """Return the steps before which there is one of these (once, strictly)."""
    return (1 << (steps.bit_length() - 1)) - 1 if steps else 0


def mark_eventually(steps: int, full: int) -> int:
    """Return the steps after which there is one of these (eventually, strictly)."""
    return full & ~(((steps & -steps) << 1) - 1) if steps else 0


def mark_now_or_eventually(steps: int, full: int) -> int:
    """Return the steps in or after which there is one of these (eventually)."""
    return full & ~((steps & -steps) - 1) if steps else 0


def mark_yesterday(steps: int) -> int:
    """Return the steps whose predecessor is one of these (yesterday, strong)."""
    return steps >> 1


def next_until(holding: int, goal: int, full: int, *, at_end: bool) -> int:
    """Return the steps from whose successor on ``holding`` is true until a ``goal`` (next and until, strong).

    ``at_end`` counts the end of the trace as a goal. A goal marks the step before it; a mark moves through a run of
    holding steps as a carry moves through ones.
    """
    marks = (goal << 1) | at_end
    return ((((marks & holding) + holding) ^ holding) | marks) & full


def steps_in(steps: int, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of these steps, in order; ``numbers`` are those of all steps, counted from 0."""
    if not steps:
        return ()
    return tuple(compress(numbers, f"{steps:0{len(numbers)}b}".encode().translate(_DIGITS)))


_DIGITS = bytes.maketrans(b"01", b"\x00\x01")


class Step(Value):
    """One step of a trace. A state that is neither in ``true`` nor in ``unknown`` does not hold."""

    do: tuple[str, ...] = ()
    true: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


_LISTS = Step.model_fields.keys()


def read_step(document: object, vocabulary: Vocabulary, where: str) -> Step:
    """Parse a step from JSON: ``{"do":[actions],"true":[states],"unknown":[states]}``; ``null`` is an empty list.

    Raises :class:`BadInput`.
    """
    if not isinstance(document, Mapping):
        raise BadInput("A step is a JSON object with do, true and unknown.", where=where)
    given = {name: value for name, value in document.items() if value is not None or name not in _LISTS}
    step = validate(Step, given, where)
    for name in step.do:
        expect_kind(name, "action", vocabulary, f"{where}, do")
    for name in step.true:
        expect_kind(name, "state", vocabulary, f"{where}, true")
    for name in step.unknown:
        expect_kind(name, "state", vocabulary, f"{where}, unknown")
        if name in step.true:
            raise BadInput(f"“{name}” is both true and unknown here; it can be one of them.", where=where)
    return step


def expect_kind(name: str, kind: AtomKind, vocabulary: Vocabulary, where: str) -> None:
    """Refuse a name that is not declared, or declared as the other kind. Raises :class:`BadInput` with ``where``."""
    found = vocabulary.kind_of(name)
    if found is None:
        sentence = f"Nothing is declared with the name “{name}”.{suggest_names(name, vocabulary)}"
        raise BadInput(sentence, where=where)
    if found != kind:
        raise BadInput(
            f"“{name}” is declared as {KIND_WORDS[found]}, and stands here as {KIND_WORDS[kind]}.", where=where
        )


@dataclass(frozen=True)
class Timeline:
    """Trace indexed by name, as rules are judged on it. ``count`` is the number of steps."""

    count: int
    done: Mapping[str, Truth]
    """Steps in which each action is done."""
    held: Mapping[str, Truth]
    """Steps in which each state holds."""
    vocabulary: Vocabulary

    @cached_property
    def full(self) -> int:
        """Bit mask of all steps."""
        return (1 << self.count) - 1

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all steps, counted from 0."""
        return tuple(range(self.count))

    @cached_property
    def values(self) -> Mapping[str, Truth]:
        """Steps of all names, actions and states alike."""
        return {**self.done, **self.held}

    @cached_property
    def beforehand(self) -> Mapping[str, Truth]:
        """Steps in which each state holds, or before which each action was done."""
        done = {name: Truth(mark_once(value.sure), mark_once(value.maybe)) for name, value in self.done.items()}
        return {**done, **self.held}

    def is_action(self, name: str) -> bool:
        """Check whether a name is declared as an action."""
        return self.vocabulary.kind_of(name) == "action"


def build_timeline(steps: Sequence[Step], vocabulary: Vocabulary) -> Timeline:
    """Index a trace by name. The steps must have been read with this vocabulary."""
    done: dict[str, bytearray] = {}
    true: dict[str, bytearray] = {}
    unknown: dict[str, bytearray] = {}
    for number, step in enumerate(steps):
        for names, marks in ((step.do, done), (step.true, true), (step.unknown, unknown)):
            for name in names:
                if name not in marks:
                    marks[name] = bytearray(b"0" * len(steps))
                marks[name][number] = _ONE
    return Timeline(
        count=len(steps),
        done={name: Truth(int(marks, 2), int(marks, 2)) for name, marks in done.items()},
        held={
            name: _build_state_truth(true.get(name, _NEVER), unknown.get(name, _NEVER))
            for name in true.keys() | unknown.keys()
        },
        vocabulary=vocabulary,
    )


_ONE = ord("1")
_NEVER = bytearray(b"0")


def _build_state_truth(true: bytearray, unknown: bytearray) -> Truth:
    sure = int(true, 2)
    return Truth(sure, sure | int(unknown, 2))


CheckKind = Literal["session", "task", "user_stated", "file", "command", "judged"]


@dataclass(frozen=True, slots=True)
class Check:
    """One way to decide a state.

    session      ``about`` names a fact of the planning session
    task         ``about`` names a field of the current task: a text or tag it ``contains``, or a value it ``equals``
    user_stated  ``about`` is a kind of statement that a model extracted from the person's words; no text is searched
    file         a file that matches the pattern ``about`` (relative, ``*`` for anything) ``contains`` a text
    command      the command of that allowed name ``succeeds`` (exit status 0) or fails
    judged       ``about`` is a sentence that a person or a model judges; without their answer it is unknown
    """

    kind: CheckKind
    about: str
    contains: str | None = None
    equals: str | None = None
    succeeds: bool = True


@dataclass(frozen=True, slots=True)
class Predicate:
    """State that holds when one of its checks does.

    ``set_by`` and ``cleared_by`` are the actions that make it true or false. They decide the state in a plan that has
    not been carried out. ``title`` says in a person's words that the state holds.
    """

    name: str
    checks: tuple[Check, ...] = ()
    set_by: frozenset[str] = frozenset()
    cleared_by: frozenset[str] = frozenset()
    title: str | None = None

    @property
    def is_approval(self) -> bool:
        """True if the state is established by the person's own word, and by no agent's."""
        return any(check.kind == "user_stated" for check in self.checks)

    @property
    def is_reportable(self) -> bool:
        """True if the steps of an agent establish the state: no look-up and no other judge is named."""
        return all(check.kind == "judged" for check in self.checks)

    @property
    def looks(self) -> bool:
        """True if a file or a command can determine the state."""
        return any(check.kind in {"file", "command"} for check in self.checks)

    def touched_by(self, actions: Collection[str]) -> bool:
        """Check whether one of the actions sets or clears the state."""
        return not (self.set_by | self.cleared_by).isdisjoint(actions)


def plan_steps(
    predicates: Sequence[Predicate], actions: Sequence[Sequence[str]], *, given: Mapping[str, bool] | None = None
) -> tuple[Step, ...]:
    """Return the steps of a plan, with the states that its actions bring about.

    A state has its ``given`` value until an action sets or clears it. Without one it starts as false if some action
    sets it, and as unknown otherwise.
    """
    states: dict[str, bool | None] = {
        predicate.name: (given or {}).get(predicate.name, False if predicate.set_by else None)
        for predicate in predicates
    }
    steps = []
    for done in actions:
        steps.append(build_step(states, done))
        for predicate in predicates:
            if not predicate.cleared_by.isdisjoint(done):
                states[predicate.name] = False
            if not predicate.set_by.isdisjoint(done):
                states[predicate.name] = True
    return tuple(steps)


def build_step(states: Mapping[str, bool | None], do: Sequence[str] = ()) -> Step:
    """Return a step: the given actions, and the value of each state as it begins."""
    return Step(
        do=tuple(do),
        true=tuple(name for name, value in states.items() if value),
        unknown=tuple(name for name, value in states.items() if value is None),
    )


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Answer to a check. ``holds`` is ``None`` if it cannot be decided; ``why`` is a sentence."""

    holds: bool | None
    why: str


class KnownValues(BaseModel):
    """Values available without reading files or running commands.

    ``session`` holds facts by name, ``task`` the fields of the current task, and ``stated`` the kinds of statements
    that a model extracted from the person's words (``None`` if no model read them).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    session: dict[str, bool] = {}
    task: dict[str, Any] = {}
    stated: list[str] | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedState:
    """Current value of a state.

    ``why`` holds the sentences of the checks that decide it, or of all undecided checks.
    """

    name: str
    holds: bool | None
    why: tuple[str, ...]


def evaluate_state(predicate: Predicate, known: KnownValues, looked: Mapping[Check, CheckAnswer]) -> EvaluatedState:
    """Evaluate a state from its checks: true if any check holds, false if all fail.

    ``looked`` has the answers to checks that the caller had to look up.
    """
    told = [looked[check] if check in looked else answer_check(check, known) for check in predicate.checks]
    if not told:
        return EvaluatedState(predicate.name, None, ("Nothing says how it can be told.",))
    holds = True if any(each.holds for each in told) else None if any(each.holds is None for each in told) else False
    return EvaluatedState(predicate.name, holds, tuple(each.why for each in told if each.holds is holds))


def answer_check(check: Check, known: KnownValues) -> CheckAnswer:
    """Answer one check without looking anything up."""
    match check.kind:
        case "session":
            if check.about not in known.session:
                return CheckAnswer(None, f"The session knows nothing of “{check.about}”.")
            return CheckAnswer(known.session[check.about], f"The session says so of “{check.about}”.")
        case "task":
            return _answer_task_check(check, known.task)
        case "user_stated":
            if known.stated is None:
                return CheckAnswer(None, "Nobody read what the person stated.")
            stated = check.about in known.stated
            return CheckAnswer(stated, f"The person stated {'' if stated else 'no '}“{check.about}”.")
        case "file" | "command":
            return CheckAnswer(None, "Nobody looked.")
        case "judged":
            return CheckAnswer(None, f"Somebody has to judge it: {check.about}")
        case _:
            assert_never(check.kind)


def _answer_task_check(check: Check, task: Mapping[str, Any]) -> CheckAnswer:
    field = check.about
    if field not in task:
        return CheckAnswer(None, f"The task has no “{field}”.")
    value = task[field]
    if check.contains is not None:
        holds = check.contains in value if isinstance(value, str | list | tuple | set | frozenset) else False
        return CheckAnswer(holds, f"“{field}” of the task {'holds' if holds else 'does not hold'} “{check.contains}”.")
    if check.equals is not None:
        holds = value is not None and str(value) == check.equals
        return CheckAnswer(holds, f"“{field}” of the task is {'' if holds else 'not '}“{check.equals}”.")
    return CheckAnswer(bool(value), f"“{field}” of the task is {'there' if value else 'empty'}.")


class Facts(Protocol):
    """Checks that have no effect except that of an allowed command.

    A check that is not allowed, has no object or is too slow is unknown, with a reason as a sentence; nothing is
    raised.
    """

    @property
    def allowed(self) -> bool:
        """False if nothing is allowed, so that every answer is unknown."""
        ...

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        """Check whether a matching file contains the text, case-sensitively.

        The pattern is relative to an allowed folder; ``*`` matches within a name, ``**`` any folders.
        """
        ...

    async def succeeds(self, command: str) -> CheckAnswer:
        """Check whether a command, by its allowed name, ends with exit status 0."""
        ...


class NothingAllowed:
    """Facts where no file may be read and no command may be run."""

    why = "No files and commands may be looked at; FATEFORGER_FACTS names the file that allows some."
    allowed = False

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        """See :meth:`Facts.contains`."""
        del pattern, text
        return CheckAnswer(None, self.why)

    async def succeeds(self, command: str) -> CheckAnswer:
        """See :meth:`Facts.succeeds`."""
        del command
        return CheckAnswer(None, self.why)


async def evaluate(predicates: Sequence[Predicate], known: KnownValues, facts: Facts) -> tuple[EvaluatedState, ...]:
    """Return the current value of each state.

    Checks run one after another, and each command and each look at files once, since two may interfere.
    """
    ran: dict[str, CheckAnswer] = {}
    looked: dict[Check, CheckAnswer] = {}
    checks = dict.fromkeys(check for predicate in predicates for check in predicate.checks)
    for check in sorted(checks, key=lambda check: check.kind != "command"):
        if check.kind == "command":
            if check.about not in ran:
                ran[check.about] = await facts.succeeds(check.about)
            told = ran[check.about]
            looked[check] = told if told.holds is None else CheckAnswer(told.holds is check.succeeds, told.why)
        elif check.kind == "file":
            looked[check] = await facts.contains(check.about, check.contains or "")
    return tuple(evaluate_state(predicate, known, looked) for predicate in predicates)
