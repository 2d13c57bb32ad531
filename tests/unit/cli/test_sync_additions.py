"""A person's additions to an event on their calendar, and the effect of submits and undos on them.

The program runs in a process of its own, against a server that speaks as google-calendar-mcp does, and against the
embedded calendar.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.google_mcp import Google, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.unit.cli.test_sync_commands import CommandLine

from fateforger.calendar.event import EventImage

pytestmark = pytest.mark.process


def block(key: str, name: str, start: str, kind: str = "DW", length: str = "PT1H") -> dict[str, Any]:
    return {"n": name, "t": kind, "d": "", "key": key, "p": {"a": "fs", "st": start, "dur": length}}


def day(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"date": "2027-03-04", "tz": "Europe/Berlin", "events": list(blocks)}


A, B, C = block("a", "Alpha", "09:00"), block("b", "Beta", "10:00"), block("c", "Gamma", "11:00")
GUESTS = [{"email": "bob@example.com", "responseStatus": "accepted"}]
ADDED: dict[str, tuple[dict[str, Any], str]] = {
    "a place": ({"extras": {"location": "Room 5"}}, "added a place"),
    "reminders": ({"extras": {"reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]}}}, "added reminders"),
    "visibility": ({"extras": {"visibility": "private"}}, "changed the visibility"),
    "free": ({"busy": False}, "changed the free or busy setting"),
    "guests' rights": ({"extras": {"guestsCanModify": True}}, "changed the settings for guests"),
    "source": ({"extras": {"source": {"url": "https://example.com", "title": "Ticket"}}}, "added a source link"),
    "attachment": ({"extras": {"attachments": [{"fileUrl": "https://example.com/x", "title": "X"}]}}, "added attachments"),
    "guests": ({"extras": {"attendees": GUESTS}}, "added guests"),
    "video call": ({"extras": {"hangoutLink": "https://meet.example.com/x"}}, "added a video call"),
}  # fmt: skip
"""Changes of the person in their calendar, and the words for each."""


@pytest.fixture
async def google() -> AsyncIterator[GoogleMcp]:
    async with GoogleMcp() as server:
        yield server


@pytest.fixture
def store(google: GoogleMcp) -> GoogleStore:
    return google.tools.calendars["primary"].store


@pytest.fixture
def cli(tmp_path: Path, google: GoogleMcp) -> CommandLine:
    return CommandLine(tmp_path, "--calendar-url", google.url)


def map_titles(store: GoogleStore) -> dict[str, EventImage]:
    """Return the live events by their title."""
    return {event.summary: event for event in store.get_live_events().values()}


async def apply(cli: CommandLine, *blocks: dict[str, Any], more: tuple[str, ...] = ()) -> Any:
    status, result = await cli.sync("apply", cli.plan(day(*blocks)), *more)
    assert status == 0, result
    return result


async def undo(cli: CommandLine, *arguments: str) -> list[str]:
    status, result = await cli.sync("undo", *arguments)
    assert (status, result["status"]) == (0, "undone"), result
    return list(result["sentences"])


@pytest.mark.parametrize(("what", "told"), ADDED.values(), ids=ADDED.keys())
async def test_an_undo_leaves_what_the_person_added_to(
    cli: CommandLine, store: GoogleStore, what: dict[str, Any], told: str
) -> None:
    """K12: undoing a creation leaves the event whole, and says by name what they added."""
    await apply(cli, A, B)
    edited = store.user_edit(map_titles(store)["Alpha"].id, **what)
    sentences = await undo(cli)
    assert sentences == [
        "Taken back: I removed 1 block from your calendar.",
        f"I left “Alpha” on your calendar: you {told}.",
    ]
    assert map_titles(store) == {"Alpha": edited}


async def test_data_of_another_program_stays(cli: CommandLine, store: GoogleStore) -> None:
    """K12: a private property that is not ours."""
    await apply(cli, A)
    alpha = map_titles(store)["Alpha"]
    edited = store.user_edit(alpha.id, properties={**alpha.properties, "zoomId": "42"})
    assert "I left “Alpha” on your calendar: you added data of another program." in await undo(cli)
    assert map_titles(store) == {"Alpha": edited}


async def test_a_submit_leaves_what_the_person_added_to(cli: CommandLine, store: GoogleStore) -> None:
    """K12: a block that the plan drops stays when the person added to it, with a note; without additions it goes."""
    await apply(cli, A, B, C)
    extras = {"location": "Room 5", "visibility": "private", "reminders": {"useDefault": False, "overrides": []}}
    edited = store.user_edit(map_titles(store)["Alpha"].id, extras=extras)
    result = await apply(cli, C)
    left = "It is no longer in the plan, but you added a place and reminders and changed the visibility on your calendar, so I left it to you."
    assert f"“Alpha”: {left}" in result["sentences"]
    assert map_titles(store).keys() == {"Alpha", "Gamma"}
    assert map_titles(store)["Alpha"] == edited


async def test_what_the_calendar_itself_adds_is_no_edit(
    cli: CommandLine, google: GoogleMcp, store: GoogleStore
) -> None:
    """K12: what counts is how we left the event, not what is usual: this calendar makes every event private and gives
    it a video call."""
    insert = store.insert

    def adding(*given: Any, **extras: Any) -> EventImage:
        own = {"visibility": "private", "hangoutLink": f"https://meet.example.com/{given[0]}"}
        return insert(*given, **{**own, **extras})

    store.insert = adding  # type: ignore[method-assign]
    await apply(cli, A, B)
    await apply(cli, B)
    assert map_titles(store).keys() == {"Beta"}
    assert await undo(cli) == [
        "Taken back: I added 1 block to your calendar.",
        "“Alpha” is back, but without the video call. Your calendar does not let me write that.",
    ]
    assert await undo(cli) == ["Taken back: I removed 2 blocks from your calendar."]
    assert map_titles(store) == {}


async def test_what_was_deleted_comes_back_with_all_that_was_added(
    cli: CommandLine, google: GoogleMcp, store: GoogleStore
) -> None:
    """K12: an event that an undo makes again has everything that the calendar lets us write, its guests without a mail;
    what cannot come back is named; and it is the person's edit again."""
    await apply(cli, A)
    alpha = map_titles(store)["Alpha"]
    extras: dict[str, Any] = {}
    for what, _ in ADDED.values():
        extras |= what.get("extras", {})
    extras["extendedProperties"] = {"private": {**alpha.properties, "zoomId": "42"}, "shared": {"room": "5"}}
    before = store.user_edit(alpha.id, properties=extras["extendedProperties"]["private"], busy=False, extras=extras)
    assert await undo(cli, "--force") == ["Taken back: I removed 1 block from your calendar."]
    _, history = await cli.sync("history")
    sentences = await undo(cli, history["transactions"][0]["transaction"])
    assert sentences[1:] == ["“Alpha” is back, but without the video call. Your calendar does not let me write that."]
    after = map_titles(store)["Alpha"]
    assert after.extras == before.extras.model_copy(update={"conference": ""})
    assert (after.fields, google.tools.mails) == (before.fields, 0)
    result = await apply(cli, B)
    assert map_titles(store).keys() == {"Alpha", "Beta"}
    assert any(
        sentence.startswith("“Alpha”: It is no longer in the plan, but you added") for sentence in result["sentences"]
    )


