"""The cases of the evaluation, and how answers to them are scored."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.factories.words import block, build_move, build_removal, course, opening, patch, wants, way
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Person, open_harness_at

from fateforger.adapters.recordings import RecordingFiles
from fateforger.conversation.evaluation import CaseResult, compare_results, evaluate_prompt, summarize
from fateforger.conversation.evaluation_cases import (
    ANSWERS,
    JUDGED,
    Case,
    build_cases,
    load_cases,
    parse_answer,
    parse_case,
)
from fateforger.conversation.language.answers import Intent, MemoryWish
from fateforger.conversation.recordings import RecordedTurn
from fateforger.conversation.redaction import Redaction
from fateforger.conversation.turn_runs import RecordingSink
from fateforger.errors import BadInput, ModelAuthFailed, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.memory.vocabulary import Scope, Slot, Weekday, WindowKind
from fateforger.tasks.transitions import Purpose
from fateforger.text import list_languages

CASES = tuple(load_cases())
QUESTIONS = [(case, prompt) for case in CASES for prompt in case.expected]


def case_of(expected: dict[str, Any], situation: str = "refine", message: str = "Hm", **more: Any) -> Case:
    document = {"id": "x", "language": "en", "kind": "single", "situation": situation, "message": message}
    return parse_case({**document, "expected": expected, **more}, "x")


async def mistakes_of(case: Case, prompt: str, *answers: Any) -> tuple[str, ...]:
    """Return what is wrong with an answer; it is given twice, as one that does not fit is asked for again."""
    said = [each.model_dump(mode="json") if isinstance(each, BaseModel) else each for each in answers]
    return (await evaluate_prompt(case, prompt, ScriptedModel(*(said * 3)))).mistakes


# --- the set ---


def test_there_are_enough_cases_of_each_kind() -> None:
    """S280"""
    assert len(CASES) >= 300
    assert min(Counter(case.language for case in CASES).values()) >= 55
    assert {case.language for case in CASES} == set(list_languages())
    assert Counter(case.kind for case in CASES)["hostile"] >= 40
    assert min(Counter(prompt for _, prompt in QUESTIONS).values()) >= 20
    assert {prompt for _, prompt in QUESTIONS} == set(ANSWERS)
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("language", list_languages())
def test_no_two_messages_are_nearly_the_same(language: str) -> None:
    messages = [case.message.casefold() for case in CASES if case.language == language]
    alike = [
        (one, other)
        for place, one in enumerate(messages)
        for other in messages[:place]
        if difflib.SequenceMatcher(None, one, other).quick_ratio() > 0.85
        and difflib.SequenceMatcher(None, one, other).ratio() > 0.8
    ]
    assert alike == []


@pytest.mark.parametrize("language", list_languages())
async def test_each_expected_answer_is_carried_out_and_right(language: str) -> None:
    """S280: It parses as the real type, and the real reader makes commands of it without trouble."""
    for case, prompt in QUESTIONS:
        for answer in case.expected[prompt] if case.language == language else ():
            assert await mistakes_of(case, prompt, parse_answer(prompt, answer)) == (), f"{case.id} {prompt}"


@pytest.mark.parametrize("language", list_languages())
async def test_each_other_value_is_wrong(language: str) -> None:
    """S280: In every expected answer, every value is changed in turn, and each change is noticed."""
    changed = 0
    for case, prompt in QUESTIONS:
        if case.language != language or len(case.expected[prompt]) > 1:
            continue
        for where, other in change_values(case.expected[prompt][0], case.open):
            try:
                answer = parse_answer(prompt, other)
            except ValueError:
                continue  # no model's answer of that form is accepted
            assert await mistakes_of(case, prompt, answer), f"{case.id} {prompt} {where}"
            changed += 1
    assert changed > 150


def change_values(value: Any, ignored: frozenset[str], where: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a value with each of its parts changed: another number, time, date, choice or text, and a row removed."""
    match value:
        case dict():
            for name, part in value.items():
                if not ignored.isdisjoint({name, f"{where}.{name}"}) or (name in JUDGED and part == "…"):
                    continue
                if name in {"words", "type"}:
                    continue  # where a wish begins, and the type of a block, are seen differently
                yield from ((path, {**value, name: other}) for path, other in change_values(part, ignored, name))
        case list():
            for place, part in enumerate(value):
                rest = [*value[:place], *value[place + 1 :]]
                yield f"{where}[{place}] removed", rest
                yield from (
                    (path, [*value[:place], other, *value[place + 1 :]])
                    for path, other in change_values(part, ignored, where)
                )
        case bool():
            yield where, not value
        case int():
            yield where, value + 1
        case str():
            yield from ((where, other) for other in other_texts(value))


