"""A person's rules over the order of the day in a session: shown, held to, asked about (S22, S138, S139)."""

from __future__ import annotations

from tests.factories.constraints import version_of
from tests.unit.conversation.rules import knowing, make_reading
from tests.unit.conversation.sessions import event, make_command, plan_session, task, turn

from fateforger.conversation.plan_nodes import ANYWAY, GOES_AGAINST, NOT_MADE
from fateforger.conversation.turn_runs import run_turn
from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.memory import MemoryQuestion
from fateforger.session.model import Session
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage
from fateforger.ui.draft_cards import draft_card
from fateforger.ui.plan_cards import plan_card
from fateforger.ui.rule_cards import MOST_SHOWN
from fateforger.values import replace

DEEP_FIRST = version_of(
    "first", seq=5, name="Deep first", description="eerst diep werk", necessity="must",
    day_rule="NEVER: deep_work_after_10_30",
)  # fmt: skip
LATE = version_of("late", seq=6, name="Late", description="no late meetings", day_rule="NEVER: meeting_after_17")
NOW = plan_session(
    TimeboxingStage.REFINE, task("Report", 60), task("Mail", 60), events=(event("Board", "17:00", "18:00"),)
)
"""Report 09:00-10:00, Mail 10:10-11:10, Lunch 12:30-13:15; all of it deep work."""
REPORT, MAIL, LUNCH = [block.key for block in by_time(NOW.planning.plan)] if NOW.planning.plan else ("", "", "")
MAIL_AGAINST = "No deep work past 10:30. These break it: “Mail” (10:10–11:10). Move it, shorten it, or leave it out."


def prose(card: Card) -> list[str]:
    return [part.text for part in card.parts if isinstance(part, Prose)]


def buttons(card: Card, label: str) -> list[Button]:
    rows = [part.control for part in card.parts if isinstance(part, Prose)]
    below = [item for part in card.parts if isinstance(part, Controls) for item in part.items]
    return [each for each in (*rows, *below) if isinstance(each, Button) and each.label == label]


def lines(session: Session) -> tuple[str, ...]:
    return session.thread.notice.lines if session.thread.notice else ()


def test_what_the_plan_does_not_keep_stands_on_the_card_with_a_way_out() -> None:
    """S139: in plain words, with the blocks, the remedy, and a button that lets the rule go for this day."""
    now = knowing(NOW, DEEP_FIRST, LATE)
    for card in (plan_card(now), draft_card(replace(now, stage=TimeboxingStage.SKELETON))):
        assert [text for text in prose(card) if "Not kept" in text] == [
            f"⚠️ Not kept, and it must be: {MAIL_AGAINST}",
            (
                "Not kept: No meeting past 17:00. These break it: “Board” (17:00–18:00). "
                "It is an event on your calendar, so only you can move it."
            ),
        ]
        assert [b.target for b in buttons(card, "Not for this day")] == ["5 first", "6 late"]
    assert [text for text in prose(plan_card(knowing(NOW))) if "Not kept" in text] == []


def test_of_many_the_rest_is_counted() -> None:
    many = [version_of(f"r{n}", seq=n + 1, day_rule=f"NEVER: meeting_after_{17}_{n:02}") for n in range(MOST_SHOWN + 2)]
    card = plan_card(knowing(NOW, *many))
    assert len(buttons(card, "Not for this day")) == MOST_SHOWN
    assert "2 more of your rules for the order of the day are not kept." in [getattr(p, "text", "") for p in card.parts]


async def test_a_change_that_breaks_a_must_waits_for_a_word() -> None:
    """The change is not made, the rule is named; one click sets it aside for the day and makes the change."""
    early = version_of(
        "e", seq=7, description="reports are done by ten", necessity="must", day_rule="NEVER: deep_work_after_11_30"
    )
    out = await run_turn(turn(NOW, make_command("shift_block", key=MAIL, minutes=60), memory=make_reading(early)))
    assert (out.session.planning.plan, out.effects) == (NOW.planning.plan, ())
    assert lines(out.session) == (
        (
            f"{NOT_MADE} On 1 February 2026 you said: “reports are done by ten”. No deep work past 11:30. "
            "These break it: “Mail” (11:10–12:10). Move it, shorten it, or leave it out."
        ),
        ANYWAY,
    )
    let = make_command("judge_constraint", uid="e", verdict="set_aside", seen=7)
    done = await run_turn(turn(out.session, let, memory=make_reading(early)))
    assert done.session.sync.held is None
    assert done.session.planning.plan is not None
    assert [f"{b.start:%H:%M}" for b in by_time(done.session.planning.plan) if b.key == MAIL] == ["11:10"]


async def test_what_was_broken_before_holds_up_no_change() -> None:
    """Only new breaches count; a meeting of others, which cannot be moved here, never blocks a change.

    Earlier breaches of the person's blocks are asked about before the write (K9).
    """
    rules = (DEEP_FIRST, version_of("late", seq=6, necessity="must", day_rule="NEVER: meeting_after_17"))
    out = await run_turn(turn(NOW, make_command("shift_block", key=MAIL, minutes=15), memory=make_reading(*rules)))
    assert out.session.planning.plan != NOW.planning.plan
    assert out.session.sync.held is not None
    assert (out.session.sync.held.writes, out.session.sync.held.uid, out.session.sync.held.also) == (
        "change",
        "first",
        (),
    )


