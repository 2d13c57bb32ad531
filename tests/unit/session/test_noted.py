"""The text about facts that a person's words changed, in each language."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from tests.unit.conversation.sessions import session, task

from fateforger.planning.task_details import TaskDetails, TaskKind
from fateforger.session.frame import describe_noted
from fateforger.session.model import FrameFacts, InputFacts, Session, Task
from fateforger.session.stages import TimeboxingStage
from fateforger.text import speak
from fateforger.values import replace

GYM = task("Gym", details=TaskDetails(kind=TaskKind.HABIT, at=time(7)))
REPORT = task("Report", 120, one_thing=True)
SHOP = task("Shop", None, details=TaskDetails(kind=TaskKind.ERRAND, due_day=date(2026, 3, 2), due_time=time(18)))
MAIL = task("Mail", None)


def make_session(*tasks: Task, **frame: Any) -> Session:
    facts = FrameFacts(day_start=time(9), day_end=time(18))
    return session(TimeboxingStage.CAPTURE_INPUTS, frame=replace(facts, **frame), inputs=InputFacts(tasks=tasks))


def describe_change(before: Session, after: Session, language: str = "en") -> str:
    with speak(language):
        (line,) = describe_noted(before, after)
    return line


LINES = {
    "en": "Noted: your day 06:30–18:00; Gym at 07:00, 1 h; Report, 2 h, the one thing that matters;"
    " Shop, due Monday 2 March at 18:00; Mail.",
    "nl": "Genoteerd: je dag 06:30–18:00; Gym om 07:00, 1 u; Report, 2 u, het belangrijkste;"
    " Shop, uiterlijk maandag 2 maart om 18:00; Mail.",
    "de": "Notiert: dein Tag 06:30–18:00; Gym um 07:00, 1 h; Report, 2 h, das Wichtigste;"
    " Shop, fällig am Montag, 2. März um 18:00; Mail.",
    "fr": "Noté\u00a0: ta journée 06:30–18:00\u202f; Gym à 07:00, 1 h\u202f; Report, 2 h, l’essentiel de la journée\u202f;"
    " Shop, échéance le lundi 2 mars à 18:00\u202f; Mail.",
    "es": "Anotado: tu día 06:30–18:00; Gym a las 07:00, 1 h; Report, 2 h, lo más importante;"
    " Shop, límite el lunes 2 de marzo a las 18:00; Mail.",
}


@pytest.mark.parametrize("language", LINES)
def test_each_fact_is_said_apart_from_the_others(language: str) -> None:
    """S267"""
    assert (
        describe_change(make_session(), make_session(GYM, REPORT, SHOP, MAIL, day_start=time(6, 30)), language)
        == LINES[language]
    )


def test_short_facts_are_joined_by_and() -> None:
    assert (
        describe_change(make_session(), make_session(MAIL, day_start=time(8)))
        == "Noted: your day 08:00–18:00 and Mail."
    )


def test_a_new_end_does_not_repeat_a_start_that_may_be_past() -> None:
    assert describe_change(make_session(), make_session(day_end=time(19))) == "Noted: your day until 19:00."


def test_a_star_is_said_of_its_task_alone() -> None:
    mail = replace(MAIL, one_thing=True)
    assert describe_change(make_session(REPORT, MAIL), make_session(replace(REPORT, one_thing=False), mail)) == (
        "Noted: Mail is the one thing that matters."
    )
    assert (
        describe_change(make_session(mail), make_session(MAIL))
        == "Noted: Mail is no longer the one thing that matters."
    )


def test_a_task_that_is_gone_is_off_the_list() -> None:
    assert describe_change(make_session(MAIL, REPORT), make_session(replace(REPORT, minutes=60))) == (
        "Noted: Report, 1 h, the one thing that matters; Mail is off the list."
    )
