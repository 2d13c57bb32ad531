"""Forms as Slack modals, within Slack's limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import count
from typing import Any, assert_never

from fateforger.session.cards import (
    Choice,
    ChoiceField,
    Controls,
    DateField,
    Divider,
    FlagField,
    Form,
    FormField,
    Input,
    ManyField,
    Note,
    NumberField,
    Prose,
    TextField,
    TextPart,
    TimeField,
)
from fateforger.slack.addresses import ACTION_MARK, MORE, VALUE_ACTION, YES, Address, FormAddress, field_block
from fateforger.slack.controls import MAX_OPTIONS, MAX_PLACEHOLDER, option, plain_text
from fateforger.slack.mrkdwn import escape, to_mrkdwn
from fateforger.slack.render import blocks_of
from fateforger.slack.splitting import split

MAX_BLOCKS = 100
MAX_TITLE = 24
MAX_WORDS = 2000
MAX_TYPED = 3000
MAX_BOXES = 10
RADIO = 4
"""Up to this many choices are shown as radio buttons, more as a select."""

View = dict[str, Any]
Block = dict[str, Any]


def modal(form: Form, below: FormAddress | None = None) -> View:
    """Return a form as a modal.

    Field names become block ids, so typed values survive a refresh. ``below`` is the address of the form under it.
    """
    here = Address(session=form.session_id, v=_rendering(form))
    numbers = count()
    blocks = [block for field in form.fields for block in _blocks(field, here, numbers)]
    if len(form.title) > MAX_TITLE:
        blocks.insert(0, _words(f"*{escape(form.title)}*"))
    room = MAX_BLOCKS - 1
    if len(blocks) > room:
        blocks = [*blocks[: room - 1], _words("There is no room for more fields here. Send these, then open it again.")]
    elif form.more is not None:
        blocks.append(_more(form.more))
    address = FormAddress(form=form.form, session=form.session_id, target=form.target, size=form.size, below=below)
    view = {
        "type": "modal",
        "callback_id": form.form,
        "title": plain_text(form.title, MAX_TITLE),
        "close": plain_text(form.close, MAX_TITLE),
        "private_metadata": address.pack(),
        "blocks": blocks,
    }
    return view if form.submit is None else view | {"submit": plain_text(form.submit, MAX_TITLE)}


def _rendering(form: Form) -> str:
    """Return a fingerprint of a form's appearance; a choice in one with another fingerprint is not carried over."""
    return hashlib.sha256(form.model_dump_json().encode()).hexdigest()[:12]


def _blocks(field: FormField, here: Address, numbers: Iterator[int]) -> list[Block]:
    match field:
        case TextPart():
            return [_words(words) for words in split(to_mrkdwn(field.text), MAX_TYPED)]
        case Prose() | Note() | Divider() | Controls():
            return blocks_of(field, here, numbers)
        case _:
            return _build_input(field)


def _build_input(field: Input) -> list[Block]:
    match field:
        case TextField():
            hint = field.hint
            if len(field.value) > _longest(field):
                hint = f"{hint} This is longer than fits here; only its beginning is shown.".strip()
            return [_input(field, _text(field), hint, optional=field.optional)]
        case NumberField():
            return [_input(field, _number(field), field.hint, optional=field.optional)]
        case ChoiceField():
            hint = field.hint
            if len(field.choices) > MAX_OPTIONS:
                hint = f"{hint} These are the first {MAX_OPTIONS} of {len(field.choices)} choices.".strip()
            return [_input(field, _choice(field), hint, optional=field.optional)] if field.choices else []
        case ManyField():
            return [_input(field, _many(field), field.hint, optional=True)]
        case DateField():
            initial = {} if field.value is None else {"initial_date": field.value.isoformat()}
            return [_input(field, {"type": "datepicker"} | initial, "", optional=field.optional)]
        case TimeField():
            initial = {} if field.value is None else {"initial_time": field.value.strftime("%H:%M")}
            return [_input(field, {"type": "timepicker"} | initial, field.hint, optional=field.optional)]
        case FlagField():
            # Slack treats an unticked box as an empty input, so it has to be optional.
            return [_input(field, _flag(field), "", optional=True)]
        case _:
            assert_never(field)


def _input(field: Input, element: Block, hint: str, *, optional: bool) -> Block:
    edition = field.edition if isinstance(field, TextField) else 0
    block: Block = {
        "type": "input",
        "block_id": field_block(field.name, edition),
        "label": plain_text(field.label, MAX_WORDS),
        "element": element | {"action_id": VALUE_ACTION},
        "optional": optional,
    }
    if isinstance(field, ChoiceField) and field.turns:
        block["dispatch_action"] = True
    if hint:
        block["hint"] = plain_text(hint, MAX_WORDS)
    return block


def _text(field: TextField) -> Block:
    longest = _longest(field)
    element: Block = {"type": "plain_text_input", "multiline": field.multiline, "max_length": longest}
    if field.value:
        element["initial_value"] = field.value[:longest]
    if field.placeholder:
        element["placeholder"] = plain_text(field.placeholder, MAX_PLACEHOLDER)
    return element


def _longest(field: TextField) -> int:
    return min(field.max_length, MAX_TYPED)


def _number(field: NumberField) -> Block:
    element: Block = {"type": "number_input", "is_decimal_allowed": False}
    given = {"initial_value": field.value, "min_value": field.minimum, "max_value": field.maximum}
    return element | {name: str(value) for name, value in given.items() if value is not None}


def _choice(field: ChoiceField) -> Block:
    options = [option(choice) for choice in field.choices[:MAX_OPTIONS]]
    element: Block = {"type": "radio_buttons" if len(options) <= RADIO else "static_select", "options": options}
    chosen = next((shown for shown in options if shown["value"] == field.value), None)
    return element if chosen is None else element | {"initial_option": chosen}


def _many(field: ManyField) -> Block:
    options = [option(choice) for choice in field.choices[:MAX_OPTIONS]]
    element: Block = {"type": "multi_static_select", "options": options}
    if field.boxes and len(options) <= MAX_BOXES:
        element["type"] = "checkboxes"
    else:
        element["placeholder"] = plain_text(field.placeholder, MAX_PLACEHOLDER)
    chosen = [shown for shown in options if shown["value"] in field.value]
    return element | {"initial_options": chosen} if chosen else element


def _flag(field: FlagField) -> Block:
    tick = option(Choice(label="Yes", value=YES))
    element: Block = {"type": "checkboxes", "options": [tick]}
    return element | {"initial_options": [tick]} if field.value else element


def _more(label: str) -> Block:
    return {
        "type": "actions",
        "block_id": MORE,
        "elements": [{"type": "button", "action_id": f"{MORE}{ACTION_MARK}0", "text": plain_text(label)}],
    }


def _words(words: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words, "verbatim": True}}
