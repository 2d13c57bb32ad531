"""App Home of a person, published from the database each time it is opened."""

from __future__ import annotations

import logging
from uuid import uuid4

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.coordinator.door import CoordinatorPort
from fateforger.errors import StoreError
from fateforger.session.commands import InboxCommand, Opening
from fateforger.session.commands.queue import QueueCommandBase
from fateforger.session.progress import ProgressCallback
from fateforger.slack.access import calendar_refusal
from fateforger.slack.calling import SlackCallError, call_slack
from fateforger.slack.errands import BackgroundTasks
from fateforger.slack.presence import Handle
from fateforger.slack.render import HOME, render
from fateforger.turn.present.home import refused_home_card

log = logging.getLogger(__name__)


def with_home_refresh(home: Home, handle: Handle) -> Handle:
    """Wrap a handler so that App Home is refreshed after commands that may change the queue on it."""

    async def handle_and_refresh(command: InboxCommand, tell: ProgressCallback) -> None:
        await handle(command, tell)
        if isinstance(command, QueueCommandBase | Opening):
            home.show(command.user_id)

    return handle_and_refresh


class Home:
    def __init__(self, door: CoordinatorPort, client: AsyncWebClient, background: BackgroundTasks) -> None:
        self._door = door
        self._client = client
        self._background = background

    def show(self, user_id: str) -> None:
        """Publish App Home after the acknowledgement. Opening it again retries."""
        self._background.send(self._publish(user_id))

    async def _publish(self, user_id: str) -> None:
        try:
            refusal = await calendar_refusal(self._door, user_id, in_card=True)
            card = await self._door.home(user_id) if refusal is None else refused_home_card(refusal)
            # Each publication is a new rendering, so a start button works again tomorrow.
            message = render(card, session="", v=uuid4().hex, size=HOME)
            await call_slack(
                self._client.views_publish(user_id=user_id, view={"type": "home", "blocks": message.blocks})
            )
        except StoreError as error:
            log.warning("the home of %s is not published: %s", user_id, error.message)
        except SlackCallError as trouble:
            log.warning("the home of %s is not published: %s", user_id, trouble)
