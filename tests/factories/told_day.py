"""A day described in unique words, so that each can be searched for where it must not be."""

from __future__ import annotations

from tests.factories.words import also, block, build_move, change, day, frame_of, inputs_of, new, patch, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import Harness, Person, meeting

from fateforger.errors import ModelUnreachable
from fateforger.ports.model import Role

SECRET_WORDS = (
    "Zwetschgendatschi",
    "Quarkstrudel",
    "Beteigeuze",
    "kolibri",
    "Żółw",
    "龍井茶",
    "Klabautermann",
    "Wolpertinger",
    "Nachtschicht",
    "Murmeltier",
)
"""In titles, notes, messages, answers and meetings of the day."""

LINES: tuple[Line, ...] = (
    wants("answer", also("proceed")),
    day(frame=frame_of(day_start="08:00")),
    'Sure! {"intent": "Wolpertinger"}',
    wants("answer"),
    day(
        inputs=inputs_of(
            add=[
                new("Zwetschgendatschi backen", 90, one_thing=True, notes="mit Quarkstrudel"),
                new("Beteigeuze Klabautermann", 60),
                new("Żółw, 龍井茶", 30),
            ]
        ),
    ),
    wants("answer"),
    day(inputs=inputs_of(change=[change(2, title="Beteigeuze, Klabautermann: kolibri")])),
    wants("proceed"),
    wants("proceed"),
    wants("answer"),
    "No, Nachtschicht!",
    patch(build_move(0, "14:00", 45), block("Murmeltier füttern", "16:30", 30)),
    wants("ask"),
    {"answer": "Murmeltier is at half past four."},
    wants("proceed"),
)


def speaking() -> ScriptedModel:
    """Return the model of that day. It refuses every request for a draft."""
    lines = iter(LINES)
    return ScriptedModel(by=lambda prompt: ModelUnreachable("Away.") if prompt.role is Role.DRAFT else next(lines))


async def told_day(harness: Harness) -> Person:
    """Plan and commit a day by words and clicks, with a repair on the way.

    The model of ``harness`` is :func:`speaking`.
    """
    meeting(harness, "Wolpertinger Jour fixe", "10:00", "11:00", description="Nachtschicht, kolibri")
    anna = Person(harness)
    await anna.start()
    await anna.press("Plan this day")
    await anna.says("ab acht, dann weiter zu Zwetschgendatschi")
    await anna.says("Zwetschgendatschi (mit Quarkstrudel), Beteigeuze Klabautermann, Żółw 龍井茶")
    await anna.says("Beteigeuze heißt jetzt kolibri")
    await anna.says("los, Murmeltier")
    await anna.says("weiter")
    await anna.says("Zwetschgendatschi um zwei, und um halb fünf Murmeltier füttern")
    await anna.choose("kolibri", "15 min later")
    await anna.says("wann ist Murmeltier?")
    await anna.says("auf den Kalender, Nachtschicht")
    await anna.press("Commit anyway")
    return anna
