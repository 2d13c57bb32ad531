"""Constraints moved from one place to the other, both as they are (S38): repeated, cut off, and taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.mirror import mirror_file
from tests.factories.notion import TbDatabases
from tests.fakes.memory_constraints import MemoryConstraints
from tests.fakes.notion_server import TOKEN, Failure, NotionServer, notion_server

from fateforger.app.migration import Report, migrate, open_notion_source, open_sqlite_source, take_back
from fateforger.config import Settings
from fateforger.errors import BadInput, SourceUnavailable, StoreUnavailable, VersionConflict
from fateforger.memory.ports import Constraints
from fateforger.memory.versions import Version, select_newest
from fateforger.memory.vocabulary import Status

ALEX = "U0ALEX"
RULES = [{"hints": f'{{"uid": "tb_{number:04}"}}'} for number in range(500)]


def silent(_: str, __: int, ___: int | None) -> None: ...


async def run_migration(path: Path, constraints: Constraints, **asked: Any) -> Report:
    asked = {"user_id": None, "apply": True, "progress": silent, **asked}
    async with open_sqlite_source(path) as source:
        return await migrate(source, constraints, **asked)


async def from_notion(server: NotionServer, constraints: Constraints, **asked: Any) -> Report:
    settings = Settings(_env_file=None, notion_token=TOKEN, notion_url=server.url)
    asked = {"user_id": ALEX, "apply": True, "progress": silent, **asked}
    async with open_notion_source(settings, databases=(), columns=()) as source:
        return await migrate(source, constraints, **asked)


class FailingConstraints(MemoryConstraints):
    """Its disk fails with the ``after``-th write from now on."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        if self.after == 0:
            raise StoreUnavailable("The disk is full.")
        self.after -= 1
        return await super().write(versions, cause=cause, expected=expected)


async def test_dry_run_writes_nothing_and_apply_once(tmp_path: Path) -> None:
    """S38: a dry run is the default, a second run writes nothing, and the progress is reported."""
    path, store = mirror_file(tmp_path / "old.db", *RULES), MemoryConstraints()
    report = await run_migration(path, store, apply=False)
    assert (len(report.rows), report.written, await store.of(ALEX)) == (500, 0, ())
    steps: list[tuple[str, int, int | None]] = []
    report = await run_migration(path, store, progress=lambda *step: steps.append(step))
    assert (report.user_id, report.written, len(await store.of(ALEX))) == (ALEX, 500, 500)
    assert steps[499:] == [
        ("reading SQLite", 500, None),
        ("writing", 200, 500),
        ("writing", 400, 500),
        ("writing", 500, 500),
    ]
    report = await run_migration(path, store)
    assert (report.written, {row.outcome.value for row in report.rows}, len(await store.of(ALEX))) == (0, {"same"}, 500)


async def test_what_was_cut_off_goes_on(tmp_path: Path) -> None:
    """Each batch is whole; the next run writes the rest, and nothing twice."""
    path, store = mirror_file(tmp_path / "old.db", *RULES), FailingConstraints(after=1)
    with pytest.raises(StoreUnavailable) as caught:
        await run_migration(path, store)
    assert caught.value.message == "The disk is full. 200 of 500 are written; run it again and it goes on there."
    store.after = 10
    report = await run_migration(path, store)
    assert (report.written, len(await store.of(ALEX)), store.after) == (300, 500, 8)


async def test_a_change_made_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    """One rule changed here between reading and writing: nothing in that batch is written."""
    path = mirror_file(tmp_path / "old.db", *RULES[:3])

    class Meanwhile(MemoryConstraints):
        async def of(self, user_id: str) -> tuple[Version, ...]:
            known = await super().of(user_id)
            if not known:
                await super().write([version_of("tb_0001", user=ALEX)], cause="by hand")
            return known

    store = Meanwhile()
    with pytest.raises(VersionConflict):
        await run_migration(path, store)
    assert [version.uid for version in await store.of(ALEX)] == ["tb_0001"]


