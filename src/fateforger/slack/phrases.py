"""Messages of the Slack side that are not on a card, in mrkdwn."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.cards import Activity, Progress
from fateforger.slack.mrkdwn import Mrkdwn
from fateforger.text import gettext as _
from fateforger.text import mark_message, ngettext


def not_yours(owner: str) -> Mrkdwn:
    return Mrkdwn(_("This plan belongs to <@{owner}>, so only they can change it.", owner=owner))


NOBODYS_CALENDAR = mark_message(
    "I am not connected to anyone's calendar yet. If you run me, send me `{timebox} claim` with the code that"
    " `fateforger up` prints."
)
CALENDAR_CLOSED = mark_message(
    "The calendar is closed, because its owner asked me to forget them. If you run me, start me again and send me"
    " `{timebox} claim` with the code that `fateforger up` prints."
)
CLAIMED = mark_message("Thank you. The calendar is yours now, and I plan only with you. Type `{timebox}` to begin.")
ALREADY_YOURS = mark_message("The calendar is yours already. Type `{timebox}` to begin.")
WRONG_CODE = mark_message(
    "That is not the code. Please look at what `fateforger up` printed last, and try again in ten seconds."
)
CODE_TOO_SOON = mark_message(
    "I didn't look at that code, because one was wrong just before. Please send it again in ten seconds."
)
NO_CODE = mark_message("There is no code just now. If you run me, start me again: `fateforger up` prints a new one.")

CAME_LATE = mark_message(
    "I got your last message only now, and this plan has moved on since you wrote it, so I did nothing with it. Please"
    " write it again if it still holds."
)
CHANGE_UNREAD = mark_message(
    "I read a message as you first sent it, so your change to it does not count. Please write me in a new message what"
    " should be different."
)
ATTACHED_UNREAD = mark_message(
    "I can't look into files or forwarded messages: I read only what you write yourself. Please write me what matters"
    " in them."
)
REST_UNREAD = mark_message(
    "I read only the first {count} characters of your message. Please send what comes after them in a message of its"
    " own."
)
STILL_COUNTS = mark_message("Deleting a message does not take back what it asked for, but Undo does.")
SESSION_LOST = mark_message("I can't find this plan any more. Type `{timebox}` to start a new one.")


PLANNED_ELSEWHERE = mark_message("I'll plan this with you in a direct message.")
MOVED = mark_message("This goes on in a direct message.")
ANSWERED_ELSEWHERE = mark_message("I answered in our direct messages, where only you can read it.")

FORM_TOO_LATE = mark_message("That form took too long to open. Please press the button once more.")

FORM_WAITS = mark_message("That waits its turn behind something longer. I'll show it here as soon as it is done.")

FORM_FAILED = mark_message("Slack wouldn't open that form. Please press the button once more.")

NOT_STARTED = mark_message(
    "I'm sorry, something went wrong on my side and your plan didn't start. Please type `{timebox}` again."
)
CANNOT_POST = mark_message(
    "Slack didn't let me begin your plan in our direct messages. Please open them and type `{timebox}` there."
)

STOP_LABEL = mark_message("Stop")
STOP_TOO_LATE = mark_message("That was done before Stop reached me, so there was nothing to stop.")
SUGGESTIONS = mark_message("Say it in your own words, for example:")
THANKS = mark_message("Thank you, noted.")

NOTHING_KNOWN = mark_message("I know nothing about you: nothing you told me is kept here.")
FORGOTTEN = mark_message(
    "I have forgotten you: nothing you told me is kept here any more. What is on your calendar stays there, and so do"
    " our messages in Slack; you can delete both where they are."
)
AFRESH = mark_message("Whenever you like, we start afresh.")
CLOSED_NOW = mark_message(
    "The calendar is closed now, and nobody inherits it. To start afresh, start me again and send me the new code that"
    " `fateforger up` prints."
)
NOT_FORGOTTEN = mark_message(
    "I haven't forgotten you yet: a change to your calendar is not finished, and I would not leave it half done. Please"
    " finish or undo it in its thread, and then press *Forget me* once more."
)
ABOUT_FAILED = mark_message(
    "I'm sorry, something went wrong on my side and I couldn't do that. Please press the button once more."
)


def all_i_know(entries: int) -> str:
    """Return the comment on the exported file."""
    return ngettext(
        "This is everything I keep about you: one file with {count} entry.",
        "This is everything I keep about you: one file with {count} entries.",
        entries,
    )


def no_file(user_id: str) -> str:
    return _(
        "Slack doesn't let me send you the file. Whoever runs me can make it with `fateforger"
        " person export {user_id} --to FILE`.",
        user_id=user_id,
    )


def describe_progress(progress: Progress | None) -> str:
    """Describe the current activity in a few words."""
    if progress is None:
        return _("thinking…")
    match progress.doing:
        case Activity.LOOKING:
            return _("looking at your calendar…")
        case Activity.READING:
            return _("reading your message…")
        case Activity.DRAFTING:
            return _("drafting your day…")
        case Activity.CHANGING:
            return _("working out that change…")
        case Activity.WRITING:
            words = _describe_writing(progress)
            late = progress.too_late
            return _("{words} (I finish this rather than leave it half done)", words=words) if late else words
        case unknown:
            assert_never(unknown)


def _describe_writing(progress: Progress) -> str:
    counted = progress.done and progress.of > 1
    waits = progress.waits > 1
    if counted and waits:
        return _(
            "writing to your calendar… {done} of {of} done, waiting {waits} s for your calendar",
            done=progress.done,
            of=progress.of,
            waits=progress.waits,
        )
    if counted:
        return _("writing to your calendar… {done} of {of} done", done=progress.done, of=progress.of)
    if waits:
        return _("writing to your calendar… waiting {waits} s for your calendar", waits=progress.waits)
    return _("writing to your calendar…")
