"""All rules of a person: paged, searched by words, and filtered; hidden rules are counted (S34)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.constraints.kinds import Scope
from fateforger.coordinator.forms.reading import Filled
from fateforger.session.cards import (
    Button,
    Choice,
    Controls,
    Divider,
    Form,
    FormField,
    FormRequest,
    FormSubmission,
    Note,
    Prose,
    Select,
    TextField,
    plain,
)
from fateforger.session.days import day_words
from fateforger.session.memory import MemoryRow
from fateforger.session.rulebook import RuleBook
from fateforger.turn.present.rules import ADD, ADD_DAY, describe_origin, describe_rule, marks
from fateforger.values import replace

PAGE = 12
"""Rules per page: each takes two of the hundred blocks of a modal."""
MOST_WORDS = 80
Status = Literal["all", "used", "confirm", "force", "out"]
Reach = Literal["any", "lasting", "dated", "day"]

_STATUS: Mapping[Status, tuple[str, Callable[[MemoryRow], bool]]] = {
    "all": ("All rules", lambda _: True),
    "used": ("Used for this day", lambda row: row.used),
    "confirm": ("To be confirmed", lambda row: row.unsure and not row.retired),
    "force": ("In force", lambda row: not row.retired),
    "out": ("Declined or archived", lambda row: row.retired),
}
_REACH: Mapping[Reach, tuple[str, Callable[[MemoryRow], bool]]] = {
    "any": ("However long they hold", lambda _: True),
    "lasting": ("Hold for good", lambda row: row.scope is Scope.PROFILE),
    "dated": ("Hold between dates", lambda row: row.scope is Scope.DATESPAN),
    "day": ("Hold for this day only", lambda row: row.scope is Scope.SESSION),
}


class ListQuery(BaseModel):
    """The visible part of the list. ``edition`` counts how often the search was reset."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    page: int = 1
    words: str = ""
    status: Status = "all"
    reach: Reach = "any"
    edition: int = 0

    def to_target(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


def build_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the list in its previous state, with the latest choices applied."""
    return _build_list(book, _apply_choices(_parse_query(request.target), request.chosen), request.session_id)


def read_submission(book: RuleBook, submission: FormSubmission) -> Form:
    """Return the list for the submitted search."""
    words = Filled(submission).text("words", MOST_WORDS)
    return _build_list(book, _apply_choices(_parse_query(submission.target), {"words": words}), submission.session_id)


def _parse_query(target: str) -> ListQuery:
    try:
        return ListQuery.model_validate_json(target or "{}")
    except ValidationError:
        return ListQuery()


def _apply_choices(wanted: ListQuery, chosen: Mapping[str, str]) -> ListQuery:
    """Apply choices to the list. A new search or filter begins on the first page."""
    if "everything" in chosen:
        return ListQuery(edition=wanted.edition + 1)
    changes: dict[str, object] = {name: chosen[name] for name in ("words", "status", "reach") if name in chosen}
    if any(getattr(wanted, name) != value for name, value in changes.items()):
        changes["page"] = 1
    if "page" in chosen:
        changes["page"] = chosen["page"]
    try:
        return ListQuery.model_validate({**wanted.model_dump(), **changes})
    except ValidationError:
        return wanted


def _build_list(book: RuleBook, wanted: ListQuery, session_id: str) -> Form:
    found = _filter_rows(book.rows, wanted)
    pages = max(1, -(-len(found) // PAGE))
    wanted = replace(wanted, page=min(max(wanted.page, 1), pages))
    shown = found[(wanted.page - 1) * PAGE : wanted.page * PAGE]
    return Form(
        form="rules",
        session_id=session_id,
        target=wanted.to_target(),
        title="Your rules",
        submit="Search" if book.rows else None,
        close="Close",
        fields=(
            *(Prose(text=plain(line, 600)) for line in book.done),
            *(
                (*_search_fields(book, wanted), Note(text=_count_words(book, wanted, found)))
                if book.rows
                else _empty_fields()
            ),
            *_page_fields(wanted, pages),
            *((Divider(),) if shown else ()),
            *(part for row in shown for part in _row_fields(row)),
            *_page_fields(wanted, pages),
            _footer(wanted),
        ),
    )


def _filter_rows(rows: Iterable[MemoryRow], wanted: ListQuery) -> list[MemoryRow]:
    """Return the rows that contain every word, in list order."""
    pieces = wanted.words.casefold().split()
    kept = (row for row in rows if _STATUS[wanted.status][1](row) and _REACH[wanted.reach][1](row))
    return [row for row in kept if all(piece in _searchable_text(row) for piece in pieces)]


def _searchable_text(row: MemoryRow) -> str:
    return f"{row.name}\n{row.words}\n{describe_rule(row)}".casefold()


def _empty_fields() -> tuple[FormField, ...]:
    return (Prose(text="I know no rules of yours yet. Add one, and I keep to it when I plan your days."),)


def _search_fields(book: RuleBook, wanted: ListQuery) -> tuple[FormField, ...]:
    counts: dict[Status, int] = {name: sum(map(fits, book.rows)) for name, (_, fits) in _STATUS.items()}
    statuses = [Choice(label=f"{label} ({counts[name]})", value=name) for name, (label, _) in _STATUS.items()]
    reaches = [Choice(label=label, value=name) for name, (label, _) in _REACH.items()]
    return (
        TextField(
            name="words",
            label="Search your rules",
            optional=True,
            value=wanted.words,
            edition=wanted.edition,
            placeholder="gym, calls, Monday…",
            max_length=MOST_WORDS,
        ),
        Controls(
            items=(
                Select(
                    action="turn.status", placeholder="Which rules", choices=tuple(statuses), selected=wanted.status
                ),
                Select(
                    action="turn.reach", placeholder="How long they hold", choices=tuple(reaches), selected=wanted.reach
                ),
            )
        ),
    )


def _count_words(book: RuleBook, wanted: ListQuery, found: Sequence[MemoryRow]) -> str:
    """Return the numbers of shown and of all rules, so that nothing is cut silently."""
    every = len(book.rows)
    rules = f"{every} rule{'' if every == 1 else 's'}"
    day = f"The day is {day_words(book.person.date)}."
    if not found:
        return f"None of your {rules} fits this search. {day}"
    first = (wanted.page - 1) * PAGE + 1
    last = min(wanted.page * PAGE, len(found))
    part = f"{first} to {last} of {len(found)}" if len(found) > PAGE else f"{len(found)}"
    if len(found) == every:
        return f"Rules {part}. {day}" if len(found) > PAGE else f"All {rules}. {day}"
    return f"{part} of your {rules} fit{'s' if len(found) == 1 else ''}. {day}"


def _row_fields(row: MemoryRow) -> tuple[FormField, ...]:
    said = "" if row.words == row.name else f"\n“{plain(row.words, 300)}”"
    label = "Look" if row.retired else "Edit"
    button = Button(label=label, action="form.rule", target=f"{row.seq} {row.uid}", spoken=f"{label} “{row.name}”")
    return (
        Prose(text=f"**{plain(row.name, 120)}**{said}\n{describe_rule(row)}", control=button),
        Note(text=f"{marks(row)} · {describe_origin(row)}"),
    )


def _page_fields(wanted: ListQuery, pages: int) -> tuple[FormField, ...]:
    """Return the page buttons, for above and below the rows: the scroll position survives a new page."""
    before = Button(label="Previous page", action="turn.page", target=str(wanted.page - 1))
    after = Button(label="Next page", action="turn.page", target=str(wanted.page + 1))
    ways = (*((before,) if wanted.page > 1 else ()), *((after,) if wanted.page < pages else ()))
    return (Controls(items=ways),) if ways else ()


def _footer(wanted: ListQuery) -> Controls:
    """Return the buttons that show all rules and add a new one."""
    filtered = wanted.words or wanted.status != "all" or wanted.reach != "any"
    everything = Button(label="Show all rules", action="turn.everything", target="yes")
    return Controls(items=(*((everything,) if filtered else ()), ADD, ADD_DAY))
