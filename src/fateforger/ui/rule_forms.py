"""Forms about rules: the list of all rules (S34), one rule in full, and a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.limits import MAX_FILTER_CHARS, MAX_WORDS_CHARS
from fateforger.memory.applicability import Applicable
from fateforger.memory.retrieval import RuleFilter
from fateforger.memory.versions import Version
from fateforger.memory.violations import build_reminder
from fateforger.memory.vocabulary import Dimension, Scope, Status
from fateforger.session.cards import (
    Button,
    Choice,
    Controls,
    Divider,
    Note,
    Prose,
    Select,
    localize_row,
    name_button,
    plain,
)
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.rules import (
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    format_rule_target,
    parse_rule_target,
)
from fateforger.session.forms import (
    ChoiceField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    TextField,
)
from fateforger.session.memory import MemoryConstraintItem
from fateforger.session.rulebook import RuleBook, rules_in_force
from fateforger.text import format_day, format_percent, join_sentences, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.ui.form_values import Filled, FormSpec, fold_form
from fateforger.ui.rule_cards import ADD, ADD_DAY, CONFIRM, POLICY, ROUTINE, describe_origin, describe_rule, marks
from fateforger.ui.rule_fields import DAY_RULE, build_record, build_rule_fields, confirm_record, find_clash
from fateforger.ui.rule_limits import DIMENSIONS, MORE, list_rare, read_certainty
from fateforger.values import replace

PAGE = 12
"""Rules per page: each takes two of the hundred blocks of a modal."""
StatusFilter = Literal["all", "used", "confirm", "force", "out"]
ReachFilter = Literal["any", "lasting", "dated", "day"]
ForceFilter = Literal["any", "must", "should", "prefer"]

_STATUS: Mapping[StatusFilter, tuple[str, Callable[[MemoryConstraintItem], bool]]] = {
    "all": (mark_message("All rules"), lambda _row: True),
    "used": (mark_message("Used for this day"), lambda row: row.used),
    "confirm": (mark_message("To be confirmed"), lambda row: row.unsure and not row.retired),
    "force": (mark_message("In force"), lambda row: not row.retired),
    "out": (mark_message("Declined or archived"), lambda row: row.retired),
}
_REACH: Mapping[ReachFilter, tuple[str, Callable[[MemoryConstraintItem], bool]]] = {
    "any": (mark_message("However long they hold"), lambda _row: True),
    "lasting": (mark_message("Hold for good"), lambda row: row.scope is Scope.PROFILE),
    "dated": (mark_message("Hold between dates"), lambda row: row.scope is Scope.DATESPAN),
    "day": (mark_message("Hold for this day only"), lambda row: row.scope is Scope.SESSION),
}


_FORCE: Mapping[ForceFilter, str] = {
    "any": mark_message("However binding they are"),
    "must": mark_message("Only musts"),
    "should": mark_message("Only what should be"),
    "prefer": mark_message("Only what is nice to have"),
}
_FILTERS = ("words", "status", "reach", "force", "tells", "tag")
_ANY_TAG = "*"
MOST_TAGS = 99
"""Slack shows a hundred choices of a menu."""


class ListQuery(BaseModel):
    """The visible part of the list. ``edition`` counts how often the search was reset."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    page: int = 1
    words: str = ""
    status: StatusFilter = "all"
    reach: ReachFilter = "any"
    force: ForceFilter = "any"
    tells: Dimension | Literal["anything"] = "anything"
    tag: str = ""
    edition: int = 0

    def to_target(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


def build_rules_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the list in its previous state, with the latest choices applied."""
    return _build_list(book, _apply_choices(_parse_query(request.target), request.chosen))


def read_rules_form(book: RuleBook, filled: Filled) -> Form:
    """Return the list for the submitted search."""
    words = filled.text("words", MAX_FILTER_CHARS)
    return _build_list(book, _apply_choices(_parse_query(filled.submission.target), {"words": words}))


def _parse_query(target: str) -> ListQuery:
    try:
        return ListQuery.model_validate_json(target or "{}")
    except ValidationError:
        return ListQuery()


def _apply_choices(wanted: ListQuery, chosen: Mapping[str, str]) -> ListQuery:
    """Apply choices to the list. A new search or filter begins on the first page."""
    if "everything" in chosen:
        return ListQuery(edition=wanted.edition + 1)
    changes: dict[str, object] = {name: chosen[name] for name in _FILTERS if name in chosen}
    if any(getattr(wanted, name) != value for name, value in changes.items()):
        changes["page"] = 1
    if "page" in chosen:
        changes["page"] = chosen["page"]
    try:
        return ListQuery.model_validate({**wanted.model_dump(), **changes})
    except ValidationError:
        return wanted


def _build_list(book: RuleBook, wanted: ListQuery) -> Form:
    found = _filter_rows(book, wanted)
    pages = max(1, -(-len(found) // PAGE))
    wanted = replace(wanted, page=min(max(wanted.page, 1), pages))
    shown = found[(wanted.page - 1) * PAGE : wanted.page * PAGE]
    return Form(
        target=wanted.to_target(),
        title=_("Your rules"),
        submit=_("Search") if book.rows else None,
        close=_("Close"),
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


def _filter_rows(book: RuleBook, wanted: ListQuery) -> list[MemoryConstraintItem]:
    """Return the rows that contain every word, in list order."""
    pieces = wanted.words.casefold().split()
    told = RuleFilter(dimensions=() if wanted.tells == "anything" else (wanted.tells,))
    kept = (row for row in book.rows if _passes(row, wanted) and told.admits(book.newest[row.uid].record))
    return [row for row in kept if all(piece in _searchable_text(row) for piece in pieces)]


def _passes(row: MemoryConstraintItem, wanted: ListQuery) -> bool:
    return (
        _STATUS[wanted.status][1](row)
        and _REACH[wanted.reach][1](row)
        and wanted.force in {"any", row.necessity.value}
        and (wanted.tag in {"", _ANY_TAG} or wanted.tag in row.topics)
    )


def _searchable_text(row: MemoryConstraintItem) -> str:
    return f"{row.name}\n{row.words}\n{describe_rule(row)}".casefold()


def _empty_fields() -> tuple[FormField, ...]:
    return (Prose(text=_("I know no rules of yours yet. Add one, and I keep to it when I plan your days.")),)


def _search_fields(book: RuleBook, wanted: ListQuery) -> tuple[FormField, ...]:
    counts: dict[StatusFilter, int] = {name: sum(map(fits, book.rows)) for name, (_label, fits) in _STATUS.items()}
    statuses = [Choice(label=f"{_(label)} ({counts[name]})", value=name) for name, (label, _fits) in _STATUS.items()]
    reaches = [Choice(label=_(label), value=name) for name, (label, _fits) in _REACH.items()]
    return (
        TextField(
            name="words",
            label=_("Search your rules"),
            optional=True,
            value=wanted.words,
            edition=wanted.edition,
            placeholder=_("gym, calls, Monday…"),
            max_length=MAX_FILTER_CHARS,
        ),
        Controls(
            items=(
                Select(
                    action="turn.status", placeholder=_("Which rules"), choices=tuple(statuses), selected=wanted.status
                ),
                Select(
                    action="turn.reach",
                    placeholder=_("How long they hold"),
                    choices=tuple(reaches),
                    selected=wanted.reach,
                ),
                Select(
                    action="turn.force",
                    placeholder=_("How binding they are"),
                    choices=tuple(Choice(label=_(label), value=name) for name, label in _FORCE.items()),
                    selected=wanted.force,
                ),
                Select(
                    action="turn.tells",
                    placeholder=_("What they say about you"),
                    choices=(
                        Choice(label=_("Anything about you"), value="anything"),
                        *(Choice(label=_(label), value=each.value) for each, label in DIMENSIONS.items()),
                    ),
                    selected=wanted.tells,
                ),
                *_tag_filter(book, wanted),
            )
        ),
    )


def _tag_filter(book: RuleBook, wanted: ListQuery) -> tuple[Select, ...]:
    tags = sorted({topic for row in book.rows for topic in row.topics})[:MOST_TAGS]
    if not tags:
        return ()
    choices = (Choice(label=_("About anything"), value=_ANY_TAG), *(Choice(label=tag[:75], value=tag) for tag in tags))
    return (
        Select(
            action="turn.tag", placeholder=_("What they are about"), choices=choices, selected=wanted.tag or _ANY_TAG
        ),
    )


def _count_words(book: RuleBook, wanted: ListQuery, found: Sequence[MemoryConstraintItem]) -> str:
    """Return the numbers of shown and of all rules, so that nothing is cut silently."""
    every = len(book.rows)
    rules = ngettext("{count} rule", "{count} rules", every)
    day = _("The day is {day}.", day=format_day(book.person.date))
    if not found:
        return _("None of your {rules} fits this search. {day}", rules=rules, day=day)
    first = (wanted.page - 1) * PAGE + 1
    last = min(wanted.page * PAGE, len(found))
    part = (
        _("{first} to {last} of {count}", first=first, last=last, count=len(found))
        if len(found) > PAGE
        else f"{len(found)}"
    )
    if len(found) == every:
        return (
            _("Rules {part}. {day}", part=part, day=day)
            if len(found) > PAGE
            else _("All {rules}. {day}", rules=rules, day=day)
        )
    fit = ngettext("{part} of your {rules} fits.", "{part} of your {rules} fit.", len(found), part=part, rules=rules)
    return join_sentences(fit, day)


def _row_fields(row: MemoryConstraintItem) -> tuple[FormField, ...]:
    said = "" if row.words == row.name else "\n" + quote_title(plain(row.words, 300), 600)
    label = _("Look") if row.retired else _("Edit")
    target = format_rule_target(row.seq, row.uid)
    button = Button(label=label, action="form.rule", target=target, spoken=name_button(label, row.name))
    return (
        Prose(text=f"**{plain(row.name, 120)}**{said}\n{describe_rule(row)}", control=button),
        Note(text=f"{marks(row)} · {describe_origin(row)}"),
    )


def _page_fields(wanted: ListQuery, pages: int) -> tuple[FormField, ...]:
    """Return the page buttons, for above and below the rows: the scroll position survives a new page."""
    before = Button(label=_("Previous page"), action="turn.page", target=str(wanted.page - 1))
    after = Button(label=_("Next page"), action="turn.page", target=str(wanted.page + 1))
    ways = (*((before,) if wanted.page > 1 else ()), *((after,) if wanted.page < pages else ()))
    return (Controls(items=ways),) if ways else ()


def _footer(wanted: ListQuery) -> Controls:
    """Return the buttons that show all rules and add a new one."""
    filtered = replace(wanted, page=1, edition=0) != ListQuery()
    everything = Button(label=_("Show all rules"), action="turn.everything", target="yes")
    return Controls(items=(*((everything,) if filtered else ()), *localize_row(ADD, ROUTINE, ADD_DAY, POLICY).items))


CHANGED = mark_message(
    "This rule was changed meanwhile, so nothing was saved. Copy what you wrote, go back and open the rule again."
)
DIFFERENCE = mark_message(
    "Decline: you don't want this rule. Archive: it is over. Its words are kept either way, and you can restore it."
)


def build_edit_rule_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form of a rule, with buttons and fields. A rule out of force can only be viewed and restored."""
    seen, uid = parse_rule_target(request.target)
    row, version = book.rule(uid)
    seq = seen if request.chosen else version.seq
    fields: tuple[FormField, ...] = (
        *(Prose(text=plain(line, 600)) for line in book.done),
        Prose(text=_describe_rule(book, version)),
        Controls(items=_verdict_buttons(book, row)),
    )
    if not row.retired:
        asked = build_rule_fields(version.record, request.chosen, named=True)
        fields = (*fields, Note(text=_(DIFFERENCE)), Divider(), *asked)
    form = Form(
        target=format_rule_target(seq, uid),
        title=_("Rule"),
        submit=None if row.retired else _("Save"),
        close=_("Back"),
        fields=fields,
    )
    return fold_form(form, request.size, list_rare(version.record), _(MORE))


def read_edited_rule(book: RuleBook, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command that saves the rule; if nothing was edited, the command that confirms it."""
    seen, uid = parse_rule_target(filled.submission.target)
    version = book.rule(uid)[1]
    record = build_record(filled, version.record)
    if record is None:
        return FormErrors(errors=filled.errors)
    if version.seq != seen:
        return FormErrors(errors={"words": _(CHANGED)})
    if (clash := find_clash(book, record, filled.submission, but=uid)) is not None and record != version.record:
        return FormErrors(errors={DAY_RULE: clash})
    if read_certainty(filled, record) == version.record:
        return JudgeConstraint(**filled.envelope, uid=uid, verdict="accept", seen=seen)
    return ReviseConstraint(**filled.envelope, uid=uid, record=confirm_record(filled, record), seen=seen)


def build_day_rule_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form for a new rule about the order of the day, with the names that it may use."""
    chosen = {"kind": DAY_RULE, **request.chosen}
    return build_new_rule_form(book, replace(request, chosen=chosen))


def build_said_rule_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form for a new rule with words that nothing could read; they are the target of the request."""
    form = build_new_rule_form(book, replace(request, target=""))
    fields = tuple(
        replace(field, value=request.target[:MAX_WORDS_CHARS])
        if isinstance(field, TextField) and field.name == "words"
        else field
        for field in form.fields
    )
    return replace(form, target=request.target, fields=fields)


def read_said_rule(book: RuleBook, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command that remembers the rule; the target of the form replaces none."""
    return read_new_rule(book, Filled(replace(filled.submission, target="")))


def build_new_rule_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form for a new rule, either empty, or filled from the rule that it replaces."""
    old = _find_replaced(book, request.target)
    fields: tuple[FormField, ...] = build_rule_fields(None if old is None else old.record, request.chosen)
    if old is not None:
        words = _(
            "It takes the place of “{name}” on the days it is for; that one stays as history.",
            name=plain(old.record.name),
        )
        fields = (Prose(text=words), *fields)
    elif book.session is not None:
        fields = (*fields, _reach_field(format_day(book.session.date)))
    if request.form == "rule_new" and old is None:
        fields = (localize_row(ROUTINE, POLICY), *fields)
    form = Form(
        target=request.target,
        title=_("Add a rule") if old is None else _("Replace a rule"),
        submit=_("Add") if old is None else _("Replace"),
        close=_("Cancel") if old is None else _("Back"),
        fields=fields,
    )
    return fold_form(form, request.size, list_rare(None if old is None else old.record), _(MORE))


def read_new_rule(book: RuleBook, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command that remembers the new rule, or the errors per field."""
    old = _find_replaced(book, filled.submission.target)
    record = build_record(filled, None)
    if record is None:
        return FormErrors(errors=filled.errors)
    if book.session is not None and old is None and filled.choice("reach") == "day":
        record = replace(record, scope=Scope.SESSION)
    supersedes = None if old is None else old.uid
    if (clash := find_clash(book, record, filled.submission, but=supersedes)) is not None:
        return FormErrors(errors={DAY_RULE: clash})
    return RememberConstraint(**filled.envelope, record=confirm_record(filled, record), supersedes=supersedes)


def _find_replaced(book: RuleBook, target: str) -> Version | None:
    return book.rule(parse_rule_target(target)[1])[1] if target else None


def _reach_field(day: str) -> ChoiceField:
    choices = (Choice(label=_("From now on"), value="lasting"), Choice(label=_("Only for {day}", day=day), value="day"))
    return ChoiceField(name="reach", label=_("How long it holds"), choices=choices, value="lasting")


def _describe_rule(book: RuleBook, version: Version) -> str:
    """Return the rule in the person's words, the date they said it, and the reason why it applies or does not."""
    answer = rules_in_force(book.person, book.versions, at_any_stage=True)
    used = next((item for item in answer.applicable if item.uid == version.uid), None)
    out = next((item for item in answer.excluded if item.uid == version.uid), None)
    reminder = build_reminder(used or Applicable(version, answer.context))
    why = (
        " ".join(used.reasons)
        if used is not None
        else ""
        if out is None
        else _("Not used: {reason}", reason=out.reason)
    )
    ask = _("It needs your word: {ask}.", ask=_(CONFIRM)) if reminder.unsure and not version.retired else ""
    row = book.rule(version.uid)[0]
    if row.confidence is not None and row.confidence < 1:
        ask = join_sentences(_("I am {share} sure of it.", share=format_percent(round(row.confidence * 100))), ask)
    return f"**{plain(row.name, 200)}**\n{describe_rule(row)}\n{plain(reminder.sentence, 900)}\n{plain(why, 600)}{ask}"


def _verdict_buttons(book: RuleBook, row: MemoryConstraintItem) -> tuple[Button, ...]:
    target = format_rule_target(row.seq, row.uid)
    if row.retired:
        return (JudgeConstraint.verdicts["restore"].button(target, style="primary"),)
    passing = book.rule(row.uid)[1].record.lifecycle.ttl_days is not None
    confirm = row.status is not Status.LOCKED or row.unsure or passing
    verdicts = JudgeConstraint.verdicts
    aside = verdicts["use_again" if row.set_aside else "set_aside"]
    return (
        *((verdicts["accept"].button(target, style="primary"),) if confirm else ()),
        *((aside.button(target),) if book.session is not None else ()),
        Button(label=_("Replace by a new rule"), action="form.rule_new", target=target),
        verdicts["archive"].button(target),
        verdicts["decline"].button(target, style="danger"),
    )


RULE_FORMS: Mapping[str, FormSpec[RuleBook]] = {
    "rules": FormSpec(build_rules_form, read_rules_form),
    "rule": FormSpec(build_edit_rule_form, read_edited_rule),
    "rule_new": FormSpec(build_new_rule_form, read_new_rule),
    "rule_said": FormSpec(build_said_rule_form, read_said_rule),
    "rule_day": FormSpec(build_day_rule_form, read_new_rule),
}
