"""Each text of a card comes from the catalogue, so that no thread mixes languages (S261).

The catalogue of this test puts every message into brackets. What is then outside of them is what people and calendars
wrote, dates, times, and marks.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from datetime import date, time, timedelta
from gettext import NullTranslations
from pathlib import Path
from typing import Any

import pytest
from babel.messages.pofile import read_po
from tests.factories import paper
from tests.factories import tasks as queued_tasks
from tests.factories.constraints import context_of, version_of
from tests.factories.days import block, plan_of
from tests.factories.wishes import wish
from tests.factories.words import Answer, wanting, wants
from tests.unit.conversation.person import ANNA, Person, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson
from tests.unit.conversation.sessions import MORNING, TZ, at, event, make_command, plan_session, session, task
from tests.unit.conversation.talker import Talker, talker_at
from tests.unit.conversation.test_parity import make_guess
from tests.unit.quality import days
from tests.unit.ui.test_golden_cards import queue, walk

from fateforger import text
from fateforger.adapters.calendar.connection import HttpEndpoint
from fateforger.calendar.matching import warn_about_overlaps
from fateforger.conversation.language.model_calls import UNUSABLE
from fateforger.conversation.queue.cards import build_queue_card, build_task_card, list_facts
from fateforger.errors import ModelUnusable, UserError
from fateforger.memory.applicability import decide_applicability
from fateforger.planning.plan import overlap_sentence, resolve
from fateforger.planning.task_details import TaskDetails, TaskKind
from fateforger.planning.timing import zone
from fateforger.ports.people import PersonLanguage
from fateforger.quality.fixes import find_fixes
from fateforger.session.cards import Activity, Button, Card, Choice, Controls, Menu, Picture, Progress, Prose
from fateforger.session.day import Meeting, busy_meetings
from fateforger.session.edits import apply_edit
from fateforger.session.forms import FormErrors
from fateforger.session.gate import describe_stage
from fateforger.session.messages import PreviewView, SyncReport
from fateforger.session.model import FrameFacts, InputFacts
from fateforger.session.overview import frame_words, meeting_line
from fateforger.session.stages import TimeboxingStage
from fateforger.slack.blocks import render
from fateforger.slack.forms import modal
from fateforger.slack.phrases import describe_progress
from fateforger.tasks.queue import move_task
from fateforger.tasks.task import Origin, TaskSpec, TaskState
from fateforger.tasks.transitions import rename_task
from fateforger.text import gettext as _
from fateforger.ui.calendar_cards import preview_card
from fateforger.ui.picture_words import describe
from fateforger.ui.session_cards import stage_card

LANGUAGE = "nl"


LEFT_ALONE = re.compile(
    "Write report|Report|Mail|Call Bo|Move house|Stand-up|No guests|Ask Ann|Buy milk|Dr. Ray|Card|X-ray|Ann|Bob"
    "|[a-z]+dag( [0-9]+ maart)?|English|Nederlands|Deutsch|Français|Español"
    "|Europe/Amsterdam|New York|ff-[a-z0-9]+"
)
"""People's own texts, dates, and names."""


with (Path(str(text.LOCALES)) / "fateforger.pot").open("rb") as file:
    MESSAGES = {each.id if isinstance(each.id, str) else each.id[0] for each in read_po(file)}
"""Only what is in the template can be translated."""


class Brackets(NullTranslations):
    def gettext(self, message: str) -> str:
        return message if message in {"d MMMM y", "EEEE d MMMM"} or message not in MESSAGES else f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        message = msgid1 if n == 1 else msgid2
        return f"⟦{message}⟧" if msgid1 in MESSAGES else message


@pytest.fixture(autouse=True)
def bracketed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(text, "load_catalogue", lambda _language: Brackets())
    with text.speak(LANGUAGE):
        yield


def bare(words: str) -> str:
    """Return what is outside of all brackets."""
    while (less := re.sub("⟦[^⟦⟧]*⟧", "", words)) != words:
        words = less
    return words


