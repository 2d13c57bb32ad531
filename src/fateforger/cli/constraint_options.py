"""Options of the commands about constraints: filters of a list, and limits of a new constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import time
from functools import reduce
from typing import Any, TypeVar

import click

from fateforger.errors import BadInput
from fateforger.memory.day_ends import DAY_ENDS, with_moment
from fateforger.memory.record import ConstraintRecord, fold_label
from fateforger.memory.vocabulary import Dimension, Necessity, Scope, Slot, Source, Status

C = TypeVar("C", bound=Callable[..., Any])


def _several(name: str, into: str, words: type[Dimension | Necessity | Scope | Status], text: str) -> Callable[[C], C]:
    return click.option(name, into, multiple=True, type=click.Choice([each.value for each in words]), help=text)


def _labels(name: str, into: str, text: str) -> Callable[[C], C]:
    return click.option(name, into, multiple=True, metavar="LABEL", help=text)


def _add_all(options: tuple[Callable[[C], C], ...], command: C) -> C:
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


def add_filter_options(command: C) -> C:
    """Add the filters of a list; each may be given several times, and admits any of its values."""
    return _add_all(
        (
            _several("--status", "statuses", Status, "Only with this status; also what is out of force."),
            _several("--scope", "scopes", Scope, "Only what reaches so far."),
            _several("--necessity", "necessities", Necessity, "Only what is so binding."),
            _several("--dimension", "dimensions", Dimension, "Only this kind of statement."),
            _labels("--tag", "tags", "Only what has this tag."),
        ),
        command,
    )


def add_limit_options(command: C) -> C:
    """Add what limits a new constraint, and where it comes from."""
    return _add_all(
        (
            click.option(
                "--slot", type=click.Choice([s.value for s in DAY_ENDS]), help="With --at: an end of the day."
            ),
            click.option("--at", metavar="HH:MM", help="With --slot: when that is."),
            click.option("--kept-days", type=click.IntRange(min=1), metavar="N", help="It is kept for N days."),
            _labels("--only-with", "only_with", "Only on days with that: a title, or a kind of block like M."),
            _labels("--only-without", "only_without", "Only on days without that."),
            click.option("--stage", "stages", multiple=True, metavar="STAGE", help="Only at that step, like REFINE."),
            click.option(
                "--dimension",
                type=click.Choice([each.value for each in Dimension]),
                help="How you do things, what you value, want to reach, or how things are.",
            ),
            _labels("--tag", "topics", "What it is about."),
            click.option("--source", type=click.Choice([s.value for s in Source]), help="Where it comes from."),
            click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1."),
            click.option("--unsure", is_flag=True, default=None, help="The person is asked about it."),
        ),
        command,
    )


def build_limits(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record document that the options give, by group. Raises ``UsageError``."""
    if (given["slot"] is None) != (given["at"] is None):
        raise click.UsageError("--slot and --at belong together.")
    conditions = {"conditional_on_present": given["only_with"], "conditional_on_absent": given["only_without"]}
    aspect: dict[str, Any] = {name: [*map(fold_label, labels)] for name, labels in conditions.items() if labels}
    if given["dimension"] is not None:
        aspect["dimension"] = given["dimension"]
    return {
        "aspect_classification": aspect or None,
        "lifecycle": None if given["kept_days"] is None else {"ttl_days": given["kept_days"]},
        "applies_stages": given["stages"] or None,
        "topics": given["topics"] or None,
        "source": given["source"],
        "confidence": given["confidence"],
        "needs_confirmation": given["unsure"],
    }


def with_moment_of(record: ConstraintRecord, given: Mapping[str, Any]) -> ConstraintRecord:
    """Return the record with the end of the day that the options name. Raises ``BadInput``."""
    if given["slot"] is None:
        return record
    try:
        at = time.fromisoformat(given["at"])
    except ValueError:
        raise BadInput(f"“{given['at'][:20]}” is not a time of day; write it like 09:30.", where="at") from None
    return with_moment(record, Slot(given["slot"]), at)
