"""Correct answers of a model, for each question that it gets."""

from __future__ import annotations

from typing import Any

Answer = dict[str, Any]


def also(intent: str, words: str | None = None, *, number: int | None = None) -> Answer:
    """Return another wish of a message."""
    return {"intent": intent, "number": number, "words": words}


def wants(
    intent: str, *more: Answer, number: int | None = None, rules: bool = False, words: str | None = None
) -> Answer:
    """Return the answer for a message that wants one thing, and ``more``."""
    return {"wishes": [also(intent, words, number=number), *more], "rules": rules, "language": None}


def day(**said: Any) -> Answer:
    return {"date": None, "tz": None, "frame": None, "inputs": None, "question": None, **said}


def frame_of(**said: Any) -> Answer:
    nothing = {"day_start": None, "day_end": None, "lunch_start": None, "lunch_minutes": None, "no_lunch": False}
    return {**nothing, **said}


def inputs_of(**said: Any) -> Answer:
    return {"add": [], "change": [], "remove": [], "later": [], "bring": [], **said}


def frame(**said: Any) -> Answer:
    return day(frame=frame_of(**said))


def inputs(**said: Any) -> Answer:
    return day(inputs=inputs_of(**said))


def opening(*, plan: bool = True, **said: Any) -> Answer:
    return {**day(**said), "plan": plan}


def outside(wants: str, **more: Any) -> Answer:
    """Return the answer for a first message that is not about planning a day."""
    return {**opening(plan=False), "wants": wants, **more}


def work(title: str, kind: str = "do", **more: Any) -> Answer:
    """Return the answer for a message with a task to do."""
    nothing = {"context": None, "minutes": None, "date": None, "start": None, "priority": None, "project": None}
    empty: Answer = {"criteria": [], "files": [], "tags": [], "workflow": None, "simple": True, "haste": "no"}
    return wanting("work", changes=True, work={"kind": kind, "title": title, **nothing, **empty, **more})


def wanting(wants: str, **more: Any) -> Answer:
    """Return the answer for a message about the queue, the week or the last card."""
    return {"wants": wants, "changes": False, "number": None, "work": None, "answer": None, **more}


def route(answer: Answer) -> Answer | None:
    """Return the answer of the first reading, if it differs from this answer: one about the queue."""
    return None if "plan" in answer or "wants" not in answer else outside("queue")


def first(answer: Answer) -> list[Answer]:
    """Return all answers about a first message."""
    heard = route(answer)
    return [answer] if heard is None else [heard, answer]


def new(title: str, minutes: int | None = None, **more: Any) -> Answer:
    return {"title": title, "minutes": minutes, "depth": None, "one_thing": False, "notes": "", "done_when": [], **more}


def change(number: int, **more: Any) -> Answer:
    nothing = {"title": None, "minutes": None, "depth": None, "one_thing": None, "in_pieces": None, "notes": None}
    nothing["done_when"] = None
    return {"number": number, **nothing, **more}


def patch(*ops: Answer | list[Answer], **more: Any) -> Answer:
    flat = [each for op in ops for each in (op if isinstance(op, list) else [op])]
    return {"ops": flat, **more}


def name(index: int) -> str:
    """Return the name of the block at that position."""
    return f"b{index + 1}"


def build_move(index: int, start: str, minutes: int) -> list[Answer]:
    """Return a patch that moves the block at that position to another time and length."""
    moved: Answer = {"op": "move", "b": name(index), "start": start}
    return [moved, {"op": "resize", "b": name(index), "minutes": minutes}]


def build_removal(index: int) -> Answer:
    """Return a patch that removes the block at that position."""
    return {"op": "remove", "b": name(index)}


def block(title: str, start: str, minutes: int, kind: str = "DW", **more: Any) -> Answer:
    """Return a patch that adds a block."""
    return {"op": "add", "title": title, "type": kind, "start": start, "minutes": minutes, **more}


def course(**said: Any) -> Answer:
    """Return an answer on how the day goes."""
    nothing: Answer = {
        "late": None,
        "missed": [],
        "done": [],
        "not_today": [],
        "open": [],
        "day_end": None,
        "question": None,
    }
    blocks = ("missed", "done", "not_today", "together", "apart")
    named = {each: [name(at) for at in said[each]] for each in blocks if each in said}
    return {**nothing, **said, **named}


def way(number: int, way: str | None = None, *, minutes: int | None = None) -> Answer:
    """Return an answer on something that found no place."""
    return {"number": number, "way": way, "minutes": minutes}
