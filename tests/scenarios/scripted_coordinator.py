"""A coordinator that follows a small script, to drive the chat side with: a counter in a thread, and a form."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, datetime

from fateforger.calendar.connections import ConnectionView
from fateforger.conversation.ports import FindLink
from fateforger.conversation.session_starter import to_reply
from fateforger.errors import BadInput, StoreError
from fateforger.ports.people import Claim, OwnerRecord
from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Controls,
    DatePick,
    DayView,
    Feedback,
    Heading,
    Menu,
    Note,
    Part,
    Picture,
    ProgressCallback,
    Prose,
    ignore_progress,
    plain,
)
from fateforger.session.commands import BackgroundCommand, Command, InboxCommand, SessionCommand
from fateforger.session.commands.day import AddTasks, ChooseDate, SetFrame, TimeboxingCommitDate
from fateforger.session.commands.plan import ShowHistory
from fateforger.session.commands.thread import KeepTitle, Opening, StageAction, StartTimeboxing, TimeboxingUserReply
from fateforger.session.forms import (
    ChoiceField,
    Click,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    NumberField,
    TextField,
)
from fateforger.session.messages import Outgoing
from fateforger.session.model import Planning, Session, Task
from fateforger.session.queue_commands import QueueCommandBase
from fateforger.session.stages import Move
from fateforger.session.store import Sessions
from fateforger.ui.home_card import build_own_data

WELCOME_TEXT = "Hello! Shall we plan your day?"
ENDED = "That block is gone."


class Anybody(str):
    """Each person who asks: these scenarios are about several who all plan."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)


