"""Integer program under construction, as the message that CP-SAT takes.

The message is built directly: the modeling interface of OR-tools imports pandas, which takes a second and 60 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Sum = Sequence[tuple[int, int]]
"""Variables, each with its factor."""
_FAR = 1 << 40


class Model:
    """An integer program whose objective is minimized.

    Variables are numbers. The negation of a Boolean variable ``x`` is ``~x``, as in CP-SAT.
    """

    def __init__(self) -> None:
        from ortools.sat import cp_model_pb2  # noqa: PLC0415  optional, and slow to import

        self.message: Any = cp_model_pb2.CpModelProto()
        self._points: dict[int, int] = {}
        self._offset = 0
        self._floors: list[tuple[int, Sum, int, int]] = []

    def boolean(self, points: int = 0) -> int:
        """Add a Boolean variable that costs these points when it is true."""
        return self.integer(1, points)

    def integer(self, most: int, points: int = 0) -> int:
        """Add a variable from 0 to ``most`` that costs these points for each unit."""
        number = len(self.message.variables)
        self.message.variables.add().domain.extend((0, most))
        self.charge(number, points)
        return number

    def charge(self, variable: int, points: int) -> None:
        """Add to the points of a variable."""
        if points:
            self._points[variable] = self._points.get(variable, 0) + points

    def pay(self, points: int) -> None:
        """Add points that are always charged."""
        self._offset += points

    def at_most_one(self, literals: Iterable[int]) -> None:
        self.message.constraints.add().at_most_one.literals.extend(literals)

    def within(self, terms: Sum, least: int | None, most: int | None) -> None:
        """Bound a sum."""
        linear = self.message.constraints.add().linear
        linear.vars.extend(variable for variable, _ in terms)
        linear.coeffs.extend(factor for _, factor in terms)
        linear.domain.extend((-_FAR if least is None else least, _FAR if most is None else most))

    def raise_to(self, variable: int, terms: Sum, less: int = 0, per: int = 1) -> None:
        """Make a variable at least a sum less a number, divided by ``per``; the objective keeps it no larger."""
        self._floors.append((variable, terms, less, per))
        self.within([(variable, per), *((v, -f) for v, f in terms)], -less, None)

    def finish(self, hint: dict[int, int]) -> Any:
        """Return the message.

        ``hint`` suggests the variables that are true of those not raised to anything; the others follow from it.
        """
        values = [0] * len(self.message.variables)
        for variable, value in hint.items():
            values[variable] = value
        for variable, terms, less, per in self._floors:
            least = sum(f * values[v] for v, f in terms) - less
            values[variable] = max(values[variable], -(-least // per))
        self.message.solution_hint.vars.extend(range(len(values)))
        self.message.solution_hint.values.extend(values)
        objective = self.message.objective
        objective.scaling_factor, objective.offset = 1, self._offset
        objective.vars.extend(self._points)
        objective.coeffs.extend(self._points.values())
        return self.message
