"""Every error text that google-calendar-mcp 2.6.3 was seen to give, and what it means for reads and writes."""

from __future__ import annotations

import pytest

from caldav_mcp.errors import Forbidden, MarksLost, NoRoom, ServiceError, TooMuch
from fateforger.adapters.calendar.tools import SERVER, classify_refusal, extract_sentence, strip_wrapping
from fateforger.calendar.ports import Exists, Gone, Limited, Outcome, Rejected, Stale, Unauthorized, Unknown, WriteKind
from fateforger.calendar.refusals import RefusalKind
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)

QUOTA = """Rate limit exceeded. This may be due to missing quota project configuration.

Ensure your OAuth credentials include project_id information:
1. Check that your gcp-oauth.keys.json file contains project_id

Original error: User Rate Limit Exceeded"""
ACCESS = (
    'No account has write access to calendar "nobody@example.com". Available accounts: normal. Please ensure the '
    "calendar exists and you have the necessary permissions, or specify the 'account' parameter explicitly."
)
EVENTS = "https://www.googleapis.com/calendar/v3/calendars/primary/events"

TEXTS: list[tuple[str, RefusalKind]] = [
    # Google's answers, as `create-event`, `delete-event`, `get-event` and `list-events` show it.
    ("MCP error -32600: Bad Request: Invalid start time.. Details: Invalid start time.", RefusalKind.INVALID),
    (
        "MCP error -32600: Google API error: Invalid Credentials. Details: Invalid Credentials (Authorization)",
        RefusalKind.LOGIN,
    ),
    ("MCP error -32600: Access denied: Rate Limit Exceeded", RefusalKind.LIMITED),
    ("MCP error -32600: Access denied: Calendar usage limits exceeded.", RefusalKind.LIMITED),
    ("MCP error -32600: Access denied: You need to have writer access to this calendar.", RefusalKind.READ_ONLY),
    ("MCP error -32600: Access denied: Request had insufficient authentication scopes.", RefusalKind.LOGIN),
    ("MCP error -32600: Resource not found: Not Found", RefusalKind.NOT_FOUND),
    (
        "MCP error -32603: Internal error: Event with ID 'doesnotexist1' not found in calendar 'primary'.",
        RefusalKind.NOT_FOUND,
    ),
    ("Event ID 'planfocus00001' already exists. Please use a different ID.", RefusalKind.EXISTS),
    ("MCP error -32600: Google API error: Conflict. Details: Conflict", RefusalKind.CONFLICT),
    (
        "MCP error -32600: Google API error: Resource has been deleted. Details: Resource has been deleted",
        RefusalKind.DELETED,
    ),
    (
        "MCP error -32600: Google API error: Precondition Failed. Details: Precondition Failed (If-Match)",
        RefusalKind.CHANGED,
    ),
    ("MCP error -32603: Rate limit exceeded. Please try again later. Rate Limit Exceeded", RefusalKind.LIMITED),
    (f"MCP error -32600: {QUOTA}", RefusalKind.LIMITED),
    ("MCP error -32603: Google API server error: Backend Error", RefusalKind.TROUBLE),
    ("MCP error -32603: Google API server error: Service Unavailable", RefusalKind.TROUBLE),
    ("MCP error -32603: Google API server error: Rate Limit Exceeded", RefusalKind.LIMITED),
    (
        f"MCP error -32600: Google API error: request to {EVENTS} failed, reason: read ECONNRESET",
        RefusalKind.TROUBLE,
    ),
    ("MCP error -32600: Google API error: The operation was aborted.", RefusalKind.TROUBLE),
    (
        (
            "MCP error -32600: Authentication token is invalid or expired. Please re-run the authentication process "
            "(e.g., `npm run auth`)."
        ),
        RefusalKind.LOGIN,
    ),
    # The same, as `update-event` shows it.
    ("Invalid start time.", RefusalKind.INVALID),
    ("The specified time range is empty.", RefusalKind.INVALID),
    ("Invalid value for: colorId", RefusalKind.INVALID),
    ("Invalid Credentials", RefusalKind.LOGIN),
    ("invalid_grant", RefusalKind.LOGIN),
    ("Rate Limit Exceeded", RefusalKind.LIMITED),
    ("User Rate Limit Exceeded", RefusalKind.LIMITED),
    ("Calendar usage limits exceeded.", RefusalKind.LIMITED),
    ("Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user'", RefusalKind.LIMITED),
    ("You need to have writer access to this calendar.", RefusalKind.READ_ONLY),
    ("Shared properties can only be changed by the organizer of the event.", RefusalKind.FORBIDDEN),
    ("Forbidden", RefusalKind.FORBIDDEN),
    ("Not Found", RefusalKind.NOT_FOUND),
    ("Conflict", RefusalKind.CONFLICT),
    ("Resource has been deleted", RefusalKind.DELETED),
    ("Precondition Failed", RefusalKind.CHANGED),
    ("Backend Error", RefusalKind.TROUBLE),
    ("Service Unavailable", RefusalKind.TROUBLE),
    (f"request to {EVENTS} failed, reason: read ECONNRESET", RefusalKind.TROUBLE),
    ("The operation was aborted.", RefusalKind.TROUBLE),
    (f"Invalid response body while trying to fetch {EVENTS}: aborted", RefusalKind.TROUBLE),
    (f"invalid json response body at {EVENTS} reason: Unexpected end of JSON input", RefusalKind.TROUBLE),
    ("Invalid something that nobody has seen yet", RefusalKind.UNCLEAR),
    ("Missing time zone definition for start time.", RefusalKind.INVALID),
    # The same, as other resolved package versions show it.
    ("MCP error -32603: Internal error: Rate Limit Exceeded", RefusalKind.LIMITED),
    ("MCP error -32603: Internal error: Invalid Credentials", RefusalKind.LOGIN),
    ("MCP error -32603: Internal error: Not Found", RefusalKind.NOT_FOUND),
    ("MCP error -32603: Internal error: Resource has been deleted", RefusalKind.DELETED),
    ("MCP error -32603: Internal error: The requested identifier already exists.", RefusalKind.EXISTS),
    ("MCP error -32603: Internal error: You need to have writer access to this calendar.", RefusalKind.READ_ONLY),
    ("MCP error -32603: Internal error: Backend Error", RefusalKind.TROUBLE),
    ("MCP error -32603: Internal error: The operation was aborted.", RefusalKind.TROUBLE),
    # The server's own messages.
    (
        (
            'Duplicate event detected (95% similar). Event "Dentist" already exists. To create anyway, set allowDuplicates '
            "to true."
        ),
        RefusalKind.EXISTS,
    ),
    (
        (
            "MCP error -32603: Internal error: Invalid event ID: can only contain lowercase letters a-v and digits 0-9 "
            "(base32hex encoding)"
        ),
        RefusalKind.INVALID,
    ),
    (
        (
            "MCP error -32602: Input validation error: Invalid arguments for tool create-event: Must be ISO 8601 format "
            "at start"
        ),
        RefusalKind.INVALID,
    ),
    ("MCP error -32602: Tool no-such-tool not found", RefusalKind.INVALID),
    (f"MCP error -32600: {ACCESS}", RefusalKind.NO_CALENDAR),
    (
        'MCP error -32600: Calendar(s) not found: "No such name". Available calendars: "Me" (me@x)',
        RefusalKind.NO_CALENDAR,
    ),
    ('MCP error -32600: Calendar "No such name" not found. Available calendars: "Me" (me@x)', RefusalKind.NO_CALENDAR),
    ("Batch request failed: 503 Service Unavailable", RefusalKind.TROUBLE),
    ("MCP error -32600: No authenticated accounts available. Please run authentication first.", RefusalKind.LOGIN),
    ('MCP error -32600: Account "work" not found. Available accounts: normal', RefusalKind.LOGIN),
    (
        (
            "MCP error -32600: Multiple accounts available (a, b). You must specify the 'account' parameter to indicate "
            "which account to use."
        ),
        RefusalKind.LOGIN,
    ),
    ("MCP error -32600: Authentication required. Please run 'npm run auth' to authenticate.", RefusalKind.LOGIN),
    ("Authentication tokens are no longer valid. Please restart the server to re-authenticate.", RefusalKind.LOGIN),
    # A person's own text does not decide.
    (
        (
            'Duplicate event detected (95% similar). Event "Invalid Credentials: rate limit exceeded" already exists. To '
            "create anyway, set allowDuplicates to true."
        ),
        RefusalKind.EXISTS,
    ),
    (
        'MCP error -32600: Calendar(s) not found: "Rate Limit Exceeded". Available calendars: none',
        RefusalKind.NO_CALENDAR,
    ),
    # Unknown messages.
    ("Something else went wrong", RefusalKind.UNCLEAR),
    ("MCP error -32603: Internal error: Cannot read properties of undefined (reading 'items')", RefusalKind.UNCLEAR),
]


