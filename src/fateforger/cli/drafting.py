"""The command ``plan draft``: an instance in, a draft out, for people and for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import click

from fateforger.adapters.optimizer.process import is_installed, optimize_now
from fateforger.cli.documents import format_block
from fateforger.cli.output import echo
from fateforger.drafting.day_draft import LONG_STEPS
from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import Draft, UnplacedItem, write_draft
from fateforger.drafting.solver import STEPS, draft_instance
from fateforger.planning.plan import resolve


def draft_document(document: Any, days: int | None, steps: int | None, budget: int | None) -> dict[str, Any]:
    """Return the document of ``plan draft``.

    ``budget`` is in milliseconds; without it only ``steps`` end the search.
    """
    return write_draft(_draft(document, days, steps, budget))


def print_draft(document: Any, days: int | None, steps: int | None, budget: int | None) -> None:
    draft = _draft(document, days, steps, budget, bar=sys.stderr.isatty())
    for plan in (draft.plan, *draft.later):
        echo(f"{plan.date:%A %d %B %Y}, {plan.tz}")
        for block in resolve(plan):
            echo(format_block(block))
    for left in draft.unplaced:
        ways = " · ".join(f"{each.label} ({each.cost})" if each.cost else each.label for each in left.choices)
        echo(f"✗ {_name_task(left, draft)}: {left.reason}. {ways}")
    if draft.conflict is not None:
        echo(f"! {draft.conflict.sentence}")
    for broken in draft.broken:
        echo(f"• {broken.text}")
    if not draft.finished:
        echo("→ Time was up; this is the best day found so far.")


def _name_task(left: UnplacedItem, draft: Draft) -> str:
    """Return a task's title, with the day if several days ask for similar tasks."""
    days = [plan.date for plan in (draft.plan, *draft.later)]
    day = next((day for day in days if left.id.endswith(f"-{day.isoformat()}")), None)
    return left.title if day is None or len(days) == 1 else f"{left.title} on {day:%A}"


def _draft(document: Any, days: int | None, steps: int | None, budget: int | None, *, bar: bool = False) -> Draft:
    if days is not None and isinstance(document, dict):
        document = {**document, "days": days}
    instance = read_instance(document)
    usual = LONG_STEPS if instance.days == 1 else STEPS
    most = usual if steps is None else steps
    wanted = steps is None and budget is None and instance.days == 1
    optimize = optimize_now if wanted and is_installed() else None
    with _show_progress(instance.days, most) if bar and instance.days > 1 else nullcontext() as seen:
        stop = _build_stop(budget)
        return draft_instance(instance, steps=most, stop=stop, seen=seen, reasons=True, optimize=optimize)


@contextmanager
def _show_progress(days: int, steps: int) -> Iterator[Callable[[int], None]]:
    """Show the progress of the search. A single day takes no time worth showing."""
    with click.progressbar(length=steps, label=f"Drafting {days} days", file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.pos)
        bar.update(steps - bar.pos)


def _build_stop(budget: int | None) -> Callable[[], bool] | None:
    if budget is None:
        return None
    end = time.monotonic() + budget / 1000
    return lambda: time.monotonic() >= end
