"""Messages of the Slack side that are not on a card, in mrkdwn."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.cards import Activity, Progress
from fateforger.slack.addresses import COMMAND_NAME, PULL_COMMAND, TASKS_COMMAND
from fateforger.text import format_count


def not_yours(owner: str) -> str:
    return f"This plan belongs to <@{owner}>, so only they can change it."


def not_your_calendar(owner: str | None) -> str:
    whose = "another person's calendar" if owner is None else f"the calendar of <@{owner}>"
    return f"I plan on {whose}, and I keep to one person's calendar. For yours, run a fateforger of your own."


_CLAIM = f"send me `{COMMAND_NAME} claim` with the code that `fateforger up` prints"
NOBODYS_CALENDAR = f"I am not connected to anyone's calendar yet. If you run me, {_CLAIM}."
CALENDAR_CLOSED = (
    f"The calendar is closed, because its owner asked me to forget them. If you run me, start me again and {_CLAIM}."
)
CLAIMED = f"Thank you. The calendar is yours now, and I plan only with you. Type `{COMMAND_NAME}` to begin."
ALREADY_YOURS = f"The calendar is yours already. Type `{COMMAND_NAME}` to begin."
WRONG_CODE = "That is not the code. Please look at what `fateforger up` printed last, and try again in ten seconds."
CODE_TOO_SOON = "I didn't look at that code, because one was wrong just before. Please send it again in ten seconds."
NO_CODE = "There is no code just now. If you run me, start me again: `fateforger up` prints a new one."

SESSION_LOST = f"I can't find this plan any more. Type `{COMMAND_NAME}` to start a new one."

NO_ZONE = "Slack didn't tell me your time zone just now. Please try again in a moment."

NOT_A_DATE = (
    f"I can read a date like this: `{COMMAND_NAME} 2026-03-05`. "
    f"With just `{COMMAND_NAME}` we start with today, and you can still change the day."
)

NOT_A_TASK = (
    f"I can read a task's id like this: `{PULL_COMMAND} ff-4k7w9c`. "
    f"With just `{PULL_COMMAND}` I take what comes first; `{TASKS_COMMAND}` lists what there is."
)

PLANNED_ELSEWHERE = "I'll plan this with you in a direct message."
MOVED = "This goes on in a direct message."
ANSWERED_ELSEWHERE = "I answered in our direct messages, where only you can read it."

FORM_TOO_LATE = "That form took too long to open. Please press the button once more."

FORM_WAITS = "That waits its turn behind something longer. I'll show it here as soon as it is done."

FORM_FAILED = "Slack wouldn't open that form. Please press the button once more."

NOT_STARTED = (
    f"I'm sorry, something went wrong on my side and your plan didn't start. Please type `{COMMAND_NAME}` again."
)
CANNOT_POST = (
    f"Slack didn't let me begin your plan in our direct messages. Please open them and type `{COMMAND_NAME}` there."
)

STOP_LABEL = "Stop"
STOP_TOO_LATE = "That was done before Stop reached me, so there was nothing to stop."
SUGGESTIONS = "Say it in your own words, for example:"
THANKS = "Thank you, noted."

NOTHING_KNOWN = "I know nothing about you: nothing you told me is kept here."
FORGOTTEN = (
    "I have forgotten you: nothing you told me is kept here any more. What is on your calendar stays there, and so do"
    " our messages in Slack; you can delete both where they are."
)
AFRESH = "Whenever you like, we start afresh."
CLOSED_NOW = (
    "The calendar is closed now, and nobody inherits it. To start afresh, start me again and send me the new code that"
    " `fateforger up` prints."
)
NOT_FORGOTTEN = (
    "I haven't forgotten you yet: a change to your calendar is not finished, and I would not leave it half done. Please"
    " finish or undo it in its thread, and then press *Forget me* once more."
)
ABOUT_FAILED = "I'm sorry, something went wrong on my side and I couldn't do that. Please press the button once more."


def all_i_know(entries: int) -> str:
    """Return the comment on the exported file."""
    return f"This is everything I keep about you: one file with {format_count(entries, 'entry', 'entries')}."


def no_file(user_id: str) -> str:
    return (
        "Slack doesn't let me send you the file. Whoever runs me can make it with"
        f" `fateforger person export {user_id} --to FILE`."
    )


def describe_progress(progress: Progress | None) -> str:
    """Describe the current activity in a few words."""
    if progress is None:
        return "thinking…"
    match progress.doing:
        case Activity.LOOKING:
            return "looking at your calendar…"
        case Activity.READING:
            return "reading your message…"
        case Activity.DRAFTING:
            return "drafting your day…"
        case Activity.CHANGING:
            return "working out that change…"
        case Activity.WRITING:
            counted = f" {progress.done} of {progress.of} done" if progress.done and progress.of > 1 else ""
            waiting = f" waiting {progress.waits} s for your calendar" if progress.waits > 1 else ""
            return f"writing to your calendar…{counted}{',' if counted and waiting else ''}{waiting}"
        case _:
            assert_never(progress.doing)
