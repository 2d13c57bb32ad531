"""Texts that people read: their language, and titles, lists, counts, dates and commands within sentences.

English is the source: a message is its own id. Catalogues of other languages are in ``locales``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from types import MappingProxyType

SOURCE = "en"
LOCALES: Traversable = files("fateforger") / "locales"
_language = ContextVar("language", default=SOURCE)


def use_language(language: str) -> None:
    """Set the language of this task and of those it starts. Raises ``LookupError`` if there is no catalogue for it."""
    load_catalogue(language)
    _language.set(language)


@contextmanager
def speak(language: str) -> Iterator[None]:
    """Use a language until the block ends. Raises ``LookupError`` if there is no catalogue for it."""
    load_catalogue(language)
    before = _language.set(language)
    try:
        yield
    finally:
        _language.reset(before)


def current_language() -> str:
    """Return the code of the language of this task, such as ``nl``."""
    return _language.get()


def name_language(code: str, language: str = SOURCE) -> str:
    """Return the name of a language, in that of the code ``language``."""
    from babel import Locale  # noqa: PLC0415  slow to import

    return Locale.parse(code).get_display_name(language) or code


@cache
def list_languages() -> tuple[str, ...]:
    """Return the codes of all languages: the source, and those with a catalogue."""
    return (SOURCE, *sorted(place.name for place in LOCALES.iterdir() if place.is_dir() and place.name[0] != "_"))


def match_language(tag: str | None) -> str | None:
    """Return the language of a tag such as ``nl-BE`` or ``de_AT``; ``None`` if there is no catalogue for it."""
    code = (tag or "").replace("_", "-").partition("-")[0].lower()
    return code if code in list_languages() else None


@cache
def load_catalogue(language: str) -> NullTranslations:
    """Read the catalogue of a language, once. Raises ``LookupError`` if there is none."""
    if language == SOURCE:
        return NullTranslations()
    from babel.messages.mofile import write_mo  # noqa: PLC0415  slow, and English does without
    from babel.messages.pofile import read_po  # noqa: PLC0415  slow, and English does without

    place = LOCALES / language / "LC_MESSAGES" / "fateforger.po"
    if not place.is_file():
        raise LookupError(f"There is no catalogue for the language {language!r}.")
    compiled = BytesIO()
    with place.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def mark_message(message: str) -> str:
    """Return the message unchanged; it is in the catalogues and translated where it is used."""
    return message


def gettext(message: str, /, **values: object) -> str:
    """Return a message in the language of this task, with its placeholders filled in."""
    found = load_catalogue(_language.get()).gettext(message)
    said = _fill_in(found, **values) if values else found
    return capitalize(said) if found.lstrip("*").startswith("{day}") else said


TIMEBOX, PULL, TASKS, WEEK, REFINE = COMMANDS = ("/timebox", "/pull", "/tasks", "/week", "/task-refine")
"""The commands. People may know them by other names, because a name can belong to another app."""

_command_names: ContextVar[Mapping[str, str]] = ContextVar("command_names", default=MappingProxyType({}))


def use_command_names(names: Mapping[str, str]) -> None:
    """Set what people type for some commands, in this task and those it starts."""
    _command_names.set(names)


def command_name(command: str) -> str:
    """Return what people type for a command."""
    return _command_names.get().get(command, command)


def find_command(typed: str) -> str | None:
    """Return the command that people type so, or ``None``."""
    return next((command for command in COMMANDS if command_name(command) == typed), None)


def name_commands(message: str, /, **values: object) -> str:
    """Return a message in the language of this task, with the names of commands and other placeholders filled in."""
    names = {"timebox": TIMEBOX, "pull": PULL, "tasks": TASKS, "week": WEEK, "refine": REFINE}
    return gettext(message, **{name: command_name(command) for name, command in names.items()}, **values)


def capitalize(text: str) -> str:
    """Return a text with a capital, after asterisks as well; most languages begin a weekday without one."""
    marks = len(text) - len(text.lstrip("*"))
    return text[:marks] + text[marks : marks + 1].upper() + text[marks + 1 :]


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the form of a message for a count, which is its placeholder ``{count}``."""
    found = load_catalogue(_language.get()).ngettext(one, many, count)
    return _fill_in(found, count=count, **values)


_CUT_AT_STOP = re.compile(r"…(\**)\.(?!\.)")


def _fill_in(message: str, **values: object) -> str:
    """Fill in the placeholders. A value that was cut ends in an ellipsis, which takes the place of a full stop."""
    return _CUT_AT_STOP.sub(r"…\1", message.format(**values))


_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INVISIBLE = re.compile(
    r"(\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f)"  # the flag of a region, which stays
    r"|[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164]"
    r"|[\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners and variants of emoji and of some scripts stay where they can have an effect.
    r"|[\u200c\u200d](?![^\x00-\x7f\s\u200c\u200d])|(?<![^\x00-\x7f\s])[\u200c\u200d]|[\ufe0e\ufe0f](?=[\ufe0e\ufe0f])"
)
_MARK = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACK = re.compile(rf"({_MARK}{{4}}){_MARK}+")