async def collect(folder: Path) -> dict[str, Card]:
    harness = await open_harness_at(folder)
    await harness.store.languages.keep(ANNA, PersonLanguage(LANGUAGE, chosen=True))
    found = {name: card async for name, card in walk(Person(harness), harness)}
    found |= {name: card async for name, card in queue(QueuePerson(harness), harness)}
    await harness.close()
    (other := folder / "other").mkdir()
    async with talker_at(other) as talk:
        await talk.harness.store.languages.keep(ANNA, PersonLanguage(LANGUAGE, chosen=True))
        found |= {name: card async for name, card in rare(talk)}
    return found


async def rare(talk: Talker) -> AsyncIterator[tuple[str, Card]]:
    """Yield cards about rules over the order of a day, rules of a kind of work, refusals, and a model that fails."""
    anna, queue_person = talk.anna, talk.queue_person
    await anna.to_refine("Write report")
    yield "refused", await press(anna, "back", "undo_sync")
    late: dict[str, Any] = {"day_rule": "NEVER: deep_work_after_9_30", "necessity": "must"}
    await anna.fill("rule_day", **late)
    unsure = {**late, "day_rule": "NEVER: commute"}
    await anna.fill("rule_day", **unsure)
    await guess(anna)
    await anna.click("show_memory")
    yield "memory", anna.messages["memory"].card
    yield "against", await press(anna, "redo", "proceed")
    await anna.fill("rule_day", day_rule="ALWAYS: NOT break")
    yield "clash", anna.card
    goal = {"work": {"kind": "decompose"}, "workflow": "decompose"}
    await queue_person.adds("Move house", **goal)
    yield "goal", queue_person.card
    task = await queue_person.adds("Call Bo", workflow="feature-dev")
    yield "feature", queue_person.card
    await queue_person.pulls(task.id)
    form = await queue_person.opens("queue_done", target=task.id)
    yield "done-form", Card(text=form.title, parts=tuple(part for part in form.fields if isinstance(part, Prose)))
    refused = await queue_person.fill("queue_done", target=task.id, did=("implement",))
    assert isinstance(refused, FormErrors)
    yield "not-done", Card(text=" ".join(refused.errors.values()), parts=())
    yield "unusable", await say(talk, wants("ask"), ModelUnusable(_(UNUSABLE)))
    yield "number", await say(talk, wants("work"), wanting("pause", number=99))
    talk.harness.clock.at += timedelta(minutes=5)
    listed = await talk.outside(wanting("memory"), wish("memory_list_constraints"))
    assert listed is not None
    yield "rules", listed


async def press(anna: Person, *actions: str) -> Card:
    for action in actions:
        await anna.click(action)
    return anna.card


async def say(talk: Talker, *answers: Answer | Exception) -> Card:
    await talk.in_thread(*answers)
    return talk.anna.card


async def guess(anna: Person) -> None:
    """Let the newest rule be one that the person has to confirm."""
    newest = max(await anna.harness.store.constraints.of(ANNA), key=lambda version: version.seq)
    await anna.harness.store.constraints.write([make_guess(newest)], cause="guess")


def words_of(card: Card) -> Iterator[str]:
    """Yield everything that a person reads on a card."""
    yield card.text
    for part in card.parts:
        controls = part.items if isinstance(part, Controls) else [getattr(part, "control", None)]
        yield from (describe(part.day),) if isinstance(part, Picture) else (getattr(part, "text", ""),)
        for control in controls:
            for name in ("label", "confirm", "spoken", "placeholder"):
                yield getattr(control, name, None) or ""
            yield from (choice.label for choice in getattr(control, "choices", ()))


JARGON = re.compile(
    r"\b(dispositor|executor|predicate|workflow|wishes\[|[a-z]+_[a-z_]+\b|(BEFORE|AFTER|IF|ON) \w+( THEN|:)|(NEVER|ALWAYS): "
    r"|FREQ=|BYDAY)"
)
"""Words of the code, of the rule language and of data, which mean nothing to a person (S279)."""


async def test_no_jargon_reaches_a_person(tmp_path: Path) -> None:
    """S279: no mode, no name of a step or a field, no text of the rule language."""
    found = {
        (name, words)
        for name, card in (await collect(tmp_path)).items()
        for words in words_of(card)
        if JARGON.search(words.replace("\\_", "_"))
    }
    assert found == set()


