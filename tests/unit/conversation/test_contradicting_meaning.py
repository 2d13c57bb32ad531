"""“I'm vegetarian”, then “I eat fish now”: what contradicts in meaning is found in the background, asked about, and settled
by one tap or in words (S179, S188, S293; C-05, L-04)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.told_rules import NOTHING, build_extraction, rule
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import day, outside, wanting, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import ANNA, CHANNEL, Harness, Person, open_harness_at
from tests.unit.conversation.queue.person import words_of
from tests.unit.conversation.rules import avoiding
from tests.unit.conversation.talker import Talker, talker_at

from fateforger.errors import MemoryUnavailable, ModelAuthFailed, ModelUnreachable
from fateforger.memory.contradiction import build_archiving, find_candidates
from fateforger.memory.ports import Recollection
from fateforger.memory.versions import Version, select_newest
from fateforger.ports.model import Prompt
from fateforger.session.commands.rules import AskToReplace, RememberConstraint
from fateforger.session.pending import pending_questions
from fateforger.session.rulebook import rules_in_force
from fateforger.workers.contradictions import build_compare_job
from fateforger.workers.lanes import CompareRules

VEGETARIAN, FISH = "I'm vegetarian", "I eat fish now"
TOLD = {
    VEGETARIAN: rule("Vegetarian", VEGETARIAN, topics=["food", "diet"]),
    FISH: rule("Fish", FISH, topics=["food", "fish"]),
}
QUESTION = "You said earlier: “I'm vegetarian”. Does “I eat fish now” take its place?"
REPLACE, BOTH = "Yes, replace it", "Keep both"


class NearIndex:
    """An index to which all that is known is that near, or that is in trouble."""

    def __init__(self, score: float, trouble: MemoryUnavailable | None = None) -> None:
        self.score = score
        self.trouble = trouble
        self.known: tuple[Version, ...] = ()

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        assert (user_id, bool(text)) == (ANNA, True)
        if self.trouble is not None:
            raise self.trouble
        return tuple(Recollection(version.uid, self.score) for version in self.known)[:limit]


def judging(*rows: int) -> ScriptedModel:
    """Return a model for which those rows contradict any new statement."""
    return ScriptedModel(by=lambda _: {"contradicts": list(rows)})


def reading(topics: bool = True) -> ScriptedModel:  # noqa: FBT001, FBT002  of a test
    """Return a model that finds the rules of :data:`TOLD` in messages."""

    def answer(prompt: Prompt) -> Line:
        told = next((line for words, line in TOLD.items() if words in prompt.user), None)
        return NOTHING if told is None else build_extraction(told if topics else {**told, "topics": [told["name"]]})

    return ScriptedModel(by=answer)


def talking(intent: str = "answer") -> ScriptedModel:
    """Return a model for which messages have nothing for the day."""
    return ScriptedModel(by=lambda prompt: wants(intent, rules=True) if prompt.name.startswith("decide/") else day())


Opener = Callable[..., Awaitable[Person]]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    harnesses: list[Harness] = []

    async def open_one(**parts: Any) -> Person:
        """Open a program with these parts and return a person in the frame of their day."""
        harness = await open_harness_at(tmp_path, model=talking())
        harnesses.append(harness)
        for name, part in {"extractor": reading(), **parts}.items():
            setattr(harness, name, part)
        harness.restart()
        person = Person(harness)
        await person.to_frame()
        return person

    yield open_one
    for harness in harnesses:
        await harness.close()


async def say(person: Person, words: str) -> None:
    """Say something, and let all of it be understood."""
    harness = person.harness
    if isinstance(harness.index, NearIndex):
        harness.index.known = await harness.remembered.of(ANNA)
    await person.says(words)
    await harness.work()
    await person.read()


async def counting(person: Person) -> list[str]:
    return sorted(item.record.words for item in rules_in_force(await person.session()).applicable)


async def test_a_statement_that_contradicts_an_earlier_one_takes_its_place_by_one_tap(opened: Opener) -> None:
    """With Undo; the older one says by what it was replaced."""
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    assert QUESTION not in anna.words
    await say(anna, FISH)
    assert anna.words.count(QUESTION) == 1
    assert await counting(anna) == [FISH, VEGETARIAN]
    await anna.press(REPLACE)
    assert QUESTION not in anna.words
    assert "“Fish” takes the place of “Vegetarian” from now on." in anna.words
    assert await counting(anna) == [FISH]
    newest = {version.record.name: version for version in await anna.harness.remembered.of(ANNA)}
    event = newest["Vegetarian"].event
    assert (event.action.value, event.reason) == ("supersede", f"superseded by {newest['Fish'].uid}")
    await anna.press("Undo")
    assert await counting(anna) == [FISH, VEGETARIAN]
    assert anna.words.count(QUESTION) == 1, "the answer was taken back, so the question is open again"
    assert "“Vegetarian” counts again." in anna.words
    assert "Taken back" not in anna.words, "what replaced it stays"
    await anna.press(BOTH)
    assert await counting(anna) == [FISH, VEGETARIAN]
    assert QUESTION not in anna.words


QUIET, CALM = "No calls before ten", "Vor zehn telefoniere ich nicht"
SAME = f"You said earlier: “{QUIET}”. “{CALM}” seems to say the same. Is one of them enough?"
ENOUGH = "Yes, one is enough"


def same_as(*rows: int) -> ScriptedModel:
    """Return a model for which a new statement repeats those rows."""
    return ScriptedModel(by=lambda _: {"repeats": list(rows)})


@pytest.mark.parametrize(
    ("earlier", "later", "kept"),
    [("should", "should", CALM), ("must", "should", QUIET), ("prefer", "must", CALM)],
    ids=["the newer one", "the more binding one", "the newer and more binding one"],
)
async def test_what_is_told_twice_is_merged_by_one_tap(opened: Opener, earlier: str, later: str, kept: str) -> None:
    """S173: nothing is merged unasked; the more binding one is kept, and Undo brings both back."""
    told = {QUIET: ("Calls", earlier), CALM: ("Telefon", later)}
    rules = {words: rule(name, words, topics=["calls"], necessity=wish) for words, (name, wish) in told.items()}
    reader = ScriptedModel(
        by=lambda p: next((build_extraction(r) for words, r in rules.items() if words in p.user), NOTHING)
    )
    anna = await opened(judge=same_as(1), extractor=reader)
    await say(anna, QUIET)
    await say(anna, CALM)
    assert (anna.words.count(SAME), await counting(anna)) == (1, sorted([QUIET, CALM]))
    await anna.press(ENOUGH)
    assert (SAME in anna.words, await counting(anna)) == (False, [kept])
    await anna.press("Undo")
    assert (anna.words.count(SAME), await counting(anna)) == (1, sorted([QUIET, CALM]))
    await anna.press(BOTH)
    assert (SAME in anna.words, await counting(anna)) == (False, sorted([QUIET, CALM]))


async def test_the_same_about_other_days_is_not_merged(opened: Opener) -> None:
    """One of them could not stand for both."""
    rules = {
        QUIET: rule("Calls", QUIET, topics=["calls"]),
        CALM: rule("Telefon", CALM, topics=["calls"], days_of_week=["MO"]),
    }
    reader = ScriptedModel(
        by=lambda p: next((build_extraction(r) for words, r in rules.items() if words in p.user), NOTHING)
    )
    anna = await opened(judge=same_as(1), extractor=reader)
    await say(anna, QUIET)
    await say(anna, CALM)
    assert SAME not in anna.words


async def test_keeping_both_can_be_taken_back(opened: Opener) -> None:
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    await anna.press(BOTH)
    await anna.press("Undo")
    assert "That is open again, so I ask you once more." in anna.words
    await anna.press(REPLACE)
    assert await counting(anna) == [FISH]


async def test_both_stay_and_it_is_not_asked_again(opened: Opener) -> None:
    """This holds when one of them is repeated, in another thread, and after a restart."""
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    await anna.press(BOTH)
    assert "Both stay: “Fish” and “Vegetarian”." in anna.words
    await say(anna, FISH)
    anna.harness.restart()
    again = Person(anna.harness)
    await again.to_frame()
    await anna.harness.work()
    await again.read()
    assert await counting(again) == [FISH, VEGETARIAN]
    assert QUESTION not in anna.words + again.words


@pytest.mark.parametrize(
    ("intent", "left"), [("accept_pending", [FISH]), ("refuse_pending", [FISH, VEGETARIAN])], ids=["yes", "no"]
)
async def test_it_is_answered_in_words(opened: Opener, intent: str, left: list[str]) -> None:
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    anna.harness.model = model = talking(intent)
    anna.harness.restart()
    await say(anna, "…")
    assert QUESTION in model.prompts[0].user
    assert await counting(anna) == left
    assert QUESTION not in anna.words


async def test_what_the_model_sees_is_the_statement_and_those_about_the_same(opened: Opener) -> None:
    """S188: topics that a model gave are enough; the index need not know a statement that was just made."""
    anna = await opened(judge=judging())
    await anna.harness.remembered.write([version_of("gym", user=ANNA, topics=["sport"])], cause="earlier")
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    judge = anna.harness.judge
    assert isinstance(judge, ScriptedModel)
    (prompt,) = judge.prompts
    assert "I'm vegetarian" in prompt.user
    assert "I eat fish now" in prompt.user
    assert "what I said about gym" not in prompt.user
    assert QUESTION not in anna.words


async def test_a_statement_with_other_topics_is_found_by_its_meaning(opened: Opener) -> None:
    anna = await opened(judge=judging(1), index=NearIndex(0.2), extractor=reading(topics=False))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    assert QUESTION in anna.words


@pytest.mark.parametrize(("score", "topics", "asked"), [(0.4, False, 1), (0.2, False, 0), (0.2, True, 1)])
async def test_without_a_model_the_person_is_asked_about_what_is_near(
    opened: Opener,
    score: float,
    topics: bool,  # noqa: FBT001  a table
    asked: int,
) -> None:
    """Or about what shares a topic."""
    anna = await opened(index=NearIndex(score), extractor=reading(topics))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    assert anna.words.count(QUESTION) == asked


@pytest.mark.parametrize("error", [ModelUnreachable("Down."), ModelAuthFailed("No key.")])
async def test_if_the_model_gives_no_answer_the_person_is_asked(opened: Opener, error: Exception) -> None:
    anna = await opened(index=NearIndex(0.4), judge=ScriptedModel(by=lambda _: error))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    assert anna.words.count(QUESTION) == 1


async def test_while_the_index_is_away_topics_are_compared(opened: Opener) -> None:
    anna = await opened(judge=judging(1), index=NearIndex(0.4, MemoryUnavailable("The index is away.")))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    assert anna.words.count(QUESTION) == 1


async def test_what_was_told_outside_of_a_plan_is_asked_about_in_the_next_one(opened: Opener) -> None:
    """On its first card about the day: a yes to which day it is answers no question that is not in view."""
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    told = version_of("fish", user=ANNA, description=FISH, topics=["food"], at="2026-03-02T07:30:00+00:00")
    await anna.harness.remembered.write([told], cause="outside")
    again = Person(anna.harness)
    await again.start()
    await anna.harness.work()
    await again.read()
    assert QUESTION not in again.words
    assert pending_questions(await again.session()) == ()
    await again.press("Plan this day")
    assert again.words.count(QUESTION) == 1


async def test_what_was_told_by_form_outside_of_a_plan_is_asked_about_at_once(talk: Talker) -> None:
    """This happens in direct messages, as for rules in words; the next plan does not ask again."""
    await talk.harness.remembered.write(
        [version_of("veg", user=ANNA, description=VEGETARIAN, topics=["food"], at="2026-03-01T07:30:00+00:00")],
        cause="earlier",
    )
    record = version_of("fish", user=ANNA, description=FISH, topics=["food"]).record
    told = RememberConstraint(
        command_id="form", user_id=ANNA, at=talk.harness.clock.now(), session_id="", record=record, channel=CHANNEL
    )
    await talk.harness.coordinator.handle(told)
    await let_compare(talk)
    asked = talk.queue_person.deliveries[-1]
    assert (asked["channel"], asked["thread_ts"], words_of(talk.queue_person.card).count(QUESTION)) == (
        CHANNEL,
        None,
        1,
    )
    await talk.queue_person.press(REPLACE)
    assert await in_force(talk.harness) == [FISH]


async def test_a_question_that_was_settled_elsewhere_goes_away(opened: Opener) -> None:
    """One of the two was put away outside of the plan meanwhile."""
    anna = await opened(judge=judging(1))
    await say(anna, VEGETARIAN)
    await say(anna, FISH)
    newest = select_newest(await anna.harness.remembered.of(ANNA), ANNA).values()
    old = next(version for version in newest if version.record.words == VEGETARIAN)
    gone = build_archiving(old, "over").at(anna.harness.clock.now() + timedelta(seconds=1))
    await anna.harness.remembered.write([gone], cause="elsewhere")
    anna.harness.restart()
    await anna.press(REPLACE)
    assert "One of the two is out of force already" in anna.words
    assert QUESTION not in anna.words
    assert await counting(anna) == [FISH]


async def asked_of_two(harness: Harness) -> list[str]:
    """Return the sessions that ask about two statements; two of them find that one contradicts the other."""
    first, second = Person(harness), Person(harness)
    await first.to_frame()
    await second.to_frame()
    rows = [
        version_of("vegetarian", user=ANNA, description=VEGETARIAN, topics=["food"], at="2026-03-02T06:00:00+00:00"),
        version_of("fish", user=ANNA, description=FISH, topics=["food"], at="2026-03-02T06:30:00+00:00"),
    ]
    await harness.remembered.write(rows, cause="outside")
    for person in (first, second):
        wanted = CompareRules(session_id=person.session_id, user_id=ANNA, since=rows[1].updated_at)
        job = build_compare_job(wanted, f"told in {person.session_id}")
        await harness.store.jobs.enqueue(job, now=harness.clock.now())
    await harness.work()
    await first.read()
    return sorted({message.session_id for message in first.arrived if QUESTION in words_of(message.card)})


async def test_a_pair_that_two_programs_find_is_asked_about_once(opened: Opener) -> None:
    harness = (await opened(judge=judging(1))).harness
    assert len(await asked_of_two(harness)) == 1


async def test_an_erased_person_is_asked_again(opened: Opener) -> None:
    """The receipt that a question was asked is erased with all else that is kept about the person."""
    harness = (await opened(judge=judging(1))).harness
    before = await asked_of_two(harness)
    counts = await harness.store.people.erase(ANNA, now=harness.clock.now(), calendar=None, closing=None)
    assert counts["constraints"] == 2
    harness.restart()
    after = await asked_of_two(harness)
    assert (len(before), len(after)) == (1, 1)


def older(**fields: Any) -> Version:
    return version_of("old", **{"topics": ["food"], **fields})


@pytest.mark.parametrize(
    ("old", "found_"),
    [
        (older(), ["old"]),
        (older(topics=["sport"]), []),
        (older(status="declined", event={"action": "archive", "reason": None}), []),
        (older(days_of_week=["SA"]), []),
        (avoiding("old", "00:00", "10:00", topics=["food"]), ["old"]),
    ],
    ids=["about the same", "about something else", "out of force", "on other days", "with times"],
)
def test_only_what_holds_on_the_same_days_is_compared(old: Version, found_: list[str]) -> None:
    new = version_of("new", topics=["food"], days_of_week=["MO"], at="2026-03-01T09:00:00+00:00")
    assert [each.uid for each in find_candidates([old, new], "U1", "new")] == found_


def test_typed_fields_decide_where_they_say_all() -> None:
    """No model is asked about “not before ten” and “not after four”."""
    at = "2026-03-01T09:00:00+00:00"
    old, new = avoiding("old", "00:00", "10:00", topics=["calls"]), avoiding("new", "16:00", "24:00", topics=["calls"])
    assert (
        find_candidates([old, new.model_copy(update={"updated_at": version_of(at=at).updated_at})], "U1", "new") == ()
    )


def test_the_nearest_are_compared_first() -> None:
    many = [version_of(f"c{n:02}", topics=["food"]) for n in range(12)]
    new = version_of("new", topics=["food"], at="2026-03-01T09:00:00+00:00")
    found_ = [each.uid for each in find_candidates([*many, new], "U1", "new", ["c07", "c03", "new"])]
    assert found_ == ["c07", "c03", "c00", "c01", "c02", "c04", "c05", "c06"]


# --- outside of any plan ---


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talker]:
    async with talker_at(tmp_path) as talker:
        talker.harness.judge = judging(1)
        talker.harness.restart()
        yield talker


async def tell_both(talk: Talker) -> None:
    """Tell both statements in messages of their own, and let them be compared."""
    for words in (VEGETARIAN, FISH):
        told = wished(name=words, description=words, topics=["food"])
        await talk.outside(outside("memory"), wish("remember", rule=told), text=words)
        await let_compare(talk)


async def let_compare(talk: Talker) -> None:
    """Wait until new rules are compared and the results have arrived."""

    async def is_compared() -> bool:
        await talk.queue_person.read()
        return await talk.harness.is_idle(supervisor)

    async with talk.harness.working() as supervisor:
        await talk.harness.until(is_compared)


async def in_force(harness: Harness) -> list[str]:
    newest = select_newest(await harness.remembered.of(ANNA), ANNA).values()
    return sorted(version.record.words for version in newest if not version.retired)


async def test_outside_of_a_plan_it_is_asked_and_settled_in_the_same_place(talk: Talker) -> None:
    """With one tap, whose Undo asks again; each answer is shown in place of the question."""
    await tell_both(talk)
    asked = talk.queue_person.deliveries[-1]
    assert (asked["channel"], words_of(talk.queue_person.card).count(QUESTION)) == (CHANNEL, 1)
    assert asked["thread_ts"] == talk.queue_person.deliveries[-2]["thread_ts"]
    card = await talk.queue_person.press(REPLACE)
    assert "takes the place of" in words_of(card)
    assert (await in_force(talk.harness), talk.queue_person.deliveries[-1]["ts"]) == ([FISH], "9.0")
    card = await talk.queue_person.press("Undo")
    assert QUESTION in words_of(card)
    assert await in_force(talk.harness) == [FISH, VEGETARIAN]
    card = await talk.queue_person.press(BOTH)
    assert "Both stay" in words_of(card)
    await talk.queue_person.press("Replace it after all")
    assert await in_force(talk.harness) == [FISH]
    assert await talk.harness.store.sessions.of_user(ANNA) == ()


@pytest.mark.parametrize(("number", "left"), [(1, [FISH]), (2, [FISH, VEGETARIAN])], ids=["yes", "no"])
async def test_outside_of_a_plan_it_is_answered_in_words(talk: Talker, number: int, left: list[str]) -> None:
    """Also after a restart, because the talk is stored."""
    await tell_both(talk)
    talk.harness.restart()
    card = await talk.outside(wanting("button", number=number), text="…")
    assert REPLACE in talk.model.prompts[-1].user
    assert QUESTION in talk.model.prompts[-1].user
    assert card is not None
    assert await in_force(talk.harness) == left


async def test_what_was_asked_outside_of_a_plan_is_not_asked_in_the_next_one(talk: Talker) -> None:
    await tell_both(talk)
    await talk.queue_person.press(BOTH)
    await talk.anna.to_frame()
    await talk.harness.work()
    await talk.anna.read()
    assert QUESTION not in talk.anna.words


async def test_outside_of_a_plan_a_rule_that_is_gone_by_now_is_not_asked_about(talk: Talker) -> None:
    await tell_both(talk)
    before = len(talk.queue_person.deliveries)
    await talk.queue_person.press(REPLACE)
    uids = [version.uid for version in await talk.harness.remembered.of(ANNA)]
    late = AskToReplace(
        command_id="late", user_id=ANNA, at=talk.harness.clock.now(), uids=(uids[1], uids[0]), channel=CHANNEL
    )
    await talk.harness.coordinator.handle(late)
    await talk.queue_person.read()
    assert len(talk.queue_person.deliveries) == before + 1
