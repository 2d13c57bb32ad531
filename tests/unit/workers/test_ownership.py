"""The owner of the calendar: by the setting, the database and the local page, and the people who may claim it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from tests.factories.agents import NOW
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.store import Store, open_store
from fateforger.ports.people import Claim, OwnerRecord
from fateforger.slack.access import parse_sent_code, parse_typed_code
from fateforger.workers.people import (
    CODE_LETTERS,
    PAGE,
    SETTING,
    TRIES,
    Ownership,
    PersonalData,
)

ALEX, ROBIN, REAL = "U0000ALEX", "U0000ROBIN", "U0REAL"
NOBODY = OwnerRecord()


@dataclass
class StartedPrograms:
    """Programs that are started one after the other on one database."""

    store: Store
    clock: ManualClock

    def program(self, named: str | None = None, *, real_slack: bool = True) -> Ownership:
        return Ownership(self.store.owners, self.clock, named=named, page=(ALEX, ROBIN), real_slack=real_slack)

    async def forget(self, user_id: str, ownership: Ownership) -> None:
        await PersonalData(self.store.people, None, self.clock, ownership).erase(user_id)


@pytest.fixture
async def started() -> AsyncIterator[StartedPrograms]:
    store = open_store(":memory:")
    yield StartedPrograms(store, ManualClock(NOW))
    await store.aclose()


async def code_of(ownership: Ownership) -> str:
    code = await ownership.offer_code()
    assert code is not None
    return code


async def test_with_slack_it_is_nobodys_until_somebody_sends_the_code(started: StartedPrograms) -> None:
    """K14: the code may be in any case and without the dash; the claim survives a restart."""
    program = started.program()
    assert await program.owner() == NOBODY
    code = await code_of(program)
    assert (len(code), code[4], set(code) - {"-"} <= set(CODE_LETTERS)) == (9, "-", True)
    assert await program.claim(ALEX, f" {code.lower().replace('-', '')} ") is Claim.CLAIMED
    again = started.program()
    assert await again.owner() == OwnerRecord(ALEX, "claimed", NOW)
    assert await again.offer_code() is None
    assert await again.claim(ALEX, code) is Claim.ALREADY_YOURS
    assert await again.claim(ROBIN, code) is Claim.TAKEN


async def test_only_the_code_of_the_last_start_counts(started: StartedPrograms) -> None:
    """K14"""
    first = await code_of(started.program())
    second = started.program()
    code = await code_of(second)
    assert await second.claim(ALEX, first) is Claim.WRONG
    assert await second.claim(ROBIN, code) is Claim.CLAIMED


async def test_guessing_is_slow_and_ends(started: StartedPrograms, caplog: pytest.LogCaptureFixture) -> None:
    """K14: a wrong code costs a person ten seconds, and after ten of them there is no code; the log says so."""
    program = started.program()
    code = await code_of(program)
    wrong = "AAAA-AAAA" if code != "AAAA-AAAA" else "CCCC-CCCC"
    with caplog.at_level(logging.WARNING):
        for n in range(TRIES):
            guess, at_once = (
                (Claim.WRONG, Claim.TOO_SOON) if n < TRIES - 1 else (Claim.WRONG_FOR_THE_LAST_TIME, Claim.NO_CODE)
            )
            assert await program.claim(ROBIN, wrong) is guess
            assert await program.claim(ROBIN, code) is at_once
            started.clock.at += timedelta(seconds=10)
    assert "so the code is void; start fateforger again for a new one" in caplog.messages[-1]
    assert code not in caplog.text
    assert await program.claim(ALEX, code) is Claim.NO_CODE
    assert await program.owner() == NOBODY


async def test_one_persons_guesses_do_not_keep_another_one_waiting(started: StartedPrograms) -> None:
    """K14"""
    program = started.program()
    code = await code_of(program)
    assert await program.claim(ROBIN, "CCCC-CCC9") is Claim.WRONG
    assert await program.claim(ALEX, code) is Claim.CLAIMED


async def test_the_setting_wins(started: StartedPrograms) -> None:
    """K14"""
    program = started.program()
    await program.claim(ALEX, await code_of(program))
    named = started.program(REAL)
    assert await named.owner() == OwnerRecord(REAL, SETTING)
    assert await named.offer_code() is None
    assert await named.claim(ALEX, "AAAA-AAAA") is Claim.TAKEN


async def test_forgetting_the_owner_closes_the_calendar_and_nobody_inherits_it(
    started: StartedPrograms, caplog: pytest.LogCaptureFixture
) -> None:
    """K14: this holds after a restart, until a person sends a new code."""
    program = started.program()
    await program.claim(ALEX, await code_of(program))
    with caplog.at_level(logging.WARNING):
        await started.forget(ALEX, program)
    assert "nobody inherits it" in caplog.text
    for running in (program, started.program()):
        assert await running.owner() == OwnerRecord(closed_at=NOW)
        assert await running.claim(ROBIN, "AAAA-AAAA") is Claim.NO_CODE
    again = started.program()
    assert await again.claim(ROBIN, await code_of(again)) is Claim.CLAIMED


async def test_who_is_named_and_forgotten_is_not_the_owner_any_more(started: StartedPrograms) -> None:
    """K14: the setting counts again once it names another person; the same person may claim it. No id is kept."""
    named = started.program(REAL)
    await started.forget(REAL, named)
    assert (await named.owner()).closed
    assert REAL not in str(await started.store.owners.read())
    again = started.program(REAL)
    assert (await again.owner()).closed
    assert await started.program(ROBIN).owner() == OwnerRecord(ROBIN, SETTING)
    assert await again.claim(REAL, await code_of(again)) is Claim.CLAIMED
    assert (await started.program(REAL).owner()).person == REAL


async def test_forgetting_somebody_else_closes_nothing(started: StartedPrograms) -> None:
    """K14"""
    program = started.program(REAL)
    await started.forget(ROBIN, program)
    assert (await program.owner()).person == REAL


async def test_the_local_page_is_its_first_persons_without_a_code(started: StartedPrograms) -> None:
    """K15: only they use it, so they may begin again after they were erased; no one inherits it."""
    page = started.program(real_slack=False)
    assert await page.owner() == OwnerRecord(ALEX, PAGE)
    assert await page.offer_code() is None
    await started.forget(ALEX, page)
    assert await page.owner() == OwnerRecord(ALEX, PAGE)


async def test_who_tried_the_page_first_does_not_own_the_calendar_of_a_workspace(started: StartedPrograms) -> None:
    """K14: a database that was used with the page before there was a Slack; the page goes on as it was."""
    rows = (
        f"INSERT INTO calendar_owner (id, person, origin, tries_left) VALUES ('calendar', '{ALEX}', 'planned first', 0)"
    )
    await started.store.database.write(lambda connection: connection.exec_driver_sql(rows))
    assert await started.program().owner() == NOBODY
    assert (await started.program(real_slack=False).owner()).person == ALEX
    await started.store.database.write(
        lambda connection: connection.exec_driver_sql(f"UPDATE calendar_owner SET person = '{REAL}'")
    )
    assert (await started.program().owner()).person == REAL


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("claim ACDE-4679", "ACDE-4679"),
        ("claim acde 4679", "acde4679"),
        ("claim", None),
        ("2026-03-05", None),
        ("", None),
    ],
)
def test_a_command_that_claims(typed: str, code: str | None) -> None:
    """S105: a fixed form."""
    assert parse_typed_code(typed) == code


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("claim ACDE-4679", "ACDE-4679"),
        ("/timebox claim acde-4679", "acde-4679"),
        ("claim my day", None),
        ("claim pavement", None),
        ("Please claim ACDE-4679", None),
    ],
)
def test_a_message_that_claims(message: str, code: str | None) -> None:
    """S105, K4: what does not look like a code is read as anything else is."""
    assert parse_sent_code(message) == code
