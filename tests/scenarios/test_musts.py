"""A must is kept at the write, through the whole program: stated in words, read late, and met by a meeting (K9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories.told_rules import build_extraction, rule
from tests.factories.words import also, inputs, new, opening, wants
from tests.scenarios.caldav import CalDav
from tests.scenarios.program import Program
from tests.scenarios.test_whole_day import at
from tests.scenarios.understanding_server import Answers, Listener, speaking

pytestmark = pytest.mark.process

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
PLAN = "Please plan my day"
DENTIST = "Write the report, 90 minutes. I am at the dentist until 11, so nothing before 11! Go on."
LATER = "Nothing before two, that is a must"
MEANINGS: Answers = {
    PLAN: [opening()],
    DENTIST: [wants("answer", also("proceed"), rules=True), inputs(add=[new("Report", 90)])],
    LATER: [wants("ask", rules=True), {"answer": "I see.", "block": None}],
}


def nothing_before(clock: str, name: str) -> dict[str, object]:
    window = {"kind": "avoid", "start": "00:00", "end": clock}
    return build_extraction(rule(name, name.lower(), necessity="must", rule_kind="avoid_window", windows=[window]))


RULES = {
    DENTIST: nothing_before("11:00", "Nothing before eleven"),
    LATER: nothing_before("14:00", "Nothing before two"),
}


def test_what_was_just_said_or_booked_is_kept_on_the_calendar(tmp_path: Path) -> None:
    """K9, S46, S119: a rule in the first message, a meeting after the draft, and a rule after the plan are all kept."""
    with speaking(Listener(MEANINGS, rules=RULES)) as settings:
        program = Program(tmp_path / "data", environment={**NOW, **settings})
        program.start()
        try:
            person = program.person()
            person.write(PLAN, thread=False)
            person.press("Plan this day")
            person.press("Continue")
            person.reads("What do you want to get done")
            person.write(DENTIST)
            person.reads("A first draft of", "Nothing before eleven", "*11:00–12:30* Report")
            calendar = CalDav(program.caldav_url())
            calendar.put("standup", "Standup", at(11), at(11, 30))
            person.reads("This is on your calendar now: “Standup, 11:00–11:30”. So I redrafted your day.")
            person.press("Refine")
            person.reads("Commit to calendar")
            person.write(LATER)
            person.reads("You told me: “Nothing before two”. So I changed your plan.")
            assert calendar.titles() == ["Standup"]
            person.press("Commit to calendar")
            person.reads("is on your calendar")
            blocks = [(title, start) for title, start, _ in calendar.events() if title != "Standup"]
            assert "Report" in dict(blocks)
            assert [title for title, start in blocks if start < "2026-03-02T14:00"] == []
        finally:
            if program.process is not None:
                program.kill()
