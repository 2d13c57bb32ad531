"""Bolt's listeners: each payload is recorded before Bolt acknowledges it.

Slack redelivers an event that was not acknowledged; for a click, a form or a command it tells the person that it
failed. So while the database cannot be written to, nothing is acknowledged.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from slack_bolt.app.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse

from fateforger.conversation.queue.forms import Message
from fateforger.errors import StoreError
from fateforger.metrics import ACK_SECONDS as ACK_METRIC
from fateforger.ports.clock import Clock
from fateforger.ports.traces import begin_trace
from fateforger.session.cards import Card
from fateforger.session.commands.rules import OUTSIDE_ACTIONS
from fateforger.session.forms import FormRequest, FormSubmission, FormValue
from fateforger.slack.access import People, Said, build_message
from fateforger.slack.admission import FOR_STRANGERS
from fateforger.slack.delivery import KeyedLocks
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.home import Home
from fateforger.slack.ids import (
    ACTION_MARK,
    CALENDAR_PREFIX,
    FEEDBACK,
    FORM_PREFIX,
    MORE,
    PERSON_PREFIX,
    PROPOSAL_PREFIX,
    QUEUE_PREFIX,
    RITUAL_PREFIX,
    SAVE_AS_TASK,
    SAY,
    START,
    STOP,
    TURN_PREFIX,
    VALUE_ACTION,
    WELCOME,
    action_of,
    field_name,
)
from fateforger.slack.payloads import (
    NOT_A_NUMBER,
    ControlUse,
    Json,
    MessageSaid,
    Place,
    command_id,
    find_stranger,
    list_entries,
    parse_change,
    parse_control,
    parse_form,
    parse_message,
    parse_place,
    parse_vote,
    read_chosen,
    read_value,
    read_words,
)
from fateforger.text import PULL, REFINE, TASKS, TIMEBOX, WEEK, command_name, speak
from fateforger.text import gettext as _
from fateforger.ui.home_card import OPEN_THREAD
from fateforger.values import replace
from fateforger.workers.people import LanguageService

START_SECONDS, VIEW_SECONDS = 15, 3
"""Time after a click that begins something, or that shows something, in which another one is a double click."""
CLOSE_SECONDS = 3.0
ACK_SECONDS = 0.05
"""Bolt sends an acknowledgement only after the listener has returned."""

BY_PEOPLE = frozenset({None, "file_share", "me_message", "thread_broadcast"})
"""Subtypes of messages that people write; the others are edits, joins, topics and the like."""
CHANGES = frozenset({"message_changed", "message_deleted"})
ANY = re.compile("")

log = logging.getLogger(__name__)

Answer = dict[str, Any] | Said | None
"""Body of the acknowledgement: a message for a command, a ``response_action`` for a form, or nothing."""

Reply = Coroutine[Any, Any, Answer]
Read = Callable[[Json], Reply | None]
"""Reads a payload; returns the call that handles it, or ``None`` if there is nothing to do."""


class Listeners:
    """Listeners of the app. Each reads its payload and calls what handles it."""

    def __init__(
        self,
        requests: RequestHandler,
        forms: FormHandler,
        home: Home,
        languages: LanguageService,
        *,
        clock: Clock,
        people: People,
    ) -> None:
        self._requests = requests
        self._languages = languages
        self._forms = forms
        self._home = home
        self._clock = clock
        self._people = people
        self._locks = KeyedLocks()
        self._open = True
        self._running = 0
        self._idle = asyncio.Event()

    def register(self, app: AsyncApp) -> None:
        """Register all listeners. Bolt calls the first one that matches."""
        listen = self._listen
        app.use(_leave_out_bots)
        app.command(command_name(TIMEBOX))(listen(self._timebox))
        for command in (PULL, TASKS, WEEK, REFINE):
            app.command(command_name(command))(listen(partial(self._queue, command)))
        app.global_shortcut(START)(listen(self._shortcut))
        app.message_shortcut(SAVE_AS_TASK)(listen(self._save_as_task))
        app.event("message")(listen(self._message))
        app.event("app_mention")(listen(self._message))
        app.event("app_home_opened")(listen(self._app_home))
        app.event("user_change")(listen(self._user_change, gated=False))
        app.event("agent_session_stopped")(listen(self._stop_session, in_order=False))
        app.event("agent_session_title_changed")(listen(self._keep_title))
        app.view(ANY)(listen(self._submission))
        app.action(ANY, matchers=[_is_in_form])(listen(self._form_control))
        app.action(_action(FEEDBACK))(listen(self._vote))
        app.action(_action(START))(listen(_on_control(self._start)))
        app.action(_action(STOP))(listen(_on_control(self._stop), in_order=False))
        app.action(_action(SAY))(listen(_on_control(self._say)))
        app.action(_action(PROPOSAL_PREFIX, prefix=True))(listen(_on_control(self._proposal)))
        app.action(_action(PERSON_PREFIX, prefix=True))(listen(_on_control(self._personal_data)))
        app.action(_action(OPEN_THREAD))(listen(_ignore))
        app.action(_action(CALENDAR_PREFIX, prefix=True))(listen(_on_control(self._connection)))
        app.action(ANY)(listen(_on_control(self._control)))
        app.error(_handle_error)

    async def close(self) -> None:
        """Stop acknowledging, so that Slack redelivers to the next process.

        A payload that is being recorded is finished and acknowledged.
        """
        self._open = False
        self._idle.clear()
        if self._running:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), CLOSE_SECONDS)
            await asyncio.sleep(ACK_SECONDS)

    def _listen(
        self, read: Read, *, in_order: bool = True, gated: bool = True
    ) -> Callable[..., Awaitable[BoltResponse]]:
        """Return a listener that acknowledges a payload once it is handled, in the language of its person.

        Payloads of one thread, or else of one person, are handled in the order of their arrival. If it is ``gated``,
        people who may not plan here are only told so.
        """

        async def listener(body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck) -> BoltResponse:
            if not self._open:
                return _leave_unanswered()
            try:
                call = read(body)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                log.warning("a payload of type %s cannot be read: %r", body.get("type"), error)
                call = None
            if call is None:
                return await ack()
            self._running += 1
            try:
                with (
                    begin_trace("intake", kind=_name_kind(body)),
                    ACK_METRIC.time(),
                    speak((await self._languages.of(context.user_id or "")).code),
                ):
                    refusal = await self._find_refusal(body, context) if gated else None
                    if refusal is not None:
                        call.close()
                        return await ack(_build_answer(await self._refuse(body, context, refusal)))
                    if not in_order:
                        return await ack(_build_answer(await call))
                    async with self._locks.turn(_conversation(body, context)):
                        answer = await call
                    return await ack(_build_answer(answer))
            except StoreError as error:
                log.error("a payload is not acknowledged: %s", error.message)  # noqa: TRY400  the sentence says it all
                return _leave_unanswered()
            finally:
                self._running -= 1
                if not self._running:
                    self._idle.set()

        return listener

    async def _find_refusal(self, body: Json, context: AsyncBoltContext) -> str | None:
        """Return why the person may not plan. Everyone but a stranger may see and erase what is stored about them.

        A stranger may have the same id as a member, because ids are unique only within a workspace.
        """
        if find_stranger(body) is not None:
            return _(FOR_STRANGERS)
        actions = body.get("actions") or [{}]
        if context.user_id is None or str(actions[0].get("action_id", "")).startswith(PERSON_PREFIX):
            return None
        return await self._people.find_refusal(context.user_id)

    async def _refuse(self, body: Json, context: AsyncBoltContext, words: str) -> Answer:
        """Tell a person, who alone can read it, why they may not plan, and return what to acknowledge with."""
        user_id, event = str(context.user_id), body.get("event") or {}
        if "command" in body:
            return words
        if event.get("type") == "app_home_opened":
            self._home.show(user_id)
        elif event.get("type") == "app_mention" or event.get("channel_type") == "im":
            place = Place(event["channel"], event.get("thread_ts"))
            await self._requests.send_ephemeral(user_id, place, words, cause=str(body.get("event_id") or ""))
        elif not event:
            await self._requests.send_ephemeral(
                user_id, parse_place(body) if "container" in body else Place(None), words
            )
        return {"response_action": "clear"} if body.get("type") == "view_submission" else None

    # --- commands and shortcuts

    def _timebox(self, body: Json) -> Reply:
        once, place = command_id("slash", body["trigger_id"]), Place(body["channel_id"])
        return self._requests.start(once, body["user_id"], place, said=body.get("text", "").strip())

    def _queue(self, command: str, body: Json) -> Reply:
        once, place = command_id("slash", body["trigger_id"]), Place(body["channel_id"])
        said = body.get("text", "").strip()
        return self._requests.ask(once, body["user_id"], place, command, said)

    def _shortcut(self, body: Json) -> Reply:
        once = command_id("shortcut", body["trigger_id"])
        return self._requests.press_start(once, body["user"]["id"], Place(None))

    def _save_as_task(self, body: Json) -> Reply:
        """Open a form that creates a task from a message."""
        channel, message = body["channel"]["id"], body["message"]
        request = FormRequest(
            form="queue_save",
            session_id="",
            user_id=body["user"]["id"],
            target=Message(channel=channel, ts=message["ts"]).model_dump_json(),
            chosen={"text": read_words(message)},
        )
        return self._forms.open(request, body["trigger_id"], Place(channel, message.get("thread_ts")))

    # --- events

    def _message(self, body: Json) -> Reply | None:
        if body["event"].get("subtype") in CHANGES:
            changed = parse_change(body)
            return None if changed is None else self._requests.note_change(changed)
        message = parse_message(body)
        return None if message is None else self._requests.hear(message)

    def _app_home(self, body: Json) -> Reply:
        event = body["event"]
        if event.get("tab") == "messages":
            return self._requests.meet(event["user"], event["channel"])
        return self._home.open(event["user"])

    def _user_change(self, body: Json) -> Reply:
        """Handle a changed profile: another time zone, a guest who became a member, a person who left."""
        user = body["event"]["user"]
        return self._people.note_user(user["id"], user)

    def _stop_session(self, body: Json) -> Reply:
        """Handle Slack's own Stop button in a thread."""
        event = body["event"]
        channel, thread_ts = event["channel"], event["thread_ts"]
        once = command_id("stop", channel, thread_ts, event["event_ts"])
        return self._requests.stop(once, event["user"], Place(channel, thread_ts))

    def _keep_title(self, body: Json) -> Reply:
        """Handle a title that the person chose for a thread."""
        event = body["event"]
        channel, thread_ts = event["channel"], event["thread_ts"]
        once = command_id("title", channel, thread_ts, event["event_ts"])
        return self._requests.keep_title(once, channel, thread_ts)

    # --- controls of cards and of App Home

    def _vote(self, body: Json) -> Reply | None:
        rating = parse_vote(body, self._clock.now())
        return None if rating is None else self._requests.rate(rating, parse_place(body))

    def _start(self, use: ControlUse) -> Reply:
        # Anyone may press it, each for themselves, and again on another day.
        press, unread = use.to_press(START_SECONDS), use.control.target
        once, place, welcome_ts = press.command_id, Place(use.place.channel), None
        if use.address.v == WELCOME:
            place, welcome_ts = use.place, use.message_ts
        return self._requests.press_start(once, use.user_id, place, unread=unread, welcome_ts=welcome_ts, press=press)

    def _stop(self, use: ControlUse) -> Reply:
        # The same button may appear again for the next turn, so the turn is part of the id.
        once = command_id("stop", use.address.session, use.control.target)
        return self._requests.stop(once, use.user_id, use.place, use.address.session)

    def _say(self, use: ControlUse) -> Reply | None:
        """Handle a button that says something for the person."""
        channel, thread_ts, ts = use.place.channel, use.place.thread_ts, use.message_ts
        if channel is None or thread_ts is None or ts is None:
            return None
        press = use.to_press(START_SECONDS)
        said = MessageSaid(
            command_id=press.command_id,
            user_id=use.user_id,
            channel=channel,
            thread_ts=thread_ts,
            ts=ts,
            text=use.control.target,
            event="block_actions",
            direct=True,
            mention=True,
            opens=False,
            press=press,
        )
        return self._requests.hear(said)

    def _proposal(self, use: ControlUse) -> Reply:
        """Handle a button that anyone may press. Permission is checked later, so the id includes the user."""
        once, answer = command_id("answer", use.command_id, use.user_id), use.control.action
        answer = answer.removeprefix(PROPOSAL_PREFIX)
        return self._requests.answer(once, use.user_id, use.place, use.control.target, answer)

    def _personal_data(self, use: ControlUse) -> Reply:
        return self._requests.about(command_id("about", use.command_id, use.user_id), use.user_id, use.control.action)

    def _connection(self, use: ControlUse) -> Reply:
        """Handle a button about the connection of a calendar. A click that opened a page is reported, too."""
        once = command_id("connection", use.command_id, use.user_id)
        return self._requests.connection(once, use.user_id, use.control.action)

    def _control(self, use: ControlUse) -> Reply:
        action = use.control.action
        if not action.startswith(FORM_PREFIX):
            # The card of a plan stays; the queue is shown next to it.
            outside = action.startswith((QUEUE_PREFIX, RITUAL_PREFIX)) or action in OUTSIDE_ACTIONS
            replaced = use.message_ts if outside and not use.address.session else None
            click, press = use.to_click(self._clock.now()), use.to_press(VIEW_SECONDS)
            return self._requests.click(click, use.place, replaced, press)
        request = FormRequest(
            form=action.removeprefix(FORM_PREFIX),
            session_id=use.address.session,
            user_id=use.user_id,
            # A select that opens a form passes the subject of the form as its value.
            target=use.value if isinstance(use.value, str) else use.control.target,
        )
        return self._forms.open(request, use.trigger_id, use.place)

    # --- forms

    def _submission(self, body: Json) -> Reply | None:
        view = body["view"]
        form = parse_form(view)
        if form is None:
            return None
        entries = list_entries(view)
        values: dict[str, FormValue] = {}
        unreadable: dict[str, str] = {}
        for name, (_block, entry) in entries.items():
            try:
                values[name] = read_value(entry)
            except ValueError:
                values[name] = None
                unreadable[name] = _(NOT_A_NUMBER)
        submission = FormSubmission(
            form=form.address.form,
            session_id=form.address.session,
            user_id=body["user"]["id"],
            command_id=command_id("submit", view["id"], view["hash"]),
            at=self._clock.now(),
            target=form.address.target,
            size=form.address.size,
            values=values,
            untouched=form.find_untouched(values),
        )
        blocks = {name: block_id for name, (block_id, _) in entries.items()}
        return self._forms.submit(submission, form, blocks, unreadable)

    def _form_control(self, body: Json) -> Reply | None:
        view, action = body["view"], body["actions"][0]
        form = parse_form(view)
        if form is None:
            return None
        request, name = form.build_request(body["user"]["id"]), action_of(action["action_id"])
        if name == MORE:
            return self._forms.refresh(replace(request, size=request.size + 1, chosen=read_chosen(view)), form)
        if name == VALUE_ACTION and field_name(action["block_id"]) is not None:
            return self._forms.refresh(replace(request, chosen=read_chosen(view)), form)
        use = parse_control(body)
        if use is None:
            return None
        name = use.control.action
        if name.startswith(TURN_PREFIX):
            chosen = read_chosen(view) | {name.removeprefix(TURN_PREFIX): use.subject}
            return self._forms.refresh(replace(request, chosen=chosen), form)
        if name.startswith(FORM_PREFIX):
            other = replace(request, form=name.removeprefix(FORM_PREFIX), target=use.subject, size=0)
            return self._forms.open(other, body["trigger_id"], Place(None), below=form.address)
        return self._forms.press(use.to_click(self._clock.now()), form)


