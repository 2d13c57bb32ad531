"""A person's rules in forms and on cards: added, looked through, judged, changed, replaced, taken back."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.fakes.memory_constraints import MemoryConstraints
from tests.unit.conversation.person import ANNA, MORNING, Harness, Person, buttons_in, words_in

from fateforger.conversation.memory_service import NO_RULES
from fateforger.errors import BadInput, StoreUnavailable
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity, RuleKind, Scope, Source, Status, Weekday, WindowKind
from fateforger.planning.plan import ET
from fateforger.session.commands.rules import RememberConstraint, ShowMemory
from fateforger.session.forms import Form, FormErrors, FormSubmission
from fateforger.session.rulebook import NOT_ALL
from fateforger.ui.rule_forms import CHANGED, PAGE

MUST: dict[str, Any] = {"words": "No calls before 10", "kind": "avoid_window", "times": "0-10", "necessity": "must"}


async def newest(harness: Harness, name: str) -> Version:
    versions = [v for v in await harness.store.constraints.of(ANNA) if v.record.name == name]
    return versions[-1]


async def store_rules(harness: Harness, *uids: str, **fields: Any) -> None:
    """Put rules into the store."""
    versions = [version_of(uid, **{"user": ANNA, "name": f"Rule {uid}", **fields}) for uid in uids]
    await harness.store.constraints.write(versions, cause=f"told {uids}"[:400])


def read(words: str) -> list[str]:
    """Return the lines that have a text."""
    return [line for line in words.splitlines() if line]


def list_names(shown: Form) -> list[str]:
    """Return the rules on a page of the review."""
    return [b.spoken.partition(" ")[2].strip("“”") for b in buttons_in(shown) if b.action == "form.rule"]


async def test_nothing_but_one_quiet_way_while_there_are_no_rules(anna: Person) -> None:
    await anna.to_frame()
    assert anna.labels() == [
        "Edit hours and lunch",
        "How days are planned",
        "Continue",
        "Add a rule",
        "Back",
        "Redo step",
        "Cancel",
    ]
    shown = await anna.look("rules")
    assert words_in(shown) == "I know no rules of yours yet. Add one, and I keep to it when I plan your days."
    assert shown.submit is None
    ways = ["Add a rule", "Add a routine", "Add a day rule", "How days are planned"]
    assert [button.label for button in buttons_in(shown)] == ways


async def test_a_rule_added_by_form_is_used_shown_and_taken_back(anna: Person, harness: Harness) -> None:
    """S32, S33, S36, S214: without a model."""
    await anna.to_frame()
    assert await anna.fill("rule_new", days=("MO", "TU"), blocks=("M",), **MUST) is None
    record = (await newest(harness, "No calls before 10")).record
    assert record.model_dump(
        include={"name", "description", "necessity", "status", "source", "scope", "confidence"}
    ) == {
        "name": "No calls before 10",
        "description": "No calls before 10",
        "necessity": Necessity.MUST,
        "status": Status.LOCKED,
        "source": Source.USER,
        "scope": Scope.PROFILE,
        "confidence": 1.0,
    }
    (window,) = record.payload.windows
    assert (record.payload.rule_kind, window.kind) == (RuleKind.AVOID_WINDOW, WindowKind.AVOID)
    assert (window.start, window.end) == (time(0), time(10))
    assert record.applicability.days_of_week == (Weekday.MO, Weekday.TU)
    assert record.applicability.timezone is None
    assert record.applies_event_types == (ET.MEETING,)
    assert read(anna.words)[-2:] == [
        "I'll remember “No calls before 10”.",
        "**Your rules for this day:** “No calls before 10” (must).",
    ]
    await anna.press("Your rules")
    assert read(anna.beside("memory")) == [
        "Your rules for Monday 2 March",
        "I'll remember “No calls before 10”.",
        "**1 rule**: 1 counts on this day. Deny / Edit opens one rule: confirm it, change it, or tell me not to use it.",
        "**No calls before 10**",
        "Must · on Monday and Tuesday · not before 10:00 · _counts on this day_",
    ]
    await anna.press_beside("memory", "Undo")
    assert "Your rules" not in anna.labels()
    assert (await newest(harness, "No calls before 10")).retired
    assert read(anna.beside("memory"))[1:] == [
        "Taken back: “No calls before 10”.",
        "I know no rules of yours yet. Add one, and I keep to it when I plan your days.",
    ]


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"words": " "}, {"words": "Please say what the rule is, like “No calls before 10”."}),
        (
            {"words": "Calls", "kind": "prefer_window", "blocks": ("SW",)},
            {"times": "Please say which times, like 9-12, 14:30-16."},
        ),
        (
            {"words": "Lunch with Sam", "kind": "prefer_window", "times": "13-14", "necessity": "must"},
            {
                "blocks": "Please choose the kinds of blocks that you want at these times. For lunch, there is “How days"
                " are planned”; for what you do at a certain time, “Add a routine”."
            },
        ),
        (
            {"words": "", "kind": "avoid_window", "times": "before ten"},
            {
                "words": "Please say what the rule is, like “No calls before 10”.",
                "times": "“before ten” needs a beginning and an end; write it like 9-12 or 9:30-12.",
            },
        ),
        (
            {"words": "Sleep", "kind": "min_sleep", "length": "enough"},
            {"length": "I can't read “enough” as a length of time; write it like 30 min or 7 h 30."},
        ),
        (
            {"words": "Sleep", "kind": "min_sleep"},
            {"length": "Please say how long, like 30 min or 7 h 30."},
        ),
        (
            {"words": "Guests", "start_date": date(2026, 3, 9), "end_date": date(2026, 3, 2)},
            {"end_date": "The last day, 2026-03-02, is before the first, 2026-03-09."},
        ),
        ({"words": "x" * 2_001}, {"words": "This has 2,001 characters; please keep it to 2,000."}),
    ],
)
async def test_a_rule_that_cannot_be_used(
    anna: Person, harness: Harness, values: dict[str, Any], errors: dict[str, str]
) -> None:
    """S506: one sentence at each field; nothing is written."""
    await anna.to_frame()
    answer = await anna.fill("rule_new", **values)
    assert answer is not None
    assert answer.errors == errors
    assert await harness.store.constraints.of(ANNA) == ()


@pytest.mark.parametrize(
    ("values", "payload"),
    [
        ({"kind": "fixed_bedtime", "times": "22:30-6:30"}, [("prefer", "22:30", "06:30")]),
        ({"kind": "min_sleep", "length": "7"}, {"duration_min": 420}),
        ({"kind": "buffer", "length": "10"}, {"duration_min": 10}),
        ({"kind": "capacity", "length": "4 h"}, {"duration_max": 240}),
        ({"kind": "sequencing"}, {}),
        ({"kind": "words"}, {}),
    ],
)
async def test_each_kind_of_rule(anna: Person, harness: Harness, values: dict[str, Any], payload: Any) -> None:
    await anna.to_frame()
    assert await anna.fill("rule_new", words="It", **values) is None
    asked = (await newest(harness, "It")).record.payload
    if isinstance(payload, list):
        assert [(w.kind, f"{w.start:%H:%M}", f"{w.end:%H:%M}") for w in asked.windows] == payload
    else:
        assert asked.scalar_params.model_dump(exclude_none=True) == payload
    assert asked.rule_kind == (None if values["kind"] == "words" else values["kind"])


async def test_a_rule_for_the_day_only_and_one_for_some_dates(anna: Person, harness: Harness) -> None:
    await anna.to_frame()
    await anna.fill("rule_new", words="No gym", reach="day")
    await anna.fill("rule_new", words="Guests", start_date=date(2026, 3, 1), end_date=date(2026, 3, 8))
    assert [v.record.scope for v in await harness.store.constraints.of(ANNA)] == [Scope.DATESPAN]
    await anna.press("Your rules")
    assert "_counts on this day · for this day only_" in anna.beside("memory")


async def test_a_form_over_one_rule_judges_it(anna: Person, harness: Harness) -> None:
    """S35: each button is seen to work in the form itself."""
    await store_rules(harness, "a", status="proposed", confidence=0.4)
    await anna.to_frame()
    assert "“Rule a” (should, please confirm)" in anna.words
    shown = await anna.look("rule", target="1 a")
    assert [b.label for b in buttons_in(shown)] == [
        "Confirm",
        "Not for this day",
        "Replace by a new rule",
        "Archive",
        "Decline",
    ]
    shown = await anna.press_in(shown, "Confirm")
    assert words_in(shown).splitlines()[0] == "“Rule a” is confirmed."
    assert "Confirm" not in [b.label for b in buttons_in(shown)]
    shown = await anna.press_in(shown, "Not for this day")
    assert "Not used: You set it aside for this plan." in words_in(shown)
    shown = await anna.press_in(shown, "Use it for this day again")
    assert "Not used" not in words_in(shown)
    shown = await anna.press_in(shown, "Decline")
    assert words_in(shown).splitlines()[-1] == "Not used: You declined it."
    assert (shown.submit, shown.inputs) == (None, ())
    shown = await anna.press_in(shown, "Restore")
    assert words_in(shown).splitlines()[0] == "“Rule a” is restored."
    shown = await anna.press_in(shown, "Archive")
    assert "Not used: You archived it." in words_in(shown)


async def test_an_edit_changes_what_was_changed_and_keeps_the_rest(anna: Person, harness: Harness) -> None:
    whole = {
        "description": "w" * 3_000,
        "topics": ["work"],
        "recurrence": "FREQ=WEEKLY;BYDAY=MO",
        "ttl_days": 30,
        "applies_stages": ["REFINE"],
        "rule_kind": "prefer_window",
        "scalar_params": {"duration_min": 20, "contiguity": "whole"},
        "windows": [
            {"kind": "prefer", "start": "09:00", "end": "12:00"},
            {"kind": "avoid", "start": "13:00", "end": "14:00"},
        ],
    }
    await store_rules(harness, "a", **whole)
    await anna.to_frame()
    known = await newest(harness, "Rule a")
    before, days = known.record, (harness.clock.now().date() - known.updated_at.date()).days
    assert await anna.fill("rule", target="1 a", necessity="prefer", name="Mornings", words="w" * 2_000) is None
    after = (await newest(harness, "Mornings")).record
    lifecycle = before.lifecycle.model_copy(update={"ttl_days": 30 - days})  # it ends when it would have
    changed = {"name": "Mornings", "necessity": Necessity.PREFER, "confidence": 1.0, "lifecycle": lifecycle}
    assert after == before.model_copy(update=changed)
    assert await anna.fill("rule", target="2 a", times="10-12", words="w" * 2_000) is None
    (window,) = (await newest(harness, "Mornings")).record.payload.windows
    assert (window.kind, window.start) == (WindowKind.PREFER, time(10))
    assert await anna.fill("rule", target="3 a", kind="words", words="w" * 2_000) is None
    payload = (await newest(harness, "Mornings")).record.payload
    assert (payload.rule_kind, payload.windows) == (None, ())


async def test_saving_a_rule_as_it_is_confirms_it(anna: Person, harness: Harness) -> None:
    await store_rules(harness, "a", status="proposed", confidence=0.4)
    await anna.to_frame()
    assert await anna.fill("rule", target="1 a") is None
    assert (await newest(harness, "Rule a")).record.status is Status.LOCKED


async def test_a_rule_that_changed_meanwhile_is_not_overwritten(anna: Person, harness: Harness) -> None:
    """The form stays open with what was written in it."""
    await store_rules(harness, "a")
    await anna.to_frame()
    shown = await anna.look("rule", target="1 a")
    await anna.fill("rule", target="1 a", words="Other words")
    turned = await anna.look("rule", target=shown.target, kind="buffer")
    assert turned.target == shown.target
    answer = await _send_form(anna, turned, {"words": "Mine", "length": "10"})
    assert answer == {"words": CHANGED}


async def _send_form(anna: Person, shown: Form, values: dict[str, Any]) -> dict[str, str] | None:
    submission = FormSubmission(
        form=shown.form,
        session_id=shown.session_id,
        user_id=anna.user,
        command_id="late",
        at=anna.harness.clock.now(),
        target=shown.target,
        values={f.name: f.value for f in shown.inputs} | values,
    )
    read = await anna.coordinator.read_form(submission)
    return read.errors if isinstance(read, FormErrors) else None


async def test_a_rule_replaced_by_a_new_one(anna: Person, harness: Harness) -> None:
    """S29: the old one stays as history."""
    await anna.to_frame()
    await anna.fill("rule_new", **MUST)
    old = await newest(harness, "No calls before 10")
    shown = await anna.look("rule_new", target=f"{old.seq} {old.uid}")
    assert (shown.title, words_in(shown)) == (
        "Replace a rule",
        "It takes the place of “No calls before 10” on the days it is for; that one stays as history.",
    )
    assert await anna.fill("rule_new", target=shown.target, words="No calls before 11", times="0-11") is None
    new = (await newest(harness, "No calls before 11")).record
    assert new.lifecycle.supersedes_uids == (old.uid,)
    assert "“No calls before 11” (must)." in anna.words
    shown = await anna.look("rule", target=shown.target)
    assert "Not used: “No calls before 11” takes its place on that day." in words_in(shown)


async def test_the_review_lists_hundreds_page_by_page(anna: Person, harness: Harness) -> None:
    """S34: the full list, however long; nothing is cut silently."""
    uids = [f"{n:03}" for n in range(300)]
    await store_rules(harness, *uids[:200])
    await store_rules(harness, *uids[200:], days_of_week=["TU"])
    await anna.to_frame()
    assert read(anna.words)[-1] == (
        "**Your rules for this day:** “Rule 000” (should), “Rule 001” (should), “Rule 002” (should);"
        " 97 more; 100 left out, as there is no room for more."
    )
    shown = await anna.look("rules")
    listed: list[str] = []
    pages = 0
    while True:
        pages += 1
        assert len(shown.fields) < 60
        listed += list_names(shown)
        following = next((b for b in buttons_in(shown) if b.label == "Next page"), None)
        if following is None:
            break
        shown = await anna.look("rules", target=shown.target, page=following.target)
    assert listed == [f"Rule {uid}" for uid in uids]
    assert pages == -(-300 // PAGE)
    assert "Rules 289 to 300 of 300." in words_in(shown)
    assert "It is for Tuesday only · said on 1 February 2026" in words_in(shown)
    shown = await anna.look("rules", target=shown.target, page="999")
    assert list_names(shown)[-1] == "Rule 299"
    await anna.press("Your rules")
    assert len(anna.buttons_beside("memory")) == 8 + 6
    assert read(anna.beside("memory"))[-1] == "292 more: Review all lists every rule."


async def test_the_review_is_searched_and_filtered(anna: Person, harness: Harness) -> None:
    """S34: by words, by how things stand, by reach; each with its count."""
    await store_rules(harness, "gym", description="Sport after work, at the gym")
    await store_rules(harness, "call", description="Never call me at the gym", days_of_week=["TU"])
    await store_rules(harness, "old", status="declined")
    await store_rules(harness, "doubt", status="proposed", confidence=0.3, scope="datespan", start_date="2026-03-01")
    await anna.to_frame()
    shown = await anna.look("rules")
    assert list_names(shown) == ["Rule gym", "Rule doubt", "Rule call", "Rule old"]
    assert "All 4 rules." in words_in(shown)
    assert (await filter_rules(anna, words="GYM call")) == (["Rule call"], "1 of your 4 rules fits.")
    assert (await filter_rules(anna, words="tuesday")) == (["Rule call"], "1 of your 4 rules fits.")
    assert (await filter_rules(anna, status="used")) == (["Rule gym", "Rule doubt"], "2 of your 4 rules fit.")
    assert (await filter_rules(anna, status="confirm")) == (["Rule doubt"], "1 of your 4 rules fits.")
    assert (await filter_rules(anna, status="out")) == (["Rule old"], "1 of your 4 rules fits.")
    assert (await filter_rules(anna, reach="dated")) == (["Rule doubt"], "1 of your 4 rules fits.")
    assert (await filter_rules(anna, words="yoga")) == ([], "None of your 4 rules fits this search.")
    assert (await filter_rules(anna, status="nonsense"))[1] == "All 4 rules."
    searched = await anna.look("rules", words="gym", status="out")
    again = await anna.look("rules", target=searched.target, everything="yes")
    assert (list_names(again), again.inputs[0].value) == (list_names(shown), "")
    assert getattr(again.inputs[0], "edition", 0) == 1


async def filter_rules(anna: Person, **chosen: str) -> tuple[list[str], str]:
    shown = await anna.look("rules", **chosen)
    counted = next(line for line in words_in(shown).splitlines() if "The day is" in line)
    return list_names(shown), counted.removesuffix(" The day is Monday 2 March.")


async def test_a_search_by_sending_the_form(anna: Person, harness: Harness) -> None:
    await store_rules(harness, "gym", "call")
    await anna.to_frame()
    shown = await anna.look("rules", status="used")
    submission = FormSubmission(
        form="rules", session_id=anna.session_id, user_id=ANNA, command_id="s", at=harness.clock.now(),
        target=shown.target, values={"words": "  gym "},
    )  # fmt: skip
    read = await anna.coordinator.read_form(submission)
    assert isinstance(read, Form)
    assert (list_names(read), read.target) == (["Rule gym"], '{"words":"gym","status":"used"}')


async def test_two_rules_that_contradict_are_decided_by_one_tap(anna: Person, harness: Harness) -> None:
    """On the card of the day, or on the memory card while that is open."""
    await anna.to_frame()
    await anna.fill("rule_new", **MUST)
    await anna.fill(
        "rule_new", words="Calls at 8", kind="prefer_window", times="8-9", blocks=("SW",), necessity="prefer"
    )
    assert {"Keep “No calls before 10”", "Keep “Calls at 8”", "Keep both"} <= set(anna.labels())
    await anna.press("Your rules")
    assert anna.messages["memory"].card.text == "Your rules for Monday 2 March: 2 rules. 1 question to answer."
    await anna.press_beside("memory", "Keep “No calls before 10”")
    assert "question" not in anna.words
    assert (await anna.session()).rules.memory_questions == ()


async def test_near_duplicates_are_offered_for_merging(anna: Person, harness: Harness) -> None:
    """S173: never merged silently."""
    windows = {"rule_kind": "avoid_window", "windows": [{"kind": "avoid", "start": "00:00", "end": "10:00"}]}
    await store_rules(harness, "early", **windows)
    await store_rules(harness, "calls", **windows)
    await anna.to_frame()
    await anna.press("Your rules")
    labels = [button.label for _, button in anna.buttons_beside("memory")][:3]
    assert labels == ["Keep “Rule early”", "Keep “Rule calls”", "Leave both"]
    await anna.press_beside("memory", "Keep “Rule early”")
    assert (await newest(harness, "Rule calls")).retired


class UnreachableConstraints(MemoryConstraints):
    async def of(self, user_id: str) -> tuple[Version, ...]:
        raise StoreUnavailable(f"Nothing of {user_id} can be read.")


async def test_a_memory_card_about_some_rules_says_so(anna: Person, harness: Harness) -> None:
    """S24: what was asked for in words, and not everything."""
    await store_rules(harness, "gym", "call")
    await anna.to_frame()
    head = {"command_id": "s1", "user_id": ANNA, "at": MORNING, "session_id": anna.session_id}
    await anna.send(ShowMemory(**head, uids=("gym",)))
    assert read(anna.beside("memory"))[1].startswith("**1 rule** of yours about that.")
    assert read(anna.beside("memory"))[2:] == ["**Rule gym**", "Should · _counts on this day_"]


async def test_while_the_store_is_away_forms_say_so(anna: Person, harness: Harness) -> None:
    """Planning goes on; a form shows what the session knows."""
    await store_rules(harness, "gym")
    await anna.to_frame()
    harness.constraints = UnreachableConstraints()
    harness.restart()
    shown = await anna.look("rules")
    assert (words_in(shown).splitlines()[0], list_names(shown)) == (NOT_ALL, ["Rule gym"])


@pytest.mark.parametrize("target", ["", "gone", "x gone", "1 gone", "-1 gone"])
async def test_a_rule_that_is_not_there(anna: Person, target: str) -> None:
    await anna.to_frame()
    with pytest.raises(BadInput, match="look at the list again"):
        await anna.look("rule", target=target)


async def test_a_long_rule_has_a_short_name(anna: Person, harness: Harness) -> None:
    await anna.to_frame()
    words = "On the days on which the children are with me I want to be at home by five"
    await anna.fill("rule_new", words=words)
    (version,) = await harness.store.constraints.of(ANNA)
    assert (version.record.name, version.record.words) == (f"{words[:59].rstrip()}…", words)


async def test_rules_without_a_session(anna: Person, harness: Harness) -> None:
    """From App Home: looked through, added, changed and judged, with what a command did shown in its form."""
    assert await anna.fill("rule_new", **MUST) is None
    shown = await anna.look("rules")
    assert (list_names(shown), words_in(shown).splitlines()[-1]) == (
        ["No calls before 10"],
        "counts on this day · said on 2 March 2026",
    )
    version = await newest(harness, "No calls before 10")
    assert (version.session_id, version.record.applicability.timezone) == (None, None)
    assert await anna.fill("rule", target=f"{version.seq} {version.uid}", necessity="prefer") is None
    shown = await anna.look("rule", target=f"0 {version.uid}")
    assert [b.label for b in buttons_in(shown)] == ["Replace by a new rule", "Archive", "Decline"]
    decline = next(b for b in buttons_in(shown) if b.label == "Decline")
    command = await anna.click(decline.action, decline.target)
    shown = await anna.look("rule", target=shown.target, done=command)
    assert words_in(shown).splitlines()[0] == "“No calls before 10” is declined; I won't use it any more."
    assert (await newest(harness, "No calls before 10")).record.necessity is Necessity.PREFER
    versions = await harness.store.constraints.of(ANNA)
    await anna.to_frame()
    assert "Your rules" not in anna.labels()
    assert await harness.store.constraints.of(ANNA) == versions


async def test_a_command_without_a_session_is_carried_out_once(anna: Person, harness: Harness) -> None:
    click = {"command_id": "c1", "user_id": ANNA, "at": MORNING, "session_id": ""}
    command = RememberConstraint(**click, record=version_of("gym").record)
    assert not await anna.coordinator.is_carried_out(command)
    await anna.coordinator.handle(command)
    harness.restart()
    assert await anna.coordinator.is_carried_out(command)
    await anna.coordinator.handle(command)
    assert len(await harness.store.constraints.of(ANNA)) == 1


async def test_without_a_session_and_a_store_a_form_says_so(anna: Person, harness: Harness) -> None:
    harness.constraints = UnreachableConstraints()
    harness.restart()
    with pytest.raises(BadInput) as caught:
        await anna.look("rules")
    assert caught.value.message == NO_RULES
