"""Rules for a day in plain words, and those that cannot be kept together (S139, S143)."""

from __future__ import annotations

import pytest

from fateforger.errors import BadInput
from fateforger.workflow.day_names import describe_day_rule, suggest_day_remedy
from fateforger.workflow.day_rules import find_day_conflicts, read_day_rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("BEFORE deep_work: admin_done", "When there is deep work, admin is over by then."),
        (
            "BEFORE meeting: deep_work AND habit",
            ("When there is a meeting, deep work came before it and a habit came before it."),
        ),
        ("BEFORE deep_work: NOT meeting_done", "When there is deep work, a meeting is not over by then."),
        ("AFTER meeting: break", "When there is a meeting, there is a break later on."),
        ("NEVER: meeting_after_17", "No meeting runs past 17:00."),
        ("NEVER: deep_work_before_9_30 OR rest", "No deep work begins before 09:30 and there is no rest."),
        ("NEVER: deep_work AND friday", "Never at once: there is deep work and it is Friday."),
        ("ALWAYS: NOT commute", "For each block, there is no commute."),
        ("IF friday THEN NOT meeting_longer_than_60", "When it is Friday, no meeting takes more than 60 minutes."),
        ("IF NOT monday THEN break", "When it is not Monday, there is a break at that block or later."),
        ("ON meeting: INVOKE break", "Each time there is a meeting, there is a break, there or before the next time."),
    ],
)
def test_a_rule_is_told_in_plain_words(text: str, words: str) -> None:
    assert describe_day_rule(read_day_rule(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NEVER: meeting_after_17", "Move it, shorten it, or leave it out."),
        ("BEFORE deep_work: admin_done", "Put what it waits for before it, or move it back."),
        ("AFTER meeting: break", "Put what has to follow behind it."),
        ("ON meeting: INVOKE break", "Put what has to follow behind it."),
        ("ALWAYS: NOT commute", "Change it, or leave it out."),
        ("IF friday THEN NOT meeting_after_12", "Change it, or leave it out."),
    ],
)
def test_what_to_do_about_it_is_one_sentence(text: str, words: str) -> None:
    """Of what only the calendar holds, only the person can move anything."""
    rule = read_day_rule(text)
    assert suggest_day_remedy(rule, ours=True) == words
    assert (
        suggest_day_remedy(rule, ours=False) == "It is about what your calendar holds, so only you can move it there."
    )


@pytest.mark.parametrize(
    "text",
    [
        "ALWAYS: meeting\nNEVER: meeting",
        "BEFORE deep_work: admin_done\nBEFORE admin: deep_work",
        "AFTER meeting: rest\nAFTER break: meeting",
        "BEFORE deep_work: admin\nBEFORE admin OR habit: rest AND buffer_done\nBEFORE rest: deep_work_done",
    ],
)
def test_what_cannot_be_kept_together_is_found(text: str) -> None:
    """S143: ALWAYS with NEVER, and circles of BEFORE or AFTER, in which no block could be the first or the last one."""
    rules = [read_day_rule(line) for line in text.splitlines()]
    assert find_day_conflicts(rules) == (tuple(range(len(rules))),)


@pytest.mark.parametrize("text", ["BEFORE deep_work: deep_work_done", "NEVER: meeting OR NOT meeting"])
def test_what_no_block_can_keep_is_refused(text: str) -> None:
    """S143."""
    with pytest.raises(BadInput) as refused:
        read_day_rule(text)
    assert refused.value.message == f"No block can keep “{text}”."


@pytest.mark.parametrize(
    "text",
    [
        "BEFORE deep_work: admin_done\nAFTER deep_work: admin",
        "BEFORE deep_work: admin_done OR rest_done\nBEFORE admin: deep_work_done",
        "BEFORE deep_work AND monday: admin_done\nBEFORE admin: deep_work_done",
        "BEFORE meeting: deep_work\nBEFORE deep_work: admin\nBEFORE meeting: admin",
    ],
)
def test_what_some_day_can_keep_is_no_circle(text: str) -> None:
    assert find_day_conflicts([read_day_rule(line) for line in text.splitlines()]) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "IF friday THEN NOT deep_work",
            "Any other block keeps “NOT deep_work”. Say what must not be with NEVER, like “NEVER: friday AND deep_work”.",
        ),
        ("AFTER meeting: rest OR NOT meeting", "Any other block keeps “NOT meeting”. Say what must not be with NEVER."),
    ],
)
def test_a_rule_that_says_less_than_it_seems_to_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_day_rule(text)
    assert refused.value.message == sentence
