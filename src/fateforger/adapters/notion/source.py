"""Constraints that an earlier planner kept in Notion: one page each, with related pages for windows and topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fateforger.adapters.notion.client import (
    CONSTRAINTS,
    EVENTS,
    TOPICS,
    WINDOWS,
    NotionPages,
    Place,
    find_place,
    in_trash,
)
from fateforger.errors import BadInput
from fateforger.memory.migration import StoredRow

_AS_THEY_ARE = frozenset({"string", "boolean", "number", "checkbox", "url", "created_time", "last_edited_time"})
RUNS = 25
"""The number of values of a long property that come with a page; the rest must be requested."""


def is_whole(prop: Mapping[str, Any]) -> bool:
    """Check whether a property came complete with its page.

    A relation says so; for a text or a rollup only its length tells.
    """
    value = prop.get(str(prop.get("type")))
    if prop.get("has_more"):
        return False
    if prop.get("type") == "rollup":
        return value is None or (value.get("type") != "incomplete" and len(value.get("array") or ()) < RUNS)
    return not isinstance(value, list) or len(value) < RUNS


def to_plain(prop: Mapping[str, Any]) -> Any:
    """Return the value: text, number, bool, names of options, ids of pages; ``None`` when empty.

    A date gives its start; :func:`get_range_end` returns its end.
    """
    kind = str(prop.get("type"))
    value = prop.get(kind)
    match kind:
        case "title" | "rich_text":
            return _join_text(value or ()).strip() or None
        case "select" | "status":
            return value["name"] if value else None
        case "multi_select":
            return [option["name"] for option in value or ()]
        case "relation":
            return [page["id"] for page in value or ()]
        case "date":
            return value["start"] if value else None
        case "formula":
            return to_plain(value) if value else None
        case "rollup":
            return _flatten_rollup(value or {})
        case _ if kind in _AS_THEY_ARE:
            return value
        case _:
            raise ValueError(f"a column of the type {kind} cannot hold this")


def get_range_end(prop: Mapping[str, Any]) -> str | None:
    """Return the end of a date that is a range."""
    value = prop.get("date") if prop.get("type") == "date" else None
    return value.get("end") if value else None


def _join_text(runs: Sequence[Mapping[str, Any]]) -> str:
    return "".join(run.get("plain_text") or "" for run in runs)


def _flatten_rollup(value: Mapping[str, Any]) -> Any:
    """Return the values of a rollup of several pages as a list, or the only one."""
    if value.get("type") != "array":
        return to_plain(value) if value.get("type") in {"number", "date"} else None
    found: list[Any] = []
    for each in value.get("array") or ():
        one = to_plain(each)
        found += one if isinstance(one, list) else [] if one is None else [one]
    return found[0] if len(found) == 1 else found or None


def to_list(value: Any) -> list[Any]:
    """Return a value for a field with several entries; a text is split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list) else [] if value is None else [value]


def to_single(value: Any) -> Any:
    """Return a value for a field with one entry. Raises ``ValueError`` for several."""
    if not isinstance(value, list):
        return value
    if len(value) > 1:
        raise ValueError(f"it holds {len(value)} values, and one is needed")
    return value[0] if value else None


_SEVERAL = frozenset({"days_of_week", "applies_stages", "applies_event_types", "topics", "supersedes"})
_NUMBERS = ("duration_min", "duration_max", "contiguity")


@dataclass(slots=True)
class _Page:
    """The values of one page by name, and its problems."""

    page_id: str
    created: str
    edited: str
    values: dict[str, Any] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    @property
    def uid(self) -> str:
        """The stored uid, or one that stays the same however the page is edited."""
        return str(self.values.get("uid") or f"notion_{_to_hex(self.page_id)}")

    @property
    def where(self) -> str:
        return f"page {_to_hex(self.page_id)}"


