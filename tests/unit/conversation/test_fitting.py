"""The first draft keeps a person's rules, without a model; what does not fit and what cannot be kept is named, with a
button for each way out (S2, S22, S106, S121)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import record_of
from tests.unit.conversation.person import Harness, Person, meeting

from fateforger.memory.record import ConstraintRecord
from fateforger.planning.plan import resolve
from fateforger.session.cards import Button
from fateforger.session.commands.rules import RememberConstraint

FREE = ["09:00 Report", "10:10 Review", "11:20 Mail", "12:30 Lunch"]
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "must avoid": (
        {"kind": "avoid_window", "times": "0-10", "necessity": "must"},
        ["10:00 Report", "11:10 Review", "12:30 Lunch", "13:25 Mail"],
    ),
    "must prefer": (
        {"kind": "prefer_window", "times": "14-18", "necessity": "must", "blocks": ("SW",)},
        ["09:00 Report", "10:10 Review", "12:30 Lunch", "14:00 Mail"],
    ),
    "should prefer": (
        {"kind": "prefer_window", "times": "14-18", "necessity": "should", "blocks": ("SW",)},
        ["09:00 Report", "10:10 Review", "12:30 Lunch", "14:00 Mail"],
    ),
    "if possible": (
        {"kind": "prefer_window", "times": "14-18", "necessity": "prefer", "blocks": ("SW",)},
        ["09:00 Report", "10:10 Review", "12:30 Lunch", "14:00 Mail"],
    ),
    "lunch": (
        {"kind": "prefer_window", "times": "13:30-14:30", "necessity": "should", "blocks": ("R",)},
        ["09:00 Report", "10:10 Review", "11:20 Mail", "13:30 Lunch"],
    ),
    "pause": (
        {"kind": "buffer", "length": "20 min", "necessity": "must"},
        ["09:00 Report", "10:20 Review", "11:40 Mail", "12:30 Lunch"],
    ),
    "capacity": (
        {"kind": "capacity", "length": "1 h", "necessity": "must", "blocks": ("DW",)},
        ["09:00 Report", "10:10 Mail", "12:30 Lunch"],
    ),
    "sequence": (
        {"kind": "sequencing", "necessity": "must", "blocks": ("SW", "DW")},
        ["09:00 Mail", "09:30 Report", "10:40 Review", "12:30 Lunch"],
    ),
}


def list_blocks(person_session: Any) -> list[str]:
    return [
        f"{block.start:%H:%M} {block.event.name}"
        for block in resolve(person_session.planning.plan)
        if block.event.name != "Shut down"
    ]


async def draft_tasks(anna: Person) -> list[str]:
    """Draft two pieces of deep work, the first of them the one thing, and one other task."""
    values: dict[str, Any] = {
        "title_1": "Report",
        "title_2": "Review",
        "title_3": "Mail",
        "minutes_1": 60,
        "minutes_2": 60,
    }
    await anna.fill("tasks", one_thing="1", minutes_3=30, kind_3="shallow", **values)
    return list_blocks(await anna.session())


async def remember_rule(anna: Person, name: str, **fields: Any) -> None:
    record = ConstraintRecord.model_validate(record_of(None, name=name, description=name, **fields))
    envelope = {"command_id": f"told {name}", "user_id": anna.user, "session_id": anna.session_id}
    await anna.send(RememberConstraint(**envelope, at=anna.harness.clock.now(), record=record))


def offers(anna: Person) -> list[str]:
    """Return the labels of the buttons above those of the step."""
    return [label for label in anna.labels() if label.startswith(("Another", "Drop", "In", "Make", "End", "Today"))]


async def test_without_rules(anna: Person) -> None:
    await anna.to_tasks()
    assert await draft_tasks(anna) == FREE
    assert offers(anna) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_rule_of_each_kind_is_followed(anna: Person, kind: str) -> None:
    values, expected = KINDS[kind]
    await anna.to_tasks()
    assert await anna.fill("rule_new", words="As I like it", **values) is None
    assert await draft_tasks(anna) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"rule_kind": "fixed_bedtime", "windows": [{"kind": "prefer", "start": "12:00", "end": "20:00"}]},
            ["09:00 Report", "10:10 Review"],
        ),
        ({"rule_kind": "min_sleep", "scalar_params": {"duration_min": 20 * 60}}, [*FREE[:2], "12:15 Lunch"]),
    ],
    ids=["bedtime", "sleep"],
)
async def test_a_rule_about_the_night_is_followed(anna: Person, fields: dict[str, Any], expected: list[str]) -> None:
    await anna.to_tasks()
    await remember_rule(anna, "Early to bed", necessity="must", **fields)
    assert await draft_tasks(anna) == expected


async def test_rules_that_contradict_each_other_are_named_and_one_click_lets_one_go(anna: Person) -> None:
    """The draft leaves one rule out meanwhile; setting one aside makes a new draft, and so does Undo."""
    await anna.to_tasks()
    windows = [{"kind": "prefer", "start": "14:00", "end": "15:00"}]
    await remember_rule(anna, "Two hours of focus", necessity="must", rule_kind="capacity",
               scalar_params={"duration_min": 120}, applies_event_types=["DW"])  # fmt: skip
    await remember_rule(anna, "Focus after two", necessity="must", rule_kind="prefer_window", windows=windows,
               applies_event_types=["DW"])  # fmt: skip
    await draft_tasks(anna)
    assert (
        "⚠️ **These rules cannot all be kept on that day.**\n"
        "- On 2 March 2026 you said: “Focus after two”.\n"
        "- On 2 March 2026 you said: “Two hours of focus”.\n"
        "For now the draft does without “Focus after two”. Which one shall not count today?"
    ) in anna.words
    assert "“Focus after two” (must; the plan does without it), “Two hours of focus” (must)." in anna.words
    assert offers(anna) == ["Today without “Focus after two”", "Today without “Two hours of focus”"]
    await anna.press("Today without “Focus after two”")
    assert list_blocks(await anna.session()) == FREE
    assert "cannot all be kept" not in anna.words
    assert "Not counting today" not in anna.words
    assert (await anna.session()).planning.clash is None
    await anna.press("Undo")
    assert "cannot all be kept" in anna.words
    await anna.press("Today without “Focus after two”")
    await anna.press("Refine")
    assert "**Not counting today:** “Focus after two”." in anna.words
    assert "Your rules" in anna.labels()


async def test_a_rule_that_cannot_be_kept_at_all_says_so(anna: Person) -> None:
    await anna.to_tasks()
    await remember_rule(anna, "Three hours of focus", necessity="must", rule_kind="capacity",
               scalar_params={"duration_min": 180}, applies_event_types=["DW"])  # fmt: skip
    assert await draft_tasks(anna) == FREE
    assert "There is no way to keep this rule on that day, so the draft does without it." in anna.words
    assert offers(anna) == ["Today without “Three hours of focus”"]


LEFT = ["Another day", "Drop it", "End the day at 19:00", "Today without “Nothing before ten”"]


async def defer(anna: Person) -> None:
    """Press the button of what does not fit, and leave the day open in its form."""
    (button,) = [c for c in anna.controls() if isinstance(c, Button) and c.label == "Another day"]
    assert button.action == "form.defer"
    await anna.fill("defer", target=button.target, day="some_day")


@pytest.mark.parametrize(
    ("label", "mail", "said"),
    [
        ("Another day", None, "“Mail” waits for another day; I'll offer it again when you plan one."),
        ("Drop it", None, "“Mail” is off your list."),
        (LEFT[2], "17:00-18:00", "Your day ends at 19:00 now.\n“Mail” has a place now."),
        (
            LEFT[3],
            "09:00-10:00",
            "Your rules have changed. So I redrafted your day.\n“Mail” has a place now.",
        ),
    ],
)
async def test_what_does_not_fit_has_a_way_out_for_each_button(
    anna: Person, harness: Harness, label: str, mail: str | None, said: str
) -> None:
    """Each button makes a new draft and names the result; all that is left has its place."""
    meeting(harness, "Workshop", "13:30", "17:00")
    await anna.to_tasks()
    await anna.fill("rule_new", words="Nothing before ten", kind="avoid_window", times="0-10", necessity="must")
    values: dict[str, Any] = {
        "title_1": "Report",
        "title_2": "Review",
        "title_3": "Mail",
        "minutes_1": 90,
        "minutes_2": 45,
        "kind_2": "deep",
    }
    await anna.fill("tasks", one_thing="1", minutes_3=60, kind_3="shallow", **values)
    assert "**Did not fit**\n- Mail: “Nothing before ten” rules out the time that is still free" in anna.words
    assert offers(anna) == LEFT
    assert [c.spoken for c in anna.controls() if isinstance(c, Button) and c.label == "Drop it"] == ["Drop it: “Mail”"]
    await (defer(anna) if label == "Another day" else anna.press(label))
    session = await anna.session()
    times = (
        {b.event.name: f"{b.start:%H:%M}-{b.end:%H:%M}" for b in resolve(session.planning.plan)}
        if session.planning.plan
        else {}
    )
    assert times.get("Mail") == mail
    assert session.thread.notice is not None
    assert "\n".join(session.thread.notice.lines) == said
    assert (session.planning.unplaced, offers(anna)) == ((), [])


async def test_what_a_should_pushes_out_can_have_the_day_without_it(anna: Person, harness: Harness) -> None:
    """S254"""
    meeting(harness, "Workshop", "10:00", "12:30")
    meeting(harness, "Review", "13:30", "17:00")
    await anna.to_tasks()
    await anna.fill("rule_new", words="Nothing after five", kind="avoid_window", times="17-24", necessity="should")
    await anna.fill("tasks", title_1="Report", minutes_1=50, kind_1="deep", title_2="Slides", minutes_2=60)
    assert "the only time left for it is not what you want: “Nothing after five”" in anna.words
    assert "Today without “Nothing after five”" in offers(anna)
    await anna.press("Today without “Nothing after five”")
    assert "17:00 Slides" in list_blocks(await anna.session())
    assert offers(anna) == []


async def test_a_choice_says_whose_place_it_takes(anna: Person, harness: Harness) -> None:
    """S254: Without the rule there is time for the report, and none is left for the e-mail."""
    meeting(harness, "Workshop", "09:00", "16:00")
    await anna.to_tasks()
    await remember_rule(anna, "No deep work late", necessity="must", rule_kind="avoid_window", applies_event_types=["DW"],
               windows=[{"kind": "avoid", "start": "15:00", "end": "20:00"}])  # fmt: skip
    await anna.fill("tasks", title_1="Report", minutes_1=100, title_2="Mail", minutes_2=60, kind_2="shallow")
    label = "Today without “No deep work late”"
    assert f"  {label}: “Mail” then waits for another day" in anna.words
    await anna.press(label)
    session = await anna.session()
    assert [each.title for each in session.planning.unplaced] == ["Mail", "Lunch"]
    assert any("Report" in name for name in list_blocks(session))


async def test_a_day_that_is_full_names_five_with_buttons_and_the_rest_without(anna: Person) -> None:
    await anna.to_tasks()
    values: dict[str, Any] = {f"title_{n}": f"Task {n}" for n in range(1, 9)}
    values |= {f"minutes_{n}": 600 for n in range(1, 9)}
    await anna.fill("tasks", size=8, **values)
    assert offers(anna) == ["Another day", "Drop it"] * 5
    assert all(f"- Task {n}: it needs 10 h, and the whole day has 9 h" in anna.words for n in range(1, 9))
    assert anna.words.count("Did not fit") == 1


async def test_a_task_can_be_done_in_pieces_or_wait_for_another_day(anna: Person, harness: Harness) -> None:
    """Shallow work is not split unless the person says so; a task that waits is kept, and off this day."""
    meeting(harness, "Workshop", "10:00", "12:30")
    meeting(harness, "Review", "14:15", "17:00")
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Mail", minutes_1=90, kind_1="shallow")
    assert offers(anna)[:4] == ["Another day", "Drop it", "Make it 1 h", "In pieces"]
    await anna.press("In pieces")
    session = await anna.session()
    assert list_blocks(session) == ["09:00 Mail (1/2)", "12:30 Lunch", "13:25 Mail (2/2)"]
    assert "“Mail” may be done in pieces now.\n“Mail” has a place now." in anna.words
    assert (session.planning.unplaced, offers(anna)) == ((), [])
    await anna.press("Back")
    await anna.fill_row("Mail", "defer", day="some_day")
    session = await anna.session()
    assert [t.title for t in session.open_work.deferred] == ["Mail"]
    assert (session.day.inputs.tasks, session.open_work.deferred[0].details.splittable) == ((), True)
    assert "“Mail” waits for another day; I'll offer it again when you plan one." in anna.words


async def test_a_task_that_has_room_by_now_is_offered_its_place(anna: Person, harness: Harness) -> None:
    """S448: the reason of the first draft is gone once another block has left the plan."""
    meeting(harness, "Workshop", "09:00", "12:00")
    meeting(harness, "Review", "15:30", "18:00")
    await anna.to_tasks()
    values: dict[str, Any] = {"title_1": "Talk", "title_2": "Gym", "kind_1": "shallow", "kind_2": "habit"}
    await anna.fill("tasks", one_thing="1", minutes_1=100, minutes_2=110, **values)
    await anna.press("Refine")
    assert "- Gym: it needs 1 h 50 min, and the longest stretch still free is" in anna.words
    await anna.choose("Talk", "Remove")
    assert "- Gym: there is room for it now" in anna.words
    (add,) = [label for label in anna.labels() if label.startswith("Add “Gym” at")]
    await anna.press(add)
    assert "- Gym:" not in anna.words
