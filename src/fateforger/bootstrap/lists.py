"""The external task list, if one is configured."""

from __future__ import annotations

from fateforger.adapters.tasklists import LOOK_SECONDS, TickTick
from fateforger.bootstrap.check import Check
from fateforger.config import Settings
from fateforger.coordinator.outside import ExternalTaskList
from fateforger.errors import TasksUnavailable
from fateforger.ports import Clock

LIST_FIX = "Check TICKTICK_MCP_URL, TICKTICK_MCP_TOKEN and TICKTICK_MCP_TOOL; a day can be planned without it."
_PATIENT = 8.0


def build_external_list(settings: Settings, clock: Clock) -> ExternalTaskList | None:
    """Return the external task list; ``None`` if none is configured. It does not connect yet."""
    ticktick = _ticktick(settings, LOOK_SECONDS)
    return None if ticktick is None else ExternalTaskList(ticktick, clock)


async def check_lists(settings: Settings, *, seconds: float = _PATIENT) -> tuple[Check, ...]:
    """Check for ``doctor`` whether the task list can be read; return nothing if none is configured."""
    ticktick = _ticktick(settings, seconds)
    if ticktick is None:
        return ()
    try:
        count = len(await ticktick.open_tasks())
    except TasksUnavailable as error:
        return (Check("ticktick", "broken", f"{error.message} The reason: {error.reason}.", LIST_FIX),)
    return (Check("ticktick", "real", f"{count} open task{'' if count == 1 else 's'} can be offered."),)


def _ticktick(settings: Settings, seconds: float) -> TickTick | None:
    if settings.ticktick_mcp_url is None:
        return None
    token = settings.ticktick_mcp_token
    return TickTick(
        settings.ticktick_mcp_url,
        tz=settings.time_zone,
        token=None if token is None else token.get_secret_value(),
        tool=settings.ticktick_mcp_tool,
        seconds=seconds,
    )
