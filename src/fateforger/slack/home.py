"""App Home: a person's days and queue, and the export and erasure of their data."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, assert_never
from uuid import uuid4

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import CalendarBusy, InternalError, StoreError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs
from fateforger.ports.people import Homes, HomeState
from fateforger.session.cards import Card, DayView, Picture, Prose
from fateforger.slack import phrases
from fateforger.slack.access import People, calendar_refusal, connect_answer
from fateforger.slack.blocks import HOME, render
from fateforger.slack.client import (
    SlackCallError,
    SlackLoginError,
    call_slack,
    lacks_scope,
    retry_transient,
    upload,
)
from fateforger.slack.limits import LimitedClient
from fateforger.slack.poster import Poster
from fateforger.text import gettext as _
from fateforger.text import join_sentences, use_language
from fateforger.ui.connection_cards import broken_card, build_connection_parts, joined_card
from fateforger.ui.home_card import ERASE, EXPORT, refused_home_card
from fateforger.values import replace
from fateforger.workers.lanes import ConnectionRequest, PersonalDataRequest, TryLater
from fateforger.workers.people import LanguageService, PersonalData
from fateforger.workers.supervisor import BackgroundTasks

log = logging.getLogger(__name__)


RETRY_AFTER = timedelta(seconds=30)
"""Time until a publication that failed is tried again."""
IDLE_FOR = timedelta(days=1)
"""Time after which an App Home is published again in which nothing has changed."""
MOST_LINKS = 10_000
"""Links to threads that are remembered."""


@dataclass(frozen=True, slots=True)
class Home:
    """Keeps App Home current for everyone who has opened it.

    The store counts the changes of what it shows; :meth:`publish_due` publishes it where it has changed, and when the
    next block begins. Changes in between coalesce.
    """

    door: CoordinatorPort
    homes: Homes
    people: People
    poster: Poster
    client: AsyncWebClient
    background: BackgroundTasks
    clock: Clock
    _links: dict[tuple[str, str], str] = field(init=False, default_factory=dict)

    async def open(self, user_id: str) -> None:
        """Handle a visit to App Home. It is published after the acknowledgement; opening it again retries."""
        state = await self.homes.open(user_id)
        self.background.start(self._publish(state), name="App Home")

    def show(self, user_id: str) -> None:
        """Publish App Home without a note of who has opened it: nothing is kept of a person who was erased."""
        self.background.start(self._publish(HomeState(user_id, 0, ""), note=False), name="App Home")

    async def note_change(self, user_id: str) -> None:
        """Have App Home published again because of something that the store does not hold."""
        await self.homes.note_change(user_id)

    async def publish_due(self) -> None:
        """Publish each App Home that does not show the latest state. Raises ``StoreError``."""
        now = self.clock.now()
        for state in await self.homes.claim_due(now, until=now + RETRY_AFTER):
            await self._publish(state)

    async def _publish(self, state: HomeState, *, note: bool = True) -> None:
        """Publish an App Home as of a state, with its picture once that is uploaded.

        Without ``note``, the time zone of its person is not noted.
        """
        user_id, began = state.user_id, self.clock.now()
        try:
            card = await self._build_card(user_id, note=note)
            shown = await self._send(state, card)
            if self.poster.pictures.missing(card, user_id):
                shown = await self._add_picture(shown, card)
        except StoreError as error:
            log.warning("the home of %s is not published: %s", user_id, error.message)
        except SlackCallError as trouble:
            # Another process has published meanwhile, with another hash; the next try does without one.
            log.warning("the home of %s is not published: %s", user_id, trouble)
            conflicts = _is_conflict(trouble)
            later = self.clock.now() if conflicts else self.clock.now() + RETRY_AFTER
            await self.homes.keep(replace(state, hash="" if conflicts else state.hash), show_at=later)
        else:
            await self.homes.keep(shown, show_at=find_next_change(card, began))

    async def _build_card(self, user_id: str, *, note: bool) -> Card:
        refusal = await calendar_refusal(self.door, self.people, user_id)
        if refusal is None:
            tz = await self.people.zone(user_id, note=note) or ""
            return await self.door.home(user_id, tz=tz, find_link=self._find_link)
        if await self.people.find_refusal(user_id) is not None:
            return refused_home_card(refusal)
        connection = build_connection_parts(await self.door.describe_connection(user_id))
        return refused_home_card(refusal, connection)

    async def _send(self, state: HomeState, card: Card) -> HomeState:
        """Publish a card, and return the state with the new hash."""
        # Each publication is a new rendering, so a start button works again tomorrow.
        file_of = partial(self.poster.pictures.file_of, where=state.user_id)
        message = render(card, session="", v=uuid4().hex, size=HOME, file_of=file_of)
        view = {"type": "home", "blocks": message.blocks}
        answer = await call_slack(self.client.views_publish(user_id=state.user_id, view=view, hash=state.hash or None))
        return replace(state, hash=str(answer.get("view", {}).get("hash", "")))

    async def _add_picture(self, state: HomeState, card: Card) -> HomeState:
        """Publish a card again with its picture. One that cannot be shown is left out: the card says everything."""
        try:
            for picture in self.poster.pictures.missing(card, state.user_id):
                await self.poster.pictures.upload(picture, state.user_id)
            return await self._send(state, card)
        except (SlackCallError, InternalError) as trouble:
            if _is_conflict(trouble):
                raise
            self.poster.pictures.give_up(card, state.user_id)
            log.warning("the home of %s stays without its picture: %s", state.user_id, trouble)
            return state

    async def _find_link(self, channel: str, ts: str) -> str | None:
        """Return the address of a message, which never changes."""
        if (channel, ts) not in self._links:
            try:
                answer = await call_slack(self.client.chat_getPermalink(channel=channel, message_ts=ts))
            except SlackCallError as trouble:
                log.info("a thread has no link: %s", trouble)
                return None
            if len(self._links) >= MOST_LINKS:
                self._links.clear()
            self._links[channel, ts] = str(answer["permalink"])
        return self._links[channel, ts]


def _is_conflict(trouble: SlackCallError | InternalError) -> bool:
    return isinstance(trouble, SlackCallError) and trouble.code == "hash_conflict"


def find_next_change(card: Card, since: datetime) -> datetime:
    """Return when a card of ``since`` says something else although nothing has changed: a block begins or ends."""
    days = [part.day for part in card.parts if isinstance(part, Picture) and isinstance(part.day, DayView)]
    instants = (instant for day in days for block in day.blocks for instant in (block.start, block.end))
    return min((instant for instant in instants if instant > since), default=since + IDLE_FOR)


@dataclass(frozen=True, slots=True)
class ConnectionHandler:
    """Tells people about the connection of their calendar in direct messages, and disconnects it."""

    door: CoordinatorPort
    poster: Poster
    people: People
    home: Home
    languages: LanguageService

    async def perform(self, request: ConnectionRequest, job: Job) -> None:
        """Carry out a request once. Raises like :data:`~fateforger.workers.lanes.Perform`."""
        user_id = request.user_id
        use_language((await self.languages.of(user_id)).code)
        card = await self._build_card(request)
        with retry_transient("a message about a calendar was not brought"):
            if card is not None:
                await self._post(user_id, card, f"connection-{job.id}", again=job.attempts > 1)
        await self.home.note_change(user_id)

    async def _build_card(self, request: ConnectionRequest) -> Card | None:
        match request.do:
            case "tell":
                view = await self.door.describe_connection(request.user_id)
                return broken_card(view) if view.problem else None  # it may work again by now
            case "link":
                return await connect_answer(self.door, self.people, request.user_id)
            case "join":
                words = await self.door.join_calendar(request.user_id, await self.people.address(request.user_id))
                return joined_card(await self.door.describe_connection(request.user_id), words)
            case "disconnect":
                words = await self.door.disconnect_calendar(request.user_id)
                return Card(text=words, parts=(Prose(text=words),))
            case unknown:
                assert_never(unknown)

    async def _post(self, user_id: str, card: Card, v: str, *, again: bool) -> None:
        channel = await self.people.direct_channel(user_id)
        if again and await self.poster.find(channel, None, v) is not None:
            return
        await self.poster.post(channel, None, card, session="", v=v)


EXPORT_FILE_NAME = "what-i-know-about-you.json"
BUSY_TRIES = 8
"""Tries while the calendar is being written to, before the person is told."""


@dataclass(frozen=True, slots=True)
class PersonalDataHandler:
    """Answers personal data requests in direct messages, and refreshes App Home."""

    dossiers: PersonalData
    jobs: Jobs
    poster: Poster
    people: People
    home: Home
    languages: LanguageService
    client: LimitedClient

    async def perform(self, request: PersonalDataRequest, job: Job) -> None:
        """Carry out a request once. Raises like :data:`~fateforger.workers.lanes.Perform`."""
        user_id, wish = request.user_id, request.wish
        use_language((await self.languages.of(user_id)).code)
        with retry_transient("an answer was not brought"):
            if wish == EXPORT.action:
                await self._export(user_id, job)
            elif wish == ERASE.action:
                await self._erase(user_id, job)
            else:
                raise InternalError(f"job {job.id} wishes for nothing known")
        self.home.show(user_id)

    async def given_up(self, job: Job, _error: str) -> None:
        """Tell the person that the request failed, if possible."""
        try:
            await self._say(str(job.payload["user_id"]), _(phrases.ABOUT_FAILED), job)
        except SlackCallError as trouble:
            log.warning("nobody could be told: %s", trouble)

    async def _export(self, user_id: str, job: Job) -> None:
        document = await self.dossiers.export(user_id)
        held = document["held"]
        entries = sum(map(len, held.values()))
        if held.keys() <= {"home", "time_zone"}:  # noted when App Home is opened, and nothing that they told
            await self._say(user_id, _(phrases.NOTHING_KNOWN), job)
            return
        words = phrases.all_i_know(entries)
        try:
            await self._send(user_id, document, words)
        except SlackLoginError as trouble:
            if not lacks_scope(trouble):
                raise
            await self._say(user_id, f"{words} {phrases.no_file(user_id)}", job)

    async def _send(self, user_id: str, document: dict[str, Any], words: str) -> None:
        content = json.dumps(document, ensure_ascii=False, indent=1).encode()
        channel = await self.people.direct_channel(user_id)
        client = await self.client.client_of(channel)
        await upload(client, EXPORT_FILE_NAME, content, channel=channel, words=words)

    async def _erase(self, user_id: str, job: Job) -> None:
        try:
            erased = await self.dossiers.erase(user_id)
        except CalendarBusy as busy:
            if job.attempts < BUSY_TRIES:
                raise TryLater(busy.message, 1.0) from busy
            await self._say(user_id, _(phrases.NOT_FORGOTTEN), job)
            return
        closed = (await self.dossiers.ownership.owner()).closed
        then = _(phrases.CLOSED_NOW) if closed else _(phrases.AFRESH)
        await self._say(user_id, join_sentences(_(phrases.FORGOTTEN), erased.remains, then), job)
        # The job names the person as well, so it is finished before the files are scrubbed.
        await self.jobs.finish(job)
        await self.dossiers.people.scrub()

    async def _say(self, user_id: str, words: str, job: Job) -> None:
        channel, v = await self.people.direct_channel(user_id), f"about-{job.id}"
        if job.attempts > 1 and await self.poster.find(channel, None, v) is not None:
            return
        await self.poster.post(channel, None, Card(text=words, parts=(Prose(text=words),)), session="", v=v)
