"""Rare fields of a rule, behind More: how long it is kept, what it depends on, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.limits import MAX_KEPT_DAYS, MAX_LABELS_CHARS
from fateforger.memory.record import Aspect, ConstraintRecord, fold_label
from fateforger.memory.vocabulary import STAGE_HEADINGS, Dimension, Source
from fateforger.planning.plan import ET
from fateforger.session.cards import Choice
from fateforger.session.forms import ChoiceField, FlagField, Input, ManyField, NumberField, TextField
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.ui.form_values import Filled
from fateforger.values import replace

KEPT, WITH, WITHOUT, STAGES, DIMENSION, TAGS, SOURCE, UNSURE = (
    "kept_days",
    "only_with",
    "only_without",
    "stages",
    "dimension",
    "tags",
    "source",
    "unsure",
)
MORE = mark_message("More: days it depends on, steps, tags")
DIMENSIONS = {
    Dimension.POLICY: mark_message("How I do things"),
    Dimension.VALUE: mark_message("What matters to me"),
    Dimension.GOAL: mark_message("What I want to reach"),
    Dimension.STATE: mark_message("How things are"),
}
_SOURCES = {
    Source.USER: mark_message("I said so"),
    Source.FEEDBACK: mark_message("I learned it from a day"),
    Source.CALENDAR: mark_message("It is in my calendar"),
    Source.SYSTEM: mark_message("It was assumed"),
}


def _find_most_days(record: ConstraintRecord) -> int:
    """Return the most days that can be chosen; a rule from elsewhere may be kept longer, and stays so."""
    return max(MAX_KEPT_DAYS, record.lifecycle.kept_days or 0)


def build_limit_fields(before: ConstraintRecord | None) -> tuple[Input, ...]:
    record = ConstraintRecord(name="-") if before is None else before
    aspect = record.aspect or Aspect()
    return (
        NumberField(
            name=KEPT,
            label=_("Days to keep it"),
            optional=True,
            value=record.lifecycle.kept_days,
            minimum=1,
            maximum=_find_most_days(record),
            hint=_(
                "For the next two weeks: 14; only today: 1. The days count from the last change of the rule, and begin"
                " again when you confirm it."
            ),
        ),
        _labels_field(WITH, _("Only on days with"), aspect.conditional_on_present),
        _labels_field(WITHOUT, _("Only on days without"), aspect.conditional_on_absent),
        ManyField(
            name=STAGES,
            label=_("For which steps of planning"),
            choices=tuple(Choice(label=_(heading), value=name) for name, heading in STAGE_HEADINGS.items()),
            value=record.applies_stages,
            placeholder=_("All steps"),
        ),
        ChoiceField(
            name=DIMENSION,
            label=_("What it says about you"),
            optional=True,
            choices=tuple(Choice(label=_(label), value=each.value) for each, label in DIMENSIONS.items()),
            value=None if aspect.dimension is None else aspect.dimension.value,
        ),
        TextField(
            name=TAGS,
            label=_("Tags"),
            optional=True,
            value=", ".join(record.topics),
            placeholder=_("sport, evenings"),
            max_length=MAX_LABELS_CHARS,
        ),
        ChoiceField(
            name=SOURCE,
            label=_("Where it comes from"),
            choices=tuple(Choice(label=_(label), value=source.value) for source, label in _SOURCES.items()),
            value=record.source.value,
        ),
        FlagField(name=UNSURE, label=_("I am not sure of it yet; ask me again"), value=record.needs_confirmation),
    )


def list_rare(before: ConstraintRecord | None) -> frozenset[str]:
    """Return the names of the fields that say nothing special, so that the form may leave them out."""
    usual = {field.name: field.value for field in build_limit_fields(None)}
    return frozenset(field.name for field in build_limit_fields(before) if field.value == usual[field.name])


def _labels_field(name: str, label: str, labels: Sequence[str]) -> TextField:
    return TextField(
        name=name,
        label=label,
        optional=True,
        value=", ".join(_show_label(each) for each in labels),
        placeholder=_("gym, meeting"),
        hint=_("Titles or kinds of blocks, with commas between them."),
        max_length=MAX_LABELS_CHARS,
    )


def _show_label(label: str) -> str:
    return next((kind.words for kind in ET if kind.value == label), label)


def _read_label(text: str) -> str:
    spoken = text.strip().casefold()
    return next((kind.value for kind in ET if kind.words.casefold() == spoken), fold_label(spoken))


def read_limits(filled: Filled, record: ConstraintRecord) -> ConstraintRecord:
    """Return the record with the fields that the form showed; the others stay as they were."""
    changes = {
        WITH: "conditional_on_present",
        WITHOUT: "conditional_on_absent",
    }
    aspect = record.aspect or Aspect()
    for name, field in changes.items():
        if filled.has(name):
            labels = tuple(dict.fromkeys(_read_label(each) for each in _split(filled.text(name, MAX_LABELS_CHARS))))
            aspect = Aspect.model_validate({**aspect.model_dump(), field: labels})
    if filled.has(DIMENSION):
        told = filled.choice(DIMENSION)
        aspect = replace(aspect, dimension=None if told is None else Dimension(told))
    if aspect != (record.aspect or Aspect()):
        record = replace(record, aspect=aspect)
    if filled.has(KEPT):
        days = filled.minutes(KEPT, least=1, most=_find_most_days(record))
        life = replace(record.lifecycle, ttl_days=None if days is None else days - 1)
        record = replace(record, lifecycle=life)
    if filled.has(STAGES):
        record = replace(record, applies_stages=filled.many(STAGES))
    if filled.has(TAGS):
        record = replace(record, topics=tuple(dict.fromkeys(_split(filled.text(TAGS, MAX_LABELS_CHARS)))))
    return record


def read_certainty(filled: Filled, record: ConstraintRecord) -> ConstraintRecord:
    """Return a record that the person wrote down with its source, and with the question that they want asked."""
    if (source := filled.choice(SOURCE)) is not None:
        record = replace(record, source=Source(source))
    return replace(record, needs_confirmation=filled.flag(UNSURE)) if filled.has(UNSURE) else record


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
