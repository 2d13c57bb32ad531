"""The person's view of each card."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from tests.unit.conversation.sessions import MONDAY, at, event, plan_session, session, task

from fateforger.planning.plan import TBPlan, resolve
from fateforger.session.cards import Button, Card, Controls, Menu, Prose
from fateforger.session.messages import Notice, SyncReport
from fateforger.session.model import (
    InputFacts,
    OfferedInput,
    RefineUpdate,
    Session,
    SessionStatus,
    Unplaced,
    WriteCounts,
)
from fateforger.session.open_work import bring_tasks
from fateforger.session.stages import TimeboxingStage
from fateforger.text import speak
from fateforger.ui.session_cards import left_card, root_line, stage_card, thread_title

S = TimeboxingStage
LONG = "Very long title " * 600


def words(card: Card) -> str:
    return "\n".join(getattr(part, "text", "") for part in card.parts)


def labels(card: Card) -> list[str]:
    rows = [c for p in card.parts if isinstance(p, Controls) for c in p.items]
    rows += [p.control for p in card.parts if isinstance(p, Prose) and p.control is not None]
    return [c.label for c in rows if isinstance(c, Button)]


MISSED = tuple(
    OfferedInput(task=task(title), source=source, day=MONDAY - timedelta(days=back))
    for title, source, back in (
        ("Mail", "planned", 1), ("Plants", "unplaced", 1), ("Calls", "deferred", 3), ("Taxes", "planned", 3),
        ("Book", "planned", 9), ("Essay", "planned", 10), ("Post", "planned", 10), ("Bills", "deferred", 5),
    )
)  # fmt: skip
CASES: dict[str, Session] = {
    "date": session(),
    "loading": session(S.COLLECT_CONSTRAINTS, snapshot=None),
    "unread": session(S.COLLECT_CONSTRAINTS, snapshot=None, snapshot_error="It does not answer."),
    "frame": session(S.COLLECT_CONSTRAINTS, event("Standup", "09:30", "10:00")),
    "no tasks": session(S.CAPTURE_INPUTS),
    "tasks": session(S.CAPTURE_INPUTS, inputs=InputFacts(tasks=tuple(task(f"T{n}") for n in range(60)))),
    "missed days": session(S.CAPTURE_INPUTS, offered=MISSED),
    "caught up": bring_tasks(session(S.CAPTURE_INPUTS, offered=MISSED), ("mail", "plants"), ("calls",)),
    "skeleton": plan_session(
        S.SKELETON, overview="- x", unplaced=(Unplaced(task_id="t", title="Book", reason="full"),)
    ),
    "refine": plan_session(S.REFINE),
    "trouble": plan_session(S.REFINE, problem="It does not answer.", written=WriteCounts(created=2)),
    "brakes": plan_session(S.REFINE, problem="This would delete 4 blocks.", brakes=("mass_deletion",)),
    "done": plan_session(
        S.REVIEW_COMMIT,
        snapshot=None,
        written=WriteCounts(created=2),
        last_sync=SyncReport(status="changed", created=2),
    ),
    "partial": plan_session(
        S.REVIEW_COMMIT, written=WriteCounts(created=1), last_sync=SyncReport(status="partial", created=1)
    ),
    "failed": plan_session(S.REVIEW_COMMIT, last_sync=SyncReport(status="failed")),
    "ended": plan_session(S.REFINE, status=SessionStatus.CANCELLED),
}


@pytest.mark.parametrize("stage", [S.COLLECT_CONSTRAINTS, S.SKELETON, S.REFINE])
@pytest.mark.parametrize(
    ("titles", "sentence"),
    [
        (("Standup",), "⚠️ I could not work out when “Standup” takes place, so it is not in this plan."),
        (("A", "B"), "⚠️ I could not work out when “A” and “B” take place, so they are not in this plan."),
        (tuple("ABCDE"), "when “A”, “B”, “C” and 2 more take place"),
        (("*x*",), r"when “\*x\*” takes place"),
    ],
)
def test_what_the_calendar_left_out_is_named(stage: S, titles: tuple[str, ...], sentence: str) -> None:
    """No event stops the program: the day is planned without it, and the card says so."""
    now = plan_session(stage)
    assert now.day.snapshot is not None
    assert "could not work out" not in words(stage_card(now))
    without = now.with_day(snapshot=now.day.snapshot.model_copy(update={"left_out": titles}))
    assert sentence in words(stage_card(without))


def test_blocks_after_the_end_of_the_day_are_pointed_out() -> None:
    now = plan_session(S.REFINE)
    assert "After the end of your day" not in words(stage_card(now))
    assert now.planning.plan is not None
    last = max(block.end for block in resolve(now.planning.plan))
    short = now.with_day(frame=now.day.frame.model_copy(update={"day_end": (last - timedelta(minutes=5)).time()}))
    assert f"⚠️ After the end of your day, {last - timedelta(minutes=5):%H:%M}: " in words(stage_card(short))
    assert f" until {last:%H:%M}." in words(stage_card(short))


@pytest.mark.parametrize("now", CASES.values(), ids=CASES)
def test_each_card_names_the_day_and_what_can_be_done(now: Session) -> None:
    """S54: one heading, a summary for notifications, and never more than Slack takes."""
    card = stage_card(now)
    assert [p.kind for p in card.parts].count("heading") == 1
    assert "2 March" in card.text
    assert len(card.parts) <= 50
    assert len(set(labels(card))) == len(labels(card))
    if now.status is SessionStatus.ACTIVE:
        assert [label for label in ("Cancel", "Close") if label in labels(card)]
        assert [label in labels(card) for label in ("Redo step",)] == [now.stage is not S.DATE]
    assert sum(b.style == "primary" for p in card.parts for b in getattr(p, "items", ()) if b.kind == "button") <= 1


@pytest.mark.parametrize("now", CASES.values(), ids=CASES)
def test_words_are_whole_and_plain(now: Session) -> None:
    """No double spaces or stops, no leftovers of formatting, nothing empty."""
    text = words(stage_card(now)) + root_line(now)
    assert not re.search(r"None(?! of it)|\{|\}|  |\.\.|\?\.|: :|‘", text)
    assert all(getattr(p, "text", "x").strip() for p in stage_card(now).parts)


def test_missed_days_are_one_line_and_one_button_apart_from_what_else_is_left() -> None:
    """A day a week away has its date; what is open of a day that was not missed stays on a line of its own."""
    shown = words(stage_card(CASES["missed days"]))
    line = (
        "**From 4 days since Friday 20 February**, 7 things are still open, as far as I know: Essay, Post, Book, Calls,"
    )
    assert f"{line} Taxes and 2 more.\n**Left for another day** on Wednesday 25 February: Bills (1 h)" in shown
    few = stage_card(session(S.CAPTURE_INPUTS, offered=MISSED[:1]))
    assert "**From Sunday**, one thing is still open, as far as I know: Mail." in words(few)
    assert labels(few)[-1:] == ["Catch up…"]


def test_catching_up_says_what_it_did_and_what_it_left() -> None:
    shown = words(stage_card(CASES["caught up"]))
    assert "You caught up with Friday and Sunday: 2 things are on your list, one thing is settled." in shown
    assert "**From Friday 20 February, Saturday 21 February and Friday**, 4 things are still open" in shown


def test_ways_out_of_trouble() -> None:
    assert labels(stage_card(CASES["done"])) == [
        "How is it going?",
        "Undo",
        "Back to refine",
        "Redo step",
        "Close",
        "History",
        "Show my queue",
        "Move this plan…",
    ]
    assert labels(stage_card(CASES["partial"])) == [
        "Try again",
        "Undo",
        "Back to refine",
        "Redo step",
        "Cancel",
        "History",
        "Show my queue",
    ]
    assert labels(stage_card(CASES["failed"])) == [
        "Try again",
        "Back to refine",
        "Redo step",
        "Cancel",
        "History",
        "Show my queue",
    ]
    assert "Yes, go ahead" in labels(stage_card(CASES["brakes"]))
    assert "Try again" in labels(stage_card(CASES["trouble"]))


BESIDE = {"Add block", "Preview", "History", "Show my queue", "Add a rule", "How is it going?", "Move this plan…"}


def test_undo_last_update_comes_first_and_the_way_forward_stays() -> None:
    """S55: the swap would leave no way forward, so both are there."""
    step = RefineUpdate(plan_before=TBPlan(date=session().date, tz=session().tz), sentence="It moved.")
    card = stage_card(plan_session(S.REFINE, refine_undo=(step,)))
    assert [label for label in labels(card) if label not in BESIDE] == [
        "Undo last update",
        "Commit to calendar",
        "Back",
        "Redo step",
        "Cancel",
    ]


def test_cancel_asks_before_it_leaves_blocks_behind() -> None:
    def confirm(now: Session) -> str | None:
        rows = [c for p in stage_card(now).parts if isinstance(p, Controls) for c in p.items]
        return next(b.confirm for b in rows if isinstance(b, Button) and b.action == "cancel")

    assert confirm(CASES["refine"]) is None
    assert confirm(CASES["done"]) == "Close this plan? What is on your calendar stays there."


def test_a_refusal_leads_with_what_is_missing() -> None:
    """S61"""
    now = session(S.CAPTURE_INPUTS, notice=Notice(lines=("Nothing to plan.", "What shall it be?"), refused=True))
    parts = stage_card(now).parts
    assert getattr(parts[1], "text", "") == "⚠️ Nothing to plan.\nWhat shall it be?"


def test_menus_fit_slack() -> None:
    """Five choices are what Slack's small menu takes."""
    for now in CASES.values():
        for part in stage_card(now).parts:
            if isinstance(part, Prose) and isinstance(part.control, Menu):
                assert 2 <= len(part.control.choices) <= 5


