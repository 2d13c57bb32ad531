"""Values of filled forms: one per field, or one error message per invalid field.

Times and lengths are read as people type them: ``9``, ``9.30``, ``21h``, ``9:30 pm``; ``9-12, 14-16``; ``90``,
``1 h 30``. A line of a list of tasks may begin or end with a length and a time of day: ``Report, 1 h 30``,
``Gym at 18:30``, ``Slides before 14:00``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date, time
from functools import partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from fateforger.errors import BadInput
from fateforger.limits import MAX_CODE_CHARS, MAX_MESSAGE_CHARS, MAX_MINUTES, MAX_TITLE_CHARS
from fateforger.memory.credentials import REFUSED, TOO_LONG, redact_credentials
from fateforger.memory.settings import Hours
from fateforger.planning.task_details import TaskKind, usual_details
from fateforger.session.commands import SessionCommand
from fateforger.session.forms import Form, FormErrors, FormRequest, FormSubmission, Input
from fateforger.session.model import Session
from fateforger.session.rulebook import RuleBook
from fateforger.text import format_number, shorten
from fateforger.text import gettext as _
from fateforger.values import replace

DAY_MINUTES = 24 * 60
LONGEST_NIGHT = 16 * 60
"""Longest window over midnight, in minutes; a longer one is more likely a slip, like 9-5 for 9-17."""
_CLOCK = re.compile(r"(\d{1,2})(?:[:.h](\d{2})|h|(?<=\d)(\d{2}))?(am|pm)?")
_HOURS = "(?:stunden|stunde|heures|heure|hours|hour|horas|hora|uren|hrs|std|uur|hr|h|u)"
_MINUTES = "(?:minutes|minuten|minutos|minuut|minute|minuto|mins|min|m)"
_LENGTH = re.compile(rf"(?:(\d+(?:[.,]\d+)?){_HOURS})?(?:(\d+){_MINUTES}?)?")
_SPELLED = {
    15: r"(?:eine[r]?\s+)?viertelstunde|(?:een\s+)?kwartier|un\s+quart\s+d['’]heure|un\s+cuarto\s+de\s+hora",
    30: r"half\s+an\s+hour|(?:eine\s+)?halbe\s+stunde|(?:een\s+)?half\s+uur|(?:une\s+)?demi-heure|media\s+hora",
    45: r"(?:eine\s+)?dreiviertelstunde|drie\s+kwartier|trois\s+quarts\s+d['’]heure|tres\s+cuartos\s+de\s+hora",
    60: r"(?<!half\s)(?:an|one)\s+hour|eine\s+stunde|een\s+uur|une\s+heure|una\s+hora",
    90: r"(?:an|one)\s+hour\s+and\s+a\s+half|anderthalb\s+stunden|eineinhalb\s+stunden|anderhalf\s+uur"
    r"|une\s+heure\s+et\s+demie|(?:una\s+)?hora\s+y\s+media",
}
"""Lengths in words, in minutes."""
_WORDS = "|".join(f"(?:{words})" for words in reversed(_SPELLED.values()))
_AND = re.compile(r"\s(?:and|und|en|et|y|e|&)\s", re.IGNORECASE)
_SPACE = r"[\s,;:(–—-]+"
_LONG = rf"(?P<length>\d+(?:[.,]\d+)?\s*{_HOURS}(?:\s*\d+\s*{_MINUTES}?)?|\d+\s*{_MINUTES}|{_WORDS})\.?"
_DURING = "(?:for|für|durante|pendant|gedurende)"
_HALF = r"\s*[ap]\.?m\b\.?"
_PLAIN = rf"\d{{1,2}}:\d\d(?:{_HALF})?|\d{{1,2}}{_HALF}|(?:1\d|2[0-3])h\d\d|(?:1[3-9]|2[0-3])\s*h\b"
"""A time of day that cannot be read as anything else; after a word like “at”, other forms count, too."""
_SAID = rf"\d{{1,2}}(?:[:.h]\d\d|\s*h\b)?(?:{_HALF})?"
_AT = r"\b(?:at|around|um|gegen|om|rond|à|vers|a\s+las?|hacia\s+las?)"
_TOLD = rf"(?:\d{{1,2}}(?:[:.h]\d\d)?\s*(?:uhr|uur)\b|\d{{1,2}}(?:[:.h]\d\d|\s*h\b)(?:{_HALF})?|\d{{1,2}}{_HALF})"
"""A time of day after a word that can also come before a number, like “after” and “to”."""
_LAS = r"(?:\s+las?)?"
_BEFORE = rf"\b(?:before|by|until|till|vor|bis|voor|tot|avant|jusqu['’]à|antes\s+de{_LAS}|hasta{_LAS})"
_AFTER = rf"\b(?:after|nach|ab|na|vanaf|après|à\s+partir\s+de|dès|después\s+de{_LAS}|a\s+partir\s+de{_LAS}|desde{_LAS})"
_BETWEEN = rf"\b(?:between|zwischen|tussen|entre){_LAS}"
_WINDOW_AND = rf"\s+(?:and|und|en|et|y){_LAS}\s+"
_FROM = rf"\b(?:from|von|van|de{_LAS})"
_TO = rf"\s+(?:to|until|till|bis|tot|à|a{_LAS})\s+"
_WHEN = (
    rf"(?:{_BEFORE}\s+(?P<before>{_TOLD})|{_AFTER}\s+(?P<after>{_TOLD})"
    rf"|{_BETWEEN}\s+(?P<opens>{_TOLD}|\d{{1,2}}){_WINDOW_AND}(?P<closes>{_TOLD})"
    rf"|(?:{_FROM}\s+)?(?P<start>{_TOLD}|\d{{1,2}}){_TO}(?P<end>{_TOLD})"
    rf"|(?:(?:{_AT}\s+|@\s*)(?P<said>{_SAID})|\b(?P<plain>{_PLAIN}))"
    rf"(?:\s*[-–—]\s*(?P<until>{_SAID}))?(?P<full>\s*(?:uhr|uur)\b)?)"
)
_TIMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"(?P<title>.*?\w.*?){_SPACE}{_WHEN}\)?[.!]?", rf"{_WHEN}{_SPACE}(?P<title>.*\w.*)")
)
_MEASURED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<title>.*?[^\s,;:(–—-])(?<!\bom)(?<!\bum)(?<!\bat)(?<!\bà){_SPACE}(?:{_DURING}\s+)?{_LONG}\)?",
        rf"(?!\d+\s*m\b){_LONG}(?:{_SPACE}|\b)(?:(?:of|de)\s+|d['’])?(?P<title>[^\W\d].*)",
    )
)
_EARLIEST = 7
"""Earlier hours may be meant as the afternoon, so they count only as ``06:30``, ``6 am`` or ``6 Uhr``."""
_HALF_OF = re.compile(r"[ap]\.?m", re.IGNORECASE)
_DASH = re.compile(r"\s*[-–—‒−~]\s*")
_BULLET = re.compile(r"\s*(?:[-–—*•◦▪‣·]\s+)?(?:\[ ?\]\s+)?")
"""The mark of an item in a list that was pasted, or of one to tick off."""


def parse_clock(text: str) -> time:
    """Parse a time of day; 24:00 is midnight. Raises :class:`BadInput`."""
    found = _CLOCK.fullmatch(_normalize(text))
    if found is not None:
        hour, minute, half = int(found[1]), int(found[2] or found[3] or 0), found[4]
        if half is not None and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half == "pm" else 0)
            half = None
        if half is None and minute < 60 and (hour < 24 or (hour, minute) == (24, 0)):
            return time(hour % 24, minute)
    raise _refuse_clock(text)


def _refuse_clock(text: str) -> BadInput:
    return BadInput(
        _("I can't read “{text}” as a time of day; write it like 9:30, 21.30 or 9 pm.", text=shorten(text, 30))
    )


def parse_windows(text: str) -> tuple[tuple[time, time], ...]:
    """Parse time windows separated by commas. A window that ends before its start reaches over midnight.

    Raises :class:`BadInput`.
    """
    pieces = [piece.strip() for piece in re.split(r"[,;\n]", text) if piece.strip()]
    return tuple(_parse_window(piece) for piece in pieces)


def parse_minutes(text: str, *, bare: Literal["h", "min"] = "min") -> int:
    """Parse a length and return it in minutes; ``bare`` is the unit of a small number without one.

    Raises :class:`BadInput`.
    """
    given = _normalize(text) if len(text) <= MAX_CODE_CHARS else ""
    minutes: float | None = next((n for n, words in _SPELLED.items() if _matches(words, text)), None)
    if minutes is not None:
        return round(minutes)
    if re.fullmatch(r"\d{1,2}:\d{2}", given):
        hours, rest = given.split(":")
        minutes = int(hours) * 60 + int(rest) if int(rest) < 60 else None
    elif re.fullmatch(r"\d+(?:[.,]\d+)?", given):
        number = float(given.replace(",", "."))
        minutes = number * 60 if bare == "h" and number <= 24 else number
    elif given and (found := _LENGTH.fullmatch(given)):
        minutes = float((found[1] or "0").replace(",", ".")) * 60 + int(found[2] or 0)
    if minutes is None:
        raise BadInput(
            _("I can't read “{text}” as a length of time; write it like 30 min or 7 h 30.", text=shorten(text, 30))
        )
    if not 1 <= round(minutes) <= DAY_MINUTES:
        raise BadInput(_("Please choose a length between 1 minute and 24 hours."))
    return round(minutes)


def _matches(words: str, text: str) -> bool:
    return len(text) <= MAX_CODE_CHARS and re.fullmatch(words, text.strip(), re.IGNORECASE) is not None


class TaskLine(NamedTuple):
    """A line of a list of tasks; ``None`` for a length or a time that it does not give.

    ``at``, ``due_time`` and ``from_time`` are those of :class:`TaskDetails`.
    """

    title: str
    minutes: int | None = None
    at: time | None = None
    due_time: time | None = None
    from_time: time | None = None

    @property
    def times(self) -> dict[str, time]:
        """The times that the line gives, by their names in the details of a task."""
        given = {"at": self.at, "due_time": self.due_time, "from_time": self.from_time}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def kind(self) -> TaskKind:
        """The kind to suggest: a line with a time of day is more often a dinner than deep work."""
        return usual_details(self.minutes).kind if self.at is None else TaskKind.SHALLOW


def parse_task_line(line: str, minutes: int | None = None, *, hours: Hours | None = None) -> TaskLine:
    """Parse a line of a list of tasks; ``minutes`` is its length if the person gave it elsewhere.

    ``hours`` are those of the day that it is for. A number without a unit belongs to the title: “Read chapter 3”.
    """
    title = drop_bullet(line)
    if len(title) > MAX_TITLE_CHARS:
        return TaskLine(title, minutes)
    words, symbols = _split_symbols(title)
    read = TaskLine(words, minutes)
    for take in (partial(_take_time, hours=hours), _take_length, partial(_take_time, hours=hours)):
        read = take(read)
    return read._replace(title=read.title + symbols)


def drop_bullet(line: str) -> str:
    """Return a line of a list without what marks it as an item; a line that is only such a mark stays."""
    return _BULLET.sub("", line, count=1).strip() or line.strip()


def _split_symbols(title: str) -> tuple[str, str]:
    """Split off the emoji that a title ends with, and the space before them: they come after a length or a time."""
    end = len(title)
    while end and (title[end - 1].isspace() or _is_symbol(title[end - 1])):
        end -= 1
    return (title[:end], title[end:]) if end else (title, "")


def _is_symbol(char: str) -> bool:
    """Check whether a character is part of an emoji; a sign like “°” belongs to its number."""
    return char >= "\u2000" and unicodedata.category(char) in {"So", "Sk", "Mn", "Cf"}


def format_task_line(line: TaskLine) -> str:
    """Format a title and its times of day, to be parsed again."""
    title, opens, due = line.title, line.from_time, line.due_time
    if line.at is not None:
        return f"{title}, {line.at:%H:%M}"
    if opens is not None and due is not None:
        return _("{title}, between {start} and {end}", title=title, start=f"{opens:%H:%M}", end=f"{due:%H:%M}")
    if due is not None:
        return _("{title}, before {time}", title=title, time=f"{due:%H:%M}")
    if opens is not None:
        return _("{title}, after {time}", title=title, time=f"{opens:%H:%M}")
    return title


def split_task_list(text: str, hours: Hours | None = None) -> tuple[str, ...]:
    """Return the lines of a message as tasks for a day with these ``hours``.

    Semicolons separate the tasks of a single line, and so do commas unless the line looks like one task: “Buy milk,
    eggs and bread” has no length or time before the last comma, and an “and” after it.
    """
    if "\n" in text.strip():
        return tuple(drop_bullet(line) for line in text.splitlines() if line.strip())
    lines: list[str] = []
    for part in re.split(r"\s*;\s+", text.strip()):
        pieces: list[str] = []
        for piece in re.split(r"\s*,\s+", part):
            # A length or a time alone belongs to the task before it.
            if pieces and parse_task_line(f"x {piece}", hours=hours).title == "x":
                pieces[-1] += f", {piece}"
            else:
                pieces.append(piece)
        timed = any({*parse_task_line(piece, hours=hours)[1:]} != {None} for piece in pieces[:-1])
        lines += [part] if _AND.search(pieces[-1]) and " " in pieces[0] and not timed else pieces
    return tuple(filter(None, lines))


def _take_length(line: TaskLine) -> TaskLine:
    """Return the line with the length that its title begins or ends with, unless it has one."""
    found = next(filter(None, (pattern.fullmatch(line.title) for pattern in _MEASURED)), None)
    if found is None or line.minutes is not None:
        return line
    try:
        return line._replace(title=found["title"], minutes=parse_minutes(found["length"]))
    except BadInput:  # longer than a day: the person sees the whole line as a title
        return line


def _take_time(line: TaskLine, hours: Hours | None) -> TaskLine:
    """Return the line with the time of day that its title begins or ends with, unless it has one."""
    found = next(filter(None, (pattern.fullmatch(line.title) for pattern in _TIMED)), None)
    if found is None or line.times:
        return line
    start, end = found["said"] or found["plain"] or found["start"], found["until"] or found["end"]
    if start is not None and end is not None:
        start += _find_shared_half(start, end)
    try:
        at, ends = _parse_told(start, hours, sure=found["full"] is not None), _parse_told(end, hours, sure=True)
        due, opens = (_parse_told(found[a] or found[b], hours) for a, b in (("before", "closes"), ("after", "opens")))
    except BadInput:  # no time of day: it belongs to the title
        return line
    minutes = None if at is None or ends is None else (_to_minute(ends) - _to_minute(at)) % DAY_MINUTES or None
    if (minutes or 0) > LONGEST_NIGHT:  # the end is before the beginning
        return line
    if due is not None and opens is not None and due <= opens:
        return line
    title = found["title"].rstrip(" ,;:(–—-")
    return TaskLine(title, line.minutes or minutes, at, due_time=due, from_time=opens)


def _parse_told(text: str | None, hours: Hours | None, *, sure: bool = False) -> time | None:
    """Parse a time of day of a line. Raises ``BadInput``, also for an hour that may be morning or afternoon.

    In a night of work, an early hour that lies in it is no afternoon.
    """
    if text is None:
        return None
    named = re.fullmatch(r"(.*?)\s*(?:uhr|uur)", text, re.IGNORECASE)
    told = parse_clock(named[1] if named else text)
    in_night = hours is not None and told < hours[1] < hours[0]
    sure = sure or in_night or named is not None or text.startswith("0") or _HALF_OF.search(text) is not None
    if told.hour < _EARLIEST and not sure:
        raise _refuse_clock(text)
    return told


def _find_shared_half(start: str, end: str) -> str:
    """Return “am” or “pm” if the end says it for both, as in “from 3 to 4 pm”."""
    half = _HALF_OF.search(end)
    if half is None or not start.isdigit() or int(start) % 12 >= parse_clock(end).hour % 12:
        return ""
    return half[0]


def format_windows(windows: tuple[tuple[time, time], ...]) -> str:
    """Format windows for a text field: ``9:00-12:00, 14:00-16:00``."""
    return ", ".join(f"{_format_clock(start)}-{_format_clock(end)}" for start, end in windows)


def format_minutes(minutes: int) -> str:
    """Format a length for a text field."""
    hours, rest = divmod(minutes, 60)
    return " ".join(([f"{hours} h"] if hours else []) + ([_("{rest} min", rest=rest)] if rest or not hours else []))


def _parse_window(text: str) -> tuple[time, time]:
    ends = _DASH.split(text)
    if len(ends) != 2:
        raise BadInput(_("“{text}” needs a beginning and an end; write it like 9-12 or 9:30-12.", text=text[:30]))
    start, end = (parse_clock(end) for end in ends)
    if start == end:
        raise BadInput(_("“{text}” begins and ends at the same time; write it like 9-12.", text=text[:30]))
    length = (_to_minute(end) - _to_minute(start)) % DAY_MINUTES
    if _to_minute(end) < _to_minute(start) and _to_minute(end) and length > LONGEST_NIGHT:
        raise BadInput(
            _(
                "“{text}” would reach over midnight and take {hours} hours."
                " For an afternoon, write {hour} as {later} or {hour} pm.",
                text=text[:30],
                hours=length // 60,
                hour=end.hour,
                later=end.hour + 12,
            )
        )
    return start, end


def _to_minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _format_clock(clock: time) -> str:
    return f"{clock.hour}:{clock.minute:02d}"


def _normalize(text: str) -> str:
    """Return the text without spaces, in lower case, with ``am`` and ``pm`` and digits in normal form."""
    small = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", "", small).replace("a.m.", "am").replace("p.m.", "pm")


def fold_form(form: Form, size: int, rare: Collection[str], label: str) -> Form:
    """Return a form without its ``rare`` fields, and with a button of that label that shows them.

    ``size`` is that of the request: above 0, all is shown. A reader only reads the fields that a submission has.
    """
    hidden = frozenset() if size else frozenset(rare)
    shown = tuple(each for each in form.fields if not (isinstance(each, Input) and each.name in hidden))
    return replace(form, fields=shown, size=size, more=label if len(shown) < len(form.fields) else None)


def refuse_values(submission: FormSubmission) -> FormErrors | None:
    """Return errors for fields that are too long to be searched for secrets, or else for those that hold a secret.

    Returns ``None`` if there are none. Neither becomes a command, because commands are stored for a while.
    """
    typed = {name: value for name, value in submission.values.items() if isinstance(value, str)}
    endless = [name for name, value in typed.items() if len(value) > MAX_MESSAGE_CHARS]
    if endless:
        return FormErrors(errors=dict.fromkeys(endless, _(TOO_LONG)))
    secret = [name for name, value in typed.items() if redact_credentials(value)[1]]
    return FormErrors(errors=dict.fromkeys(secret, _(REFUSED))) if secret else None


@dataclass
class Filled:
    """Read values from a submission and collect their errors."""

    submission: FormSubmission
    errors: dict[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Check whether the form showed a field."""
        return name in self.submission.values

    def text(self, name: str, limit: int, *, needed: str | None = None) -> str:
        """Return the stripped text of a field. ``needed`` is the error message for an empty one, if it is required."""
        value = self.submission.values.get(name)
        text = value.strip() if isinstance(value, str) else ""
        if not text and needed is not None:
            self.errors[name] = needed
        if len(text) > limit:
            self.errors[name] = _(
                "This has {length} characters; please keep it to {most}.",
                length=format_number(len(text)),
                most=format_number(limit),
            )
            return text[:limit]
        return text

    def lines(self, name: str, limit: int) -> tuple[str, ...]:
        """Return the lines of a field, stripped and without the empty ones."""
        return tuple(line.strip() for line in self.text(name, limit).splitlines() if line.strip())

    def minutes(self, name: str, *, needed: str | None = None, least: int = 1, most: int = MAX_MINUTES) -> int | None:
        value = self.submission.values.get(name)
        if value is None or value == "":
            if needed is not None:
                self.errors[name] = needed
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.errors[name] = _("Please write a whole number of minutes.")
            return None
        if not least <= value <= most:
            self.errors[name] = _(
                "Please choose between {least} and {most} minutes.", least=least, most=format_number(most)
            )
            return None
        return value

    def clock(self, name: str, *, needed: str | None = None) -> time | None:
        value = self.submission.values.get(name)
        if isinstance(value, str) and value:
            try:
                value = time.fromisoformat(value)
            except ValueError:
                self.errors[name] = _("Please choose a time like 09:30.")
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

    def day(self, name: str, *, needed: str | None = None) -> date | None:
        value = self.submission.values.get(name)
        if isinstance(value, date):
            return value
        if needed is not None:
            self.errors[name] = needed
        return None

    def flag(self, name: str) -> bool:
        return self.submission.values.get(name) is True

    @property
    def envelope(self) -> dict[str, Any]:
        """The fields that every command has."""
        return self.submission.model_dump(include={"command_id", "user_id", "at", "session_id"})

    def or_errors(self, make: Callable[[], SessionCommand]) -> SessionCommand | FormErrors:
        return FormErrors(errors=self.errors) if self.errors else make()


_Subject = TypeVar("_Subject", Session, RuleBook)


@dataclass(frozen=True, slots=True)
class FormSpec(Generic[_Subject]):
    """A form of a session, or about a person's rules: the functions that build it and read what was filled in.

    :mod:`fateforger.ui.forms` adds its name and the id of its session. A form about rules may be read as another form.
    """

    form: Callable[[_Subject, FormRequest], Form]
    read: Callable[[_Subject, Filled], SessionCommand | Form | FormErrors]
