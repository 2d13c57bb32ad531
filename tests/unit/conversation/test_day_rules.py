"""Rules over the order of the day by form: added, refused, shown, changed, taken back (S214)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversation.person import ANNA, Harness, Person, buttons_in, meeting, words_in

from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Necessity, Scope, Status
from fateforger.ui.rule_fields import NEEDED
from fateforger.workflow.day_rules import KINDS, WEEKDAYS

LATE: dict[str, Any] = {"day_rule": "NEVER: meeting_after_17", "necessity": "must"}


async def rules(harness: Harness) -> list[Version]:
    return list(select_newest(await harness.store.constraints.of(ANNA), ANNA).values())


async def test_the_form_shows_examples_and_every_name(anna: Person) -> None:
    await anna.to_frame()
    shown = await anna.look("rule_day")
    assert [field.name for field in shown.inputs][:2] == ["day_rule", "words"]
    words = words_in(shown)
    assert all(name in words for name in (*KINDS, *WEEKDAYS, "_done", "_after_17", "_before_9", "_longer_than_60"))
    assert (shown.title, shown.submit) == ("Add a rule", "Add")


async def test_a_rule_without_words_speaks_for_itself(anna: Person, harness: Harness) -> None:
    """It is used, shown on the memory card and in the review like any rule, and taken back by one Undo."""
    meeting(harness, "Board", "17:00", "18:00")
    await anna.to_frame()
    assert await anna.fill("rule_day", **LATE) is None
    [version] = await rules(harness)
    record = version.record
    assert (record.name, record.description) == ("No meeting past 17:00", "No meeting past 17:00")
    assert (record.payload.day_rule, record.payload.rule_kind) == ("NEVER: meeting_after_17", None)
    assert (record.necessity, record.scope, record.status) == (Necessity.MUST, Scope.PROFILE, Status.LOCKED)
    await anna.press("Your rules")
    assert "Must · No meeting past 17:00 · _counts on this day_" in anna.beside("memory")
    assert "No meeting past 17:00" in words_in(await anna.look("rules"))
    await anna.press_beside("memory", "Undo")
    assert [v.retired for v in await rules(harness)] == [True]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (" ", NEEDED),
        (
            "NEVER: meting",
            "At line 1, column 8: Nothing is declared with the name “meting”. Did you mean meeting?",
        ),
        ("NEVER meeting", "At line 1, column 7: There should be “:” here, not “meeting”; it goes NEVER: x."),
        (
            "BEFORE deep_work: admin_done\nNEVER: meeting",
            "At line 2, column 1: The rule should end here, or go on with AND or OR, but there is “NEVER”.",
        ),
        (
            "ON meeting: PROCEED_TO admin_done",
            "At line 1, column 24: PROCEED_TO needs an action, and “admin_done” is a state.",
        ),
        ("AFTER rest: break", "No block can keep “AFTER rest: break”."),
    ],
)
async def test_a_mistake_is_said_beside_the_field_with_its_place(anna: Person, typed: str, sentence: str) -> None:
    """The form stays open with a hint on the right form; nothing is remembered."""
    await anna.to_frame()
    errors = await anna.fill("rule_day", day_rule=typed)
    assert errors is not None
    assert errors.errors == {"day_rule": sentence}
    assert await rules(anna.harness) == []


async def test_another_spelling_of_a_trigger_is_the_same_rule(anna: Person, harness: Harness) -> None:
    """S132."""
    await anna.to_frame()
    assert await anna.fill("rule_day", day_rule="ON meeting: PROCEED_TO rest") is None
    [version] = await rules(harness)
    assert version.record.payload.day_rule == "ON meeting: INVOKE rest"


async def test_a_rule_that_clashes_is_refused_with_both_texts(anna: Person, harness: Harness) -> None:
    """S143; where one takes the place of the other there is no clash."""
    await anna.to_frame()
    await anna.fill("rule_day", day_rule="BEFORE deep_work: admin_done")
    errors = await anna.fill("rule_day", day_rule="BEFORE admin: deep_work_done")
    assert errors is not None
    assert errors.errors == {
        "day_rule": "“When there is admin work, a block of deep work must be over by then” and your rule “When there is a block of deep work, admin work must be over "
        "by then” cannot be kept together. Change this one, or archive the other first."
    }
    [old] = await rules(harness)
    shown = await anna.look("rule_new", target=f"{old.seq} {old.uid}")
    assert await anna.fill("rule_new", target=shown.target, day_rule="BEFORE admin: deep_work_done") is None
    assert len([v for v in await rules(harness) if not v.retired]) == 1


async def test_a_changed_rule_gets_new_words_where_it_had_none_of_its_own(anna: Person, harness: Harness) -> None:
    await anna.to_frame()
    await anna.fill("rule_day", **LATE)
    [old] = await rules(harness)
    shown = await anna.look("rule", target=f"{old.seq} {old.uid}")
    assert {field.name: field.value for field in shown.inputs if field.name in {"day_rule", "words", "kind"}} == {
        "day_rule": "NEVER: meeting_after_17",
        "words": "",
        "kind": "day_rule",
    }
    assert await anna.fill("rule", target=shown.target, day_rule="NEVER: meeting_after_18") is None
    [new] = await rules(harness)
    assert (new.uid, new.record.name, new.record.description) == (
        old.uid,
        "No meeting past 18:00",
        "No meeting past 18:00",
    )
    mine: dict[str, Any] = {"words": "Supper is at six", "name": "Supper"}
    await anna.fill("rule", target=f"{new.seq} {new.uid}", **mine)
    [worded] = await rules(harness)
    assert await anna.fill("rule", target=f"{worded.seq} {worded.uid}", day_rule="NEVER: meeting_after_19") is None
    [last] = await rules(harness)
    assert (last.record.name, last.record.description) == ("Supper", "Supper is at six")


async def test_a_rule_of_another_kind_can_become_one(anna: Person, harness: Harness) -> None:
    await anna.to_frame()
    await anna.fill("rule_new", words="No calls late", kind="avoid_window", times="17-23", blocks=("M",))
    [old] = await rules(harness)
    target = f"{old.seq} {old.uid}"
    await anna.fill("rule", target=target, kind="day_rule", day_rule="NEVER: meeting_after_17")
    [new] = await rules(harness)
    payload = new.record.payload
    assert (payload.day_rule, payload.rule_kind, payload.windows) == ("NEVER: meeting_after_17", None, ())
    assert new.record.applies_event_types == ()


async def test_from_app_home_without_a_session(harness: Harness) -> None:
    """The same form, the same store."""
    anna = Person(harness)
    home = await anna.coordinator.home(ANNA)
    assert "form.rule_day" in [getattr(c, "action", "") for p in home.parts for c in getattr(p, "items", ())]
    assert [field.name for field in (await anna.look("rule_day")).inputs].count("reach") == 0
    assert await anna.fill("rule_day", **LATE) is None
    assert [v.record.payload.day_rule for v in await rules(harness)] == ["NEVER: meeting_after_17"]
    listed = await anna.look("rules")
    assert [button.label for button in buttons_in(listed)][-2:] == ["Add a day rule", "How days are planned"]
    errors = await anna.fill("rule_day", day_rule="ALWAYS: meeting_after_17")
    assert errors is not None
    assert list(errors.errors) == ["day_rule"]


async def test_the_plan_is_held_to_it_in_refine(anna: Person, harness: Harness) -> None:
    """Set aside from the card, it does not count for this day."""
    meeting(harness, "Board", "17:00", "18:00")
    await anna.to_frame()
    await anna.fill("rule_day", **LATE)
    await anna.press("Continue")
    await anna.fill("tasks", size=3, title_1="Report", minutes_1=60)
    await anna.press("Refine")
    assert "⚠️ Not kept, and it must be: No meeting past 17:00. These break it: “Board” (17:00–18:00)." in anna.words
    await anna.press("Not for this day")
    assert "Not kept" not in anna.words
