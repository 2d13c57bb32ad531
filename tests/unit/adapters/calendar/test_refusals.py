"""Every error text that google-calendar-mcp 2.6.3 was seen to give, and what it means for reads and writes."""

from __future__ import annotations

import pytest

from caldav_mcp.errors import Forbidden, MarksLost, NoRoom, ServiceError, TooMuch
from fateforger.adapters.calendar.refusals import Refusal, classify_refusal, strip_wrapping, to_error, to_outcome
from fateforger.calendar.guarded_writes import Write
from fateforger.calendar.ports import Exists, Gone, Limited, Outcome, Rejected, Stale, Unauthorized, Unknown
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

TEXTS: list[tuple[str, Refusal]] = [
    # What Google answers, as `create-event`, `delete-event`, `get-event` and `list-events` show it.
    ("MCP error -32600: Bad Request: Invalid start time.. Details: Invalid start time.", Refusal.INVALID),
    (
        "MCP error -32600: Google API error: Invalid Credentials. Details: Invalid Credentials (Authorization)",
        Refusal.LOGIN,
    ),
    ("MCP error -32600: Access denied: Rate Limit Exceeded", Refusal.LIMITED),
    ("MCP error -32600: Access denied: Calendar usage limits exceeded.", Refusal.LIMITED),
    ("MCP error -32600: Access denied: You need to have writer access to this calendar.", Refusal.READ_ONLY),
    ("MCP error -32600: Access denied: Request had insufficient authentication scopes.", Refusal.LOGIN),
    ("MCP error -32600: Resource not found: Not Found", Refusal.NOT_FOUND),
    (
        "MCP error -32603: Internal error: Event with ID 'doesnotexist1' not found in calendar 'primary'.",
        Refusal.NOT_FOUND,
    ),
    ("Event ID 'planfocus00001' already exists. Please use a different ID.", Refusal.EXISTS),
    ("MCP error -32600: Google API error: Conflict. Details: Conflict", Refusal.CONFLICT),
    (
        "MCP error -32600: Google API error: Resource has been deleted. Details: Resource has been deleted",
        Refusal.DELETED,
    ),
    (
        "MCP error -32600: Google API error: Precondition Failed. Details: Precondition Failed (If-Match)",
        Refusal.CHANGED,
    ),
    ("MCP error -32603: Rate limit exceeded. Please try again later. Rate Limit Exceeded", Refusal.LIMITED),
    (f"MCP error -32600: {QUOTA}", Refusal.LIMITED),
    ("MCP error -32603: Google API server error: Backend Error", Refusal.TROUBLE),
    ("MCP error -32603: Google API server error: Service Unavailable", Refusal.TROUBLE),
    ("MCP error -32603: Google API server error: Rate Limit Exceeded", Refusal.LIMITED),
    (
        f"MCP error -32600: Google API error: request to {EVENTS} failed, reason: read ECONNRESET",
        Refusal.TROUBLE,
    ),
    ("MCP error -32600: Google API error: The operation was aborted.", Refusal.TROUBLE),
    (
        (
            "MCP error -32600: Authentication token is invalid or expired. Please re-run the authentication process "
            "(e.g., `npm run auth`)."
        ),
        Refusal.LOGIN,
    ),
    # The same, as `update-event` shows it.
    ("Invalid start time.", Refusal.INVALID),
    ("The specified time range is empty.", Refusal.INVALID),
    ("Invalid value for: colorId", Refusal.INVALID),
    ("Invalid Credentials", Refusal.LOGIN),
    ("invalid_grant", Refusal.LOGIN),
    ("Rate Limit Exceeded", Refusal.LIMITED),
    ("User Rate Limit Exceeded", Refusal.LIMITED),
    ("Calendar usage limits exceeded.", Refusal.LIMITED),
    ("Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user'", Refusal.LIMITED),
    ("You need to have writer access to this calendar.", Refusal.READ_ONLY),
    ("Shared properties can only be changed by the organizer of the event.", Refusal.FORBIDDEN),
    ("Forbidden", Refusal.FORBIDDEN),
    ("Not Found", Refusal.NOT_FOUND),
    ("Conflict", Refusal.CONFLICT),
    ("Resource has been deleted", Refusal.DELETED),
    ("Precondition Failed", Refusal.CHANGED),
    ("Backend Error", Refusal.TROUBLE),
    ("Service Unavailable", Refusal.TROUBLE),
    (f"request to {EVENTS} failed, reason: read ECONNRESET", Refusal.TROUBLE),
    ("The operation was aborted.", Refusal.TROUBLE),
    (f"Invalid response body while trying to fetch {EVENTS}: aborted", Refusal.TROUBLE),
    (f"invalid json response body at {EVENTS} reason: Unexpected end of JSON input", Refusal.TROUBLE),
    ("Invalid something that nobody has seen yet", Refusal.UNCLEAR),
    ("Missing time zone definition for start time.", Refusal.INVALID),
    # The same, as other resolved package versions show it.
    ("MCP error -32603: Internal error: Rate Limit Exceeded", Refusal.LIMITED),
    ("MCP error -32603: Internal error: Invalid Credentials", Refusal.LOGIN),
    ("MCP error -32603: Internal error: Not Found", Refusal.NOT_FOUND),
    ("MCP error -32603: Internal error: Resource has been deleted", Refusal.DELETED),
    ("MCP error -32603: Internal error: The requested identifier already exists.", Refusal.EXISTS),
    ("MCP error -32603: Internal error: You need to have writer access to this calendar.", Refusal.READ_ONLY),
    ("MCP error -32603: Internal error: Backend Error", Refusal.TROUBLE),
    ("MCP error -32603: Internal error: The operation was aborted.", Refusal.TROUBLE),
    # What the server says by itself.
    (
        (
            'Duplicate event detected (95% similar). Event "Dentist" already exists. To create anyway, set allowDuplicates '
            "to true."
        ),
        Refusal.EXISTS,
    ),
    (
        (
            "MCP error -32603: Internal error: Invalid event ID: can only contain lowercase letters a-v and digits 0-9 "
            "(base32hex encoding)"
        ),
        Refusal.INVALID,
    ),
    (
        (
            "MCP error -32602: Input validation error: Invalid arguments for tool create-event: Must be ISO 8601 format "
            "at start"
        ),
        Refusal.INVALID,
    ),
    ("MCP error -32602: Tool no-such-tool not found", Refusal.INVALID),
    (f"MCP error -32600: {ACCESS}", Refusal.NO_CALENDAR),
    ('MCP error -32600: Calendar(s) not found: "No such name". Available calendars: "Me" (me@x)', Refusal.NO_CALENDAR),
    ('MCP error -32600: Calendar "No such name" not found. Available calendars: "Me" (me@x)', Refusal.NO_CALENDAR),
    ("Batch request failed: 503 Service Unavailable", Refusal.TROUBLE),
    ("MCP error -32600: No authenticated accounts available. Please run authentication first.", Refusal.LOGIN),
    ('MCP error -32600: Account "work" not found. Available accounts: normal', Refusal.LOGIN),
    (
        (
            "MCP error -32600: Multiple accounts available (a, b). You must specify the 'account' parameter to indicate "
            "which account to use."
        ),
        Refusal.LOGIN,
    ),
    ("MCP error -32600: Authentication required. Please run 'npm run auth' to authenticate.", Refusal.LOGIN),
    ("Authentication tokens are no longer valid. Please restart the server to re-authenticate.", Refusal.LOGIN),
    # What a person may have written does not decide.
    (
        (
            'Duplicate event detected (95% similar). Event "Invalid Credentials: rate limit exceeded" already exists. To '
            "create anyway, set allowDuplicates to true."
        ),
        Refusal.EXISTS,
    ),
    ('MCP error -32600: Calendar(s) not found: "Rate Limit Exceeded". Available calendars: none', Refusal.NO_CALENDAR),
    # What nobody has seen yet.
    ("Something else went wrong", Refusal.UNCLEAR),
    ("MCP error -32603: Internal error: Cannot read properties of undefined (reading 'items')", Refusal.UNCLEAR),
]


