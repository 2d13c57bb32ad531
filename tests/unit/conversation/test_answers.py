"""S70: raw JSON, fences stripped, prose around it left aside."""

from __future__ import annotations

import pytest

from fateforger.conversation.language.model_calls import extract_json
from fateforger.limits import MAX_ANSWER_CHARS


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \ufeff{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        'Sure! Here you go:\n```json\n{"a": 1}\n```\nHope that helps.',
        'Natürlich: {"a": 1} Viel Erfolg!',
        '{"a": 1}\n```',
    ],
)
def test_s70_json_is_found_bare_fenced_and_in_prose(text: str) -> None:
    assert extract_json(text) == {"a": 1}


def test_s70_a_fence_within_a_string_stays() -> None:
    assert extract_json('{"notes": "```\\ncode\\n```"}') == {"notes": "```\ncode\n```"}


def test_s70_a_list_is_json_too() -> None:
    assert extract_json("[1, 2]") == [1, 2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "There is no JSON in the answer; answer with one JSON object and nothing else."),
        ("I cannot help with that.", "There is no JSON in the answer; answer with one JSON object and nothing else."),
        ('{"a": 1} {"a": 2}', "There is more than one JSON object; answer with exactly one."),
        ('{"a": NaN}', "NaN is not a number that JSON knows."),
        ("[" * 100_000, "The JSON is nested too deeply."),
        ("x" * (MAX_ANSWER_CHARS + 1), "The answer is far too long."),
    ],
)
def test_what_cannot_be_used_says_why(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        extract_json(text)
    assert str(caught.value) == sentence


def test_a_cut_answer_says_where() -> None:
    with pytest.raises(ValueError) as caught:
        extract_json('{"a": 1, "b"')
    assert str(caught.value).startswith("The JSON breaks off or is malformed at character 12:")


def test_what_nobody_can_see_is_left_out() -> None:
    """Control characters, halves of characters and marks that turn the reading direction; line ends stay."""
    text = '{"title": "Re\\u0000po\\u001b[31mrt\\ud800 \u202eevil", "notes": "one\\ntwo", "more": [{"n": "\\u0007x"}], "k": 1}'
    assert extract_json(text) == {"title": "Repo[31mrt evil", "notes": "one\ntwo", "more": [{"n": "x"}], "k": 1}
