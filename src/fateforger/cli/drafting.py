"""The commands ``plan draft`` and ``plan draw``, which load the drafting engine and the painter of pictures."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from fateforger.adapters.optimizer.process import is_installed, optimize_now
from fateforger.cli.documents import echo, format_block, read_document, refuse_existing
from fateforger.drafting.day_draft import LONG_STEPS
from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import Draft, UnplacedItem, write_draft
from fateforger.drafting.solver import STEPS, draft_instance
from fateforger.errors import BadInput
from fateforger.planning.plan import resolve
from fateforger.planning.wire import read_plan
from fateforger.session.cards import DayView, planned_blocks
from fateforger.ui.picture_svg import draw
from fateforger.ui.picture_words import describe


def read_view(plan: str, before: str | None, now: str | None) -> DayView:
    """Return the day of a plan, with the plan before a change if given. Raises ``UserError``."""
    if plan == before == "-":
        raise BadInput("Only one of the two plans can come from stdin.")
    day = read_plan(read_document(plan))
    earlier = None if before is None else read_plan(read_document(before))
    if earlier is not None and (earlier.date, earlier.tz) != (day.date, day.tz):
        raise BadInput(
            f"The plan before is of {earlier.date} in {earlier.tz}, the other one of {day.date} in {day.tz};"
            " a picture shows one day.",
            where=before,
        )
    return DayView(
        date=day.date,
        tz=day.tz,
        blocks=planned_blocks(day),
        before=None if earlier is None else planned_blocks(earlier),
        now=None if now is None else _parse_instant(now),
    )


def write_picture(view: DayView, out: str | None) -> dict[str, Any]:
    """Return ``{"svg", "text"}``, or write the picture to ``out`` and return ``{"path", "text"}``."""
    svg, text = draw(view), describe(view)
    if out is None:
        return {"svg": svg, "text": text}
    path = Path(out)
    refuse_existing(path)
    try:
        path.write_bytes(_render_content(svg, path))
    except OSError as error:
        raise BadInput(f"I cannot write {out}: {error.strerror or error}.", where=out) from None
    return {"path": str(path), "text": text}


def _render_content(svg: str, path: Path) -> bytes:
    match path.suffix.lower():
        case ".svg":
            return svg.encode()
        case ".png":
            from fateforger.adapters.painter import render_png  # noqa: PLC0415  only a PNG needs it

            return render_png(svg)
        case _:
            raise BadInput(f"I can write .svg and .png, and {path.name} is neither.", where=str(path))


def _parse_instant(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadInput(f"“{text[:40]}” is no instant; write it like 2026-03-02T10:20:00+01:00.", where="--now")
    return moment


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
