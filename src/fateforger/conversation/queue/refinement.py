"""Going through the tasks of a queue, one at a time, until each is clear enough to be planned (S217, S218).

The task that is shown has the focus of its thread: what the person says there without naming another one is about it.
The focus ends after an hour without a word, when they have enough, or when no task lacks anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from fateforger.conversation.queue.cards import SHOW, build_reply, describe_details, format_task
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.work import Tools
from fateforger.planning.task_details import PLAIN
from fateforger.planning.timing import zone
from fateforger.session.cards import Button, Card, Controls, Note, Prose, plain
from fateforger.session.messages import Focus, RecentTalk
from fateforger.session.queue_commands import RefineTasks, ReviseTask
from fateforger.tasks.task import Gap, QueuedTask, find_gaps, name_priority
from fateforger.text import gettext as _
from fateforger.text import join_sentences, join_words, mark_message, ngettext
from fateforger.ui.card_parts import START
from fateforger.values import replace

FOCUS_FOR = timedelta(hours=1)
MISSING = {
    Gap.LENGTH: mark_message("how long it takes"),
    Gap.DONE_WHEN: mark_message("how you know that it is done"),
}
CLEAR = mark_message("Each task in your queue is clear enough to be planned.")
ENOUGH = mark_message("Fine, we leave it at that. The rest of your queue stays as it is.")
MOST_SEEN = 200


async def refine(tools: Tools, command: RefineTasks) -> Card:
    """Show the next task that lacks something, and give it the focus. Raises ``StoreError``."""
    if command.ends:
        await _keep(tools, command.user_id, None)
        return build_reply(_(ENOUGH), SHOW.localize())
    seen: tuple[str, ...] = ()
    if command.seen:
        before = await _find_focus(tools, command.user_id)
        seen = (*(() if before is None else before.seen), command.seen)
    return await _show_next(tools, command.user_id, (command.channel, command.thread_ts), seen, tz=command.tz)


async def go_on(tools: Tools, command: ReviseTask, said: str) -> tuple[Card, Focus] | None:
    """Return the card that follows a change of the task in focus, and where it belongs; ``None`` for any other task.

    ``said`` is what came of the change. Raises ``StoreError``.
    """
    focus = await _find_focus(tools, command.user_id)
    if focus is None or focus.task_id != command.task_id:
        return None
    place = (focus.channel, focus.thread_ts)
    return await _show_next(tools, command.user_id, place, focus.seen, tz=command.tz, said=said), focus


async def _show_next(
    tools: Tools, user_id: str, place: tuple[str, str | None], seen: tuple[str, ...], *, tz: str, said: str = ""
) -> Card:
    queue = await read_queue(tools.tasks, user_id)
    unclear = [task for task in queue if find_gaps(task) and task.id not in seen]
    if not unclear:
        await _keep(tools, user_id, None)
        plan = Button(label=_(START.label), action=START.action)
        return build_reply(join_sentences(said, _(CLEAR)), plan, SHOW.localize())
    until = tools.clock.now() + FOCUS_FOR
    channel, thread_ts = place
    task_id = unclear[0].id
    focus = Focus(task_id=task_id, seen=seen[-MOST_SEEN:], channel=channel, thread_ts=thread_ts, until=until)
    await _keep(tools, user_id, focus)
    return _build_card(unclear, until.astimezone(zone(tz or tools.tz)), said)


def _build_card(unclear: Sequence[QueuedTask], until: datetime, said: str) -> Card:
    """Return the card of the first of the tasks that lack something."""
    task, *rest = unclear
    missing = join_words([_(MISSING[gap]) for gap in find_gaps(task)])
    lacks = _("Missing: {missing}.", missing=missing)
    facts = [name_priority(task.spec.priority)]
    if task.spec.details != PLAIN:
        facts.append(describe_details(task.spec.details))
    more = ngettext("{count} more comes after it.", "{count} more come after it.", len(rest)) if rest else ""
    ask = _("Tell me here, or fill it in.")
    head = _("Let's make this one clear: {task}", task=format_task(task))
    return Card(
        text=join_sentences(said, plain(task.spec.title, 200) + ":", lacks),
        parts=(
            *((Prose(text=said),) if said else ()),
            Prose(text=f"{head} {', '.join(filter(None, facts))}\n{join_sentences(lacks, ask)}"),
            Controls(
                items=(
                    Button(label=_("Fill it in…"), action="form.queue_edit", target=task.id, style="primary"),
                    RefineTasks.next.button(task.id),
                    RefineTasks.end.button(task.id),
                )
            ),
            Note(
                text=join_sentences(
                    more,
                    _("What you say here is about this task until {time:%H:%M}, or until it is enough.", time=until),
                )
            ),
        ),
    )


async def _find_focus(tools: Tools, user_id: str) -> Focus | None:
    talk = await tools.talks.of(user_id)
    focus = None if talk is None else talk.focus
    return None if focus is None or focus.until <= tools.clock.now() else focus


async def _keep(tools: Tools, user_id: str, focus: Focus | None) -> None:
    talk = await tools.talks.of(user_id) or RecentTalk(at=tools.clock.now())
    await tools.talks.keep(user_id, replace(talk, focus=focus))
