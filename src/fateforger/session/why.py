"""Why a block is where it is, and what keeps a change from being made: the constraints behind it, in the person's own
words with the day they said them. Pure; what is known of a placement from elsewhere is given."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.blocks import Breach, Reason, breaches, reasons_for
from fateforger.constraints.kinds import Necessity
from fateforger.errors import PatchInvalid
from fateforger.plan import TBPlan, resolve
from fateforger.session.edits import by_time, span
from fateforger.session.model import Session
from fateforger.session.recall import following

MOST_REASONS = 4
NO_RULE = "No rule of yours is about it; it is where there was room for it."


def why(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[Reason, ...]:
    """The reasons for the place of a block, the most telling first: those of your rules, then those of its
    ``placement``. Raises ``PatchInvalid`` when it is not in the plan."""
    blocks = by_time(session.plan) if session.plan is not None else ()
    block = next((each for each in blocks if each.key == key), None)
    if block is None:
        raise PatchInvalid("That block is not in the plan any more.")
    return (*reasons_for(block, following(session).applicable, blocks), *placement)


def told_why(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[str, ...]:
    """The same as sentences. Raises as :func:`why`."""
    reasons = why(session, key, placement)
    block = next(each for each in by_time(session.plan or TBPlan(date=session.date, tz=session.tz)) if each.key == key)
    lines = [reason.sentence for reason in reasons[:MOST_REASONS]] or [NO_RULE]
    if len(reasons) > MOST_REASONS:
        lines.append(f"{len(reasons) - MOST_REASONS} more of your rules are about it; Memory lists them.")
    return (f"“{block.event.name}”, {span(block.start, block.end)}:", *lines)


def against(session: Session, before: TBPlan, after: TBPlan, necessity: Necessity) -> tuple[Breach, ...]:
    """The constraints of one necessity that a change breaks and that these blocks did not break before it."""
    items = [item for item in following(session, after).applicable if item.record.necessity is necessity]
    known = {breach.item.uid: set(breach.keys) for breach in breaches(items, resolve(before))}
    found = (
        (breach, set(breach.keys) - known.get(breach.item.uid, set())) for breach in breaches(items, resolve(after))
    )
    return tuple(Breach(breach.item, tuple(sorted(fresh))) for breach, fresh in found if fresh)
