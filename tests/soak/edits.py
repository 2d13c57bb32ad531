"""Actions of a person on the calendar's own page, on events of the program and on their own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from tests.soak.days import Setting
from tests.soak.oracle import Oracle, key_of
from tests.soak.watched import WatchedStore

from fateforger.calendar.event import EventImage

ACTS = (
    "move", "move", "move", "shift", "resize", "rename", "rename", "notes", "notes", "color", "put back", "delete",
    "delete", "restore", "copy", "new", "new", "change own", "invite", "uninvite", "all day", "timed", "repeat",
    "delete most", "place", "reminder", "private", "free", "rights", "source", "property", "attach", "video",
)  # fmt: skip


@dataclass
class CalendarEdits:
    setting: Setting
    store: WatchedStore
    truth: Oracle
    done: int = 0

    def act(self, rng: Random, what: str | None = None) -> str:
        """Do something, if there is anything to do it to; says what."""
        self.done += 1
        what = what or rng.choice(ACTS)
        others = {"new": self._new, "change own": self._change_own, "restore": self._restore}
        if what in others:
            return others[what](rng)
        ours = sorted(i for i, e in self.truth.live.items() if not self.store.events[i].gone)
        if not ours:
            return self._new(rng)
        event = self.store.events[rng.choice(ours)]
        match what:
            case "delete":
                self._delete(event)
            case "delete most":
                for event_id in ours[: 1 + len(ours) * 3 // 4]:
                    self._delete(self.store.events[event_id])
            case "copy":
                if event.is_timed:
                    by = timedelta(minutes=rng.choice((0, 15, 60, 600, 1440)))
                    self.truth.person_made(self.store.user_copy(event.id, by=by))
            case "repeat":
                self._repeat(event)
            case _:
                self._change(event, what, rng)
        return f"{what} {event.id[:9]} “{event.summary}”"

    def _new(self, rng: Random) -> str:
        start = self.setting.some_time(rng)
        end = start + timedelta(minutes=rng.choice((15, 30, 60, 480)))
        summary = rng.choice((f"theirs {self.done}", "Lunch", "Write the report 1"))
        if rng.random() < 0.15:
            image = self.store.user_create(
                summary, start=self.setting.day, end=self.setting.day + timedelta(days=1), busy=rng.random() < 0.5
            )
        else:
            more: dict[str, Any] = (
                {"extras": {"attendees": [{"email": "anna@example.com"}]}} if rng.random() < 0.3 else {}
            )
            image = self.store.user_create(
                summary, start=start, end=end, busy=rng.random() < 0.9, organized_by_me=rng.random() < 0.7, **more
            )
        self.truth.person_made(image)
        return f"new “{summary}” at {image.start}"

    def _change_own(self, rng: Random) -> str:
        own = sorted(self.truth.theirs)
        if not own:
            return self._new(rng)
        event = self.store.events[rng.choice(own)]
        if rng.random() < 0.3:
            self.truth.person_deleted(self.store.user_delete(event.id))
        else:
            self.truth.person_changed(event, self.store.user_edit(event.id, summary=f"own {self.done}"))
        return f"change own {event.id}"

    def _restore(self, rng: Random) -> str:
        """Take an event out of the bin whose block is not on the calendar."""
        there = {key_of(event) for event in self.truth.live.values()}
        gone = sorted(
            i for i, e in self.store.events.items() if e.gone and i in self.truth.made and key_of(e) not in there
        )
        if not gone:
            return self._new(rng)
        image = self.store.user_restore(rng.choice(gone))
        self.truth.person_restored(image)
        return f"restore {image.id[:9]} “{image.summary}”"

    def _delete(self, event: EventImage) -> None:
        self.store.user_delete(event.id)
        self.truth.person_deleted(event)

    def _repeat(self, event: EventImage) -> None:
        """Turn the event into a series, which is the person's from then on, as are its occurrences."""
        if not event.is_timed or event.id in self.truth.obstructed:
            return
        self.truth.obstructed.add(event.id)
        self.truth.touched.add(event.id)
        image = self.store.user_repeat(event.id)
        if image.id == event.id:
            self.truth.person_changed(event, image)
        else:
            self.truth.person_made(image)

    def _change(self, event: EventImage, what: str, rng: Random) -> None:
        changes = self._own(event, what) or self._changes(event, what, rng)
        if changes:
            self.truth.person_changed(event, self.store.user_edit(event.id, **changes))

    def _own(self, event: EventImage, what: str) -> dict[str, object]:
        """Return a change that a calendar's own page can make to an event and that the program never writes."""
        n = self.done
        extras: dict[str, dict[str, object]] = {
            "invite": {"attendees": [{"email": "ben@example.com"}]},
            "place": {"location": f"Room {n}"},
            "reminder": {"reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": n % 60}]}},
            "private": {"visibility": "private"},
            "rights": {"guestsCanModify": True},
            "source": {"source": {"title": f"Ticket {n}", "url": f"https://example.com/{n}"}},
            "video": {"hangoutLink": f"https://meet.example.com/{n}"},
            "uninvite": {"attendees": []},
            "attach": {"attachments": [{"fileUrl": f"https://example.com/{n}.pdf", "title": "Agenda"}]},
        }
        match what:
            case "free":
                return {"busy": False}
            case "uninvite" if not event.raw.get("attendees"):
                return {}
            case "property":
                return {"properties": {**event.properties, "crm": f"case {n}"}}
            case _:
                return {"extras": extras[what]} if what in extras else {}

    def _changes(self, event: EventImage, what: str, rng: Random) -> dict[str, object]:
        match what:
            case "rename":
                return {"summary": f"mine {self.done}"}
            case "notes":
                return {"description": f"mine {self.done}"}
            case "color":
                return {"color_id": rng.choice(("2", "5", "8", "11"))}
            case "all day":
                self.truth.obstructed.add(event.id)
                return {"start": self.setting.day, "end": self.setting.day + timedelta(days=1)}
            case "timed" | "uninvite" if event.is_timed:
                return {}
        if not event.is_timed:
            return self.truth.get_times(event.id) if what == "timed" else {}
        length = event.end - event.start
        match what:
            case "shift":
                start = event.start + timedelta(minutes=rng.choice((-30, 15, 30)))
            case "resize":
                return {"end": event.start + timedelta(minutes=rng.choice((10, 25, 50, 120)))}
            case "put back":
                left = self.truth.get_left(event.id)
                return {name: left[name] for name in rng.sample(sorted(left), 1)} if left else {}
            case _:
                far = timedelta(days=1) if rng.random() < 0.15 else timedelta()
                start = self.setting.some_time(rng) + far
        return {"start": start, "end": start + length}
