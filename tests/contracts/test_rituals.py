"""The store of messages at chosen times: one mark for each, in one commit with its job."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, time, timedelta

from fateforger.adapters.store.connections import Vault, new_key
from fateforger.adapters.store.installations import SqlInstallations
from fateforger.adapters.store.store import Store
from fateforger.conversation.rituals.schedule import Due, RitualSettings
from fateforger.ports.jobs import NewJob
from fateforger.slack.admission import Standing
from fateforger.slack.installations import Installation
from fateforger.values import replace

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DAY = date(2026, 3, 2)
DUE = Due("morning", DAY, NOON, NOON + timedelta(hours=1))
JOB = NewJob("letter", "D1 None", "ritual/U1/morning", {"card": "Good morning"})
FIRST = RitualSettings(user_id="U1", channel="D1", tz="Europe/Amsterdam", since=NOON, morning=time(9))
Both = tuple[Store, Store]


async def test_a_choice_is_kept_and_its_versions_are_counted(both: Both) -> None:
    one, other = both
    assert await one.rituals.of("U1") is None
    kept = await one.rituals.change("U1", lambda before: before or FIRST)
    assert (kept, await other.rituals.of("U1")) == (replace(FIRST, version=1), kept)
    later = await other.rituals.change("U1", lambda before: replace(before or FIRST, morning=None))
    assert (later.version, later.morning) == (2, None)
    await one.rituals.change("U2", lambda _before: replace(FIRST, user_id="U2"))
    assert [each.settings.user_id for each in await other.rituals.list_due(NOON, limit=9)] == ["U1", "U2"]


async def test_of_two_programs_one_sends(both: Both) -> None:
    """S296: the job is there if and only if the mark is."""
    one, other = both
    kept = await one.rituals.change("U1", lambda _before: FIRST)
    marked = await asyncio.gather(
        *(store.rituals.mark(kept, DUE, "sent", now=NOON, job=replace(JOB, dedupe=JOB.dedupe + str(n)))
          for n, store in enumerate((one, other, one)))
    )  # fmt: skip
    assert sorted(marked) == [False, False, True]
    assert await other.rituals.find_marks("U1", DAY) == {("morning", DAY)}
    assert await other.rituals.find_marks("U1", DAY + timedelta(days=1)) == frozenset()
    assert await one.jobs.claim("letter", "w", now=NOON, lease_seconds=9) is not None
    assert await other.jobs.claim("letter", "w2", now=NOON, lease_seconds=9) is None


async def test_a_choice_that_has_changed_sends_nothing(both: Both) -> None:
    """S296: a person who stops the messages gets none that was made before, and an erased person is not known again."""
    one, other = both
    kept = await one.rituals.change("U1", lambda _before: FIRST)
    changed = await other.rituals.change("U1", lambda before: replace(before or FIRST, morning=None))
    assert not await one.rituals.mark(kept, DUE, "sent", now=NOON, job=JOB)
    await other.people.erase("U1", now=NOON)
    assert not await one.rituals.mark(changed, DUE, "late", now=NOON)
    assert await one.rituals.find_marks("U1", DAY) == frozenset()
    assert await one.jobs.claim("letter", "w", now=NOON, lease_seconds=9) is None


async def find_due(store: Store) -> list[str]:
    return sorted(each.settings.user_id for each in await store.rituals.list_due(NOON, limit=9))


async def test_nobody_is_sent_anything_where_slack_cannot_reach_them(both: Both) -> None:
    """S343: not where the app was removed, until it is back, and not to a deactivated account."""
    one, other = both
    installations = SqlInstallations(one.database, Vault(new_key()))
    for tenant in ("T1", "T2"):
        await installations.keep(Installation(tenant, tenant, tenant, NOON, token="xoxb-1"))
    for user_id in ("U1", "U2", "T2/U1"):
        await one.rituals.change(user_id, lambda _before, user_id=user_id: replace(FIRST, user_id=user_id))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    await one.standings.keep("U2", Standing.DEACTIVATED)
    assert await find_due(other) == ["T2/U1", "U1"]
    await installations.end("T2", at=NOON)
    assert await find_due(other) == ["U1"]
    await installations.keep(Installation("T2", "T2", "T2", NOON, token="xoxb-2"))
    await installations.end("T1", at=NOON)
    assert await find_due(other) == ["T2/U1"]