class ScriptedCoordinator:
    """Follows the contract of :class:`~fateforger.conversation.ports.CoordinatorPort`; what a session has seen so far is its
    ``overview``, one line for each command handled, and each command is answered with the state card."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.before_handling: Callable[[InboxCommand], Awaitable[None]] = _at_once
        self.running = 0
        self.most_running = 0
        self.owner_of_calendar: str | None = None
        self.reader = False
        self.tell: ProgressCallback = ignore_progress
        self.stops: list[tuple[str, datetime]] = []
        self.stoppable = False
        self.when_stopped: Callable[[], None] = lambda: None
        self.mute = False
        self.resumed = asyncio.Event()
        self.replies = False
        self.prompts: tuple[str, ...] = ()
        self.day: DayView | None = None

    async def handle(self, command: InboxCommand, tell: ProgressCallback = ignore_progress) -> None:
        self.tell = tell
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await self.before_handling(command)
            await self._carry_out(command)
        finally:
            self.running -= 1

    async def resume(self) -> None:
        self.resumed.set()

    @property
    def reads_words(self) -> bool:
        return self.reader

    async def on_opening(self, opening: Opening) -> bool:
        await self.before_handling(opening)
        session_id = await self.session_in_thread(opening.channel, str(opening.thread_ts))
        if session_id is not None:
            await self._carry_out(to_reply(session_id, opening))
        return session_id is not None

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        if not (self.stoppable and self.running):
            return False
        self.stops.append((session_id, asked_at))
        self.when_stopped()
        return True

    def read_click(self, click: Click) -> SessionCommand:
        about = {
            "command_id": click.command_id,
            "user_id": click.user_id,
            "at": click.at,
            "session_id": click.session_id,
        }
        match click.action:
            case "count":
                return TimeboxingUserReply(**about, text=f"count {click.target}")
            case "date" if isinstance(click.value, date):
                return ChooseDate(**about, date=click.value)
            case "row.remove":
                return TimeboxingUserReply(**about, text=f"remove {click.target}")
            case "confirm":
                return TimeboxingCommitDate(**about)
            case "cancel":
                return StageAction(**about, move=Move.CANCEL)
            case "show_history":
                return ShowHistory(**about)
            case _:
                raise BadInput(f"I don't know the button {click.action}.")

    async def open_form(self, request: FormRequest) -> Form:
        if request.form == "gone":
            raise BadInput(ENDED)
        if request.form in {"steps", "step"}:
            return self._steps(request, await self.sessions.load(request.session_id))
        fields: list[FormField] = []
        for row in range(request.size + 1):
            fields += [
                TextField(name=f"title{row}", label="Title", optional=row > 0),
                NumberField(name=f"minutes{row}", label="Minutes", optional=True, minimum=5, maximum=600),
            ]
        depths = (Choice(label="Deep", value="deep"), Choice(label="Shallow", value="shallow"))
        fields.append(ChoiceField(name="depth", label="Depth", choices=depths, value="deep"))
        return Form(
            form=request.form,
            session_id=request.session_id,
            target=request.target,
            title="Add tasks",
            submit="Add",
            fields=tuple(fields),
            size=request.size,
            more="One more row",
        )

    def _steps(self, request: FormRequest, session: Session | None) -> Form:
        """Return a searchable list of the steps, and above it one of them."""
        lines = (session.planning.overview or "").splitlines() if session else []
        words = request.chosen.get("words", request.target if request.form == "steps" else "")
        done = "" if request.done is None else " Done."
        if request.form == "step":
            parts: tuple[FormField, ...] = (
                Prose(text=f"{request.target}, {len(lines)} steps.{done}"),
                Controls(items=(Button(label="Count here", action="count", target="deep"),)),
            )
            return Form(form="step", session_id=request.session_id, target=request.target, title="Step",
                        submit=None, close="Back", fields=parts)  # fmt: skip
        return Form(
            form="steps",
            session_id=request.session_id,
            target=words,
            title="Steps",
            submit="Search",
            close="Close",
            fields=(
                TextField(name="words", label="Words", optional=True, value=words, edition=int(words == "")),
                *(
                    Prose(text=plain(line), control=Button(label="Look", action="form.step", target=line))
                    for line in lines
                    if words in line
                ),
                Controls(
                    items=(
                        Button(label="Everything", action="turn.words"),
                        Button(label="Look at a step", action="form.step", target="a step"),
                    )
                ),
            ),
        )

    async def is_carried_out(self, command: Command) -> bool:
        assert not isinstance(command, StartTimeboxing | QueueCommandBase), (
            "no form here starts a session or is about the queue"
        )
        session = await self.sessions.load(command.session_id)
        return session is None or command.command_id in session.thread.handled

    async def read_form(self, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
        if submission.form == "steps":
            words = {"words": str(submission.values["words"] or "")}
            asked = FormRequest(
                form="steps", session_id=submission.session_id, user_id=submission.user_id, chosen=words
            )
            return self._steps(asked, await self.sessions.load(submission.session_id))
        titles = [v for k, v in submission.values.items() if k.startswith("title") and v]
        if "nothing" in titles:
            return FormErrors(errors={"title0": "That is not something to do."})
        return AddTasks(
            command_id=submission.command_id,
            user_id=submission.user_id,
            at=submission.at,
            session_id=submission.session_id,
            tasks=tuple(Task(id=str(n), title=str(title)) for n, title in enumerate(titles)),
        )

    async def owner(self, session_id: str) -> str | None:
        session = await self.sessions.load(session_id)
        return session.user_id if session else None

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        session = await self.sessions.in_thread(channel, thread_ts)
        return session.id if session else None

    async def find_open(self, channel: str, thread_ts: str, user_id: str) -> Session | None:
        session = await self.sessions.in_thread(channel, thread_ts)
        return session if session and session.user_id == user_id and session.is_open else None

    async def is_beginning(self, user_id: str, channel: str, at: datetime) -> bool:
        begun = await self.sessions.of_user(user_id)
        return any(each.thread_ts is None and each.channel == channel for each in begun)

    async def has_calendar(self, user_id: str) -> bool:
        return (await self.calendar_owner()).person == user_id

    async def describe_connection(self, user_id: str, address: str = "") -> ConnectionView:
        return ConnectionView()

    async def join_calendar(self, user_id: str, address: str) -> str:
        return ""

    async def disconnect_calendar(self, user_id: str) -> str:
        return ""

    async def calendar_owner(self) -> OwnerRecord:
        return OwnerRecord(self.owner_of_calendar or Anybody())

    async def claim_calendar(self, user_id: str, code: str) -> Claim:
        return Claim.NO_CODE

    def welcome(self, unread: str | None = None) -> Card:
        start = Button(label="Plan my day", action="start", style="primary")
        return Card(text=WELCOME_TEXT, parts=(Prose(text=WELCOME_TEXT), Controls(items=(start,))))

    async def home(self, user_id: str, *, tz: str = "", find_link: FindLink | None = None) -> Card:
        sessions = await self.sessions.of_user(user_id)
        start = Button(label="Plan my day", action="start")
        return Card(
            text="Home", parts=(Heading(text=f"{len(sessions)} plans"), Controls(items=(start,)), *build_own_data())
        )

    async def _carry_out(self, command: InboxCommand) -> None:
        if isinstance(command, StartTimeboxing):
            session = Session(
                id=f"s-{command.command_id}",
                user_id=command.user_id,
                channel=command.channel,
                thread_ts=command.thread_ts,
                created_at=command.at,
                touched_at=command.at,
                tz=command.tz,
                date=command.date or command.at.date(),
                planning=Planning(overview=""),
            )
            if await self.sessions.load(session.id) is not None:
                return
        else:
            assert not isinstance(command, Opening | QueueCommandBase), "they have an entry point of their own"
            found = await self.sessions.load(command.session_id)
            if found is None or command.command_id in found.thread.handled:
                return
            if isinstance(command, KeepTitle):
                await self.sessions.save(found.with_thread(named=True), expected=found.version)
                return
            assert not isinstance(command, BackgroundCommand), "nobody watches, interprets or closes here"
            session = found.with_planning(overview=f"{found.planning.overview}{describe_command(command)}\n")
        session = session.after_command(command.command_id, command.at)
        slot = "root" if isinstance(command, StartTimeboxing) else "state"
        message = Outgoing(
            id=f"{session.id}-{session.version}",
            session_id=session.id,
            channel=session.channel,
            slot=slot,
            card=state_card(session, self.prompts, self.day),
            retire=("root",) if slot == "state" else (),
        )
        if self.replies and isinstance(command, TimeboxingUserReply):
            said = Prose(text=f"Heard: {plain(command.text)}")
            card = message.card.model_copy(update={"parts": (said, *message.card.parts)})
            farewell = Card(text="further down", parts=(Note(text="further down"),))
            reply = Card(text=f"Heard: {command.text}", parts=(said,))
            message = message.model_copy(
                update={"card": card, "retire": ("state",), "farewell": farewell, "reply": reply}
            )
        await self.sessions.save(session, expected=session.version, outgoing=() if self.mute else (message,))


def describe_command(command: SessionCommand) -> str:
    """Return one line for the request of a command."""
    match command:
        case TimeboxingUserReply():
            return command.text
        case AddTasks():
            return "tasks " + ", ".join(task.title for task in command.tasks)
        case ChooseDate():
            return f"date {command.date}"
        case SetFrame():
            return "frame"
        case _:
            return command.kind


def state_card(session: Session, prompts: tuple[str, ...] = (), day: DayView | None = None) -> Card:
    lines = (session.planning.overview or "").splitlines()
    parts: list[Part] = [
        Heading(text=f"{len(lines)} steps"),
        Prose(text="\n".join(f"- {plain(line, 200)}" for line in lines[-30:]) or "_Nothing yet_"),
        Prose(
            text=f"**{session.date}** {session.tz}",
            control=Menu(
                target="row-1",
                choices=(Choice(label="Remove", value="row.remove"), Choice(label="Edit", value="form.edit")),
            ),
        ),
        Controls(
            items=(
                Button(label="Count", action="count", target="one", style="primary"),
                Button(label="Add tasks", action="form.tasks"),
                Button(label="Gone", action="form.gone"),
                Button(label="All steps", action="form.steps"),
                Button(label="Unknown", action="mystery"),
                DatePick(action="date", selected=session.date),
            )
        ),
        Note(text="Scripted"),
        *([Picture(day=day)] if day else []),
        *([Feedback(turn=session.thread.handled[-1], prompts=prompts)] if prompts else []),
    ]
    return Card(text=f"{len(lines)} steps", parts=tuple(parts))


async def _at_once(_command: InboxCommand) -> None:
    return


def failing(times: int, error: StoreError) -> Callable[[InboxCommand], Awaitable[None]]:
    """Return an action before handling that fails that many times."""
    left = times

    async def fail(_command: InboxCommand) -> None:
        nonlocal left
        if left:
            left -= 1
            raise error

    return fail


async def slowly(_command: InboxCommand) -> None:
    """Give other turns a chance to overtake."""
    await asyncio.sleep(0.01)
