"""The Microsoft adapter in the soak: the witness sees each write where it takes effect, in the mailbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any, Self

from tests.emulators.microsoft.emulator import ANN, Fault, MicrosoftEmulator
from tests.emulators.microsoft.mailbox import Item, Mailbox
from tests.fakes.google_calendar import Verb
from tests.fakes.outlook_calendar import OutlookCalls, OutlookStore
from tests.soak.days import Setting, as_given, as_html
from tests.soak.oracle import Oracle
from tests.soak.watched import Clock, LateCalendar, WatchedStore, transaction_of

from fateforger.calendar.event import EventFields

FAULTS = (
    Fault("lost"), Fault("lost", after=True), Fault("lost", after=True), Fault("late"), Fault("late", calls=2), Fault("late", calls=3),
    Fault(429, retry_after=2), Fault(503, retry_after=40), Fault(504, after=True), Fault(500), Fault(401),
    Fault(412, code="ErrorIrresolvableConflict"),
)  # fmt: skip


Normalize = Callable[[EventFields], EventFields]
_NOTES = EventFields(summary="", start=datetime.min.replace(tzinfo=UTC), end=datetime.min.replace(tzinfo=UTC))


class WatchedMailbox(OutlookStore, WatchedStore):
    """Tells the witness every write through Graph."""

    def __init__(self, mailbox: Mailbox, time_zone: str, normalize: Normalize, truth: Oracle) -> None:
        OutlookStore.__init__(self, mailbox, time_zone)
        self.normalize = normalize
        self.truth, self.deleting = truth, {}
        mailbox.watch = self._tell

    def _tell(self, before: Item | None, after: Item | None) -> None:
        if after is None:
            assert before is not None
            image = self.show(before)
            self._witness.record_delete(self.deleting[image.id], image)
            return
        image = self.show(after)
        by = transaction_of(image.properties["ffo"])
        if before is None:
            self._witness.record_insert(by, image)
        else:
            self._witness.record_patch(by, self.show(before), image)


class LateOutlook(OutlookCalls, LateCalendar):
    """As late as the other calendar, and with faults of single requests."""

    @classmethod
    def over(cls, setting: Setting, truth: Oracle, key: str, clock: Clock) -> Self:
        normalize = as_html if setting.html else as_given
        mailbox = Mailbox(
            setting.tz, rewrite=lambda notes: normalize(_NOTES.model_copy(update={"description": notes})).description
        )
        emulator = MicrosoftEmulator(lambda: clock.now().timestamp(), {ANN: mailbox})
        store = WatchedMailbox(mailbox, setting.tz, normalize, truth)
        calendar = cls(store, key=key, conditional_write=True, clock=clock)
        calendar.open(emulator)
        return calendar

    def trouble(self, rng: Random) -> str:
        """Let some of the next requests meet a fault."""
        met = [(len(self.emulator.requests) + rng.randrange(20), rng.choice(FAULTS)) for _ in range(rng.randint(1, 3))]
        for at, fault in met:
            self.emulator.inject(fault, at=at)
        return f"requests {met}"

    def clear(self) -> None:
        super().clear()
        self.emulator.calm()

    async def _read(self, verb: Verb, event_id: str | None, arguments: dict[str, Any], effect: Any) -> Any:
        result = await super()._read(verb, event_id, arguments, effect)
        assert isinstance(self.store, WatchedMailbox)
        self.store._witness.record_look([result] if verb == "get" and result is not None else result or [])
        return result