async def test_taking_away_what_another_block_waits_for_breaks_the_rule_there() -> None:
    rest = version_of("r", seq=7, description="a break each day", necessity="must", day_rule="AFTER deep_work: break")
    out = await run_turn(turn(NOW, make_command("remove_block", key=LUNCH), memory=make_reading(rest)))
    assert out.session.sync.held is not None
    assert out.session.sync.held.uid == "r"


async def test_what_only_should_be_is_made_and_said() -> None:
    should = version_of("s", seq=7, description="by noon", day_rule="NEVER: deep_work_after_11_30")
    out = await run_turn(turn(NOW, make_command("shift_block", key=MAIL, minutes=60), memory=make_reading(should)))
    assert out.session.planning.plan != NOW.planning.plan
    assert [line for line in lines(out.session) if line.startswith(GOES_AGAINST)] == [
        (
            f"{GOES_AGAINST} On 1 February 2026 you said: “by noon”. No deep work past 11:30. "
            "These break it: “Mail” (11:10–12:10). Move it, shorten it, or leave it out."
        )
    ]


def test_what_was_read_out_of_unclear_words_is_asked_with_buttons() -> None:
    """S36: the words, what was made of them, and yes, another way, or no."""
    unclear = version_of("u", seq=8, description="mails eerst", confidence=0.5, day_rule="BEFORE deep_work: admin_done")
    card = plan_card(knowing(NOW, unclear))
    assert [text for text in prose(card) if "read that right" in text] == [
        "You said “mails eerst”. Did I read that right? When there is a block of deep work, admin work must be over by then."
    ]
    asked = [buttons(card, label) for label in ("Yes", "Change it", "No such rule")]
    assert [[(b.action, b.target) for b in each] for each in asked] == [
        [("memory.accept", "8 u")],
        [("form.rule", "8 u")],
        [("memory.decline", "8 u")],
    ]
    sure = version_of("u", seq=8, confidence=0.9, day_rule="BEFORE deep_work: admin_done")
    assert buttons(plan_card(knowing(NOW, sure)), "Yes") == []


async def test_clashing_rules_are_asked_with_both_sentences() -> None:
    """S143: this covers a rule in words, where no form could refuse it."""
    always = version_of("a", seq=9, name="Always", day_rule="ALWAYS: NOT meeting")
    record = version_of(None, name="Meet", day_rule="ALWAYS: meeting").record.model_dump(mode="json", by_alias=True)
    record["lifecycle"]["uid"] = None
    out = await run_turn(turn(NOW, make_command("remember_constraint", record=record), memory=make_reading(always)))
    [question] = out.session.rules.memory_questions
    assert (
        question.sentence
        == "“No meeting” and “At each block, there must be a meeting” cannot both be kept. Which one counts?"
    )
    assert question.names == ("Meet", "Always")


async def test_a_block_that_breaks_one_says_so_when_asked_why_it_is_there() -> None:
    out = await run_turn(turn(NOW, make_command("explain_block", key=MAIL), memory=make_reading(DEEP_FIRST)))
    assert lines(out.session)[1] == (
        "That goes against a rule of yours. On 1 February 2026 you said: “eerst diep werk”. " + MAIL_AGAINST
    )


def test_stored_rules_that_clash_are_asked_about_on_the_card() -> None:
    """S143: also where they came in by an import, and once, however they were found."""
    always, never = (
        version_of(uid, seq=seq, name=uid, day_rule=text)
        for uid, seq, text in (("first", 9, "ALWAYS: NOT meeting"), ("second", 10, "ALWAYS: meeting"))
    )
    now = knowing(NOW, always, never)
    card = plan_card(now)
    sentence = "“No meeting” and “At each block, there must be a meeting” cannot both be kept. Which one counts?"
    assert sentence in prose(card)
    assert [[b.target for b in buttons(card, f"Keep “{name}”")] for name in ("first", "second")] == [
        ['{"uids":["second","first"],"keep":"first"}'],
        ['{"uids":["second","first"],"keep":"second"}'],
    ]
    asked = MemoryQuestion(uids=("second", "first"), names=("second", "first"), sentence=sentence)
    assert prose(plan_card(now.with_rules(memory_questions=(asked,)))).count(sentence) == 1


async def test_words_that_say_the_rule_already_are_not_said_twice() -> None:
    plain_words = version_of(
        "p",
        seq=7,
        description="No deep work past 11:30",
        necessity="must",
        day_rule="NEVER: deep_work_after_11_30",
    )
    out = await run_turn(turn(NOW, make_command("shift_block", key=MAIL, minutes=60), memory=make_reading(plain_words)))
    assert lines(out.session)[0] == (
        f"{NOT_MADE} On 1 February 2026 you said: “No deep work past 11:30”. These break it: “Mail” (11:10–12:10). "
        "Move it, shorten it, or leave it out."
    )
