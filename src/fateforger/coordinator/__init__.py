"""One command in, cards out: loads and saves the session, runs the turn, carries out what it asks for."""

from fateforger.coordinator.coordinator import PlanningCoordinator

__all__ = ["PlanningCoordinator"]
