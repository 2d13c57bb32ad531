"""Constraints as shown to a model: two tables of reminders, and the list of all."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints import Answer, Version, build_sections
from fateforger.plan import zone
from fateforger.turn.reading.facts import Row, Table, cut

MOST_CONSIDERED = 30
LONGEST_CONSIDERED = 6_000
"""Limit on the characters of all reminders to consider. Those that must be followed are never cut."""


def reminders(answer: Answer, *, left_out: int = 0) -> tuple[Table, ...]:
    """Return the constraints in the person's own words, with the day they were stated (S92, S174, S195, S196).

    They are numbered through both tables; without constraints there are no tables. ``left_out`` is the number of
    constraints that the answer does not hold.
    """
    told = build_sections(answer)
    if not (told.must_follow or told.consider):
        return ()
    must = [{"number": number, **reminder.row} for number, reminder in enumerate(told.must_follow, 1)]
    consider: list[Row] = []
    room = LONGEST_CONSIDERED
    for number, reminder in enumerate(told.consider[:MOST_CONSIDERED], len(must) + 1):
        words = cut(reminder.words)
        room -= len(words)
        if room < 0:
            break
        consider.append({"number": number, **reminder.row, "words": words})
    more = len(told.consider) - len(consider) + told.left_out + left_out
    return ("must_follow", must, 0), ("consider", consider, more)


def list_shown(answer: Answer) -> tuple[Version, ...]:
    """Return the constraints of :func:`reminders` in the order of their numbers."""
    told = build_sections(answer)
    by_uid = {item.uid: item.version for item in answer.applicable}
    return tuple(by_uid[reminder.uid] for reminder in (*told.must_follow, *told.consider))


def memory(versions: Sequence[Version], answer: Answer) -> Table:
    """Return the constraints that a message may refer to, numbered from 1; ``applies`` marks those in force."""
    followed = {item.uid for item in answer.applicable}
    rows = [
        {
            "number": number,
            "name": cut(version.record.name, 80),
            "words": cut(version.record.words),
            "said": version.created_at.astimezone(zone(answer.context.timezone)).date().isoformat(),
            "necessity": version.record.necessity.value,
            "status": "put away" if version.retired else version.record.status.value,
            "applies": "yes" if version.uid in followed else "no",
        }
        for number, version in enumerate(versions, 1)
    ]
    return "memory", rows, 0