def test_a_single_block_has_nothing_to_trade_places_with() -> None:
    now = plan_session(S.REFINE, task("Report"), frame=session().day.frame.model_copy(update={"lunch_minutes": 0}))
    plan = now.planning.plan
    assert plan is not None
    card = stage_card(now.with_planning(plan=plan.replace([e for e in plan.events if e.key == "report"])))
    menus = [p.control for p in card.parts if isinstance(p, Prose) and isinstance(p.control, Menu)]
    assert [[c.value for c in m.choices] for m in menus] == [
        ["form.edit_block", "block.earlier", "block.later", "block.remove"]
    ]


@pytest.mark.parametrize("stage", [S.COLLECT_CONSTRAINTS, S.SKELETON, S.REFINE, S.REVIEW_COMMIT])
def test_ten_thousand_characters_stay_readable(stage: TimeboxingStage) -> None:
    """Issue: titles of 10,000 characters, from the calendar and from refusals."""
    huge = event("x", "09:30", "10:00").model_copy(update={"summary": LONG})
    now = plan_session(stage, events=(huge,) * 40, overview="- x", notice=Notice(lines=(LONG, "Next."), refused=True))
    card = stage_card(now)
    assert all(len(getattr(p, "text", "")) <= 3000 for p in card.parts)
    assert len(words(card)) < 12_000