@pytest.mark.parametrize(("text", "refusal"), [*TEXTS, ("", Refusal.UNCLEAR)], ids=lambda x: str(x)[:60])
def test_the_meaning_of_a_text(text: str, refusal: Refusal) -> None:
    assert classify_refusal(text) is refusal


@pytest.mark.parametrize(("text", "refusal"), TEXTS, ids=[text[:60] for text, _ in TEXTS])
@pytest.mark.parametrize("wrapping", ["", "MCP error -32600: ", "MCP error -32603: Internal error: "])
def test_the_wrapping_does_not_matter(text: str, refusal: Refusal, wrapping: str) -> None:
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
FORBIDDEN = Rejected("Your calendar does not allow it (as it said).")
INVALID = Rejected("Your calendar cannot take it (as it said).")
OUTCOMES: dict[Refusal, tuple[Outcome, Outcome, Outcome]] = {
    # create, update, delete
    Refusal.LOGIN: (NO_LOGIN, NO_LOGIN, NO_LOGIN),
    Refusal.LIMITED: (Limited(), Limited(), Limited()),
    Refusal.READ_ONLY: (READ_ONLY, READ_ONLY, READ_ONLY),
    Refusal.FORBIDDEN: (FORBIDDEN, FORBIDDEN, FORBIDDEN),
    Refusal.NO_CALENDAR: (NO_SUCH, NO_SUCH, NO_SUCH),
    Refusal.NOT_FOUND: (NO_SUCH, Gone(), Gone()),
    Refusal.EXISTS: (Exists(), UNKNOWN, UNKNOWN),
    Refusal.CONFLICT: (Exists(), Stale(), Stale()),
    Refusal.DELETED: (NO_SUCH, Gone(), Gone()),
    Refusal.CHANGED: (UNKNOWN, Stale(), Stale()),
    Refusal.INVALID: (INVALID, INVALID, INVALID),
    Refusal.TROUBLE: (UNKNOWN, UNKNOWN, UNKNOWN),
    Refusal.UNCLEAR: (UNKNOWN, UNKNOWN, UNKNOWN),
}