class NotionConstraints:
    """Implements :class:`fateforger.memory.ports.ConstraintSource`.

    ``databases`` and ``columns`` come from the options (:func:`named_databases`, :func:`named_columns`).
    """

    name = "Notion"

    def __init__(
        self, pages: NotionPages, *, databases: Mapping[str, str], columns: Mapping[tuple[str, str], str]
    ) -> None:
        self._pages = pages
        self._databases = databases
        self._columns = columns
        self._left_out: list[str] = []

    async def rows(self) -> AsyncIterator[StoredRow]:
        """Yield the rows in the order of creation. See :meth:`fateforger.memory.ports.ConstraintSource.rows`.

        All pages are read before the first row is yielded, because links may point to later ones.
        """
        self._left_out = []
        places = {
            table.key: await find_place(table, self._pages, self._databases, self._columns)
            for table in (CONSTRAINTS, WINDOWS, TOPICS)
        }
        topics = {page.page_id: page async for page in self._read_pages(places["topics"], "topics")}
        windows: dict[str, list[_Page]] = {}
        async for window in self._read_pages(places["windows"], "windows"):
            for page_id in to_list(window.values.get("constraint")):
                windows.setdefault(page_id, []).append(window)
        words = await self._read_words()
        found = [page async for page in self._read_pages(places["constraints"], "constraints")]
        uids = {page.page_id: page.uid for page in found}
        twice = Counter(page.uid for page in found)
        for page in found:
            yield _to_stored_row(page, windows.get(page.page_id, ()), topics, uids, words.get(page.uid), twice)

    async def list_omissions(self) -> tuple[str, ...]:
        return tuple(self._left_out)

    async def aclose(self) -> None:
        await self._pages.aclose()

    async def _read_pages(self, place: Place | None, what: str) -> AsyncIterator[_Page]:
        """Yield the pages of a data source, each reduced to the known columns as soon as it arrives."""
        if place is None:
            return
        thrown_away = 0
        async for page in self._pages.pages(place.source_id):
            if in_trash(page):
                thrown_away += 1
                continue
            read = _Page(page["id"], page["created_time"], page["last_edited_time"])
            for name, title in place.columns.items():
                await self._fill(read, name, page["properties"].get(title))
            yield read
        if thrown_away:
            self._left_out.append(f"{thrown_away} of the {what} were in Notion's trash and stay there.")

    async def _fill(self, page: _Page, name: str, prop: Mapping[str, Any] | None) -> None:
        if prop is None:
            page.troubles.append(f"Notion did not send {name}.")
            return
        if not is_whole(prop):
            prop = await self._pages.whole(page.page_id, prop["id"])
        try:
            value = to_plain(prop)
            page.values[name] = to_list(value) if name in _SEVERAL or name == "constraint" else to_single(value)
        except (ValueError, KeyError, TypeError) as error:
            what = str(error) if isinstance(error, ValueError) else "Notion sent it in a form I do not know"
            page.troubles.append(f"{name} cannot be read: {what}.")
        if name == "start_date" and (end := get_range_end(prop)) is not None:
            page.values["range_end"] = end

    async def _read_words(self) -> dict[str, str]:
        """Return the person's words behind the latest version of each constraint, by uid.

        They are explanatory only, so a broken log does not stop the migration.
        """
        try:
            place = await find_place(EVENTS, self._pages, self._databases, self._columns)
            found = [page async for page in self._read_pages(place, "events")]
        except BadInput as error:
            self._left_out.append(f"The log of events was left out: {error.message}")
            return {}
        found.sort(key=lambda page: str(page.values.get("at") or page.created))
        said = ((page.values.get("uid"), page.values.get("words")) for page in found)
        return {str(uid): str(words) for uid, words in said if uid and words}


def _to_stored_row(
    page: _Page,
    windows: Iterable[_Page],
    topics: Mapping[str, _Page],
    uids: Mapping[str, str],
    words: str | None,
    twice: Mapping[str, int],
) -> StoredRow:
    values, troubles, notes = page.values, list(page.troubles), list[str]()
    labels = [topics[each].values.get("name") if each in topics else None for each in values.get("topics") or ()]
    if None in labels:
        notes.append("A topic of it is not there any more.")
    gone = [each for each in values.get("supersedes") or () if each not in uids]
    if gone:
        notes.append(f"It takes the place of {len(gone)} that are not there any more.")
    if twice[page.uid] > 1:
        troubles.append(f"{twice[page.uid]} pages have the UID “{page.uid}”; each needs its own, or none.")
    if not values.get("scope"):
        troubles.append("It does not say how far it reaches; choose profile, datespan or session as its scope.")
    fields = {
        name: value for name, value in values.items() if name not in {*_NUMBERS, "topics", "supersedes", "range_end"}
    }
    fields |= {
        "uid": page.uid,
        "topics": [label for label in labels if label],
        "supersedes_uids": [uids.get(each, f"notion_{_to_hex(each)}") for each in values.get("supersedes") or ()],
        "scalar_params": {name: values[name] for name in _NUMBERS if values.get(name) is not None},
        "windows": _build_windows(windows, troubles),
        "end_date": _resolve_end(values, troubles),
        "created_at": page.created,
        "updated_at": page.edited,
    }
    trouble = " ".join(troubles) or None
    return StoredRow(
        page.where, str(values.get("name") or "?"), fields, rationale=words, trouble=trouble, notes=tuple(notes)
    )


def _build_windows(windows: Iterable[_Page], troubles: list[str]) -> list[dict[str, Any]]:
    """Return the windows of a constraint; each must be complete, since a constraint without one would reach further."""
    found = []
    for window in windows:
        start, end = window.values.get("start"), window.values.get("end")
        troubles += [f"A window of it ({window.where}): {trouble}" for trouble in window.troubles]
        if not start or not end:
            troubles.append(f"A window of it ({window.where}) has no {'end' if start else 'start'}.")
        found.append({"kind": window.values.get("kind"), "start_time_local": start, "end_time_local": end})
    return sorted(
        found, key=lambda window: [str(window[name]) for name in ("start_time_local", "end_time_local", "kind")]
    )


def _resolve_end(values: Mapping[str, Any], troubles: list[str]) -> str | None:
    """Return the last day, from its own column or from a start date that is a range."""
    end, range_end = values.get("end_date"), values.get("range_end")
    if end and range_end and str(end)[:10] != str(range_end)[:10]:
        troubles.append(f"It has two last days, {str(range_end)[:10]} and {str(end)[:10]}.")
    return end or range_end


def _to_hex(page_id: str) -> str:
    return page_id.replace("-", "").lower()
