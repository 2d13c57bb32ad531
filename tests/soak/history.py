"""One history of one person, one calendar and a program in trouble: played step by step, and judged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any, Protocol, TypeVar

from tests.factories.trouble import ProcessDied
from tests.fakes.caldav_calendar import InlineExecutor
from tests.fakes.google_calendar import Answer, CallFailure, Fault, LateWrite, LostAnswer, Race, When
from tests.soak.caldav import LateCalDav
from tests.soak.days import Setting, as_given, as_html, fits, repair_plan, some_block, some_timing
from tests.soak.edits import CalendarEdits
from tests.soak.oracle import FIELDS, UNWRITABLE, Command, Oracle, Shape, key_of, shape_of
from tests.soak.outlook import LateOutlook
from tests.soak.watched import (
    Clock,
    LateCalendar,
    LateGoogle,
    LateGoogleCalendar,
    ProcessLife,
    SeenCalendar,
    SeenJournal,
    WatchedStore,
)

from fateforger.calendar.access import CommitContext, Limits
from fateforger.calendar.adoption import adopt_changes
from fateforger.calendar.conflicts import Choices
from fateforger.calendar.engine import build_desired_day, number_ops, plan_sync
from fateforger.calendar.model import SafetyCheckKind, Snapshot, SyncPlan
from fateforger.calendar.ports import Journal, Limited, Unauthorized, Unknown
from fateforger.calendar.results import SyncResult
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.calendar.transactions import Transaction, TxState
from fateforger.conversation.calendar_reads import predict_snapshot, update_ledger, without_raw
from fateforger.errors import CalendarError, ConfirmationNeeded, NotUndoable, StoreError
from fateforger.planning.plan import TBPlan

T = TypeVar("T")
Act = Callable[[CalendarSubmitter], Awaitable[SyncResult]]
BEGIN = timedelta(hours=6)
SETTLE_ROUNDS = 5
LATE = "/late"
"""Suffix of the cause of a transaction that takes back a create which arrived after its undo."""
MOST_UNDOS = 60


class Engine(Protocol):
    """Makes what writes to the calendar, of the ports of one process."""

    def __call__(self, outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter: ...


@dataclass(frozen=True)
class Step:
    """One thing that happens. All that is left to chance in it comes from ``seed``, so that a history from which steps
    were dropped does the rest as before."""

    kind: str
    seed: int

    def __str__(self) -> str:
        return f"{self.kind}.{self.seed}"


@dataclass
class PendingCommand:
    """A command on its way: what was asked, how it is carried out, and the plan before and after in the thread."""

    command: Command
    act: Act
    before: TBPlan
    kept: bool = True
    yes: list[SafetyCheckKind] = field(default_factory=list)
    targets: Sequence[Transaction] = ()


@dataclass
class History:
    """The world of one history. ``log`` tells it to a person."""

    name: str
    setting: Setting
    journal: Journal
    engine: Engine
    loop: asyncio.AbstractEventLoop
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        microsoft = self.setting.kind == "microsoft"
        self.truth = Oracle(self.setting.conditional, UNWRITABLE | {"attendees"} if microsoft else UNWRITABLE)
        self.clock = Clock(self.setting.start + BEGIN)
        self.calendar = self._open_calendar(f"soak/{self.name}")
        assert isinstance(self.calendar.store, WatchedStore)
        self.store = self.calendar.store
        self.clock.tick = self.calendar.land
        self.edits = CalendarEdits(self.setting, self.store, self.truth)
        self.plan = self.setting.plan_of(())
        self.commands: dict[str, Command] = {}
        self.plans: dict[str, TBPlan] = {}
        self.snapshot: Snapshot | None = None
        self.minted: dict[str, str] = {}
        self.unfinished: list[PendingCommand] = []
        self.process: CalendarSubmitter | None = None
        self.life = ProcessLife()
        self.crowded = False
        self.numbers = 0
        self.blocks = 0
        self.group = "g0"

    def _open_calendar(self, key: str) -> LateGoogleCalendar:
        if self.setting.kind == "microsoft":
            return LateOutlook.over(self.setting, self.truth, key, self.clock)
        if self.setting.kind == "caldav":
            self.loop.set_default_executor(InlineExecutor())
            return self._run(LateCalDav.over(self.setting, self.truth, key, self.clock))
        normalize = as_html if self.setting.html else as_given
        store = WatchedStore(self.setting.tz, normalize, self.setting.lag, truth=self.truth)
        if self.setting.kind == "google":
            return LateGoogle(store, key=key, clock=self.clock)
        return LateCalendar(store, key=key, conditional_write=self.setting.conditional, clock=self.clock)

    def close(self) -> None:
        self._run(self.calendar.aclose())

    # --- steps ---

    def play(self, steps: Sequence[Step]) -> None:
        """Play all steps up to the first breach, then a rest."""
        for step in steps:
            self.log.append(f"-- {step}")
            getattr(self, f"step_{step.kind}")(Random(step.seed))
            if self.truth.breaches:
                return
        self.log.append("-- rest")
        self.step_rest(Random(0))

    def step_day(self, rng: Random) -> None:
        """Add meetings, and submit a first plan."""
        for _ in range(rng.randrange(5)):
            self.edits.act(rng, "new")
        self._plan(rng, rng.randint(2, 8))

    def step_plan(self, rng: Random) -> None:
        self._plan(rng, rng.randint(1, 3))

    def step_hand(self, rng: Random) -> None:
        self._hand(rng)

    def step_submit(self, rng: Random) -> None:
        if rng.random() < 0.5:
            self._plan(rng, rng.randint(1, 3))
        if rng.random() < 0.3:
            self.group = f"g{self._number()}"
        looked = rng.random() < 0.5 and self._look(rng)
        if looked and rng.random() < 0.5:
            self._plan(rng, rng.randint(1, 2))
        self._command(self._submit(rng, prefer_plan=looked), rng)

    def step_look(self, rng: Random) -> None:
        self._look(rng)

    def step_undo(self, rng: Random) -> None:
        asked = self._undo(rng)
        if asked is not None:
            self._command(asked, rng)

    def step_empty(self, rng: Random) -> None:
        """Undo without faults until there is nothing to undo; no event of the program is left."""
        self.calendar.clear()
        self.step_wait(rng)
        if not self._ready(rng):
            return
        assert self.process is not None
        for _ in range(MOST_UNDOS):
            command = self._register(self.truth.undoes(f"undo{self._number()}", force=False))
            end = self._run(_catch(self.process.undo_last(cause=command.name)))
            self.log.append(f"{command.name}: {getattr(end, 'status', end)}")
            if isinstance(end, NotUndoable):
                self.truth.check_emptied(command, given_away=self._given_away)
                return
            self._record_end(PendingCommand(command, _nothing, self.plan), end)
            if isinstance(end, BaseException):
                return
        self.truth.breach("left", "there is always one more to undo")

    def step_two(self, rng: Random) -> None:
        """Let a second writer write at the same time."""
        second = self._undo(rng) if rng.random() < 0.5 else None
        both = [self._submit(rng, prefer_plan=False), second or self._submit(rng, prefer_plan=False)]
        if self.setting.sql:
            for asked in both:
                self._command(asked, rng, calm=True)
            return
        if not self._ready(rng):
            return
        other = self._process(ProcessLife(), "other", rng)
        self._race(rng)
        first = self.process
        assert first is not None
        self.log.append(f"{both[0].command.name} and {both[1].command.name} at once")

        async def finish(asked: PendingCommand, submitter: CalendarSubmitter) -> None:
            self._record_end(asked, await _catch(asked.act(submitter)))

        async def together() -> None:
            await asyncio.gather(*(finish(a, s) for a, s in zip(both, (first, other), strict=True)))

        self.crowded = True
        self._run(together())
        self.crowded = False
        self.calendar.clear()

    def step_wait(self, rng: Random) -> None:
        self.clock.instant += timedelta(minutes=rng.choice((1, 5, 14, 16, 60, 300)))
        self.calendar.land()

    def step_restart(self, rng: Random) -> None:
        self._die()
        self._ready(rng)

    def step_rest(self, rng: Random) -> None:
        """Finish open work without faults; the same plan again writes nothing."""
        self.calendar.clear()
        self.clock.instant += timedelta(seconds=6)
        self.calendar.land()
        self._die()
        if not self._ready(rng):
            self.truth.breach("unsettled", "nothing is wrong, but the program does not start")
            return
        for _ in range(SETTLE_ROUNDS):
            self._look(rng)
            self._think(repair_plan(self.plan, rng))
            plan, writes = self.plan, self.truth.counts["writes"]
            result = self._quiet(self._submit(rng, prefer_plan=True))
            if result is not None and result.status == "unchanged" and plan == self.plan and not result.transactions:
                break
        else:
            self.truth.breach("plan", f"the same plan writes again and again: {result and result.sentences}")
        if self.truth.counts["writes"] != writes:
            self.truth.breach("plan", "an unchanged plan was written")
        self._judge()

    # --- the person in the thread ---

    def _plan(self, rng: Random, changes: int) -> None:
        for _ in range(changes):
            for _ in range(8):
                plan = self._change_plan(rng)
                if fits(plan):
                    self._think(plan)
                    break

    def _change_plan(self, rng: Random) -> TBPlan:
        events = list(self.plan.events)
        what = rng.random()
        if not events or what < 0.35:
            self.blocks += 1
            events.insert(rng.randrange(len(events) + 1), some_block(rng, self.blocks))
            return self.plan.replace(events)
        at = rng.randrange(len(events))
        if what < 0.6:
            events[at] = events[at].model_copy(update={"timing": some_timing(rng)})
        elif what < 0.7:
            events[at] = events[at].model_copy(update={"name": f"Write another {self._number()}"})
        elif what < 0.8:
            events[at] = events[at].model_copy(update={"description": f"notes {self._number()}"})
        elif what < 0.85 and len(events) > 1:
            events[at], events[at - 1] = events[at - 1], events[at]
        else:
            del events[at]
        return self.plan.replace(events)

    def _think(self, plan: TBPlan) -> None:
        if plan != self.plan:
            self.plan = plan
        self.truth.thinks(self._wish())

    def _wish(self) -> Mapping[str, Shape]:
        blocks = build_desired_day(self.plan, overlapping=True).blocks
        return {b.key: shape_of(self.store.normalize(b.fields)) for b in blocks}

    def _look(self, rng: Random) -> bool:
        """Read the day, take changes over into the plan and tell the person.

        Tell the engine if that takes no write, as the coordinator does before a change.
        """
        if not self._ready(rng):
            return False
        assert self.process is not None
        try:
            snapshot, ledger = self._run(self.process.read(self.setting.day, self.setting.tz))
        except CalendarError:
            return False
        seen = without_raw(snapshot)
        wanted = build_desired_day(self.plan, overlapping=True)
        known = update_ledger(ledger, wanted, self.snapshot)
        compared = plan_sync(wanted, snapshot, known, op_ids=number_ops("look"))
        if not compared.brakes:
            fresh = {op.key for op in compared.ops if self._is_news(op.event_id, seen)}
            adopted = tuple(a for a in compared.adopted if a.key in fresh)
            self._take_over(compared.model_copy(update={"adopted": adopted}))
        self.snapshot = seen
        if compared.adopted:
            note = self._register(self.truth.submits(f"note{self._number()}", prefer_plan=False))
            self._run(_catch(self.process.take_note(self.plan, cause=note.name)))
        self.log.append(f"looked; plan {sorted(self._wish())}")
        return True

    def _take_over(self, compared: SyncPlan) -> None:
        self._think(adopt_changes(self.plan, compared.adopted))

    def _is_news(self, event_id: str, now: Snapshot) -> bool:
        return self.snapshot is None or _find_shape(self.snapshot, event_id) != _find_shape(now, event_id)

    # --- commands ---

    def _submit(self, rng: Random, *, prefer_plan: bool) -> PendingCommand:
        self._think(repair_plan(self.plan, rng))
        plan, group, yes = self.plan, self.group, list[SafetyCheckKind]()
        command = self._register(self.truth.submits(f"submit{self._number()}", prefer_plan=prefer_plan))
        choices = Choices(otherwise="plan" if prefer_plan else rng.choice(("open", "calendar")))

        def act(submitter: CalendarSubmitter) -> Awaitable[SyncResult]:
            return submitter.submit_plan(plan, cause=command.name, group=group, confirmed=tuple(yes), choices=choices)

        return PendingCommand(command, act, self.plan, yes=yes)

    def _undo(self, rng: Random) -> PendingCommand | None:
        """Undo the last transaction, the group, or any transaction; the undo of an undo is a redo."""
        history = self._run(self.journal.history(self.calendar.key, limit=30))
        undoable = [t for t in history if t.undoable]
        if not undoable:
            return None
        force = rng.random() < 0.08
        command = self._register(self.truth.undoes(f"undo{self._number()}", force=force))
        which = rng.random()
        targets: list[Transaction] = []
        if which < 0.35:
            act: Act = lambda s: s.undo_last(cause=command.name, force=force)  # noqa: E731  one of three
        elif which < 0.55:
            group = undoable[0].group
            targets = [t for t in undoable if t.group == group]
            act = lambda s: s.undo_group(group, cause=command.name, force=force)  # noqa: E731  one of three
        else:
            targets = [rng.choice(undoable)]
            act = lambda s: s.undo_since(targets[0].id, cause=command.name, force=force)  # noqa: E731  one of three
        return PendingCommand(command, act, self.plan, kept=rng.random() < 0.5, targets=targets)

    def _register(self, command: Command) -> Command:
        self.commands[command.name] = command
        return command

    def _command_of(self, cause: str) -> Command:
        """Return the command that wrote. What a command removes because it arrived late was asked for by an undo."""
        if cause.endswith(LATE):
            return self.commands.get(cause) or self._register(self.truth.undoes(cause, force=False))
        return self.commands[cause]

    def _command(self, asked: PendingCommand, rng: Random, *, calm: bool = False) -> None:
        """Carry out a command, possibly with faults.

        When the process dies, the command is repeated at the next start or later, but before any other.
        """
        if not self._ready(rng):
            self.unfinished.append(asked)
            return
        if not calm:
            self._trouble(rng)
        while True:
            end = self._attempt(asked, rng)
            if isinstance(end, ConfirmationNeeded) and rng.random() < 0.6:
                continue
            if not isinstance(end, ProcessDied):
                break
            if rng.random() < 0.4:
                self.unfinished.append(asked)
                break
        if rng.random() < 0.7:
            self.calendar.clear()
        self.life.left = None
        if isinstance(self.calendar, LateCalDav):
            self.calendar.disarm_kill()

    def _kill(self) -> None:
        self.life.dead = True

    def _attempt(self, asked: PendingCommand, rng: Random) -> SyncResult | BaseException:
        if self.process is None and not self._ready(rng):
            return ProcessDied()
        assert self.process is not None
        end = self._run(_catch(asked.act(self.process)))
        self._record_end(asked, end)
        return end

    def _record_end(self, asked: PendingCommand, end: SyncResult | BaseException) -> None:
        name = asked.command.name
        match end:
            case SyncResult():
                self.log.append(f"{name}: {end.status}: {' '.join(end.sentences)}")
                if not self.setting.html:  # a calendar that rewrites text may look like a person
                    self.truth.blames(asked.command, end.sentences)
                whole, undecided = (
                    end.status in {"changed", "unchanged"},
                    [m.key for m in end.plan.merged if m.winner == "open"],
                )
                self.truth.record_answer(asked.command, end.sentences, whole=whole, asked_about=undecided)
                self._fold(asked, end)
                if end.status in {"changed", "undone", "unchanged"} and not self.crowded:
                    self.truth.single(asked.command.at)
            case ProcessDied():
                self.log.append(f"{name}: the process died")
                self._die()
            case ConfirmationNeeded():
                self.log.append(f"{name}: {end}")
                asked.yes += [SafetyCheckKind(reason) for reason in end.reasons]
                asked.command.agreed |= set(end.reasons)
            case CalendarError() | NotUndoable() | StoreError():
                self.log.append(f"{name}: {type(end).__name__}: {end}")
            case _:
                raise end

    def _fold(self, asked: PendingCommand, result: SyncResult) -> None:
        """Update the thread's plan from a result.

        A submit takes over the person's own changes. An undo leaves the plan, or restores the earlier one.
        """
        self.snapshot = predict_snapshot(self.snapshot, result)
        if asked.command.kind == "submit":
            for transaction in result.transactions:
                self.plans.setdefault(transaction.id, asked.before)
            self._take_over(result.plan)
        elif not asked.kept and asked.targets and asked.targets[-1].id in self.plans:
            self._think(self.plans[asked.targets[-1].id])

    def _quiet(self, asked: PendingCommand) -> SyncResult | None:
        """Run a command without faults."""
        assert self.process is not None
        end: SyncResult | BaseException = ConfirmationNeeded("", reasons=())
        while isinstance(end, ConfirmationNeeded):
            end = self._run(_catch(asked.act(self.process)))
            self._record_end(asked, end)
        return end if isinstance(end, SyncResult) else None

    # --- the program ---

    def _ready(self, rng: Random) -> bool:
        """Make sure that a program runs, has settled interrupted writes, and has done its waiting work."""
        if self.process is not None:
            return True
        self.clock.instant += timedelta(seconds=rng.uniform(0.2, 3))
        self.calendar.land()
        self.life = ProcessLife()
        self.calendar.restart()
        process = self._process(self.life, "main", rng)
        results = self._run(_catch(process.recover()))
        if isinstance(results, BaseException):
            self.log.append(f"recover: {type(results).__name__}: {results}")
            if not isinstance(results, ProcessDied | CalendarError | StoreError):
                raise results
            return False
        for result in results:
            self.log.append(f"recover: {result.status}: {' '.join(result.sentences)}")
            for transaction in result.transactions:
                self._command_of(transaction.cause).words.extend(result.sentences)
        self.process = process
        waiting, self.unfinished = self.unfinished, []
        for n, asked in enumerate(waiting):
            if isinstance(self._attempt(asked, rng), ProcessDied):
                self.unfinished = [*waiting[n:], *self.unfinished]
                break
        return self.process is not None

    def _process(self, life: ProcessLife, owner: str, rng: Random) -> CalendarSubmitter:
        journal = SeenJournal(self.journal, life, self.truth, self._command_of)
        calendar = SeenCalendar(self.calendar, journal, self.clock, Random(rng.random()), self.minted)
        outside = CommitContext(
            calendar,
            journal,
            self.clock,
            self.clock.sleep,
            Random(rng.random()).random,
            Limits(concurrency=self.setting.concurrency),
        )
        return self.engine(outside, owner=owner, new_id=lambda: f"{self.name}-t{self._number()}")

    def _die(self) -> None:
        self.life.dead = True
        self.process = None

    # --- trouble ---

    def _trouble(self, rng: Random) -> None:
        what = rng.random()
        if what < 0.25 and isinstance(self.calendar, LateCalDav) and rng.random() < 0.5:
            self.log.append(self.calendar.arm_kill(self._kill, rng))
        elif what < 0.25:
            self.life.left = rng.randrange(60)
            self.log.append(f"will die after {self.life.left} steps")
        if 0.2 < what < 0.45:
            for _ in range(rng.randint(1, 4)):
                fault, at = _some_fault(rng), len(self.calendar.calls) + rng.randrange(14)
                self.calendar.inject(fault, at=at)
                self.log.append(f"call {at} meets {fault}")
            self.log.append(self.calendar.trouble(rng))
        if 0.4 < what < 0.6:
            self._race(rng)

    def _race(self, rng: Random) -> None:
        """Let the person use the calendar at the same time as the program."""
        for _ in range(rng.randint(1, 3)):
            when: When = rng.choice(("before", "after"))
            hook = partial(self._hand, Random(rng.random()))
            if isinstance(self.calendar, LateOutlook) and rng.random() < 0.5:
                self.calendar.emulator.interrupt(hook, at=len(self.calendar.emulator.requests) + rng.randrange(20))
            else:
                self.calendar.inject(Race(hook, when), at=len(self.calendar.calls) + rng.randrange(14))

    def _hand(self, rng: Random) -> None:
        self.log.append(f"by hand: {self.edits.act(rng)}")

    # --- judging ---

    def _judge(self) -> None:
        open_ones = self._run(self.journal.list_unsettled(self.calendar.key))
        if open_ones:
            self.truth.breach("unsettled", f"{[(t.id, t.state.value) for t in open_ones]}")
        history = self._run(self.journal.history(self.calendar.key, limit=10_000))
        if any(not r.state.is_settled for t in history if t.state is not TxState.PAUSED for r in t.records):
            self.truth.breach("unsettled", "an op has not ended")
        self.truth.at_rest(self.store.events)
        self.truth.check_named()
        self._compare()

    def _compare(self) -> None:
        """Check that the calendar shows the plan, except for the person's own changes."""
        live = self.truth.live.keys() - self.truth.restored.keys()
        ours = {i: e for i, e in self.truth.live.items() if i in live and not self.store.events[i].gone}
        found: set[str] = set()
        for key, block in self.truth.wish.items():
            events = [e for e in ours.values() if key_of(e) == key] or [
                e for e in ours.values() if shape_of(e) == block and e.id not in found
            ]
            if not events:
                if not self._stood_for(block):
                    self.truth.breach("plan", f"block {key} is not on the calendar: {dict(block)}")
                continue
            found.add(events[0].id)
            shown = shape_of(events[0])
            differ = [n for n in FIELDS if shown[n] != block[n] and (events[0].id, n) not in self.truth.edits]
            kept = events[0].id in self.truth.touched and self._was_said(
                f"You changed “{events[0].summary}” on your calendar"
            )
            if differ and not kept and events[0].id not in self.truth.obstructed:
                self.truth.breach("plan", f"block {key} shows another {differ}: {shown} for {dict(block)}")
        for event_id in ours.keys() - found - self.truth.touched:
            brought_back = self.truth.transactions[self.truth.made[event_id]].command.kind == "undo"
            if not (brought_back and self._was_said("I left “")) and not any(
                self._given_away(title) for title in self.truth.titles[event_id]
            ):
                self.truth.breach("plan", f"“{ours[event_id].summary}” is on the calendar, but not in the plan")

    def _given_away(self, title: str) -> bool:
        """Check whether the thread gave the person an event that they never touched.

        One case is known: the answer to a write was lost, and the calendar then rewrote the event.
        """
        said = (
            f"I left “{title}”",
            f"I kept what you changed of “{title}”",
            f"“{title}”: It is no longer in the plan, but you changed it on your calendar",
        )
        return self.setting.html and any(map(self._was_said, said))

    def _was_said(self, what: str) -> bool:
        """Check whether the thread has ever shown this text."""
        return any(what in words for command in self.commands.values() for words in command.words)

    def _stood_for(self, block: Shape) -> bool:
        """Check for an event of the person's own at the block's time, or nearly so."""
        near = timedelta(minutes=20)
        others = [self.store.events[i] for i in (*self.truth.theirs, *self.truth.touched)]
        timed = [e for e in others if not e.gone and e.is_timed]
        return any(e.start < block["end"] + near and e.end > block["start"] - near for e in timed)

    # --- plumbing ---

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


def _find_shape(snapshot: Snapshot, event_id: str) -> Shape | None:
    seen = {**snapshot.fetched, **{event.id: event for event in snapshot.events}}
    event = seen.get(event_id)
    return None if event is None or event.gone else shape_of(event)


async def _nothing(submitter: CalendarSubmitter) -> SyncResult:
    raise NotUndoable("This was carried out already.")


async def _catch(work: Awaitable[T]) -> T | BaseException:
    try:
        return await work
    except (ProcessDied, Exception) as error:  # noqa: BLE001  told apart by the caller
        return error


def _some_fault(rng: Random) -> Fault:
    return rng.choice((
        Answer(Unknown("reset")), LostAnswer(), LostAnswer(), LateWrite(), LateWrite(), Answer(Limited(2.0)),
        Answer(Limited(None)), Answer(Limited(45.0)), Answer(Unauthorized("expired")), CallFailure(),
    ))  # fmt: skip
