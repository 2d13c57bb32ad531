"""Colors: the calendar's own, readable by WCAG AA, and never the only thing that tells one type from another."""

from __future__ import annotations

from itertools import combinations

import pytest

from caldav_mcp.colors import EVENT_COLORS
from fateforger.planning.plan import COLOR_BY_TYPE, ET
from fateforger.ui.picture_svg import (
    CARD,
    INK,
    MARKS,
    NOW,
    OUTSIDE,
    SOFT,
    channels,
    contrast,
    event_color,
    hatch,
    mark,
    strong_color,
    tint,
)

# Machado, Oliveira and Fernandes (2009), full severity, on linear light.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def simulate_vision(color: str, kind: str | None) -> str:
    if kind is None:
        return color
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in channels(color)]
    turned = [min(1.0, max(0.0, sum(a * b for a, b in zip(row, linear, strict=True)))) for row in BLINDNESS[kind]]
    coded = [12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in turned]
    return "#" + "".join(f"{round(255 * c):02x}" for c in coded)


def test_the_colors_are_those_of_the_calendar() -> None:
    assert {kind: event_color(kind) for kind in ET} == {k: EVENT_COLORS[COLOR_BY_TYPE[k]].background for k in ET}


@pytest.mark.parametrize("eyes", [None, *BLINDNESS])
@pytest.mark.parametrize("kind", ET)
def test_text_and_edges_can_be_read_with_any_eyes(kind: ET, eyes: str | None) -> None:
    """WCAG 1.4.3 (text 4.5) and 1.4.11 (shapes 3.0), also as seen by color-blind people."""
    backgrounds = (CARD, OUTSIDE, tint(kind), *((hatch(kind),) if kind is ET.MEETING else ()))
    for background in backgrounds:
        assert contrast(simulate_vision(INK, eyes), simulate_vision(background, eyes)) >= 7
        assert contrast(simulate_vision(SOFT, eyes), simulate_vision(background, eyes)) >= 4.5
    shapes = {
        background: contrast(simulate_vision(strong_color(kind), eyes), simulate_vision(background, eyes))
        for background in (CARD, OUTSIDE, tint(kind))
    }
    assert {
        background: round(ratio, 2) for background, ratio in shapes.items() if ratio < 3.0 and background != OUTSIDE
    } == {}
    assert contrast(simulate_vision(NOW, eyes), simulate_vision(CARD, eyes)) >= 3.0


def test_two_types_that_look_alike_to_somebody_have_different_marks() -> None:
    """The test can fail: without marks, several pairs would be one color to some people."""
    alike = {
        pair
        for pair in combinations(ET, 2)
        for eyes in BLINDNESS
        if distance(*(simulate_vision(tint(kind), eyes) for kind in pair)) < 25
    }
    assert len(alike) > 3
    assert [pair for pair in alike if MARKS[pair[0]] == MARKS[pair[1]]] == []
    shapes = [mark(kind, 0, 0).replace(strong_color(kind), "") for kind in ET]
    assert len(set(shapes)) == len(ET)


def distance(one: str, other: str) -> float:
    pairs = zip(channels(one), channels(other), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)
