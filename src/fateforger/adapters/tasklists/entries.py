"""Convert an entry of an external list to a task: cleaned, truncated, and without apparent secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from fateforger.constraints.credentials import remove_credentials
from fateforger.plan import zone
from fateforger.tasks.outside import OutsideTask

MOST = 300
"""The most entries that are read."""
TITLE = 300
NOTES = 500
"""Characters of notes: searching long texts for secrets takes time, and there are many."""
_ENDED = frozenset({"completed", "complete", "done", "closed", "archived", "abandoned", "won't do", "wont do"})
_SLACK = 100
"""Characters to search beyond the limit, so that no secret is cut in two and missed."""
_JOINS = "\n\u200c\u200d"
"""Line ends, and the characters that join letters and emoji."""
_PRIORITIES = {"low": 1, "medium": 3, "high": 5}


def read_tasks(entries: Sequence[Any], tz: str) -> tuple[OutsideTask, ...]:
    """Return the open tasks among entries, each once.

    ``tz`` is the person's zone, in which a due instant becomes a day. Raises ``ValueError`` when there are entries and
    none of them is a task.
    """
    seen = [each for each in entries[:MOST] if isinstance(each, Mapping) and _clean_title(each.get("title"))]
    if entries and not seen:
        raise ValueError("what it lists are no tasks")
    tasks = [_to_task(each, tz) for each in seen if _is_open(each)]
    return tuple({task.id: task for task in tasks}.values())


def _to_task(entry: Mapping[str, Any], tz: str) -> OutsideTask:
    title = _clean_title(entry.get("title"))
    name = entry.get("id")
    known = f"{name}" if isinstance(name, str | int) and f"{name}" else f"title {title}"
    return OutsideTask(
        id=f"ticktick-{hashlib.sha256(known.encode(errors='replace')).hexdigest()[:12]}",
        title=title,
        notes=_find_first_text(entry, "content", "notes", "desc", "description"),
        priority=_parse_priority(entry.get("priority")),
        due=_parse_day(entry.get("dueDate", entry.get("due_date")), tz),
    )


def _is_open(entry: Mapping[str, Any]) -> bool:
    """Check whether an entry is open. TickTick: 0 is open, 2 completed, -1 will not be done."""
    status = entry.get("status", 0)
    if isinstance(status, str):
        bare = status.strip().lower()
        ended = bare in _ENDED or bare in {"1", "2", "-1"}
    else:
        ended = isinstance(status, int) and status != 0
    return not (ended or any(entry.get(name) for name in ("completed", "isCompleted", "completedTime")))


def _parse_priority(value: object) -> int:
    if isinstance(value, str):
        value = int(value) if value in {"1", "3", "5"} else _PRIORITIES.get(value.strip().lower(), 0)
    return value if isinstance(value, int) and value in {1, 3, 5} else 0


def _parse_day(value: object, tz: str) -> date | None:
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        at = datetime.fromisoformat(value)
        return (at.astimezone(zone(tz)) if at.tzinfo else at).date()
    except (ValueError, OverflowError):
        return None


def _clean_title(value: object) -> str:
    """Return a title as one line."""
    return " ".join(_clean(value, TITLE).split())


def _find_first_text(entry: Mapping[str, Any], *names: str) -> str:
    texts = (_clean(entry.get(name), NOTES) for name in names)
    return next((text for text in texts if text), "")


def _clean(value: object, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    shown = "".join(c if c.isprintable() or c in _JOINS else " " for c in value.strip()[: limit + _SLACK])
    return remove_credentials(shown).strip()[:limit].rstrip()