async def test_whose_they_are(tmp_path: Path) -> None:
    """The one person whose rows these are, or the one who is named; never both."""
    path, store = (
        mirror_file(tmp_path / "old.db", {}, {"user_id": "U0ROBIN"}, {"user_id": "U0ROBIN"}),
        MemoryConstraints(),
    )
    with pytest.raises(BadInput) as caught:
        await run_migration(path, store)
    assert caught.value.message == "There are constraints of 2 people; say whose to move: --user ID."
    report = await run_migration(path, store, user_id="U0ROBIN")
    assert (len(report.rows), report.others, await store.people()) == (2, 1, ("U0ROBIN",))
    report = await run_migration(path, store, user_id="U0SAM")
    assert (report.rows, report.others, await store.people()) == ((), 3, ("U0ROBIN",))
    with pytest.raises(BadInput) as caught:
        await run_migration(mirror_file(tmp_path / "empty.db"), store)
    assert caught.value.message == "There is nothing to move: no constraint is there."


async def test_notion_there_and_back() -> None:
    """S38: read over HTTP, written, found again, changed there, and taken back; another person does not get them."""
    tb, store = TbDatabases(), MemoryConstraints()
    old = tb.constraint("Bed by twelve", UID="tb_old")
    tb.constraint("Bed by eleven", UID="tb_bed", Supersedes=[old], windows=[("prefer", "22:00", "23:00")])
    tb.constraint("Broken", Necessity="maybe", Supersedes=[tb.constraint("No calls")])
    async with notion_server(*tb.tables) as server:
        report = await from_notion(server, store)
        assert [(row.name, row.outcome.value) for row in report.rows] == [
            ("Bed by twelve", "new"), ("Bed by eleven", "new"), ("No calls", "waiting"), ("Broken", "bad"),
        ]  # fmt: skip
        known = select_newest(await store.of(ALEX), ALEX)
        assert (sorted(known), known["tb_bed"].record.lifecycle.supersedes_uids) == (["tb_bed", "tb_old"], ("tb_old",))
        assert (await from_notion(server, store)).written == 0
        tb.windows.pages[0].properties["Start Time (local)"]["rich_text"][0]["plain_text"] = "21:30"
        report = await from_notion(server, store)
        assert ([row.name for row in report.rows if row.outcome.value == "changed"], report.written) == (
            ["Bed by eleven"],
            1,
        )
        with pytest.raises(BadInput) as caught:
            await from_notion(server, store, user_id="U0ROBIN", apply=False)
        assert caught.value.message.startswith("Constraints of this Notion were moved for somebody else already")
        with pytest.raises(BadInput) as caught:
            await from_notion(server, store, user_id=None)
        assert caught.value.message == "Say whose constraints these are: --user ID, a Slack id like U0123ABC."
    back, stay = await take_back(
        store, source="Notion", user_id=ALEX, now=datetime(2026, 3, 1, tzinfo=UTC), apply=True, progress=silent
    )
    assert (sorted(version.uid for version in back), stay) == (["tb_bed", "tb_old"], 0)
    assert {v.record.status for v in select_newest(await store.of(ALEX), ALEX).values()} == {Status.DECLINED}


async def test_a_connection_lost_while_reading_writes_nothing() -> None:
    """All is read before anything is written; the next run does it."""
    tb, store = TbDatabases(), MemoryConstraints()
    for number in range(150):
        tb.constraint(f"Rule {number}")

    async with notion_server(*tb.tables) as server:
        server.failures = iter([None] * 10 + [Failure(400, "validation_error")])
        with pytest.raises(SourceUnavailable):
            await from_notion(server, store)
        assert await store.of(ALEX) == ()
        assert (await from_notion(server, store)).written == 150


async def test_notion_needs_a_token() -> None:
    with pytest.raises(BadInput) as caught:
        async with open_notion_source(Settings(_env_file=None), databases=(), columns=()):
            pass
    assert caught.value.message == (
        "Set NOTION_TOKEN to the token of a Notion integration that may read your databases (docs/notion.md)."
    )
