"""The type of the answer to each prompt."""

from __future__ import annotations

from pydantic import BaseModel

from fateforger.conversation.language import answers
from fateforger.conversation.language.rule_extraction import ComparedWords, ConstraintInterpretation
from fateforger.tasks.parts import Parts

TYPES: dict[str, type[BaseModel]] = {
    "ask": answers.AnswerWords,
    "compare": ComparedWords,
    "date": answers.DayWords,
    "decide": answers.Decision,
    "decompose": Parts,
    "draft": answers.DraftWords,
    "facts": answers.DayWords,
    "memory": answers.MemoryWords,
    "patch": answers.PatchWords,
    "queue": answers.QueueWords,
    "replan": answers.ReplanWords,
    "rules": ConstraintInterpretation,
    "start": answers.StartWords,
}
