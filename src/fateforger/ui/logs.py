"""The logs of the operator's commands and of agents' calls, in plain words for App Home and the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from fateforger.agents.clients import KEPT_FOR, UNKNOWN_TOOL, Call
from fateforger.planning.timing import zone
from fateforger.ports.people import OperatorAction
from fateforger.session.cards import Divider, Heading, Note, Part, Prose, plain
from fateforger.text import format_day, label_text, mark_message, ngettext
from fateforger.text import gettext as _

READ_RULES, CHANGED_RULES = mark_message("your rules were read"), mark_message("your rules were changed")
READ_TASKS, CHANGED_TASKS = mark_message("your queue was read"), mark_message("your queue was changed")
CHANGED_CONNECTION = mark_message("the connection to your calendar was changed")
READ_CALENDAR = mark_message("your calendar was read")
CHANGED_CALENDAR = mark_message("your calendar was changed")
RETRIED, DROPPED = (
    mark_message("something that had failed for you was tried again"),
    mark_message("something that had failed for you was deleted"),
)
UNKNOWN = "unknown"
"""A command of another version of the program."""
DID = {
    "person export": mark_message("everything that I know about you was exported"),
    "calendars show": mark_message("the connection to your calendar was looked at"),
    "calendars connect": CHANGED_CONNECTION,
    "calendars disconnect": CHANGED_CONNECTION,
    "constraints export": READ_RULES,
    "constraints list": READ_RULES,
    "constraints query": READ_RULES,
    "constraints add": CHANGED_RULES,
    "constraints archive": CHANGED_RULES,
    "constraints import": CHANGED_RULES,
    "constraints migrate": CHANGED_RULES,
    "constraints restore": CHANGED_RULES,
    "constraints supersede": CHANGED_RULES,
    "mcp client add": mark_message("an agent was allowed to work for you"),
    "mcp client revoke": mark_message("an agent was shut out that worked for you"),
    "mcp log": mark_message("the list of what agents did for you was read"),
    "sync diff": READ_CALENDAR,
    "sync history": READ_CALENDAR,
    "sync apply": CHANGED_CALENDAR,
    "sync undo": CHANGED_CALENDAR,
    "tasks durations": READ_TASKS,
    "tasks list": READ_TASKS,
    "tasks show": READ_TASKS,
    "tasks pull": CHANGED_TASKS,
    "tasks add": CHANGED_TASKS,
    "tasks done": CHANGED_TASKS,
    "tasks move": CHANGED_TASKS,
    "tasks note": CHANGED_TASKS,
    "tasks pause": CHANGED_TASKS,
    "tasks priority": CHANGED_TASKS,
    "tasks rename": CHANGED_TASKS,
    "tasks resume": CHANGED_TASKS,
    "tasks retry": CHANGED_TASKS,
    "tasks stop": CHANGED_TASKS,
    "admin jobs retry": RETRIED,
    "admin messages retry": RETRIED,
    "admin jobs drop": DROPPED,
    "admin messages drop": DROPPED,
    UNKNOWN: mark_message("something was done with your data"),
}
"""Words for each command that is noted."""
SHOWN = 8
"""Lines of a log that App Home shows."""
LOOKED_AT = 100
"""The latest entries of a log that become these lines."""

_Entry = TypeVar("_Entry", OperatorAction, Call)


def _format_lines(
    entries: Sequence[_Entry], tz: str, key: Callable[[_Entry], object], describe: Callable[[_Entry, str, int], str]
) -> str:
    """Return a line for what was done on a day, however often; ``entries`` are the newest first.

    If there may be older entries of the last line, it has no count.
    """
    groups: dict[object, list[_Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.at.astimezone(zone(tz)).date(), key(entry)), []).append(entry)
    cut = entries[-1] if len(entries) >= LOOKED_AT else None
    counted = ((same[0], 1 if same[-1] is cut else len(same)) for same in islice(groups.values(), SHOWN))
    return "\n".join(f"- {describe(newest, tz, count)}" for newest, count in counted)


def _describe_did(action: OperatorAction) -> str:
    return _(DID[action.command if action.command in DID else UNKNOWN])


def describe_action(action: OperatorAction, tz: str, count: int = 1) -> str:
    """Return an action in one line: when, what, by whom and how often on that day."""
    at = action.at.astimezone(zone(tz))
    when = _("{day} at {time:%H:%M}", day=format_day(at.date()), time=at)
    return ngettext(
        "{line} (by {operator})",
        "{line} (by {operator}, {count} times that day)",
        count,
        line=label_text(when, _describe_did(action)),
        operator=plain(action.operator),
    )


def build_operator_parts(actions: Sequence[OperatorAction], tz: str) -> tuple[Part, ...]:
    """Return the latest actions for a person's App Home; nothing if there are none."""
    if not actions:
        return ()
    lines = _format_lines(actions, tz, lambda action: (_describe_did(action), action.operator), describe_action)
    kept = _("The people who run me did this. “What you know about me” shows all of it.")
    return (Divider(), Heading(text=_("What was done with your data")), Prose(text=lines), Note(text=kept))


CALLED = {
    "record_steps": mark_message("reported steps of a task"),
    "lay_out_parts": mark_message("broke a goal into parts"),
    "create_task": mark_message("put a task into your queue"),
    "list_tasks": mark_message("read your queue"),
    "pull": mark_message("took a task to work on"),
    "finish_task": mark_message("said how a task went"),
    "get_plan": mark_message("read the plan of a day"),
    "propose_patch": mark_message("proposed a change of a plan"),
    "list_constraints": mark_message("read your rules"),
    "propose_constraint": mark_message("proposed a rule"),
    "get_proposal": mark_message("asked what came of a proposal"),
    UNKNOWN_TOOL: mark_message("tried something that I don't offer"),
}
"""Words for a call of each tool, after the name of its client."""
RESULTS = {
    "done": mark_message("done"),
    "refused": mark_message("refused"),
    "failed": mark_message("failed"),
    None: mark_message("not finished"),
}


def describe_call(call: Call, tz: str, count: int = 1) -> str:
    """Return a call in one line: when, who, what, the result and how often on that day."""
    at = call.at.astimezone(zone(tz))
    when = _("{day} at {time:%H:%M}", day=format_day(at.date()), time=at)
    known = call.tool if call.tool in CALLED else UNKNOWN_TOOL
    did = _("{client} {did}", client=plain(call.client), did=_(CALLED[known]))
    result = _(RESULTS[call.outcome])
    if call.outcome == "done" and call.about:
        result = f"{result}, `{plain(call.about)}`"
    line = label_text(when, did)
    return ngettext("{line} ({result})", "{line} ({result}, {count} times that day)", count, line=line, result=result)


def build_log_parts(calls: Sequence[Call], tz: str) -> tuple[Part, ...]:
    """Return the latest calls for a person's App Home; nothing if no agent has asked for anything."""
    if not calls:
        return ()
    lines = _format_lines(calls, tz, lambda call: (call.client, call.tool, call.outcome, call.about), describe_call)
    kept = _(
        "I keep this list for {days} days, without anyone's words. `fateforger mcp log` shows all of it.",
        days=KEPT_FOR.days,
    )
    return (Divider(), Heading(text=_("What other agents did for you")), Prose(text=lines), Note(text=kept))
