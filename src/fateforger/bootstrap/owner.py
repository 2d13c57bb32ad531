"""The owner of the calendar, from the settings and the database, and the sentences about them."""

from __future__ import annotations

from fateforger.adapters.store import Store
from fateforger.background.ownership import SETTING, CalendarOwner, Ownership
from fateforger.bootstrap.check import Check
from fateforger.bootstrap.ground import build_clock, open_state
from fateforger.config import Settings
from fateforger.ports import Clock
from localslack.people import DEFAULT_USERS

UNCLAIMED = "It has no owner yet."
CLOSED = "It is closed: its owner was erased, and nobody inherits it."
SETTING_VOID = " FATEFORGER_CALENDAR_OWNER names who was erased, so it does not count."
FIX = (
    "Start fateforger up: it prints a code, and the person who sends that code to the bot becomes the owner. Or set"
    " FATEFORGER_CALENDAR_OWNER to a Slack id (U...)."
)


def build_ownership(settings: Settings, store: Store, clock: Clock) -> Ownership:
    """Return the object that decides who owns the configured calendar."""
    page = [person.id for person in DEFAULT_USERS]
    return Ownership(store.owners, clock, named=settings.calendar_owner, page=page, real_slack=settings.real_slack)


def describe_owner(settings: Settings, owner: CalendarOwner) -> str:
    """Return a sentence about the owner of the calendar."""
    if owner.person is None:
        return f"{CLOSED}{SETTING_VOID if settings.calendar_owner else ''}" if owner.closed else UNCLAIMED
    since = "" if owner.since is None else f" on {owner.since.date().isoformat()}"
    return f"{owner.person} ({owner.origin}{since})."


def describe_claim(code: str) -> str:
    """Return the instructions for a code."""
    return (
        "To connect your calendar, send this to the bot in a direct message:\n\n"
        f"    /timebox claim {code}\n\n"
        f"In a thread, where Slack takes no commands, write it without the command: claim {code}\n"
        "The code works once, until the next start. Keep it to yourself: the person who sends it owns the calendar."
    )


async def check_owner(settings: Settings) -> Check:
    """Check that the calendar has an owner."""
    store = await open_state(settings)
    try:
        owner = await build_ownership(settings, store, build_clock(settings)).owner()
    finally:
        await store.aclose()
    words = describe_owner(settings, owner)
    if owner.person is None:
        return Check("owner", "missing", words, FIX)
    return Check("owner", "real" if settings.real_slack or owner.origin == SETTING else "local", words)