CHOICES: tuple[list[str], ...] = (
    *([each.value for each in kind] for kind in (Intent, MemoryWish, Purpose, Scope, Slot, Weekday, WindowKind)),
    ["later", "drop"],
    ["later", "pieces"],
    ["do", "decompose"],
    ["block_time", "do"],
    ["plan_day", "do"],
)


def other_texts(text: str) -> Iterator[str]:
    """Yield other texts of the same form, and of any form."""
    if len(text) == 10 and text[4] == "-":
        yield (date.fromisoformat(text) + timedelta(days=1)).isoformat()
    elif len(text) == 5 and text[2] == ":":
        yield f"{(int(text[:2]) + 1) % 24:02}{text[2:]}"
    elif text[0] == "b" and text[1:].isdigit():
        yield f"b{int(text[1:]) % 5 + 1}"
    else:
        yield "Zebra"
        yield from (choices[-1] if text != choices[-1] else choices[0] for choices in CHOICES if text in choices)


# --- scores ---


async def test_one_more_of_anything_is_wrong() -> None:
    """S280: an extra wish is a mistake, even if all expected ones are there."""
    one = case_of({"decide": {"wishes": [{"intent": "proceed"}]}})
    assert await mistakes_of(one, "decide", wants("proceed")) == ()
    more = await mistakes_of(one, "decide", wants("proceed", {"intent": "commit", "number": None, "words": None}))
    assert len(more) == 1
    assert "wishes[1]: nothing expected" in more[0]
    assert await mistakes_of(one, "decide", wants("proceed", rules=True)) == ("rules: nothing expected, “True” given",)
    gym = case_of({"replan": {"not_today": ["b6"]}}, "underway")
    assert await mistakes_of(gym, "replan", course(not_today=[5])) == ()
    assert await mistakes_of(gym, "replan", course(not_today=[5], done=[1]))
    assert await mistakes_of(gym, "replan", course(not_today=[5], open=[way(1, "drop")]))


async def test_the_plan_counts_and_not_the_ops() -> None:
    """S280: any ops that lead to the same plan are right, and another plan is not."""
    swap = case_of({"patch": {"ops": [{"op": "swap", "a": "b2", "b": "b4"}]}})
    by_hand = patch(build_move(3, "10:45", 60), build_move(1, "14:00", 30))
    assert await mistakes_of(swap, "patch", by_hand) == ()
    assert await mistakes_of(swap, "patch", patch(build_move(3, "10:45", 60)))
    assert await mistakes_of(
        swap, "patch", patch(build_move(3, "10:45", 60), build_move(1, "14:00", 30), build_removal(4))
    )
    walk = case_of({"patch": {"ops": [{"op": "add", "title": "walk", "type": "R", "start": "11:30", "minutes": 20}]}})
    assert await mistakes_of(walk, "patch", patch(block("A short walk", "11:30", 20, "H"))) == ()
    assert await mistakes_of(walk, "patch", patch(block("A short nap", "11:30", 20, "R")))
    assert await mistakes_of(walk, "patch", patch(block("walk", "11:35", 20, "R")))
    nothing = case_of({"patch": {"question": "…"}})
    assert await mistakes_of(nothing, "patch", patch(question="Which one?")) == ()
    assert await mistakes_of(nothing, "patch", patch(question=None))
    assert await mistakes_of(nothing, "patch", patch(build_removal(0), question="Like that?"))


