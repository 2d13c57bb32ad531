"""``plan draw``: read the plans and write the picture."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from fateforger.cli.documents import read_document, refuse_existing
from fateforger.errors import BadInput
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
