"""Messages outside sessions: the welcome, cards of no session, and agents' proposals."""

from __future__ import annotations

import asyncio
import logging
import uuid

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.agents.clients import Proposal, ProposalState
from fateforger.conversation.agent_proposals import Approvals
from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import InternalError
from fateforger.ports.jobs import Job, NewJob
from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.commands.thread import Opening
from fateforger.session.store import Sent
from fateforger.slack import phrases
from fateforger.slack.access import People, Said, calendar_refusal, find_private_place, is_private
from fateforger.slack.blocks import remove_controls
from fateforger.slack.client import (
    MessageGone,
    MessageTooLong,
    SlackCallError,
    call_slack,
    retry_transient,
)
from fateforger.slack.delivery import PAUSES, moved_card
from fateforger.slack.ids import SAY, WELCOME
from fateforger.slack.mrkdwn import Mrkdwn
from fateforger.slack.payloads import MessageSaid, Place, command_id
from fateforger.slack.poster import Poster
from fateforger.text import gettext as _
from fateforger.text import mark_message, speak, use_language
from fateforger.ui.connection_cards import proposal_card
from fateforger.values import replace
from fateforger.workers.lanes import (
    GREETING,
    NOTIFICATION,
    PROPOSAL,
    SENTENCE,
    Greeting,
    JobHandler,
    Notification,
    ProposalAnswer,
    ProposalUpdate,
    Sentence,
    TryLater,
)
from fateforger.workers.people import LanguageService

FIRST_WORDS = (
    mark_message("Plan the rest of today"),
    mark_message("Plan tomorrow"),
    mark_message("Plan tomorrow, 8 to 16:30"),
)
"""Suggested first messages to a model. They stay visible, so they must be valid at any hour."""

log = logging.getLogger(__name__)


def build_sentence_job(user_id: str, place: Place, words: str, *, cause: str = "") -> NewJob:
    """Return the job that shows a sentence to one person alone, after the earlier ones for them.

    With a ``cause``, the same words are said once.
    """
    where = {"channel": place.channel, "thread_ts": place.thread_ts}
    sentence = Sentence(user_id=user_id, **where, words=words, is_markup=isinstance(words, Mrkdwn))
    dedupe = command_id("said", cause, words) if cause else uuid.uuid4().hex
    return SENTENCE.build_job(sentence, key=user_id, dedupe=dedupe)


def build_sentence_handler(people: People) -> JobHandler:
    """Return the handler that shows a sentence to one person alone."""

    async def perform(sentence: Sentence, _job: Job) -> None:
        with retry_transient(f"a sentence to {sentence.user_id} was not delivered"):
            words = Mrkdwn(sentence.words) if sentence.is_markup else sentence.words
            await people.show(sentence.user_id, Place(sentence.channel, sentence.thread_ts), words)

    return SENTENCE.handle(perform)


def greeting_job(said: MessageSaid | Opening, words: Said | None = None) -> NewJob:
    """Return the job that welcomes a person once per message, or tells them ``words`` instead.

    A card is a refusal, and built again when it is sent: the link in it must not be stored.
    """
    channel, thread_ts = said.heard_place
    refused = said.user_id if isinstance(words, Card) else None
    text = words if isinstance(words, str) else None
    unread = said.text if isinstance(said, Opening) and not said.withheld else ""
    greeting = Greeting(channel=channel, thread_ts=thread_ts, words=text, refused=refused, said=unread)
    return GREETING.build_job(greeting, key=f"{channel} {thread_ts}", dedupe=said.command_id)


def first_greeting_job(user_id: str, channel: str, *, refused: bool = False) -> NewJob:
    """Return the job that welcomes a person to their direct messages once ever; the same if they are ``refused``."""
    greeting = Greeting(channel=channel, thread_ts=None, refused=user_id if refused else None)
    dedupe = f"{'refused' if refused else 'first'}-{user_id}"
    return GREETING.build_job(greeting, key=f"{channel} {user_id}", dedupe=dedupe)


def build_greeting_handler(door: CoordinatorPort, people: People, poster: Poster, client: AsyncWebClient) -> JobHandler:
    """Return the handler that posts the welcome card in the person's thread, or at the top of their direct messages.

    First messages are suggested once: at the message box where Slack supports that, otherwise on the card.
    """

    async def perform(greeting: Greeting, job: Job) -> None:
        channel, thread_ts, words = greeting.channel, greeting.thread_ts, greeting.words
        with retry_transient(f"no welcome in {channel}"):
            # An earlier try may have posted it and died before recording it.
            if job.attempts > 1 and await poster.find(channel, thread_ts, WELCOME) is not None:
                return
            with speak(greeting.language):
                refused = greeting.refused
                refusal = None if refused is None else await calendar_refusal(door, people, refused)
                if refusal is not None:
                    card = refusal
                elif words is not None:
                    card = Card(text=words, parts=(Prose(text=words),))
                elif door.reads_words and not (is_private(channel) and await suggest(client, channel)):
                    card = add_first_words(door.welcome())
                else:
                    is_unread = thread_ts is not None and not door.reads_words
                    card = door.welcome(greeting.said if is_unread else None)
            await poster.post(channel, thread_ts, card, session="", v=WELCOME, for_all=True)

    return GREETING.handle(perform)


def add_first_words(card: Card) -> Card:
    """Return a card with the suggested first messages as buttons."""
    words = Controls(items=tuple(Button(label=text, action=SAY, target=text) for text in map(_, FIRST_WORDS)))
    return replace(card, parts=(*card.parts, words))


