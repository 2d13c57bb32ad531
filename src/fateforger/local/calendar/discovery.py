"""From a CalDAV address to the calendars behind it (RFC 6764, RFC 5397, RFC 4791)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from zoneinfo import ZoneInfo

from fateforger.local.calendar.collection import About
from fateforger.local.calendar.content_lines import read_lines
from fateforger.local.calendar.dav import Dav
from fateforger.local.calendar.errors import NotFound
from fateforger.local.calendar.guests import address_of
from fateforger.local.calendar.multistatus import DavResponse, propfind, qualified
from fateforger.local.calendar.times import zone_named

_OF_CALENDAR = (
    "D:resourcetype", "D:displayname", "D:current-user-privilege-set", "D:current-user-principal", "A:calendar-color",
    "C:calendar-timezone", "C:calendar-description", "C:supported-calendar-component-set",
)  # fmt: skip
_WRITING = ("D:write", "D:write-content", "D:all")


@dataclass(frozen=True)
class Account:
    """The calendars of one account, the main one first, and the account's own e-mail addresses in lower case."""

    calendars: tuple[About, ...]
    addresses: tuple[str, ...]


async def discover(dav: Dav, url: str, *, time_zone: str, name: str, key: str | None = None) -> Account:
    """Find the calendars at an address that is a calendar itself, or leads to an account's calendars.

    The main calendar is the one at the address, else the one called `name`, else the first that may be written to.
    `time_zone` counts where a calendar names none. Raises `NotFound` when there is no calendar.
    """
    here = (await dav.multistatus("PROPFIND", url, propfind(*_OF_CALENDAR), depth=0))[0]
    if _is_calendar(here):
        return Account((_about(here, url, time_zone, key),), await _addresses(dav, url, here))
    principal = here.href_in("D:current-user-principal") or await _well_known(dav, url)
    if principal is None:
        raise NotFound(f"There is no calendar at {url}, and it does not lead to one")
    principal_url = urljoin(url, principal)
    names = ("C:calendar-home-set", "C:calendar-user-address-set")
    found = (await dav.multistatus("PROPFIND", principal_url, propfind(*names), depth=0))[0]
    home = urljoin(principal_url, found.href_in("C:calendar-home-set") or "")
    listed = await dav.multistatus("PROPFIND", home, propfind(*_OF_CALENDAR), depth=1)
    calendars = [_about(r, urljoin(home, r.href), time_zone, None) for r in listed if _is_calendar(r)]
    if not calendars:
        raise NotFound(f"The account at {url} has no calendar for events")
    main = sorted(calendars, key=lambda about: (about.name != name, not about.writable, about.url))
    return Account(tuple(main), _mail_addresses(found))


async def _well_known(dav: Dav, url: str) -> str | None:
    try:
        at = urljoin(url, "/.well-known/caldav")
        found = await dav.multistatus("PROPFIND", at, propfind("D:current-user-principal"), depth=0)
    except NotFound:
        return None
    return found[0].href_in("D:current-user-principal") if found else None


async def _addresses(dav: Dav, url: str, here: DavResponse) -> tuple[str, ...]:
    principal = here.href_in("D:current-user-principal")
    if principal is None:
        return ()
    asked = propfind("C:calendar-user-address-set")
    found = await dav.multistatus("PROPFIND", urljoin(url, principal), asked, depth=0)
    return _mail_addresses(found[0]) if found else ()


def _mail_addresses(principal: DavResponse) -> tuple[str, ...]:
    element = principal.properties.get(qualified("C:calendar-user-address-set"))
    hrefs = [] if element is None else [h.text or "" for h in element.iter(qualified("D:href"))]
    return tuple(address_of(h).lower() for h in hrefs if h.lower().startswith("mailto:"))


def _is_calendar(found: DavResponse) -> bool:
    if not found.contains("D:resourcetype", "C:calendar"):
        return False
    kinds = found.properties.get(qualified("C:supported-calendar-component-set"))
    return kinds is None or not len(kinds) or any(kind.get("name") == "VEVENT" for kind in kinds)


def _about(found: DavResponse, url: str, time_zone: str, key: str | None) -> About:
    url = url if url.endswith("/") else f"{url}/"
    parts = urlsplit(url)
    slug = parts.path.rstrip("/").rpartition("/")[2] or "calendar"
    told = "D:current-user-privilege-set"
    return About(
        calendar_id=f"{slug}@{parts.hostname or 'localhost'}",
        key=key or f"{parts.hostname}{parts.path}",
        url=url,
        name=found.text("D:displayname") or slug,
        zone=_zone(found.text("C:calendar-timezone")) or ZoneInfo(time_zone),
        color=found.text("A:calendar-color"),
        description=found.text("C:calendar-description"),
        writable=qualified(told) not in found.properties or any(found.contains(told, p) for p in _WRITING),
    )


def _zone(timezone: str | None) -> ZoneInfo | None:
    """The IANA zone that a `calendar-timezone` property names, if it names one."""
    if not timezone:
        return None
    try:
        zones = [part for part in read_lines(timezone).components if part.name == "VTIMEZONE"]
    except ValueError:
        return None
    named = [line.partition(":")[2] for zone in zones for line in zone.lines("TZID")]
    pieces = named[0].strip("/").split("/") if named else []
    return next((z for n in range(len(pieces)) if (z := zone_named("/".join(pieces[n:])))), None)
