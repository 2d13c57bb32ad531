"""The gallery of days in ``benchmarks/days``: what each person asked for, what they get, and how it is shown."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.judge.day import Day
from tests.judge.findings import JUDGES, find_all

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.solver import draft_instance

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "days"
FILES = tuple(sorted(FOLDER.glob("*.json")))
PAGE = ROOT / "docs" / "days.md"
FINDINGS = FOLDER / "plans" / "findings.txt"
KINDS = {"DW": "deep", "SW": "shallow", "H": "personal", "R": "rest", "C": "way", "PR": "end of work", "BU": "buffer"}
HEAD = """\
# A gallery of days

Eight days on which earlier versions failed, and thirty other people's days. Each table is what `fateforger plan draft` makes
of a file in `benchmarks/days`, with the meetings of that day. A judge in the tests (`tests/judge`) reads only the instance and
the plan and says what a thoughtful person would object to. The page, the plans and the list of findings are written by
`DAYS_WRITE=1 .venv/bin/pytest tests/judge`; a change of any plan or finding fails the tests until it has been looked at.
"""

TRADES = {
    "22-late-shift": (
        "Both the form and the call to the landlord are due before the shift and have only this morning, so they take some "
        "of the time that would stay free"
    ),
    "37-lawyer-before-hearing": (
        "The half hour before the briefing could begin the plea only in four pieces or at the cost of a pause, since a "
        "meeting is no pause in a run of focus. So small tasks fill it and the half hour before lunch"
    ),
}
"""Why a finding is a fair trade, by day."""


@dataclass(frozen=True)
class PlannedDay:
    """A day of the gallery with its plan."""

    name: str
    title: str
    about: str
    day: Day

    @property
    def findings(self) -> list[str]:
        return find_all(self.day)


@cache
def draft(file: Path) -> PlannedDay:
    document = json.loads(file.read_text())
    plan = write_draft(draft_instance(read_instance(document["instance"])))
    day = Day(document["instance"], json.loads(json.dumps(plan)))
    return PlannedDay(file.stem, document["title"], document["about"], day)


def lines_of(shown: PlannedDay) -> Iterator[tuple[str, str, str]]:
    """Yield time, title and kind of all that the person lives through, and of the time that stays free."""
    day, end = shown.day, 0
    for entry in day.entries:
        if entry.start > end:
            yield day.describe(range(end, entry.start)), "", "free"
        end = max(end, entry.end)
        yield day.describe(entry), entry.title, "fixed" if entry.task is None else KINDS[entry.type]
    if end < day.length:
        yield day.describe(range(end, day.length)), "", "free"


def left_out(shown: PlannedDay) -> list[tuple[str, str]]:
    return [(left["title"], left["reason"]) for left in shown.day.plan["unplaced"]]


def conflict(shown: PlannedDay) -> str:
    return shown.day.plan["conflict_text"] or ""


def print_plan(shown: PlannedDay) -> str:
    """Return the plan as plain text; what is fixed is in brackets."""
    rows = [
        f"{when} {f'[{title}]' if kind == 'fixed' else title or '-':<40} {kind}"
        for when, title, kind in lines_of(shown)
    ]
    rows += [f"x {title}: {reason}" for title, reason in left_out(shown)]
    rows += [f"! {conflict(shown)}"] if conflict(shown) else []
    return "\n".join([shown.title, *(row.rstrip() for row in rows)]) + "\n"


def print_findings() -> str:
    """Return all findings, day by day."""
    return (
        "\n".join(
            "\n".join([shown.name, *(f"  {finding}" for finding in shown.findings)]) for shown in map(draft, FILES)
        )
        + "\n"
    )


def print_page() -> str:
    """Return the page of the documentation."""
    shown = [draft(file) for file in FILES]
    counts = Counter(finding.partition(":")[0] for each in shown for finding in each.findings)
    rows = [f"| {point} | {counts[point]} |" for point in JUDGES]
    clear = sum(not each.findings for each in shown)
    summary = [f"{clear} of {len(shown)} days have no findings.", "", "| point | findings |", "|---|---|", *rows, ""]
    return "\n".join([HEAD, *summary, *(line for n, each in enumerate(shown, 1) for line in _section(n, each))])


def _section(number: int, shown: PlannedDay) -> Iterator[str]:
    yield from (f"## {number}. {shown.title}", "", shown.about, "", f"| {shown.day.date:%A} | | |", "|---|---|---|")
    yield from (f"| {when} | {title} | {kind} |" for when, title, kind in lines_of(shown))
    yield ""
    if left_out(shown):
        yield from ("Left out:", "", *(f"- {title}: {reason}." for title, reason in left_out(shown)), "")
    if conflict(shown):
        yield from (conflict(shown), "")
    if shown.findings:
        yield from ("The judge says:", "", *(f"- {finding}." for finding in shown.findings), "")
        yield from (f"Why it stays: {TRADES[shown.name]}.", "")
    else:
        yield from ("The judge has nothing to say.", "")


def check_file(path: Path, text: str) -> None:
    """Compare a file with what it should hold, or write it if ``DAYS_WRITE`` is set."""
    if os.environ.get("DAYS_WRITE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text, f"{path.name} differs; look at it, then run with DAYS_WRITE=1"
