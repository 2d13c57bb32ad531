"""Limits on input from calendar servers, calendar programs and callers of the tools.

Each limit is checked where the input comes in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# Answers of calendar servers, and objects

MAX_ANSWER_BYTES: Final = 50_000_000
"""An unpacked answer of a calendar server: about 50,000 events of usual size, and as much as one program can hold."""
MAX_REDIRECTS: Final = 5
"""Redirects of one request: more are probably a cycle."""
MAX_BODY_BYTES: Final = 20_000_000
"""A request to the embedded server: an event with large pictures in it."""
MAX_OBJECT_CHARS: Final = 8_000_000
"""A calendar object that is parsed: enough for an event with a large picture in it."""
MAX_COMPONENTS: Final = 500
"""Components of an object: changed occurrences, reminders, time zones. Parsing each takes time."""

# Recurrence

MAX_DATES: Final = 500
"""Dates in the RDATE and EXDATE lines of an object. A rule counts as a hundred dates, a rule of a time zone as ten."""
MAX_BY_VALUES: Final = 60
"""Values of one BY part of a plain rule: all minutes of an hour."""
MAX_INTERVAL: Final = 10_000
"""INTERVAL of a plain rule."""
MAX_PLAIN_SPAN: Final = timedelta(days=100)
"""Time span within which plain rules have few occurrences."""
MAX_PLAIN_YEAR: Final = 2200
"""Year until which plain rules have few occurrences before that span."""
MAX_OBJECT_SECONDS: Final = 1.0
"""Computing time for one object that is not plain. An hourly series since 2020 takes a quarter of it."""
MAX_QUESTION_SECONDS: Final = 3.0
"""Computing time for the objects of one question, separately for those in the thread and those in the process. The
callers wait ten seconds."""
MAX_PROCESS_SECONDS: Final = 6.0
"""Time until the process is killed, however busy the machine is."""
MAX_PUT_SECONDS: Final = 1.0
"""Computing time for the work that the embedded server does on an object that is put there."""
MAX_PUT_PROCESS_SECONDS: Final = 8.0
"""Time until the process that tries this work is killed, however busy the machine is."""
MAX_EXPANDED_BYTES: Final = 4_000_000
"""All occurrences of one object, as the process writes them."""

# The servers

MAX_REQUEST_SECONDS: Final = 20.0
"""Time for the head of a request to arrive at the embedded server."""
MAX_UNFINISHED: Final = 32
"""Connections to the embedded server whose request has not arrived: each takes a thread. Above the limit, the oldest is
closed."""
MAX_CALL_BYTES: Final = 1_000_000
"""A request to the tools: a call with the longest title, notes and guests that a calendar allows is a tenth of it."""

# The tools and the page

MAX_CALENDARS: Final = 50
"""Calendars in one query, as at Google."""
MAX_FREEBUSY_SPAN: Final = timedelta(days=90)
"""Time span of one query for free and busy times, as at Google."""
MAX_EVENT_ID_CHARS: Final = 1024
"""Id of an event, as at Google."""
MAX_MOVE_MINUTES: Final = 7 * 24 * 60
"""Distance by which an event is dragged or stretched on the page: a week."""
