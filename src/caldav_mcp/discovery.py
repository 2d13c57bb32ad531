"""From a CalDAV address to the calendars behind it (RFC 6764, RFC 5397, RFC 4791)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from zoneinfo import ZoneInfo

from caldav_mcp.collection import About
from caldav_mcp.content_lines import read_lines
from caldav_mcp.dav import Dav
from caldav_mcp.errors import BadRequest, Forbidden, NotDav, NotFound
from caldav_mcp.guests import address_of
from caldav_mcp.multistatus import DavResponse, propfind, qualify
from caldav_mcp.times import zone_named

_OF_CALENDAR = (
    "D:resourcetype", "D:displayname", "D:current-user-privilege-set", "D:current-user-principal", "A:calendar-color",
    "C:calendar-timezone", "C:calendar-description", "C:supported-calendar-component-set",
)  # fmt: skip
_OF_PRINCIPAL = ("C:calendar-home-set", "C:calendar-user-address-set", "C:schedule-inbox-URL")
_WRITING = ("D:write", "D:write-content", "D:all")


@dataclass(frozen=True)
class Account:
    """The calendars of one account, the main one first, and the account's own e-mail addresses in lower case.

    `main_is_certain` says that somebody chose the main one: the address, its name, the server's own setting, or that no
    other may be written to. Otherwise it is the first of several, and might be another one tomorrow.
    """

    calendars: tuple[About, ...]
    addresses: tuple[str, ...]
    main_is_certain: bool = True


async def discover(dav: Dav, url: str, *, time_zone: str, name: str, key: str | None = None) -> Account:
    """Find the calendars at an address, or else at the server's well-known one.

    The address is a calendar itself, or leads to an account's calendars. The main calendar is the one at the
    address, else the one called `name`, else the server's default for invitations, else the first that may be written
    to. `time_zone` counts where a calendar names none. Raises `NotFound` when there is no calendar.
    """
    here = await _look_up(dav, url)
    if here is not None and _is_calendar(here):
        return Account((_about(here, url, time_zone, key),), await _addresses(dav, here))
    principal = None if here is None else here.href_in("D:current-user-principal")
    if principal is None:
        well_known = await _look(dav, urljoin(url, "/.well-known/caldav"), "D:current-user-principal")
        principal = None if well_known is None else well_known.href_in("D:current-user-principal")
    if principal is None:
        raise NotFound(f"There is no calendar at {url}, and it does not lead to one")
    account = await _look(dav, principal, *_OF_PRINCIPAL)
    homes = [] if account is None else account.hrefs_in("C:calendar-home-set")
    if account is None or not homes:
        raise NotFound(f"The account at {url} has no place for calendars")
    listed = [r for home in homes for r in await dav.multistatus("PROPFIND", home, propfind(*_OF_CALENDAR), depth=1)]
    calendars = {r.href: _about(r, r.href, time_zone, None) for r in listed if _is_calendar(r)}
    if not calendars:
        raise NotFound(f"The account at {url} has no calendar for events")
    return await _sort_calendars(dav, account, list(calendars.values()), name)


async def _sort_calendars(dav: Dav, account: DavResponse, calendars: list[About], name: str) -> Account:
    default = await _default(dav, account)
    main = sorted(calendars, key=lambda a: (a.name != name, a.url != default, not a.writable, a.url))
    certain = main[0].name == name or main[0].url == default or sum(a.writable for a in main) < 2
    return Account(tuple(main), _mail_addresses(account), certain)


async def _default(dav: Dav, account: DavResponse) -> str | None:
    """Return the calendar to which the server adds invitations (RFC 6638), which is the person's main one."""
    inbox = account.href_in("C:schedule-inbox-URL")
    if inbox is None:
        return None
    found = await _look(dav, inbox, "C:schedule-default-calendar-URL")
    default = None if found is None else found.href_in("C:schedule-default-calendar-URL")
    return None if default is None else _as_folder(default)


async def _look_up(dav: Dav, url: str) -> DavResponse | None:
    """Return what the server has at the address itself.

    Raises `NotFound` for an address with a path and nothing there: it was mistyped, and a search might end at another
    calendar than the one that was meant.
    """
    try:
        found = await dav.multistatus("PROPFIND", url, propfind(*_OF_CALENDAR), depth=0)
    except NotFound:
        if urlsplit(url).path not in ("", "/"):
            raise NotFound(f"There is nothing at {url}") from None
        return None
    except (Forbidden, BadRequest, NotDav):
        return None
    return found[0] if found else None


async def _look(dav: Dav, url: str, *names: str) -> DavResponse | None:
    """Return the properties of one address; None if there are none at all (a web page, nothing)."""
    try:
        found = await dav.multistatus("PROPFIND", url, propfind(*names), depth=0)
    except (NotFound, Forbidden, BadRequest, NotDav):
        return None
    return found[0] if found else None


async def _addresses(dav: Dav, here: DavResponse) -> tuple[str, ...]:
    principal = here.href_in("D:current-user-principal")
    found = None if principal is None else await _look(dav, principal, "C:calendar-user-address-set")
    return () if found is None else _mail_addresses(found)


def _mail_addresses(principal: DavResponse) -> tuple[str, ...]:
    element = principal.properties.get(qualify("C:calendar-user-address-set"))
    hrefs = [] if element is None else [h.text or "" for h in element.iter(qualify("D:href"))]
    return tuple(address_of(h).lower() for h in hrefs if h.lower().startswith("mailto:"))


def _is_calendar(found: DavResponse) -> bool:
    """Check whether it can hold events. Nextcloud lists calendars in its bin among the others."""
    if not found.contains("D:resourcetype", "C:calendar") or found.contains("D:resourcetype", "NC:deleted-calendar"):
        return False
    kinds = found.properties.get(qualify("C:supported-calendar-component-set"))
    return kinds is None or not len(kinds) or any(kind.get("name") == "VEVENT" for kind in kinds)


def _about(found: DavResponse, url: str, time_zone: str, key: str | None) -> About:
    url = _as_folder(url)
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
        writable=qualify(told) not in found.properties or any(found.contains(told, p) for p in _WRITING),
    )


def _as_folder(url: str) -> str:
    return url if url.endswith("/") else f"{url}/"


def _zone(timezone: str | None) -> ZoneInfo | None:
    """Return the IANA zone that a `calendar-timezone` property names, if it names one."""
    if not timezone:
        return None
    try:
        zones = [part for part in read_lines(timezone).components if part.name == "VTIMEZONE"]
    except ValueError:
        return None
    named = [line.partition(":")[2] for zone in zones for line in zone.lines("TZID")]
    pieces = named[0].strip("/").split("/") if named else []
    return next((z for n in range(len(pieces)) if (z := zone_named("/".join(pieces[n:])))), None)
