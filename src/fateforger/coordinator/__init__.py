"""Coordinate commands: load the session, run its turn, carry out the effects, and save the result."""

from fateforger.coordinator.coordinator import PlanningCoordinator

__all__ = ["PlanningCoordinator"]
