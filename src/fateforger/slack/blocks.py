"""Cards as Block Kit, within Slack's limits. A note replaces what does not fit (S226)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, assert_never

from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Control,
    Controls,
    DatePick,
    Divider,
    Feedback,
    Heading,
    Menu,
    Note,
    Part,
    Picture,
    Prose,
    Select,
    TimePick,
)
from fateforger.slack.ids import ACTION_MARK, FEEDBACK, Address, ControlAction, Vote
from fateforger.slack.mrkdwn import split, strip_marks, to_mrkdwn
from fateforger.text import NO_TITLE, clean_text, count_units, cut_to_units, mark_message, ngettext, speak, truncate
from fateforger.text import gettext as _
from fateforger.ui.picture_words import describe
from fateforger.values import replace

MAX_LABEL = 75
MAX_OPTIONS = 100
MAX_OVERFLOW = 5
MAX_PLACEHOLDER = 150
MAX_CONFIRM = 300
MAX_CONFIRM_LABEL = 30

Element = dict[str, Any]


def plain_text(text: str, limit: int = MAX_LABEL) -> Element:
    """Return a text object without markup."""
    # Slack refuses a message with an empty text; a title may consist of invisible characters alone.
    return {"type": "plain_text", "text": truncate(clean_text(text), limit) or _(NO_TITLE)}


def element(control: Control, address: Address, numbers: Iterator[int]) -> Element | None:
    """Return the element of a control, or ``None`` for a menu without choices.

    The next number makes its ``action_id`` unique. A menu that is too long for Slack's overflow menu becomes a select;
    one with a single choice becomes a button.
    """
    match control:
        case Button():
            return _button(control, address, numbers)
        case Menu():
            return _menu(control, address, numbers)
        case Select():
            return _select(control, numbers)
        case DatePick():
            return {
                "type": "datepicker",
                "action_id": _action_id(control.action, numbers),
                "initial_date": control.selected.isoformat(),
            }
        case TimePick():
            picker: Element = {
                "type": "timepicker",
                "action_id": _action_id(control.action, numbers),
                "placeholder": plain_text(control.placeholder, MAX_PLACEHOLDER),
            }
            if control.selected is not None:
                picker["initial_time"] = control.selected.strftime("%H:%M")
            return picker
        case _:
            assert_never(control)


def describe_left_out(control: Control) -> str | None:
    """Return a sentence about choices that exceed Slack's limit; ``None`` if all fit."""
    choices = control.choices if isinstance(control, Select | Menu) else ()
    if len(choices) <= MAX_OPTIONS:
        return None
    return ngettext(
        "Slack lists {most} choices at most, so {count} is not in this list.",
        "Slack lists {most} choices at most, so {count} are not in this list.",
        len(choices) - MAX_OPTIONS,
        most=MAX_OPTIONS,
    )


def option(choice: Choice, value: str | None = None) -> Element:
    return {"text": plain_text(choice.label), "value": choice.value if value is None else value}


def _button(button: Button, address: Address, numbers: Iterator[int]) -> Element:
    made: Element = {
        "type": "button",
        "action_id": _action_id(button.action, numbers),
        "text": plain_text(button.label),
        "value": replace(address, target=button.target, n=0).pack(),
    }
    if button.spoken:
        made["accessibility_label"] = truncate(clean_text(button.spoken), MAX_LABEL) or _(NO_TITLE)
    if button.style != "default":
        made["style"] = button.style
    if button.url:
        made["url"] = button.url
    if button.confirm is not None:
        made["confirm"] = {
            "title": plain_text(_("Are you sure?")),
            "text": plain_text(button.confirm, MAX_CONFIRM),
            "confirm": plain_text(button.label, MAX_CONFIRM_LABEL),
            "deny": plain_text(_("Cancel")),
        }
        if button.style != "default":
            made["confirm"]["style"] = button.style
    return made


def _menu(menu: Menu, address: Address, numbers: Iterator[int]) -> Element | None:
    if not menu.choices:
        return None
    if len(menu.choices) == 1:
        only = menu.choices[0]
        return _button(Button(label=only.label, action=only.value, target=menu.target), address, numbers)
    options = [
        option(choice, ControlAction(action=choice.value, target=menu.target).pack())
        for choice in menu.choices[:MAX_OPTIONS]
    ]
    if len(options) <= MAX_OVERFLOW:
        return {"type": "overflow", "action_id": _action_id("menu", numbers), "options": options}
    return {
        "type": "static_select",
        "action_id": _action_id("menu", numbers),
        "placeholder": plain_text(_("Change…")),
        "options": options,
    }


def _select(select: Select, numbers: Iterator[int]) -> Element | None:
    if not select.choices:
        return None
    options = [option(choice) for choice in select.choices[:MAX_OPTIONS]]
    made: Element = {
        "type": "static_select",
        "action_id": _action_id(select.action, numbers),
        "placeholder": plain_text(select.placeholder, MAX_PLACEHOLDER),
        "options": options,
    }
    chosen = next((shown for shown in options if shown["value"] == select.selected), None)
    if chosen is not None:
        made["initial_option"] = chosen
    return made


