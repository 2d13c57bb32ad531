"""The current states of a workflow, for ``workflow check --evaluate``, and the facts to look up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import click
from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.adapters.facts import AllowList, LocalFacts, read_allow_file
from fateforger.cli.documents import read_document
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.planning.validation import first_mistake
from fateforger.workflow.definition import Workflow
from fateforger.workflow.facts import EvaluatedState, Facts, KnownValues, as_step, evaluate
from fateforger.workflow.trace import Step


def build_facts(settings: Settings) -> Facts:
    """Return the facts of this machine. Raises :class:`BadInput` for a file that cannot be used."""
    return LocalFacts(AllowList() if settings.facts is None else read_allow_file(settings.facts))


_SIGNS = {True: "✓", False: "✗", None: "?"}


class _Known(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    session: dict[str, bool] = {}
    task: dict[str, Any] = {}
    stated: list[str] | None = None


def evaluate_states(workflow: Workflow, known: str | None, settings: Settings) -> tuple[EvaluatedState, ...]:
    """Evaluate each state that the workflow declares, by name.

    ``known`` is a file, or ``-``. Raises :class:`BadInput`.
    """
    given = KnownValues() if known is None else _parse_known(read_document(known), known)
    predicates = [workflow.predicates[name] for name in sorted(workflow.predicates)]
    return asyncio.run(evaluate(predicates, given, build_facts(settings)))


def build_step(workflow: Workflow, states: Sequence[EvaluatedState], do: Sequence[str]) -> Step:
    """Return the current step. Raises :class:`BadInput` for an action that is not declared."""
    for name in do:
        if workflow.vocabulary.kind_of(name) != "action":
            near = workflow.vocabulary.near(name)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            raise BadInput(f"“{name}” is no action of {workflow.name}.{meant}", where="--do")
    return as_step(states, do)


def write_states(states: Sequence[EvaluatedState]) -> list[Mapping[str, Any]]:
    """Return ``[{"state","holds","why"}]``; ``holds`` is null where it is unknown."""
    return [{"state": each.name, "holds": each.holds, "why": list(each.why)} for each in states]


def print_states(states: Sequence[EvaluatedState]) -> None:
    """Print the states for people."""
    for each in states:
        click.echo(f"{_SIGNS[each.holds]} {each.name}: {' '.join(each.why)}")


def _parse_known(document: object, where: str) -> KnownValues:
    try:
        given = _Known.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=f"{where}, {mistake.where}" if mistake.where else where) from None
    stated = None if given.stated is None else frozenset(given.stated)
    return KnownValues(session=given.session, task=given.task, stated=stated)
