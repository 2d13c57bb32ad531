"""Event types and their colors on the calendar."""

from __future__ import annotations

from enum import StrEnum


class ET(StrEnum):
    """What a block is for. The values are the codes on the wire."""

    MEETING = "M"
    COMMUTE = "C"
    DEEP_WORK = "DW"
    SHALLOW_WORK = "SW"
    PLAN_REVIEW = "PR"
    HABIT = "H"
    REGENERATION = "R"
    BUFFER = "BU"
    BACKGROUND = "BG"

    @property
    def words(self) -> str:
        """Name of the type for people."""
        return self.name.replace("_", " ").lower()


COLOR_BY_TYPE: dict[ET, str] = {
    ET.MEETING: "6",
    ET.COMMUTE: "4",
    ET.DEEP_WORK: "9",
    ET.SHALLOW_WORK: "8",
    ET.PLAN_REVIEW: "10",
    ET.HABIT: "7",
    ET.REGENERATION: "2",
    ET.BUFFER: "5",
    ET.BACKGROUND: "1",
}
"""Google Calendar ``colorId`` of each type."""

_TYPE_BY_COLOR = {color: et for et, color in COLOR_BY_TYPE.items()}


def type_of_color(color_id: str | None) -> ET:
    """Return the type for a ``colorId``; an unknown or missing color means a meeting."""
    return _TYPE_BY_COLOR.get(color_id or "", ET.MEETING)
