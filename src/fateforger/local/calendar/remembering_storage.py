"""Radicale's file storage with a memory, so that years of events stay quick.

Radicale reads two files for every event of a calendar whenever it is asked anything about the calendar, and parses
each event to compare UIDs. Here an event's file is read again only when it is another file than last time, and a
question for one UID is answered from memory. What is on disk, and how it is written, is Radicale's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from radicale.config import Configuration
from radicale.item import Item
from radicale.storage.multifilesystem import Collection, Storage

from fateforger.local.calendar.multistatus import qualified


class Stamp(NamedTuple):
    """What tells one version of a file from the next: every write makes a new file."""

    inode: int
    changed_at: int
    size: int


class RememberingCollection(Collection):
    """One calendar. Items are handed out afresh each time, because Radicale lets them grow while it works on them."""

    def _get(self, href: str, verify_href: bool = True) -> Item | None:  # noqa: FBT001, FBT002  Radicale's signature
        path = os.path.join(self._filesystem_path, href)  # noqa: PTH118  for every event of the calendar: be quick
        try:
            status = os.stat(path)  # noqa: PTH116  same
        except OSError:
            return super()._get(href, verify_href)
        stamp = Stamp(status.st_ino, status.st_mtime_ns, status.st_size)
        known = self._remembered.get(path)
        if known is not None and known[0] == stamp:
            return Item(collection=self, **known[1])
        item = super()._get(href, verify_href)
        if item is not None:
            names = ("href", "last_modified", "etag", "uid", "name", "component_name", "time_range")
            self._remembered[path] = (stamp, {name: getattr(item, name) for name in names} | {"text": item.serialize()})
        return item

    def get_all(self) -> Iterator[Item]:
        return (item for href in self._list() if (item := self._get(href, verify_href=False)) is not None)

    def get_filtered(self, filters: Iterable[ET.Element]) -> Iterator[tuple[Item, bool]]:
        given = list(filters)
        uid = _uid_asked_for(given)
        if uid is None:
            yield from super().get_filtered(given)
        else:
            yield from ((item, False) for item in self.get_all() if uid in item.uid)

    @property
    def _remembered(self) -> dict[str, tuple[Stamp, dict[str, Any]]]:
        storage: Any = self._storage
        remembered: dict[str, tuple[Stamp, dict[str, Any]]] = storage.remembered
        return remembered


class RememberingStorage(Storage):
    _collection_class = RememberingCollection

    def __init__(self, configuration: Configuration) -> None:
        self.remembered: dict[str, tuple[Stamp, dict[str, Any]]] = {}
        super().__init__(configuration)


def _uid_asked_for(filters: list[ET.Element]) -> str | None:
    """The text that a query wants every UID to contain, if it wants that and nothing else."""
    asked = [prop for element in filters for prop in element.iter(qualified("C:prop-filter"))]
    if len(asked) != 1 or asked[0].get("name") != "UID":
        return None
    match = asked[0].find(qualified("C:text-match"))
    if match is None or match.get("negate-condition") == "yes" or match.get("collation") != "i;octet":
        return None
    return match.text
