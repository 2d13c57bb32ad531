"""Validation of documents, with one sentence about the first mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fateforger.errors import BadInput

M = TypeVar("M", bound=BaseModel)
_UNION_TAGS = {"ap", "bn", "fs", "fw", "ae", "re", "ue", "me", "ra"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a document, for a person.

    ``where`` is a path like ``events[2].p.dur``. ``sentence`` is readable without it.
    """

    sentence: str
    where: str
    events: tuple[int, ...]


def validate(kind: type[M], document: object, where: str | None = None) -> M:
    """Return a document as a value of ``kind``.

    Raises ``BadInput`` with the first mistake; its place begins with ``where``, the place of the document itself.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=", ".join(filter(None, (where, mistake.where))) or None) from None


def first_mistake(error: ValidationError) -> Mistake:
    """Return the first finding of an error as a sentence, with its place in the document."""
    finding = error.errors(include_url=False, include_context=True)[0]
    path = [p for p in finding["loc"] if p not in _UNION_TAGS and not _is_type_name(p)]
    where = _path(path)
    sentence = _sentence(finding["type"], finding["msg"], where.rpartition(".")[2], finding.get("ctx", {}))
    index = next((p for p in path if isinstance(p, int)), None)
    return Mistake(sentence, where, () if index is None else (index,))


def _is_type_name(part: int | str) -> bool:
    return isinstance(part, str) and (part in {"time", "datetime"} or "[" in part)


def _path(parts: list[int | str]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def _sentence(kind: str, message: str, field: str, bounds: Mapping[str, Any]) -> str:
    name = f"“{field}”" if field else "This"
    match kind:
        case "value_error":
            text = message.removeprefix("Value error, ")
            sentence = f"{text[0].upper()}{text[1:].rstrip('.')}"
            return sentence if sentence.endswith("?") else f"{sentence}."
        case "missing":
            return f"{name} is missing."
        case "extra_forbidden":
            return f"{name} is not a field I know here."
        case "greater_than_equal":
            return f"{name} has to be {_number(bounds['ge'])} or more."
        case "less_than_equal":
            return f"{name} has to be {_number(bounds['le'])} or less."
        case "too_long":
            return f"{name} can hold {bounds['max_length']} at most, and here are {bounds['actual_length']}."
        case "string_too_long" | "string_too_short":
            return f"{name} {_describe_length(bounds)}."
        case "union_tag_invalid" | "union_tag_not_found":
            if "tag" in bounds:
                return f"{name} does not say which kind it is: “{bounds['tag']}” is none of {bounds['expected_tags']}."
            return f"{name} does not say which kind it is: {bounds['discriminator']} is missing."
        case _:
            return f"{name} cannot be used: {message[0].lower()}{message[1:].rstrip('.')}."


def _describe_length(bounds: Mapping[str, Any]) -> str:
    least = bounds.get("min_length", 0)
    if least == 1:
        return "is empty"
    if least:
        return f"is too short: it needs {least} characters or more"
    return f"is too long: it can have {bounds['max_length']} characters at most"


def _number(bound: object) -> object:
    """Drop the decimal point of a whole number."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound
