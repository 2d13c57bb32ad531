"""Wire form of a draft."""

from __future__ import annotations

from typing import Any

from fateforger.drafting.model import Draft, PlacementOption, Reason
from fateforger.plan import write_plan


def write_draft(draft: Draft) -> dict[str, Any]:
    """Return ``{"plan","placed","unplaced","conflict","optimal","reasons"}`` and more, ready for ``json.dumps``."""
    document: dict[str, Any] = {
        "plan": write_plan(draft.plan),
        "placed": [
            {
                "id": block.id,
                "key": block.key,
                "title": block.title,
                "type": block.type.value,
                "start": block.start.isoformat(),
                "minutes": block.minutes,
            }
            for block in draft.placed
        ],
        "unplaced": [
            {"id": left.id, "title": left.title, "reason": left.reason, "choices": [_choice(c) for c in left.choices]}
            for left in draft.unplaced
        ],
        "conflict": None if draft.conflict is None else list(draft.conflict.ids),
        "conflict_text": None if draft.conflict is None else draft.conflict.sentence,
        "relaxed": list(draft.relaxed),
        "broken": [{"id": each.id, "words": each.words, "text": each.text} for each in draft.broken],
        "optimal": draft.optimal,
        "gap": draft.gap,
        "finished": draft.finished,
        "reasons": {key: [_reason(reason) for reason in reasons] for key, reasons in draft.reasons},
    }
    if draft.later:
        document["plans"] = [write_plan(plan) for plan in (draft.plan, *draft.later)]
    return document


def _choice(choice: PlacementOption) -> dict[str, Any]:
    told = {"way": choice.way.value, "label": choice.label, "minutes": choice.minutes, "rule": choice.rule}
    return {name: value for name, value in told.items() if value is not None}


def _reason(reason: Reason) -> dict[str, Any]:
    return {
        "kind": reason.kind,
        "text": reason.text,
        "cause": reason.cause,
        "instead": None if reason.instead is None else reason.instead.isoformat(),
    }