async def suggest(client: AsyncWebClient, channel: str) -> bool:
    """Suggest first messages at the message box of direct messages; return ``False`` if Slack does not support that."""
    prompts = [{"title": text, "message": text} for text in map(_, FIRST_WORDS)]
    try:
        await call_slack(
            client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, prompts=prompts, title=_(phrases.SUGGESTIONS)
            )
        )
    except SlackCallError as trouble:
        log.info("nothing is suggested in %s: %s", channel, trouble)
        return False
    return True


async def retire_welcome(poster: Poster, door: CoordinatorPort, where: Sent) -> None:
    """Remove the button of a used welcome card. Cosmetic: a failure is only logged."""
    try:
        await poster.change(where, remove_controls(door.welcome()), session="", v=WELCOME, for_all=True)
    except SlackCallError as trouble:
        log.warning("a welcome card keeps its button: %s", trouble)


def build_notification_handler(poster: Poster) -> JobHandler:
    """Return the handler that posts each card once, even if the process ended in the middle.

    A card that replaces another one is posted as a new message if that one is gone.
    """

    async def perform(notification: Notification, job: Job) -> None:
        with retry_transient(f"the card {job.dedupe} was not brought"):
            await deliver_notification(notification, poster, again=job.attempts > 1)

    return NOTIFICATION.handle(perform)


async def deliver_notification(given: Notification, poster: Poster, *, again: bool) -> None:
    """Post or update a card. With ``again`` look for the card in Slack first. Raises ``SlackCallError``."""
    if given.ts is not None:
        try:
            await poster.change(Sent(given.channel, given.ts), given.card, session="", v=given.v)
        except MessageGone:
            log.info("the card %s is posted again", given.v)
        else:
            return
    found = await poster.find(given.channel, given.thread_ts, given.v) if again else None
    where = found or await poster.post(
        given.channel, given.thread_ts, given.card, session="", v=given.v, beside=given.beside
    )
    if given.thread_ts is not None and not given.beside:
        await poster.latest.observe(given.channel, given.thread_ts, where.ts)
    if found is None:
        await _add_pictures(poster, where, given)


async def _add_pictures(poster: Poster, where: Sent, given: Notification) -> None:
    """Add the pictures of a posted card. One that cannot be shown is left out and logged: the card says everything."""
    missing = poster.pictures.missing(given.card, where.channel)
    try:
        for picture in missing:
            await poster.pictures.upload(picture, where.channel)
        for pause in PAUSES if missing else ():
            await asyncio.sleep(pause)
            try:
                await poster.add_pictures(where, given.card, session="", v=given.v, beside=given.beside)
            except MessageTooLong:  # Slack is not done with the file
                continue
            break
    except (SlackCallError, InternalError) as trouble:
        poster.pictures.give_up(given.card, where.channel)
        log.warning("the card %s stays without its picture: %s", given.v, trouble)


def build_proposal_handler(
    approvals: Approvals, languages: LanguageService, poster: Poster, people: People
) -> JobHandler:
    """Return the handler that shows proposals, expires old ones, and carries out clicks on them.

    A proposal is posted once in the plan's thread or in direct messages, and then updated in place.
    """

    async def perform(wanted: ProposalUpdate | ProposalAnswer, job: Job) -> None:
        about = await approvals.get(wanted.proposal)
        if about is not None:
            use_language((await languages.of(about.user_id)).code)
        if isinstance(wanted, ProposalAnswer):
            words = await approvals.answer(wanted.proposal, wanted.user_id, wanted.answer)
            if words is not None:
                await people.send_ephemeral(wanted.user_id, Place(wanted.channel, wanted.thread_ts), words)
        elif wanted.do == "expire":
            await approvals.expire(wanted.proposal)
        elif wanted.do == "fail":
            await approvals.fail(wanted.proposal)
        elif (proposal := await approvals.get(wanted.proposal)) is not None:
            with retry_transient(f"the proposal {proposal.id} is not shown"):
                await _show_proposal(approvals, poster, people, proposal, again=job.attempts > 1)

    return PROPOSAL.handle(perform)


async def _show_proposal(
    approvals: Approvals, poster: Poster, people: People, proposal: Proposal, *, again: bool
) -> None:
    card, session, v = proposal_card(proposal), proposal.session_id, proposal.card_id
    if proposal.place is not None:
        where = Sent(*proposal.place)
        public = not is_private(where.channel)
        shown = moved_card() if public else card
        try:
            await poster.change(where, shown, session=session, v=v, beside=True, for_all=public)
        except MessageGone as gone:
            log.info("the card of the proposal %s is gone: %s", proposal.id, gone)
        if not public:
            return
    if proposal.state is not ProposalState.PENDING:
        return
    channel, thread_ts = await _find_place(approvals, people, proposal)
    posted = await poster.find(channel, thread_ts, v) if again else None
    if posted is None:
        posted = await poster.post(channel, thread_ts, card, session=session, v=v, beside=True)
    await approvals.record_place(proposal, posted.channel, posted.ts)


async def _find_place(approvals: Approvals, people: People, proposal: Proposal) -> tuple[str, str | None]:
    if not proposal.session_id:
        return await people.direct_channel(proposal.user_id), None
    found = await approvals.thread(proposal)
    if found is None or found[1] is None:
        raise TryLater("the thread of the plan is not there")
    place = await find_private_place(people, proposal.user_id, Place(*found))
    return str(place.channel), place.thread_ts
