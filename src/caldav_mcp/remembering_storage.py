"""Radicale's file storage with a memory, so that years of events stay quick.

Radicale reads two files for every event of a calendar whenever it is asked anything about the calendar, and parses
each event to compare UIDs. Here an event's file is read again only when it is another file than last time, and a
question for one UID is answered from memory. What is on disk, and how it is written, is Radicale's own.

Radicale computes the occurrences of a series to find out whether it touches a span of time, which some rules never let
end. Here a series touches every span, and Radicale never sees the rule of one that is not plain.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from radicale.config import Configuration
from radicale.item import Item, read_components
from radicale.item.filter import TIMESTAMP_MAX, TIMESTAMP_MIN, simplify_prefilters
from radicale.storage.multifilesystem import Collection, Storage

from caldav_mcp.multistatus import qualify
from caldav_mcp.recurrence import is_plain, repeats, without_recurrence

_log = logging.getLogger(__name__)


class Stamp(NamedTuple):
    """Identity of a version of a file: every write makes a new file."""

    inode: int
    changed_at: int
    size: int


class UnexpandedItem(Item):
    """An object whose recurrence is not plain.

    It is kept and given out as it is, and taken for its first event alone where Radicale would compute something.
    """

    @property
    def vobject_item(self) -> Any:
        if self._vobject_item is None:
            try:
                (self._vobject_item,) = read_components(without_recurrence(self._text or ""))
            except Exception as error:  # vobject raises whatever it comes upon
                raise RuntimeError(f"it is no calendar object: {error}") from error
        return self._vobject_item


class _Known(NamedTuple):
    stamp: Stamp
    kind: type[Item]
    given: dict[str, Any]


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
        if known is not None and known.stamp == stamp:
            return known.kind(collection=self, **known.given)
        item = self._read(href, path, status, verify_href=verify_href)
        if item is not None:
            names = ("href", "last_modified", "etag", "uid", "name", "component_name", "time_range")
            given = {name: getattr(item, name) for name in names} | {"text": item.serialize()}
            self._remembered[path] = _Known(stamp, type(item), given)
        return item

    def _read(self, href: str, path: str, status: os.stat_result, *, verify_href: bool) -> Item | None:
        try:
            text = Path(path).read_bytes().decode(self._encoding)
        except (OSError, UnicodeDecodeError):
            return super()._get(href, verify_href)
        if is_plain(text):
            return super()._get(href, verify_href)
        item = UnexpandedItem(
            collection=self,
            href=href,
            text=text,
            last_modified=formatdate(status.st_mtime, usegmt=True),
            time_range=(TIMESTAMP_MIN, TIMESTAMP_MAX),
        )
        try:
            item.prepare()
        except RuntimeError as error:
            _log.warning("calendar object %s cannot be read: %s", href, error)
            return None
        return item

    def get_all(self) -> Iterator[Item]:
        return (item for href in self._list() if (item := self._get(href, verify_href=False)) is not None)

    def get_filtered(self, filters: Iterable[ET.Element]) -> Iterator[tuple[Item, bool]]:
        given = list(filters)
        uid = _uid_asked_for(given)
        if uid is None:
            *_, simple = simplify_prefilters(given, self.tag)
            for item, matched in super().get_filtered(given):
                yield item, matched or (simple and repeats(item.serialize()))
        else:
            yield from ((item, False) for item in self.get_all() if uid in item.uid)

    @property
    def _remembered(self) -> dict[str, _Known]:
        storage: Any = self._storage
        remembered: dict[str, _Known] = storage.remembered
        return remembered


class RememberingStorage(Storage):
    _collection_class = RememberingCollection

    def __init__(self, configuration: Configuration) -> None:
        self.remembered: dict[str, _Known] = {}
        super().__init__(configuration)


def _uid_asked_for(filters: list[ET.Element]) -> str | None:
    """Return the text that a query wants every UID to contain, if it wants that and nothing else."""
    asked = [prop for element in filters for prop in element.iter(qualify("C:prop-filter"))]
    if len(asked) != 1 or asked[0].get("name") != "UID":
        return None
    match = asked[0].find(qualify("C:text-match"))
    if match is None or match.get("negate-condition") == "yes" or match.get("collation") != "i;octet":
        return None
    return match.text
