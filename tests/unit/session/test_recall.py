"""The query of a point of planning, and the part of its answer that a session keeps (S14-S22, S46, S232)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.unit.conversation.rules import CALLS, QUIET, avoiding, knowing
from tests.unit.conversation.sessions import MORNING, event, plan_session, session, task

from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, resolve
from fateforger.planning.task_details import TaskDetails, TaskKind
from fateforger.session.day import frame_of
from fateforger.session.draft import basis_of, draft_constraints, draft_day
from fateforger.session.model import FrameFacts, InputFacts, Session
from fateforger.session.recall import (
    STANDING_BY,
    constraints_for_draft,
    day_facts,
    followed_constraints,
    nameable_constraints,
    query_constraints,
    recall,
)
from fateforger.session.rulebook import rules_in_force
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

Stage = TimeboxingStage
STANDUP = event("Standup", "09:30", "09:45")


def uids(now: Session) -> list[str]:
    return [item.uid for item in followed_constraints(now).applicable]


def make_rule(uid: str, *types: str, **fields: Any) -> Version:
    """Return a rule that asks for something at eight each morning."""
    windows = [{"kind": "prefer", "start": "08:00", "end": "08:30"}]
    return version_of(uid, **{"windows": windows, "applies_event_types": list(types), **fields})


def test_s15_what_the_day_holds() -> None:
    """Immovables, blocks and frame; and what the person's own rules put into each such day."""
    empty, full = session(Stage.CAPTURE_INPUTS), plan_session(Stage.REFINE, task("Report"), events=(STANDUP,))
    assert day_facts(empty, ()).model_dump() == {
        "meetings": False, "commutes": False, "sleep": True, "habits": False, "gaps": True, "blocks": (),
    }  # fmt: skip
    facts = day_facts(
        full, (make_rule("school", "C"), make_rule("yoga", "H"), make_rule("call", "M", start_date="2027-01-01"))
    )
    assert (facts.meetings, facts.commutes, facts.habits) == (True, True, True)
    assert facts.blocks == (ET.DEEP_WORK, ET.REGENERATION)


def test_s15_a_rule_against_something_does_not_put_it_into_the_day() -> None:
    assert day_facts(session(), (avoiding("calls", "00:00", "10:00", applies_event_types=["M"]),)).meetings is False


def test_s15_s22_a_rule_that_is_set_aside_puts_nothing_into_the_day() -> None:
    """Nor does it bring in the rules about what it would have put there."""
    school, about = make_rule("school", "C"), version_of("about", necessity="prefer", applies_event_types=["C"])
    now = knowing(plan_session(Stage.REFINE), school, about)
    apart = now.with_rules(set_aside=("school",))
    assert day_facts(now, (school,)).commutes is True
    assert day_facts(apart, (school,)).commutes is False
    assert uids(now) == ["school", "about"]
    assert uids(apart) == []


def test_a_rule_about_habits_counts_where_a_task_is_one() -> None:
    late = version_of("late", necessity="should", applies_event_types=["H"])
    yoga = replace(task("Yoga"), details=TaskDetails(kind=TaskKind.HABIT))
    for tasks, found in ((), []), ((task("Report"),), []), ((yoga,), ["late"]):
        now = knowing(session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=tasks)), late)
        assert [item.uid for item in constraints_for_draft(now).applicable] == found


def test_s15_a_day_that_is_full_has_no_gaps() -> None:
    whole = event("Offsite", "09:00", "18:00")
    assert day_facts(session(Stage.CAPTURE_INPUTS, whole), ()).gaps is True  # nothing is planned yet
    now = plan_session(Stage.REFINE, task("A", 60), events=(whole,), frame=FrameFacts(lunch_start=None))
    assert day_facts(now, ()).gaps is False
    assert day_facts(now.with_day(frame=FrameFacts(day_end="19:00", lunch_start=None)), ()).gaps is True