@pytest.mark.parametrize(("text", "refusal"), [*TEXTS, ("", RefusalKind.UNCLEAR)], ids=lambda x: str(x)[:60])
def test_the_meaning_of_a_text(text: str, refusal: RefusalKind) -> None:
    assert classify_refusal(text) is refusal


@pytest.mark.parametrize(("text", "refusal"), TEXTS, ids=[text[:60] for text, _ in TEXTS])
@pytest.mark.parametrize("wrapping", ["", "MCP error -32600: ", "MCP error -32603: Internal error: "])
def test_the_wrapping_does_not_matter(text: str, refusal: RefusalKind, wrapping: str) -> None:
    assert classify_refusal(wrapping + strip_wrapping(text)) is refusal


SAYS = "as it said"
UNKNOWN = Unknown(SAYS)
NO_LOGIN = Unauthorized(
    "The login to your calendar does not work (as it said). Please check it at the calendar server, or log in there again."
)
READ_ONLY = Rejected(
    "I may read this calendar but not write to it (as it said). Please ask for the right to make changes to it, or name"
    " another one in FATEFORGER_CALENDAR_ID."
)
NO_SUCH = Rejected(
    "The calendar server does not find your calendar (as it said). Please check that it still exists and that your login"
    " may use it."
)
WAIT = Limited(None, "Your calendar takes no more requests for the moment")
FORBIDDEN = Rejected("Your calendar does not allow it (as it said).")
LOST = Rejected(
    "This calendar no longer lets me change what I wrote (as it said). Please give me the right to make changes to it"
    " again, or connect it again."
)
INVALID = Rejected("Your calendar cannot take it (as it said).")
OUTCOMES: dict[RefusalKind, tuple[Outcome, Outcome, Outcome]] = {
    # create, update, delete
    RefusalKind.LOGIN: (NO_LOGIN, NO_LOGIN, NO_LOGIN),
    RefusalKind.LIMITED: (WAIT, WAIT, WAIT),
    RefusalKind.READ_ONLY: (READ_ONLY, LOST, LOST),
    RefusalKind.FORBIDDEN: (FORBIDDEN, LOST, LOST),
    RefusalKind.NO_CALENDAR: (NO_SUCH, NO_SUCH, NO_SUCH),
    RefusalKind.NOT_FOUND: (NO_SUCH, Gone(), Gone()),
    RefusalKind.EXISTS: (Exists(), UNKNOWN, UNKNOWN),
    RefusalKind.CONFLICT: (Exists(), Stale(), Stale()),
    RefusalKind.DELETED: (NO_SUCH, Gone(), Gone()),
    RefusalKind.CHANGED: (UNKNOWN, Stale(), Stale()),
    RefusalKind.EXPIRED: (UNKNOWN, UNKNOWN, UNKNOWN),
    RefusalKind.INVALID: (INVALID, INVALID, INVALID),
    RefusalKind.TROUBLE: (UNKNOWN, UNKNOWN, UNKNOWN),
    RefusalKind.UNCLEAR: (UNKNOWN, UNKNOWN, UNKNOWN),
}


