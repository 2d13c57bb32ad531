"""Constraints for tests: one line as an export writes it, and whole random histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from fateforger.memory.applicability import Context
from fateforger.memory.documents import read_context, read_version
from fateforger.memory.versions import Version

DAY = date(2026, 3, 3)
"""A Tuesday."""
WRITTEN = "2026-02-01T09:00:00+00:00"
Line = dict[str, Any]

_GROUPS = {
    "applicability": ("start_date", "end_date", "days_of_week", "timezone", "recurrence"),
    "payload": ("rule_kind", "scalar_params", "windows", "day_rule"),
    "lifecycle": ("uid", "supersedes_uids", "ttl_days"),
}


def record_of(uid: str | None = "c", **fields: Any) -> dict[str, Any]:
    """Return a whole record; each field is given by its own name, in any group."""
    record: dict[str, Any] = {
        "name": f"Rule {uid}",
        "description": f"what I said about {uid}",
        "necessity": "should",
        "status": "locked",
        "source": "user",
        "scope": "profile",
        "confidence": 0.9,
        "topics": [],
        "applicability": {
            "start_date": None,
            "end_date": None,
            "days_of_week": [],
            "timezone": None,
            "recurrence": None,
        },
        "payload": {"rule_kind": None, "scalar_params": {}, "windows": []},
        "lifecycle": {"uid": uid, "supersedes_uids": [], "ttl_days": None},
        "applies_stages": [],
        "applies_event_types": [],
    }
    for name, value in fields.items():
        group = next((group for group, names in _GROUPS.items() if name in names), None)
        (record if group is None else record[group])[name] = value
    return record


def line_of(
    uid: str | None = "c",
    *,
    user: str = "U1",
    at: str = WRITTEN,
    event: Mapping[str, Any] | None = None,
    session: str | None = None,
    **fields: Any,
) -> Line:
    """Return a line of an import."""
    return {
        "user_id": user,
        "constraint_record": record_of(uid, **fields),
        "created_at": WRITTEN,
        "updated_at": at,
        "event": dict(event or {"action": "upsert", "reason": None}),
        "session_id": session,
    }


def version_of(uid: str | None = "c", *, seq: int = 0, **fields: Any) -> Version:
    return read_version(line_of(uid, **fields), seq=seq)


def context_of(user: str = "U1", day: date | None = DAY, **fields: Any) -> Context:
    return read_context({"user_id": user, "as_of": None if day is None else day.isoformat(), **fields})


# --- histories drawn by lot ---

KINDS = ("prefer_window", "avoid_window", "fixed_bedtime", "min_sleep", "buffer", "sequencing", "capacity", None)
TYPES = ("M", "C", "DW", "SW", "PR", "H", "R", "BU", "BG")
STAGES = ("COLLECT", "CAPTURE", "SKELETON", "REFINE", "REVIEW")
WEEK = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
ZONES = ("Europe/Amsterdam", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland", "UTC")
RULES = (
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;BYDAY=TU,TH",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO",
    "FREQ=WEEKLY",
    "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO",
    "FREQ=WEEKLY;COUNT=5;BYDAY=MO,WE",
    "FREQ=MONTHLY",
    "FREQ=MONTHLY;BYDAY=1MO,-1FR",
    "FREQ=MONTHLY;BYMONTHDAY=-1",
    "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,15,31",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=DAILY;UNTIL=20260320",
    "FREQ=DAILY;UNTIL=20260310T000000Z",
    "FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=3,4",
    "FREQ=YEARLY",
)


def random_history(random: Random, *, users: Sequence[str] = ("U1", "U1", "U1", "U2"), uids: int = 6) -> list[Line]:
    """Return versions of a few constraints of a few people, in no order; each uid occurs for several people."""
    start = datetime(2026, 2, 20, tzinfo=UTC)
    lines: list[Line] = []
    for _ in range(random.randrange(1, 16)):
        minutes = random.randrange(0, 25 * 24 * 60)
        offset = random.choice(("+00:00", "+13:00", "-08:00"))
        at = (start + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat() + offset
        event = random.choice(
            (
                {"action": "upsert", "reason": None},
                {"action": "update", "reason": "moved"},
                {"action": "decline", "reason": "no longer"},
                {"action": "archive", "reason": "superseded"},
                {"action": "archive", "reason": "not needed"},
            )
            if random.random() < 0.25
            else ({"action": "upsert", "reason": None},)
        )
        lines.append(
            line_of(
                f"c{random.randrange(uids)}",
                user=random.choice(users),
                at=at,
                event=event,
                session=random.choice((None, None, "S1", "S2")),
                **_random_fields(random, retired=event["action"] in {"decline", "archive"}, uids=uids),
            )
        )
    return lines


def _random_fields(random: Random, *, retired: bool, uids: int) -> dict[str, Any]:
    def maybe(chance: float, value: Any, otherwise: Any) -> Any:
        return value if random.random() < chance else otherwise

    begin = date(2026, 2, 20) + timedelta(days=random.randrange(0, 30))
    return {
        "necessity": random.choice(("must", "should", "prefer")),
        "status": "declined"
        if retired
        else random.choice(("locked", "proposed", "locked", "proposed", "locked", "proposed", "declined")),
        "scope": random.choice(("profile", "profile", "profile", "datespan", "datespan", "session")),
        "confidence": random.choice((0.2, 0.5, 0.9, 1.0)),
        "start_date": maybe(0.4, begin.isoformat(), None),
        "end_date": maybe(0.3, (begin + timedelta(days=random.randrange(0, 20))).isoformat(), None),
        "days_of_week": maybe(0.2, random.sample(WEEK, 3), []),
        "recurrence": maybe(0.2, random.choice(RULES), None),
        "rule_kind": random.choice(KINDS),
        "ttl_days": maybe(0.2, random.randrange(0, 15), None),
        "supersedes_uids": maybe(0.3, [f"c{random.randrange(uids)}" for _ in range(2)], []),
        "applies_stages": maybe(0.3, random.sample(STAGES, 2), []),
        "applies_event_types": maybe(0.3, random.sample(TYPES, 2), []),
    }


def random_context(random: Random, *, users: Sequence[str] = ("U1", "U1", "U1", "U2")) -> dict[str, Any]:
    """Return a context with some fields left out; always with a day or an instant."""
    day = date(2026, 2, 20) + timedelta(days=random.randrange(0, 40))
    minutes = random.randrange(24 * 60)
    now = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(
        minutes=minutes, days=random.choice((0, 0, -5))
    )
    by_now = random.random() < 0.4
    return {
        "user_id": random.choice(users),
        "as_of": None if by_now else day.isoformat(),
        "now": now.isoformat() if by_now or random.random() < 0.3 else None,
        "timezone": random.choice((None, *ZONES)),
        "stage": random.choice((None, *STAGES)),
        "event_types": random.choice((None, [], ["DW"], ["M", "R"], list(TYPES))),
        "session_id": random.choice((None, "S1", "S2", "S3")),
        "type_ids": random.choice(
            (None, None, None, [], ["buffer", "capacity"], ["min_sleep", "fixed_bedtime", "avoid_window"])
        ),
        "k": None,
    }