async def test_a_refused_guest_does_not_keep_the_event_away(
    cli: CommandLine, google: GoogleMcp, store: GoogleStore
) -> None:
    """K12: what the calendar refuses is left out and named."""
    await apply(cli, A)
    store.user_edit(map_titles(store)["Alpha"].id, extras={"attendees": GUESTS})
    await undo(cli, "--force")
    _, history = await cli.sync("history")
    google.inject(Google(400, "Invalid attendee email."), tool="create-event")
    sentences = await undo(cli, history["transactions"][0]["transaction"])
    assert sentences[1:] == ["“Alpha” is back, but without the guests. Your calendar does not let me write that."]
    assert map_titles(store).keys() == {"Alpha"}


async def test_a_place_added_while_the_answer_was_lost_is_kept(
    cli: CommandLine, google: GoogleMcp, store: GoogleStore
) -> None:
    """K12, P3: the create is found only when the person has already added to it; that is not what we left."""
    insert = store.insert

    def losing(*given: Any, **extras: Any) -> EventImage:
        image = insert(*given, **extras)
        return store.user_edit(image.id, extras={"location": "Room 5"})

    store.insert = losing  # type: ignore[method-assign]
    google.inject(Google(503, "Service Unavailable"), tool="create-event", applied=True)
    await apply(cli, A)
    assert "I left “Alpha” on your calendar: you added a place." in await undo(cli)
    assert map_titles(store).keys() == {"Alpha"}


async def test_a_color_that_cannot_be_taken_away_stops_nothing(cli: CommandLine, store: GoogleStore) -> None:
    """K12: a note reports it, the rest is undone, and the next undo neither blames the person nor leaves anything."""
    await apply(cli, A)
    alpha = map_titles(store)["Alpha"].id
    store.user_edit(alpha, color_id=None)
    await apply(cli, {**A, "t": "SW"}, B, C, more=("--keep", "plan"))
    keeps = "“Alpha” keeps the color I gave it. Your calendar lets me change a color, but not take it away."
    assert await undo(cli) == ["Taken back: I removed 2 blocks from your calendar.", keeps]
    assert map_titles(store)["Alpha"].color_id == "8"
    _, history = await cli.sync("history")
    assert [t["status"] for t in history["transactions"]] == ["committed", "undone", "committed"]
    assert await undo(cli) == ["Taken back: I removed 1 block from your calendar."]
    assert map_titles(store) == {}