async def test_titles_are_compared_by_their_words() -> None:
    """S280"""
    told = case_of({"facts": {"inputs": {"add": [{"title": "café Zoë", "minutes": 45}]}}}, "tasks")
    for title, wrong in ("Cafe with Zoe!", False), ("Cafe with Sam", True):
        answer = parse_answer("facts", {"inputs": {"add": [{"title": title, "minutes": 45}]}})
        found = await mistakes_of(told, "facts", answer)
        assert bool(found) is wrong
    assert found == ("inputs.add[0].title: “café Zoë” expected, “Cafe with Sam” given",)
    tables = case_of({"ask": {"answer": "10:45"}})
    assert await mistakes_of(tables, "ask", {"answer": "À 10h45."}) == ()
    assert await mistakes_of(tables, "ask", {"answer": "À 11h45."})


async def test_any_of_several_right_answers_is_right() -> None:
    either = case_of({"decide": [{"wishes": [{"intent": "replan"}]}, {"wishes": [{"intent": "change"}]}]})
    assert (
        await mistakes_of(either, "decide", wants("change"))
        == await mistakes_of(either, "decide", wants("replan"))
        == ()
    )
    assert await mistakes_of(either, "decide", wants("cancel"))


async def test_the_planned_day_named_again_is_no_change() -> None:
    today = case_of({"start": {"plan": True}}, "start")
    assert await mistakes_of(today, "start", opening(date="2026-11-24", tz="Europe/Amsterdam")) == ()
    assert await mistakes_of(today, "start", opening(date="2026-11-25"))


async def test_an_unusable_answer_is_wrong_and_each_request_is_counted() -> None:
    asked = case_of({"decide": {"wishes": [{"intent": "proceed"}]}})
    result = await evaluate_prompt(asked, "decide", ScriptedModel("Sure!", wants("proceed")))
    assert result.mistakes == ()
    twice = (await evaluate_prompt(asked, "decide", ScriptedModel(wants("proceed")))).prompt_tokens
    assert twice is not None
    assert result.prompt_tokens == 2 * twice
    assert await mistakes_of(asked, "decide", "Sure!") == ("There is no usable answer.",)
    row = case_of({"memory": {"wish": "accept", "numbers": [4]}}, "rules")
    assert len(await mistakes_of(row, "memory", parse_answer("memory", {"wish": "accept", "numbers": [9]}))) == 1


@pytest.mark.parametrize("prompt", ["start", "decide", "rules", "patch"])
async def test_a_late_answer_is_wrong_and_a_server_that_is_down_ends_it(prompt: str) -> None:
    case = next(case for case, name in QUESTIONS if name == prompt)
    for error in (ModelTimedOut("Too slow."), ModelRejected("No.")):
        result = await evaluate_prompt(case, prompt, ScriptedModel(error))
        assert result.mistakes
        assert result.model == ""
    for down in (ModelUnreachable("Down."), ModelAuthFailed("Wrong key.")):
        with pytest.raises(type(down)):
            await evaluate_prompt(case, prompt, ScriptedModel(down))


async def test_a_prompt_that_the_situation_does_not_use_is_said() -> None:
    with pytest.raises(BadInput, match="read with facts, not with date"):
        await evaluate_prompt(
            case_of({"date": {}}, "tasks"), "date", ScriptedModel(parse_answer("date", {}).model_dump(mode="json"))
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"expected": {"sing": {}}}, "There is no prompt sing; they are start"),
        ({"expected": {"decide": {"wishes": [{"intent": "fly"}]}}}, "decide.wishes"),
        ({"expected": {"decide": {"wish": []}}}, "decide.wish"),
        ({"expected": {"patch": {"ops": [{"op": "explode"}]}}}, "patch.ops"),
        ({"situation": "moon"}, "There is no situation moon"),
        ({"language": "xx"}, "There is no language xx; they are en"),
    ],
)
def test_a_mistake_in_a_case_is_said(change: dict[str, Any], words: str) -> None:
    document = {**json.loads(CASES[0].model_dump_json()), **change}
    with pytest.raises(BadInput) as caught:
        parse_case(document, "mine.jsonl, line 1")
    assert words in caught.value.message
    assert "mine.jsonl, line 1" in str(caught.value.where)


# --- results ---


def result(case: str, *mistakes: str, prompt: str = "decide", language: str = "en", **more: Any) -> CaseResult:
    given = {
        "id": case,
        "prompt": prompt,
        "language": language,
        "kind": "single",
        "message": "Hm",
        "mistakes": mistakes,
    }
    return CaseResult.model_validate({**given, "model": "m", "seconds": 1.0, **more})


