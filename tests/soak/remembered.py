"""A thousand days of a person who states, repeats, changes and revokes rules in five languages, and lets them expire.

The rules that the planner follows each day are compared with those that the person means. These are kept here in the
simplest way: of all statements on one subject that cover a day, the last one counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, TypeVar

from fateforger.conversation.memory_node import DECLINED_BEFORE, apply_understood
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import Effect, MemoryReading, StageInput, WriteMemory, with_memory
from fateforger.memory.applicability import Context
from fateforger.memory.documents import read_record
from fateforger.memory.record import ConstraintRecord, compute_uid, means_the_same
from fateforger.memory.versions import Version, select_newest
from fateforger.session.commands.rules import AddExtracted, JudgeConstraint, SettleConstraints, UndoMemory
from fateforger.session.model import Session
from fateforger.session.rulebook import rules_in_force
from fateforger.session.stages import Move
from fateforger.workers.memory import build_tidy_versions

FIRST = date(2026, 1, 5)
WEEK = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
WEEKEND = ("FR", "SA")
TZ = "Europe/Amsterdam"
USER = "U1"
T = TypeVar("T")

WORDS: dict[str, tuple[str, ...]] = {
    "bedtime": ("In bed by {}", "Um {} ins Bett", "Au lit à {}", "A la cama a las {}", "{}に就寝"),
    "work_end": ("I stop at {}", "Feierabend um {}", "J'arrête à {}", "Termino a las {}", "{}に退勤"),
    "lunch": ("Lunch at {}", "Mittag um {}", "Déjeuner à {}", "Comida a las {}", "{}に昼食"),
    "calls": ("No calls before {}", "Keine Anrufe vor {}", "Pas d'appels avant {}", "Sin llamadas antes de {}", "{}前は電話なし"),
    "sleep": ("{} hours of sleep", "{} Stunden Schlaf", "{} heures de sommeil", "{} horas de sueño", "睡眠{}時間"),
    "habit": ("Gym at {}", "Sport um {}", "Sport à {}", "Gimnasio a las {}", "{}にジム"),
}  # fmt: skip
HOURS = {
    "bedtime": (21, 23),
    "work_end": (16, 19),
    "lunch": (11, 14),
    "calls": (9, 11),
    "sleep": (6, 9),
    "habit": (6, 20),
}
ONE_AT_A_TIME = ("bedtime", "work_end", "lunch", "sleep")
"""Subjects of which a person has one: a later statement replaces the earlier one."""


@dataclass(frozen=True)
class StatedRule:
    """A rule that the person stated and means. ``days`` are weekdays; both dates are inclusive."""

    about: str
    hour: int
    days: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None
    number: int = 0
    uid: str = ""

    def covers(self, day: date) -> bool:
        if self.days and WEEK[day.weekday()] not in self.days:
            return False
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def same(self, other: StatedRule) -> bool:
        return replace(self, number=0, uid="") == replace(other, number=0, uid="")


@dataclass
class Totals:
    """Sums over all days."""

    days: int = 0
    said: int = 0
    required: int = 0
    recalled: int = 0
    active: int = 0
    stale: int = 0
    twice: int = 0
    most: int = 0
    versions: int = 0
    in_force: int = 0
    missing: list[str] = field(default_factory=list)

    @property
    def spoilt(self) -> float:
        """The share of active rows that should not be there."""
        return (self.stale + self.twice) / max(1, self.active)

    def __str__(self) -> str:
        return (
            f"{self.days} days, {self.said} things said, {self.versions} versions, {self.in_force} rows in force at the"
            f" end; active per day: mean {self.active / max(1, self.days):.1f}, most {self.most}; stale {self.stale},"
            f" twice {self.twice} of {self.active} ({self.spoilt:.2%}); required recall"
            f" {self.recalled}/{self.required} ({self.recalled / max(1, self.required):.2%})"
        )


class ConstraintHistory:
    """One person, one store, a new conversation each day."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.store: tuple[Version, ...] = ()
        self.means: list[StatedRule] = []
        self.totals = Totals()
        self.counted = 0
        self.day = FIRST
        self.session = self._morning()

    def run(self, days: int) -> Totals:
        for number in range(days):
            self.day = FIRST + timedelta(days=number)
            self.session = self._morning()
            self._tidy()
            for _ in range(self.random.choice((0, 0, 1, 1, 2))):
                self._something()
            if self.random.random() < 0.1:
                self._for_today()
            self._judge()
        self.totals.days = days
        self.totals.versions = len(self.store)
        self.totals.in_force = sum(not v.retired for v in select_newest(self.store, USER).values())
        return self.totals

    # --- what happens ---

    def _something(self) -> None:
        deed = self.random.choices((self._say, self._say_again, self._take_back, self._undo), weights=(10, 4, 2, 1))[0]
        deed()

    def _say(self) -> None:
        about = self._one_of(tuple(WORDS))
        hour = self.random.randint(*HOURS[about])
        limits: dict[str, Any] = {}
        kind = self.random.random()
        if kind < 0.2 and about in ONE_AT_A_TIME:
            limits = {"days": WEEKEND}
        elif kind < 0.4:
            start = self.day + timedelta(days=self.random.randint(0, 5))
            limits = {"first": start, "last": start + timedelta(days=self.random.randint(3, 20))}
        meant = StatedRule(about, hour, **limits)
        if about not in ONE_AT_A_TIME:
            # A habit or a window at another time is a new one: the person takes the old one back first.
            for old in [m for m in self.means if m.about == about and self._lives(m)]:
                self._judge_rule(old, "archive")
        self._tell(meant)

    def _say_again(self) -> None:
        living = [m for m in self.means if self._lives(m) and m.about != "habit"]
        if living:
            self._tell(replace(self._one_of(living)))

    def _take_back(self) -> None:
        """Revoke a rule on a subject, or end only an exception from one."""
        abouts = sorted({m.about for m in self.means if self._lives(m)})
        if not abouts:
            return
        about = self._one_of(abouts)
        theirs = [m for m in self.means if m.about == about and self._lives(m)]
        exceptions = [m for m in theirs if m.days or m.last]
        if len(exceptions) == 1 and len(theirs) == 2 and about in ONE_AT_A_TIME:
            self._judge_rule(exceptions[0], "archive")
            return
        # They read what counts again after each, until nothing does.
        for _ in range(40):
            row = next((v for v in self._in_force() if self._about(v.record) == about), None)
            if row is None:
                break
            self._do(JudgeConstraint(**self._head(), uid=row.uid, verdict="archive"))
        self.means = [m for m in self.means if m.about != about]

    def _in_force(self) -> list[Version]:
        return [v for v in select_newest((*self.store, *self.session.rules.said), USER).values() if not v.retired]

    def _about(self, record: ConstraintRecord) -> str:
        """Return the topic of a record, by its fields."""
        if record.aspect is not None and record.aspect.frame_slot is not None:
            return record.aspect.frame_slot
        kind = record.payload.rule_kind
        return {"min_sleep": "sleep", "avoid_window": "calls", "prefer_window": "habit"}[str(kind)]

    def _undo(self) -> None:
        """Undo the last statement of today as a slip."""
        before, seq = list(self.means), len(self.store)
        self._say_new_slot()
        write = self.session.rules.memory_writes[-1] if self.session.rules.memory_writes else None
        if write is not None and len(self.store) > seq:
            self._do(UndoMemory(**self._head(), write=write.cause))
            self.means = before

    def _say_new_slot(self) -> None:
        about = self._one_of(ONE_AT_A_TIME)
        self._tell(StatedRule(about, self.random.randint(*HOURS[about])))

    def _for_today(self) -> None:
        """State a rule for this conversation only: none of it may be left tomorrow."""
        about = self._one_of(ONE_AT_A_TIME)
        meant = StatedRule(about, self.random.randint(*HOURS[about]), first=self.day, last=self.day)
        self._tell(meant, scope="session")

    # --- the person's statements ---

    def _tell(self, meant: StatedRule, scope: str | None = None) -> None:
        self.counted += 1
        self.totals.said += 1
        record = self._record(meant, scope or ("profile" if meant.last is None else "datespan"))
        meant = replace(meant, number=self.counted, uid=record.uid)
        self.session = self.session.with_thread(notice=None)
        heard = AddExtracted(**self._head(user=False), of=f"r{self.counted}", records=(record,))
        reading = MemoryReading(versions=self.store)
        self._take(*apply_understood(with_memory(self.session, reading, heard.at), reading, heard))
        if self.session.thread.notice is not None and DECLINED_BEFORE in self.session.thread.notice.lines:
            # Their very words were taken back once; now they mean it.
            self._do(JudgeConstraint(**self._head(), uid=record.uid, verdict="restore"))
        for question in self.session.rules.memory_questions:
            self._do(SettleConstraints(**self._head(), uids=question.uids, keep=question.uids[0]))
        self.means = [m for m in self.means if not m.same(meant)] + [meant]

    def _record(self, meant: StatedRule, scope: str) -> ConstraintRecord:
        """Return the record as a model reads it: the words of one language, the fields of all."""
        number = self.random.randrange(5)
        name = WORDS[meant.about][number].format(meant.hour if meant.about == "sleep" else f"{meant.hour}:00")
        document = {
            "name": name,
            "description": f"{name}.",
            "necessity": "should",
            "status": "proposed",
            "scope": scope,
            "confidence": 0.9,
            "applicability": {
                "start_date": meant.first and meant.first.isoformat(),
                "end_date": meant.last and meant.last.isoformat(),
                "days_of_week": list(meant.days),
                "timezone": TZ,
            },
            **_FIELDS[meant.about](meant.hour),
        }
        record = read_record(document)
        return record.with_uid(compute_uid(record, USER, self.session.id))

    def _judge_rule(self, meant: StatedRule, verdict: str) -> None:
        row = self._row_of(meant)
        if row is not None:
            self._do(JudgeConstraint.model_validate({**self._head(), "uid": row.uid, "verdict": verdict}))
        self.means = [m for m in self.means if m is not meant]

    def _row_of(self, meant: StatedRule) -> Version | None:
        mine = self._in_force()
        like = self._record(meant, "profile" if meant.last is None else "datespan")
        dates = (meant.first, meant.last)
        rows = [
            v
            for v in mine
            if self._is(v.record, meant)
            and (v.record.applicability.start_date, v.record.applicability.end_date) == dates
            # One for all days may have been narrowed since.
            and ((v.record.applicability.days_of_week == WEEKEND) == (meant.days == WEEKEND))
        ]
        return next((v for v in rows if means_the_same(v.record, like)), rows[0] if rows else None)

    def _do(self, command: Any) -> None:
        reading = MemoryReading(versions=self.store)
        session = with_memory(self.session, reading, command.at)
        out = run_stage(
            StageInput(
                session=session,
                asked=Move.STAY,
                command=command,
                cause=command.command_id,
                now=command.at,
                memory=reading,
            )
        )
        self._take(out.session, out.effects)

    def _take(self, session: Session, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            assert isinstance(effect, WriteMemory)
            self._write(effect.versions)
        self.session = with_memory(session, MemoryReading(versions=self.store), session.touched_at)

    def _write(self, versions: tuple[Version, ...]) -> None:
        first = len(self.store) + 1
        self.store += tuple(v.model_copy(update={"seq": first + n}) for n, v in enumerate(versions))

    def _tidy(self) -> None:
        now = self._now()
        context = Context(user_id=USER, as_of=self.day, now=now, timezone=TZ)
        self._write(build_tidy_versions(self.store, context, now))

    # --- what is meant, and what is followed ---

    def _lives(self, meant: StatedRule) -> bool:
        return meant.last is None or meant.last >= self.day

    def _find_required(self) -> list[StatedRule]:
        covering = [m for m in self.means if m.covers(self.day)]
        latest = {m.about: m for m in covering if m.about in ONE_AT_A_TIME}
        return [*latest.values(), *(m for m in covering if m.about not in ONE_AT_A_TIME)]

    def _judge(self) -> None:
        reading = MemoryReading(versions=self.store)
        self.session = with_memory(self.session, reading, self._now())
        followed = [item.record for item in rules_in_force(self.session).applicable]
        left = list(followed)
        for meant in self._find_required():
            self.totals.required += 1
            found = [record for record in left if self._is(record, meant)]
            if found:
                self.totals.recalled += 1
                self.totals.twice += len(found) - 1
                if len(found) > 1:
                    self.totals.missing.append(f"{self.day} twice {[r.name for r in found]}")
                left = [record for record in left if record not in found]
            else:
                self.totals.missing.append(f"{self.day} {meant} in {[r.name for r in followed]}")
        self.totals.stale += len(left)
        if left:
            self.totals.missing.append(f"{self.day} stale {[r.name for r in left]}")
        self.totals.active += len(followed)
        self.totals.most = max(self.totals.most, len(followed))

    def _is(self, record: ConstraintRecord, meant: StatedRule) -> bool:
        like = read_record({"name": "x", **_FIELDS[meant.about](meant.hour)})
        return (record.payload, record.applies_event_types) == (like.payload, like.applies_event_types)

    # --- conversations ---

    def _morning(self) -> Session:
        now = datetime.combine(self.day, time(7), UTC)
        self._minute = 0
        return Session(
            id=f"s{self.day}", user_id=USER, channel="C", created_at=now, touched_at=now, tz=TZ, date=self.day
        )

    def _now(self) -> datetime:
        self._minute += 1
        return datetime.combine(self.day, time(7), UTC) + timedelta(minutes=self._minute)

    def _head(self, *, user: bool = True) -> dict[str, Any]:
        self.counted += 1
        head: dict[str, Any] = {"command_id": f"c{self.counted}", "session_id": self.session.id, "at": self._now()}
        return head | {"user_id": USER} if user else head

    def _one_of(self, things: tuple[T, ...] | list[T]) -> T:
        return self.random.choice(things)


def _slot(slot: str, rule_kind: str | None, kind: str, start: str, end: str) -> dict[str, Any]:
    window = {"kind": kind, "start": start, "end": end}
    return {"aspect": {"aspect_id": slot, "frame_slot": slot}, "payload": {"rule_kind": rule_kind, "windows": [window]}}


_FIELDS: dict[str, Callable[[int], dict[str, Any]]] = {
    "bedtime": lambda h: _slot("bedtime", "fixed_bedtime", "prefer", f"{h:02}:00", "06:00"),
    "work_end": lambda h: (
        _slot("work_end", "avoid_window", "avoid", f"{h:02}:00", "23:00") | {"applies_event_types": ["DW", "SW"]}
    ),
    "lunch": lambda h: _slot("lunch", "prefer_window", "prefer", f"{h:02}:00", f"{h:02}:45"),
    "sleep": lambda h: {"payload": {"rule_kind": "min_sleep", "scalar_params": {"duration_min": h * 60}}},
    "calls": lambda h: {
        "payload": {"rule_kind": "avoid_window", "windows": [{"kind": "avoid", "start": "00:00", "end": f"{h:02}:00"}]},
        "applies_event_types": ["M"],
    },
    "habit": lambda h: {
        "payload": {
            "rule_kind": "prefer_window",
            "windows": [{"kind": "prefer", "start": f"{h:02}:00", "end": f"{h:02}:50"}],
        },
        "applies_event_types": ["H"],
    },
}


if __name__ == "__main__":
    import sys

    given = [int(each) for each in sys.argv[1:]]
    for seed in range(given[1] if len(given) > 1 else 1):
        life = ConstraintHistory(seed)
        sys.stdout.write(f"seed {seed}: {life.run(given[0] if given else 1000)}\n")
        sys.stdout.write("".join(f"    {line}\n" for line in life.totals.missing[:8]))
