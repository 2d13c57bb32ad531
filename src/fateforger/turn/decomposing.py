"""Decompose a goal into parts with a model; the person approves the proposal before work begins (S168)."""

from __future__ import annotations

from datetime import datetime

from fateforger.errors import UserError
from fateforger.ports import Model, Role
from fateforger.session.days import local_today
from fateforger.tasks import TaskSpec
from fateforger.tasks.parts import COARSE, Parts
from fateforger.turn.asking import ModelQuestion, ask
from fateforger.turn.prompting import prompt_for

SECONDS = 45.0


async def decompose_goal(spec: TaskSpec, model: Model, *, now: datetime, tz: str) -> Parts:
    """Ask a model to decompose a goal into parts. Raises ``ModelError``."""
    said = spec.title if not spec.context else f"{spec.title}\n\n{spec.context}"
    day = ("day", {"today": local_today(now, tz).isoformat()})
    prompt = prompt_for("decompose", Role.DRAFT, Parts, said, facts=(day,), words={"most": COARSE})
    question = ModelQuestion(prompt, Parts, seconds=SECONDS, accept=_require_complete)
    return (await ask(model, question)).value


def _require_complete(parts: Parts) -> None:
    if not parts.parts or not parts.goal or not parts.assumptions or not parts.probes:
        raise UserError("Say the goal, at least one assumption, one probe and one part")
    if len(parts.parts) > COARSE:
        raise UserError(f"There are more than {COARSE} parts; keep them coarse")
