"""Days to draft, drawn by lot from a seed: the same seed, the same day, on every machine.

``day_of(family, seed)`` gives one as its JSON document. The families light, typical, heavy, crowded and week are what
the benchmark measures; ``any_day`` is smaller and stranger, and full of musts.
"""

from __future__ import annotations

from random import Random
from typing import Any

Document = dict[str, Any]

SIZES = {
    "light": ((5, 8), (3, 4)),
    "typical": ((9, 14), (4, 7)),
    "heavy": ((18, 25), (8, 10)),
    "crowded": ((50, 50), (6, 9)),
    "week": ((100, 100), (20, 30)),
}
ZONES = ("Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "Pacific/Auckland")
DATES = ("2026-03-02", "2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04")
WORDS = ("Report", "Slides", "Code", "Review", "Plan", "Letter", "Budget", "Talk", "Draft", "Study", "Notes", "Taxes")
NECESSITIES = ("must", "should", "prefer")


def clock(minute: int) -> str:
    minute %= 24 * 60
    return f"{minute // 60:02}:{minute % 60:02}"


def day_of(family: str, seed: int) -> Document:
    """Return a day (or week) of a family that the benchmark measures."""
    lot = Random(f"{family}-{seed}")
    tasks, events = (lot.randint(*bounds) for bounds in SIZES[family])
    days = 5 if family == "week" else 1
    start = lot.choice((8 * 60, 8 * 60 + 30, 9 * 60))
    return {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "days": days,
        "frame": {"start": clock(start), "end": clock(start + lot.choice((9, 10)) * 60)},
        "immovables": [_event(lot, n, start, days) for n in range(events)],
        "tasks": [_task(lot, n, crowded=tasks >= 50) for n in range(tasks)],
        "constraints": [_draw_rule(lot, n, start) for n in range(lot.randint(3, 7))],
        "policy": {"focus": [{"start": clock(start), "end": "12:00"}]},
    }


def _event(lot: Random, number: int, start: int, days: int) -> Document:
    at = start + 5 * lot.randrange(0, 110)
    day = f"2026-03-{2 + lot.randrange(days):02}"
    strange = lot.random()
    begin, end = f"{day}T{clock(at)}", f"{day}T{clock(min(at + 5 * lot.choice((3, 6, 6, 9, 12)), 23 * 60 + 55))}"
    if strange < 0.05:
        end = begin
    elif strange < 0.1:
        begin = f"{day}T{clock(at + 2)}"
        end = f"{day}T{clock(at + 33)}"
    elif strange < 0.15:
        begin, end = "2026-03-01T22:00", "2026-03-02T06:00"
    elif strange < 0.2:
        begin, end = f"{begin}-05:00", f"{end}-05:00"
    return {
        "id": f"e{number}",
        "title": f"Meeting {number}",
        "start": begin,
        "end": end,
        "busy": lot.random() > 0.1,
        **({"commute_before": 15, "commute_after": 15} if lot.random() < 0.08 else {}),
    }


def _task(lot: Random, number: int, *, crowded: bool) -> Document:
    deep = lot.random() < 0.55
    lengths = ((10, 15, 20) if crowded else (30, 45, 60, 60, 90, 90, 120, 150)) if deep else (10, 15, 20, 30, 45)
    task: Document = {
        "id": f"t{number}",
        "title": f"{lot.choice(WORDS)} {number}",
        "type": "DW" if deep else lot.choice(("SW", "SW", "SW", "H")),
        "priority": lot.choice((1, 2, 3, 3, 3, 4, 5)),
        "one_thing": number == 0,
    }
    if lot.random() < 0.9:
        task["minutes"] = lot.choice(lengths)
    if lot.random() < 0.3:
        task |= {"splittable": True, "min_chunk": lot.choice((15, 30))}
    if lot.random() < 0.15:
        task["deadline"] = lot.choice(("12:00", "14:00", "16:00"))
    if lot.random() < 0.25:
        task["energy"] = [lot.choice(({"start": "08:00", "end": "11:00"}, {"start": "14:00", "end": "17:00"}))]
    if number > 2 and lot.random() < 0.12:
        task["after"] = [f"t{lot.randrange(1, number)}"]
    return task


def _draw_rule(lot: Random, number: int, start: int) -> Document:
    kind = lot.choice(("prefer_window", "avoid_window", "buffer", "capacity", "sequencing", "fixed_bedtime"))
    types = lot.choice((["DW"], ["SW"], ["DW", "SW"], ["H"]))
    payload: Document = {"rule_kind": kind, "scalar_params": {}, "windows": []}
    at = start + 30 * lot.randrange(0, 16)
    match kind:
        case "prefer_window":
            payload["windows"] = [{"kind": "prefer", "start": clock(at), "end": clock(at + 240)}]
        case "avoid_window":
            payload["windows"] = [{"kind": "avoid", "start": clock(at), "end": clock(at + 45)}]
        case "buffer":
            types = lot.choice((["DW"], ["M"]))
            payload["scalar_params"] = {"duration_min": lot.choice((5, 10, 15))}
        case "capacity":
            payload["scalar_params"] = {"duration_max": lot.choice((120, 180, 240, 300))}
        case "sequencing":
            types = ["DW", "SW"]
        case _:
            types = []
            payload["windows"] = [{"kind": "avoid", "start": "22:30", "end": "06:30"}]
    return {
        "uid": f"c{number}",
        "said_on": f"2026-02-{1 + lot.randrange(28):02}",
        "constraint_record": {
            "name": f"Rule {number}",
            "description": f"what I said about {kind} number {number}",
            "necessity": lot.choice(NECESSITIES),
            "status": lot.choice(("locked", "proposed")),
            "payload": payload,
            "applies_event_types": types,
        },
    }


def any_day(seed: int) -> Document:
    """Return a small day of any kind: zones, nights, clock changes, required tasks, pins, rules of all kinds."""
    lot = Random(f"any-{seed}")
    start = lot.choice((0, 60, 7 * 60, 8 * 60, 9 * 60, 13 * 60, 20 * 60))
    long = lot.choice((120, 240, 360, 480, 600))
    date = lot.choice(DATES)
    required = lot.choice((0.0, 0.2, 0.6))
    tasks = [_small_task(lot, n, start, required) for n in range(lot.randint(0, 9))]
    document: Document = {
        "date": date,
        "tz": lot.choice(ZONES),
        "frame": {"start": clock(start), "end": clock(start + long)},
        "immovables": [_small_event(lot, n, start, long) for n in range(lot.randint(0, 5))],
        "tasks": tasks,
        "constraints": [_strict(lot, n, start, long) for n in range(lot.randint(0, 5))],
    }
    if lot.random() < 0.3:
        document["policy"] = {"lunch": None, "shutdown": 0, "after_deep": 0, "before_deep": 0}
    if lot.random() < 0.2:
        document["pinned"] = [
            {
                "key": f"p{n}",
                "title": f"Fixed {n}",
                "type": lot.choice(("DW", "SW", "H")),
                "start": clock(start + 5 * lot.randrange(0, long // 5)),
                "minutes": 5 * lot.randint(2, 12),
            }
            for n in range(lot.randint(1, 2))
        ]
    return document


def _small_event(lot: Random, number: int, start: int, long: int) -> Document:
    at = start + lot.randrange(-60, long)
    return {
        "id": f"e{number}",
        "title": f"Meeting {number}",
        "start": clock(at),
        "end": clock(at + lot.choice((0, 10, 30, 45, 60, 90))),
        "busy": lot.random() > 0.15,
    }


def _small_task(lot: Random, number: int, start: int, required: float) -> Document:
    task: Document = {
        "id": f"t{number}",
        "title": f"{lot.choice(WORDS)} {number}",
        "type": lot.choice(("DW", "DW", "SW", "SW", "H", "R")),
        "priority": lot.randint(1, 5),
        "required": lot.random() < required,
        "one_thing": lot.random() < 0.1,
    }
    if lot.random() < 0.9:
        task["minutes"] = lot.choice((5, 10, 17, 25, 30, 45, 60, 90, 120))
    if lot.random() < 0.25:
        task |= {"splittable": True, "min_chunk": lot.choice((10, 15, 30)), "max_pieces": lot.randint(2, 3)}
    else:
        task["splittable"] = False
    if lot.random() < 0.2:
        task["deadline"] = clock(start + 5 * lot.randrange(6, 60))
    if lot.random() < 0.15:
        task["not_before"] = clock(start + 5 * lot.randrange(0, 30))
    if number and lot.random() < 0.2:
        task["after"] = [f"t{lot.randrange(number)}"]
    return task


def _strict(lot: Random, number: int, start: int, long: int) -> Document:
    kinds = ("prefer_window", "avoid_window", "buffer", "capacity", "sequencing", "fixed_bedtime", "min_sleep", None)
    kind = lot.choice(kinds)
    types = lot.choice((["DW"], ["SW"], ["DW", "SW"], ["H"], []))
    payload: Document = {"rule_kind": kind, "scalar_params": {}, "windows": []}
    at = start + 5 * lot.randrange(0, long // 5)
    match kind:
        case "prefer_window":
            payload["windows"] = [{"kind": "prefer", "start": clock(at), "end": clock(at + 5 * lot.randint(6, 60))}]
        case "avoid_window":
            payload["windows"] = [{"kind": "avoid", "start": clock(at), "end": clock(at + 5 * lot.randint(1, 24))}]
        case "buffer":
            types = lot.choice((["DW"], ["M"], ["DW", "SW"], ["M", "H"]))
            payload["scalar_params"] = {"duration_min": lot.choice((5, 10, 15))}
        case "capacity":
            payload["scalar_params"] = lot.choice(
                ({"duration_max": 60}, {"duration_max": 120}, {"duration_min": 30}, {"count_max": 2})
            )
        case "sequencing":
            types = lot.choice((["DW", "SW"], ["SW", "DW"], ["H", "DW", "SW"], ["M", "DW"], ["DW", "M"]))
        case "fixed_bedtime":
            types = []
            end = start + long
            payload["windows"] = [{"kind": "avoid", "start": clock(end - 60), "end": clock(end + 120)}]
        case "min_sleep":
            types = []
            payload["scalar_params"] = {"duration_min": 60 * lot.randint(6, 16)}
        case _:
            payload["windows"] = [{"kind": "avoid", "start": clock(at), "end": clock(at + 30)}]
    return {
        "uid": f"c{number}",
        "constraint_record": {
            "name": f"Rule {number}",
            "description": f"what I said, number {number}",
            "necessity": lot.choice(("must", "must", "should", "prefer")),
            "status": lot.choice(("locked", "proposed")),
            "payload": payload,
            "applies_event_types": types,
        },
    }
