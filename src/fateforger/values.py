"""Copies of values with some fields changed."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def replace(model: M, /, **changes: Any) -> M:
    """Return a copy of the model with other values in some fields. Raises ``TypeError`` for a name that is no field.

    Mypy checks the names and the types of the changes (``scripts/mypy_replace.py``); nothing is validated at run time.
    """
    unknown = changes.keys() - type(model).model_fields.keys()
    if unknown:
        raise TypeError(f"{type(model).__name__} has no field {', '.join(sorted(unknown))}")
    return model.model_copy(update=changes)
