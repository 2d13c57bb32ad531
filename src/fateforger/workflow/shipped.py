"""The workflows that come with the program: ``workflows/*.yaml`` beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fateforger.workflow.loading import read_workflow
from fateforger.workflow.workflows import Workflow

_FOLDER = files("fateforger.workflow") / "workflows"


@cache
def shipped_names() -> tuple[str, ...]:
    """Their names, sorted."""
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")))


def shipped_text(name: str) -> str | None:
    """The YAML of the workflow of that name; ``None`` when none ships."""
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8") if name in shipped_names() else None


@cache
def shipped(name: str) -> Workflow:
    """The workflow of that name. Raises :class:`KeyError` when none ships."""
    text = shipped_text(name)
    if text is None:
        raise KeyError(name)
    return read_workflow(text, shipped_text)
