"""The Notion databases of an earlier planner, as it made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.notion_server import Json, NotionPage, NotionTable, notion_id, text_of

CONSTRAINT_COLUMNS = {
    "Name": "title", "Description": "rich_text", "UID": "rich_text", "Necessity": "select", "Status": "select",
    "Source": "select", "Confidence": "number", "Scope": "select", "Start Date": "date", "End Date": "date",
    "Days Of Week": "multi_select", "Timezone": "rich_text", "Recurrence": "rich_text", "TTL Days": "number",
    "Applies Stages": "multi_select", "Applies Event Types": "multi_select", "Topics": "relation", "Rule Kind": "select",
    "Duration Min (min)": "number", "Duration Max (min)": "number", "Contiguity": "select", "Supersedes": "relation",
}  # fmt: skip
WINDOW_COLUMNS = {
    "Name": "title", "Constraint": "relation", "Kind": "select", "Start Time (local)": "rich_text",
    "End Time (local)": "rich_text",
}  # fmt: skip
TOPIC_COLUMNS = {"Name": "title", "Description": "rich_text", "Parent": "relation"}
EVENT_COLUMNS = {
    "Name": "title", "Occurred At": "date", "User Utterance": "rich_text", "Extracted UID": "rich_text", "Action": "select",
}  # fmt: skip


def prop(kind: str, value: Any) -> Json:
    """Return a property of a page, from a plain value."""
    match kind:
        case "title" | "rich_text":
            held: Any = text_of(value or "") if isinstance(value, str | None) else value
        case "select" | "status":
            held = {"id": "o", "name": value, "color": "gray"} if value else None
        case "multi_select":
            held = [{"id": "o", "name": each, "color": "gray"} for each in value or ()]
        case "relation":
            held = [{"id": each} for each in value or ()]
        case "date":
            held = {"start": value, "end": None, "time_zone": None} if isinstance(value, str) else value
        case _:
            held = value
    return {"type": kind, kind: held}


def table(number: int, title: str, schema: dict[str, str]) -> NotionTable:
    return NotionTable(title, notion_id(0xDB00 + number), notion_id(0xD500 + number), dict(schema))


@dataclass
class TbDatabases:
    """The four databases; pages are added by what they say."""

    constraints: NotionTable = field(default_factory=lambda: table(1, "TB Constraints", CONSTRAINT_COLUMNS))
    windows: NotionTable = field(default_factory=lambda: table(2, "TB Constraint Windows", WINDOW_COLUMNS))
    topics: NotionTable = field(default_factory=lambda: table(3, "TB Topics", TOPIC_COLUMNS))
    events: NotionTable = field(default_factory=lambda: table(4, "TB Constraint Events", EVENT_COLUMNS))

    @property
    def tables(self) -> tuple[NotionTable, ...]:
        return (self.constraints, self.windows, self.topics, self.events)

    def add(self, where: NotionTable, /, **values: Any) -> str:
        """Add a page with these values by title, and return its id.

        A ready property goes through as it is. ``page`` are other fields of the page.
        """
        about = values.pop("page", {})
        new_id = notion_id(0xA00000 + 0x10000 * self.tables.index(where) + len(where.pages))
        properties = {
            title: value if isinstance(value := values.get(title), dict) and "type" in value else prop(kind, value)
            for title, kind in where.schema.items()
        }
        where.pages.append(NotionPage(new_id, properties, **about))
        return new_id

    def constraint(self, name: str, /, **values: Any) -> str:
        """Add a locked constraint of the profile with ``windows``; ``values`` may change it."""
        windows = values.pop("windows", ())
        said = {"Name": name, "Necessity": "should", "Status": "locked", "Source": "user", "Scope": "profile", **values}
        page_id = self.add(self.constraints, **said)
        for kind, start, end in windows:
            self.window(page_id, kind, start, end)
        return page_id

    def window(self, page_id: str, kind: str, start: str, end: str) -> str:
        values: Json = {"Kind": kind, "Start Time (local)": start, "End Time (local)": end, "Constraint": [page_id]}
        return self.add(self.windows, Name=f"{kind} {start}-{end}", **values)

    def topic(self, name: str) -> str:
        return self.add(self.topics, Name=name)
