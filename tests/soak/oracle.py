"""An independent observer at the calendar, which counts lost edits, foreign writes and duplicates.

The observer sees what the person does on the calendar, what they wish in the thread, and every write of the program at
the moment it takes effect. It shares no decision with the engine. It knows an event of the program because it saw the
program create it.

An **edit** is a field of a program's event as the person left it, a program's event that they deleted, or anything
else that they put into one (`OWN`: a place, guests, reminders of their own, ...). It counts until the person changes
it again. A value put back to what the program wrote is no edit. For an undo, neither is one put back to what the
program had written before: the event is as it was left.

The program may replace the value of an edit only when a later wish of the person says so:

- A submit wishes another value for that field (or no longer wishes the block), and the edit had been *taken*: the plan
  in the thread held it before, so the person has seen it there. They have also seen a value that an undo restored, even
  one that lands late, while the next submit is already being sent. Start and end count as one field.
- A submit wishes another value for that field and was to prefer the plan. An edit that was not taken then has to be
  named in the thread.
- An undo may put a value over an edit only where one of the transactions that it takes back had put the edit back
  (a redo), or when it was to use force. An undo that takes back the write over an edit gives the edit back.
- What the program never writes (`OWN`) is never changed, and never goes with an event unless by force. An undo that
  brings such an event back restores all of it that a calendar lets a program write, and names the rest.
- A deleted event comes back only when a later submit asks for the block again: with other contents than before, or
  after the plan in the thread was without it, or after an undo of its write, or with a yes to the question about gone
  blocks. It also comes back when an undo takes back a transaction that had deleted an event of that block.

An event that the person made into something that may not be written to (all-day, repeating) is theirs from then on. A
block that the plan still holds may be written again once they delete that event.

Everything else that changes an edit is a **lost edit**. Without conditional writes (Google through MCP) a write that
was sent cannot be stopped: an edit made after the program last read that event and before its write landed is counted
separately, as **raced**. With conditional writes such an edit is lost like any other.

A **foreign write** is any write to an event that the program did not make, and any event of the person's own that is
not, to the byte, as they left it. A **duplicate** is a second live event of the program for one block, or two events
that show the same, while no command is running. A submit must not make one even for a moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Literal

from fateforger.calendar.event import EventImage

FIELDS = ("summary", "description", "start", "end", "color_id")
ASPECT = {"summary": "title", "description": "notes", "start": "time", "end": "time", "color_id": "color"}
BLAMES = (
    "you changed",
    "You changed",
    "you had changed",
    "you moved",
    "You moved",
    "You brought it back",
    "you brought it back",
    "no longer on your calendar",
)
"""Words that put a difference down to the person."""
LOSSES = {"emptied_calendar", "vanished_blocks"}
OWN = (
    "location", "reminders", "visibility", "transparency", "guestsCanModify", "guestsCanInviteOthers", "source",
    "attendees", "attachments", "conferenceData", "hangoutLink", "otherProperties",
)  # fmt: skip
"""Parts of an event that the person may set and the program never writes by itself.

By Google's names; the last one holds those that only Outlook has.
"""
UNWRITABLE = frozenset({"conferenceData", "hangoutLink"})
"""Parts that no program can put into a new event: a video call gets another address."""
PLAIN = {"reminders": {"useDefault": True}}
"""Reminders that were never set, as Google shows them."""
Shape = Mapping[str, Any]


def shape_of(event: Any) -> dict[str, Any]:
    """Return the five fields of a block that a person sees, in a form that can be compared."""
    return {name: _plain(getattr(event, name)) for name in FIELDS}


def own_of(event: EventImage) -> dict[str, Any]:
    """Return all that an event holds beyond what the program writes, by name."""
    shown = {name: event.raw[name] for name in OWN if event.raw.get(name) not in (None, [], PLAIN.get(name))}
    return shown | {f"property {name}": value for name, value in event.properties.items() if not name.startswith("ff")}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(microsecond=0)
    if isinstance(value, date) or value is None:
        return value
    return str(value).strip()


@dataclass
class Command:
    """A command of the person, and the state when they gave it. ``words`` are the thread's messages about it."""

    name: str
    kind: Literal["submit", "undo"]
    at: int
    wish: Mapping[str, Shape] = field(default_factory=dict)
    prefer_plan: bool = False
    force: bool = False
    agreed: set[str] = field(default_factory=set)
    taken: frozenset[tuple[str, str]] = frozenset()
    absent: frozenset[str] = frozenset()
    words: list[str] = field(default_factory=list)
    owed: list[str] = field(default_factory=list)
    answered: bool = False