async def test_a_color_is_left_and_the_other_fields_go_back(cli: CommandLine, store: GoogleStore) -> None:
    """K12: the same with another change in the same update; from then on our color is the known state."""
    await apply(cli, A)
    alpha = map_titles(store)["Alpha"].id
    store.user_edit(alpha, color_id=None)
    await apply(cli, {**A, "t": "SW", "p": {"a": "fs", "st": "14:00", "dur": "PT1H"}}, more=("--keep", "plan"))
    sentences = await undo(cli)
    assert sentences[0] == "Taken back: I changed 1 block on your calendar."
    assert sentences[1].startswith("“Alpha” keeps the color I gave it.")
    assert f"{map_titles(store)['Alpha'].start:%H:%M}" == "08:00"
    _, diff = await cli.sync("diff", cli.plan(day(A)))
    assert [(op["verb"], list(op["changes"])) for op in diff["ops"]] == [("update", ["color_id"])]
    store.user_edit(alpha, color_id="11")
    assert "I left “Alpha” on your calendar: you changed it since." in await undo(cli)


async def test_another_block_does_not_take_over_what_the_person_made_their_own(
    cli: CommandLine, store: GoogleStore
) -> None:
    """K12, S78: the plumber gets neither the guests nor the place of the mail."""
    await apply(cli, block("a", "Answer mail", "09:00", "SW"))
    edited = store.user_edit(map_titles(store)["Answer mail"].id, extras={"location": "Room 5", "attendees": GUESTS})
    result = await apply(cli, block("p", "Call the plumber", "09:00", "SW"))
    assert map_titles(store)["Answer mail"] == edited
    assert map_titles(store)["Call the plumber"].extras.guests == ()
    assert "“Call the plumber”, 09:00–10:00, overlaps “Answer mail”, 09:00–10:00." in result["sentences"]


async def test_no_block_is_written_on_top_of_a_longer_meeting(cli: CommandLine, store: GoogleStore) -> None:
    """S79: 80% of the block, so a meeting of a day takes up all blocks inside it, and the person hears of each."""
    alpha = (await apply(cli, A), map_titles(store)["Alpha"])[1]
    store.user_delete(alpha.id)
    store.user_create("Workshop", start=alpha.start, end=alpha.start + timedelta(hours=8))
    result = await apply(cli, B, C, block("d", "Delta", "18:00"))
    assert map_titles(store).keys() == {"Workshop", "Delta"}
    assert [s for s in result["sentences"] if s.startswith("I did not add")] == [
        "I did not add “Beta”: “Workshop” takes up the same time on your calendar, 09:00–17:00.",
        "I did not add “Gamma”: “Workshop” takes up the same time on your calendar, 09:00–17:00.",
    ]


def calendar_objects(folder: Path) -> dict[str, Path]:
    """Return the files of the embedded calendar by the title of their event."""
    found = {}
    for path in (folder / "data").rglob("*.ics"):
        if ".Radicale.cache" not in path.parts:
            lines = dict(line.partition(":")[::2] for line in path.read_text().splitlines())
            found[lines.get("SUMMARY", "")] = path
    return found


OWN_LINES = ("LOCATION:Room 5", "CLASS:PRIVATE", "CATEGORIES:Home", "URL:https://example.com")


async def test_what_a_caldav_program_added_stays_and_comes_back(tmp_path: Path) -> None:
    """K12: the same over the embedded calendar, with what CalDAV programs add: a place, a class, an alarm, categories, an address, a guest."""
    cli = CommandLine(tmp_path)
    await apply(cli, A, B)
    path = calendar_objects(tmp_path)["Alpha"]
    alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Now\r\nTRIGGER:-PT5M\r\nEND:VALARM"
    guest = "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.com"
    added = "\r\n".join([*OWN_LINES, guest, alarm])
    path.write_bytes(path.read_bytes().replace(b"END:VEVENT", f"{added}\r\nEND:VEVENT".encode()))
    sentences = await undo(cli)
    added = "a place, reminders, guests and details of another calendar program and changed the visibility"
    assert sentences[1:] == [f"I left “Alpha” on your calendar: you added {added}."]
    assert calendar_objects(tmp_path).keys() == {"Alpha"}
    _, history = await cli.sync("history")
    await undo(cli, history["transactions"][0]["transaction"])
    assert await undo(cli, "--force") == ["Taken back: I removed 2 blocks from your calendar."]
    assert calendar_objects(tmp_path) == {}
    _, history = await cli.sync("history")
    assert await undo(cli, history["transactions"][0]["transaction"]) == [
        "Done again: I added 2 blocks to your calendar."
    ]
    text = calendar_objects(tmp_path)["Alpha"].read_text()
    for line in (*OWN_LINES, "TRIGGER:-PT5M", "mailto:bob@example.com"):
        assert line in text
    assert "SCHEDULE-AGENT=NONE" in text  # no server sends him an invitation