def find_bare(words: Iterable[str]) -> set[str]:
    """Return the texts with words outside of all brackets that do not come from a person."""
    return {each for each in words if re.search("[a-z]{3,}", LEFT_ALONE.sub("", bare(each)), re.IGNORECASE)}


async def test_nothing_is_said_past_the_catalogue(tmp_path: Path) -> None:
    """K17, S261"""
    cards = (await collect(tmp_path)).items()
    found = {name: bad for name, card in cards if (bad := find_bare(words_of(card)))}
    assert found == {}


async def test_a_button_is_called_by_the_words_on_it(tmp_path: Path) -> None:
    """S494: what a screen reader says holds the label, in each language, so that the button can be pressed by voice."""
    items = [part for card in (await collect(tmp_path)).values() for part in card.parts]
    controls = [each for part in items for each in (*getattr(part, "items", ()), getattr(part, "control", None))]
    spoken = {each.spoken: each.label for each in controls if isinstance(each, Button) and each.spoken}
    assert len(spoken) > 10
    assert {said: label for said, label in spoken.items() if label.strip("☐☑ ") not in said} == {}


def texts_in(view: Any) -> Iterator[str]:
    """Yield what Slack shows of a modal."""
    if isinstance(view, dict):
        yield from (view["text"],) if isinstance(view.get("text"), str) else ()
    for inner in view.values() if isinstance(view, dict) else view if isinstance(view, list) else ():
        yield from texts_in(inner)


async def test_no_form_mixes_languages(tmp_path: Path) -> None:
    """K17, S261"""
    harness = await open_harness_at(tmp_path)
    await harness.store.languages.keep(ANNA, PersonLanguage(LANGUAGE, chosen=True))
    anna = Person(harness)
    shown: dict[str, Any] = {}
    for go, forms in (
        (anna.start(), "policy queue_add rituals routine rules rule_new"),
        (anna.press("Plan this day"), "frame"),
        (anna.press("Continue"), "tasks goals"),
        (anna.fill("tasks", title_1="Write report", minutes_1=60), ""),
        (anna.press("Refine"), "add_block move_plan"),
    ):
        await go
        shown |= {name: modal(await anna.look(name)) for name in forms.split()}
    await harness.close()
    assert {name: bad for name, view in shown.items() if (bad := find_bare(texts_in(view)))} == {}


def refuse(call: Callable[[], object]) -> str:
    with pytest.raises(UserError) as refused:
        call()
    return refused.value.message


def wrong_zone() -> str:
    with pytest.raises(ValueError, match="X/Y") as refused:
        zone("X/Y")
    return str(refused.value)


def swap(key: str, direction: int) -> str:
    plan = plan_of(block("A", start="09:00", minutes=60), block("B", start="10:00", minutes=60))
    now = session(TimeboxingStage.REFINE, plan=plan)
    return refuse(lambda: apply_edit(now, make_command("swap_block", key=key, direction=direction)))


def abroad() -> Iterator[str]:
    """Yield meetings before, in and after a flight, one that is free, and one of the night after."""
    flight = event("F", "11:30", "20:30")
    zones = {"start": {"timeZone": "Europe/Amsterdam"}, "end": {"timeZone": "America/New_York"}}
    flight = flight.model_copy(update={"raw": {**flight.raw, **zones}})
    there = session(TimeboxingStage.REFINE, flight, event("D", "22:00", "22:45"))
    yield from (meeting_line(there, each) for each in busy_meetings(there))
    start, end = at("01:00", date(2026, 3, 3)), at("02:00", date(2026, 3, 3))
    yield meeting_line(session(), Meeting(id="n", title="N", start=start, end=end, busy=False))


def read_task_card() -> Iterator[str]:
    """Yield the card of a pulled task that says as much as one can."""
    spec = TaskSpec(
        title="T", context="C", relevant_files=("a.b",), details=queued_tasks.DETAILED, acceptance_criteria=("E",)
    )
    waiting = queued_tasks.task("ff-222222", state="waiting").model_copy(
        update={"spec": spec, "origin": Origin(door="task", reference="R")}
    )
    yield from words_of(build_task_card(waiting, (waiting,), date(2026, 3, 2)))
    yield from list_facts(waiting.id, spec, None)
    for state in TaskState:
        yield from words_of(build_queue_card((queued_tasks.task("ff-333333", state=state),), date(2026, 3, 2)))


