"""Cards as Slack messages, within Slack's limits. A note replaces what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, assert_never

from fateforger.picture import describe
from fateforger.session.cards import Card, Control, Controls, Divider, Feedback, Heading, Note, Part, Picture, Prose
from fateforger.slack.addresses import Address
from fateforger.slack.controls import describe_left_out, element, plain_text
from fateforger.slack.fitting import Piece, fit_pieces
from fateforger.slack.mrkdwn import strip_marks, to_mrkdwn
from fateforger.slack.splitting import split
from fateforger.slack.thumbs import feedback_block
from fateforger.values import replace

Block = dict[str, Any]

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


def _no_file(_picture: Picture) -> None:
    return None


def render(
    card: Card, *, session: str, v: str, size: Size = MESSAGE, thumbs: bool = True, file_of: FileOf = _no_file
) -> Rendered:
    """Render a card as a message.

    Every control carries ``session`` and ``v``, the name of this rendering. With ``thumbs``, feedback uses Slack's own
    thumbs, otherwise two plain buttons. A picture without a file is left out.
    """
    address = Address(session=session, v=v)
    numbers = count()
    limit = max(200, min(MAX_SECTION, size.characters // 4))
    pieces = [piece for part in card.parts for piece in _pieces(part, address, numbers, limit, file_of, thumbs=thumbs)]
    words = _summary(card)
    if not pieces:
        pieces = [Piece(_section(words[:limit]))]
    return Rendered(words, fit_pieces(pieces, size.blocks, size.characters, _note))


def blocks_of(part: Part, address: Address, numbers: Iterator[int]) -> list[Block]:
    """Return the blocks of a part that appears outside a card, as in a form."""
    return [piece.block for piece in _pieces(part, address, numbers, MAX_SECTION, _no_file, thumbs=False)]


def remove_controls(card: Card) -> Card:
    """Return the card without its controls."""
    parts = (
        replace(part, control=None) if isinstance(part, Prose) else part
        for part in card.parts
        if not isinstance(part, Controls)
    )
    return replace(card, parts=tuple(parts))


def _summary(card: Card) -> str:
    words = to_mrkdwn(card.text)
    return words if len(words) <= MAX_TEXT else words[:MAX_TEXT].rsplit(" ", 1)[0] + " … (shortened)"


def _pieces(
    part: Part, address: Address, numbers: Iterator[int], limit: int, file_of: FileOf, *, thumbs: bool
) -> list[Piece]:
    match part:
        case Heading():
            words = strip_marks(part.text)
            if len(words) > MAX_HEADER:
                return [Piece(_section(f"*{words}*")) for words in split(to_mrkdwn(part.text), limit - 2)]
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
    words = describe(part.day, MAX_ALT_TEXT)
    return [Piece({"type": "image", "slack_file": {"id": file_id}, "alt_text": words}, lines=0)]


def _prose(part: Prose, address: Address, numbers: Iterator[int], limit: int) -> list[Piece]:
    words = split(to_mrkdwn(part.text), limit)
    if not words:
        return [] if part.control is None else _controls([part.control], address, numbers)
    sections = [Piece(_section(one)) for one in words]
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


def _section(words: str) -> Block:
    # Verbatim: a calendar title like "@channel" or "#general" must not become a mention.
    return {"type": "section", "text": {"type": "mrkdwn", "text": words, "verbatim": True}}


def _note(words: str) -> Block:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": words, "verbatim": True}]}
