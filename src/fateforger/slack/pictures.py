"""Pictures in Slack: rendered once, uploaded once, identified by their content."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from fateforger.picture import draw
from fateforger.ports import Rasterizer
from fateforger.session.cards import Card, Picture
from fateforger.slack.files import SCOPE, upload

log = logging.getLogger(__name__)

NO_SCOPE = (
    f"Days are shown without pictures: the Slack app has no scope {SCOPE}. Add it as in manifest.yaml and install the"
    " app again, or set FATEFORGER_PICTURE=off."
)
MAX_KEPT = 500


class Pictures:
    """File id of each uploaded picture, in memory. Without a ``painter`` there are no pictures."""

    def __init__(
        self, client: AsyncWebClient, painter: Rasterizer | None, session: aiohttp.ClientSession | None = None
    ) -> None:
        self._client = client
        self._painter = painter
        self._session = session
        self._files: OrderedDict[str, str] = OrderedDict()
        self._refused: set[str] = set()

    def file_of(self, picture: Picture) -> str | None:
        """Return the file id of a picture, or ``None`` if it is not uploaded."""
        return self._files.get(_digest(picture))

    def missing(self, card: Card) -> tuple[Picture, ...]:
        """Return the pictures of a card that are not uploaded and could be."""
        if self._painter is None:
            return ()
        pictures = (part for part in card.parts if isinstance(part, Picture))
        return tuple(p for p in pictures if self.file_of(p) is None and _digest(p) not in self._refused)

    def forget(self, card: Card) -> None:
        """Forget the files of a card, which Slack no longer shows; they are uploaded again later."""
        for part in card.parts:
            if isinstance(part, Picture):
                self._files.pop(_digest(part), None)

    def give_up(self, card: Card) -> None:
        """Stop trying to show the pictures of a card, which Slack rejects."""
        self.forget(card)
        if len(self._refused) >= MAX_KEPT:
            self._refused.clear()
        self._refused.update(_digest(part) for part in card.parts if isinstance(part, Picture))

    def apply_scopes(self, scopes: frozenset[str] | None) -> None:
        """Switch pictures off if the app's scopes, where known, do not allow files."""
        if self._painter is not None and scopes is not None and SCOPE not in scopes:
            self.switch_off()

    def switch_off(self) -> None:
        """Switch pictures off, and log that once."""
        log.warning(NO_SCOPE)
        self._painter = None

    async def upload(self, picture: Picture) -> None:
        """Render and upload a picture, unless it is uploaded.

        Raises :class:`~fateforger.slack.calling.SlackCallError` or ``InternalError``.
        """
        if self._painter is None or self._session is None or self.file_of(picture) is not None:
            return
        png = await self._painter.render_png(await asyncio.to_thread(draw, picture.day))
        name = f"{picture.day.date.isoformat()}.png"
        self._files[_digest(picture)] = await upload(self._client, self._session, name, png)
        if len(self._files) > MAX_KEPT:
            self._files.popitem(last=False)


def _digest(picture: Picture) -> str:
    return hashlib.sha256(picture.day.model_dump_json().encode()).hexdigest()
