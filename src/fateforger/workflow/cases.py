"""Check rules and a trace given in one document, as in a line of ``workflow check --batch``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.errors import BadInput
from fateforger.plan.mistakes import first_mistake
from fateforger.workflow.checking import check, wrap_rule, write_report
from fateforger.workflow.conflicts import find_conflicts
from fateforger.workflow.parsing import read_rule
from fateforger.workflow.rules import Rule
from fateforger.workflow.trace import read_step
from fateforger.workflow.vocabulary import Vocabulary, declare_names


class _Case(BaseModel):
    """Input document. A null field counts as not given."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    rules: list[str]
    actions: list[str] | None = None
    states: list[str] | None = None
    closed: bool | None = None
    trace: list[Any]


def check_case(document: object) -> dict[str, Any]:
    """Check a case and return its report.

    The case is ``{"rules":[text],"actions":[..],"states":[..],"closed":bool,"trace":[steps]}``. The report lists pairs
    of rules that no trace can satisfy in the field ``"conflicts"``, by position; such pairs are not refused. Raises
    :class:`BadInput`.
    """
    if not isinstance(document, Mapping):
        raise BadInput("A case is a JSON object with rules, actions, states, closed and trace.")
    try:
        case = _Case.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where or None) from None
    vocabulary = declare_names(case.actions or (), case.states or ())
    rules = [wrap_rule(_rule(text, vocabulary, at), text) for at, text in enumerate(case.rules)]
    steps = [read_step(step, vocabulary, f"trace, step {at}") for at, step in enumerate(case.trace)]
    report = write_report(check(rules, steps, vocabulary, closed=case.closed is not False))
    clashing = find_conflicts([each.rule for each in rules])
    return {**report, "conflicts": [list(pair) for pair in clashing]}


def _rule(text: str, vocabulary: Vocabulary, at: int) -> Rule:
    try:
        return read_rule(text, vocabulary)
    except BadInput as error:
        raise BadInput(error.message, where=f"rule {at}, {error.where}") from None
