"""The log of agents' calls in plain words, for App Home and the command line."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.agents.clients import KEPT_FOR, UNKNOWN_TOOL, Call
from fateforger.planning.timing import zone
from fateforger.session.cards import Divider, Heading, Note, Part, Prose, plain
from fateforger.session.day import day_words
from fateforger.text import gettext as _
from fateforger.text import label_text, mark_message

DID = {
    "record_steps": mark_message("reported steps of a task"),
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
SHOWN = 8
"""Calls on App Home."""


def describe_call(call: Call, tz: str) -> str:
    """Return a call in one line: when, who, what, and the result."""
    at = call.at.astimezone(zone(tz))
    when = _("{day} at {time:%H:%M}", day=day_words(at.date()), time=at)
    known = call.tool if call.tool in DID else UNKNOWN_TOOL
    did = _("{client} {did}", client=plain(call.client), did=_(DID[known]))
    result = _(RESULTS[call.outcome])
    if call.outcome == "done" and call.about:
        result = f"{result}, `{plain(call.about)}`"
    return _("{line} ({result})", line=label_text(when, did), result=result)


def build_log_parts(calls: Sequence[Call], tz: str) -> tuple[Part, ...]:
    """Return the latest calls for a person's App Home; nothing if no agent has asked for anything."""
    if not calls:
        return ()
    lines = "\n".join(f"- {describe_call(call, tz)}" for call in calls[:SHOWN])
    kept = _(
        "I keep this list for {days} days, without anyone's words. `fateforger mcp log` shows all of it.",
        days=KEPT_FOR.days,
    )
    return (Divider(), Heading(text=_("What other agents did for you")), Prose(text=lines), Note(text=kept))
