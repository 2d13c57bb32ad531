"""Frozen values, and copies of them with some fields changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

M = TypeVar("M", bound=BaseModel)
V = TypeVar("V", bound="BaseModel | DataclassInstance")


class Value(BaseModel):
    """A frozen model, built by the names of its fields, or read by their aliases.

    A copy computes its cached properties again, since they may depend on changed fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def __copy__(self) -> Self:
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


def drop_fields(*names: str) -> Any:
    """Return a validator that drops fields of values stored by earlier versions; any other unknown field is refused."""

    def drop(cls: type[BaseModel], document: Any) -> Any:
        del cls
        if not isinstance(document, Mapping) or document.keys().isdisjoint(names):
            return document
        return {name: value for name, value in document.items() if name not in names}

    return model_validator(mode="before")(drop)


def replace(value: V, /, **changes: Any) -> V:
    """Return a copy of a model or data class with other values in some fields.

    Raises ``TypeError`` for a name that is no field. Mypy checks the names and the types of the changes
    (``scripts/mypy_replace.py``); the fields of a model are not validated at run time.
    """
    if not isinstance(value, BaseModel):
        return dataclasses.replace(value, **changes)
    return replace_named(value, changes)


def replace_named(value: M, changes: Mapping[str, Any]) -> M:
    """Return a copy of a model with other values in fields whose names are data.

    Use :func:`replace` where the names are known. Raises ``TypeError`` for a name that is no field.
    """
    unknown = changes.keys() - type(value).model_fields.keys()
    if unknown:
        raise TypeError(f"{type(value).__name__} has no field {', '.join(sorted(unknown))}")
    return value.model_copy(update=changes)


def apply_changes(value: M, before: M, after: M) -> M:
    """Return a model with the fields in which ``after`` differs from ``before``; others may have changed meanwhile."""
    return replace_named(value, {name: new for name, new in after if new != getattr(before, name)})
