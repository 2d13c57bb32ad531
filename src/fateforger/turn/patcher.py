"""Turn a message into a patch of the plan: proposed by a model, checked by code (S70-S72, S112, S114)."""

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
from fateforger.session.edits import apply_edit
from fateforger.session.model import Session
from fateforger.session.recall import count_left_out, followed_constraints
from fateforger.stages import TimeboxingStage
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.constants import PATCH_LIMIT, PATCH_TRIES
from fateforger.turn.prompting import prompt_for
from fateforger.turn.reading import facts
from fateforger.turn.reading.remembered import list_shown, reminders
from fateforger.turn.reading.rules import ChangeWords, MemoryWords
from fateforger.turn.reading.values import PatchWords
from fateforger.values import replace


@dataclass(frozen=True, slots=True)
class PatchResult:
    """Patch that fits the plan, with the model's question or remark about the rest of the message.

    ``memory`` is the change of memory that the message also asks for; ``shown`` are the constraints it refers to by
    number.
    """

    patch: Patch
    question: str | None
    memory: MemoryWords | None = None
    shown: tuple[Version, ...] = ()


class TimeboxPatcher:
    """Asks a model for a patch until it can be applied to the plan."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def patch(self, session: Session, message: str, *, cause: str, now: datetime) -> PatchResult:
        """Return the patch that a message asks for, by block keys.

        The patch has been applied once, so it fits; it names only the person's own blocks. The plan is never changed
        here. Raises ``ModelError``.
        """
        if session.stage is not TimeboxingStage.REFINE:
            raise InternalError(f"Patches are made in Refine, not in {session.stage.heading}.")
        plan = session.plan or TBPlan(date=session.date, tz=session.tz)
        answer, last = followed_constraints(session), session.last_words
        kept = reminders(answer, left_out=count_left_out(session))
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
            """Reject an overlapping patch once; repair it the second time."""
            nonlocal told_off
            command = ApplyPatch(
                command_id=cause,
                user_id=session.user_id,
                at=now,
                session_id=session.id,
                patch=to_block_keys(plan, wire),
            )
            mend, told_off = told_off, True
            apply_edit(session, command, mend=mend)

        question = ModelQuestion(prompt, wanted, seconds=PATCH_LIMIT, tries=PATCH_TRIES, accept=fits)
        value = (await ask(self._model, question)).value
        memory = value.memory if isinstance(value, ChangeWords) else None
        return PatchResult(to_block_keys(plan, value), value.question, memory, list_shown(answer))


def patch_schema(answer: type[PatchWords] = PatchWords) -> dict[str, Any]:
    """Return the schema of a patch as shown to a model. It has no keys, because code assigns them."""
    schema = answer.model_json_schema(by_alias=True)
    del schema["$defs"]["TBEvent"]["properties"]["key"]
    return schema


def to_block_keys(plan: TBPlan, wire: TBPatch) -> Patch:
    """Convert a model's patch to block keys, ignoring any keys in it. Raises ``PatchInvalid``.

    New blocks get a key derived from their content; a list that replaces the plan keeps the keys of blocks with the
    same title.
    """
    return to_keys(plan, TBPatch(ops=tuple(_assign_keys(plan, op) for op in wire.ops)))


def _assign_keys(plan: TBPlan, op: TBOp) -> TBOp:
    match op:
        case AddEvents(events=events):
            return replace(op, events=tuple(replace(e, key=None) for e in events))
        case ReplaceEvents(events=events):
            return replace(op, events=_recognize_events(plan, events))
        case _:
            return op


def _recognize_events(plan: TBPlan, events: Iterable[TBEvent]) -> tuple[TBEvent, ...]:
    left = list(plan.events)
    known: list[TBEvent] = []
    for event in events:
        same = next((e for e in left if e.name.casefold() == event.name.casefold()), None)
        if same is not None:
            left.remove(same)
        known.append(replace(event, key=None if same is None else same.key))
    return tuple(known)
