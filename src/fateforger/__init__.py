"""Plan a day in a Slack thread, see it on a real calendar, take it back.

A Slack message becomes a typed command; a coordinator runs one stage of a planning session; a typed patch changes the
plan; the plan is compared with the calendar; the difference is carried out op by op with a journal that can take it
back.

The packages and their import order are listed in ARCHITECTURE.md.
"""

from __future__ import annotations

__version__ = "0.1.0"