def clean_text(text: str) -> str:
    """Return a text that is safe to show: all of it is visible, in the order in which it was typed.

    Characters that change the reading order or are invisible are left out, and so are accents piled up on one letter.
    Control characters, including those that a terminal obeys, become U+FFFD. Each line end becomes a line feed. This is
    the only function for that. It is called where a text leaves the program: in Slack's messages, in pictures, on the
    command line, in the log, in prompts and in answers to agents.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _CONTROL.sub("\ufffd", _LINE_END.sub("\n", text))
    if text.isascii():
        return text
    return _STACK.sub(r"\1", _INVISIBLE.sub(lambda found: found[1] or "", text)).replace("\u2800", " ")


NO_TITLE = mark_message("(no title)")


def count_units(text: str) -> int:
    """Return the length of a text as Slack and JavaScript count it: in code units of UTF-16, two for an emoji."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_to_units(text: str, limit: int) -> str:
    """Return the beginning of a text that has at most ``limit`` code units of UTF-16."""
    if count_units(text) <= limit:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore")


def truncate(text: str, limit: int) -> str:
    """Cut a text to ``limit`` code units of UTF-16; the last one is an ellipsis if some are left out."""
    return text if count_units(text) <= limit else cut_to_units(text, limit - 1).rstrip() + "…"


def shorten(text: str, limit: int = 80) -> str:
    """Clean a text, put it on one line and truncate it."""
    return truncate(" ".join(clean_text(text).split()), limit)


_EMOJI_NAME = re.compile(r":[\w+'-]+:")


def has_words(text: str) -> bool:
    """Check whether a text has a letter or a digit outside the names of emoji, such as ``:tada:``."""
    return any(map(str.isalnum, _EMOJI_NAME.sub("", text)))


def quote_title(title: str, limit: int = 80) -> str:
    """Return a title in quotation marks, on one line and truncated."""
    return gettext("“{title}”", title=shorten(title, limit) or gettext(NO_TITLE))


def limit_items(items: Iterable[str], most: int, describe_rest: Callable[[int], str]) -> list[str]:
    """Return the first items; if there are others, also the description of their number."""
    found = list(items)
    more = len(found) - most
    return [*found[:most], describe_rest(more)] if more > 0 else found


def label_text(label: str, words: str) -> str:
    """Return ``label: words``."""
    return gettext("{label}: {words}", label=label, words=words)


def join_sentences(*sentences: str) -> str:
    """Return the sentences that are not empty, with a blank between them."""
    return " ".join(filter(None, sentences))


def join_clauses(clauses: Iterable[str]) -> str:
    """Return ``a; b; c`` of the clauses that are not empty."""
    first, *others = tuple(filter(None, clauses)) or ("",)
    for each in others:
        first = gettext("{first}; {next}", first=first, next=each)
    return first


def count_more(count: int) -> str:
    """Return ``4 more``."""
    return ngettext("{count} more", "{count} more", count)


def count_rest(count: int) -> str:
    """Return ``… and 4 more.``, to end a list."""
    return ngettext("… and {count} more.", "… and {count} more.", count)


def join_words(words: Iterable[str], most: int | None = None) -> str:
    """Return ``a, b and c``; with more than ``most`` words ``a, b and 4 more``. Return an empty text for no words."""
    shown = list(words) if most is None else limit_items(words, most, count_more)
    if len(shown) < 2:
        return "".join(shown)
    return gettext("{first} and {last}", first=", ".join(shown[:-1]), last=shown[-1])


def format_date(day: date) -> str:
    """Return a date like ``2 March 2026``."""
    return _format_pattern(day, gettext("d MMMM y"))


def _format_pattern(day: date, pattern: str) -> str:
    """Format a day by a pattern of the Unicode locale data."""
    from babel.dates import format_date as format_in  # noqa: PLC0415  slow to import

    return format_in(day, pattern, locale=_language.get())


def format_length(minutes: int) -> str:
    """Return a length like ``45 min``, ``2 h``, ``1 h 30 min``."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return gettext("{rest} min", rest=rest)
    return gettext("{hours} h {rest} min", hours=hours, rest=rest) if rest else gettext("{hours} h", hours=hours)


def format_day(day: date) -> str:
    """Return a day like ``Monday 2 March``."""
    return _format_pattern(day, gettext("EEEE d MMMM"))


def format_short_day(day: date) -> str:
    """Return a day like ``Mon 2 Mar``."""
    return _format_pattern(day, gettext("EEE d MMM"))


def format_weekday(day: date) -> str:
    """Return a name like ``Monday``."""
    return _format_pattern(day, "EEEE")


def format_number(number: float) -> str:
    """Return a number like ``1,000`` or ``1.4``."""
    from babel.numbers import format_decimal  # noqa: PLC0415  slow to import

    return format_decimal(number, locale=_language.get())


def format_percent(percent: int) -> str:
    """Return a share like ``20%``."""
    from babel.numbers import format_percent as format_in  # noqa: PLC0415  slow to import

    return format_in(percent / 100, locale=_language.get())


def format_count(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 block`` or ``2 blocks``; pass ``plural`` where it is not the noun with an ``s``."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def count_blocks(count: int) -> str:
    """Return ``2 blocks``."""
    return ngettext("{count} block", "{count} blocks", count)


def count_meetings(count: int) -> str:
    """Return ``2 meetings``."""
    return ngettext("{count} meeting", "{count} meetings", count)


def count_tasks(count: int) -> str:
    """Return ``2 tasks``."""
    return ngettext("{count} task", "{count} tasks", count)
