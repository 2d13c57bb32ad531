"""Workflows that ship with the package: ``workflows/*.yaml`` in this folder."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fateforger.workflow.loading import read_workflow
from fateforger.workflow.workflows import Workflow

_FOLDER = files("fateforger.workflow") / "workflows"


@cache
def list_shipped() -> tuple[str, ...]:
    """Return the names of the shipped workflows, sorted."""
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")))


def read_shipped(name: str) -> str | None:
    """Return the YAML of a shipped workflow, or ``None`` if none has that name."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in list_shipped() else None


@cache
def load_shipped(name: str) -> Workflow:
    """Return a shipped workflow. Raises :class:`KeyError` if none has that name."""
    text = read_shipped(name)
    if text is None:
        raise KeyError(name)
    return read_workflow(text, read_shipped)
