"""Read filled forms: a value per field, or one error message per invalid field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from fateforger.constraints.credentials import LONGEST, REFUSED, TOO_LONG, redact_credentials
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import SessionCommand
from fateforger.session.model import Session
from fateforger.session.rulebook import RuleBook
from fateforger.stages import TimeboxingStage

MAX_TITLE = 300
MAX_NOTES = 3_000
MAX_MINUTES = 24 * 60
DEPTHS = {"deep": "Deep: needs undisturbed attention", "shallow": "Shallow: can be done in between"}


def refuse_values(submission: FormSubmission) -> FormErrors | None:
    """Return errors for fields that are too long to be searched for secrets, or else for those that hold a secret.

    Returns ``None`` if there are none. Neither becomes a command, because commands are stored for a while.
    """
    typed = {name: value for name, value in submission.values.items() if isinstance(value, str)}
    endless = [name for name, value in typed.items() if len(value) > LONGEST]
    if endless:
        return FormErrors(errors=dict.fromkeys(endless, TOO_LONG))
    secret = [name for name, value in typed.items() if redact_credentials(value)[1]]
    return FormErrors(errors=dict.fromkeys(secret, REFUSED)) if secret else None


@dataclass(frozen=True, slots=True)
class FormSpec:
    """A form of a session: the stages that it belongs to, and the functions that build and read it."""

    stages: frozenset[TimeboxingStage]
    form: Callable[[Session, FormRequest], Form]
    read: Callable[[Session, FormSubmission], SessionCommand | FormErrors]


@dataclass(frozen=True, slots=True)
class RuleFormSpec:
    """A form about a person's rules: the functions that build it and read it, as a command or as another form."""

    form: Callable[[RuleBook, FormRequest], Form]
    read: Callable[[RuleBook, FormSubmission], SessionCommand | Form | FormErrors]


@dataclass
class Filled:
    """Read values from a submission and collect their errors."""

    submission: FormSubmission
    errors: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, limit: int, *, needed: str | None = None) -> str:
        """Return the stripped text of a field. ``needed`` is the error message for an empty one, if it is required."""
        value = self.submission.values.get(name)
        text = value.strip() if isinstance(value, str) else ""
        if not text and needed is not None:
            self.errors[name] = needed
        if len(text) > limit:
            self.errors[name] = f"This has {len(text):,} characters; please keep it to {limit:,}."
            return text[:limit]
        return text

    def minutes(self, name: str, *, needed: str | None = None, least: int = 1, most: int = MAX_MINUTES) -> int | None:
        value = self.submission.values.get(name)
        if value is None or value == "":
            if needed is not None:
                self.errors[name] = needed
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.errors[name] = "Please write a whole number of minutes."
            return None
        if not least <= value <= most:
            self.errors[name] = f"Please choose between {least} and {most:,} minutes."
            return None
        return value

    def clock(self, name: str, *, needed: str | None = None) -> time | None:
        value = self.submission.values.get(name)
        if isinstance(value, str) and value:
            try:
                value = time.fromisoformat(value)
            except ValueError:
                self.errors[name] = "Please choose a time like 09:30."
                return None
        if isinstance(value, time):
            return value.replace(tzinfo=None)
        if needed is not None:
            self.errors[name] = needed
        return None

    def choice(self, name: str) -> str | None:
        value = self.submission.values.get(name)
        return value if isinstance(value, str) and value else None

    def many(self, name: str) -> tuple[str, ...]:
        value = self.submission.values.get(name)
        return value if isinstance(value, tuple) else ()

    def day(self, name: str) -> date | None:
        value = self.submission.values.get(name)
        return value if isinstance(value, date) else None

    def flag(self, name: str) -> bool:
        return self.submission.values.get(name) is True

    @property
    def envelope(self) -> dict[str, Any]:
        """The fields that every command has."""
        given = self.submission
        return {
            "command_id": given.command_id,
            "user_id": given.user_id,
            "at": given.at,
            "session_id": given.session_id,
        }

    def or_errors(self, make: Callable[[], SessionCommand]) -> SessionCommand | FormErrors:
        """Return the command, or the errors if there are any."""
        return FormErrors(errors=self.errors) if self.errors else make()
