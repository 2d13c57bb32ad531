"""The data of an event beyond its managed fields: everything a person, or another program, can add to it (K12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MARKER_KEYS = frozenset({"ffu", "ffg", "ffd", "ffo"})
"""The private properties of our marker; see :class:`~fateforger.sync.model.event.Marker`."""
USUAL_RIGHTS: Mapping[str, bool] = {
    "guestsCanInviteOthers": True,
    "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True,
    "anyoneCanAddSelf": False,
}
_GUEST = ("email", "displayName", "optional", "responseStatus", "comment", "additionalGuests")
_ATTACHMENT = ("fileUrl", "title", "mimeType", "iconLink", "fileId")


class EventExtras(BaseModel):
    """The data of an event beyond our managed fields, in a form in which equal things are equal values.

    The defaults are those of a new, untouched event: the values that a calendar fills in by itself (``reminders: None``
    are the calendar's own, ``guest_rights`` holds only the unusual ones). ``guests``, ``attachments`` and ``source``
    are in the form in which calendars take them. ``conference`` names a video call. ``others`` are properties that only
    CalDAV programs have (categories, a web address, ...).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    location: str = ""
    reminders: tuple[tuple[str, int], ...] | None = None
    guests: tuple[Mapping[str, Any], ...] = ()
    guest_rights: Mapping[str, bool] = Field(default_factory=dict)
    attachments: tuple[Mapping[str, Any], ...] = ()
    conference: str = ""
    source: Mapping[str, str] = Field(default_factory=dict)
    visibility: str = "default"
    free: bool = False
    tentative: bool = False
    properties: Mapping[str, str] = Field(default_factory=dict)
    shared_properties: Mapping[str, str] = Field(default_factory=dict)
    others: tuple[str, ...] = ()


PLAIN = EventExtras()
"""The extras of a new, untouched event."""


def read_extras(raw: Mapping[str, Any], properties: Mapping[str, str]) -> EventExtras:
    """Return the extras in a calendar's whole answer about an event; ``properties`` are its private ones.

    Raises ``ValueError`` if the answer is not in the calendar's own form.
    """
    extended = _get_mapping(raw, "extendedProperties")
    return EventExtras(
        location=str(raw.get("location") or "").strip().replace("\r\n", "\n"),
        reminders=_read_reminders(_get_mapping(raw, "reminders")),
        guests=tuple(sorted((_pick_fields(guest, _GUEST) for guest in _get_list(raw, "attendees")), key=_get_address)),
        guest_rights={name: bool(raw[name]) for name, usual in USUAL_RIGHTS.items() if raw.get(name, usual) != usual},
        attachments=tuple(_pick_fields(attachment, _ATTACHMENT) for attachment in _get_list(raw, "attachments")),
        conference=str(_get_mapping(raw, "conferenceData").get("conferenceId") or raw.get("hangoutLink") or ""),
        source={name: str(value) for name, value in _get_mapping(raw, "source").items()},
        visibility=str(raw.get("visibility") or "default"),
        free=raw.get("transparency") == "transparent",
        tentative=raw.get("status") == "tentative",
        properties={name: value for name, value in properties.items() if name not in MARKER_KEYS},
        shared_properties={name: str(value) for name, value in _get_mapping(extended, "shared").items()},
        others=tuple(sorted(str(line) for line in _get_list(raw, "otherProperties"))),
    )


def find_changed_extras(now: EventExtras, known: EventExtras | None) -> tuple[str, ...]:
    """Return the names of the extras that differ from the ``known`` ones.

    Without a known state (written by a version that stored none) the event is compared with an untouched one.
    """
    base = PLAIN if known is None else known
    return tuple(name for name in EventExtras.model_fields if getattr(now, name) != getattr(base, name))


def find_missing_extras(wanted: EventExtras, shown: EventExtras) -> tuple[str, ...]:
    """Return the names of the extras that are ``wanted`` and that an event lacks, at least in part.

    ``answers`` is returned if all guests are there but their answers are not.
    """
    asked = [name for name in EventExtras.model_fields if getattr(wanted, name) != getattr(PLAIN, name)]
    missing = [name for name in asked if not _contains_value(name, getattr(shown, name), getattr(wanted, name))]
    if "guests" not in missing and not _has_same_answers(wanted, shown):
        missing.append("answers")
    return tuple(missing)


def _contains_value(name: str, shown: Any, wanted: Any) -> bool:
    """Check whether a value contains another: each entry of a list or mapping, or an equal value."""
    match name:
        case "guests":
            return {*map(_get_address, wanted)} <= {*map(_get_address, shown)}
        case "attachments":
            return {one.get("fileUrl") for one in wanted} <= {one.get("fileUrl") for one in shown}
        case "others":
            return {*wanted} <= {*shown}
        case _ if isinstance(wanted, Mapping):
            return all(shown.get(key) == value for key, value in wanted.items())
        case _:
            return bool(shown == wanted)


def _has_same_answers(wanted: EventExtras, shown: EventExtras) -> bool:
    now = {_get_address(guest): guest.get("responseStatus") for guest in shown.guests}
    return all(now.get(_get_address(guest)) == guest.get("responseStatus") for guest in wanted.guests)


def _read_reminders(shown: Mapping[str, Any]) -> tuple[tuple[str, int], ...] | None:
    if shown.get("useDefault", True):
        return None
    return tuple(
        sorted((str(one.get("method", "popup")), int(one["minutes"])) for one in _get_list(shown, "overrides"))
    )


def _pick_fields(shown: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(shown, Mapping):
        raise ValueError(f"{shown!r} is not an object")  # noqa: TRY004  a value of the wire, not of ours
    return {name: shown[name] for name in names if shown.get(name) not in {None, False, ""}}


def _get_address(guest: Mapping[str, Any]) -> str:
    return str(guest.get("email", "")).lower()


def _get_mapping(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name) or {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is not an object")  # noqa: TRY004  a value of the wire, not of ours
    return value


def _get_list(raw: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    value = raw.get(name) or ()
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is not a list")  # noqa: TRY004  a value of the wire, not of ours
    return tuple(value)
