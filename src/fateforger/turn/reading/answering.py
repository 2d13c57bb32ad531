"""Meaning of a yes or a no in words: the answer to the card's question, the same as its button (S214).

The rules:

- A yes or a no refers to the row that it names. Without one it refers to the only question, or, if nothing is asked,
  to the only offer. Otherwise the person is asked which one they mean, and nothing is done.
- A question that needs a choice ("keep calendar or keep plan?") has no yes; the choices are named.
- ``proceed`` is never an answer. While a question waits for a yes or a no, a message to proceed is not carried out
  either: it may have been meant as that yes, and must not become a commit without the confirmation. The button of the
  step still works, because it is never pressed as an answer. Choices and offers block nothing, neither by button nor in
  words; nor do the bot's last words, which may ask nothing.
- ``retry`` does not confirm a write that stopped to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fateforger.errors import BadInput
from fateforger.session.commands import SessionCommand, TimeboxingUserReply
from fateforger.session.pending import PendingKind, PendingQuestion, sole_question
from fateforger.turn.reading.meaning import envelope, get_numbered
from fateforger.turn.reading.values import Decision, Intent

NOTHING_PENDING = "Nothing here waits for a yes or a no just now, so I changed nothing."
WHICH_QUESTION = "More than one thing waits for your answer. Which one do you mean?"
WHICH_OPTION = "A yes does not say which one. Please name it: {options}."
ONE_BY_ONE = "Please say which of these you still want to do on this day, and what is done or not wanted any more."
FIRST = "Please answer this first, with yes or no. Until then I do not go on."
LEFT = "All right, I left it as it is."
STAYS_OPEN = "All right, I left it open. Nothing changes until you choose."


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """Result of a yes or a no: a command, or lines for the person.

    With ``in_words`` it answers the bot's last words, so the message has to be read together with them. With
    ``asks_back`` the person still has to answer.
    """

    command: SessionCommand | None = None
    lines: tuple[str, ...] = ()
    asks_back: bool = False
    in_words: bool = False


def answer_pending(reply: TimeboxingUserReply, waiting: Sequence[PendingQuestion], decision: Decision) -> PendingAnswer:
    """Return the meaning of a yes or a no. Raises ``BadInput`` for a row that does not exist."""
    if not waiting:
        return PendingAnswer(lines=(NOTHING_PENDING,))
    question = sole_question(waiting) if decision.number is None else get_numbered(waiting, decision.number)
    if question is None:
        return PendingAnswer(lines=(WHICH_QUESTION, *list_questions(waiting)), asks_back=True)
    if decision.intent is Intent.REFUSE_PENDING:
        return _refuse(reply, question)
    return _accept(reply, question)


def find_unanswered(waiting: Sequence[PendingQuestion], intent: Intent) -> tuple[str, ...]:
    """Return the questions to answer before this intent is carried out; nothing if it may be carried out."""
    match intent:
        case Intent.PROCEED:
            unanswered = [question for question in waiting if question.awaits_yes]
        case Intent.RETRY:
            unanswered = [question for question in waiting if question.kind is PendingKind.BRAKE]
        case _:
            unanswered = []
    return (FIRST, *(question.sentence for question in unanswered)) if unanswered else ()


def row_of(waiting: Sequence[PendingQuestion], number: int, kind: PendingKind) -> PendingQuestion:
    """Return the row with this number. Raises ``BadInput`` if there is none, or if it has another kind."""
    question = get_numbered(waiting, number)
    if question.kind is not kind:
        raise BadInput(f"Number {number} is another question: {question.sentence}")
    return question


def list_questions(waiting: Sequence[PendingQuestion]) -> tuple[str, ...]:
    """Return a numbered line for each question."""
    return tuple(f"{number}. {question.sentence}" for number, question in enumerate(waiting, 1))


def _accept(reply: TimeboxingUserReply, question: PendingQuestion) -> PendingAnswer:
    if question.yes is not None:
        return PendingAnswer(question.yes.command(envelope(reply)))
    if question.which:
        options = " / ".join(option.label for option in question.which)
        return PendingAnswer(lines=(question.sentence, WHICH_OPTION.format(options=options)), asks_back=True)
    if question.kind in {PendingKind.WORDS, PendingKind.SAID}:
        return PendingAnswer(in_words=True)
    return PendingAnswer(lines=(question.sentence, ONE_BY_ONE), asks_back=True)


def _refuse(reply: TimeboxingUserReply, question: PendingQuestion) -> PendingAnswer:
    if question.no is not None:
        return PendingAnswer(question.no.command(envelope(reply)))
    return PendingAnswer(lines=(STAYS_OPEN if question.which else LEFT,))