def _action_id(action: str, numbers: Iterator[int]) -> str:
    return f"{action}{ACTION_MARK}{next(numbers)}"


UP, DOWN = mark_message("This helped"), mark_message("This did not help")


def feedback_block(part: Feedback, address: Address, numbers: Iterator[int], *, thumbs: bool) -> dict[str, Any]:
    """Return the block with both thumbs. The vote comes back in the value."""
    block_id = replace(address, n=next(numbers)).pack()
    values = {
        helpful: Vote(session=address.session, turn=part.turn, helpful=helpful, prompts=part.prompts).pack()
        for helpful in (True, False)
    }
    if thumbs:
        element = {
            "type": "feedback_buttons",
            "action_id": f"{FEEDBACK}{ACTION_MARK}{next(numbers)}",
            "positive_button": _thumb(_(UP), values[True]),
            "negative_button": _thumb(_(DOWN), values[False]),
        }
        return {"type": "context_actions", "block_id": block_id, "elements": [element]}
    buttons = [
        {
            "type": "button",
            "action_id": f"{FEEDBACK}{ACTION_MARK}{next(numbers)}",
            "text": plain_text(label),
            "accessibility_label": words,
            "value": values[helpful],
        }
        for label, words, helpful in (("👍", _(UP), True), ("👎", _(DOWN), False))
    ]
    return {"type": "actions", "block_id": block_id, "elements": buttons}


def _thumb(words: str, value: str) -> dict[str, Any]:
    return {"text": plain_text(words), "accessibility_label": words, "value": value}


Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Block with its weight.

    Rows of controls are ``fixed``: they stay, because nothing works without them. ``lines`` is the number of lines that
    are missed if the piece is left out; by default its lines of text.
    """

    block: Block
    fixed: bool = False
    lines: int | None = None

    @property
    def words(self) -> str:
        if self.block["type"] == "context":
            return str(self.block["elements"][0]["text"])
        return str(self.block["text"]["text"]) if "text" in self.block else ""

    @property
    def missing_lines(self) -> int:
        return self.words.count("\n") + 1 if self.lines is None else self.lines


def fit_pieces(
    pieces: Sequence[Piece], max_blocks: int, max_characters: int, note: Callable[[str], Block]
) -> list[Block]:
    """Return the blocks of the pieces that fit, from the top, and all rows of controls.

    If something is missing, a note says how much.
    """
    if _fits(pieces, max_blocks, max_characters):
        return [piece.block for piece in pieces]
    # Dividers are the first to go.
    dense = [piece for piece in pieces if piece.block["type"] != "divider"]
    if _fits(dense, max_blocks, max_characters):
        return [piece.block for piece in dense]
    return _cut(dense, max_blocks - 1, max_characters, note)


def _fits(pieces: Sequence[Piece], max_blocks: int, max_characters: int) -> bool:
    return len(pieces) <= max_blocks and sum(count_units(piece.words) for piece in pieces) <= max_characters


def _cut(pieces: Sequence[Piece], max_blocks: int, max_characters: int, note: Callable[[str], Block]) -> list[Block]:
    fixed = [at for at, piece in enumerate(pieces) if piece.fixed]
    kept = set(fixed[-max(1, max_blocks // 2) :])
    characters = 0
    full = False
    gap: int | None = None
    missed = 0
    for at, piece in enumerate(pieces):
        if at in kept:
            continue
        full = full or piece.fixed or len(kept) >= max_blocks or characters + count_units(piece.words) > max_characters
        if full:
            gap = at if gap is None else gap
            missed += piece.missing_lines
        else:
            kept.add(at)
            characters += count_units(piece.words)
    blocks: list[Block] = []
    for at, piece in enumerate(pieces):
        if at == gap:
            blocks.append(note(_sentence(missed)))
        if at in kept:
            blocks.append(piece.block)
    return blocks


def _sentence(missed: int) -> str:
    return ngettext(
        "… {count} more line is left out here: a Slack message has no room for more.",
        "… {count} more lines are left out here: a Slack message has no room for more.",
        missed,
    )


FileOf = Callable[[Picture], str | None]
"""Returns the id of an uploaded picture's file, or ``None``."""

MAX_ELEMENTS = 25
MAX_HEADER = 150
MAX_SECTION = 3000
MAX_CONTEXT = 2000
MAX_ALT_TEXT = 2000
MAX_TEXT = 3500
"""``chat.update`` rejects more than 4,000 characters, entities included."""


class Size(NamedTuple):
    """Limits of a message."""

    blocks: int
    characters: int


