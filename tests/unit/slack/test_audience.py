"""The place of private cards: the person's direct messages with the bot, and nowhere else (K14)."""

from __future__ import annotations

import pytest
from tests.fakes.manual_clock import ManualClock
from tests.fakes.memory_languages import languages
from tests.fakes.memory_zones import MemoryZones

from fateforger.adapters.store.store import open_store
from fateforger.session.cards import Card, Prose
from fateforger.session.store import Sent
from fateforger.slack.access import People, find_private_place, is_private
from fateforger.slack.client import CallRefused
from fateforger.slack.limits import LimitedClient, Pace, SlackLimits
from fateforger.slack.payloads import Place
from fateforger.slack.poster import Poster

OWN = Card(text="Therapy", parts=(Prose(text="Therapy"),))


class Known(People):
    """Knows the direct messages of one person."""

    async def direct_channel(self, user_id: str) -> str:
        assert user_id == "U1"
        return "D1"


@pytest.mark.parametrize(("channel", "private"), [("D1", True), ("C1", False), ("G1", False), ("", False)])
def test_only_direct_messages_are_private(channel: str, private: bool) -> None:  # noqa: FBT001  what is expected
    """Channels, private channels and group messages are read by others, or may be."""
    assert is_private(channel) is private


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        (Place("D1", "1.0"), Place("D1", "1.0")),
        (Place("C1", "1.0"), Place("D1")),
        (Place("G1"), Place("D1")),
        (Place("D2"), Place("D1")),
        (Place(None), Place("D1")),
    ],
)
async def test_a_plan_is_shown_where_its_person_alone_reads(asked: Place, place: Place) -> None:
    """The place is their thread with the bot, not a conversation with another person, which has two members as well."""
    assert (
        await find_private_place(
            Known(LimitedClient(SlackLimits()), ManualClock(), languages(), MemoryZones()), "U1", asked
        )
        == place
    )


@pytest.mark.parametrize("channel", ["C1", "G1"])
async def test_no_card_that_is_not_for_all_is_posted_where_others_read(channel: str) -> None:
    """This holds for any sender, and for new cards, changes and pictures; no request goes to Slack."""
    poster = Poster(
        LimitedClient(SlackLimits(), base_url="http://127.0.0.1:9/"), Pace(), open_store(":memory:").messages
    )
    with pytest.raises(CallRefused):
        await poster.post(channel, None, OWN, session="s", v="v")
    with pytest.raises(CallRefused):
        await poster.change(Sent(channel, "1.0"), OWN, session="s", v="v")
    with pytest.raises(CallRefused):
        await poster.add_pictures(Sent(channel, "1.0"), OWN, session="s", v="v")
