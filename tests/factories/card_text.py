"""Cards as text, the way a person reads them, with the meaning of every control."""

from __future__ import annotations

from fateforger.session.cards import (
    Button,
    Card,
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
from fateforger.ui.picture_words import describe


def print_card(card: Card) -> str:
    """Return a card as lines of text, the notification first."""
    return "\n\n".join((card.text, *map(print_part, card.parts))) + "\n"


def print_part(part: Part) -> str:
    match part:
        case Heading():
            return f"# {part.text}"
        case Prose():
            return part.text if part.control is None else f"{part.text}\n    {print_control(part.control)}"
        case Note():
            return f"({part.text})"
        case Divider():
            return "---"
        case Controls():
            return "\n".join(map(print_control, part.items))
        case Feedback():
            return f"[thumbs: {', '.join(part.prompts)}]"
        case Picture():
            return f"[picture: {describe(part.day)}]"


def print_control(control: Control) -> str:
    match control:
        case Button():
            style = "" if control.style == "default" else f", {control.style}"
            question = f", asks: {control.confirm}" if control.confirm else ""
            return f"[{control.label}: {control.action}{style}{question}]"
        case Menu():
            return f"[… {' | '.join(f'{choice.label}: {choice.value}' for choice in control.choices)}]"
        case Select():
            choices = " | ".join(
                f"*{choice.label}*" if choice.value == control.selected else choice.label for choice in control.choices
            )
            return f"[{control.placeholder} {choices}: {control.action}]"
        case DatePick() | TimePick():
            return f"[{control.selected or 'time'}: {control.action}]"
