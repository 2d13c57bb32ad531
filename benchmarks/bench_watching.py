"""From an edit on the calendar until the thread shows it: the real program with its embedded calendar, a committed day,
and somebody who edits in another calendar program. Promised are 10 s.

Elapsed time, for it is waiting that is measured: from the answer to the edit until the page's live socket brings the
card that says so. The edits come at moments spread over the pace of the watching, so the worst is a look that was just
missed.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.scenarios.caldav import CalDav
from tests.scenarios.day import all_steps
from tests.scenarios.program import Program

from benchmarks.bench_page import Page, open_page
from fateforger.conversation.calendar_watch import WATCH_SECONDS

ROUNDS = 10
PROMISED = 10.0
MORNING = "2026-03-02T07:00:00+01:00"
NOON = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)


async def measure_edit(page: Page, calendar: CalDav, number: int) -> float:
    """Return the seconds until the thread shows a new meeting."""
    title, start = f"Fire drill {number}", NOON + timedelta(minutes=10 * number)
    while not page.frames.empty():
        page.frames.get_nowait()
    await asyncio.to_thread(calendar.put, f"drill-{number}", title, start, start + timedelta(minutes=10))
    began = time.perf_counter()
    await page.until(lambda message: f"New on your calendar: “{title}”" in json.dumps(message, ensure_ascii=False))
    return time.perf_counter() - began


async def measure_edits(program: Program) -> list[float]:
    """Return one figure for each edit."""
    calendar = CalDav(program.caldav_url())
    took: list[float] = []
    async with open_page(program.address) as page:
        for number in range(ROUNDS):
            await asyncio.sleep(WATCH_SECONDS * number / ROUNDS)
            took.append(await measure_edit(page, calendar, number))
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder) / "data", {"FATEFORGER_NOW": MORNING}).start()
        try:
            for _ in all_steps(program.person()):
                pass
            took = asyncio.run(measure_edits(program))
        finally:
            program.stop()
    median, worst = statistics.median(took), max(took)
    print(f"edit to thread: median {median:.1f} s, worst of {ROUNDS} {worst:.1f} s (promised: {PROMISED:.0f} s)")
    json.dump({"watching": {"median_s": median, "worst_s": worst, "promised_s": PROMISED}}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
