"""The wire form of a plan, and one sentence per mistake (S63, S64, S65, S105, S109, K8)."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.errors import PlanInvalid
from fateforger.planning.plan import COLOR_BY_TYPE, ET, type_of_color
from fateforger.planning.wire import read_plan, write_plan

GOOD: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "events": [
        {"n": "Write", "d": "chapter 2", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H30M"}, "key": "w"},
        {"n": "Standup", "d": "", "t": "M", "p": {"a": "fw", "st": "11:00", "et": "11:30"}, "key": "s"},
        {"n": "Read", "d": "", "t": "SW", "p": {"a": "ap", "dur": "PT45M"}, "key": "r"},
    ],
}


def test_the_wire_form_survives_a_round_trip() -> None:
    """K8: short codes on the wire, words in code."""
    plan = read_plan(GOOD)
    assert write_plan(plan) == GOOD
    assert read_plan(write_plan(plan)) == plan
    assert (plan.events[0].name, plan.events[0].type, plan.events[0].description) == (
        "Write",
        ET.DEEP_WORK,
        "chapter 2",
    )


def test_blocks_without_a_key_get_the_same_one_every_time() -> None:
    bare = {**GOOD, "events": [{k: v for k, v in e.items() if k != "key"} for e in [*GOOD["events"][:1]] * 2]}
    first, second = read_plan(bare).events
    assert first.key != second.key
    assert read_plan(bare) == read_plan(bare)


def test_nine_types_with_their_colors_both_ways() -> None:
    """S63"""
    assert {et.value: color for et, color in COLOR_BY_TYPE.items()} == {
        "M": "6", "C": "4", "DW": "9", "SW": "8", "PR": "10", "H": "7", "R": "2", "BU": "5", "BG": "1",
    }  # fmt: skip
    assert {type_of_color(color) for color in COLOR_BY_TYPE.values()} == set(ET)
    assert (type_of_color(None), type_of_color("11"), type_of_color("")) == (ET.MEETING, ET.MEETING, ET.MEETING)


def event(**changes: Any) -> dict[str, Any]:
    return {"n": "Write", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}} | changes


@pytest.mark.parametrize(
    ("document", "sentence", "where"),
    [
        ([], "A plan is a JSON object with date, tz and events.", None),
        ({"tz": "UTC", "events": []}, "“date” is missing.", "date"),
        (
            {"date": "2026-03-02", "tz": "Mars/Base", "events": []},
            "“Mars/Base” is not a time zone I know; use an IANA name such as Europe/Amsterdam.",
            "tz",
        ),
        ({"date": "2026-03-02", "tz": "UTC", "events": [], "zz": 1}, "“zz” is not a field I know here.", "zz"),
        (event(zz=1), "“zz” is not a field I know here.", "events[0].zz"),
        (event(n=""), "“n” is empty.", "events[0].n"),
        (event(n="x" * 10_000), "“n” is too long: it can have 300 characters at most.", "events[0].n"),
        (
            event(p={"a": "fs", "st": "09:00", "dur": "PT0M"}),
            "A block has to last longer than zero minutes.",
            "events[0].p.dur",
        ),
        (event(p={"a": "fs", "st": "09:00", "dur": "PT30H"}), "A block can last 24 hours at most.", "events[0].p.dur"),
        (
            event(p={"a": "fs", "st": "09:00", "dur": 45}),
            "A duration is written as text like PT45M.",
            "events[0].p.dur",
        ),
        (
            event(p={"a": "fs", "st": "25:00", "dur": "PT1H"}),
            "“25:00” is not a time of day; write it like 09:30.",
            "events[0].p.st",
        ),
        (event(p={"a": "ap", "dur": "PT1H", "st": "09:00"}), "“st” is not a field I know here.", "events[0].p.st"),
        (
            event(p={"a": "xx", "dur": "PT1H"}),
            "“p” does not say which kind it is: “xx” is none of 'ap', 'bn', 'fs', 'fw'.",
            "events[0].p",
        ),
        (
            event(t="BG", p={"a": "ap", "dur": "PT1H"}),
            "“Write” is a background block and needs a fixed start (fs) or window (fw).",
            "events[0]",
        ),
        (
            event(t="Q"),
            "“t” cannot be used: input should be 'M', 'C', 'DW', 'SW', 'PR', 'H', 'R', 'BU' or 'BG'.",
            "events[0].t",
        ),
    ],
)
def test_each_mistake_gets_one_clear_sentence(document: Any, sentence: str, where: str | None) -> None:
    """S64, S65, S109"""
    if isinstance(document, dict) and "n" in document:
        document = {"date": "2026-03-02", "tz": "UTC", "events": [document]}
    with pytest.raises(PlanInvalid) as caught:
        read_plan(document)
    assert (caught.value.message, caught.value.where) == (sentence, where)


def test_two_blocks_cannot_share_a_key() -> None:
    with pytest.raises(PlanInvalid, match="Two blocks have the key “w”"):
        read_plan({**GOOD, "events": [GOOD["events"][0]] * 2})