@pytest.mark.parametrize("refusal", Refusal)
def test_what_a_refused_write_came_to(refusal: Refusal) -> None:
    writes: tuple[Write, Write, Write] = ("create", "update", "delete")
    assert tuple(to_outcome(refusal, SAYS, write) for write in writes) == OUTCOMES[refusal]


ERRORS: dict[Refusal, type[CalendarError]] = {
    Refusal.LOGIN: CalendarAuthFailed,
    Refusal.LIMITED: CalendarUnreachable,
    Refusal.READ_ONLY: CalendarReadOnly,
    Refusal.FORBIDDEN: CalendarReadOnly,
    Refusal.NO_CALENDAR: CalendarNotFound,
    Refusal.NOT_FOUND: CalendarNotFound,
    Refusal.EXISTS: CalendarIncomplete,
    Refusal.CONFLICT: CalendarIncomplete,
    Refusal.DELETED: CalendarNotFound,
    Refusal.CHANGED: CalendarIncomplete,
    Refusal.INVALID: CalendarIncomplete,
    Refusal.TROUBLE: CalendarUnreachable,
    Refusal.UNCLEAR: CalendarIncomplete,
}


@pytest.mark.parametrize("refusal", Refusal)
def test_what_a_refused_read_is(refusal: Refusal) -> None:
    error = to_error(refusal, "MCP error -32603: Internal error: as it said\nand more")
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
    """S434: not only that it does."""
    for text in (error.full, error.bare):
        outcome = to_outcome(classify_refusal(text), text, "create")
        assert isinstance(outcome, Rejected)
        assert f"({reason})" in outcome.reason


def test_the_person_reads_that_a_caldav_server_answers_too_much() -> None:
    """S434"""
    text = TooMuch(50_000_000).full
    said = to_error(classify_refusal(text), text).message
    assert "(the calendar server answered with more than 50 MB, which I do not read; please name a calendar" in said