def test_a_summary_adds_up() -> None:
    """S280"""
    rows = [
        result("a", prompt_tokens=10, completion_tokens=2, cost=0.5),
        result("b", "wrong", prompt_tokens=20, completion_tokens=3, cost=0.25, seconds=3.0),
        result("c", language="nl", prompt="patch", seconds=5.0),
    ]
    found = summarize(rows)
    assert (found["asked"], found["right"], found["accuracy"]) == (3, 2, 0.6667)
    assert (found["tokens"], found["cost"]) == ({"prompt": 30, "completion": 5}, 0.75)
    assert found["seconds"] == {"median": 3.0, "longest": 5.0}
    assert found["prompts"]["decide"]["accuracy"] == 0.5
    assert (found["languages"]["nl"]["right"], found["languages"]["nl"]["cost"]) == (1, None)


def test_two_runs_are_compared_over_what_both_were_asked() -> None:
    """S281"""
    first = [result("a"), result("b", "wrong"), result("c"), result("only here")]
    second = [result("a"), result("b"), result("c", "wrong"), result("only there", "wrong")]
    found = compare_results(first, second)
    assert (found["first"]["asked"], found["second"]["asked"]) == (3, 3)
    assert (found["only_first"], found["only_second"]) == (["c decide"], ["b decide"])
    with pytest.raises(BadInput, match="no question in common"):
        compare_results(first[:1], second[1:])


# --- recorded turns ---


async def record(folder: Path, *answers: Any, says: str, redaction: Redaction | None = None) -> RecordedTurn:
    """Return the recording of a message in the step of the frame."""
    kept = RecordingSink(RecordingFiles(folder / "turns"), redaction or Redaction())
    harness = await open_harness_at(folder, model=ScriptedModel(*answers), kept=kept)
    anna = Person(harness)
    await anna.to_frame()
    await anna.says(says)
    await harness.close()
    turns = [RecordedTurn.model_validate_json(path.read_text()) for path in (folder / "turns").iterdir()]
    return next(turn for turn in turns if any(run.exchanges for run in turn.runs))


FRAME = parse_answer("facts", {"frame": {"day_start": "07:15"}}).model_dump(mode="json")


async def test_a_recorded_turn_becomes_a_case(tmp_path: Path) -> None:
    """S281: With what the model answered then; the same answer is right later, and another one is wrong."""
    turn = await record(tmp_path, wants("answer"), FRAME, says="Viertel nach sieben")
    (case,) = build_cases(turn, "turn")
    case = parse_case(json.loads(case.model_dump_json()), "mine.jsonl")
    assert (case.id, case.message) == ("turn-1", "Viertel nach sieben")
    assert case.expected == {
        "decide": ({"wishes": [{"intent": "answer"}]},),
        "facts": ({"frame": {"day_start": "07:15"}},),
    }
    assert await mistakes_of(case, "decide", wants("answer")) == await mistakes_of(case, "facts", FRAME) == ()
    assert await mistakes_of(case, "decide", wants("back"))
    assert await mistakes_of(case, "facts", parse_answer("facts", {"frame": {"day_start": "07:45"}}))


async def test_of_several_wishes_only_the_decision_is_kept(tmp_path: Path) -> None:
    """S281: Later wishes are read in the session as earlier ones left it, which no recording holds."""
    first = {"intent": "answer", "number": None, "words": "von 7:15"}
    several = {
        "wishes": [first, {"intent": "proceed", "number": None, "words": "weiter"}],
        "rules": False,
        "language": None,
    }
    turn = await record(tmp_path, several, FRAME, says="von 7:15, weiter")
    (case,) = build_cases(turn, "turn")
    assert case.expected.keys() == {"decide"}


async def test_pseudonyms_make_no_case(tmp_path: Path) -> None:
    """S281"""
    redaction = Redaction(key=b"k" * 32)
    turn = await record(tmp_path, wants("answer"), FRAME, says="Viertel nach sieben", redaction=redaction)
    with pytest.raises(BadInput, match="FATEFORGER_RECORD_TITLES=keep"):
        list(build_cases(turn, "turn"))