@pytest.mark.parametrize(
    ("stage", "queries"),
    [
        (Stage.COLLECT_CONSTRAINTS, [(("startup_prefetch",), ("profile", "datespan"), ()), ((), ("profile", "datespan"), ())]),
        (Stage.CAPTURE_INPUTS, [((), (), ("avoid_window",))]),
        (Stage.REFINE, [((), (), ("avoid_window",))]),
    ],
)  # fmt: skip
def test_s16_s18_each_stage_has_its_queries(stage: Stage, queries: list[Any]) -> None:
    """``query_types`` is asked at every stage but the first."""
    from fateforger.memory.applicability import Context

    now = session(stage)
    context = Context(user_id="U1", as_of=now.date, timezone=now.tz, session_id=now.id)
    found = query_constraints(now, (QUIET,), context)
    assert [(q.tags, q.scopes_any, q.type_ids) for q in found] == queries


def test_s18_stage_1_shows_what_was_marked_for_the_start_and_what_was_said_here() -> None:
    """A must counts at every step (K9)."""
    marked, other = version_of("start", topics=["startup_prefetch"]), version_of("other")
    here = version_of("here", scope="session", session="s1")
    now = knowing(session(Stage.COLLECT_CONSTRAINTS, said=(here,)), marked, other)
    assert set(uids(now)) == {"start", "here"}
    assert set(uids(knowing(now, marked, other, QUIET))) == {"start", "here", "quiet"}
    assert set(uids(knowing(now, other))) == {"other", "here"}


def test_s18_what_sets_the_frame_is_marked_for_the_start() -> None:
    """S18, S42: by what it is, without a tag."""
    bed = version_of("bed", aspect_classification={"frame_slot": "bedtime", "schedule_start": "22:00"})
    now = knowing(session(Stage.COLLECT_CONSTRAINTS), bed, version_of("other"))
    assert uids(now) == ["bed"]


def test_s21_what_the_next_step_needs_is_kept_and_not_followed_before() -> None:
    """Another stage needs no other read of the store. A must counts for any plan (K9)."""
    later = version_of("review", applies_stages=["REVIEW"])
    now = knowing(plan_session(Stage.REFINE), CALLS, later, QUIET)
    assert uids(now) == ["calls", "quiet"]
    assert uids(replace(now, stage=Stage.REVIEW_COMMIT)) == ["calls", "quiet", "review"]
    assert uids(knowing(plan_session(Stage.REFINE, events=(STANDUP,)), CALLS)) == ["calls"]


def test_s21_s175_card_prompts_and_drafts_take_the_same_musts() -> None:
    """K9: also one about calls while there is none on the day, so that it is there when one is asked for."""
    for stage in (Stage.CAPTURE_INPUTS, Stage.SKELETON, Stage.REFINE, Stage.REVIEW_COMMIT):
        now = knowing(plan_session(stage), CALLS, QUIET)
        shown = {item.uid for item in rules_in_force(now).applicable}
        assert (
            shown
            == set(uids(now))
            == {item.uid for item in constraints_for_draft(now).applicable}
            == {"calls", "quiet"}
        )


def test_s2_s22_what_was_said_here_counts_at_once_and_what_was_set_aside_does_not() -> None:
    here = avoiding("here", "13:00", "14:00", scope="session", session="s1")
    now = knowing(plan_session(Stage.REFINE), QUIET)
    assert uids(now.with_rules(said=(here,), set_aside=("quiet",))) == ["here"]


def test_s20_another_persons_rows_and_another_sessions_are_never_kept() -> None:
    rows = (version_of("theirs", user="U2"), version_of("other", scope="session", session="s2"), QUIET)
    assert [v.uid for v in recall(plan_session(Stage.REFINE), rows, MORNING).versions] == ["quiet"]