def _build_answer(answer: Answer) -> dict[str, Any] | str:
    """Return the body of an acknowledgement."""
    if isinstance(answer, Card) or (isinstance(answer, str) and answer):
        return build_message(answer)
    return answer or ""


def _on_control(handle: Callable[[ControlUse], Reply | None]) -> Read:
    """Return a function that reads the use of a control; a foreign control is left alone."""

    def read(body: Json) -> Reply | None:
        use = parse_control(body)
        return None if use is None else handle(use)

    return read


def _ignore(_body: Json) -> Reply | None:
    """Handle a click on a link, which the person's own Slack has followed."""
    return None


def _action(name: str, *, prefix: bool = False) -> re.Pattern[str]:
    """Return the pattern of the ids of an action's controls, or of all actions with a prefix."""
    return re.compile(f"^{re.escape(name)}" + ("" if prefix else f"({re.escape(ACTION_MARK)}|$)"))


async def _leave_out_bots(
    body: dict[str, Any], context: AsyncBoltContext, ack: AsyncAck, next_: Callable[[], Awaitable[None]]
) -> BoltResponse | None:
    """Acknowledge what no person wrote before it is routed: most events are about messages of the bot itself."""
    event = body.get("event") or {}
    message = event.get("previous_message") or event
    if event.get("subtype") not in BY_PEOPLE | CHANGES or message.get("bot_id") is not None:
        return await ack()
    if message is not event:
        context["user_id"] = message.get("user")  # Bolt takes the one of what is there now, perhaps a tombstone
    await next_()
    return None


