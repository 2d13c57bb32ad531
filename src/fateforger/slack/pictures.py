"""Pictures at Slack: drawn once, uploaded once, known by what they show."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from fateforger.picture import draw
from fateforger.ports import Painter
from fateforger.session.cards import Card, Picture
from fateforger.slack.files import SCOPE, upload

log = logging.getLogger(__name__)

NO_SCOPE = (
    f"Days are shown without pictures: the Slack app has no scope {SCOPE}. Add it as in manifest.yaml and install the"
    " app again, or set FATEFORGER_PICTURE=off."
)
MAX_KEPT = 500


class Pictures:
    """Which file shows which picture, as long as this program runs. Without a ``painter`` there are none."""

    def __init__(
        self, client: AsyncWebClient, painter: Painter | None, session: aiohttp.ClientSession | None = None
    ) -> None:
        self._client = client
        self._painter = painter
        self._session = session
        self._files: OrderedDict[str, str] = OrderedDict()
        self._refused: set[str] = set()

    def file_of(self, picture: Picture) -> str | None:
        """The id of its file, once it is uploaded."""
        return self._files.get(_digest(picture))

    def missing(self, card: Card) -> tuple[Picture, ...]:
        """The pictures of a card that are not at Slack and could be."""
        if self._painter is None:
            return ()
        pictures = (part for part in card.parts if isinstance(part, Picture))
        return tuple(p for p in pictures if self.file_of(p) is None and _digest(p) not in self._refused)

    def forget(self, card: Card) -> None:
        """Slack does not show these any more: they are uploaded anew when there is time."""
        for part in card.parts:
            if isinstance(part, Picture):
                self._files.pop(_digest(part), None)

    def give_up(self, card: Card) -> None:
        """Slack will not show these: they are not tried again."""
        self.forget(card)
        if len(self._refused) >= MAX_KEPT:
            self._refused.clear()
        self._refused.update(_digest(part) for part in card.parts if isinstance(part, Picture))

    def granted(self, scopes: frozenset[str] | None) -> None:
        """What the app may do, when Slack says so: without the scope for files there are no pictures."""
        if self._painter is not None and scopes is not None and SCOPE not in scopes:
            self.switch_off()

    def switch_off(self) -> None:
        """No pictures from here on; said once."""
        log.warning(NO_SCOPE)
        self._painter = None

    async def upload(self, picture: Picture) -> None:
        """Draw a picture and bring it to Slack, unless it is there. Raises ``SlackTrouble`` or ``InternalError``."""
        if self._painter is None or self._session is None or self.file_of(picture) is not None:
            return
        png = await self._painter.png(await asyncio.to_thread(draw, picture.day))
        name = f"{picture.day.date.isoformat()}.png"
        self._files[_digest(picture)] = await upload(self._client, self._session, name, png)
        if len(self._files) > MAX_KEPT:
            self._files.popitem(last=False)


def _digest(picture: Picture) -> str:
    return hashlib.sha256(picture.day.model_dump_json().encode()).hexdigest()