def test_a_must_is_never_left_out_and_what_is_left_out_is_counted() -> None:
    """S17, S174: 60 that must be followed and 150 that are only wished, of which 50 apply and 50 stand by."""
    musts = tuple(avoiding(f"m{n}", "00:00", "05:00") for n in range(60))
    wishes = tuple(version_of(f"w{n:03}", necessity="prefer") for n in range(150))
    known = recall(plan_session(Stage.REFINE), (*wishes, *musts), MORNING)
    kept = [version.record.necessity for version in known.versions]
    assert kept.count(Necessity.MUST) == 60
    assert len(kept) == 60 + STANDING_BY
    assert known.left_out == 150 - STANDING_BY


def test_what_can_be_named_begins_with_what_applies() -> None:
    gone = version_of("gone", status="declined", event={"action": "archive", "reason": None})
    other = version_of("other", days_of_week=["SU"])
    now = knowing(plan_session(Stage.REFINE), QUIET, other)
    found = nameable_constraints(now, (gone, other, QUIET, version_of("theirs", user="U2")))
    assert [version.uid for version in found] == ["quiet", "other", "gone"]


# --- the draft ---


LISTED = session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("Report"),)))


def test_s46_s232_a_draft_follows_from_the_constraints_too() -> None:
    """Rules from here or from the store, set aside or changed: each gives another draft. Saving one does not."""
    here = avoiding("here", "13:00", "14:00", scope="session", session="s1")
    lasting = avoiding("here", "13:00", "14:00")
    said_, stored = LISTED.with_rules(said=(here,)), knowing(LISTED, lasting)
    apart = stored.with_rules(set_aside=("here",))
    changed = knowing(LISTED, avoiding("here", "13:00", "15:00"))
    assert len({basis_of(now) for now in (LISTED, said_, stored, changed)}) == 4
    assert basis_of(apart) == basis_of(LISTED)
    saved = lasting.model_copy(update={"seq": 7})
    assert basis_of(knowing(LISTED, saved)) == basis_of(stored) == basis_of(LISTED.with_rules(said=(lasting,)))


def test_a_draft_follows_the_same_before_and_after_it_was_made() -> None:
    """So that one made ahead is still good when it is asked for."""
    now = knowing(LISTED, QUIET, CALLS)
    drafted = plan_session(Stage.SKELETON, task("Report"), recalled=now.rules.recalled)
    assert [item.uid for item in constraints_for_draft(now).applicable] == [
        item.uid for item in constraints_for_draft(drafted).applicable
    ]
    assert basis_of(now) == basis_of(drafted)
    assert frame_of(now) == frame_of(drafted)


def test_s21_a_draft_keeps_what_was_said() -> None:
    """A must closes its time to the blocks that it is about; set aside for this conversation, it does not."""
    must = avoiding("slow", "08:00", "10:30", necessity="must", applies_event_types=["DW"])
    calm, plain = draft_day(knowing(LISTED, must)), draft_day(LISTED)
    aside = draft_day(knowing(LISTED, must).with_rules(set_aside=("slow",)))
    assert [starts(now) for now in (plain, calm, aside)] == [["09:00"], ["10:30"], ["09:00"]]


def starts(now: Session) -> list[str]:
    assert now.planning.plan is not None
    return [f"{b.start:%H:%M}" for b in resolve(now.planning.plan) if b.event.type is ET.DEEP_WORK]


def test_s17_however_many_rules_must_be_followed_a_draft_follows_them_all() -> None:
    """Each closes five minutes more; the whole afternoon is closed by the last of them only."""
    closed = [
        avoiding(f"r{n}", f"{13 + n // 60}:{n % 60:02}", f"{13 + (n + 1) // 60}:{(n + 1) % 60:02}") for n in range(239)
    ]
    now = knowing(plan_session(Stage.SKELETON, task("Report", 60)), *closed, avoiding("last", "09:00", "13:00"))
    assert len(draft_constraints(now)) == 240
    after = draft_day(now)
    assert after.planning.plan is not None
    assert [b.start.hour for b in resolve(after.planning.plan) if b.key == "report"] == [17]
