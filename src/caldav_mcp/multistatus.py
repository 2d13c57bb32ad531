"""WebDAV XML: the requests we send and the multistatus answers we read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

DAV, CALDAV = "DAV:", "urn:ietf:params:xml:ns:caldav"
SERVER, APPLE = "http://calendarserver.org/ns/", "http://apple.com/ns/ical/"
NEXTCLOUD = "http://nextcloud.com/ns"
_PREFIXES = {"D": DAV, "C": CALDAV, "CS": SERVER, "A": APPLE, "NC": NEXTCLOUD}


@dataclass(frozen=True)
class DavResponse:
    """One `response` of a multistatus: its address, its own status, and the properties found (status 200).

    Addresses are whole: what the server names by its path alone is at the server that answered, which after a redirect
    is not the one that was asked.
    """

    href: str
    status: int
    properties: dict[str, ET.Element]
    answered_at: str = ""

    def text(self, name: str) -> str | None:
        """Return the text of a property given as `D:displayname`, or None when absent or empty."""
        element = self.properties.get(qualify(name))
        return element.text if element is not None and element.text else None

    def href_in(self, name: str) -> str | None:
        """Return the first address in a property."""
        return next(iter(self.hrefs_in(name)), None)

    def hrefs_in(self, name: str) -> list[str]:
        element = self.properties.get(qualify(name))
        found = [] if element is None else element.findall(qualify("D:href"))
        return [urljoin(self.answered_at, href.text.strip()) for href in found if href.text]

    def contains(self, name: str, child: str) -> bool:
        """Check whether a property has an element of that name anywhere inside."""
        element = self.properties.get(qualify(name))
        return element is not None and element.find(f".//{qualify(child)}") is not None


def qualify(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{_PREFIXES[prefix]}}}{local}"


def read_multistatus(body: bytes, url: str) -> list[DavResponse]:
    """Parse a multistatus body that came from `url`; raises `ValueError` when it is none."""
    try:
        root = ET.fromstring(body)  # noqa: S314  expat 2.6 caps entity expansion, and the server is the user's own
    except ET.ParseError as error:
        raise ValueError(f"not XML: {error}") from error
    if root.tag != qualify("D:multistatus"):
        raise ValueError(f"not a multistatus: {root.tag}")
    return list(_responses(root, url))


def read_error(body: bytes) -> tuple[frozenset[str], str]:
    """Return the conditions that the body of an error names (RFC 4918, 16), and the server's own words."""
    try:
        root = ET.fromstring(body)  # noqa: S314  as above
    except ET.ParseError:
        return frozenset(), ""
    if root.tag != qualify("D:error"):
        return frozenset(), ""
    named = {child.tag.rpartition("}")[2]: " ".join((child.text or "").split()) for child in root}
    said = named.pop("message", "") or named.pop("responsedescription", "")
    return frozenset(named), said


def _responses(root: ET.Element, url: str) -> Iterator[DavResponse]:
    for response in root.iter(qualify("D:response")):
        properties: dict[str, ET.Element] = {}
        for propstat in response.iter(qualify("D:propstat")):
            if _status(propstat) == 200:
                properties.update({p.tag: p for prop in propstat.iter(qualify("D:prop")) for p in prop})
        href = urljoin(url, response.findtext(qualify("D:href"), "").strip())
        yield DavResponse(href, _status(response), properties, url)


def _status(element: ET.Element) -> int:
    words = element.findtext(qualify("D:status"), "HTTP/1.1 200 OK").split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 200


def propfind(*names: str) -> bytes:
    root = ET.Element(qualify("D:propfind"))
    _prop(root, *names)
    return _bytes(root)


def make_calendar(name: str, timezone: str) -> bytes:
    root = ET.Element(qualify("C:mkcalendar"))
    prop = ET.SubElement(ET.SubElement(root, qualify("D:set")), qualify("D:prop"))
    ET.SubElement(prop, qualify("D:displayname")).text = name
    ET.SubElement(prop, qualify("C:calendar-timezone")).text = timezone
    kinds = ET.SubElement(prop, qualify("C:supported-calendar-component-set"))
    ET.SubElement(kinds, qualify("C:comp"), name="VEVENT")
    return _bytes(root)


def set_timezone(timezone: str) -> bytes:
    root = ET.Element(qualify("D:propertyupdate"))
    prop = ET.SubElement(ET.SubElement(root, qualify("D:set")), qualify("D:prop"))
    ET.SubElement(prop, qualify("C:calendar-timezone")).text = timezone
    return _bytes(root)


def query_between(start: datetime | None, end: datetime | None) -> bytes:
    """Return a calendar-query for events that may touch a span of time; an open side is None."""
    root, events = _query()
    if start is not None or end is not None:
        span = ET.SubElement(events, qualify("C:time-range"))
        for name, bound in (("start", start), ("end", end)):
            if bound is not None:
                span.set(name, f"{bound.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    return _bytes(root)


def query_uid(uid: str) -> bytes:
    root, events = _query()
    prop_filter = ET.SubElement(events, qualify("C:prop-filter"), name="UID")
    match = ET.SubElement(prop_filter, qualify("C:text-match"), collation="i;octet")
    match.text = uid
    return _bytes(root)


def _query() -> tuple[ET.Element, ET.Element]:
    root = ET.Element(qualify("C:calendar-query"))
    _prop(root, "D:getetag", "C:calendar-data")
    whole = ET.SubElement(ET.SubElement(root, qualify("C:filter")), qualify("C:comp-filter"), name="VCALENDAR")
    return root, ET.SubElement(whole, qualify("C:comp-filter"), name="VEVENT")


def _prop(root: ET.Element, *names: str) -> None:
    prop = ET.SubElement(root, qualify("D:prop"))
    for name in names:
        ET.SubElement(prop, qualify(name))


def _bytes(root: ET.Element) -> bytes:
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return body