@pytest.mark.parametrize("refusal", RefusalKind)
def test_what_a_refused_write_came_to(refusal: RefusalKind) -> None:
    writes: tuple[WriteKind, WriteKind, WriteKind] = ("create", "update", "delete")
    assert tuple(SERVER.to_outcome(refusal, SAYS, write) for write in writes) == OUTCOMES[refusal]


ERRORS: dict[RefusalKind, type[CalendarError]] = {
    RefusalKind.LOGIN: CalendarAuthFailed,
    RefusalKind.LIMITED: CalendarUnreachable,
    RefusalKind.READ_ONLY: CalendarReadOnly,
    RefusalKind.FORBIDDEN: CalendarReadOnly,
    RefusalKind.NO_CALENDAR: CalendarNotFound,
    RefusalKind.NOT_FOUND: CalendarNotFound,
    RefusalKind.EXISTS: CalendarIncomplete,
    RefusalKind.CONFLICT: CalendarIncomplete,
    RefusalKind.DELETED: CalendarNotFound,
    RefusalKind.CHANGED: CalendarIncomplete,
    RefusalKind.EXPIRED: CalendarIncomplete,
    RefusalKind.INVALID: CalendarIncomplete,
    RefusalKind.TROUBLE: CalendarUnreachable,
    RefusalKind.UNCLEAR: CalendarIncomplete,
}


@pytest.mark.parametrize("refusal", RefusalKind)
def test_what_a_refused_read_is(refusal: RefusalKind) -> None:
    error = SERVER.to_error(refusal, extract_sentence("MCP error -32603: Internal error: as it said\nand more"))
    assert type(error) is ERRORS[refusal]
    assert " (as it said)." in error.message


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NoRoom(), "the calendar server has no room left for it"),
        (MarksLost(), "the calendar server does not keep the mark that tells my events from yours, so I write none"),
        (Forbidden(), "You need to have writer access to this calendar"),
    ],
)
def test_the_person_reads_why_a_caldav_server_refuses_a_write(error: ServiceError, reason: str) -> None:
    """S429: not only that it does."""
    for text in (error.full, error.bare):
        outcome = SERVER.to_outcome(classify_refusal(text), extract_sentence(text), "create")
        assert isinstance(outcome, Rejected)
        assert f"({reason})" in outcome.reason


def test_the_person_reads_that_a_caldav_server_answers_too_much() -> None:
    """S429"""
    text = TooMuch(50_000_000).full
    said = SERVER.to_error(classify_refusal(text), extract_sentence(text)).message
    assert "(the calendar server answered with more than 50 MB, which I do not read; please name a calendar" in said
