"""Which of two rules counts: the buttons that ask, and what they say."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.errors import BadInput
from fateforger.session.cards import Button, Controls


class _Settled(BaseModel):
    """Two rules, and which of them counts; ``None``: both."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    uids: tuple[str, str]
    keep: str | None = None


def choice(uids: tuple[str, str], names: tuple[str, str], *, both: str | None) -> Controls:
    """A button for each of the two, and one for both if that has a label."""
    keep = (
        Button(label=f"Keep “{name}”", action="memory.keep", target=_Settled(uids=uids, keep=uid).model_dump_json())
        for uid, name in zip(uids, names, strict=True)
    )
    target = _Settled(uids=uids).model_dump_json()
    return Controls(items=(*keep, *((Button(label=both, action="memory.keep", target=target),) if both else ())))


def settled(target: str) -> dict[str, Any]:
    """What a button says about two rules. Raises :class:`BadInput` for one that is none of ours."""
    try:
        return _Settled.model_validate_json(target).model_dump()
    except ValidationError:
        raise BadInput("I can't tell any more which rules that was about; please open your rules again.") from None