MESSAGE = Size(50, 12_000)
HOME = Size(100, 24_000)
COMPACT = (Size(25, 3_000), Size(8, 800))
"""Smaller sizes to try in order if Slack still finds a message too long."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """Rendered message. ``text`` is for notifications and screen readers."""

    text: str
    blocks: list[Block]


def without_file(_picture: Picture) -> None:
    """Return no file, so that a picture is left out."""


def render(
    card: Card, *, session: str, v: str, size: Size = MESSAGE, thumbs: bool = True, file_of: FileOf = without_file
) -> Rendered:
    """Render a card as a message.

    Every control carries ``session`` and ``v``, the name of this rendering. With ``thumbs``, feedback uses Slack's own
    thumbs, otherwise two plain buttons. A picture without a file is left out.
    """
    with speak(card.language):
        return _render(card, Address(session=session, v=v), size, file_of, thumbs=thumbs)


def _render(card: Card, address: Address, size: Size, file_of: FileOf, *, thumbs: bool) -> Rendered:
    numbers = count()
    limit = max(200, min(MAX_SECTION, size.characters // 4))
    pieces = [piece for part in card.parts for piece in _pieces(part, address, numbers, limit, file_of, thumbs=thumbs)]
    words = _summary(card)
    if not pieces:
        pieces = [Piece(build_section(cut_to_units(words, limit)))]
    return Rendered(words, fit_pieces(pieces, size.blocks, size.characters, _note))


def blocks_of(part: Part, address: Address, numbers: Iterator[int]) -> list[Block]:
    """Return the blocks of a part that appears outside a card, as in a form."""
    return [piece.block for piece in _pieces(part, address, numbers, MAX_SECTION, without_file, thumbs=False)]


def remove_controls(card: Card) -> Card:
    parts = (
        replace(part, control=None) if isinstance(part, Prose) else part
        for part in card.parts
        if not isinstance(part, Controls)
    )
    return replace(card, parts=tuple(parts))


def _summary(card: Card) -> str:
    words = to_mrkdwn(card.text)
    if count_units(words) <= MAX_TEXT:
        return words
    return cut_to_units(words, MAX_TEXT).rsplit(" ", 1)[0] + " … (shortened)"


def _pieces(
    part: Part, address: Address, numbers: Iterator[int], limit: int, file_of: FileOf, *, thumbs: bool
) -> list[Piece]:
    match part:
        case Heading():
            words = strip_marks(part.text)
            if count_units(words) > MAX_HEADER:
                return [Piece(build_section(f"*{words}*")) for words in split(to_mrkdwn(part.text), limit - 2)]
            return [Piece({"type": "header", "text": plain_text(words, MAX_HEADER)})] if words else []
        case Prose():
            return _prose(part, address, numbers, limit)
        case Note():
            return [Piece(_note(words)) for words in split(to_mrkdwn(part.text), min(MAX_CONTEXT, limit))]
        case Divider():
            return [Piece({"type": "divider"}, lines=0)]
        case Controls():
            return _controls(part.items, address, numbers)
        case Feedback():
            return [Piece(feedback_block(part, address, numbers, thumbs=thumbs), fixed=True, lines=0)]
        case Picture():
            return _picture(part, file_of(part))
        case _:
            assert_never(part)


def _picture(part: Picture, file_id: str | None) -> list[Piece]:
    if file_id is None:
        return []
    words = clean_text(describe(part.day, MAX_ALT_TEXT))
    return [Piece({"type": "image", "slack_file": {"id": file_id}, "alt_text": words}, lines=0)]


def _prose(part: Prose, address: Address, numbers: Iterator[int], limit: int) -> list[Piece]:
    words = split(to_mrkdwn(part.text), limit)
    if not words:
        return [] if part.control is None else _controls([part.control], address, numbers)
    sections = [Piece(build_section(one)) for one in words]
    if part.control is None:
        return sections
    accessory = element(part.control, address, numbers)
    if accessory is not None:
        sections[0].block.update(accessory=accessory, block_id=_block_id(address, numbers))
    return [*sections, *_about([part.control])]


def _controls(items: Sequence[Control], address: Address, numbers: Iterator[int]) -> list[Piece]:
    elements = [made for item in items if (made := element(item, address, numbers)) is not None]
    rows = [elements[at : at + MAX_ELEMENTS] for at in range(0, len(elements), MAX_ELEMENTS)]
    return [
        *(
            Piece({"type": "actions", "block_id": _block_id(address, numbers), "elements": row}, fixed=True)
            for row in rows
        ),
        *_about(items),
    ]


def _about(controls: Sequence[Control]) -> list[Piece]:
    return [Piece(_note(words)) for control in controls if (words := describe_left_out(control)) is not None]


def _block_id(address: Address, numbers: Iterator[int]) -> str:
    return replace(address, n=next(numbers)).pack()


def build_section(words: str) -> Block:
    """Return a paragraph of mrkdwn."""
    # Verbatim: a calendar title like "@channel" or "#general" must not become a mention.
    return {"type": "section", "text": {"type": "mrkdwn", "text": words, "verbatim": True}}


def _note(words: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": words, "verbatim": True}]}
