"""Constraint records from a message about a person's days: structured, in any language (S1, S3, S5, S94)."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from tests.factories.told_rules import NOTHING, build_extraction, rule
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.sessions import make_command, session

from fateforger.conversation.language.rule_extraction import ConstraintInterpretation, build_records, interpret
from fateforger.errors import ModelUnusable
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.vocabulary import Necessity, RuleKind, Scope, Source, Status, Weekday, WindowKind
from fateforger.planning.plan import ET
from fateforger.ports.model import Role


async def read(text: str, *lines: Line) -> tuple[ConstraintInterpretation, ScriptedModel]:
    model = ScriptedModel(*lines)
    return await interpret(make_command("user_reply", text=text), session(), model), model


async def records_of(text: str, line: dict[str, Any]) -> tuple[ConstraintRecord, ...]:
    return build_records((await read(text, line))[0], session())


@pytest.mark.parametrize("text", ["Hi!", "start timeboxing", "ok, weiter", "schieb den Bericht auf 10"])
async def test_s1_nothing_to_remember(text: str) -> None:
    assert await records_of(text, NOTHING) == ()


async def test_s1_what_a_model_lists_without_a_wish_to_extract_is_not_taken() -> None:
    assert await records_of("Hi!", {**NOTHING, "constraints": [rule("x", "y")]}) == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("No calls before 10, please", "No calls before 10"),
        ("Bitte keine Anrufe vor 10 Uhr", "Keine Anrufe vor 10"),
        ("Pas d'appels avant 10 h", "Pas d'appels avant 10 h"),
        ("Geen telefoontjes voor tienen", "Geen telefoontjes voor tienen"),
        ("10時前の電話は避けたい", "10時前は電話なし"),
    ],
)
async def test_s94_a_rule_in_any_language_keeps_the_persons_words(text: str, name: str) -> None:
    line = rule(
        name,
        text,
        necessity="must",
        rule_kind="avoid_window",
        windows=[{"kind": "avoid", "start": "00:00", "end": "10:00"}],
        event_types=["M"],
        topics=["calls"],
    )
    (record,) = await records_of(text, build_extraction(line))
    assert (record.name, record.words, record.necessity) == (name, text, Necessity.MUST)
    assert (record.status, record.source, record.scope) == (Status.PROPOSED, Source.USER, Scope.PROFILE)
    assert record.payload.rule_kind is RuleKind.AVOID_WINDOW
    assert [(w.kind, w.start, w.end) for w in record.payload.windows] == [(WindowKind.AVOID, time(0), time(10))]
    assert (record.applies_event_types, record.topics) == ((ET.MEETING,), ("calls",))
    assert record.applicability.timezone is None


async def test_weekdays_dates_and_recurrence() -> None:
    (record,) = await records_of(
        "…",
        build_extraction(
            rule(
                "Kids",
                "I pick up the kids every other Tuesday in March",
                days_of_week=["TU"],
                start_date="2026-03-03",
                end_date="2026-03-31",
                recurrence="FREQ=WEEKLY;INTERVAL=2;BYDAY=TU",
            ),
            scope="datespan",
        ),
    )
    when = record.applicability
    assert (when.start_date, when.end_date, when.days_of_week) == (date(2026, 3, 3), date(2026, 3, 31), (Weekday.TU,))
    assert when.recurrence == "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU"


async def test_s6_other_words_for_the_same_rule_give_the_same_uid() -> None:
    one = await records_of("…", build_extraction(rule("Bed at 11", "In bed by eleven", rule_kind="fixed_bedtime")))
    two = await records_of(
        "…", build_extraction(rule("Bed at 11", "I want to sleep at 23:00", rule_kind="fixed_bedtime"))
    )
    three = await records_of("…", build_extraction(rule("Bed at 11", "In bed by eleven", rule_kind="min_sleep")))
    assert one[0].uid == two[0].uid
    assert one[0].uid != three[0].uid


@pytest.mark.parametrize(
    ("wrong", "mistake"),
    [
        (rule("X", "y", recurrence="every now and then"), "“X”: "),
        (rule("X", "y", start_date="2026-03-05", end_date="2026-03-01"), "“X”: It would end on 2026-03-01"),
        (rule("X", "y", minutes_min=90, minutes_max=30), "“X”: At least 90 and at most 30 minutes"),
        (rule("X", "y", confidence=3), "“confidence” has to be 1 or less."),
        (rule("X", "y", rule_kind="cook_dinner"), "“rule_kind” cannot be used"),
        (rule("X", "y", day_rule="BEFORE focus: admin_done"), "At line 1, column 8: Nothing is declared"),
        (rule("X", "y", day_rule="IF friday THEN NOT deep_work"), "Any other block keeps “NOT deep_work”."),
    ],
)
async def test_a_rule_that_cannot_be_written_down_goes_back(wrong: dict[str, Any], mistake: str) -> None:
    interpretation, model = await read("…", build_extraction(wrong), NOTHING)
    assert interpretation.should_extract is False
    ((_, sentence),) = model.prompts[1].history
    assert sentence.startswith(mistake)


async def test_and_in_the_end_nothing_is_guessed() -> None:
    with pytest.raises(ModelUnusable):
        await read("…", "no", build_extraction(rule("X", "y", minutes_min=-1)))


async def test_s94_what_is_unclear_is_asked() -> None:
    asked = "Meinst du jeden Freitag oder nur diesen?"
    interpretation, _ = await read("freitags früher Schluss", build_extraction(question=asked))
    assert (interpretation.constraints, interpretation.question) == ((), asked)


async def test_s116_it_is_the_background_clients_work() -> None:
    _, model = await read("Hi!", NOTHING)
    assert [p.role for p in model.prompts] == [Role.EXTRACT]


async def test_nothing_is_remembered_of_a_message_with_a_secret() -> None:
    """The model recognizes secrets of any form."""
    told = build_extraction(rule("Wifi", "the wifi password is hunter2")) | {"holds_secret": True}
    assert await records_of("the wifi password is hunter2", told) == ()


async def test_what_one_has_one_of_and_what_it_is_about_are_typed() -> None:
    """S177, S179: so that a new one replaces the old one, and nothing looks at words for it."""
    (record,) = await records_of(
        "I stop at five", build_extraction(rule("Stop at five", "I stop at five", slot="work_end"))
    )
    assert record.aspect is not None
    assert (record.aspect.frame_slot, record.aspect.dimension) == ("work_end", "policy")


async def test_a_rule_over_the_order_of_the_day_is_typed_and_read_by_the_parser() -> None:
    """S1, S94: the words stay the person's; only the rule itself names the kinds of blocks."""
    line = rule(
        "Eerst mail", "eerst de mail, dan pas diep werk", day_rule="BEFORE deep_work:admin_done", confidence=0.6
    )
    (record,) = await records_of("…", build_extraction({**line, "event_types": ["DW", "SW"]}))
    assert record.payload.model_dump(exclude_defaults=True) == {"day_rule": "BEFORE deep_work: admin_done"}
    assert (record.words, record.confidence) == ("eerst de mail, dan pas diep werk", 0.6)
    assert record.applies_event_types == ()