def list_reasons() -> Iterator[str]:
    for reason in ("expired", "never confirmed", "as you said", "taken back", "duplicate of u", "the same as u"):
        gone = version_of(status="declined", event={"action": "archive", "reason": reason})
        yield from (each.reason for each in decide_applicability([gone], context_of()).excluded)
    there = version_of(applies_stages=["COLLECT"])
    yield from (each.reason for each in decide_applicability([there], context_of(stage="REFINE")).excluded)


def fixes() -> Iterator[str]:
    """Yield what may be done about a one thing that comes late, and about one without a block."""
    late = days.day(tasks=[{"id": "a", "title": "a", "minutes": 60, "one_thing": True}])
    for blocks in (("SW 09:00 60 b", "DW 16:00 60 a"), ("SW 09:00 60 b",)):
        yield from (fix.label for fix in find_fixes(late, days.plan(*blocks)))


def overlap() -> Iterator[str]:
    one, other = resolve(plan_of(block("A", start="09:00", minutes=60), block("B", start="09:30", minutes=60)))
    yield overlap_sentence(one, other)
    yield from warn_about_overlaps(
        (paper.make_block("a"),), (paper.event("b", paper.make_block("a").fields),), zone(TZ)
    )


def tasks_card_words() -> Iterator[str]:
    tasks = (
        task("T", details=queued_tasks.DETAILED),
        *(task("T", details=TaskDetails(kind=kind)) for kind in TaskKind),
    )
    now = session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(tasks=tasks))
    return words_of(stage_card(now))


TEXTS: dict[str, Callable[[], Iterable[str]]] = {
    "swaps": lambda: (swap("a", -1), swap("b", 1)),
    "places in the queue": lambda: (
        refuse(lambda: move_task((queued_tasks.task("a"), queued_tasks.task("b")), "a", "up")),
        refuse(lambda: move_task((queued_tasks.task("a"), queued_tasks.task("b")), "b", "last")),
    ),
    "a task that is done": lambda: (refuse(lambda: rename_task(queued_tasks.task("a", state="done"), "b")),),
    "journeys": abroad,
    "the frame": lambda: (frame_words(session(frame=FrameFacts(day_start=time(18), day_end=time(3)))),),
    "the queue": read_task_card,
    "rules that do not apply": list_reasons,
    "fixes": fixes,
    "overlaps": overlap,
    "tasks of a day": tasks_card_words,
    "a preview without writes": lambda: words_of(preview_card(session(), PreviewView(asked="c1", at=MORNING))),
    "what is going on": lambda: (
        describe_progress(None),
        *map(describe_progress, (Progress(doing=each) for each in Activity)),
    ),
    "the summary of a commit": lambda: (
        describe_stage(
            plan_session(TimeboxingStage.REVIEW_COMMIT, last_sync=SyncReport(status="changed", created=2))
        ).summary
    ),
    "a partial report": lambda: words_of(
        stage_card(
            plan_session(TimeboxingStage.REVIEW_COMMIT, last_sync=SyncReport(status="partial", created=2, unsure=True))
        )
    ),
    "a server that does not answer": lambda: (HttpEndpoint("http://1.2.3.4/").describe(),),
    "a zone": lambda: (wrong_zone(),),
}
"""Texts that were English in every language."""


@pytest.mark.parametrize("name", TEXTS)
def test_each_text_comes_from_the_catalogue(name: str) -> None:
    told = list(TEXTS[name]())
    assert told
    assert find_bare(told) == set()


def test_a_long_menu_says_what_it_does_in_the_language() -> None:
    choices = tuple(Choice(label=str(number), value="a") for number in range(6))
    rendered = render(
        Card(text="1", parts=(Prose(text="1", control=Menu(choices=choices, target="t")),)), session="s1", v="v1"
    )
    assert "⟦Change…⟧" in str(rendered)
