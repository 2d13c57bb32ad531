"""Rules for a day in plain words, and those that cannot be kept together (S139, S143)."""

from __future__ import annotations

import pytest

from fateforger.errors import BadInput
from fateforger.text import speak
from fateforger.workflow.day_rules import find_day_conflicts, read_day_rule
from fateforger.workflow.day_words import describe_day_rule, suggest_day_remedy


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("BEFORE deep_work: admin_done", "When there is a block of deep work, admin work must be over by then."),
        (
            "BEFORE meeting: deep_work AND habit",
            "When there is a meeting, a block of deep work must come before it and a habit must come before it.",
        ),
        (
            "BEFORE deep_work: NOT meeting_done",
            "When there is a block of deep work, a meeting must not be over by then.",
        ),
        ("AFTER meeting: break", "When there is a meeting, a break must follow."),
        (
            "AFTER meeting: deep_work_before_12",
            "When there is a meeting, a block of deep work must begin before 12:00, at a later block.",
        ),
        ("NEVER: meeting_after_17", "No meeting past 17:00."),
        ("NEVER: deep_work_before_9_30 OR rest", "No deep work before 09:30 and no rest."),
        ("NEVER: deep_work AND friday", "No deep work on Fridays."),
        (
            "NEVER: deep_work AND meeting_done",
            "When there is a block of deep work and a meeting is over, this rule is broken.",
        ),
        ("ALWAYS: NOT commute", "No commute."),
        ("ALWAYS: meeting_done OR habit", "At each block, a meeting must be over or there must be a habit."),
        ("IF friday THEN NOT meeting_longer_than_60", "On Fridays, no meeting may take more than 60 minutes."),
        (
            "IF NOT monday THEN break",
            "On every day except Monday, there must be a break, at that block or a later one.",
        ),
        (
            "IF meeting_after_16 OR NOT admin_done THEN NOT deep_work_before_9",
            "When a meeting runs past 16:00 or admin work is not over yet, no deep work may begin before 09:00.",
        ),
        (
            "ON meeting: INVOKE break",
            "Each time there is a meeting, there must be a break, then or before the next time.",
        ),
    ],
)
def test_a_rule_is_told_in_plain_words(text: str, words: str) -> None:
    assert describe_day_rule(read_day_rule(text)) == words


IN_LANGUAGES = {
    "BEFORE deep_work: admin_done": {
        "nl": "Als er diep werk is, moet administratie dan voorbij zijn.",
        "de": "Wenn Fokusarbeit ansteht, muss Verwaltungsarbeit bis dahin vorbei sein.",
        "fr": "Quand il y a un bloc de travail de fond, un bloc de travail administratif doit déjà avoir pris fin.",
        "es": "Cuando hay un bloque de trabajo profundo, un bloque de trabajo administrativo tiene que haber terminado ya.",
    },
    "AFTER meeting: break": {
        "nl": "Als er een afspraak is, moet daarna een pauze volgen.",
        "de": "Wenn ein Termin ansteht, muss danach eine Pause folgen.",
        "fr": "Quand il y a un rendez-vous, il faut ensuite une pause.",
        "es": "Cuando hay una reunión, después tiene que haber una pausa.",
    },
    "NEVER: meeting_after_17": {
        "nl": "Geen afspraak na 17:00.",
        "de": "Kein Termin nach 17:00.",
        "fr": "Aucun rendez-vous après 17:00.",
        "es": "Ninguna reunión después de las 17:00.",
    },
    "IF friday THEN NOT meeting_after_15": {
        "nl": "Op vrijdag mag geen afspraak tot na 15:00 duren.",
        "de": "Am Freitag darf kein Termin über 15:00 hinausgehen.",
        "fr": "Le vendredi, aucun rendez-vous ne doit dépasser 15:00.",
        "es": "Cada viernes, ninguna reunión puede pasar de las 15:00.",
    },
    "IF meeting_after_15 AND NOT friday THEN break": {
        "nl": "Als een afspraak tot na 15:00 duurt en het geen vrijdag is, moet er een pauze zijn, bij dat blok of een later blok.",
    },
}


@pytest.mark.parametrize(("text", "language"), [(text, each) for text, told in IN_LANGUAGES.items() for each in told])
def test_condition_and_consequence_are_clauses_of_the_language(text: str, language: str) -> None:
    """S143: where the verb is depends on which of both it is."""
    with speak(language):
        assert describe_day_rule(read_day_rule(text)) == IN_LANGUAGES[text][language]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NEVER: meeting_after_17", "Move it, shorten it, or leave it out."),
        ("BEFORE deep_work: admin_done", "Put what it waits for before it, or move it back."),
        ("AFTER meeting: break", "Put what has to follow after it."),
        ("ON meeting: INVOKE break", "Put what has to follow after it."),
        ("ALWAYS: NOT commute", "Change it, or leave it out."),
        ("IF friday THEN NOT meeting_after_12", "Change it, or leave it out."),
    ],
)
def test_what_to_do_about_it_is_one_sentence(text: str, words: str) -> None:
    """Of what only the calendar holds, only the person can move anything."""
    rule = read_day_rule(text)
    assert suggest_day_remedy(rule, ours=True) == words
    assert suggest_day_remedy(rule, ours=False) == "It is an event on your calendar, so only you can move it."


@pytest.mark.parametrize(
    "text",
    [
        "ALWAYS: meeting\nNEVER: meeting",
        "BEFORE deep_work: admin_done\nBEFORE admin: deep_work",
        "AFTER meeting: rest\nAFTER break: meeting",
        "BEFORE deep_work: admin\nBEFORE admin OR habit: rest AND buffer_done\nBEFORE rest: deep_work_done",
    ],
)
def test_what_cannot_be_kept_together_is_found(text: str) -> None:
    """S143: ALWAYS with NEVER, and circles of BEFORE or AFTER, in which no block could be the first or the last one."""
    rules = [read_day_rule(line) for line in text.splitlines()]
    assert find_day_conflicts(rules) == (tuple(range(len(rules))),)


@pytest.mark.parametrize("text", ["BEFORE deep_work: deep_work_done", "NEVER: meeting OR NOT meeting"])
def test_what_no_block_can_keep_is_refused(text: str) -> None:
    """S143."""
    with pytest.raises(BadInput) as refused:
        read_day_rule(text)
    assert refused.value.message == f"No block can keep “{text}”."


@pytest.mark.parametrize(
    "text",
    [
        "BEFORE deep_work: admin_done\nAFTER deep_work: admin",
        "BEFORE deep_work: admin_done OR rest_done\nBEFORE admin: deep_work_done",
        "BEFORE deep_work AND monday: admin_done\nBEFORE admin: deep_work_done",
        "BEFORE meeting: deep_work\nBEFORE deep_work: admin\nBEFORE meeting: admin",
    ],
)
def test_what_some_day_can_keep_is_no_circle(text: str) -> None:
    assert find_day_conflicts([read_day_rule(line) for line in text.splitlines()]) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "IF friday THEN NOT deep_work",
            "Any other block keeps “NOT deep_work”. Say what must not be with NEVER, like “NEVER: friday AND deep_work”.",
        ),
        ("AFTER meeting: rest OR NOT meeting", "Any other block keeps “NOT meeting”. Say what must not be with NEVER."),
    ],
)
def test_a_rule_that_says_less_than_it_seems_to_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_day_rule(text)
    assert refused.value.message == sentence
