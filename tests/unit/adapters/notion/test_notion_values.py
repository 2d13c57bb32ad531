"""Properties of Notion pages as plain values."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.notion import prop

from fateforger.adapters.notion.source import is_whole, to_list, to_plain, to_single


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ({"type": "relation", "relation": [{"id": "a"}], "has_more": True}, False),
        ({"type": "relation", "relation": [{"id": "a"}] * 24, "has_more": False}, True),
        ({"type": "rich_text", "rich_text": [{"plain_text": "a"}] * 25}, False),
        ({"type": "rollup", "rollup": {"type": "incomplete", "incomplete": {}}}, False),
        ({"type": "rollup", "rollup": {"type": "number", "number": 3}}, True),
        ({"type": "number", "number": None}, True),
    ],
)
def test_what_came_whole(given: dict[str, Any], *, whole: bool) -> None:
    assert is_whole(given) is whole


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (prop("rich_text", "  in bed\nby eleven "), "in bed\nby eleven"),
        (prop("title", ""), None),
        (prop("select", None), None),
        (prop("multi_select", ["MO", "TU"]), ["MO", "TU"]),
        (prop("date", None), None),
        ({"type": "formula", "formula": {"type": "boolean", "boolean": False}}, False),
        ({"type": "formula", "formula": {"type": "date", "date": {"start": "2026-01-05", "end": None}}}, "2026-01-05"),
        ({"type": "rollup", "rollup": {"type": "number", "number": 3}}, 3),
        ({"type": "rollup", "rollup": {"type": "array", "array": []}}, None),
        ({"type": "rollup", "rollup": {"type": "array", "array": [prop("relation", ["a", "b"])]}}, ["a", "b"]),
    ],
)
def test_values(given: dict[str, Any], value: object) -> None:
    assert to_plain(given) == value


def test_types_that_hold_no_value_of_ours() -> None:
    with pytest.raises(ValueError, match="a column of the type files cannot hold this"):
        to_plain({"type": "files", "files": []})


def test_one_and_several() -> None:
    assert [to_list(value) for value in ("a, b,", ["a"], None, 3)] == [["a", "b"], ["a"], [], [3]]
    assert [to_single(value) for value in (["a"], [], 3)] == ["a", None, 3]
