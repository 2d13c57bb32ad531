"""A change of the plan, read out of words by a model and checked by code (S70-S72, S112, S114)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fateforger.constraints import Version
from fateforger.errors import InternalError
from fateforger.ops import Patch, TBPatch, to_keys
from fateforger.ops.wire import AddEvents, ReplaceEvents, TBOp
from fateforger.plan import TBEvent, TBPlan
from fateforger.ports import Model, Role
from fateforger.session.commands import ApplyPatch
from fateforger.session.edits import edited
from fateforger.session.model import Session
from fateforger.session.recall import following, left_out
from fateforger.stages import TimeboxingStage
from fateforger.turn.asking import Question, ask
from fateforger.turn.constants import PATCH_LIMIT, PATCH_TRIES
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts
from fateforger.turn.reading.remembered import reminders, shown
from fateforger.turn.reading.rules import ChangeWords, MemoryWords
from fateforger.turn.reading.values import PatchWords


@dataclass(frozen=True, slots=True)
class Patched:
    """A patch that fits, and what the model has to say or to ask about the rest of the message; what the message wants
    of memory besides, with the constraints that were ``shown`` by number."""

    patch: Patch
    question: str | None
    memory: MemoryWords | None = None
    shown: tuple[Version, ...] = ()


class TimeboxPatcher:
    """Asks for a patch, and again with what is wrong about it, until it can be applied to the plan."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def patch(self, session: Session, message: str, *, cause: str, now: datetime) -> Patched:
        """The patch that a message asks for, by keys. It has been applied once, so it fits; no op in it names anything
        but the person's own blocks. Raises ``ModelError``; the plan is never touched here."""
        if session.stage is not TimeboxingStage.REFINE:
            raise InternalError(f"Patches are made in Refine, not in {session.stage.heading}.")
        plan = session.plan or TBPlan(date=session.date, tz=session.tz)
        answer, last = following(session), session.last_words
        kept = reminders(answer, left_out=left_out(session))
        wanted = ChangeWords if kept else PatchWords
        prompt = prompt_for(
            "patch",
            Role.PATCH,
            wanted,
            message,
            facts=(
                ("day", facts.day_facts(session, now)),
                *((("last_words", facts.last_words(last)),) if last is not None else ()),
                ("frame", facts.frame_facts(session)),
                ("quality", facts.quality_facts(session)),
            ),
            tables=(
                facts.blocks(session),
                facts.meetings(session),
                facts.tasks(session),
                facts.findings(session),
                *kept,
            ),
            schema=patch_schema(wanted),
            words={"remembered": bool(kept), "last_words": last is not None},
        )

        told_off = False

        def fits(wire: TBPatch) -> None:
            """A patch that overlaps something goes back once; then it is mended."""
            nonlocal told_off
            command = ApplyPatch(
                command_id=cause,
                user_id=session.user_id,
                at=now,
                session_id=session.id,
                patch=by_keys(plan, wire),
            )
            mend, told_off = told_off, True
            edited(session, command, mend=mend)

        question = Question(prompt, wanted, seconds=PATCH_LIMIT, tries=PATCH_TRIES, accept=fits)
        value = (await ask(self._model, question)).value
        memory = value.memory if isinstance(value, ChangeWords) else None
        return Patched(by_keys(plan, value), value.question, memory, shown(answer))


def patch_schema(answer: type[PatchWords] = PatchWords) -> dict[str, Any]:
    """The schema of a patch as a model sees it: without keys, which are ours to give."""
    schema = answer.model_json_schema(by_alias=True)
    del schema["$defs"]["TBEvent"]["properties"]["key"]
    return schema


def by_keys(plan: TBPlan, wire: TBPatch) -> Patch:
    """The patch by keys of ours, whatever a model wrote there: new blocks get one that follows from what they are, and
    a list that replaces the plan keeps the blocks that have the same title. Raises ``PatchInvalid``."""
    return to_keys(plan, TBPatch(ops=tuple(_ours(plan, op) for op in wire.ops)))


def _ours(plan: TBPlan, op: TBOp) -> TBOp:
    match op:
        case AddEvents(events=events):
            return op.model_copy(update={"events": tuple(e.model_copy(update={"key": None}) for e in events)})
        case ReplaceEvents(events=events):
            return op.model_copy(update={"events": _recognised(plan, events)})
        case _:
            return op


def _recognised(plan: TBPlan, events: Iterable[TBEvent]) -> tuple[TBEvent, ...]:
    left = list(plan.events)
    known: list[TBEvent] = []
    for event in events:
        same = next((e for e in left if e.name.casefold() == event.name.casefold()), None)
        if same is not None:
            left.remove(same)
        known.append(event.model_copy(update={"key": None if same is None else same.key}))
    return tuple(known)
