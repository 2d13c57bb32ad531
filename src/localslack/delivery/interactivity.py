"""Clicks, forms and commands on their way to the app: one try, an answer within the time limit."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal
from uuid import uuid4

from localslack.delivery.transport import Failure, Transport
from localslack.errors import Refusal

NOT_REACHED = "That didn't reach the planner. Please try again."
NOT_CONNECTED = "The planner isn't connected right now. Please try again in a moment."


class Interactivity:
    """Interactions are not stored and not repeated: the person is told and decides."""

    def __init__(
        self,
        transport: Transport,
        stamp: Callable[[Mapping[str, Any]], dict[str, Any]],
        *,
        ack_seconds: float,
    ) -> None:
        """Send payloads over `transport`, each as `stamp` returns it."""
        self.ack_seconds = ack_seconds
        self._stamp = stamp
        self._transport = transport
        self._pending: dict[str, asyncio.Future[Any]] = {}
        transport.on_acknowledged.append(self._acknowledge)
        transport.on_failed.append(self._fail)

    async def ask(self, kind: Literal["interactive", "slash_commands"], payload: Mapping[str, Any]) -> dict[str, Any]:
        """Send one interaction and return what the app acknowledged it with (empty for a bare acknowledgement).

        Raises `Refusal` with a sentence for the person when there is no way to the app, or no acknowledgement in time.
        """
        if not self._transport.connected:
            raise Refusal(NOT_CONNECTED)
        envelope_id = str(uuid4())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[envelope_id] = answer
        self._transport.send(
            {
                "envelope_id": envelope_id,
                "type": kind,
                "payload": self._stamp(payload),
                "accepts_response_payload": True,
            }
        )
        try:
            payload_back = await asyncio.wait_for(answer, self.ack_seconds)
        except TimeoutError:
            raise Refusal(NOT_REACHED) from None
        finally:
            del self._pending[envelope_id]
        return payload_back if isinstance(payload_back, dict) else {}

    def notify(self, payload: Mapping[str, Any]) -> None:
        """Send an interaction without waiting; a missing acknowledgement changes nothing for the person."""
        if self._transport.connected:
            frame = {"envelope_id": str(uuid4()), "type": "interactive", "payload": self._stamp(payload)}
            self._transport.send({**frame, "accepts_response_payload": False})

    def _acknowledge(self, envelope_id: str, payload: Any) -> None:
        pending = self._pending.get(envelope_id)
        if pending is not None and not pending.done():
            pending.set_result(payload)

    def _fail(self, failure: Failure) -> None:
        pending = self._pending.get(failure.envelope_id)
        if pending is not None and not pending.done():
            pending.set_exception(Refusal(NOT_REACHED))
