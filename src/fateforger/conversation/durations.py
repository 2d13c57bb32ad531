"""Observed lengths of tasks, kept up to date with the person's days and corrected by the person."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.session.lengths import observe
from fateforger.session.model import Session
from fateforger.session.queue_commands import CorrectDuration, ForgetDuration
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.durations import Estimate, correct_ratio, estimate_kinds, find_named, format_ratio, name_of
from fateforger.tasks.ports import Durations
from fateforger.text import gettext as _


@dataclass(frozen=True, slots=True)
class DurationService:
    """Keeps a person's observed durations up to date with their sessions. All methods raise ``StoreError``."""

    durations: Durations

    async def estimates(self, user_id: str) -> tuple[Estimate, ...]:
        """Return an estimate of each kind of task that is known well enough."""
        return estimate_kinds(await self.durations.of(user_id))

    async def find_for(self, session: Session) -> tuple[Estimate, ...] | None:
        """Return the estimates for a day that is not refined yet; ``None`` for any other, which keeps those it has."""
        return (
            await self.estimates(session.user_id) if session.stage.number <= TimeboxingStage.SKELETON.number else None
        )

    async def follow(self, before: Session, after: Session) -> None:
        """Store what a change of a session shows about its tasks, and delete what it no longer shows.

        Observations that the change leaves as they are may have been forgotten, and stay so.
        """
        was, now = {each.id: each for each in observe(before)}, {each.id: each for each in observe(after)}
        kept = [each for name, each in now.items() if was.get(name) != each]
        await self.durations.keep(after.user_id, kept, gone=sorted(was.keys() - now.keys()))

    async def correct(self, command: CorrectDuration | ForgetDuration) -> str:
        """Replace or forget what is known about a kind of task, and return a sentence about it."""
        known = find_named(await self.durations.of(command.user_id), command.name)
        name = name_of(command.name)
        if isinstance(command, ForgetDuration):
            await self.durations.keep(command.user_id, (), gone=[each.id for each in known])
            return _("I forgot how long “{name}” takes you.", name=name)
        own = correct_ratio(command.name, command.percent / 100, command.at.date())
        await self.durations.keep(command.user_id, [own])
        ratio = format_ratio(own.ratio)
        return _("From now on I plan {ratio} times as long for “{name}”.", name=name, ratio=ratio)
