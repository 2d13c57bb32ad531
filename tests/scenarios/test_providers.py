"""What the running program asks of Google and Microsoft, and what becomes of people's writes there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.scenarios.day import confirm_date, start
from tests.scenarios.person import eventually
from tests.scenarios.providers import Providers, open_providers, second

pytestmark = pytest.mark.process

TEN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def see_watch(providers: Providers, provider: str) -> set[str]:
    """What the next three reads of the watch ask for, once it has read the day."""
    eventually(lambda: "changes" in providers.lists(provider)[-1:], "the watch asks for changes")
    before = len(providers.lists(provider))
    eventually(lambda: len(providers.lists(provider)) >= before + 3, "it asks again and again")
    return set(providers.lists(provider)[before:])


def test_the_watch_asks_only_for_what_changed(tmp_path: Path) -> None:
    """S304, S315"""
    with open_providers(tmp_path, FATEFORGER_WATCH_SECONDS="1") as providers:
        alex = providers.program.person()
        robin = second(alex)
        providers.sign_in(robin, "google")
        providers.sign_in(alex, "microsoft")
        for person in (robin, alex):
            start(person)
            confirm_date(person)
        for provider in ("google", "microsoft"):
            assert see_watch(providers, provider) == {"changes"}
        providers.google.calendars["primary"].user_create("Dentist", start=TEN, end=TEN + timedelta(hours=1))
        robin.reads("New on your calendar: “Dentist”")