async def _is_in_form(body: dict[str, Any]) -> bool:
    return (body.get("view") or {}).get("type") == "modal"


_KINDS = frozenset({"block_actions", "event_callback", "message_action", "shortcut", "view_closed", "view_submission"})


def _name_kind(body: Json) -> str:
    """Return the kind of a payload, as Slack names it."""
    return str(body["type"]) if body.get("type") in _KINDS else "slash_command" if "command" in body else "other"


def _conversation(body: Json, context: AsyncBoltContext) -> str:
    """Return the key within which payloads stay in order: a thread, or else a person."""
    message = body.get("event") or body.get("container") or {}
    thread_ts = message.get("thread_ts") or message.get("message_ts") or message.get("ts")
    return f"{context.channel_id} {thread_ts}" if thread_ts else str(context.user_id)


async def _handle_error(error: Exception, body: dict[str, Any]) -> BoltResponse | None:
    """Acknowledge a payload that no listener is for, because Slack would send it again; log any other error."""
    if isinstance(error, BoltUnhandledRequestError):
        log.debug("ignored: a payload of type %s", body.get("type"))
        return BoltResponse(status=200)
    log.error("a payload failed", exc_info=error)
    return None


def _leave_unanswered() -> BoltResponse:
    # Socket Mode does not send an answer other than 200 at all.
    return BoltResponse(status=503, body="")
