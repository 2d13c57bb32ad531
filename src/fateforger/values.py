"""Copies of values with some fields changed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="BaseModel | DataclassInstance")


def replace(value: V, /, **changes: Any) -> V:
    """Return a copy of a model or data class with other values in some fields.

    Raises ``TypeError`` for a name that is no field. Mypy checks the names and the types of the changes
    (``scripts/mypy_replace.py``); the fields of a model are not validated at run time.
    """
    if not isinstance(value, BaseModel):
        return dataclasses.replace(value, **changes)
    unknown = changes.keys() - type(value).model_fields.keys()
    if unknown:
        raise TypeError(f"{type(value).__name__} has no field {', '.join(sorted(unknown))}")
    return value.model_copy(update=changes)
