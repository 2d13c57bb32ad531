"""The picture of a session: its plan, its meetings, and the changes of the last turn."""

from __future__ import annotations

from datetime import time

import pytest
from tests.unit.conversation.sessions import at, event, plan_session, session, task

from fateforger.session.cards import DayView, Picture
from fateforger.session.commands.plan import EditBlock
from fateforger.session.edits import apply_edit
from fateforger.session.messages import CHANGE, Notice
from fateforger.session.model import FrameFacts, RefineUpdate, Session
from fateforger.session.stages import TimeboxingStage
from fateforger.ui.card_parts import picture
from fateforger.ui.picture_words import changes_of
from fateforger.ui.session_cards import stage_card


def move_block() -> Session:
    """Return a plan in which a block was just moved."""
    before = plan_session(
        TimeboxingStage.REFINE, task("Report", 60), task("Mail", 30), events=(event("Standup", "10:00", "10:30"),)
    )
    assert before.planning.plan is not None
    key = before.planning.plan.events[0].block_key
    command = EditBlock(command_id="c1", user_id="U1", at=at("07:00"), session_id="s1", key=key, start=time(16, 0))
    change = apply_edit(before, command)
    step = RefineUpdate(plan_before=change.before, sentence=change.sentence)
    return before.with_planning(plan=change.after).with_sync(refine_undo=(step,)).say(change.sentence, code=CHANGE)


def view(now: Session, *, changed: bool = False) -> DayView:
    """Return the day of its one picture."""
    (shown,) = picture(now, changed=changed)
    assert isinstance(shown.day, DayView)
    return shown.day


def test_the_day_with_its_meetings_in_its_frame() -> None:
    now = plan_session(TimeboxingStage.SKELETON, task("Report", 60), events=(event("Standup", "10:00", "10:30"),))
    shown = view(now)
    assert (shown.start, shown.end) == (at("09:00"), at("18:00"))
    assert [(meeting.title, meeting.start) for meeting in shown.meetings] == [("Standup", at("10:00"))]
    assert now.planning.plan is not None
    assert {block.key for block in shown.blocks} == {block.key for block in now.planning.plan.events}
    assert shown.before is None
    assert picture(session()) == ()


def test_a_frame_that_cannot_be_is_left_out() -> None:
    wrong = FrameFacts(day_start=time(14, 0), day_end=time(13, 0))
    shown = view(plan_session(TimeboxingStage.SKELETON).with_day(frame=wrong))
    assert (shown.start, shown.end) == (None, None)


def test_what_the_last_turn_changed_is_shown_while_the_card_says_so() -> None:
    now = move_block()
    shown = view(now, changed=True)
    assert list(changes_of(shown).of.values()) == ["moved"]
    for later in (None, Notice(lines=now.notice_lines), Notice(lines=now.notice_lines, refused=True, code=CHANGE)):
        plain = view(now.with_thread(notice=later), changed=True)
        assert plain.before is None
    assert picture(now) == picture(now.with_thread(notice=None), changed=True)


@pytest.mark.parametrize("stage", TimeboxingStage)
def test_the_cards_of_the_plan_have_one_picture_and_the_others_none(stage: TimeboxingStage) -> None:
    pictures = [part for part in stage_card(plan_session(stage)).parts if isinstance(part, Picture)]
    with_one = {TimeboxingStage.SKELETON, TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}
    assert len(pictures) == (1 if stage in with_one else 0)
