"""Errors, and the sentences that a calling program reads about them.

    CalendarError
    ├── ToolError            a finished sentence, shown as it is
    └── ServiceError         the calendar behind the tools refused or failed
        ├── BadRequest · Unauthorized · Forbidden · NotFound · Conflict · Gone · PreconditionFailed · RateLimited
        ├── Busy             it did nothing, and said when to ask again (429 or 503 with `Retry-After`)
        ├── NoRoom           it has no room for it, and wrote nothing (507)
        ├── TooMuch          its answer is longer than we read
        ├── MarksLost        it does not keep what we have to find in an event again
        ├── ServerTrouble    it answered 5xx
        │   └── NotDav       it answered something else than a CalDAV server does, or sends us away
        ├── PrivateNetwork   its address is not on the internet, and no other is allowed
        ├── ConnectionLost   it did not answer because no server is there
        └── NoAnswer         it did not answer in time

The texts are those of google-calendar-mcp 2.6.3, because for its callers the text is the only signal. Most tools show
the long form (`full`); `update-event` shows the upstream's own words (`bare`).
"""

from __future__ import annotations

from typing import ClassVar


class CalendarError(Exception):
    """Root of everything this package raises on purpose."""


class ToolError(CalendarError):
    """A sentence for the caller, complete by itself."""


class ServiceError(CalendarError):
    """The calendar refused or failed; `bare` is its own message, `full` what most tools show."""

    template: ClassVar[str] = "MCP error -32600: Google API error: {0}"
    default: ClassVar[str] = "Unknown error"

    def __init__(self, message: str | None = None) -> None:
        self.bare = self.default if message is None else message
        super().__init__(self.bare)

    @property
    def full(self) -> str:
        return self.template.format(self.bare)


class BadRequest(ServiceError):
    template = "MCP error -32600: Bad Request: {0}. Details: {0}"
    default = "Bad Request"


class Unauthorized(ServiceError):
    template = "MCP error -32600: Google API error: {0}. Details: {0} (Authorization)"
    default = "Invalid Credentials"


class Forbidden(ServiceError):
    template = "MCP error -32600: Access denied: {0}"
    default = "You need to have writer access to this calendar."


class NotFound(ServiceError):
    template = "MCP error -32600: Resource not found: {0}"
    default = "Not Found"


class Conflict(ServiceError):
    template = "MCP error -32600: Google API error: {0}. Details: {0}"
    default = "Conflict"


class Gone(ServiceError):
    template = "MCP error -32600: Google API error: {0}. Details: {0}"
    default = "Resource has been deleted"


class PreconditionFailed(ServiceError):
    template = "MCP error -32600: Google API error: {0}. Details: {0} (If-Match)"
    default = "Precondition Failed"


class RateLimited(ServiceError):
    template = "MCP error -32603: Rate limit exceeded. Please try again later. {0}"
    default = "Rate Limit Exceeded"


class Busy(RateLimited):
    """A text that our callers know ends with the seconds, which google-calendar-mcp has no words for."""

    template = "MCP error -32603: {0}"

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(f"{message}. Retry after {seconds} s.")


class NoRoom(Forbidden):
    """Refused for good rather than failed: trying again makes no room."""

    default = "Forbidden: the calendar server has no room left for it."


class MarksLost(Forbidden):
    """An event without our mark could never be changed or taken back."""

    default = "Forbidden: the calendar server does not keep the mark that tells my events from yours, so I write none."


class ServerTrouble(ServiceError):
    template = "MCP error -32603: Google API server error: {0}"
    default = "Backend Error"


class NotDav(ServerTrouble):
    """Perhaps there is a web page at that address."""


class TooMuch(ServiceError):
    """The answer was dropped; asking again brings the same one."""

    template = Forbidden.template

    def __init__(self, most: int) -> None:
        super().__init__(
            f"Forbidden: the calendar server answered with more than {most // 1_000_000} MB, which I do not read;"
            " please name a calendar with fewer events, or clear this one out."
        )


class ConnectionLost(ServiceError):
    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"request to {url} failed, reason: {reason}")


class PrivateNetwork(ServiceError):
    default = "The address is in a private network."


class NoAnswer(ServiceError):
    default = "The request timed out"


def invalid_arguments(tool: str, issues: list[str]) -> ToolError:
    """Return the refusal of arguments that do not fit the tool's declaration."""
    return ToolError(
        f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {'; '.join(issues)}"
    )


def invalid_request(sentence: str) -> ToolError:
    return ToolError(f"MCP error -32600: {sentence}")


def internal(sentence: str) -> ToolError:
    return ToolError(f"MCP error -32603: Internal error: {sentence}")
