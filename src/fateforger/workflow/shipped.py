"""Workflows that ship with the package: ``workflows/*.yaml`` in this folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fateforger.workflow.loading import read_workflow
from fateforger.workflow.workflows import Workflow

_FOLDER = files("fateforger.workflow") / "workflows"


@cache
def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped workflows, sorted."""
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")))


def shipped_text(name: str) -> str | None:
    """Return the YAML of a shipped workflow, or ``None`` if none has that name."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in shipped_names() else None


@cache
def shipped(name: str) -> Workflow:
    """Return a shipped workflow. Raises :class:`KeyError` if none has that name."""
    text = shipped_text(name)
    if text is None:
        raise KeyError(name)
    return read_workflow(text, shipped_text)
