"""Refusals of the workspace, for the app and for the person, and faults that tests ask for."""

from collections import deque
from dataclasses import dataclass
from typing import Any


class SlackError(Exception):
    """A Web API call is answered with `ok: false`; `code` is Slack's error code, `details` go into the answer."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details

    def body(self) -> dict[str, Any]:
        return {"ok": False, "error": self.code, **self.details}


def bad_arguments(*messages: str) -> SlackError:
    """`invalid_arguments` with one line per finding, in the form Slack gives them."""
    return SlackError(
        "invalid_arguments",
        response_metadata={"messages": [f"[ERROR] {message}" for message in messages]},
    )


class Refusal(Exception):
    """Refusal of a person's action; the text is the sentence they read."""


@dataclass(frozen=True)
class Fault:
    """Failure of one Web API call.

    `status` is the HTTP status, `error` the code in the body, `retry_after` the seconds of a `Retry-After` header;
    with `after_effect` the call is carried out first and only its answer is replaced.
    """

    status: int = 200
    error: str = "internal_error"
    retry_after: int | None = None
    after_effect: bool = False


RATE_LIMITED = Fault(status=429, error="ratelimited", retry_after=1)


class Faults:
    def __init__(self) -> None:
        self._planned: dict[str, deque[Fault]] = {}

    def plan(self, method: str, fault: Fault, times: int = 1) -> None:
        """Let the next calls of this method (`chat.postMessage`) fail like this, one fault a call."""
        self._planned.setdefault(method, deque()).extend([fault] * times)

    def take(self, method: str) -> Fault | None:
        planned = self._planned.get(method)
        return planned.popleft() if planned else None