@dataclass
class Edit:
    """``value`` is what the person left in one field of one event."""

    value: Any
    at: int
    taken: bool = False
    put_back_by: str | None = None


@dataclass
class Deletion:
    """An event of the program that the person deleted; ``asked`` is the block as last submitted."""

    event_id: str
    at: int
    asked: Shape | None
    taken: bool = False
    taken_back: bool = False


@dataclass
class WrittenTransaction:
    """One transaction as its writes took effect. ``keys`` are the blocks it is about, ``dropped`` those it takes off
    the calendar (the person may be quicker), ``replaced`` the events in whose place it makes others of their blocks;
    ``over`` are edits it replaced, ``back`` those it gave back, ``before`` the events as they were, ``own`` what else
    they held by block. ``targets`` are what it takes back, the newest first."""

    command: Command
    targets: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    over: dict[tuple[str, str], Edit] = field(default_factory=dict)
    back: set[tuple[str, str]] = field(default_factory=set)
    before: list[Shape] = field(default_factory=list)
    deleted: set[str | None] = field(default_factory=set)
    own: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    raced: bool = False


@dataclass
class Oracle:
    """``breaches`` are by kind: lost, foreign, duplicate, and the ones that have to be nought as well."""

    conditional: bool
    unwritable: Collection[str] = UNWRITABLE
    breaches: list[tuple[str, str]] = field(default_factory=list)
    raced: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    made: dict[str, str] = field(default_factory=dict)
    theirs: dict[str, EventImage] = field(default_factory=dict)
    edits: dict[tuple[str, str], Edit] = field(default_factory=dict)
    own: dict[str, dict[str, Edit]] = field(default_factory=dict)
    deletions: dict[str, Deletion] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    titles: dict[str, set[str]] = field(default_factory=dict)
    obstructed: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    """Events that the program deleted."""
    restored: dict[str, Edit] = field(default_factory=dict)
    """Events that the person took out of the bin and that are theirs since, each taken once the plan in the thread has
    had its block."""
    live: dict[str, EventImage] = field(default_factory=dict)
    wish: dict[str, Shape] = field(default_factory=dict)
    asked: dict[str, Shape] = field(default_factory=dict)
    transactions: dict[str, WrittenTransaction] = field(default_factory=dict)
    landed: dict[str, int] = field(default_factory=dict)
    """Events that came long after the program had given them up, and when."""
    sent: dict[str, int] = field(default_factory=dict)
    """Time of the program's last read of the event before it sent the write that lands now, late."""
    _keys: dict[str, str | None] = field(default_factory=dict)
    _keys_touched: set[str | None] = field(default_factory=set)
    _left: dict[tuple[str, str], Any] = field(default_factory=dict)
    _ever: dict[tuple[str, str], set[Any]] = field(default_factory=dict)
    _looked: dict[str, int] = field(default_factory=dict)
    _now: int = 0

    # --- the person at the calendar ---

    def person_made(self, image: EventImage) -> None:
        self._tick()
        self.theirs[image.id] = image

    def person_changed(self, before: EventImage, after: EventImage) -> None:
        self._tick()
        if after.id not in self.made:
            self.theirs[after.id] = after
            return
        self.live[after.id] = after
        self._touch(after)
        had, has = own_of(before), own_of(after)
        for name in had.keys() - has.keys():
            self.own.get(after.id, {}).pop(name, None)
        for name in (name for name in has if had.get(name) != has[name]):
            self.own.setdefault(after.id, {})[name] = Edit(has[name], self._now)
            self.counts["edits"] += 1
        old, new = shape_of(before), shape_of(after)
        for name in FIELDS:
            place = (after.id, name)
            if new[name] == self._left.get(place):
                self.edits.pop(place, None)
            elif new[name] != old[name]:
                self.edits[place] = Edit(new[name], self._now)
                self.counts["edits"] += 1

    def person_deleted(self, image: EventImage) -> None:
        self._tick()
        if image.id not in self.made:
            self.theirs.pop(image.id, None)
            return
        self._remove(image.id)
        self._touch(image)
        self.counts["edits"] += 1
        key = key_of(image)
        if (
            key is not None
            and image.id not in self.obstructed
            and not any(key_of(e) == key for e in self.live.values())
        ):
            self.deletions[key] = Deletion(image.id, self._now, self.asked.get(key), taken=key not in self.wish)

    def person_restored(self, image: EventImage) -> None:
        """Note that the person took an event of the program out of the bin.

        It is theirs, unless they had deleted it themselves and its block was not written again since: the program may
        not have noticed that.
        """
        self._tick()
        self.live[image.id] = image
        self._touch(image)
        self.counts["edits"] += 1
        later = list(self.made)[list(self.made).index(image.id) + 1 :]
        if image.id in self.removed or self._keys[image.id] in {self._keys[event_id] for event_id in later}:
            self.restored[image.id] = Edit(image.id, self._now)
        self.own[image.id] = {name: Edit(value, self._now) for name, value in own_of(image).items()}
        for name, value in shape_of(image).items():
            if value != self._left.get((image.id, name)):
                self.edits[image.id, name] = Edit(value, self._now, taken=True)
        self.deletions = {key: each for key, each in self.deletions.items() if each.event_id != image.id}

    # --- the person in the thread ---

    def thinks(self, wish: Mapping[str, Shape]) -> None:
        """Note the plan in the thread, after each change: by the person, or because it took over their changes."""
        self.wish = dict(wish)
        for (event_id, name), edit in self.edits.items():
            block = self._block_of(event_id)
            edit.taken = edit.taken or (block is not None and block[name] == edit.value)
        for key, deletion in self.deletions.items():
            deletion.taken = deletion.taken or key not in wish
        for event_id, edit in self.restored.items():
            edit.taken = edit.taken or self._keys[event_id] in wish

    def submits(self, name: str, *, prefer_plan: bool) -> Command:
        """Note the person's request to write the plan in the thread."""
        self._tick()
        command = Command(name, "submit", self._now, dict(self.wish), prefer_plan)
        command.taken = frozenset(place for place, edit in self.edits.items() if edit.taken)
        command.taken |= {(event_id, "") for event_id, edit in self.restored.items() if edit.taken}
        command.absent = frozenset(
            key for key, deletion in self.deletions.items() if deletion.taken or deletion.taken_back
        )
        return command

    def undoes(self, name: str, *, force: bool) -> Command:
        self._tick()
        return Command(name, "undo", self._now, force=force)

    def blames(self, command: Command, sentences: Iterable[str]) -> None:
        """Check that the thread does not blame the person for changes of the program.

        An undo names a block by a title that it gave it, which another event of the block may have had.
        """
        blocks = self._keys_touched | {self._keys.get(event_id) for event_id in self.touched}
        touched = self.touched | {event_id for event_id, key in self._keys.items() if key in blocks}
        mine = {title for event_id in touched for title in self.titles[event_id]}
        for sentence in sentences:
            named = {title for titles in self.titles.values() for title in titles if f"“{title}”" in sentence}
            if named and not named & mine and any(words in sentence for words in BLAMES):
                self.breach("blamed", f"{command.name} said: {sentence}")

    def check_emptied(self, command: Command, *, given_away: Callable[[str], bool] = lambda _: False) -> None:
        """Check that everything was undone, except blocks that the person changed or that were ``given_away``."""
        for event_id, image in self.live.items():
            if event_id not in self.touched | self.obstructed and not any(map(given_away, self.titles[event_id])):
                self.breach("left", f"{command.name} was the last undo, and “{image.summary}” is still there")

    def record_answer(
        self, command: Command, sentences: Iterable[str], *, whole: bool, asked_about: Collection[str] = ()
    ) -> None:
        """Record the thread's answer.

        ``whole``: every wish is done, except for the blocks ``asked_about``.
        """
        if whole and command.kind == "submit":
            decided = {key: block for key, block in command.wish.items() if key not in asked_about}
            self.asked = {key: block for key, block in self.asked.items() if key in asked_about} | decided
        command.words.extend(sentences)
        command.answered = True

    # --- the program ---

    def record_look(self, events: Iterable[EventImage]) -> None:
        """Note that the program read these events."""
        self._tick()
        for event in events:
            self._looked[event.id] = self._now

    def begins(self, transaction_id: str, written: WrittenTransaction) -> None:
        """Note the start of a transaction; nothing of it has happened yet."""
        self.transactions[transaction_id] = written
        for target in written.targets:
            for key in self.transactions[target].keys if target in self.transactions else ():
                self.asked.pop(key, None)
                if key in self.deletions:
                    self.deletions[key].taken_back = True

    def record_insert(self, transaction_id: str, image: EventImage) -> None:
        self._tick()
        self.counts["writes"] += 1
        by, key = self.transactions[transaction_id], key_of(image)
        twins = [e.id for e in self.live.values() if key_of(e) == key and e.id not in self.restored]
        if late := image.id in self.sent:
            self.landed[image.id] = self._now
        if twins and not late and by.command.kind == "submit":
            self.breach("duplicate", f"{by.command.name} made “{image.summary}” again while {twins} is there")
        deletion = None if key is None else self.deletions.pop(key, None)
        if key is not None and deletion is not None and not self._is_wanted(by, key, deletion):
            self.breach("lost", f"{by.command.name} brought “{image.summary}” back ({deletion.event_id} was deleted)")
        self.made[image.id] = transaction_id
        self.titles[image.id] = {image.summary}
        self._keys[image.id] = key_of(image)
        self.live[image.id] = image
        self._left |= {(image.id, name): value for name, value in shape_of(image).items()}
        self._ever |= {(image.id, name): {value} for name, value in shape_of(image).items()}
        self._looked[image.id] = self._now
        targets = [self.transactions[t] for t in by.targets if t in self.transactions]
        if by.command.kind == "undo":
            self._comes_back(transaction_id, image, targets)
        befores = [shape for target in targets for shape in target.before]
        if befores and not any(target.raced or key in target.dropped - target.deleted for target in targets):
            new = shape_of(image)
            wrong = [name for name in FIELDS if new[name] not in [shape[name] for shape in befores]]
            if wrong:
                self.breach("lost", f"{by.command.name} brought “{image.summary}” back with another {wrong}")

    def record_patch(self, transaction_id: str, before: EventImage, after: EventImage) -> None:
        self._tick()
        self.counts["writes"] += 1
        by = self.transactions[transaction_id]
        if before.id not in self.made:
            self.breach("foreign", f"{by.command.name} wrote to {before.id}")
            return
        if own_of(before) != own_of(after):
            self.breach("lost", f"{by.command.name} changed {own_of(before)} of “{after.summary}” to {own_of(after)}")
        old, new = shape_of(before), shape_of(after)
        by.before.append(old)
        for name in FIELDS:
            if old[name] != new[name]:
                self._record_replaced(transaction_id, (before.id, name), new[name], after)
        self.live[after.id] = after
        self.titles[after.id].add(after.summary)
        self._keys[after.id] = key_of(after)
        if by.command.kind == "undo" and key_of(after) in self._keys_touched:
            self.touched.add(after.id)

    def record_delete(self, transaction_id: str, image: EventImage) -> None:
        self._tick()
        self.counts["writes"] += 1
        by = self.transactions[transaction_id]
        if image.id not in self.made:
            self.breach("foreign", f"{by.command.name} deleted {image.id}")
            return
        by.before.append(shape_of(image))
        by.deleted.add(key_of(image))
        by.raced = by.raced or any(self._is_raced(image.id, edit.at) for _, edit in self._standing(image.id))
        command = by.command
        by.own[key_of(image)] = own_of(image)
        for name, mine in self.own.get(image.id, {}).items():
            if self._is_raced(image.id, mine.at):
                self.raced += 1
                by.own[key_of(image)].pop(name, None)  # the program never saw it
            elif not command.force and not (mine.put_back_by is not None and mine.put_back_by in by.targets):
                self.breach("lost", f"{command.name} deleted “{image.summary}” with its {name}")
        dropped = command.kind == "submit" and self._block_of(image.id, command.wish) is None
        self.removed.add(image.id)
        if (back := self.restored.get(image.id)) is not None and not self._is_raced(image.id, back.at):
            asked = command.force or "duplicate_block" in command.agreed
            if not asked and not (dropped and (image.id, "") in command.taken):
                self.breach("lost", f"{command.name} deleted “{image.summary}”, which the person had brought back")
        for place, edit in self._standing(image.id):
            taken = edit.put_back_by is not None or place in command.taken
            if (dropped and taken) or command.force or self._is_back(by, place, edit):
                by.over[place] = edit
            elif self._is_raced(image.id, edit.at):
                self.raced += 1
                by.over[place] = edit
            else:
                self.breach("lost", f"{command.name} deleted “{image.summary}”, whose {place[1]} was {edit.value}")
        self._remove(image.id)

    def get_left(self, event_id: str) -> dict[str, Any]:
        """Return an event as the program left it."""
        return {name: value for (i, name), value in self._left.items() if i == event_id}

    def get_times(self, event_id: str) -> dict[str, Any]:
        """Return start and end of an event as the program left them."""
        return {name: value for name, value in self.get_left(event_id).items() if name in {"start", "end"}}

    # --- at rest ---

    def at_rest(self, events: Mapping[str, EventImage]) -> None:
        """Check, with nothing in progress, that the person's events and every edit are where they left them."""
        for event_id, image in self.theirs.items():
            if events.get(event_id) != image:
                self.breach("foreign", f"{event_id} “{image.summary}” is not as the person left it")
        for (event_id, name), edit in self.edits.items():
            if events[event_id].gone or shape_of(events[event_id])[name] != edit.value:
                self.breach("lost", f"the {name} of {event_id} is not {edit.value!r} any more")
        for event_id, mine in self.own.items():
            has = own_of(events[event_id])
            for name in (name for name, edit in mine.items() if has.get(name) != edit.value):
                self.breach(
                    "lost", f"the {name} of {event_id} is {has.get(name)!r}, the person had {mine[name].value!r}"
                )
        for deletion in self.deletions.values():
            if not events[deletion.event_id].gone:
                self.breach("lost", f"{deletion.event_id} is not deleted any more")
        self.single()

    def single(self, since: int | None = None) -> None:
        """Check that every block is there once between two commands.

        Within one command, an undo may bring an event back before it takes another away. An event that landed after
        ``since``, or is not listed since then, is not counted: the program cannot have seen it. An event that landed
        late and that the person then edited is left to them, as is one that they edited before it was replaced.
        """
        replaced = {event_id for written in self.transactions.values() for event_id in written.replaced}
        theirs = ((self.landed.keys() | replaced) & self.touched) | self.restored.keys()
        ours = [e for e in self.live.values() if e.id not in theirs]
        ours = [e for e in ours if since is None or self._is_known(e.id, since)]
        keys = Counter(str(key_of(e)) for e in ours)
        looks = Counter(f"“{e.summary}” at {e.start}" for e in ours)
        for what, times in (*keys.items(), *looks.items()):
            if times > 1:
                self.breach("duplicate", f"{times} events are {what}")

    def _is_known(self, event_id: str, since: int) -> bool:
        """Check whether an event landed in time, or landed late and was then shown to the program."""
        landed = self.landed.get(event_id)
        return landed is None or (landed <= since and self.looked_at(event_id) > landed)

    def check_named(self) -> None:
        """Check that every edit that lost against a wish without having been seen in the thread was named there."""
        for written in self.transactions.values():
            command = written.command
            said = " ".join(command.words)
            silent = [i for i in command.owed if not any(title in said for title in self.titles[i])]
            if command.answered and silent:
                self.breach("lost", f"{command.name} replaced edits without a word: {silent}; said {command.words}")
            command.owed.clear()

    # --- judging ---

    def _record_replaced(self, transaction_id: str, place: tuple[str, str], new: Any, after: EventImage) -> None:
        by, edit = self.transactions[transaction_id], self.edits.pop(place, None)
        self._left[place] = new
        self._ever[place].add(new)
        given_back = self._find_owed(by, place)
        if given_back is not None and not by.command.force:
            if given_back.value != new:
                self.breach("lost", f"{by.command.name} set {place} to {new!r}, the edit was {given_back.value!r}")
            self.edits[place] = Edit(new, given_back.at, taken=True, put_back_by=transaction_id)
            by.back.add(place)
        if edit is None or edit.value == new:
            return
        command = by.command
        taken = edit.put_back_by is not None or any(p in command.taken for p in self._aspect(place))
        again = command.kind == "undo" and (command.force or self._is_back(by, place, edit))
        if self._is_raced(place[0], edit.at):
            self.raced += 1
            by.raced = True
        elif again or (taken and self._wishes_otherwise(command, place, edit)):
            by.over[place] = edit
        elif command.prefer_plan and self._wishes_otherwise(command, place, edit):
            by.over[place] = edit
            command.owed.append(after.id)
        else:
            self.breach("lost", f"{command.name} set {place} to {new!r}, the person had {edit.value!r}")

    def _find_owed(self, by: WrittenTransaction, place: tuple[str, str]) -> Edit | None:
        """Return the person's latest edit among those that the targets replaced: it comes back.

        An edit that a target had given back itself does not count, for the value before that was the program's.
        """
        targets = [self.transactions[t] for t in by.targets if t in self.transactions]
        replaced = [target.over[place] for target in targets if place in target.over]
        own = [edit for edit in replaced if edit.put_back_by not in by.targets]
        return max(own, key=lambda edit: edit.at, default=None)

    def _comes_back(self, transaction_id: str, image: EventImage, targets: Iterable[WrittenTransaction]) -> None:
        """Check that a block that the person changed comes back as they had it."""
        key, shape = key_of(image), shape_of(image)
        if key in self._keys_touched:
            self.touched.add(image.id)
        self._own_comes_back(transaction_id, image, targets)
        for (event_id, name), edit in [over for target in targets for over in target.over.items()]:
            if self._keys.get(event_id) == key and shape[name] == edit.value:
                self.edits[image.id, name] = Edit(edit.value, edit.at, taken=True, put_back_by=transaction_id)
                self.transactions[transaction_id].back.add((image.id, name))

    def _own_comes_back(self, transaction_id: str, image: EventImage, targets: Iterable[WrittenTransaction]) -> None:
        """Check that the event that replaces a deleted one has the person's additions to it."""
        had = next((target.own[key_of(image)] for target in targets if key_of(image) in target.own), {})
        has = own_of(image)
        missing = sorted(name for name, value in had.items() if name not in self.unwritable and has.get(name) != value)
        if missing:
            self.breach("lost", f"“{image.summary}” came back without its {missing}")
        if has:
            back = {name: Edit(value, self._now, taken=True, put_back_by=transaction_id) for name, value in has.items()}
            self.own[image.id] = back

    def _touch(self, image: EventImage) -> None:
        self.touched.add(image.id)
        self._keys_touched.add(key_of(image))
        self.titles[image.id].add(image.summary)

    def _wishes_otherwise(self, command: Command, place: tuple[str, str], edit: Edit) -> bool:
        if command.kind != "submit" or (block := self._block_of(place[0], command.wish)) is None:
            return command.kind == "submit"
        others = [p for p in self._aspect(place) if p in self.edits]
        return block[place[1]] != edit.value or any(block[p[1]] != self.edits[p].value for p in others)

    def _aspect(self, place: tuple[str, str]) -> list[tuple[str, str]]:
        return [(place[0], name) for name in FIELDS if ASPECT[name] == ASPECT[place[1]]]

    def _is_wanted(self, by: WrittenTransaction, key: str, deletion: Deletion) -> bool:
        command = by.command
        if any(t in self.transactions and key in self.transactions[t].dropped for t in by.targets):
            return True
        if deletion.taken_back or command.agreed & LOSSES:
            return command.kind == "submit"
        return command.kind == "submit" and (key in command.absent or command.wish.get(key) != deletion.asked)

    def _is_back(self, by: WrittenTransaction, place: tuple[str, str], edit: Edit) -> bool:
        """Check whether an undo may restore the value of an edit.

        It may where it takes back the transaction that gave the edit back, or where one of its transactions left that
        value.
        """
        back = edit.put_back_by is not None and edit.put_back_by in by.targets
        return back or (bool(by.targets) and edit.value in self._ever.get(place, ()))

    def _is_raced(self, event_id: str, at: int) -> bool:
        return not self.conditional and at > self.sent.get(event_id, self.looked_at(event_id))

    def looked_at(self, event_id: str) -> int:
        """Return the time when the program last read the event."""
        return self._looked.get(event_id, 0)

    def _standing(self, event_id: str) -> list[tuple[tuple[str, str], Edit]]:
        return [(place, edit) for place, edit in self.edits.items() if place[0] == event_id]

    def _block_of(self, event_id: str, wish: Mapping[str, Shape] | None = None) -> Shape | None:
        image = self.live.get(event_id)
        key = None if image is None else key_of(image)
        return None if key is None else (self.wish if wish is None else wish).get(key)

    def _remove(self, event_id: str) -> None:
        self.live.pop(event_id, None)
        self.own.pop(event_id, None)
        self.restored.pop(event_id, None)
        self.edits = {place: edit for place, edit in self.edits.items() if place[0] != event_id}

    def _tick(self) -> None:
        self._now += 1

    def breach(self, kind: str, what: str) -> None:
        self.breaches.append((kind, what))


def key_of(image: EventImage) -> str | None:
    """Return the key of the block that an event of the program belongs to."""
    return image.properties.get("ffu")
