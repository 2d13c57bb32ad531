"""Pictures as images: pixels of the right size, the same on every machine, and every script that is promised."""

from __future__ import annotations

import struct

import pytest
from tests.factories.days import DAY, TZ, block, plan_of
from tests.factories.pictures import before_and_after

from fateforger.adapters.painter import render_in_thread, render_png
from fateforger.errors import InternalError
from fateforger.session.cards import DayView, planned_blocks
from fateforger.ui.picture_layout import lay_out
from fateforger.ui.picture_svg import draw
from fateforger.ui.picture_words import split_by_font, width


def draw_title(title: str) -> str:
    return draw(DayView(date=DAY, tz=TZ, blocks=planned_blocks(plan_of(block("k", name=title)))))


async def test_a_picture_has_two_pixels_for_each_of_its_own() -> None:
    scene = lay_out(before_and_after())
    png = await render_in_thread(draw(before_and_after()))
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (round(2 * scene.width), round(2 * scene.height))
    assert png == render_png(draw(before_and_after()))


def test_a_picture_of_hundreds_of_blocks_is_not_enlarged() -> None:
    blocks = [block(f"k{n}", f"{n // 20 + 7:02d}:{n % 20 * 3:02d}", 2) for n in range(150)]
    view = DayView(date=DAY, tz=TZ, blocks=planned_blocks(plan_of(*blocks)))
    scene = lay_out(view)
    assert struct.unpack(">II", render_png(draw(view))[16:24]) == (round(scene.width), round(scene.height))


@pytest.mark.parametrize("title", ["Größe ŁΩЖ", "שלום", "اجتماع", "🚀 go", "❤️", "👩‍💻"])
def test_each_script_of_our_fonts_leaves_ink(title: str) -> None:
    """Letters are drawn, not only left out: the picture differs from the one with spaces in their place."""
    svg = draw_title(title)
    shown = svg.partition("</title>")[2]
    blank = svg.partition("</title>")[0] + "</title>" + shown.replace(title.replace("go", "").strip(), "\u00a0")
    assert blank != svg
    assert render_png(svg) != render_png(blank)


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(InternalError, match="cannot be drawn"):
        render_png("no svg")


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("words", ["Write the report", "WWWiii…", "Größe ŁΩЖ", "שלום עולם", "اجتماع الفريق", "🚀🎉"])
def test_a_text_ends_where_the_layout_takes_it_to_end(words: str, bold: bool) -> None:  # noqa: FBT001  a parameter
    """The layout measures what is drawn: nothing lies beyond the width, something lies just before it.

    Joined Arabic letters are narrower than each of them alone.
    """
    wide = width(words, 40, bold=bold)

    def strip(x: float, text: str) -> bytes:
        spelled = "".join(f'<tspan font-family="{family}">{piece}</tspan>' for family, piece in split_by_font(text))
        weight = 700 if bold else 400
        letters = f'<text x="0" y="60" font-size="40" font-family="Noto Sans" font-weight="{weight}">{spelled}</text>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="90" viewBox="{x} 0 300 90">'
        return render_png(f"{head}{letters}</svg>")

    assert strip(wide + 1, words) == strip(wide + 1, " ")
    near = wide * (0.6 if "ا" in words else 0.82)
    assert strip(near, words) != strip(near, " ")