def test_titles_cannot_write_markup() -> None:
    evil = event("x", "09:30", "10:00").model_copy(update={"summary": "<!channel> *bold* [x](http://e)"})
    text = words(stage_card(session(S.COLLECT_CONSTRAINTS, evil)))
    assert "<!channel>" not in text
    assert "\\<!channel\\> \\*bold\\* \\[x\\](http://e)" in text


def test_blocks_that_run_into_meetings() -> None:
    now = plan_session(S.REFINE, task("Report"))
    assert now.day.snapshot is not None
    crowd = tuple(
        event("Drill", "09:00", "09:30").model_copy(update={"id": f"e{n}", "end": at("17:00")}) for n in range(3)
    )
    hit = now.with_day(snapshot=now.day.snapshot.model_copy(update={"events": crowd}))
    assert "⚠️ “Report” runs into “Drill”, 09:00–17:00.\n⚠️ “Lunch” runs into “Drill”, 09:00–17:00." in words(
        stage_card(hit)
    )


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("date", "Planning **Monday 2 March**: is it the right day?"),
        ("frame", "Planning **Monday 2 March**: the hours of the day"),
        ("no tasks", "Planning **Monday 2 March**: what to do"),
        ("tasks", "Planning **Monday 2 March**: what to do, 60 tasks so far"),
        ("skeleton", "Planning **Monday 2 March**: a first draft, 3 blocks"),
        ("refine", "Planning **Monday 2 March**: refining, 3 blocks"),
        ("done", "**Monday 2 March**: on your calendar, 3 blocks"),
        ("partial", "**Monday 2 March**: only part is on your calendar"),
        ("failed", "**Monday 2 March**: not on your calendar yet"),
        ("ended", "**Monday 2 March**: ended"),
    ],
)
def test_the_first_message(case: str, line: str) -> None:
    assert root_line(CASES[case]) == line


