"""Radicale's checks of an object that is put into a calendar, in a process of its own that may be stopped.

Ends with 0 when Radicale is done with it in time, also when it is going to refuse it for another reason.
"""

from __future__ import annotations

import signal
import sys

from radicale import config
from radicale.item import Item, check_and_sanitize_items, read_components


def main() -> None:
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    most = config.load().get("server", "max_vevent_rrule_occurrence")
    # Nothing catches this signal, so the process ends when its time is up.
    signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
    try:
        items = read_components(text)
        check_and_sanitize_items(items, most, tag="VCALENDAR")
        Item(collection_path="checked", vobject_item=items[0]).prepare()
    except Exception:  # noqa: BLE001  Radicale answers for what is wrong with it; here it only counts that an answer comes
        return


if __name__ == "__main__":
    main()
