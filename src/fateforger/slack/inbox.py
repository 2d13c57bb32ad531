"""Durable inbox: a payload is acknowledged only once its request is recorded.

Slack redelivers an event that was not acknowledged; for a click, a form or a command it tells the person that it
failed. So while the database cannot be written to, nothing is acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, assert_never

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from fateforger.errors import StoreError
from fateforger.ports.clock import Clock
from fateforger.slack.delivery import KeyedLocks
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.home import Home
from fateforger.slack.payloads import parse_payload
from fateforger.slack.requests import (
    Arrival,
    Clicked,
    FormPressed,
    FormRefreshRequested,
    FormRequested,
    FormSubmitted,
    HomeOpened,
    Ignored,
    MessageSaid,
    MessagesOpened,
    PersonalDataRequested,
    ProposalAnswered,
    QueueRequested,
    Rated,
    StartRequested,
    StopRequested,
)

CLOSE_SECONDS = 3.0
ACK_SECONDS = 0.05
"""Bolt sends an acknowledgement only after the middleware has returned."""

log = logging.getLogger(__name__)

Answer = dict[str, Any] | str
"""Body of the acknowledgement: text for a command, a ``response_action`` for a form, or nothing."""


class PayloadMiddleware(AsyncMiddleware):
    """Middleware that runs before Bolt's own and answers every payload, so nothing reaches a listener."""

    def __init__(self, requests: RequestHandler, forms: FormHandler, home: Home, *, clock: Clock) -> None:
        self._requests = requests
        self._forms = forms
        self._home = home
        self._clock = clock
        self._locks = KeyedLocks()
        self._open = True
        self._taking = 0
        self._done = asyncio.Event()

    async def close(self) -> None:
        """Stop acknowledging, so that Slack redelivers to the next process.

        A payload that is being recorded is finished and acknowledged.
        """
        self._open = False
        self._done.clear()
        if self._taking:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), CLOSE_SECONDS)
            await asyncio.sleep(ACK_SECONDS)

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002  Bolt's signature
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002  Bolt's signature
    ) -> BoltResponse | None:
        body: Mapping[str, Any] = req.body
        if body.get("type") in {"url_verification", "ssl_check"}:
            return await next()
        if not self._open:
            return _leave_unanswered()
        arrival = parse_payload(body, self._clock.now())
        self._taking += 1
        try:
            async with self._locks.turn(_conversation(arrival)):
                answer = await self._take(arrival)
        except StoreError as error:
            log.error("a payload is not acknowledged: %s", error.message)  # noqa: TRY400  the sentence says it all
            return _leave_unanswered()
        finally:
            self._taking -= 1
            if not self._taking:
                self._done.set()
        return BoltResponse(status=200, body=answer)

    async def _take(self, arrival: Arrival) -> Answer:
        match arrival:
            case StartRequested():
                return await self._requests.start(arrival) or ""
            case QueueRequested():
                return await self._requests.ask(arrival) or ""
            case FormSubmitted():
                return await self._forms.take(arrival) or ""
            case MessageSaid():
                await self._requests.hear(arrival)
            case Clicked() | StopRequested() | ProposalAnswered() | PersonalDataRequested() | Rated():
                await self._press(arrival)
            case FormRequested() | FormRefreshRequested() | FormPressed():
                await self._in_form(arrival)
            case HomeOpened():
                self._home.show(arrival.user_id)
            case MessagesOpened():
                await self._requests.meet(arrival)
            case Ignored():
                log.debug("ignored: %s", arrival.because)
            case _:
                assert_never(arrival)
        return ""

    async def _in_form(self, arrival: FormRequested | FormRefreshRequested | FormPressed) -> None:
        match arrival:
            case FormRequested():
                await self._forms.open(arrival)
            case FormRefreshRequested():
                await self._forms.turn(arrival)
            case FormPressed():
                await self._forms.press(arrival)
            case _:
                assert_never(arrival)

    async def _press(self, arrival: Clicked | StopRequested | ProposalAnswered | PersonalDataRequested | Rated) -> None:
        match arrival:
            case Clicked():
                await self._requests.click(arrival)
            case StopRequested():
                await self._requests.stop(arrival)
            case ProposalAnswered():
                await self._requests.answer(arrival)
            case PersonalDataRequested():
                await self._requests.about(arrival)
            case Rated():
                await self._requests.rate(arrival)
            case _:
                assert_never(arrival)


def _leave_unanswered() -> BoltResponse:
    # Socket Mode does not send an answer other than 200 at all.
    return BoltResponse(status=503, body="")


def _conversation(arrival: Arrival) -> str:
    """Return the key within which payloads stay in order: a thread, a form of a session, or else a person."""
    match arrival:
        case MessageSaid():
            return f"{arrival.channel} {arrival.thread_ts}"
        case Clicked() | StartRequested() | FormRequested() if arrival.place.thread_ts is not None:
            return f"{arrival.place.channel} {arrival.place.thread_ts}"
        case Clicked():
            return arrival.click.session_id
        case FormRequested() | FormRefreshRequested() | FormPressed() | FormSubmitted():
            return _of_form(arrival)
        case StopRequested():
            return f"stop {arrival.place.channel} {arrival.place.thread_ts}"
        case ProposalAnswered():
            return f"proposal {arrival.proposal_id}"
        case Rated():
            return f"{arrival.rating.session_id} {arrival.rating.turn}"
        case StartRequested() | QueueRequested() | PersonalDataRequested() | HomeOpened() | MessagesOpened():
            return arrival.user_id
        case Ignored():
            return ""
        case _:
            assert_never(arrival)


def _of_form(arrival: FormRequested | FormRefreshRequested | FormPressed | FormSubmitted) -> str:
    match arrival:
        case FormRequested() | FormRefreshRequested():
            return arrival.request.session_id or arrival.request.user_id
        case FormPressed():
            return arrival.click.session_id or arrival.click.user_id
        case FormSubmitted():
            return arrival.submission.session_id or arrival.submission.user_id
        case _:
            assert_never(arrival)