@pytest.mark.parametrize(
    ("case", "title"),
    [
        ("date", "Mon 2 Mar: planning"),
        ("refine", "Mon 2 Mar: planning"),
        ("done", "Mon 2 Mar: on your calendar"),
        ("failed", "Mon 2 Mar: planning"),
        ("ended", "Mon 2 Mar: ended"),
    ],
)
def test_the_title_of_the_thread(case: str, title: str) -> None:
    """S272."""
    assert thread_title(CASES[case]) == title


@pytest.mark.parametrize(
    ("left", "line"),
    [
        (TimeboxingStage.DATE, "✓ **Monday 2 March**, Europe/Amsterdam time"),
        (TimeboxingStage.COLLECT_CONSTRAINTS, "✓ Your day: 09:00–18:00 (9 h), lunch around 12:30 for 45 min"),
        (TimeboxingStage.CAPTURE_INPUTS, "✓ 2 tasks: Report ⭐ and Mail"),
        (TimeboxingStage.SKELETON, "✓ First draft: 3 blocks"),
        (TimeboxingStage.REFINE, "✓ Refined: 3 blocks"),
    ],
)
def test_a_stage_that_was_left_shrinks_to_one_true_line(left: TimeboxingStage, line: str) -> None:
    """S213: the thread stays short, and no stale card says what is not so any more."""
    now = plan_session(TimeboxingStage.REVIEW_COMMIT, task("Report", one_thing=True), task("Mail"))
    assert [p.text for p in left_card(now, left).parts if isinstance(p, Prose)] == [line]


def test_what_was_to_do_reads_well_in_french() -> None:
    """S213, S280: a colon has a space before it."""
    now = plan_session(TimeboxingStage.REVIEW_COMMIT, task("Devis", one_thing=True), task("Courses"))
    with speak("fr"):
        told = words(left_card(now, TimeboxingStage.CAPTURE_INPUTS))
    assert told == "✓ 2 tâches\N{NO-BREAK SPACE}: Devis ⭐ et Courses"


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What would make “Report” (and {count} more) a success?"),
        ("de", "Was würde „Report“ (und {count} weitere) zum Erfolg machen?"),
        ("es", "¿Qué haría de «Report» (y {count} más) un éxito?"),
        ("nl", "Wanneer is “Report” (en nog {count}) een succes?"),
    ],
)
@pytest.mark.parametrize("more", [1, 2])
def test_what_makes_several_tasks_a_success_is_asked_in_the_language(language: str, question: str, more: int) -> None:
    """S209"""
    tasks = tuple(task(title, depth="deep") for title in ("Report", "Review", "Letter")[: more + 1])
    now = session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(tasks=tasks))
    with speak(language):
        assert question.format(count=more) in words(stage_card(now))


def test_going_back_says_where_to() -> None:
    """S57"""
    now = session(TimeboxingStage.COLLECT_CONSTRAINTS)
    assert left_card(now, TimeboxingStage.CAPTURE_INPUTS).text == "↩ Back to “Your day's hours”."
